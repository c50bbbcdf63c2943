"""The lock of an output folder: held by one, gone with its holder, taken over from the dead."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from evalpipe.base.folders import file_lock


def test_one_holds_it_at_a_time_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / ".out.lock"
    with file_lock(path):
        assert path.exists()
        with pytest.raises(BlockingIOError, match="another run is writing to it"):
            file_lock(path).__enter__()
    assert not path.exists()
    with file_lock(path):
        assert path.exists()


def test_the_file_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / ".out.lock"
    path.write_text("")
    with file_lock(path):
        assert path.exists()
    assert list(tmp_path.iterdir()) == []


def test_many_at_once_never_hold_it_together(tmp_path: Path) -> None:
    path, inside, together, held = tmp_path / ".out.lock", [0], [0], [0]

    def work() -> None:
        for _ in range(300):
            try:
                with file_lock(path):
                    inside[0] += 1
                    together[0] = max(together[0], inside[0])
                    held[0] += 1
                    inside[0] -= 1
            except BlockingIOError:
                continue

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held[0] > 0
    assert together[0] == 1
    assert not path.exists()
