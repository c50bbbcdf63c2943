"""A folder and its ledger hold each other: where somebody changed one of them, `verify` and `sign` say which number."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import create_engine, text

import evalpipe
from conftest import Shared
from evalpipe.errors import DataError
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.results import Results
from evalpipe.review.origins import CheckedFile
from review.checking.test_recompute import forge

SPEC = """\
evalpipe: 1
name: small
as_of: 2026-11-21
task: binary
outcome: {column: y, event: 1}
datasets:
  test: {path: test.csv}
models:
  a: {probability: p}
metrics: [brier, accuracy]
intervals: {replicates: 100}
gates:
  - {metric: brier, max: 0.9}
  - {metric: accuracy, min: 0.1, on: sequence}
report: {formats: [markdown]}
"""
SIGNED = ("--role", "validator", "--name", "C", "--decision", "approved", "--date", "2026-11-22")
Printed = Callable[..., tuple[int, str]]


def small_run(home: Path) -> None:
    """Run a small spec in a folder, which then holds its ledger too."""
    home.mkdir()
    data = pl.DataFrame({"y": [1, 0] * 40, "p": [(7 * place % 80) / 80 for place in range(80)]})
    data.write_csv(home / "test.csv")
    (home / "small.yaml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        evalpipe.run("small.yaml", out="out")


@pytest.fixture
def folder(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the output folder of a small run, beside its ledger, its spec and its data."""
    shutil.copytree(shared("run-in-ledger", small_run), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("out")


def ledger(folder: Path, **settings: Any) -> CheckedFile:
    (checked,) = [file for file in evalpipe.verify(folder, **settings).files if file.kind == "ledger"]
    return checked


def change(statement: str, *values: object) -> None:
    """Change the ledger as somebody does who may write to its file."""
    with closing(sqlite3.connect("ledger.sqlite")) as connection, connection:
        assert connection.execute(statement, values).rowcount > 0


def sign(folder: Path, **settings: Any) -> tuple[str, ...]:
    return evalpipe.sign(
        folder, role="owner", name="B. Second", decision="approved", date="2026-11-22", **settings).unchecked


def brier(folder: Path) -> float:
    return next(float(row["value"]) for row in json.loads((folder / "results.json").read_text())["estimates"])


def test_a_folder_whose_numbers_were_changed_everywhere_is_told_by_the_ledger(folder: Path, printed: Printed) -> None:
    true, then = brier(folder), Results.read(folder).evidence_sha256[:8]
    assert ledger(folder) == CheckedFile("ledger", "ledger.sqlite", "same")
    forge(folder, f'"value": {true!r}', '"value": 0.001')
    now = Results.read(folder).evidence_sha256[:8]
    checked, (code, lines) = ledger(folder), printed("verify", "out")

    reason = f"it has other results of this folder: their sha256 begins with {then}, that of results.json with {now}"
    assert (checked.status, checked.reason) == ("differs", reason)
    assert checked.notes[0] == f"estimates, brier of a on test, value: {true} in the ledger, 0.001 in results.json"
    assert code == 1
    assert f"the ledger\n  differs      ledger.sqlite      {reason}\n" in lines
    assert lines.count("  differs  ") == 1
    assert printed("sign", "out", *SIGNED) == (3, "")
    with pytest.raises(DataError) as error:
        sign(folder)
    notes = "\n".join(f"  = {note}" for note in checked.notes)
    assert str(error.value) == (
        f"error[other-in-ledger]: the ledger 'ledger.sqlite' does not agree with out/results.json: {reason}\n{notes}\n"
        "  = help: see which was changed: evalpipe verify out --recompute; or run again, and look at the new results")
    assert not (folder / "signatures.json").exists()


@pytest.mark.parametrize(("statement", "note"), [
    ("UPDATE evalpipe_estimates SET value = 0.001 WHERE metric = 'brier'",
     "estimates, brier of a on test, value: 0.001 in the ledger, "),
    ("UPDATE evalpipe_verdicts SET verdict = 'fail' WHERE gate = 1",
     "gates 1, verdict: fail in the ledger, pass in results.json"),
    ("UPDATE evalpipe_runs SET verdict = 'fail'", "verdict: fail in the ledger, "),
    ("UPDATE evalpipe_runs SET as_of = '2026-11-20'", "as_of: 2026-11-20 in the ledger, 2026-11-21 in results.json"),
    ("UPDATE evalpipe_evidence SET value = 0.99", "evidence 1, value: 0.99 in the ledger, "),
    ("DELETE FROM evalpipe_estimates WHERE metric = 'accuracy'", "estimates, accuracy of a on test: nothing in the "),
])
def test_a_row_of_the_ledger_that_was_changed_is_told_by_the_folder(folder: Path, statement: str, note: str) -> None:
    change(statement)
    checked = ledger(folder)

    assert (checked.status, checked.reason) == ("differs", "its row of these results is not what results.json says")
    assert checked.notes[0].startswith(note)
    assert not evalpipe.verify(folder).holds()
    with pytest.raises(DataError, match="its row of these results is not what"):
        sign(folder)


def test_a_hash_of_the_ledger_that_was_changed_is_told(folder: Path) -> None:
    change("UPDATE evalpipe_runs SET results_sha256 = ?", "f" * 64)

    assert ledger(folder).reason.startswith("it has other results of this folder: their sha256 begins with ffffffff, ")


def test_an_earlier_run_that_was_put_back_into_its_folder_is_told(folder: Path) -> None:
    shutil.copytree(folder, "kept")
    first = Results.read(folder).evidence_sha256[:8]
    second = evalpipe.run("small.yaml", out=folder, overrides=["seed=5"]).evidence_sha256[:8]
    assert ledger(folder).status == "same"
    shutil.rmtree(folder)
    Path("kept").rename(folder)

    assert ledger(folder).reason == (
        f"it has later results of this folder: their sha256 begins with {second}, that of results.json with {first}")


def test_a_folder_that_was_renamed_is_told_by_its_night(folder: Path) -> None:
    then = Results.read(folder).evidence_sha256[:8]
    folder.rename("other")
    assert ledger(Path("other")).status == "same"
    forge(Path("other"), f'"value": {brier(Path("other"))!r}', '"value": 0.001')

    assert ledger(Path("other")).reason.startswith(
        f"it has other results of small as of 2026-11-21: their sha256 begins with {then}, ")


@pytest.mark.parametrize(("written", "shown", "reason"), [
    ("other.sqlite", "other.sqlite", "there is no ledger at 'other.sqlite'"),
    ("postgresql://reader:horse@127.0.0.1:1/x", "postgresql://reader:***@127.0.0.1:1/x",
     "cannot use the ledger 'postgresql://reader:***@127.0.0.1:1/x': "),
])
def test_a_ledger_that_cannot_be_reached_is_not_checked(
    folder: Path, printed: Printed, written: str, shown: str, reason: str
) -> None:
    checked = ledger(folder, ledger=written)

    assert (checked.status, checked.file) == ("not checked", shown)
    assert checked.reason.startswith(reason)
    assert printed("verify", "out", "--ledger", written)[0] == 0
    assert printed("verify", "out", "--ledger", written, "--inputs")[0] == 1
    (unchecked,) = sign(folder, ledger=written)
    assert unchecked.startswith(f"{shown}: {reason}")
    assert "horse" not in unchecked + checked.reason
    code, lines = printed("sign", "out", *SIGNED, "--ledger", written)
    assert code == 0
    assert f"not checked: {shown}: {reason}" in lines


def test_a_folder_that_no_ledger_knows_is_not_checked(folder: Path) -> None:
    change("DELETE FROM evalpipe_runs")
    checked = ledger(folder)
    assert (checked.status, checked.reason) == ("not checked", "it has no run of this folder")
    Path("small.yaml").unlink()
    assert ledger(folder).reason == "it has no run of this folder"
    Path("ledger.sqlite").unlink()
    assert ledger(folder) == CheckedFile("ledger", "the ledger", "not checked", (
        "the spec, which may name it, is not known: name the ledger with --ledger, or the spec with --spec"))


def test_without_a_ledger_there_is_nothing_to_say(folder: Path) -> None:
    Path("small.yaml").write_text(SPEC.replace(", on: sequence", "") + "ledger: false\n")
    evalpipe.run("small.yaml", out=folder)

    assert all(file.kind != "ledger" for file in evalpipe.verify(folder).files)
    assert sign(folder) == ()


def test_of_a_run_that_gc_has_removed_hash_and_evidence_are_held(folder: Path, printed: Printed) -> None:
    evalpipe.run("small.yaml", out="next", as_of="2026-11-22")
    assert printed("gc", ".", "--keep-runs", "1") == (0, "ledger.sqlite: removed 1 night of small; 1 stays\n")
    assert ledger(folder) == CheckedFile("ledger", "ledger.sqlite", "same", "evalpipe gc has removed its numbers")
    change("UPDATE evalpipe_evidence SET value = 0.99")

    assert ledger(folder).status == "differs"


def test_a_ledger_of_postgresql_is_asked(folder: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_URL", server)
    Path("small.yaml").write_text(SPEC + "ledger: ${env:LEDGER_URL}\n")
    evalpipe.run("small.yaml", out=folder)
    checked = ledger(folder)
    assert (checked.status, checked.file) == ("same", "${env:LEDGER_URL}")
    engine = create_engine(LedgerPlace.of(server).address)
    with engine.begin() as connection:
        connection.execute(text("UPDATE evalpipe_estimates SET upper = 1 WHERE metric = 'brier'"))
    engine.dispose()

    assert ledger(folder).notes[0].startswith("estimates, brier of a on test, upper: 1 in the ledger, ")
    monkeypatch.delenv("LEDGER_URL")
    Path("ledger.sqlite").unlink()
    assert ledger(folder).reason.startswith("the spec, which names it, cannot be read: ")
