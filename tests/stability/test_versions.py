"""Folders and ledgers of every format are read, rendered, verified and compared by this version."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import evalpipe
from evalpipe.cli.app import app
from evalpipe.errors import DataError
from evalpipe.ledger import store
from evalpipe.results import Results
from evalpipe.review import checking
from evalpipe.runs import verification
from few_by_day import by_night

FOLDERS = sorted((Path(__file__).parent / "versions").glob("format_*"))
LATER = "1.0.0"
"""A version that wrote none of the folders."""


some_by_day = pytest.mark.parametrize(
    "folder", [by_night(folder) for folder in FOLDERS[1:-1]] + [FOLDERS[0], FOLDERS[-1]], indirect=True,
    ids=lambda folder: folder.name)
"""By day the oldest and the newest."""


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a folder of an earlier version, as it is for a version that did not write it."""
    for module in (checking, verification):
        monkeypatch.setattr(module, "VERSION", LATER)
    place = Path(shutil.copytree(request.param, tmp_path / request.param.name))
    monkeypatch.chdir(place)
    return place


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def format_in(ledger: Path) -> int:
    with closing(sqlite3.connect(ledger)) as connection:
        return int(connection.execute("SELECT format FROM evalpipe_ledger").fetchone()[0])


def test_every_format_of_the_ledger_and_every_schema_has_a_folder() -> None:
    assert [format_in(folder / "ledger.sqlite") for folder in FOLDERS] == list(range(1, store.LEDGER_FORMAT + 1))
    documents = [json.loads((folder / "run" / "results.json").read_text(encoding="utf-8")) for folder in FOLDERS]
    newest = Results.model_fields["schema_version"].default
    assert {document["schema_version"] for document in documents} == set(range(1, newest + 1))


def test_its_results_are_read_and_rendered(folder: Path) -> None:
    document = json.loads((folder / "run" / "results.json").read_text(encoding="utf-8"))
    results = Results.read("run")
    assert [(row.metric, row.value, row.lower) for row in results.rows] == [
        (row["metric"], row["value"], row["lower"]) for row in document["estimates"]]
    assert results.verdict == "warn"
    done = command("render", "run", "--format", "html")
    assert (done.exit_code, done.output) == (0, "run/card.html\n")
    page = (folder / "run" / "card.html").read_text(encoding="utf-8")
    assert results.evidence_sha256[:8] in page
    assert "A. Reader" in page


def test_it_is_verified_and_what_is_not_compared_is_told(folder: Path) -> None:
    checked = evalpipe.verify(folder / "run")
    reason = f"evalpipe 0.1.0 wrote the results, and this is {LATER}: its text is not compared"
    assert {file.file: (file.status, file.reason) for file in checked.files} == {
        **dict.fromkeys(("manifest.json", "results.json", "estimates.csv", "signatures.json"), ("same", "")),
        **dict.fromkeys(("spec.yaml", "loans.csv", "ledger.sqlite"), ("same", "")),
        "card.md": ("same", reason),
        "run.json": ("not checked", "nothing else knows the times and the host in it"),
        "manifest.sig.json": ("not checked", "the manifest is not signed")}
    assert checked.sign_off == "IN REVIEW: approver missing"


def test_results_of_a_newer_version_are_refused(folder: Path) -> None:
    document = json.loads((folder / "run" / "results.json").read_text(encoding="utf-8"))
    with pytest.raises(DataError) as caught:
        Results.from_json(json.dumps(document | {"schema_version": 3}))
    assert str(caught.value).endswith("= help: a newer evalpipe wrote it: install that, or a later one")


def test_a_changed_number_is_found(folder: Path) -> None:
    table = folder / "run" / "estimates.csv"
    value = Results.read("run").rows[0].value
    table.write_text(table.read_text(encoding="utf-8").replace(str(value), "0.99"), encoding="utf-8")
    found = next(file for file in evalpipe.verify("run").files if file.file == "estimates.csv")
    assert (found.status, found.notes) == (
        "differs", (f"roc_auc of new on d, value: 0.99 in estimates.csv, {value} in results.json",))


@some_by_day
def test_its_ledger_is_listed_as_it_is_and_brought_up_to_date_by_a_run(folder: Path) -> None:
    ledger = folder / "ledger.sqlite"
    before = ledger.read_bytes()
    listed = command("history", "run", "--format", "json")
    assert ledger.read_bytes() == before
    assert [(row["as_of"], row["verdict"]) for row in json.loads(listed.output)["runs"]] == [
        ("2026-11-19", "warn"), ("2026-11-20", "warn")]

    now = evalpipe.run("spec.yaml", out="today", as_of="2026-11-21")
    assert format_in(ledger) == store.LEDGER_FORMAT
    table = command("history", ".", "--name", "loans").output
    assert [line.split()[0] for line in table.splitlines()[2:]] == ["2026-11-19", "2026-11-20", "2026-11-21"]

    compared = command("diff", "run", "today", "--rtol", "1e-9")
    assert compared.exit_code == 0
    assert compared.output.startswith(f"None of {len(now.rows)} estimates differs by more than the tolerance; ")
    assert now.verdict == Results.read("run").verdict

    rows = Path("loans.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("loans.csv").write_text("".join(rows[:81]), encoding="utf-8")
    later = evalpipe.run("spec.yaml", out="later", as_of="2026-11-22")
    nights = [gate.sequence.nights for gate in later.gates if gate.sequence is not None]
    assert set(nights) == ({3} if now.evidence else set())  # two of then, and this; the 21st had the data of the 20th


def test_what_is_written_to_a_ledger_that_was_read_as_a_copy_is_in_the_file(folder: Path) -> None:
    removed = command("gc", ".", "--name", "loans", "--keep-runs", "1")
    assert removed.exit_code == 0
    assert format_in(folder / "ledger.sqlite") == store.LEDGER_FORMAT
    assert [row["as_of"] for row in json.loads(command("history", "run", "--format", "json").output)["runs"]] == [
        "2026-11-20"]
