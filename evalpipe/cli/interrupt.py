"""Ctrl-C, SIGTERM and time-outs that cannot be lost, of all commands.

A KeyboardInterrupt raised while a C extension is being imported may be swallowed by the extension. So it is remembered
too, and raised again when the run next tells its progress. Python hears of a signal only when native code returns. So a
thread hears of it too, and ends the process where the main thread does not.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, NoReturn, Self

from evalpipe.base.folders import remove_litter
from evalpipe.cli.output import silence, tell_person
from evalpipe.errors import UsageError
from evalpipe.run import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

GRACE = 5.0
"""Seconds that a command has to end by itself after a signal, or when its time is over, before a thread ends it."""

ENDINGS = {"SIGINT": ("interrupted", 130), "SIGTERM": ("terminated", 143), "SIGALRM": ("out of time", 3)}
"""By the name of the signal that ends a command, how that is called, and its exit code."""

UNCHANGED = "the earlier output is unchanged"
"""What is so of every command that ends before its output is complete."""

_seen: list[int] = []


def watch() -> None:
    """Remember Ctrl-C and SIGTERM from now on, unless this process was started to ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _remember)


def _remember(number: int, _: FrameType | None) -> None:
    _seen.append(number)
    if len(_seen) == 1:  # a second would break what is cleared up after the first
        raise KeyboardInterrupt


def ending() -> tuple[str, int]:
    """Return how the end of the command is called, and its exit code: those of the last signal, or of Ctrl-C."""
    return ENDINGS[signal.Signals(_seen[-1]).name if _seen else "SIGINT"]


def interrupted(error: BaseException) -> int:
    """Say by what a command was ended, and what became of the output; return the exit code, 128 and the signal."""
    word, code = ending()
    cause = error.__cause__ or error  # click puts an error of its own in the place of an interrupt
    tell_person(f"{word}; {cause.args[0] if cause.args else UNCHANGED}")
    return code


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
    """Exit with ``code`` whatever other threads do; no temporary folder and no lock stays."""
    silence()
    remove_litter()
    os._exit(code)


class Guard:
    """Sees to it that what is done within it ends after a signal, and when its time is over; ``passed`` tells of that.

    Both raise KeyboardInterrupt in the main thread. Where it does not end within `GRACE`, as in a library that computes
    or waits for a file, a thread calls ``rescue`` with the number of the signal, which has to end the process. Raises
    UsageError where the system knows no alarm.
    """

    def __init__(self, seconds: float | None, rescue: Callable[[int], NoReturn]) -> None:
        """Allow so many seconds; None for any number of them."""
        self.passed = False
        self._seconds, self._rescue, self._over = seconds, rescue, threading.Event()
        self._signals, self._sent = socket.socketpair()

    def __enter__(self) -> Self:
        """Listen to signals, and let the time run."""
        if self._seconds is not None:
            if not hasattr(signal, "SIGALRM"):
                raise UsageError.of("no-alarm", "this system has no alarm, so --timeout cannot be kept", "leave it out")
            signal.signal(signal.SIGALRM, self._alarm)
        self._sent.settimeout(0.0)  # as `set_wakeup_fd` asks for
        self._before = signal.set_wakeup_fd(self._sent.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the time; an alarm that comes later does nothing."""
        self._over.set()
        signal.set_wakeup_fd(self._before)
        self._sent.close()

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        if not self._over.is_set():
            self.passed = True
            _remember(number, frame)

    def _wait(self) -> None:
        with self._signals:  # open until the end: further signals are written to it
            number = self._first()
            if number is not None and not self._over.wait(GRACE):
                _seen.append(number)
                self._rescue(number)

    def _first(self) -> int | None:
        """Return the number of the first signal that ends a command, or of the alarm; None where none came."""
        self._signals.settimeout(self._seconds)
        try:
            while byte := self._signals.recv(1):
                if signal.Signals(byte[0]).name in ENDINGS:
                    return byte[0]
        except TimeoutError:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            return signal.SIGALRM
        return None


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
