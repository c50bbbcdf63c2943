"""Output folders are exchanged in one step, or put back; what dead runs left is removed, and nothing of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

import evalpipe
from evalpipe.base import folders
from evalpipe.base.folders import temporary_folders_of_runs
from evalpipe.errors import UsageError
from evalpipe.runs.record import Recorder, abandon, lock_of
from evalpipe.streams.cache import cache_folder

SPEC = {
    "evalpipe": 1, "name": "small", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"test": {"path": "test.csv"}}, "models": {"a": {"probability": "p"}}, "metrics": ["brier"],
    "intervals": {"method": "none"}, "report": {"formats": []},
}


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an output folder that a run has written, and work beside its data."""
    monkeypatch.chdir(tmp_path)
    data(0.5)
    evalpipe.run(SPEC, out="out")
    return tmp_path / "out"


def data(score: float) -> None:
    Path("test.csv").write_text(f"y,p\n1,{score}\n0,0.25\n")


def brier(out: Path) -> float:
    (row,) = evalpipe.Results.read(out).rows
    assert row.value is not None
    return row.value


def names(folder: Path) -> set[str]:
    """Return what lies in a folder, but for the ledger."""
    return {path.name for path in folder.iterdir() if not path.name.startswith("ledger.sqlite")}


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems flush the names in a folder to the disk")
def test_every_file_is_on_the_disk_before_the_folders_are_exchanged(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "sub").mkdir()
    (out / "sub" / "notes.md").write_text("mine")
    happened: list[Path | str] = []
    flush, exchange = os.fsync, folders.exchange_folders

    def fsync(opened: int) -> None:
        happened.append(Path(f"/proc/self/fd/{opened}").readlink())
        flush(opened)

    def exchanging(fresh: Path, old: Path) -> bool:
        happened.extend([str(fresh), "exchanged"])
        return exchange(fresh, old)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr("evalpipe.runs.record.exchange_folders", exchanging)
    evalpipe.run(SPEC, out="out")
    at = happened.index("exchanged")
    fresh = Path(str(happened[at - 1]))
    flushed = {path.relative_to(fresh) for path in happened[: at - 1] if isinstance(path, Path)}
    written = {path.relative_to(out) for path in out.rglob("*")}
    assert flushed == written | {Path()}
    assert happened[at + 1] == out.parent


def test_a_run_replaces_the_folder_and_keeps_the_files_of_others(out: Path) -> None:
    (out / "notes.md").write_text("mine")
    data(0.75)
    evalpipe.run(SPEC, out=out)
    assert brier(out) == pytest.approx(0.0625)
    assert (out / "notes.md").read_text() == "mine"
    assert names(out.parent) == {"test.csv", "out"}


def test_where_the_system_cannot_exchange_the_old_folder_steps_aside(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalpipe.runs.record.exchange_folders", lambda *_: False)
    data(0.75)
    evalpipe.run(SPEC, out=out)
    assert brier(out) == pytest.approx(0.0625)
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if ".new-" in path.name:
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    data(1.0)
    with pytest.raises(UsageError, match="No space left on device"):
        evalpipe.run(SPEC, out=out)
    assert brier(out) == pytest.approx(0.0625)
    assert names(out.parent) == {"test.csv", "out"}


def test_an_output_folder_that_is_a_link_is_replaced_without_touching_where_it_leads(out: Path) -> None:
    link = out.parent / "link"
    link.symlink_to(out)
    data(0.75)
    evalpipe.run(SPEC, out=link)
    assert (brier(link), brier(out)) == (pytest.approx(0.0625), pytest.approx(0.15625))
    assert names(out.parent) == {"test.csv", "out", "link"}


LEFT = (".out.new-abcd_123", ".out.try-00000000", "out/.new-abcdefgh")
OTHERS = (".out.new-b.new-abcdefgh", ".out.new-abc", ".out.new-abcd_1234", ".out2.new-abcdefgh", "out/.new-folder",
          "out/.new-abcdefgh.d", ".outXnew-abcdefgh")


def test_the_next_run_removes_what_dead_runs_left_and_nothing_else(out: Path) -> None:
    for name in (*LEFT, *OTHERS):
        (out.parent / name).mkdir()
        (out.parent / name / "file").touch()
    cache = cache_folder(out)
    (cache / ".new-folder").mkdir(parents=True)
    (cache / ".new-file").touch()
    (cache / "kept.tables").touch()
    assert {path.relative_to(out.parent).as_posix() for path in temporary_folders_of_runs(out)} == set(LEFT)
    evalpipe.run(SPEC, out=out)
    assert [name for name in LEFT if (out.parent / name).exists()] == []
    assert [name for name in OTHERS if not (out.parent / name).exists()] == []
    assert names(cache) == {"kept.tables"}


def test_what_a_process_holds_is_given_up_when_it_is_abandoned(out: Path) -> None:
    recorder = Recorder(out)
    with recorder:
        assert recorder.fresh.is_dir()
        assert lock_of(out).exists()
        abandon(out)
        assert names(out.parent) == {"test.csv", "out"}
    assert brier(out) == pytest.approx(0.15625)


def test_a_ledger_that_fails_at_the_end_says_that_the_output_is_complete(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise UsageError.of("ledger", "cannot use the ledger 'ledger.sqlite': disk I/O error", "look at it")

    data(0.75)
    with monkeypatch.context() as patched:
        patched.setattr("evalpipe.ledger.store.Ledger.record", fails)
        patched.setattr("evalpipe.ledger.store.Ledger.catch_up", lambda *_: None)
        with pytest.raises(UsageError) as error:
            evalpipe.run(SPEC, out="out")
    assert str(error.value) == (
        "error[ledger]: cannot use the ledger 'ledger.sqlite': disk I/O error\n"
        "  = the new output in 'out' is complete; the next run to it is recorded with this one\n"
        "  = help: look at it")
    assert brier(out) == pytest.approx(0.0625)


def test_an_interrupt_while_folders_are_exchanged_puts_the_old_one_back(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def interrupted(path: Path, target: Path) -> NoReturn:
        rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr("evalpipe.runs.record.exchange_folders", lambda *_: False)
    monkeypatch.setattr(Path, "rename", interrupted)
    data(0.75)
    with pytest.raises(KeyboardInterrupt):
        evalpipe.run(SPEC, out=out)
    monkeypatch.setattr(Path, "rename", rename)
    assert brier(out) == pytest.approx(0.15625)
    assert names(out.parent) == {"test.csv", "out"}
