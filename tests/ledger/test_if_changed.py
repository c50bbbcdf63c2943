"""`run --if-changed`: it runs where anything changed that the output depends on; else it ends as the run before."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import evalpipe
from cli.conftest import SPEC, Command, write_small
from conftest import Shared
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.since_last_run import changed_nights, changes
from evalpipe.ledger.store import Ledger
from evalpipe.runs.folder import RunFolder
from evalpipe.spec.load import load

LINE = ("run", "small.yaml", "--out", "out", "--no-progress", "--if-changed")
HOLDS = "gates:\n  - {metric: brier, max: 0.9}\n"
FAIL = "gates:\n  - {metric: brier, max: 0.0001, on: value}\n"
WARN = "gates:\n  - {metric: brier, max: 0.0001, on: value, severity: warn}\n"
LAST = "gates:\n  - {metric: roc_auc, max_decrease: 0.02, against: last, on: value}\n"


def nothing(verdict: str) -> str:
    """Return the line of a run that was left out."""
    same = "the spec, 1 input, all versions and the files in out are those of the run there"
    return f"nothing to do: {same}; its verdict is {verdict}\n"


def declare(more: str = "", formats: str = "[junit]") -> None:
    Path("small.yaml").write_text(SPEC.replace("[html]", formats) + more)


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.fixture
def ran(shared: Shared, folder: Path) -> Path:
    """Return the output folder of a small spec, which has run once."""

    def run(top: Path) -> None:
        top.mkdir()
        write_small(top)
        with contextlib.chdir(top):
            declare(HOLDS)
            evalpipe.run("small.yaml", out="out")

    shutil.copytree(shared("cli-small-that-holds", run), folder, dirs_exist_ok=True)
    return folder / "out"


@pytest.mark.usefixtures("folder")
def test_a_first_run_is_told(command: Command) -> None:
    declare(HOLDS)
    done = command(*LINE)
    assert (done.returncode, done.stderr) == (0, "runs because there is no earlier run\n")


def test_nothing_is_done_where_nothing_has_changed(command: Command, ran: Path) -> None:
    before = stamps(ran)
    done = command(*LINE)
    assert (done.returncode, done.stdout, done.stderr) == (0, nothing("pass"), "")
    assert stamps(ran) == before
    os.utime("test.csv")
    assert command(*LINE).stdout == nothing("pass")
    Path("small.yaml").write_text("# a comment\n" + Path("small.yaml").read_text())
    assert command(*LINE).stderr == "runs because the text of the spec, which means the same\n"
    assert command(*LINE, "--set", "seed=0").stderr == "runs because --set, which means the same\n"
    assert sorted(path.name for path in ran.parent.glob(".out*")) == []


def test_keys_that_change_no_result_are_no_change(command: Command, ran: Path) -> None:
    before = stamps(ran)
    again = command(*LINE, "--set", "ledger=other.sqlite", "--set", "engine.workers=1")
    assert (again.returncode, again.stdout, again.stderr) == (0, nothing("pass"), "")
    assert stamps(ran) == before


def test_a_run_that_is_left_out_is_recorded_where_the_ledger_lacks_it(command: Command, ran: Path) -> None:
    Path("ledger.sqlite").unlink()
    for _ in range(2):
        assert command(*LINE).stdout == nothing("pass")
    (run,) = json.loads(command("history", "out", "--format", "json").stdout)["runs"]
    assert (run["results_sha256"], run["times"]) == (evalpipe.Results.read(ran).evidence_sha256, 1)
    assert command(*LINE, "--set", "ledger=other.sqlite").stdout == nothing("pass")
    assert "out: 1 run in other.sqlite" in command("history", "out", "--ledger", "other.sqlite").stdout


@pytest.mark.parametrize(("more", "fail_on", "code", "verdict"), [
    (FAIL, "fail", 1, "fail"), (FAIL, "never", 0, "fail"), (WARN, "fail", 0, "warn"), (WARN, "warn", 1, "warn"),
    ("", "fail", 0, "none"),
])
def test_a_failed_gate_stays_failed_every_night(
    command: Command, folder: Path, more: str, fail_on: str, code: int, verdict: str
) -> None:
    declare(more)
    line = (*LINE, "--fail-on", fail_on)
    assert command(*line).returncode == code
    done = command(*line)
    assert (done.returncode, done.stdout, done.stderr) == (code, nothing(verdict), "")
    assert folder.exists()


def test_json_and_annotations_are_those_of_the_run(command: Command, folder: Path) -> None:
    declare(FAIL)
    first = json.loads(command(*LINE, "--format", "json").stdout)
    again = json.loads(command(*LINE, "--format", "json").stdout)
    assert (first.pop("ran"), again.pop("ran")) == (True, False)
    assert first == again
    annotated = command(*LINE, "--format", "github").stdout.splitlines()
    assert annotated[0].startswith("nothing to do")
    assert annotated[1].startswith("::error file=small.yaml,line=13,col=5,title=gate failed::")
    assert folder.exists()


def change_data() -> None:
    Path("test.csv").write_text(Path("test.csv").read_text().replace("yes", "no", 1))


def change_version() -> None:
    manifest = RunFolder(Path("out")).manifest
    assert manifest is not None
    older = manifest.model_copy(update={"libraries": {**manifest.libraries, "numpy": "1.0"}, "python": "3.10.1"})
    Path("out/manifest.json").write_bytes(older.to_bytes())


HERE = metadata.version("numpy")
CHANGES: dict[str, tuple[Callable[[], object], str]] = {
    "data": (change_data, "test: test.csv has other bytes"),
    "key": (lambda: declare(HOLDS + "seed: 2\n"), "the spec: seed"),
    "keys": (lambda: declare(HOLDS.replace("0.9", "0.8") + "seed: 2\ntitle: A\nno_information: true\n"),
             "the spec: title, seed, no_information and 1 more like this"),
    "file": (lambda: Path("out/junit.xml").write_text("<a/>"), "junit.xml is not what was written"),
    "missing": (lambda: Path("out/estimates.csv").unlink(), "estimates.csv is missing"),
    "results": (lambda: Path("out/results.json").write_text("{"), "results.json does not hold results of evalpipe: "),
    "gone": (lambda: Path("out/results.json").unlink(), "there is no earlier run"),
    "folder": (lambda: shutil.rmtree("out"), "there is no earlier run"),
    "manifest": (lambda: Path("out/manifest.json").unlink(), "the earlier run left no manifest.json"),
    "broken": (lambda: Path("out/manifest.json").write_text("{}"), "out/manifest.json was changed: "),
    "version": (change_version, f"numpy is {HERE}, was 1.0"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_told_and_runs(command: Command, ran: Path, name: str) -> None:
    change, reason = CHANGES[name]
    change()
    done = command(*LINE)
    assert done.returncode == 0
    assert done.stderr.startswith("runs because ")
    assert reason in done.stderr
    assert done.stdout.splitlines()[-1] == "out/results.json"
    assert command(*LINE).stdout == nothing("pass")
    assert ran.exists()


def test_files_that_join_or_leave_a_folder_are_told(command: Command, folder: Path) -> None:
    Path("parts").mkdir()
    shutil.move("test.csv", "parts/a.csv")
    Path("small.yaml").write_text(SPEC.replace("[html]", "[]").replace("test.csv", "parts"))
    command(*LINE)
    shutil.copy("parts/a.csv", "parts/b.csv")
    assert command(*LINE).stderr == "runs because test: parts/b.csv is new\n"
    Path("parts/a.csv").unlink()
    assert command(*LINE).stderr == "runs because test: parts/a.csv is gone\n"
    shutil.rmtree("parts")
    lost = command(*LINE)
    assert (lost.returncode, lost.stderr.splitlines()[0]) == (3, "runs because there is no file parts")
    assert folder.exists()


def test_texts_templates_and_earlier_results_count(command: Command, folder: Path) -> None:
    Path("use.md").write_text("For claims.")
    Path("look").mkdir()
    Path("look/theme.css").write_text("p { font-style: normal }\n")
    evalpipe.run("small.yaml", out="before")
    declare("card: {intended_use: {file: use.md}}\n"
            "gates: [{metric: brier, max_increase: 0.9, against: {results: before}}]\n",
            "[], template: look")
    command(*LINE)
    assert command(*LINE).stdout == nothing("pass")
    Path("use.md").write_text("For bills.")
    assert command(*LINE).stderr == "runs because use.md has other bytes\n"
    Path("look/theme.css").write_text("p { font-style: italic }\n")
    assert command(*LINE).stderr == "runs because template theme.css has other bytes\n"
    change_data()
    evalpipe.run("small.yaml", out="before", overrides=["gates=[]"])
    assert "; the results that gate 1 is against" in command(*LINE).stderr
    assert command(*LINE).stdout == nothing("pass")
    assert folder.exists()


def test_the_reference_that_a_run_leaves_is_no_change_but_an_accepted_one_is(command: Command, folder: Path) -> None:
    declare(LAST)
    command(*LINE)
    assert command(*LINE).stdout == nothing("inconclusive") or command(*LINE).stdout == nothing("pass")
    lines = Path("test.csv").read_text().splitlines()
    Path("test.csv").write_text("\n".join(
        line.partition(",")[0] + ",0.5" if number % 2 else line for number, line in enumerate(lines)) + "\n")
    assert command(*LINE).returncode == 1
    assert (command(*LINE).returncode, command(*LINE).stdout) == (1, nothing("fail"))
    command("accept", "out")
    done = command(*LINE)
    assert (done.returncode, done.stderr) == (0, "runs because reference.json is not the one that the run left\n")
    assert command(*LINE).stdout == nothing("pass")
    assert folder.exists()


def test_a_card_that_was_signed_or_rendered_again_is_whole(command: Command, ran: Path) -> None:
    declare(HOLDS, "[html]")
    command(*LINE)
    signed = command("sign", "out", "--role", "validator", "--name", "A. Reader", "--decision", "approved", "--date",
                     "2026-11-21")
    assert signed.returncode == 0
    card = (ran / "card.html").read_bytes()
    assert command("render", "out").returncode == 0
    assert (ran / "card.html").read_bytes() == card
    assert command(*LINE).stdout == nothing("pass")


def test_the_day_counts(command: Command, folder: Path) -> None:
    declare(HOLDS)
    command(*LINE, "--as-of", "2026-11-21")
    assert command(*LINE, "--as-of", "2026-11-21").stdout == nothing("pass")
    assert command(*LINE, "--as-of", "2026-11-22").stderr == "runs because the spec: as_of\n"
    assert folder.exists()


def test_a_log_says_that_nothing_was_done(command: Command, ran: Path) -> None:
    command(*LINE, "--log-file", "log")
    lines = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["begin", "spec", "step", "unchanged", "step-done", "end"]
    assert (lines[-1]["exit_code"], lines[-1]["verdict"]) == (0, "pass")
    assert ran.exists()


def test_while_another_run_writes_nothing_is_compared(ran: Path) -> None:
    holder = ("import fcntl, subprocess, sys; file = open('.out.lock', 'w'); fcntl.flock(file, fcntl.LOCK_EX); "
              "sys.exit(subprocess.run(sys.argv[1:]).returncode)")
    done = subprocess.run(
        [sys.executable, "-c", holder, sys.executable, "-m", "evalpipe", *LINE], cwd=ran.parent, capture_output=True,
        text=True, check=False)
    assert (done.returncode, "another run is writing to it" in done.stderr) == (2, True)


def test_the_library_returns_the_results_that_are_there(ran: Path) -> None:
    before = stamps(ran)
    results = evalpipe.run("small.yaml", out="out", if_changed=True)
    assert results == evalpipe.Results.read(ran)
    assert stamps(ran) == before


@pytest.mark.parametrize("name", ["titanic", "candidates", "repeats", "optimism"])
def test_every_input_of_an_example_is_compared(example: Callable[[str], Path], root: Path, name: str) -> None:
    folder = example(name)
    few = ["report.formats=[html, junit]", *(() if name == "candidates" else ("intervals.replicates=150",))]
    results, reasons = changes(evalpipe.load(root / "configs" / f"{name}.yaml", few), folder)
    assert reasons == []
    assert results is not None
    assert results.inputs


def test_a_key_that_has_not_signed_makes_it_run_and_is_named_however_many_files_changed(
    command: Command, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    for number in (1, 2):
        private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        Path(f"{number}.pem").write_bytes(pem)
        Path(f"{number}.pem").chmod(0o600)
        done = command(*LINE, "--key", f"{number}.pem")
        assert done.stderr == "runs because manifest.json is not signed by this key\n"
        assert command(*LINE, "--key", f"{number}.pem").stdout == nothing("pass")
    assert ran.exists()
    (ran / "estimates.csv").unlink()
    (ran / "junit.xml").unlink()
    monkeypatch.setattr("evalpipe.ledger.since_last_run.MOST", 2)
    assert command(*LINE, "--key", "1.pem").stderr == (
        "runs because estimates.csv is missing; junit.xml is missing; manifest.json is not signed by this key\n")


@pytest.mark.usefixtures("folder")
def test_nights_of_a_trend_that_are_new_gone_or_others_are_told() -> None:
    declare("trend: {metrics: [brier]}\n")
    for day in ("01", "02", "04"):
        results = evalpipe.run("small.yaml", out=f"out-{day}", as_of=f"2026-03-{day}")
    spec, place = load("small.yaml", as_of="2026-03-04"), LedgerPlace.of("ledger.sqlite")
    assert changed_nights(spec, results, Ledger.read(place)) == []
    evalpipe.run("small.yaml", out="out-03", as_of="2026-03-03")
    with contextlib.closing(sqlite3.connect("ledger.sqlite")) as ledger, ledger:
        ledger.execute("DELETE FROM evalpipe_runs WHERE as_of = '2026-03-01'")
        ledger.execute("UPDATE evalpipe_runs SET results_sha256 = ? WHERE as_of = '2026-03-02'", ("f" * 64,))
    was = results.trend.nights[1].results_sha256[:8]
    assert changed_nights(spec, results, Ledger.read(place)) == [
        "the night of 2026-03-01 is no longer there",
        f"the night of 2026-03-02 has results with a sha256 that begins with ffffffff, not {was}",
        "the night of 2026-03-03 was not there"]
