"""What native code writes to the standard error is held back, and the standard error is there again afterwards."""

from __future__ import annotations

import os
import threading

import pytest

from evalpipe.data.formats import captured_stderr


def test_blocks_that_overlap_give_the_standard_error_back(capfd: pytest.CaptureFixture[str]) -> None:
    begun, ended = threading.Event(), threading.Event()

    def second() -> None:
        with captured_stderr():
            begun.set()
            ended.wait(10)

    other = threading.Thread(target=second)
    with captured_stderr():
        other.start()
        begun.wait(10)
        os.write(2, b"held back, ")
    ended.set()
    other.join()
    os.write(2, b"then written")
    assert capfd.readouterr().err == "held back, then written"


def test_what_is_written_before_an_error_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        with captured_stderr():
            os.write(2, b"a panic")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"
