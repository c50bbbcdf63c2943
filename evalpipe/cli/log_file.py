"""`run --log-file`: what a run does, as lines of JSON that are added to a file, and never a secret among them."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from uuid import uuid4

import click

from evalpipe.chapters import functions
from evalpipe.cli.exit import code_of, problems_of
from evalpipe.errors import UsageError
from evalpipe.run import STEPS, Progress
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec

FACTS = ("time", "level", "run", "event", "step", "evalpipe_version", "spec_sha256", "evidence_sha256", "verdict")
"""The keys whose values are evalpipe's own words and digits, in which nothing is hidden."""

BEGIN = b'{"time": "'
"""How the first line of a log begins."""

SHORT = 4
"""A secret with fewer characters is hidden only where it stands as a word of its own."""


class Secrets(Mapping[str, str]):
    """The environment as a mapping that remembers the values read from it, so that a log can hide them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read variables from ``environment``; none is read yet."""
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
        """Write the first line."""
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
        code = code_of(error) or self.exit_code
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
        """Write that the step before has ended, and that this one begins."""
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
        """Write what has changed since the run before."""
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
