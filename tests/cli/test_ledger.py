"""`evalpipe history` and `evalpipe gc`: what is printed, removed and refused."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import evalpipe
from cli.conftest import Command
from conftest import Shared
from evalpipe.cli import main
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import names_in, nights
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results
from ledger.test_store import spec

if TYPE_CHECKING:
    from pathlib import Path


def run_nights(top: Path) -> None:
    """Run three nights, the second of which misses its gate, and record them in a ledger beside their folder."""
    folder = top / "reports" / "nightly"
    folder.parent.mkdir(parents=True)
    ledger = Ledger.open(LedgerPlace.default_for(folder))
    for number, limit in enumerate((0.1, 0.99, 0.1)):
        results = evalpipe.run(spec(top, gates=[{"metric": "accuracy", "min": limit}]), out=folder,
                               overrides=[f"seed={number}", f"as_of=2026-11-{20 + number}", "ledger=false"])
        ledger.record(results, folder, datetime(2026, 11, 21 + number, 2, tzinfo=UTC))


@pytest.fixture
def out(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an output folder with three runs of three nights, the second of which missed its gate."""
    shutil.copytree(shared("nights-of-history", run_nights), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "reports" / "nightly"


def called(capsys: pytest.CaptureFixture[str], *arguments: str, command: str = "history") -> tuple[int, str, str]:
    """Return the exit code and what was printed."""
    with pytest.raises(SystemExit) as ended:
        main([command, *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_the_table_has_a_line_for_each_run(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hashes = [run["results_sha256"][:8] for run in Ledger.read(LedgerPlace.default_for(out)).runs(out)]

    assert called(capsys, "reports/nightly", "--metric", "accuracy") == (0, (
        "reports/nightly: 3 runs in reports/ledger.sqlite; accuracy with its interval\n"
        "day         verdict  m                 results\n"
        f"2026-11-20  pass     0.78 (0.69–0.85)  {hashes[0]}\n"
        f"2026-11-21  fail     0.78 (0.69–0.85)  {hashes[1]}\n"
        f"2026-11-22  pass     0.78 (0.69–0.85)  {hashes[2]}\n"), "")


def test_the_last_runs_are_those_that_were_asked_for(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, printed, _ = called(capsys, str(out), "--last", "1", "--format", "json")

    document = json.loads(printed)
    assert list(document) == ["schema_version", "folder", "ledger", "runs"]
    (run,) = document["runs"]
    results = Results.read(out)
    assert (run["as_of"], run["results_sha256"]) == ("2026-11-22", results.evidence_sha256)
    assert [row["metric"] for row in run["estimates"]] == ["accuracy", "brier"]
    assert [row["verdict"] for row in run["verdicts"]] == ["pass"]


@pytest.mark.parametrize(("arguments", "code", "printed", "error"), [
    (["reports/other"], 0, "reports/ledger.sqlite has no run of reports/other\n", ""),
    (["reports/nightly", "--metric", "acuracy"], 2, "", (
        "error[unknown-metric]: no run in the ledger has the measure 'acuracy'\n"
        "  = help: did you mean 'accuracy'?\n")),
    (["reports/nightly", "--metric", "kappa"], 2, "", (
        "error[unknown-metric]: no run in the ledger has the measure 'kappa'\n"
        "  = help: measures of these runs: accuracy, brier\n")),
    (["elsewhere/nightly"], 2, "", (
        "error[no-ledger]: there is no ledger at 'elsewhere/ledger.sqlite'\n"
        "  = help: the first 'evalpipe run' begins one; name another ledger with --ledger\n")),
    (["reports/nightly", "--ledger", "notes.db"], 2, "", (
        "error[ledger]: cannot use the ledger 'notes.db': file is not a database\n"
        "  = help: see that it can be reached and written, or name another under 'ledger' in the spec; 'ledger: false' "
        "records no runs\n")),
    (["reports/nightly", "--ledger", "oracl://me:horse@host/x"], 2, "", (
        "error[ledger]: no library knows the kind of database of 'oracl://me:***@host/x'\n"
        "  = help: see that it can be reached and written, or name another under 'ledger' in the spec; 'ledger: false' "
        "records no runs\n")),
])
def test_what_is_told(
    out: Path, arguments: list[str], code: int, printed: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert out.exists()
    (out.parents[1] / "notes.db").write_text("no database " * 100)
    assert called(capsys, *arguments) == (code, printed, error)


@pytest.mark.parametrize(("arguments", "printed", "days"), [
    (["--keep-runs", "2"], "removed 1 run of reports/nightly; 2 stay", ["21", "22"]),
    (["--keep-days", "0"], "removed 2 runs of reports/nightly; 1 stays", ["22"]),
    (["--keep-runs", "1", "--keep-days", "1"], "removed 1 run of reports/nightly; 2 stay", ["21", "22"]),
    (["--keep-runs", "1", "--dry-run"], "would remove 2 runs of reports/nightly; 1 stays", ["20", "21", "22"]),
    (["--keep-days", "400"], "removed 0 runs of reports/nightly; 3 stay", ["20", "21", "22"]),
])
def test_what_is_neither_new_nor_recent_is_removed(
    out: Path, arguments: list[str], printed: str, days: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    written = sorted(out.iterdir())

    assert called(capsys, "reports/nightly", *arguments, command="gc") == (0, f"reports/ledger.sqlite: {printed}\n", "")
    runs = Ledger.read(LedgerPlace.default_for(out)).runs(out)
    assert [run["as_of"] for run in runs] == [f"2026-11-{day}" for day in days]
    assert all(run["estimates"] for run in runs)
    assert sorted(out.iterdir()) == written


def test_what_gc_refuses(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert out.exists()
    assert called(capsys, "reports/nightly", command="gc") == (2, "", (
        "error[usage]: nothing says which runs to keep\n  = help: give --keep-runs, --keep-days or both\n"))
    assert called(capsys, "elsewhere/nightly", "--keep-runs", "1", command="gc")[0] == 2
    assert not (out.parent.parent / "elsewhere").exists()


def test_of_a_folder_of_dated_folders_the_nights_of_the_name_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    results = evalpipe.run(spec(tmp_path))
    (tmp_path / "reports").mkdir()
    ledger = Ledger.open(LedgerPlace.of("reports/ledger.sqlite"))
    for day in (20, 21, 22):
        night = results.model_copy(update={"as_of": f"2026-11-{day}"})
        ledger.record(night, tmp_path / "reports" / f"nightly-2026-11-{day}")
    removed = "reports/ledger.sqlite: would remove 2 nights of nightly; 1 stays\n"
    assert called(capsys, "reports", "--keep-days", "0", "--dry-run", command="gc") == (0, removed, "")
    removed = "reports/ledger.sqlite: removed 1 night of nightly; 2 stay\n"
    assert called(capsys, "reports", "--keep-runs", "2", command="gc") == (0, removed, "")
    assert [row["as_of"] for row in nights(ledger, "nightly")] == ["2026-11-21", "2026-11-22"]

    ledger.record(results.model_copy(update={"name": "fraud"}), tmp_path / "reports" / "fraud")
    assert called(capsys, "reports", "--keep-runs", "1", command="gc") == (2, "", (
        "error[several-names]: the ledger 'reports/ledger.sqlite' has runs of 2 names\n"
        "  = help: choose one of 'fraud' or 'nightly' with --name, or an output folder\n"))
    removed = "reports/ledger.sqlite: removed 1 night of nightly; 1 stays\n"
    assert called(capsys, "anywhere", "--name", "nightly", "--ledger", "reports/ledger.sqlite", "--keep-runs", "1",
                  command="gc") == (0, removed, "")
    assert names_in(ledger) == ["fraud", "nightly"]


def test_of_a_folder_of_dated_folders_it_lists_the_nights_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    results = evalpipe.run(spec(tmp_path))
    ledger = Ledger.open(LedgerPlace.of("reports/ledger.sqlite" if (tmp_path / "reports").mkdir() is None else ""))
    days = [f"2026-11-{day}" for day in (20, 21, 22)]
    for day in days:
        ledger.record(results.model_copy(update={"as_of": day}), tmp_path / "reports" / f"nightly-{day}")
    code, printed, _ = called(capsys, "reports", "--last", "2")
    assert (code, printed.splitlines()[0]) == (0, (
        "nightly: 2 nights in reports/ledger.sqlite; accuracy with its interval"))
    assert [line[:10] for line in printed.splitlines()[2:]] == days[1:]
    document = json.loads(called(capsys, "reports", "--format", "json")[1])
    assert (document["name"], [run["folder"] for run in document["runs"]]) == (
        "nightly", [f"nightly-{day}" for day in days])

    ledger.record(results.model_copy(update={"name": "fraud"}), tmp_path / "reports" / "fraud")
    assert called(capsys, "reports") == (2, "", (
        "error[several-names]: the ledger 'reports/ledger.sqlite' has runs of 2 names\n"
        "  = help: choose one of 'fraud' or 'nightly' with --name, or an output folder\n"))
    assert called(capsys, "reports", "--name", "nightly")[1].startswith("nightly: 3 nights in")
    assert called(capsys, "reports", "--name", "other") == (
        0, "reports/ledger.sqlite has no run of other that states its day\n", "")


def test_looking_for_a_ledger_by_its_url_makes_no_file(command: Command, folder: Path) -> None:
    assert command("run", "small.yaml", "--set", "report.formats=[]").returncode == 0
    before = sorted(folder.rglob("*"))
    for arguments in (("history", "reports/small"), ("gc", "reports/small", "--keep-runs", "1")):
        asked = command(*arguments, "--ledger", "sqlite:///elsewhere.db")
        assert (asked.returncode, asked.stdout, asked.stderr) == (
            2, "", ("error[no-ledger]: there is no ledger at 'sqlite:///elsewhere.db'\n"
                    "  = help: the first 'evalpipe run' begins one; name another ledger with --ledger\n"))
    checked = command("verify", "reports/small", "--ledger", "sqlite:///elsewhere.db")
    assert "there is no ledger at 'sqlite:///elsewhere.db'\n" in checked.stdout
    assert sorted(folder.rglob("*")) == before
