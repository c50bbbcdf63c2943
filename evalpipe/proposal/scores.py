"""Make a spec of scores from logs of a tool or from a table, and a person's answers, or the next open question."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.base.origin import Origin
from evalpipe.data.files import find
from evalpipe.data.logs import COLUMNS, ScoreLogs, format_of_log, read_logs
from evalpipe.data.logs.reading import USED
from evalpipe.data.score_items import NO_VALUE
from evalpipe.errors import DataError, Problem, UsageError
from evalpipe.plan.sources import CsvPlan, Source
from evalpipe.proposal.columns import ColumnPart, as_key, column_look
from evalpipe.proposal.models import MOST_MODELS, KeyLine, ModelChoice, with_distinct_names
from evalpipe.proposal.outcome import column_of
from evalpipe.proposal.propose import OtherColumns, other_columns
from evalpipe.proposal.questions import SHOWN, Answers, Question
from evalpipe.proposal.spec_file import dataset_lines, further_lines, head_lines, path_in_spec
from evalpipe.proposal.yaml_text import SpecLine, key, lines_as_text, scalar, yaml_mapping
from evalpipe.tasks import SCORES
from evalpipe.words.spelling import closest, counted, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook, Looked

MOST_ROWS = 2**31
"""The most rows of a table that are read: a range is that of all scores."""
MOST_VALUES = 20
"""The most values of a column of items that is proposed as a slice."""
LONG = ("model", "score")
"""The columns of a table with a row for each model and item."""
OF_LOGS, OF_TABLES = ("log_task", "scorer"), ("item", "epoch")
OF_SCORES = (*OF_LOGS, *OF_TABLES, "better", "missing")
OF_OUTCOMES = ("outcome", "event", "levels", "order", "exposure")
"""Flags by the data that they have a meaning for, as `Answers` names them."""


@dataclass(frozen=True, slots=True)
class LookedLogs:
    """Logs of a ``tool``, and for each of the paths that were given the files there."""

    tool: str
    files: Mapping[str, tuple[str, ...]]
    logs: ScoreLogs


@dataclass(frozen=True, slots=True)
class ScoreProposal:
    """The parts of a spec of scores.

    ``scores`` has `model`, `item`, `score` and `missing`, the reason where there is none. Of logs ``paths`` are those
    that the spec names, of one ``task``, and ``uses`` the columns that say of every answer what it used. Of a table
    ``used`` are the columns that it names, and ``is_long`` says that a row is of one model.
    """

    looked: LookedLogs | Looked
    scores: pl.DataFrame
    models: tuple[ModelChoice, ...]
    others: OtherColumns
    keys: tuple[tuple[str, str], ...]
    paths: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    task: str = ""
    used: tuple[ColumnLook, ...] = ()
    is_long: bool = False
    notes: tuple[str, ...] = ()
    better: str = ""
    missing: str | None = None

    @property
    def reason(self) -> str:
        """The reason for the task."""
        return f"logs of {self.looked.tool}" if isinstance(self.looked, LookedLogs) else "your answer"

    @property
    def within_one(self) -> bool:
        """Whether all scores lie from 0 to 1."""
        return bool(self.scores["score"].is_between(0, 1).all())


def look_at_logs(paths: Sequence[str]) -> LookedLogs | None:
    """Return the logs at paths; None where no file is one. Raises DataError for logs of several tools, or broken."""
    files: dict[str, tuple[str, ...]] = {}
    for path in paths:
        located = find(Origin(), Source("logs", None, path, (), CsvPlan()), "scores")
        if isinstance(located, Problem):
            return None
        files[path] = tuple(name for _, name in located.files)
    tools = {name: format_of_log(Path(name)) for names in files.values() for name in names}
    first, tool = next(((name, tool) for name, tool in tools.items() if tool is not None), ("", None))
    if tool is None:
        return None
    other = next((name for name in tools if tools[name] != tool), None)
    if other is not None:
        raise DataError.of("mixed-formats", f"{first} is a log of {tool}, and {other} is none",
                           "name logs of one tool, and no other files")
    return LookedLogs(tool, files, read_logs(tool, [Path(name) for name in tools]))


def refuse_idle_flags(answers: Answers, idle: Sequence[str], data: str) -> None:
    """Raise UsageError for an answer, of the names ``idle``, that has no meaning for the ``data``."""
    flags = [f"--{name.replace('_', '-')}" for name in idle if getattr(answers, name) is not None]
    if flags:
        raise UsageError.of("not-for-task", f"{flags[0]} has no meaning for {data}", "remove it")


def propose_scores(looked: LookedLogs | Looked, answers: Answers) -> ScoreProposal | Question:
    """Return the proposed spec of scores, or the next open question; raises UsageError for an impossible answer."""
    proposal = _of_logs(looked, answers) if isinstance(looked, LookedLogs) else _of_table(looked, answers)
    if isinstance(proposal, Question):
        return proposal
    if answers.better is None:
        return Question("better", "the data do not say which scores are better", "is it the higher or the lower ones?",
                        (("higher", "as of right answers"), ("lower", "as of errors")))
    _known("--better", answers.better, ("higher", "lower"), "ends")
    missing = proposal.scores.filter(pl.col("score").is_null())["missing"]
    if len(missing) and answers.missing is None:
        reasons = joined([f"{count:,} for {reason}" for reason, count in sorted(Counter(missing).items())], "and")
        known = f"{len(missing):,} of {counted(proposal.scores.height, 'score')} are missing ({reasons})"
        return Question("missing", known, "what does a missing score count?",
                        (("0", "as a score of 0"), ("leave_out", "not at all")))
    scores, rule = proposal.scores, answers.missing
    if rule not in (None, "leave_out"):
        number = _number(str(rule))
        scores, rule = scores.with_columns(pl.col("score").fill_null(number)), str(number).removesuffix(".0")
    return replace(proposal, better=answers.better, missing=rule, scores=scores.drop_nulls("score"))


def _number(text: str) -> float:
    """Return the score that a missing one counts; raises UsageError where it is none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError.of("unknown-choice", f"expected a number or leave_out as --missing, got {quoted(text)}",
                            "add --missing 0 or --missing leave_out")
    return number


