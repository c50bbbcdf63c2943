"""Logs of other tools' evaluations: the scores of all items as one table, and what each log says of its run."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import file_sha256
from evalpipe.base.lazy_polars import pl
from evalpipe.data.logs import every_eval_ever, inspect_ai, lm_eval, openai_evals, promptfoo
from evalpipe.data.logs.plain_values import LARGEST_INTEGER, is_plain
from evalpipe.data.logs.reading import ERROR, NOT_SCORED, USED, LogFile
from evalpipe.errors import DataError, Place, Problem
from evalpipe.plan.sources import LogFacts
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.data.logs.reading import LoggedSample, ModelLog

READERS = {
    "inspect": inspect_ai.read, "lm_eval": lm_eval.read, "every_eval_ever": every_eval_ever.read,
    "promptfoo": promptfoo.read, "openai_evals": openai_evals.read,
}
"""The reader of each format by its name."""
_SIGNS = {
    "lm_eval": r'\Asamples_.+_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl\n|"doc_id"\s*:.*"resps"\s*:',
    "every_eval_ever": r'"schema_version"\s*:.*"evaluation_name"\s*:',
    "openai_evals": r'\A[^\n]+\n\s*\{\s*"spec"\s*:\s*\{',
    "promptfoo": r'"(evalId|gradingResult|promptId)"\s*:',
    "inspect": r'\A[^\n]+\.eval\n|"eval"\s*:\s*\{',
}
"""What tells a log of each format: in its name, which stands first, or in its first bytes."""
_HEAD = 2**16
COLUMNS = ("model", "task", "item", "epoch", "scorer", "score", "missing")


@dataclass(frozen=True, slots=True)
class ScoreLogs:
    """The scores of logs.

    ``table`` has a row for each model, task, item, epoch and scorer, in the order of the logs: the texts `model`,
    `task`, `item` and `scorer`; `epoch` from 1; `score`, null where there is none; `missing`, then the reason, else
    null. Then what answers used, by the names of `USED`, where logs say it, and columns of the items under the names
    that the logs give them; a name of the above has `item.` before it. ``facts`` has a record for each model and task
    of a file. ``left_out`` names what of the items is no column: lists, objects, and texts of more than 200 characters.
    """

    table: pl.DataFrame
    facts: tuple[LogFacts, ...]
    left_out: tuple[str, ...]


def read_logs(format_: str, paths: Sequence[Path], folder: Path = Path(), scorers: Iterable[str] | None = None
              ) -> ScoreLogs:
    """Read logs of a format, a key of `READERS`; raises DataError with a problem for each file that is broken.

    ``paths`` are relative to ``folder``, and facts and messages name files by them. Of the ``scorers``, all by default,
    one that gives several scores is named whole or by its part before the slash.
    """
    wanted = None if scorers is None else frozenset(scorers)
    logs: list[ModelLog] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            logs += _read(format_, folder / path, path.as_posix(), wanted)
        except DataError as error:
            problems += error.problems
    problems = problems or [*_doubles(logs), *_differing(logs)]
    if problems:
        raise DataError(*problems)
    return _joined(logs)


def format_of_log(path: Path) -> str | None:
    """Return the format of a log, a key of `READERS`, by its name and first bytes; None where it is none."""
    if path.suffix not in (".json", ".jsonl", ".eval"):
        return None
    head = b""
    with suppress(OSError), path.open("rb") as file:  # a file that cannot be read is known by its name, perhaps
        head = file.read(_HEAD)
    seen = f"{path.name}\n{head.decode('utf-8-sig', errors='replace')}"
    return next((name for name, sign in _SIGNS.items() if re.search(sign, seen, re.DOTALL)), None)


def _read(format_: str, path: Path, shown: str, wanted: frozenset[str] | None) -> list[ModelLog]:
    """Return the logs of a file, each with its scorers; raises DataError where it is broken or holds no score."""
    try:
        file = LogFile(path, shown, file_sha256(path), wanted)
        logs = [_with_scorers(log) for log in READERS[format_](file)]
    except OSError as fault:
        raise DataError(Problem("missing-file", f"cannot read {shown}: {(fault.strerror or str(fault)).lower()}",
                                Place(shown), "check the path, and that the file may be read")) from None
    if not any(log.samples for log in logs):
        raise file.error("no-samples", f"{shown} has no samples", "log the samples too, or leave the file out")
    for log in logs:
        if not log.scorers:
            scorer_words = "no scores" if wanted is None else f"no scores by {', '.join(map(quoted, sorted(wanted)))}"
            raise file.error("no-scores", f"{shown} has {scorer_words} of model {quoted(log.facts.model)}",
                             "score the samples and log them again" if wanted is None else "name scorers that it has")
    return logs


def _with_scorers(log: ModelLog) -> ModelLog:
    """Return a log with counts and with all scorers that gave a score, or those it lists where errors left none."""
    scorers = tuple(dict.fromkeys(name for sample in log.samples for name in sample.scores))
    if not scorers and any(sample.missing != NOT_SCORED for sample in log.samples):
        scorers = log.scorers
    errors = sum(ERROR in (sample.missing, *sample.scores.values())
                 and all(isinstance(score, str) for score in sample.scores.values()) for sample in log.samples)
    return replace(log, scorers=scorers, facts=replace(log.facts, samples=len(log.samples), errors=errors))


def _doubles(logs: Sequence[ModelLog]) -> Iterable[Problem]:
    """Yield a problem for each log that has a sample again of the same model, task, item and epoch."""
    first: dict[tuple[str, str, str, int], tuple[int, str]] = {}
    for number, log in enumerate(logs):
        facts = log.facts
        before = len(first)
        for count, sample in enumerate(log.samples, 1):
            earlier, file = first.setdefault((facts.model, facts.task, sample.item, sample.epoch), (number, facts.file))
            if earlier != number or len(first) < before + count:
                where = f"{facts.file} has twice" if earlier == number else f"{file} and {facts.file} both have"
                yield Problem(
                    "double-log", f"{where} item {quoted(sample.item)}, epoch {sample.epoch}, of model "
                    f"{quoted(facts.model)} and task {quoted(facts.task)}", Place(facts.file),
                    "keep the log that counts and leave the other out" if earlier != number else
                    "give each item an id of its own, and log it once in an epoch")
                break


def _differing(logs: Sequence[ModelLog]) -> Iterable[Problem]:
    """Yield a problem for each log whose item has another text than in an earlier one: they must not be paired."""
    first: dict[tuple[str, str], tuple[str | None, str]] = {}
    for log in logs:
        for sample in log.samples:
            content, file = first.setdefault((log.facts.task, sample.item), (sample.content, log.facts.file))
            if sample.content is not None and content is not None and sample.content != content:
                yield Problem(
                    "items-differ", f"item {quoted(sample.item)} of task {quoted(log.facts.task)} has another text or "
                    f"target in {log.facts.file} than in {file}", Place(log.facts.file),
                    "run all models on the same version of the dataset")
                break


def _joined(logs: Sequence[ModelLog]) -> ScoreLogs:
    """Return the table and the facts of logs that were checked."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    samples: list[LoggedSample] = []
    for log in logs:
        for sample in log.samples:
            for scorer in log.scorers:
                score = sample.scores.get(scorer, sample.missing)
                if score is None:
                    continue
                is_number = not isinstance(score, str)
                row = (log.facts.model, log.facts.task, sample.item, sample.epoch, scorer,
                       score if is_number else None, None if is_number else score)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
                samples.append(sample)
    types = (pl.String, pl.String, pl.String, pl.Int64, pl.String, pl.Float64, pl.String)
    table = pl.DataFrame(columns, schema=dict(zip(COLUMNS, types, strict=True)))
    amounts = {use: [sample.usage.get(use) for sample in samples] for use in USED}
    table = table.with_columns(pl.Series(use, values, pl.Float64) for use, values in amounts.items()
                               if any(value is not None for value in values))
    fields, left_out = _field_columns(samples)
    return ScoreLogs(table.with_columns(fields), tuple(log.facts for log in logs), left_out)


def _field_columns(samples: Sequence[LoggedSample]) -> tuple[list[pl.Series], tuple[str, ...]]:
    """Return the values of items as columns [n], and the names of those that are no columns.

    Values of one kind keep it, whole numbers among others become floats; a mixture becomes text, as JSON writes it.
    """
    names = dict.fromkeys(name for sample in samples for name in sample.fields)
    names_in_use = {*COLUMNS, *USED}
    columns, left_out = [], []
    for name in names:
        values = [sample.fields.get(name) for sample in samples]
        if not all(value is None or is_plain(value) for value in values):
            left_out.append(name)
            continue
        kinds = {type(value) for value in values if value is not None}
        is_exact = all(abs(value) < LARGEST_INTEGER for value in values if isinstance(value, int))
        type_ = (pl.Boolean if kinds == {bool} else pl.Int64 if kinds == {int} and is_exact else
                 pl.Float64 if kinds <= {int, float} and is_exact else pl.String)
        if type_ == pl.String:
            values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
        column = name
        while column in names_in_use:
            column = f"item.{column}"
        names_in_use.add(column)
        columns.append(pl.Series(column, values, dtype=type_))
    return columns, tuple(left_out)
