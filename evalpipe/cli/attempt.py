"""A run that ends as it should whatever comes: Ctrl-C, SIGTERM, or the end of the time that it was given."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from evalpipe.cli.durations import written
from evalpipe.cli.ending import tell
from evalpipe.cli.interrupt import UNCHANGED, Guard, Interruptible, interrupted, leave_at_once
from evalpipe.cli.output import output_folder
from evalpipe.cli.progress import Bar, Lines, Quiet
from evalpipe.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.cli.logfile import Log
    from evalpipe.results import FailOn, Results
    from evalpipe.run import Progress
    from evalpipe.spec.spec import Spec

COMPLETE = "the new output is complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What `evalpipe run` was asked for, beside the spec."""

    out: str | None
    overrides: Sequence[str]
    as_of: str | None
    fail_on: FailOn
    form: str
    no_progress: bool
    no_cache: bool
    if_changed: bool
    log_file: str | None
    timeout: float | None
    key: str | None


class RunOutcome(NamedTuple):
    """What a run came to, where its output is, and the file that signatures of other results were moved to.

    ``same`` tells that nothing had changed since the run there, so that nothing was done.
    """

    results: Results
    spec: Spec
    folder: Path
    moved: str | None
    same: bool


class Attempt:
    """One run of a spec file, whose time may be limited."""

    def __init__(self, path: str, options: RunOptions, log: Log) -> None:
        """Run the spec at ``path``, and tell ``log`` of it."""
        self._path, self._options, self._log = path, options, log
        self._watched = Interruptible(log)
        self._folder: Path | None = None
        self._before: object = None

    def run(self) -> RunOutcome:
        """Run the spec; raises DataError where the time was over, KeyboardInterrupt with what became of the output."""
        options = self._options
        shown = nullcontext(Quiet()) if options.no_progress else Bar() if sys.stderr.isatty() else Lines()
        guard = Guard(options.timeout, self._rescue)
        try:
            with guard, shown as progress:
                return self._ran(progress)
        except KeyboardInterrupt:
            if guard.passed:
                raise self._too_late() from None
            raise KeyboardInterrupt(self._output()) from None

    def _ran(self, progress: Progress) -> RunOutcome:
        from evalpipe.run import load_with_files, run

        options = self._options
        self._watched = watched = Interruptible(progress, self._log)
        spec = load_with_files(self._path, options.overrides, self._log.secrets, options.as_of)
        folder = output_folder(options.out, spec.name, spec.as_of, self._log.secrets)
        self._log.spec_read(spec, folder)
        self._folder, self._before = folder, _stamp(folder)
        results = run(spec, out=folder, progress=watched, fail_on=options.fail_on, cache=not options.no_cache,
                      if_changed=options.if_changed, key=options.key)
        return RunOutcome(results, spec, folder, watched.moved, watched.same)

    def _output(self) -> str:
        """Say what became of the output."""
        return UNCHANGED if _stamp(self._folder) == self._before else COMPLETE

    def _too_late(self) -> DataError:
        """Return the error of a run whose time was over."""
        allowed = written(self._options.timeout or 0)
        message = f"the run was ended after {allowed}, in {self._watched.at}"
        hint = "allow more with --timeout; `evalpipe plan` states what a run costs"
        return DataError.of("timeout", message, hint, notes=(self._output(),))

    def _rescue(self, number: int) -> NoReturn:
        """End the process, whose main thread does not answer to a signal, with its error and without litter."""
        from evalpipe.run import abandon

        error = self._too_late() if signal.Signals(number).name == "SIGALRM" else KeyboardInterrupt(self._output())
        abandon(self._folder if self._watched.holds else None)
        self._log.end(error)
        if isinstance(error, DataError):
            leave_at_once(tell(*error.problems, code=error.exit_code, form=self._options.form))
        leave_at_once(interrupted(error))


def _stamp(folder: Path | None) -> object:
    """Return what tells the output of one run from that of another; None where there is none."""
    try:
        state = None if folder is None else (folder / "run.json").stat()
    except OSError:
        return None
    return None if state is None else (state.st_ino, state.st_mtime_ns)
