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

_DURATION = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[smh])", re.ASCII)


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as "15m"; raises click.BadParameter for a text that is no duration."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        raise click.BadParameter(f"{text!r} is no duration; write a number and s, m or h, such as 90s, 15m or 2h")
    seconds = float(parts["number"]) * UNITS[parts["unit"]]
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"{text!r} is not between 1 ms and 30 days")
    return seconds


def duration_text(seconds: float) -> str:
    """Return a duration as `seconds_of` reads it, such as "15m": in the largest unit that divides it."""
    unit = next((unit for unit in reversed(UNITS) if not seconds % UNITS[unit]), "s")
    return f"{seconds / UNITS[unit]:.10g}{unit}"


GRACE = 5.0
"""Seconds that a command has to end by itself after a signal, or when its time is over, before a thread ends it."""

ENDINGS = {"SIGINT": ("interrupted", 130), "SIGTERM": ("terminated", 143), "SIGALRM": ("out of time", 3)}
"""By the name of the signal that ends a command, how that is called, and its exit code."""

UNCHANGED = "the earlier output is unchanged"
"""What is so of every command that ends before its output is complete."""

_received_signals: list[int] = []


def watch() -> None:
    """Remember Ctrl-C and SIGTERM from now on, unless this process was started to ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _remember)


def _remember(number: int, _: FrameType | None) -> None:
    """Handle a signal: remember its number, and raise KeyboardInterrupt at the first one."""
    _received_signals.append(number)
    if len(_received_signals) == 1:  # a second would break what is cleared up after the first
        raise KeyboardInterrupt


def ending_word_and_code() -> tuple[str, int]:
    """Return the word for how the last signal ends the command, and the exit code; without a signal, for Ctrl-C."""
    return ENDINGS[signal.Signals(_received_signals[-1]).name if _received_signals else "SIGINT"]


def report_interrupt(error: BaseException) -> int:
    """Print how a signal ended the command, and what became of its output; return the exit code."""
    word, code = ending_word_and_code()
    cause = error.__cause__ or error  # click puts an error of its own in the place of an interrupt
    tell_person(f"{word}; {cause.args[0] if cause.args else UNCHANGED}")
    return code


def leave(code: int) -> NoReturn:
    """Exit with ``code``, also after an interrupt.

    An interrupt inside the ``exec`` of a text, such as dataclasses and scipy run while they are imported, makes Python
    kill itself by the signal when it ends, although it was caught. So after one it is not left to end by itself.
    """
    if _received_signals:
        leave_at_once(code)
    silence()
    sys.exit(code)


def leave_at_once(code: int) -> NoReturn:
    """Exit with ``code`` whatever other threads do; no temporary folder and no lock stays."""
    silence()
    remove_litter()
    os._exit(code)


class Guard:
    """A context whose block ends after a signal, or when its time is over: ``timed_out`` says whether it was that.

    Both raise KeyboardInterrupt in the main thread. Where it does not end within `GRACE`, as in a library that computes
    or waits for a file, a thread calls ``rescue`` with the number of the signal, which has to end the process. Raises
    UsageError where the system knows no alarm.
    """

    def __init__(self, seconds: float | None, rescue: Callable[[int], NoReturn]) -> None:
        """Limit the block to ``seconds``, None for no limit; ``rescue`` ends the process, given the signal."""
        self.timed_out = False
        self._seconds, self._end_stuck_run, self._block_ended = seconds, rescue, threading.Event()
        self._signals, self._sent = socket.socketpair()  # to read from in a thread, and for Python to write to

    def __enter__(self) -> Self:
        """Start the time limit and a thread that watches for signals; raises UsageError where there is no alarm."""
        if self._seconds is not None:
            if not hasattr(signal, "SIGALRM"):
                raise UsageError.of("no-alarm", "this system has no alarm, so --timeout cannot be kept", "leave it out")
            signal.signal(signal.SIGALRM, self._alarm)
        self._sent.settimeout(0.0)  # as `set_wakeup_fd` asks for
        self._before = signal.set_wakeup_fd(self._sent.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._rescue_if_stuck, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the watching of signals and time; a later alarm does nothing."""
        self._block_ended.set()
        signal.set_wakeup_fd(self._before)
        self._sent.close()

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGALRM: interrupt the block, unless it has ended."""
        if not self._block_ended.is_set():
            self.timed_out = True
            _remember(number, frame)

    def _rescue_if_stuck(self) -> None:
        """Wait for a signal or the time limit, and call ``rescue`` where the block goes on for `GRACE` seconds."""
        with self._signals:  # open until the end: further signals are written to it
            number = self._first_signal()
            if number is not None and not self._block_ended.wait(GRACE):
                _received_signals.append(number)
                self._end_stuck_run(number)

    def _first_signal(self) -> int | None:
        """Return the number of the first signal that ends a command, SIGALRM at the time limit; None without any."""
        self._signals.settimeout(self._seconds)
        try:
            while byte := self._signals.recv(1):  # the number of a signal; none once the block has ended
                if signal.Signals(byte[0]).name in ENDINGS:
                    return byte[0]
        except TimeoutError:
            # The main thread gets the alarm, which interrupts the block.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            return signal.SIGALRM
        return None


class Interruptible(Progress):
    """Progress that is passed on to several listeners, and that raises KeyboardInterrupt where a signal came meanwhile.

    ``current_step`` is the step that the run is in, ``holds_lock`` whether it has locked its output folder.
    ``unchanged`` tells that nothing has changed since the run before, ``moved_signatures`` and ``moved_comments`` are
    the files that these were moved to.
    """

    def __init__(self, *listeners: Progress) -> None:
        """Pass progress on to ``listeners``, and start with nothing noted for the command's last message."""
        self._listeners = listeners
        self.current_step = "its beginning"
        self.holds_lock = self.unchanged = False
        self.moved_signatures: str | None = None
        self.moved_comments: str | None = None
        self.missing_letters: tuple[str, ...] = ()
        self.pdf_problem: Problem | None = None

    def step(self, number: int, title: str) -> None:
        """Report to all listeners that a step begins, and note it; raises KeyboardInterrupt after a signal."""
        self._raise_if_interrupted()
        self.current_step, self.holds_lock = f"step {number} ({title})", number > 1
        for listener in self._listeners:
            listener.step(number, title)

    def expect(self, replicates: int) -> None:
        """Report to all listeners the number of replicates to be drawn."""
        for listener in self._listeners:
            listener.expect(replicates)

    def advance(self, replicates: int) -> None:
        """Report to all listeners that ``replicates`` more are done; raises KeyboardInterrupt after a signal."""
        self._raise_if_interrupted()
        for listener in self._listeners:
            listener.advance(replicates)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Report the parts that a dataset is read in, how many the cache has, and ``why`` the others are read."""
        self._raise_if_interrupted()
        for listener in self._listeners:
            listener.expect_parts(dataset, parts, cached, why)

    def part_read(self) -> None:
        """Report to all listeners that a part of a dataset is read; raises KeyboardInterrupt after a signal."""
        self._raise_if_interrupted()
        for listener in self._listeners:
            listener.part_read()

    def changed(self, reasons: Sequence[str]) -> None:
        """Report what has changed since the run before, and note whether that is nothing."""
        self.unchanged = not reasons
        for listener in self._listeners:
            listener.changed(reasons)

    def signatures_moved(self, file: str) -> None:
        """Note the file that signatures of other results were moved to, which is printed when the run is done."""
        self.moved_signatures = file

    def comments_moved(self, file: str) -> None:
        """Note the file that comments on other results were moved to, which is printed when the run is done."""
        self.moved_comments = file

    def letters_without_font(self, letters: Sequence[str]) -> None:
        """Note the letters that the PDF shows boxes for, which are printed when the run is done."""
        self.missing_letters = tuple(letters)

    def no_pdf(self, problem: Problem) -> None:
        """Note why no PDF was made, which is printed when the run is done."""
        self.pdf_problem = problem

    @staticmethod
    def _raise_if_interrupted() -> None:
        """Raise KeyboardInterrupt after a signal, again where a library swallowed that of the signal itself."""
        if _received_signals:
            raise KeyboardInterrupt


def annotation(problem: Problem) -> str:
    """Return a problem as a GitHub workflow command: an annotation of a line of the spec."""
    position = problem.place
    parts = [("file", position.file), ("line", position.line), ("col", position.column)] if position else []
    properties = ",".join(f"{key}={value}" for key, value in [*parts, ("title", problem.code)] if value is not None)
    text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return f"::{problem.severity} {properties}::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def requested_format(arguments: Sequence[str]) -> str:
    """Return the value of ``--format`` in ``arguments`` that may not parse, to print their errors; else "text"."""
    for index, argument in enumerate(arguments):
        if argument == "--format":
            return arguments[index + 1] if index + 1 < len(arguments) else "text"
        if argument.startswith("--format="):
            return argument.partition("=")[2]
    return "text"


def print_problems(*problems: Problem, code: int, form: str) -> int:
    """Print problems in a format: text on stderr, JSON or GitHub annotations on stdout; return the exit ``code``."""
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


def long_path_problem(error: Exception) -> Problem | None:
    """Return the problem of a path that is too long for the system; None for any other error."""
    if not isinstance(error, OSError) or error.errno != errno.ENAMETOOLONG:
        return None
    return Problem("long-path", f"the path {quoted(str(error.filename))} is longer than this system allows",
                   hint="give a shorter one")


def internal_problem(error: Exception) -> Problem:
    """Return the problem that reports an unexpected error as a fault of evalpipe, with the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = f"{trace.tb_frame.f_globals.get('__name__', '?')}, line {trace.tb_lineno}" if trace else "unknown place"
    return Problem(
        "internal", f"a fault of evalpipe itself: {type(error).__name__}: {error}", notes=(f"raised in {line}",),
        hint="please report it with the spec; EVALPIPE_DEBUG=1 shows the traceback",
    )


def exit_code_of(error: BaseException | None) -> int:
    """Return the exit code of a command that ends with ``error``; 0 without one."""
    if error is None:
        return 0
    if isinstance(error, KeyboardInterrupt):
        return ending_word_and_code()[1]
    return error.exit_code if isinstance(error, EvalpipeError) else InternalError.exit_code


def problems_of(error: BaseException) -> tuple[Problem, ...]:
    """Return the problems that an error reports; none of an interrupt."""
    if isinstance(error, EvalpipeError):
        return error.problems
    return (internal_problem(error),) if isinstance(error, Exception) else ()


YOUNG = 100_000
"""How many new objects there are before Python looks for those that nothing refers to; by default it is 700."""


def collect_rarely() -> None:
    """Have Python look for unused objects rarely, and not at all as the process ends.

    It looked through all that was imported again and again, and once more at the end: a fifth of the time of a command.
    """
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)
