"""Keeps what a library writes to the standard error by itself from users who get an error of evalpipe instead."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

STDERR = 2


class _Aside:
    """The standard error turned aside: by the first of the blocks that run at once, until the last of them ends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.raised = False
        self.outside = -1
        self.caught = -1

    def begin(self) -> None:
        """Turn it aside; raises OSError where there is none."""
        with self.lock:
            if not self.blocks:
                self.outside = os.dup(STDERR)
                with tempfile.TemporaryFile() as file:
                    self.caught = os.dup(file.fileno())
                with contextlib.suppress(OSError, ValueError):
                    sys.stderr.flush()
                os.dup2(self.caught, STDERR)
                self.raised = False
            self.blocks += 1

    def end(self, *, raised: bool) -> None:
        """Turn it back after the last block, and write what was held back where none raised."""
        with self.lock:
            self.blocks -= 1
            self.raised |= raised
            if self.blocks:
                return
            os.dup2(self.outside, STDERR)
            with os.fdopen(self.caught, "rb") as held_back, os.fdopen(self.outside, "wb", 0) as outside:
                held_back.seek(0)
                with contextlib.suppress(OSError):
                    outside.write(b"" if self.raised else held_back.read())


_aside = _Aside()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hold back what native code writes to the standard error while the block runs, in whatever thread.

    It is written after the block, or dropped where the block raises. polars prints the panics of its threads there,
    with their stacks, before it raises them. Without a standard error the block runs as it is. Of blocks that run at
    once the standard error is turned aside until the last ends; each for itself could turn it back to another's file.
    """
    try:
        _aside.begin()
    except OSError:
        yield
        return
    raised = True
    try:
        yield
        raised = False
    finally:
        _aside.end(raised=raised)


def turn_back() -> None:
    """Turn the standard error back while blocks run, for the last words of a process that ends within them."""
    if _aside.blocks:
        os.dup2(_aside.outside, STDERR)