def _known(flag: str, answer: str, names: Collection[str], what: str) -> str:
    """Return an answer that is one of ``names``; raises UsageError where it is none."""
    if answer not in names:
        close = closest(answer, names)
        hint = f"did you mean {quoted(close)}?" if close else f"the {what} are {listed(list(names)[:SHOWN], 'and')}"
        raise UsageError.of("unknown-choice", f"{flag} names {quoted(answer)}, which is none of the {what}", hint)
    return answer


def _names(answers: Answers, sources: Collection[str], what: str) -> dict[str, str]:
    """Return the names of models by what has their scores: of --model flags, NAME=SOURCE or SOURCE, else of all."""
    names = {}
    for text in answers.models or sources:
        name, sign, source = text.partition("=")
        if text in sources or not sign:
            name, source = text.rpartition("/")[2], text
        names[_known("--model", source, sources, what)] = as_key(name, "model")
    return names


def _model(name: str, source: str, line: tuple[str, object], scores: pl.DataFrame) -> ModelChoice:
    """Return a model with the key of the spec that says where its scores are, and what they are."""
    column = scores.filter(pl.col("model") == source)["score"]
    present, missing = column.drop_nulls().to_list(), column.null_count()
    reason = counted(len(column), "score") + (f" from {min(present):.4g} to {max(present):.4g}" if present else "")
    return ModelChoice(name, (KeyLine(*line, reason + (f", {missing:,} of them missing" if missing else "")),), ())


def _others(
    item: pl.Series, columns: Mapping[str, ColumnLook], unused: Mapping[str, str], answers: Answers
) -> OtherColumns:
    """Return the uses of columns that a row has beside an ``item`` [n] and a score, but for those that flags name."""
    for flag, name in answers.keys:
        column_of(name, columns, f"--{flag}")
    rest = {name: look for name, look in columns.items() if name not in dict(answers.keys).values()}
    items = item.n_unique()
    varying = [name for name, look in rest.items()
               if pl.DataFrame([item.alias("item"), look.texts.alias("text")]).unique().height > items]
    refused = {**dict.fromkeys(varying, "differs within an item"), **unused}
    return other_columns(rest, (), None, refused, counted(items, "item"), MOST_VALUES)


