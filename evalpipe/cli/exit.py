"""How a command ends: by Ctrl-C, SIGTERM or a time-out; its problems where they belong, and its exit code.

A KeyboardInterrupt raised while a C extension is being imported may be swallowed by the extension. So it is
remembered too, and raised again when the run next tells its progress. Python hears of a signal only when native code
returns. So a thread hears of it too, and ends the process where the main thread does not.
"""

from __future__ import annotations

import atexit
import errno
import gc
import json
import os
import re
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, NoReturn, Self

import click

from evalpipe.base.folders import remove_litter
from evalpipe.cli.output import silence, tell_person
from evalpipe.errors import EvalpipeError, InternalError, Problem, UsageError
from evalpipe.run import Progress
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType


UNITS = {"s": 1, "m": 60, "h": 3600}
"""The seconds of each unit."""

LONGEST = 30 * 24 * 3600
"""The most seconds that may be allowed, 30 days: more is a slip of the keyboard."""

_WRITTEN = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[smh])", re.ASCII)


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as "15m"; raises click.BadParameter for what is none."""
    parts = _WRITTEN.fullmatch(text)
    if parts is None:
        raise click.BadParameter(f"{text!r} is no duration; write a number and s, m or h, such as 90s, 15m or 2h")
    seconds = float(parts["number"]) * UNITS[parts["unit"]]
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"{text!r} is not between 1 ms and 30 days")
    return seconds


def written(seconds: float) -> str:
    """Write a duration as it may be given: in the largest unit that it is a whole number of."""
    unit = next((unit for unit in reversed(UNITS) if not seconds % UNITS[unit]), "s")
    return f"{seconds / UNITS[unit]:.10g}{unit}"


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


def annotation(problem: Problem) -> str:
    """Return a problem as a GitHub workflow command."""
    place = problem.place
    parts = [("file", place.file), ("line", place.line), ("col", place.column)] if place else []
    where = ",".join(f"{key}={value}" for key, value in [*parts, ("title", problem.code)] if value is not None)
    text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return f"::{problem.severity} {where}::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def asked_format(arguments: Sequence[str]) -> str:
    """Return the value of ``--format`` on a command line that may not parse."""
    for i, argument in enumerate(arguments):
        if argument == "--format":
            return arguments[i + 1] if i + 1 < len(arguments) else "text"
        if argument.startswith("--format="):
            return argument.partition("=")[2]
    return "text"


def tell(*problems: Problem, code: int, form: str) -> int:
    """Print problems where they belong: on stderr for people; as JSON or annotations on stdout. Returns ``code``."""
    if form == "json":
        document = {"ok": False, "exit_code": code, "problems": [problem.as_dict() for problem in problems]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return code
    if form == "github":
        for problem in problems:
            click.echo(annotation(problem))
    tell_person("\n\n".join(str(problem) for problem in problems))
    if len(problems) > 1:
        tell_person(f"\n{len(problems)} errors")
    return code


def long_path(error: Exception) -> Problem | None:
    """Return the problem of a path that is too long for the system; None for any other error."""
    if not isinstance(error, OSError) or error.errno != errno.ENAMETOOLONG:
        return None
    return Problem("long-path", f"the path {quoted(str(error.filename))} is longer than this system allows",
                   hint="give a shorter one")


def fault(error: Exception) -> Problem:
    """Return the problem of an error that nobody expected, with the line that raised it."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f"{last.tb_frame.f_globals.get('__name__', '?')}, line {last.tb_lineno}" if last else "unknown place"
    return Problem(
        "internal", f"a fault of evalpipe itself: {type(error).__name__}: {error}", notes=(f"raised in {place}",),
        hint="please report it with the spec; EVALPIPE_DEBUG=1 shows the traceback",
    )


def code_of(error: BaseException | None) -> int:
    """Return the exit code of a command that ends with an error; 0 where there is none."""
    if error is None:
        return 0
    if isinstance(error, KeyboardInterrupt):
        return ending()[1]
    return error.exit_code if isinstance(error, EvalpipeError) else InternalError.exit_code


def problems_of(error: BaseException) -> tuple[Problem, ...]:
    """Return what an error tells; nothing of an interrupt."""
    if isinstance(error, EvalpipeError):
        return error.problems
    return (fault(error),) if isinstance(error, Exception) else ()


YOUNG = 100_000
"""How many new objects there are before Python looks for those that nothing refers to; by default it is 700."""


def collect_rarely() -> None:
    """Have Python look for unused objects rarely, and not at all as the process ends.

    It looked through all that was imported again and again, and once more at the end: a fifth of the time of a command.
    """
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)
