"""A secret that a run uses stands in none of its outputs: files, also those within the PDF, log, terminal, ledger."""

from __future__ import annotations

import io
import json
import re
import shutil
import time
from pathlib import Path

import pikepdf
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import evalpipe
from evalpipe.base.databases import WAY, holds_secret
from evalpipe.base.ed25519 import SIGNING_KEY
from evalpipe.cli import main
from evalpipe.spec.load import from_text, to_text
from evalpipe.spec.tree import BadReferenceError, expand, is_private
from few_by_day import by_night

SECRET = "hunter2-correct-horse"  # noqa: S105 - that of nobody
SPEC = """evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: "${env:EVALPIPE_TEST_DATA}.csv"}}
models: {a: {probability: p}}
metrics: [brier]
intervals: {method: none}
ledger: ${env:EVALPIPE_TEST_LEDGER}
gates: [{metric: brier, max: 0.0001, on: value}]
report: {formats: [html, junit, markdown]}
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr()
    return ended.value.code, told.out + told.err


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, and those that its PDFs carry, by name."""
    held = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name, content in list(held.items()):
        if name.endswith(".pdf"):
            with pikepdf.open(io.BytesIO(content)) as pdf:
                held |= {f"{name}/{inner}": file.get_file().read_bytes() for inner, file in pdf.attachments.items()}
    return held


