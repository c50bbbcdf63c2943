"""A secret that a run uses stands in none of its outputs: files, also those within the PDF, log, terminal, ledger."""

from __future__ import annotations

import io
from pathlib import Path

import pikepdf
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from evalpipe.cli import main
from evalpipe.ed25519 import SIGNING_KEY
from evalpipe.spec.environment import BadReferenceError, expand, is_private

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
    "-----BEGIN PRIVATE KEY-----",
])
def test_a_value_that_looks_like_a_secret_is_refused(value: str) -> None:
    with pytest.raises(BadReferenceError):
        expand("${env:WHERE}", {"WHERE": value})


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
