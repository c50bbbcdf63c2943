"""Which column is the outcome, and of what kind: proposed where the data say it, asked for where they do not.

Times to an event are told from their columns, so that no censored row is taken for one without the event.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from evalpipe.base.levels import find_level, meant_level
from evalpipe.data.problems import counted
from evalpipe.errors import UsageError
from evalpipe.proposal.models import Family, families, predicted_levels
from evalpipe.proposal.names import (
    EXPOSURES,
    SURE,
    WEIGHTS,
    has_word,
    like_id,
    like_outcome,
    like_prediction,
    named_after,
    words,
)
from evalpipe.proposal.questions import Answers, Question
from evalpipe.tasks import CLASSES, MEANT, Task
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook


@dataclass(frozen=True, slots=True)
class OutcomeChoice:
    """The outcome, why it is this column, its kind, and why it is that."""

    column: ColumnLook
    reason: str
    task: Task
    task_reason: str


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """The levels of an outcome in order, and the event of two; ``answered`` says that a person gave the order."""

    levels: tuple[str, ...]
    event: str | None = None
    answered: bool = False


def column_of(name: str, columns: Mapping[str, ColumnLook], flag: str) -> ColumnLook:
    """Return a column that a flag names; raises UsageError where there is none of the name."""
    if name in columns:
        return columns[name]
    close = closest(name, columns)
    hint = f"did you mean {quoted(close)}?" if close else f"the columns are {listed(list(columns)[:12], 'and')}"
    raise UsageError.of("unknown-column", f"{flag} names the column {quoted(name)}, which the data do not have", hint)


def choose_outcome(columns: Mapping[str, ColumnLook], answers: Answers) -> tuple[ColumnLook, str] | Question:
    """Return the outcome and the reason, or the question which column it is; raises UsageError for a wrong answer."""
    if answers.outcome is not None:
        return column_of(answers.outcome, columns, "--outcome"), "your answer"
    graded = [look for look in columns.values() if look.graded and not like_prediction(look.name)]
    named = [look for look in columns.values() if like_outcome(look.name) and look.usable]
    matched = [look for look in graded if _has_probabilities(families(tuple(look.levels), columns, without=look.name))]
    two = [look for look in graded if (len(look.levels) == 2 or look.two_but_one) and not has_word(look.name, WEIGHTS)]
    likely = [*named, *(look for look in two if look not in named)]
    event = [] if answers.event is None else [
        look for look in likely if find_level(answers.event, tuple(look.levels)) is not None]
    sure = [look for look in named if has_word(look.name, SURE)]
    evidence = (
        ([look for look in matched if look in named] or matched, "columns of predictions are named after its levels"),
        (sure or (named if len(likely) == 1 else []), "its name is that of an outcome"),
        ([look for look in columns.values() if named_after(look, columns)], "predictions are named after it"),
        (event, f"the only column of two levels of which one is {quoted(answers.event)}"),
        ([look for look in graded if predicted_levels(columns, tuple(look.levels), without=[look.name])],
         "predicted classes have its levels"),
    )
    for columns_of_it, reason in evidence:
        if len(columns_of_it) == 1:
            return columns_of_it[0], reason
    others = [look for look in columns.values() if look.usable and look not in likely
              and not like_prediction(look.name) and not has_word(look.name, WEIGHTS | EXPOSURES)
              and not (look.unique and like_id(look.name))]
    candidates = sure or (likely if len(likely) > 1 else [*likely, *others])
    return _outcome_question([look for look in candidates if answers.task in (None, *_possible_tasks(look))], columns)


def _has_probabilities(named: Sequence[Family]) -> bool:
    return any(family.kind in ("probabilities", "percent") for family in named)


def _outcome_question(candidates: Sequence[ColumnLook], columns: Mapping[str, ColumnLook]) -> Question:
    if not candidates:
        raise UsageError.of("no-outcome", f"none of the {counted(len(columns), 'column')} can be an outcome",
                            "give a file with a column of levels, numbers or counts beside the predictions")
    known = f"{counted(len(candidates), 'column')} may be the outcome"
    if len(candidates) == 1:
        known = f"only {quoted(candidates[0].name)} may be the outcome, and its name does not say so"
    elif all(named_after(look, columns) for look in candidates):
        known = f"each of {counted(len(candidates), 'column')} has predictions of its own: write a spec for each"
    return Question("outcome", known, "which column is the outcome?",
                    tuple((look.name, described(look)) for look in candidates))


def described(look: ColumnLook) -> str:
    """Say in a clause what a column holds."""
    if look.levels and (look.kind != "number" or len(look.levels) <= 6):
        some = list(look.levels)[:6]
        return f"{counted(len(look.levels), 'level')}, {listed(some, 'and')}" if len(some) == len(look.levels) else (
            f"{counted(len(look.levels), 'level')}, the first {listed(some, 'and')}")
    if look.kind == "number":
        return f"{'whole numbers' if look.whole else 'numbers'} from {look.low:g} to {look.high:g}"
    return counted(look.distinct, "value")


def choose_task(look: ColumnLook, columns: Mapping[str, ColumnLook], answers: Answers) -> tuple[Task, str] | Question:
    """Return the kind of outcome and the reason, or the question; raises UsageError for an answer that cannot be."""
    possible = _possible_tasks(look)
    if answers.task is not None:
        task = cast("Task", answers.task)
        if task not in possible:
            hint = f"it can be {listed(possible)}" if possible else "give another column with --outcome"
            raise UsageError.of("wrong-task", f"{quoted(look.name)} cannot be of the task {task}: it has "
                                f"{described(look)}", hint)
        return task, "your answer"
    if not possible:
        raise UsageError.of("no-outcome", f"{quoted(look.name)} cannot be an outcome: it has {described(look)}",
                            "give another column with --outcome")
    if len(look.levels) == 2 and look.graded:
        return "binary", "the outcome has two levels"
    if len(possible) == 1:
        return possible[0], "numbers that are not all whole" if look.kind == "number" else "text"
    predicted = _has_probabilities(families(tuple(look.levels), columns, without=look.name))
    if look.kind != "number" and (predicted or not look.two_but_one):
        return "multiclass", "more than two levels; where they have an order, init again with --task ordinal"
    if predicted:
        return "multiclass", "there is a probability of each value; where they have an order, see --task ordinal"
    known = f"the outcome {quoted(look.name)} holds {described(look)}"
    notes = _TASK_NOTES
    if look.two_but_one:
        notes = _TASK_NOTES | {"binary": f"two levels; {quoted(look.doubtful)} means that the outcome is missing"}
    return Question("task", known, "what are they?", tuple((task, notes[task]) for task in possible))


_TASK_NOTES = {"count": "how often something happened", "regression": "a number that was measured",
               "ordinal": "levels that have an order", "multiclass": "levels that have none",
               "binary": "two levels, of which one is the event"}


def _possible_tasks(look: ColumnLook) -> list[Task]:
    numbers: list[Task] = [] if look.kind != "number" or look.constant or look.percent_signs else (
        ["count", "regression"] if look.whole and look.low >= 0 else ["regression"])
    if not look.graded:
        return numbers
    if len(look.levels) == 2:
        return ["binary", *numbers]
    several: list[Task] = [*numbers, "ordinal", "multiclass"] if numbers else ["multiclass", "ordinal"]
    return ["binary", *several] if look.two_but_one else several


def choose_levels(look: ColumnLook, task: Task, answers: Answers) -> LevelChoice | Question:
    """Return the levels, and the event of two, or the question for it; raises UsageError for a wrong answer."""
    refused = (
        (answers.event is not None and task != "binary",
         f"--event is for a binary outcome, not for one of the task {task}",
         "remove it, or give --outcome or --task too"),
        (answers.levels is not None and task != "ordinal",
         f"--levels is for an ordinal outcome, not for one of the task {task}", "remove it, or add --task ordinal"),
        (answers.order is not None and task not in CLASSES,
         f"--order is for lists with a number for each level, not for an outcome of the task {task}", "remove it"),
    )
    for given, message, hint in refused:
        if given:
            raise UsageError.of("not-for-task", message, hint)
    levels = tuple(look.levels)
    counts = tuple((level, counted(rows, "row")) for level, rows in look.levels.items())
    if task == "ordinal" and answers.levels is None:  # asked for, since no order of letters is one of grades
        return Question("levels", f"the outcome {quoted(look.name)} has {counted(len(levels), 'level')}",
                        "what is their order, from the lowest to the highest?", counts, "LOWEST,…,HIGHEST")
    if task == "ordinal":
        return LevelChoice(in_order("--levels", str(answers.levels), look), answered=True)
    if task != "binary":
        return LevelChoice(levels if task in CLASSES else ())
    if answers.event is None:
        return Question("event", f"the outcome {quoted(look.name)} has {counted(len(levels), 'level')}",
                        "which of them is the event?", counts)
    event = find_level(answers.event, levels)
    if event is None:
        guess = meant_level(answers.event, levels)
        hint = f"did you mean {quoted(guess)}?" if guess else f"its levels are {listed(levels, 'and')}"
        message = f"{quoted(answers.event)} is no level of the outcome {quoted(look.name)}"
        raise UsageError.of("unknown-level", message, hint, tuple(f"{level}: {rows}" for level, rows in counts))
    return LevelChoice((*(level for level in levels if level != event), event), event, answered=True)


def in_order(flag: str, text: str, look: ColumnLook) -> tuple[str, ...]:
    """Return the levels of an outcome in the order that a flag gives; raises UsageError where it lacks one."""
    levels = tuple(look.levels)
    given = [cell.strip() for cell in next(csv.reader([text]), [])]
    meant = [find_level(level, levels) or level for level in given]
    if sorted(meant) != sorted(levels):
        absent = [level for level in levels if level not in meant]
        strange = [level for level in meant if level not in levels]
        what = f"{flag} lacks {listed(absent, 'and')}" if absent else (
            f"{flag} names {listed(strange, 'and')}, which the data do not have" if strange else
            f"{flag} names a level twice")
        raise UsageError.of("wrong-levels", what, f"the levels of {quoted(look.name)} are {listed(levels, 'and')}")
    return tuple(meant)


CENSORED = frozenset({"censored", "censoring", "censor", "cens", "uncensored"})
"""Words for rows whose event was not waited for; a column or a level that has one tells survival data alone."""

FOLLOWED = frozenset({"survival", "followup", "tte", "futime"})
ENDPOINTS = frozenset({"os", "pfs", "dfs", "efs", "rfs"})
TIMES = frozenset({"time", "duration", "days", "weeks", "months", "years"})
"""Words for times. A name of these alone tells survival data beside an event; one with a word above does so alone."""

EVENTS = frozenset({"event", "status", "death", "dead", "died", "deceased"})


def survival_question(columns: Mapping[str, ColumnLook], answers: Answers) -> Question | None:
    """Return the question of what kind the outcome is where columns look like survival data; None where none do."""
    sign = None if answers.task is not None else _survival_sign(columns, answers)
    if sign is None:
        return None
    known = f"{sign}: {MEANT['survival']}"
    if any(_has_two_levels(look) for look in columns.values()):
        choice = "binary", ("each row is known to have had the event or not; a censored row would count as one without "
                            "it")
    else:
        choice = "regression", "each time is known to its end; a censored one would count as shorter than it is"
    return Question("task", known, "is the outcome of another kind?", (choice,))


def _survival_sign(columns: Mapping[str, ColumnLook], answers: Answers) -> str | None:
    """Say in a clause which columns look like survival data."""
    two = [look for look in columns.values() if _has_two_levels(look)]
    for look in two:
        levels = [level for level in look.levels if has_word(level, CENSORED)]
        if levels:
            return f"{quoted(look.name)} has the level {quoted(levels[0])}"
        if has_word(look.name, CENSORED):
            return f"{quoted(look.name)} says which rows are censored"
    times = [look for look in columns.values() if _may_be_times(look)]
    for look in times:
        if _is_follow_up_time(look.name):
            return f"{quoted(look.name)} has the name of a time to an event"
    events = [look for look in two if has_word(look.name, EVENTS) and answers.outcome in (None, look.name)]
    alone = [look for look in times if set(words(look.name)) <= TIMES]
    return f"{quoted(alone[0].name)} may be the time to {quoted(events[0].name)}" if alone and events else None


def _has_two_levels(look: ColumnLook) -> bool:
    return look.graded and len(look.levels) == 2 and not like_prediction(look.name)


def _may_be_times(look: ColumnLook) -> bool:
    """Tell whether a column can hold times: numbers from zero on, more than two, that are no prediction."""
    return look.kind == "number" and look.low >= 0 and look.distinct > 2 and not like_prediction(look.name)


def _is_follow_up_time(name: str) -> bool:
    name_words = words(name)
    pairs = set(pairwise(name_words))
    return (bool(FOLLOWED & set(name_words)) or bool(pairs & {("follow", "up"), ("time", "to")})
            or (bool(ENDPOINTS & set(name_words)) and bool(TIMES & set(name_words))))
