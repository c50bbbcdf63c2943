"""Ctrl-C that cannot be lost.

A KeyboardInterrupt raised while a C extension is being imported may be swallowed by the extension. So it is remembered
too, and raised again when the run next tells its progress.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from evalpipe.run import Progress

if TYPE_CHECKING:
    from types import FrameType

_seen: list[int] = []


def watch() -> None:
    """Remember interrupts from now on, unless this process was started to ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)


def _remember(number: int, _: FrameType | None) -> NoReturn:
    _seen.append(number)
    raise KeyboardInterrupt


def leave(code: int) -> NoReturn:
    """Exit with ``code``, also after an interrupt.

    An interrupt inside the ``exec`` of a text, such as dataclasses and scipy run while they are imported, makes Python
    kill itself by the signal when it ends, although it was caught. So after one it is not left to end by itself.
    """
    if _seen:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


class Interruptible(Progress):
    """Progress that raises a remembered interrupt before it passes on what it is told."""

    def __init__(self, progress: Progress) -> None:
        """Pass on to ``progress``."""
        self._progress = progress
        self.moved: str | None = None

    def step(self, number: int, title: str) -> None:
        """Begin a step."""
        self._check()
        self._progress.step(number, title)

    def expect(self, replicates: int) -> None:
        """Announce replicates."""
        self._progress.expect(replicates)

    def advance(self, replicates: int) -> None:
        """Count replicates."""
        self._check()
        self._progress.advance(replicates)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Announce parts."""
        self._check()
        self._progress.expect_parts(dataset, parts, cached, why)

    def part_read(self) -> None:
        """Count a part."""
        self._check()
        self._progress.part_read()

    def signatures_moved(self, file: str) -> None:
        """Keep the name of the file, which is told when the run is done."""
        self.moved = file

    @staticmethod
    def _check() -> None:
        if _seen:
            raise KeyboardInterrupt