@pytest.mark.parametrize("form", ["markdown", pytest.param("pdf", marks=pytest.mark.nightly)])
def test_no_output_holds_a_secret_that_the_run_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    elsewhere = tmp_path / SECRET
    elsewhere.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    monkeypatch.setenv("EVALPIPE_TEST_LEDGER", f"sqlite:///{elsewhere}/ledger.sqlite")
    monkeypatch.setenv(SIGNING_KEY, key)
    Path("test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    Path("spec.yaml").write_text(SPEC)
    code, of_run = printed(capsys, "run", "spec.yaml", "--out", "a", "--log-file", "log.jsonl")
    assert code == 1
    told = [(code, of_run), printed(capsys, "plan", "spec.yaml"), printed(capsys, "validate", "spec.yaml"),
            printed(capsys, "diff", "a", "a"), printed(capsys, "verify", "a"), printed(capsys, "show", "a", "brier"),
            printed(capsys, "render", "a", "--format", form)]
    held = contents(tmp_path / "work")
    lines = [line for line in key.splitlines() if "-----" not in line]
    assert (elsewhere / "ledger.sqlite").is_file()
    assert ("a/card.pdf/results.json" in held) == (form == "pdf")
    assert {"a/manifest.sig.json", "a/junit.xml", "log.jsonl"} <= set(held)
    for secret in (SECRET, *lines):
        assert [name for name, content in held.items() if secret.encode() in content] == []
        assert [text for _, text in told if secret in text] == []


def test_a_ledger_that_fails_shows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    Path("test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    Path("spec.yaml").write_text(SPEC)
    for url in (f"postgresql://nightly:{SECRET}@127.0.0.1:1/claims", f"nothing://nightly:{SECRET}@db", f"://nightly:{SECRET}@"):
        monkeypatch.setenv("EVALPIPE_TEST_LEDGER", url)
        code, told = printed(capsys, "run", "spec.yaml", "--out", "a", "--log-file", "log.jsonl")
        assert (url, code) == (url, 2)
        assert SECRET not in told + Path("log.jsonl").read_text()


NO_LEDGER = [
    f"host=127.0.0.1 port=5432 user=nightly password={SECRET} dbname=claims",
    f"host=127.0.0.1 password={SECRET} dbname=claims.db",
    "service=claims dbname=claims.db",
    f"Driver={{PostgreSQL}};Server=db.example;UID=nightly;PWD={SECRET};",
    f"postgresql:/nightly:{SECRET}@db.example/claims.db",
    f"nightly:{SECRET}@db.example/claims.sqlite",
    "file:ledger.sqlite?mode=rwc",
    "sqlite:ledger.sqlite",
    "ledger",
]
"""Texts in which libpq, other drivers and people name a database, and that neither are URIs nor paths of SQLite."""

UNREAD = [
    f"postgresql://nightly:{SECRET}/claims",
    f"postgresql://nightly:pa/{SECRET}@db.example/claims",
    f"postgresql://nightly:7/{SECRET}@db.example/claims",
    f"postgresql://nightly:7?{SECRET}@db.example/claims",
    f"postgresql://nightly:pa@{SECRET}@db.example/claims",
    f"postgresql://nightly:{SECRET}@[::1/claims",
    f"oracl://nightly:{SECRET}@db.example:5432x/claims",
    f"postgresql://nightly:{SECRET}@db.example/claims\n",
    f"postgresql://nightly:{SECRET}\n@db.example/claims",
    "sqlite://ledger.sqlite",
]
"""URIs that drivers would read otherwise than they are meant: parts of a password would be told as a host."""


@pytest.fixture(scope="module")
def has_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a spec whose ledger the environment names, its data, and a run of it that had none."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("EVALPIPE_TEST_DATA", "test")
        Path("test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
        Path("spec.yaml").write_text(SPEC.replace("${env:EVALPIPE_TEST_LEDGER}", "false"))
        with pytest.raises(SystemExit, match=r"^1$"):
            main(["run", "spec.yaml", "--out", "a", "--no-progress"])
        Path("spec.yaml").write_text(SPEC)
    return folder


# By day every third.
@pytest.mark.parametrize("text", [
    by_night(text) if number % 3 else text for number, text in enumerate([*NO_LEDGER, *UNREAD])])
def test_what_names_no_ledger_is_refused_by_every_command_and_becomes_no_file(
    has_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    shutil.copytree(has_run, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    before = contents(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_LEDGER", text)
    override = "ledger=" + json.dumps(text)
    for arguments in (("run", "spec.yaml", "--out", "a"), ("validate", "spec.yaml"), ("plan", "spec.yaml"),
                      ("run", "spec.yaml", "--out", "b", "--set", override)):
        code, told = printed(capsys, *arguments)
        assert (code, SECRET in told) == (2, False), told
        if override not in arguments:
            assert re.search(r"error\[bad-uri\]: .*\n +--> spec.yaml:9:9\n", told), told
    for arguments in (("history", "a"), ("gc", "a", "--keep-runs", "1"), ("accept", "a")):
        code, told = printed(capsys, *arguments, "--ledger", text)
        assert (code, SECRET in told) == (2, False), told
        assert told.startswith("error[bad-uri]: --ledger: ")
    for arguments in (("verify", "a"), ("verify", "a", "--recompute"), ("diff", "a", "a")):
        assert SECRET not in printed(capsys, *arguments)[1]
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", UNREAD)
def test_a_uri_of_a_dataset_that_cannot_be_read_is_refused_before_a_driver_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", text)
    query = '{sql: "SELECT y, p FROM scores", uri: "${env:DATABASE_URL}"}'
    Path("spec.yaml").write_text(re.sub("(?m)^(datasets: ).*$", rf"\1{{test: {query}}}", SPEC.replace(
        "${env:EVALPIPE_TEST_LEDGER}", "false")))
    for command in ("validate", "plan", "run"):
        code, told = printed(capsys, command, "spec.yaml")
        assert (code, SECRET in told) == (2, False), told
        assert re.search(r"error\[(bad-uri|unknown-scheme)\]: .*\n +--> spec.yaml:5:", told), told
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


def test_what_names_no_ledger_is_told_with_its_place_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    Path("spec.yaml").write_text(SPEC)
    way = "write postgresql://user@host/database, or a path that ends in .sqlite, .sqlite3, .db or .db3"
    for text, message, hint in (
        (NO_LEDGER[0], "this is neither a URI of a database nor the path of a file of SQLite", way),
        (UNREAD[0], "the user, the password and the host of this URI cannot be told apart",
         WAY),
        (UNREAD[-3], "this URI holds a line break or another control character", "remove it"),
        (UNREAD[-1], "a URI of SQLite names a file after three slashes", "write it as in sqlite:///scores.db"),
    ):
        monkeypatch.setenv("EVALPIPE_TEST_LEDGER", text)
        assert printed(capsys, "validate", "spec.yaml") == (2, (
            f"error[bad-uri]: {message}\n --> spec.yaml:9:9\n  |\n9 | ledger: ${{env:EVALPIPE_TEST_LEDGER}}\n"
            f"  |         {'^' * 27} {hint}\n"))
    for text, what in ((NO_LEDGER[0], "neither a URI of a database nor the path of a file of SQLite"), ("", "empty")):
        assert printed(capsys, "history", "a", "--ledger", text) == (2, (
            f"error[bad-uri]: --ledger: this is {what}\n  = help: {way}\n"))


@pytest.mark.parametrize("literal", [
    f"postgresql://nightly:{SECRET}@db.example/claims", f"host=db.example password={SECRET}",
    f"postgresql://nightly:{SECRET}/claims", f"nightly:{SECRET}@db.example/claims",
])
def test_no_error_shows_the_password_in_a_line_of_a_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], literal: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    shown = SPEC.replace("ledger: ${env:EVALPIPE_TEST_LEDGER}", f'{{key}}: "{literal}"{{more}}')
    for key, more in (("ledger", "\nnosuch: 1"), ("ledger", "\nledger: ["), ("ledger", "\ntask: x")):
        Path("spec.yaml").write_text(shown.replace("{key}", key).replace("{more}", more))
        code, told = printed(capsys, "validate", "spec.yaml")
        assert (code, SECRET in told) == (2, False), told
    if "@" in literal or "=" in literal:  # where nothing but the key says that a port is a password
        for key, more in (("legder", ""), ("ledger", " : : x")):
            Path("spec.yaml").write_text(shown.replace("{key}", key).replace("{more}", more))
            code, told = printed(capsys, "validate", "spec.yaml")
            assert (code, SECRET in told, "…" in told) == (2, False, True), told


def test_a_spec_holds_the_reference_to_its_ledger_and_not_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    monkeypatch.setenv("EVALPIPE_TEST_LEDGER", f"postgresql://nightly:{SECRET}@db.example/claims")
    Path("test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    Path("spec.yaml").write_text(SPEC)
    spec = evalpipe.load("spec.yaml")
    again = evalpipe.load(spec, ["seed=3"])
    assert [entry.ledger for entry in (spec, again)] == ["${env:EVALPIPE_TEST_LEDGER}"] * 2
    assert [entry.ledger_uri and SECRET in entry.ledger_uri.text for entry in (spec, again)] == [True, True]
    assert SECRET not in repr(spec) + repr(evalpipe.plan(spec)) + spec.model_dump_json() + to_text(spec)
    monkeypatch.delenv("EVALPIPE_TEST_LEDGER")
    assert from_text(to_text(spec)).ledger is True  # as a worker elsewhere reads it


def test_no_output_folder_is_named_by_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    Path("test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    Path("spec.yaml").write_text(SPEC.replace("${env:EVALPIPE_TEST_LEDGER}", "false"))
    for command in ("run", "plan"):
        assert printed(capsys, command, "spec.yaml", "--out", "reports/${env:DB_PASSWORD}") == (2, (
            "error[secret-variable]: --out: the name of the environment variable DB_PASSWORD is that of a secret, and "
            "this value is printed in messages\n"
            "  = help: leave it out, or take it from a variable that holds no secret\n"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spec.yaml", "test.csv"]


@pytest.mark.parametrize("name", [
    "GITHUB_TOKEN", "DB_PASSWORD", "DB_PWD", "MYSQL_PASSWD", "AWS_SECRET_ACCESS_KEY", "API_KEY", "apikey", "SECRET",
    "GPG_PASSPHRASE", "AZURE_CREDENTIALS", "SSH_PRIVATE_KEY_FILE", "TOKENS",
])
def test_a_variable_whose_name_is_that_of_a_secret_is_refused_but_where_nothing_is_printed(name: str) -> None:
    with pytest.raises(BadReferenceError) as error:
        expand(f"${{env:{name}:-none}}", {name: "x"})
    assert error.value.args[0] == "secret-variable"
    assert expand(f"${{env:{name}}}", {name: "x"}, private=True) == "x"


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "USER", "DATA_DIR", "KEYWORDS", "SORT_KEY", "SECRETARY"])
def test_other_variables_are_taken(name: str) -> None:
    assert expand(f"${{env:{name}}}", {name: "x"}) == "x"


@pytest.mark.parametrize("value", [
    "postgresql://a:b@host/db", "see https://user:pass@example.org now", "-----BEGIN RSA PRIVATE KEY-----\nx",
    "-----BEGIN PRIVATE KEY-----", "host=h user=u password=x dbname=d", "host=h password = 'a b'", "PGPASSWORD=x",
    "Driver={SQL Server};Server=h;UID=u;PWD=x;", "Server=h;User ID=u;Password=x", "postgresql://u@h/d?password=x",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=x==", '{"username": "u", "password": "x"}',
    "https://h/scores?access_token=x", "postgresql:/u:pw@h", "u:pw@h/d", "u:pw@h:5432/d", "postgresql://u:a/b@h/d",
])
def test_a_value_that_looks_like_a_secret_is_refused(value: str) -> None:
    with pytest.raises(BadReferenceError):
        expand("${env:WHERE}", {"WHERE": value})


@pytest.mark.parametrize("value", [
    "postgresql://u@h:5432/d", "https://h:8443/users/@me", "mailto:risk@example.org", "Risk: risk@example.org",
    "registry.example:5000/churn:1.2@sha256:5f3a", "data/key=3/token=abc/*.parquet", "The password is kept elsewhere",
    "git@example.org:models/churn.git", "C:/data/scores.csv", "12:30", "s3://bucket/a@b", "keywords = 3",
])
def test_a_value_that_holds_no_secret_is_taken(value: str) -> None:
    assert expand("${env:WHERE}", {"WHERE": value}) == value


def test_whether_a_long_value_holds_a_secret_is_told_in_time() -> None:
    began = time.process_time()
    for unit in ("password", "://", "://a:", "a:", "a:b@", "pwd='", "api key", "://u:p@h/", "secret ", "\\'"):
        holds_secret(unit * (131_072 // len(unit)))
    assert time.process_time() - began < 20  # half a second here; a time that grew with the square took minutes


@pytest.mark.parametrize(("path", "private"), [
    (("ledger",), True), (("datasets", "a", "uri"), True), (("models", "ledger"), False),
    (("models", "uri", "label"), False), (("datasets", "uri", "path"), False), (("datasets", "ledger"), False),
])
def test_two_keys_alone_stand_in_no_output(path: tuple[str, ...], private: bool) -> None:
    assert is_private(path) == private


def test_an_override_is_held_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    monkeypatch.setenv("EVALPIPE_TEST_LEDGER", "ledger.sqlite")
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    Path("spec.yaml").write_text(SPEC)
    code, told = printed(capsys, "validate", "spec.yaml", "--set", "title=${env:DB_PASSWORD}")
    assert code == 2
    assert "error[secret-variable]: the name of the environment variable DB_PASSWORD is that of a secret" in told
    assert SECRET not in told


@pytest.mark.parametrize("key", [
    "title=${env:CONN}", "card.owner=${env:CONN}", "card.intended_use='of ${env:CONN}'", "models.a.label=${env:CONN}",
    "datasets.test.path=${env:CONN}.csv", "datasets.test.where='y = ${env:CONN}'", "as_of=${env:CONN}",
    "card.intended_use={file: '${env:CONN}.md'}", "engine={backend: dask, address: '${env:CONN}'}",
    "datasets={test: {sql: 'SELECT 1', uri: 'sqlite:///x.db', parameters: ['${env:CONN}']}}",
    "datasets={test: {sql: 'SELECT ${env:CONN}', uri: 'sqlite:///x.db'}}",
])
@pytest.mark.parametrize("value", [
    f"host=h user=u password={SECRET}", f"Server=h;UID=u;PWD={SECRET};", f"postgresql://u:{SECRET}@h/d",
])
def test_a_connection_in_a_variable_is_taken_nowhere_but_for_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALPIPE_TEST_DATA", "test")
    monkeypatch.setenv("EVALPIPE_TEST_LEDGER", "ledger.sqlite")
    monkeypatch.setenv("CONN", value)
    Path("spec.yaml").write_text(SPEC)
    code, told = printed(capsys, "validate", "spec.yaml", "--set", key)
    assert code == 2
    assert "error[secret-variable]: the environment variable CONN holds a password or a private key" in told
    assert SECRET not in told