def _of_logs(looked: LookedLogs, answers: Answers) -> ScoreProposal | Question:
    """Return the scores in logs, of one task and one scorer, or the question which."""
    if answers.task not in (None, *SCORES):
        raise UsageError.of("not-for-task", f"logs of a tool hold scores of items, and --task is {answers.task}",
                            "remove it")
    refuse_idle_flags(answers, (*OF_OUTCOMES, *OF_TABLES), "logs of a tool")
    whole, logs = looked.logs.table, looked.logs
    names = _names(answers, whole["model"].unique(maintain_order=True).to_list(), "models in the logs")
    table = whole.filter(pl.col("model").is_in(list(names)))
    task = _choose(table, "task", "log-task", answers.log_task)
    if isinstance(task, Question):
        return task
    table, whole = (rows.filter(pl.col("task") == task) for rows in (table, whole))
    scorer = _choose(table, "scorer", "scorer", answers.scorer)
    if isinstance(scorer, Question):
        return scorer
    scores = table.filter(pl.col("scorer") == scorer)
    facts = [fact for fact in logs.facts if fact.model in names]
    of_task = {fact.file for fact in facts if fact.task == task}
    paths = tuple(path for path, files in looked.files.items() if of_task & {*files})
    read = {file for path in paths for file in looked.files[path]}
    tasks = Counter(model for model, _ in {(fact.model, fact.task) for fact in facts if fact.file in read})
    scorers = dict(table.group_by("model").agg(pl.col("scorer").n_unique()).iter_rows())
    models, notes = [], []
    for source, name in names.items():
        entry = {"model": source} | ({"scorer": scorer} if scorers.get(source, 0) > 1 else {})
        entry |= {"task": task} if tasks[source] > 1 else {}
        if (scores["model"] == source).any():
            models.append(_model(name, source, ("log", entry), scores))
        else:
            notes.append(f"the model {quoted(source)} has no scores by {quoted(scorer)}, and is left out")
    parts = [ColumnPart(cells, as_text=False, separated=False, decimal=".")
             for cells in whole.drop(COLUMNS).drop(USED, strict=False)]
    columns = {part.cells.name: column_look(part.cells.name, [part]) for part in parts}
    others = _others(whole["item"], columns, dict.fromkeys(logs.left_out, "lists, mappings or long texts"), answers)
    uses = tuple(use for use in USED if use in scores.columns and not scores[use].null_count() and scores[use].sum())
    return ScoreProposal(looked, scores, with_distinct_names(models), others, answers.keys, paths, uses, task,
                         notes=tuple(notes))


def _choose(table: pl.DataFrame, column: str, flag: str, answer: str | None) -> str | Question:
    """Return the one value of a column of logs, or the answer which of several it is, or the question."""
    counts = table.group_by(column, maintain_order=True).agg(pl.len(), pl.col("model").n_unique())
    choices = {str(name): f"{counted(scores, 'score')} of {counted(models, 'model')}"
               for name, scores, models in counts.iter_rows()}
    if answer is None and len(choices) > 1:
        known = f"the logs have {counted(len(choices), column)}"
        return Question(flag, known, f"which {column} is evaluated?", tuple(choices.items()))
    return _known(f"--{flag}", next(iter(choices)) if answer is None else answer, choices, f"{column}s in the logs")


def _of_table(looked: Looked, answers: Answers) -> ScoreProposal | Question:
    """Return the scores in a table with a column for each model, or with a row for each model and item."""
    refuse_idle_flags(answers, (*OF_OUTCOMES, *OF_LOGS), "a table of scores")
    columns = looked.columns
    keys = tuple((flag, column_of(name, columns, f"--{flag}").name)
                 for flag, name in (("item", answers.item), ("epoch", answers.epoch)) if name is not None)
    is_long = [columns[name].kind for name in LONG if name in columns] == ["text", "number"]
    if is_long and answers.item is None:
        return _which("item", [name for name in columns if name not in LONG], columns,
                      "the table has a row for each model and item", "which column names the item?")
    named = {*dict(keys).values(), *(LONG if is_long else ())}
    numeric = [name for name, look in columns.items() if look.kind == "number" and not look.percent_signs
               and name not in {*named, *dict(answers.keys).values()}]
    shares = [name for name in numeric if columns[name].low >= 0 and columns[name].high <= 1]
    if is_long:
        names = _names(answers, columns["model"].texts.drop_nulls().unique(maintain_order=True).to_list(), "models")
    elif answers.models or 0 < len(shares) <= MOST_MODELS:
        names = _names(answers, numeric if answers.models else shares, "columns of numbers")
        named |= {*names}
    elif numeric:
        return _which("model", numeric, columns, f"{counted(len(shares), 'column')} have numbers from 0 to 1 alone",
                      "which columns are scores of a model?", f"NAME={numeric[0]}")
    else:
        raise UsageError.of("no-scores", "no column of the data holds numbers", "name a table of scores")
    item = (pl.int_range(looked.rows, eager=True).cast(pl.String) if answers.item is None
            else columns[answers.item].texts.fill_null(""))
    dataset = [f"{number} " for number, part in enumerate(looked.datasets) for _ in range(part.frame.height)]
    item = pl.Series("item", dataset) + item
    parts = [(columns["model"].texts, columns["score"])] if is_long else [
        (pl.repeat(name, looked.rows, eager=True), columns[name]) for name in names]
    scores = pl.concat([pl.DataFrame({"model": model, "item": item, "score": look.values}) for model, look in parts])
    scores = scores.with_columns(missing=pl.lit(NO_VALUE))
    models = with_distinct_names(
        _model(name, source, ("log", {"model": source}) if is_long else ("score", source), scores)
        for source, name in names.items())
    others = _others(item, {name: look for name, look in columns.items() if name not in named}, {}, answers)
    used = tuple(look for name, look in columns.items() if name in named)
    scores = scores.filter(pl.col("model").is_in(list(names)))
    return ScoreProposal(looked, scores, models, others, (*keys, *answers.keys), used=used, is_long=is_long)


