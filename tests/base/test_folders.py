"""Folders on disk: names exchanged in one step, leftovers removed, signals that wait, locks of this process."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from evalpipe.base.folders import (
    LITTER,
    TemporaryFolder,
    exchange_folders,
    file_lock,
    flush_to_disk,
    remove_folder,
    remove_litter,
    remove_temporary_folders,
    signals_postponed,
    temporary_folders_of_runs,
)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_two_folders_exchange_their_names(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert exchange_folders(tmp_path / "a", tmp_path / "b")
    assert names(tmp_path / "a") == {"b"}
    assert names(tmp_path / "b") == {"a"}
    assert not exchange_folders(tmp_path / "a", tmp_path / "c")
    assert names(tmp_path) == {"a", "b"}


def test_a_name_that_looks_like_a_pattern_is_taken_as_it_is(tmp_path: Path) -> None:
    for name in (".a.*.new-abcdefgh", ".a.b.new-abcdefgh", ".ab.new-abcdefgh"):
        (tmp_path / name).mkdir()
    remove_temporary_folders(tmp_path / "a.*")
    assert names(tmp_path) == {".a.b.new-abcdefgh", ".ab.new-abcdefgh"}


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / ".out.new-abcdefgh").symlink_to(tmp_path / "kept")
    remove_temporary_folders(tmp_path / "out")
    assert names(tmp_path) == {"kept"}
    remove_folder(tmp_path / "gone")


def test_leftovers_are_those_of_a_folder_beside_it_and_in_it(tmp_path: Path) -> None:
    left = {".out.new-abcd_123", ".out.try-00000000", "out/.new-abcdefgh"}
    for name in (*left, ".out.new-b.new-abcdefgh", ".out.new-abc", ".out.new-abcd_1234", "out/.new-abcdefgh.d"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    assert {str(path.relative_to(tmp_path)) for path in temporary_folders_of_runs(tmp_path / "out")} == left
    assert list(temporary_folders_of_runs(tmp_path / "file")) == []
    (tmp_path / ".out.new-abcd_123" / "file").touch()
    remove_temporary_folders(tmp_path / "out")
    assert names(tmp_path) == {"out", "file", ".out.new-b.new-abcdefgh", ".out.new-abc", ".out.new-abcd_1234"}


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems flush the names in a folder to the disk")
def test_files_and_names_are_flushed_and_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda opened: flushed.append(str(Path(f"/proc/self/fd/{opened}").readlink())))
    (tmp_path / "top" / "sub").mkdir(parents=True)
    for name in ("other", "top/a", "top/sub/b"):
        (tmp_path / name).touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "other")
    (tmp_path / "top" / "way").symlink_to(tmp_path / "elsewhere")
    flush_to_disk(tmp_path / "top")
    assert flushed == [str(tmp_path / name) for name in ("top/a", "top/sub/b", "top/sub", "top")]


def test_litter_of_this_process_is_removed_and_then_forgotten(tmp_path: Path) -> None:
    with TemporaryFolder(".new-", tmp_path) as name, file_lock(tmp_path / ".lock"):
        assert {Path(name), tmp_path / ".lock"} <= LITTER
        (Path(name) / "file").touch()
        remove_litter()
        assert names(tmp_path) == set()
    assert not {Path(name), tmp_path / ".lock"} & LITTER
    assert names(tmp_path) == set()


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    (tmp_path / ".lock").symlink_to(tmp_path / "kept")
    with pytest.raises(OSError, match="symbolic links"):
        file_lock(tmp_path / ".lock").__enter__()
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.parametrize("then", [None, "all is written"])
def test_a_signal_waits_until_the_block_is_done(then: str | None) -> None:
    before, done = signal.getsignal(signal.SIGINT), []

    def block() -> None:
        with signals_postponed(then):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt) as caught:
        block()
    assert caught.value.args == (() if then is None else (then,))
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_the_main_thread_no_signal_waits() -> None:
    handlers = []

    def work() -> None:
        with signals_postponed():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]
