"""A file that a spec names by mistake, or with a purpose: the error names the place, and nothing of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalpipe.cli import main

SECRET = "hunter2"  # noqa: S105 - that of nobody
SPEC = """evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: test.csv}}
models: {a: {probability: p}}
metrics: [brier]
intervals: {method: none}
report: {formats: []}
"""
FILES = {
    "shadow": f"root:${SECRET}$:19000:0:99999:7:::\nnobody:*:19000::::::\n",
    "id_ed25519": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----\n",
    "env": f"export DATABASE_PASSWORD={SECRET}\nAPI_KEY='{SECRET}'\n",
    "pgpass": f"db.example:5432:claims:nightly:{SECRET}\n",
    "netrc": f"machine db.example login nightly password {SECRET}\n",
    "secret.yaml": f"apiVersion: v1\nkind: Secret\ndata:\n  password: {SECRET}\n  {SECRET}: 1\n",
    "account.json": f'{{"type": "service_account", "name": "x y {SECRET}", "private_key": "{SECRET}"}}',
    "tabs": f"\t{SECRET}: [\n",
    "alias": f"*{SECRET}\n",
    "tag": f"!{SECRET} a: 1\n",
    "anchor.yaml": f"&{SECRET} {{{SECRET}: {SECRET}, {SECRET}: 2}}\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a spec, its data and the files of others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    """Run the command line; return its exit code and all that it printed."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr()
    return ended.value.code, told.out + told.err


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_file_that_is_extended_by_mistake_shows_its_name_alone(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("spec.yaml").write_text(f"{SPEC}extends: {name}\n")
    code, told = printed(capsys, command, "spec.yaml")
    assert code == 2
    assert (
        f"error[not-a-spec]: {name} is no file of a spec: no line of it begins with a key of one\n"
        f"  --> spec.yaml:10:10\n   |\n10 | extends: {name}\n   |          {'^' * len(name)} "
        "name a YAML file with keys such as 'models' or 'card'\n") in told
    assert SECRET not in told


@pytest.mark.parametrize("base", ["card: {owner: Claims}\n", '{"report": {"theme": {"paper": "a4"}}}', "", "# later\n"])
def test_a_file_with_keys_of_a_spec_is_read_and_its_faults_are_shown(
    base: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("base.yaml").write_text(base)
    Path("spec.yaml").write_text(f"{SPEC}extends: base.yaml\n")
    assert "not-a-spec" not in printed(capsys, "validate", "spec.yaml")[1]
    Path("base.yaml").write_text("seed: many\n")
    assert " --> base.yaml:1:7\n  |\n1 | seed: many\n" in printed(capsys, "validate", "spec.yaml")[1]


@pytest.mark.parametrize("name", FILES)
def test_no_other_file_gets_on_a_card_as_prose(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spec.yaml").write_text(f"{SPEC}card:\n  risks: {{file: {name}}}\n")
    Path("risks.md").symlink_to(name)
    code, told = printed(capsys, "run", "spec.yaml")
    assert code == 2
    assert f"error[not-a-text]: '{name}' is no text for a card: its name ends in none of '.md', '.markdown'" in told
    Path("spec.yaml").write_text(f"{SPEC}card:\n  risks: {{file: risks.md}}\n")
    linked, told_of_link = printed(capsys, "run", "spec.yaml")
    assert linked == 2
    assert "error[not-a-text]: 'risks.md' is no text for a card" in told_of_link
    assert SECRET not in told + told_of_link


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet", "arrow", "csv.gz"])
@pytest.mark.parametrize("name", ["shadow", "id_ed25519", "account.json"])
def test_a_file_that_is_no_table_is_told_by_its_place(
    name: str, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"data.{ending}").write_text("first line\n" + FILES[name])
    Path("spec.yaml").write_text(SPEC.replace("test.csv", f"data.{ending}"))
    code, told = printed(capsys, "run", "spec.yaml")
    assert code == 3
    assert f"data.{ending}" in told
    assert SECRET not in told


@pytest.mark.parametrize("name", FILES)
def test_a_key_that_is_none_shows_nothing_of_the_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spec.yaml").write_text(SPEC)
    code, told = printed(capsys, "run", "spec.yaml", "--key", name)
    assert code == 2
    assert name in told
    assert SECRET not in told


@pytest.mark.parametrize("name", FILES)
def test_templates_and_data_of_other_names_are_not_opened(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spec.yaml").write_text(SPEC.replace("formats: []", f"formats: [html], template: {name}"))
    code, told = printed(capsys, "run", "spec.yaml")
    Path("spec.yaml").write_text(SPEC.replace("test.csv", name))
    other, told_of_data = printed(capsys, "run", "spec.yaml")
    assert (code, other) == (2, 3)
    assert SECRET not in told + told_of_data