def _which(
    flag: str, names: Sequence[str], columns: Mapping[str, ColumnLook], known: str, asks: str, example: str = ""
) -> Question:
    """Return the question which of the columns called ``names``."""
    choices = tuple((name, counted(columns[name].distinct, "value")) for name in names)
    return Question(flag, known, asks, choices, example)


def score_spec_text(proposal: ScoreProposal, target: str) -> str:
    """Return the text of a spec of scores; paths in it are relative to the folder of ``target``, its file."""
    looked = proposal.looked
    is_log = isinstance(looked, LookedLogs)
    path = proposal.paths[0] if isinstance(looked, LookedLogs) else looked.datasets[0].path
    lines = [*head_lines(target, path, "score", proposal.reason, proposal.notes, "scores" if is_log else "columns"),
             *_scale_lines(proposal), *(SpecLine(f"{name}: {scalar(column)}", "your answer")
                                        for name, column in proposal.keys),
             *(SpecLine(f"# {name}: {scalar(column)}", why) for name, columns in (
                 ("cluster", proposal.others.clusters), ("weight", proposal.others.weights))
               for column, why in columns[:3])]
    lines += [SpecLine()] if lines[-1].text else []
    if isinstance(looked, LookedLogs):
        lines += [SpecLine("datasets:", "paths start from the folder of this file"),
                  SpecLine(f"  {key(as_key(proposal.task, 'logs'))}:"), SpecLine(f"    {looked.tool}:"),
                  *(SpecLine(f"      - {path_in_spec(path, target)}") for path in proposal.paths), SpecLine()]
    else:
        lines += dataset_lines(looked.datasets, target, proposal.used, is_long=proposal.is_long)
    lines.append(SpecLine("models:"))
    for model in proposal.models:
        line = model.lines[0]
        lines += [SpecLine(f"  {key(model.name)}:"), SpecLine(f"    {line.key}: {source_of(model)}", line.reason)]
        if proposal.uses:
            usage = yaml_mapping({use: use for use in proposal.uses})
            lines.append(SpecLine(f"    # usage: {usage}", "what answers used, for mean_usage"))
    return lines_as_text([*lines, SpecLine(), *_measure_lines(proposal), *further_lines(proposal.others)])


def source_of(model: ModelChoice) -> str:
    """Return in YAML where the scores of a model are."""
    value = model.lines[0].value
    return yaml_mapping({name: scalar(part) for name, part in value.items()}) if isinstance(value, dict) else (
        scalar(value))


def _scale_lines(proposal: ScoreProposal) -> Iterator[SpecLine]:
    """Yield the lines of the key ``score``."""
    yield SpecLine("score:")
    yield SpecLine(f"  better: {proposal.better}", "your answer")
    if proposal.within_one:
        yield SpecLine("  range: [0, 1]", "read from the data: all scores lie in it; check that no others can be")
    else:
        yield SpecLine("  # range: [0, 100]", "where there is a lowest and a highest score that there can be")
    if proposal.missing is not None:
        yield SpecLine(f"  missing: {proposal.missing}", "your answer")
    yield SpecLine()


def _measure_lines(proposal: ScoreProposal) -> Iterator[SpecLine]:
    """Yield the lines of the key ``metrics``: the mean, and what epochs tell where each item has several."""
    epochs = proposal.scores.group_by("model", "item").len()["len"].to_list()
    count = min(epochs, default=0) if proposal.within_one else 0
    yield SpecLine("metrics:", "" if count > 1 or max(epochs, default=0) < 2 else (
        "there are epochs: pass_at and flip_rate need two of each item, and a 'range' or a 'success' under 'score'"))
    yield SpecLine("  - mean")
    if count > 1:
        chance = f"the chance that one of k epochs scores {int(proposal.better == 'higher')}"
        for power in range(count.bit_length()):
            yield SpecLine(f"  - {{metric: pass_at, k: {1 << power}}}", chance)
        yield SpecLine("  - flip_rate", "the chance that two epochs of an item differ in it")
    yield SpecLine()
