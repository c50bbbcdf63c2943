"""Ctrl-C, SIGTERM and time-outs that cannot be lost.

A KeyboardInterrupt raised while a C extension is being imported may be swallowed by the extension. So it is remembered
too, and raised again when the run next tells its progress.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn, Self

from evalpipe.cli.output import silence
from evalpipe.errors import UsageError
from evalpipe.run import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

GRACE = 20.0
"""Seconds that a run has to end by itself when its time is over, before the process is ended from outside."""

ENDINGS = {"SIGINT": ("interrupted", 130), "SIGTERM": ("terminated", 143), "SIGALRM": ("out of time", 3)}
"""By the name of the signal that ends a run, how that is called, and its exit code."""

_seen: list[int] = []


def watch() -> None:
    """Remember Ctrl-C and SIGTERM from now on, unless this process was started to ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _remember)


def _remember(number: int, _: FrameType | None) -> NoReturn:
    _seen.append(number)
    raise KeyboardInterrupt


def ending() -> tuple[str, int]:
    """Return how the end of the run is called, and its exit code: those of the last signal, or of Ctrl-C."""
    return ENDINGS[signal.Signals(_seen[-1]).name if _seen else "SIGINT"]


def leave(code: int) -> NoReturn:
    """Exit with ``code``, also after an interrupt.

    An interrupt inside the ``exec`` of a text, such as dataclasses and scipy run while they are imported, makes Python
    kill itself by the signal when it ends, although it was caught. So after one it is not left to end by itself.
    """
    if _seen:
        leave_at_once(code)
    silence()
    sys.exit(code)


def leave_at_once(code: int) -> NoReturn:
    """Exit with ``code`` whatever other threads do."""
    silence()
    os._exit(code)


class Deadline:
    """Interrupts what is done within it when its time is over; ``passed`` tells that it was.

    A library that is waiting for a file may not let itself be interrupted. So after `GRACE` a thread calls ``rescue``,
    which has to end the process. Raises UsageError where the system knows no such alarm.
    """

    def __init__(self, seconds: float | None, rescue: Callable[[], NoReturn]) -> None:
        """Allow so many seconds; None for any number of them."""
        self.passed = False
        self._seconds, self._rescue, self._over = seconds, rescue, threading.Event()

    def __enter__(self) -> Self:
        """Let the time run."""
        if self._seconds is None:
            return self
        if not hasattr(signal, "SIGALRM"):
            raise UsageError.of("no-alarm", "this system has no alarm, so --timeout cannot be kept", "leave it out")
        signal.signal(signal.SIGALRM, self._alarm)
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the time; an alarm that comes later does nothing."""
        self._over.set()

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        if not self._over.is_set():
            self.passed = True
            _remember(number, frame)

    def _wait(self) -> None:
        if not self._over.wait(self._seconds):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            if not self._over.wait(GRACE):
                self._rescue()


class Interruptible(Progress):
    """Progress that raises a remembered interrupt before it passes on what it is told, to several listeners.

    ``at`` is the step that the run is in, and ``holds`` whether it has locked its output folder. ``same`` tells that
    nothing has changed since the run before, ``moved`` is the file that signatures were moved to.
    """

    def __init__(self, *listeners: Progress) -> None:
        """Pass on to ``listeners``."""
        self._listeners = listeners
        self.at = "its beginning"
        self.holds = self.same = False
        self.moved: str | None = None

    def step(self, number: int, title: str) -> None:
        """Begin a step."""
        self._check()
        self.at, self.holds = f"step {number} ({title})", number > 1
        for listener in self._listeners:
            listener.step(number, title)

    def expect(self, replicates: int) -> None:
        """Announce replicates."""
        for listener in self._listeners:
            listener.expect(replicates)

    def advance(self, replicates: int) -> None:
        """Count replicates."""
        self._check()
        for listener in self._listeners:
            listener.advance(replicates)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Announce parts."""
        self._check()
        for listener in self._listeners:
            listener.expect_parts(dataset, parts, cached, why)

    def part_read(self) -> None:
        """Count a part."""
        self._check()
        for listener in self._listeners:
            listener.part_read()

    def changed(self, reasons: Sequence[str]) -> None:
        """Pass on what has changed; note where that is nothing."""
        self.same = not reasons
        for listener in self._listeners:
            listener.changed(reasons)

    def signatures_moved(self, file: str) -> None:
        """Keep the name of the file, which is told when the run is done."""
        self.moved = file

    @staticmethod
    def _check() -> None:
        if _seen:
            raise KeyboardInterrupt
