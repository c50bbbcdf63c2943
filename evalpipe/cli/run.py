"""`evalpipe run`: a run that ends as it should, its progress and its log, and what is printed of it.

Progress on stderr is a live bar on a terminal, lines elsewhere. A log has lines of JSON, and never a secret among them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TextIO
from urllib.parse import urlsplit
from uuid import uuid4

import click

from evalpipe.chapters import functions
from evalpipe.cli.exit import (
    UNCHANGED,
    Guard,
    Interruptible,
    duration_text,
    exit_code_of,
    leave_at_once,
    print_problems,
    problems_of,
    report_interrupt,
)
from evalpipe.cli.output import output_folder, parts_line, printing
from evalpipe.errors import DataError, UsageError
from evalpipe.run import STEPS, Progress
from evalpipe.version import VERSION
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import TaskID

    from evalpipe.errors import Problem
    from evalpipe.results import FailOn, Results
    from evalpipe.spec.spec import Spec


class Quiet(Progress):
    """Progress of which only the reason for a run is printed."""

    def changed(self, reasons: Sequence[str]) -> None:
        """Print why the run is needed: what has changed since the previous run."""
        if reasons:
            click.echo(reason_for_run(reasons), err=True)


def reason_for_run(reasons: Sequence[str]) -> str:
    """Return the sentence that says why a run is needed, from what has changed since the run before."""
    return f"runs because {'; '.join(reasons)}"


class Lines(Quiet):
    """Progress in lines: one for each step, and one for each dataset read in parts; replicates are not counted."""

    def __enter__(self) -> Self:
        """Return self; lines need no set-up, unlike a live bar."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: lines need no end, as a live bar does."""

    def step(self, number: int, title: str) -> None:
        """Print a line such as "4/7 evaluate" as a step begins."""
        click.echo(f"{number}/{len(STEPS)} {title}", err=True)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Print how many parts a dataset has, how many the cache has, and ``why`` the others are read."""
        click.echo(f"    {parts_line(dataset, parts, cached, why)}", err=True)


class Bar(Progress):
    """A live bar that vanishes when the run ends."""

    def __init__(self) -> None:
        """Create a live bar on stderr, without drawing it yet."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        share = TextColumn("{task.percentage:>3.0f} %")
        columns = (TextColumn("{task.description}"), BarColumn(), share, TimeElapsedColumn())
        try:
            # Under a second descriptor, as the usual one is redirected while files are read.
            self._file: TextIO = os.fdopen(
                os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace")
        except (OSError, ValueError):
            self._file = sys.stderr
        # Wiped at the end, so that the summary below it stands alone.
        self._rich = RichProgress(*columns, console=Console(file=self._file), transient=True)
        self._task: TaskID | None = None
        self._replicates = self._parts = self._read = 0
        self._step = ""

    def __enter__(self) -> Self:
        """Start drawing the bar, at 0 of all steps."""
        self._rich.start()
        self._task = self._rich.add_task("", total=len(STEPS))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop and erase the bar, and close its descriptor of stderr."""
        self._rich.stop()
        if self._file is not sys.stderr:
            self._file.close()

    def step(self, number: int, title: str) -> None:
        """Show in the bar that step ``number`` begins, with the steps before it done."""
        self._step = f"{number}/{len(STEPS)} {title}"
        if self._task is not None:
            self._rich.update(self._task, description=self._step, completed=number - 1)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Print how many parts a dataset has and how many are cached; count those to be read in the bar."""
        self._rich.console.print(parts_line(dataset, parts, cached, why), markup=False, highlight=False)
        self._parts, self._read = parts - cached, 0

    def part_read(self) -> None:
        """Count a further part of a dataset as read, and show the count in the bar."""
        self._read += 1
        if self._task is not None:
            self._rich.update(self._task, description=f"{self._step}: {self._read:,} of {self._parts:,} parts")

    def changed(self, reasons: Sequence[str]) -> None:
        """Print above the bar why the run is needed: what has changed since the previous run."""
        if reasons:
            self._rich.console.print(reason_for_run(reasons), markup=False, highlight=False)

    def expect(self, replicates: int) -> None:
        """Set the number of replicates that make up step 4 in the bar."""
        self._replicates = replicates

    def advance(self, replicates: int) -> None:
        """Move the bar by the share of ``replicates`` in all of step 4."""
        if self._task is not None and self._replicates:
            self._rich.advance(self._task, replicates / self._replicates)


FACTS = ("time", "level", "run", "event", "step", "evalpipe_version", "spec_sha256", "evidence_sha256", "verdict")
"""The keys whose values are evalpipe's own words and digits, in which nothing is hidden."""

BEGIN = b'{"time": "'
"""How the first line of a log begins."""

SHORT = 4
"""A secret with fewer characters is hidden only where it stands as a word of its own."""


class Secrets(Mapping[str, str]):
    """The environment as a mapping that remembers the values read from it, so that a log can hide them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Wrap ``environment``, with no variable read so far."""
        self._environment = environment
        self._read: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """Return the value of a variable; raises KeyError where it is not set."""
        self._read[name] = self._environment[name]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)

    def hidden(self, value: Any) -> Any:
        """Return a JSON value with names of variables in place of the values read, except under the keys `FACTS`."""
        if isinstance(value, dict):
            return {key: item if key in FACTS else self.hidden(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.hidden(item) for item in value]
        return self._without(value) if isinstance(value, str) else value

    def _without(self, text: str) -> str:
        """Return a text with each secret, the longest first, replaced by a reference such as "${env:NAME}"."""
        name_of_form = {form: name for name, value in self._read.items() for form in _forms(value) if form}
        for form in sorted(name_of_form, key=len, reverse=True):
            pattern = re.escape(form) if len(form) >= SHORT else rf"(?<!\w){re.escape(form)}(?!\w)"
            reference = f"${{env:{name_of_form[form]}}}".replace("\\", r"\\")
            text = re.sub(pattern, reference, text)
        return text


def _forms(value: str) -> set[str]:
    """Return the texts by which a message may show a secret: itself, quoted, and the password in it if it is a URL."""
    try:
        password = urlsplit(value).password or ""
    except ValueError:
        password = ""
    return {value, value.strip(), repr(value)[1:-1], json.dumps(value)[1:-1], password}


class Log(Progress):
    """Adds lines to a file, each written at once, so that several runs may share it; without a path it does nothing.

    Entering begins the log of a run, leaving ends it with the errors and the exit code. Raises UsageError where the
    file cannot be written, before anything runs. A log that fails later is told once on stderr, and the run goes on.
    """

    def __init__(self, path: str | None, spec: str) -> None:
        """Open the log at ``path``, None for no log, for a run of the file ``spec``."""
        self.secrets = Secrets(os.environ)
        self.exit_code = 0
        self._path, self._file, self._run = path, None if path is None else _open_log(path), uuid4().hex[:12]
        self._spec: dict[str, Any] = {"spec": spec}
        self._output: dict[str, Any] = {}
        self._verdict: dict[str, Any] = {}
        self._began = time.perf_counter()
        self._steps: dict[str, float] = {}

    def __enter__(self) -> Self:
        """Write the log's first line: the run begins."""
        self._write("begin", "the run begins", evalpipe_version=VERSION, process=os.getpid(), **self._spec)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Write the problems of an error, and the last line."""
        self.end(error)

    def end(self, error: BaseException | None = None) -> None:
        """Write the problems of an error, then the last line with exit code and durations, and close the log."""
        self._step_done()
        for problem in () if error is None else problems_of(error):
            facts = problem.as_dict()
            level, _ = str(facts.pop("severity")), facts.pop("rows")  # cells of the data have no place in a log
            self._write("problem", str(facts.pop("message")), level, **facts)
        code = exit_code_of(error) or self.exit_code
        seconds = {"seconds": round(time.perf_counter() - self._began, 3), "seconds_by_step": self._steps}
        self._write("end", f"the run ended with {code}", "error" if code else "info", exit_code=code, **seconds,
                    **self._spec, **self._verdict)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def spec_read(self, spec: Spec, folder: Path) -> None:
        """Write the spec's name and hash, and note its output folder; raises UsageError where the log is in it."""
        from evalpipe.spec.schema import spec_sha256

        if self._path is None:
            return
        if Path(os.path.realpath(folder)) in Path(os.path.realpath(self._path)).parents:
            message = f"the log file '{self._path}' is in the output folder '{folder}', which a run replaces"
            raise UsageError.of("log-file", message, "put it beside the folder")
        self._spec |= {"name": spec.name, "spec_sha256": spec_sha256(spec)}
        self._output = {"output": str(folder)}
        self._write("spec", "the spec is read", **self._spec)

    def step(self, number: int, title: str) -> None:
        """Log that the previous step has ended and step ``number`` begins."""
        self._step_done()
        self._steps[title] = -time.perf_counter()
        self._write("step", f"step {number} of {len(STEPS)} begins: {title}", step=title)

    def _step_done(self) -> None:
        """Write the duration of the current step; until then its start time is kept as a negative number."""
        if self._steps and (title := next(reversed(self._steps))) and self._steps[title] < 0:
            self._steps[title] = round(self._steps[title] + time.perf_counter(), 3)
            self._write("step-done", f"{title}: done", step=title, seconds=self._steps[title])

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Write how many parts of a dataset are to be read, and ``why`` the cache lacks them."""
        message = f"{dataset}: {parts - cached} of {parts} parts are to be read"
        self._write("parts", message, dataset=dataset, parts=parts, cached=cached, why=why)

    def changed(self, reasons: Sequence[str]) -> None:
        """Log what has changed since the previous run, or that nothing has."""
        message = "; ".join(reasons) or "nothing has changed since the run before"
        self._write("changed" if reasons else "unchanged", message)

    def results(self, results: Results, exit_code: int) -> None:
        """Write the warnings and the gates that did not hold; keep verdict and exit code for the last line."""
        self.exit_code = exit_code
        if self._file is None:
            return
        self._step_done()
        self._verdict = {"verdict": results.verdict, "evidence_sha256": results.evidence_sha256}
        for warning in results.warnings:
            self._write("warning", warning.message, "warning", code=warning.code)
        lines = (line for write in functions("card", "verdict_lines") for part in write(results) for line in part.lines)
        for line in lines:
            if line.gate is not None:
                level = "error" if line.severity == "error" else "warning"
                self._write("gate", line.reason, level, gate=line.gate.gate, verdict=line.word)

    def _write(self, event: str, message: str, level: str = "info", **facts: Any) -> None:
        """Append a line of JSON without secrets; if that fails, warn once on stderr and write no more."""
        if self._file is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": now, "level": level, "run": self._run, "event": event, "message": message}
        text = json.dumps(self.secrets.hidden({**line, **self._output, **facts}), ensure_ascii=False) + "\n"
        try:
            # One call for one line: what is appended at once is not mixed with the lines of other runs.
            os.write(self._file, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            os.close(self._file)
            self._file = None
            if event == "begin":
                raise _unwritable(str(self._path), error) from None
            reason = error.strerror or error
            click.echo(f"warning: cannot write to the log file '{self._path}': {reason}; the run goes on without it",
                       err=True)


def _open_log(path: str) -> int:
    """Return the file descriptor of a log opened for appending; raises UsageError for files that are no log."""
    from evalpipe.runs.folder import refuse_file_of_run

    refuse_file_of_run(path)
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    status = os.fstat(file)
    if stat.S_ISREG(status.st_mode) and not os.pread(file, len(BEGIN), 0).startswith(BEGIN[: status.st_size]):
        os.close(file)
        message = f"the log file '{path}' holds something else than lines of a log"
        raise UsageError.of("log-file", message, "name another file: lines would be added to this one")
    return file


def _unwritable(path: str, error: OSError | ValueError) -> UsageError:
    """Return the UsageError for a log file that cannot be written."""
    reason = getattr(error, "strerror", None) or str(error)
    hint = "choose a file that can be written; its folder must exist"
    return UsageError.of("log-file", f"cannot write to the log file '{path}': {reason}", hint)


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
    """The results of a run, its output folder, and the files there that signatures and comments were moved to.

    ``missing_letters`` are those that the PDF shows boxes for; ``no_pdf`` is why there is no PDF. ``unchanged`` tells
    that nothing had changed since the run there, so that nothing was done.
    """

    results: Results
    spec: Spec
    folder: Path
    moved_signatures: str | None
    moved_comments: str | None
    missing_letters: tuple[str, ...]
    no_pdf: Problem | None
    unchanged: bool


class Attempt:
    """One run of a spec file, whose time may be limited."""

    def __init__(self, path: str, options: RunOptions, log: Log) -> None:
        """Prepare to run the spec at ``path``, with its progress in ``log``."""
        self._path, self._options, self._log = path, options, log
        self._watched = Interruptible(log)
        self._folder: Path | None = None
        self._before: object = None

    def run(self) -> RunOutcome:
        """Run the spec and return its outcome; raises DataError at the time limit, KeyboardInterrupt after a signal."""
        options = self._options
        shown = nullcontext(Quiet()) if options.no_progress else Bar() if sys.stderr.isatty() else Lines()
        guard = Guard(options.timeout, self._end_stuck_run)
        try:
            with guard, shown as progress:
                return self._run_into_folder(progress)
        except KeyboardInterrupt:
            if guard.timed_out:
                raise self._too_late() from None
            raise KeyboardInterrupt(self._output()) from None

    def _run_into_folder(self, progress: Progress) -> RunOutcome:
        """Read the spec and run it into its output folder, which is noted with its state before."""
        from evalpipe.run import load_with_files, run

        options = self._options
        self._watched = watched = Interruptible(progress, self._log)
        spec = load_with_files(self._path, options.overrides, self._log.secrets, options.as_of)
        folder = output_folder(options.out, spec.name, spec.as_of, self._log.secrets)
        self._log.spec_read(spec, folder)
        self._folder, self._before = folder, _stamp(folder)
        results = run(spec, out=folder, progress=watched, fail_on=options.fail_on, cache=not options.no_cache,
                      if_changed=options.if_changed, key=options.key)
        return RunOutcome(results, spec, folder, watched.moved_signatures, watched.moved_comments,
                          watched.missing_letters, watched.pdf_problem, watched.unchanged)

    def _output(self) -> str:
        """Say whether the earlier output is unchanged or the new one complete."""
        return UNCHANGED if self._folder is None or _stamp(self._folder) == self._before else COMPLETE

    def _too_late(self) -> DataError:
        """Return the error of a run that exceeded --timeout, with the step that it was in."""
        allowed = duration_text(self._options.timeout or 0)
        message = f"the run was ended after {allowed}, in {self._watched.current_step}"
        hint = "allow more with --timeout; `evalpipe plan` states what a run costs"
        return DataError.of("timeout", message, hint, notes=(self._output(),))

    def _end_stuck_run(self, number: int) -> NoReturn:
        """End the process where a run is stuck after signal ``number``: report the error and clean up."""
        from evalpipe.run import abandon

        error = self._too_late() if signal.Signals(number).name == "SIGALRM" else KeyboardInterrupt(self._output())
        abandon(self._folder if self._watched.holds_lock else None)
        self._log.end(error)
        if isinstance(error, DataError):
            leave_at_once(print_problems(*error.problems, code=error.exit_code, form=self._options.form))
        leave_at_once(report_interrupt(error))


def _stamp(folder: Path) -> object:
    """Return a stamp of the output in a folder, which differs after every run, to tell if one wrote there; or None."""
    from evalpipe.runs.folder import RunFolder

    return RunFolder(folder).stamp


def run_spec(path: str, options: RunOptions) -> bool:
    """Run a spec file, then print the summary, the gates and the paths of what was written; tell whether none fails."""
    with Log(options.log_file, path) as log:
        outcome = Attempt(path, options, log).run()
        holds = outcome.results.holds(options.fail_on) is not False  # without gates none fails
        try:
            # The results are safe by now, and the error of an output that is full says so.
            with printing(f"everything was written to '{outcome.folder}'"):
                _print(outcome, options.form)
            log.results(outcome.results, 0 if holds else 1)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{COMPLETE} in '{outcome.folder}'") from None
    return holds


def _print(outcome: RunOutcome, form: str) -> None:
    """Print the summary, the gates and the paths of what was written, or all of it as one JSON document."""
    from evalpipe.base.formats import RESULTS, format_files
    from evalpipe.cli.summary import print_annotations, print_findings, print_summary, print_verdicts
    from evalpipe.runs.folder import RunFolder

    results, spec, folder, moved, moved_comments, letters, no_pdf, unchanged = outcome
    rows = () if results.row_file is None else (results.row_file.file,)
    written = [str(folder / name)
               for name in (*format_files(RunFolder(folder).formats, judged=results.judged).values(), RESULTS, *rows)]
    if form == "json":
        document = run_document(results, written) | {
            "ran": not unchanged, "signatures_moved": moved and str(folder / moved),
            "comments_moved": moved_comments and str(folder / moved_comments), "no_pdf": no_pdf and no_pdf.message}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    if unchanged:
        inputs = counted(len(results.inputs), "input")
        alike = f"the spec, {inputs}, all versions and the files in {folder} are those of the run there"
        click.echo(f"nothing to do: {alike}; its verdict is {results.verdict}")
    else:
        print_summary(results)
        print_verdicts(results, spec, folder)
        print_findings(results)
    if form == "github":
        print_annotations(results, spec)
    if moved is not None:
        click.echo(f"\nthis card is not signed: the signatures here were of other results, and are in {folder / moved}")
    if moved_comments is not None:
        click.echo(f"\nthis card has no comments: those here were on other results, and are in "
                   f"{folder / moved_comments}")
    if letters:
        from evalpipe.words.spelling import missing_letters_sentence

        click.echo(f"\n{missing_letters_sentence(letters)}")
    if no_pdf is not None:
        click.echo(f"\n{no_pdf.message}; {no_pdf.hint}")
    if not unchanged:
        click.echo("\n" + "\n".join(written))


def run_document(results: Results, written: Sequence[str]) -> dict[str, object]:
    """Return what a run comes to as plain JSON values: its verdict, gates, findings, checks and files."""
    from evalpipe.cli.summary import gate_documents

    return {
        "name": results.name, "as_of": results.as_of, "spec_sha256": results.spec_sha256,
        "evidence_sha256": results.evidence_sha256, "verdict": results.verdict,
        "gates": gate_documents(results),
        "standards": [standard.model_dump(by_alias=True) for standard in results.standards],
        "findings": [finding.model_dump(by_alias=True) | {"text": finding.text} for finding in results.findings],
        "checks": [check.model_dump() for check in results.checks],
        "warnings": [warning.model_dump() | {"message": warning.message} for warning in results.warnings],
        "files": list(written),
    }
