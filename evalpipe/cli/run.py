"""`evalpipe run`: a run that ends as it should, and what is printed of it."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from evalpipe.cli.exit import UNCHANGED, Guard, Interruptible, duration_text, interrupted, leave_at_once, print_problems
from evalpipe.cli.log_file import Log
from evalpipe.cli.output import output_folder, printing
from evalpipe.cli.progress import Bar, Lines, Quiet
from evalpipe.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """The results of a run, its output folder, and the file there that signatures of other results were moved to.

    ``missing_letters`` are those that the PDF shows boxes for. ``unchanged`` tells that nothing had changed since the
    run there, so that nothing was done.
    """

    results: Results
    spec: Spec
    folder: Path
    moved_signatures: str | None
    missing_letters: tuple[str, ...]
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
        """Run the spec; raises DataError where the time was over, KeyboardInterrupt with what became of the output."""
        options = self._options
        shown = nullcontext(Quiet()) if options.no_progress else Bar() if sys.stderr.isatty() else Lines()
        guard = Guard(options.timeout, self._rescue)
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
        return RunOutcome(results, spec, folder, watched.moved_signatures, watched.missing_letters,
                          watched.unchanged)

    def _output(self) -> str:
        """Say whether the earlier output is unchanged or the new one complete."""
        return UNCHANGED if self._folder is None or _stamp(self._folder) == self._before else COMPLETE

    def _too_late(self) -> DataError:
        """Return the error of a run that exceeded --timeout, with the step that it was in."""
        allowed = duration_text(self._options.timeout or 0)
        message = f"the run was ended after {allowed}, in {self._watched.current_step}"
        hint = "allow more with --timeout; `evalpipe plan` states what a run costs"
        return DataError.of("timeout", message, hint, notes=(self._output(),))

    def _rescue(self, number: int) -> NoReturn:
        """End a process that goes on after signal ``number``: print the error, remove its lock and temporary files."""
        from evalpipe.run import abandon

        error = self._too_late() if signal.Signals(number).name == "SIGALRM" else KeyboardInterrupt(self._output())
        abandon(self._folder if self._watched.holds_lock else None)
        self._log.end(error)
        if isinstance(error, DataError):
            leave_at_once(print_problems(*error.problems, code=error.exit_code, form=self._options.form))
        leave_at_once(interrupted(error))


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

    results, spec, folder, moved, letters, unchanged = outcome
    rows = () if results.row_file is None else (results.row_file.file,)
    written = [str(folder / name)
               for name in (*format_files(spec.report.formats, judged=results.judged).values(), RESULTS, *rows)]
    if form == "json":
        moved_path = moved and str(folder / moved)
        document = run_document(results, written) | {"ran": not unchanged, "signatures_moved": moved_path}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    if unchanged:
        count = len(results.inputs)
        inputs = f"{count:,} {'input' if count == 1 else 'inputs'}"
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
    if letters:
        from evalpipe.words.letters import missing_letters_sentence

        click.echo(f"\n{missing_letters_sentence(letters)}")
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
