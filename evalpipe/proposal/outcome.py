"""Choose the outcome's column, its task and its levels from the data, or return the question for a person.

Survival data are recognised by their columns, so that no censored row counts as one without the event.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from evalpipe.base.levels import find_level, meant_level
from evalpipe.errors import UsageError
from evalpipe.proposal.models import Family, families, predicted_class_columns
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
from evalpipe.words.spelling import closest, counted, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook


@dataclass(frozen=True, slots=True)
class OutcomeChoice:
    """The column of the outcome and the reason for it, the task and the reason for it."""

    column: ColumnLook
    reason: str
    task: Task
    task_reason: str


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """The levels of an outcome in order, and the event of two; ``answered`` says that a person chose these."""

    levels: tuple[str, ...]
    event: str | None = None
    answered: bool = False


def column_of(name: str, columns: Mapping[str, ColumnLook], flag: str) -> ColumnLook:
    """Return the column that a flag names; raises UsageError where the data have none of that name."""
    if name in columns:
        return columns[name]
    close = closest(name, columns)
    hint = f"did you mean {quoted(close)}?" if close else f"the columns are {listed(list(columns)[:12], 'and')}"
    raise UsageError.of("unknown-column", f"{flag} names the column {quoted(name)}, which the data do not have", hint)


def choose_outcome(columns: Mapping[str, ColumnLook], answers: Answers) -> tuple[ColumnLook, str] | Question:
    """Return the outcome's column and the reason, or the question which it is; raises UsageError for a wrong answer."""
    if answers.outcome is not None:
        return column_of(answers.outcome, columns, "--outcome"), "your answer"
    graded = [look for look in columns.values() if look.graded and not like_prediction(look.name)]
    binary = [look for look in graded if len(look.levels) == 2 or look.has_two_clear_levels]
    two_levels = [look for look in binary if not has_word(look.name, WEIGHTS)]
    named = [look for look in columns.values() if like_outcome(look.name) and look.usable]
    matched = [look for look in graded if _has_probabilities(families(tuple(look.levels), columns, without=look.name))]
    likely = [*named, *(look for look in two_levels if look not in named)]
    with_event = [] if answers.event is None else [
        look for look in likely if find_level(answers.event, tuple(look.levels)) is not None]
    surely_named = [look for look in named if has_word(look.name, SURE)]
    evidence = (  # the first kind of evidence that fits a single column decides
        ([look for look in matched if look in named] or matched, "columns of predictions are named after its levels"),
        (surely_named or (named if len(likely) == 1 else []), "its name is that of an outcome"),
        ([look for look in columns.values() if named_after(look, columns)], "predictions are named after it"),
        (with_event, f"the only column of two levels of which one is {quoted(answers.event)}"),
        ([look for look in graded if predicted_class_columns(columns, tuple(look.levels), without=[look.name])],
         "predicted classes have its levels"),
    )
    for fitting, reason in evidence:
        if len(fitting) == 1:
            return fitting[0], reason
    others = [look for look in columns.values() if look.usable and look not in likely
              and not like_prediction(look.name) and not has_word(look.name, WEIGHTS | EXPOSURES)
              and not (look.unique and like_id(look.name))]
    candidates = surely_named or (likely if len(likely) > 1 else [*likely, *others])
    return _outcome_question([look for look in candidates if answers.task in (None, *_possible_tasks(look))], columns)


def _has_probabilities(level_families: Sequence[Family]) -> bool:
    """Tell whether columns named after the levels of an outcome sum to 1, or 100, as probabilities of these do."""
    return any(family.kind in ("probabilities", "percent") for family in level_families)


def _outcome_question(candidates: Sequence[ColumnLook], columns: Mapping[str, ColumnLook]) -> Question:
    """Return the question which of the candidates is the outcome; raises UsageError where there are none."""
    if not candidates:
        raise UsageError.of("no-outcome", f"none of the {counted(len(columns), 'column')} can be an outcome",
                            "give a file with a column of levels, numbers or counts beside the predictions")
    known = f"{counted(len(candidates), 'column')} may be the outcome"
    if len(candidates) == 1:
        known = f"only {quoted(candidates[0].name)} may be the outcome, and its name does not say so"
    elif all(named_after(look, columns) for look in candidates):
        known = f"each of {counted(len(candidates), 'column')} has predictions of its own: write a spec for each"
    return Question("outcome", known, "which column is the outcome?",
                    tuple((look.name, values_in_words(look)) for look in candidates))


def values_in_words(look: ColumnLook) -> str:
    """Describe the values of a column in a clause, such as "2 levels, no and yes"."""
    if look.levels and (look.kind != "number" or len(look.levels) <= 6):
        first = "" if len(look.levels) <= 6 else "the first "
        return f"{counted(len(look.levels), 'level')}, {first}{listed(list(look.levels)[:6], 'and')}"
    if look.kind == "number":
        return f"{'whole numbers' if look.whole else 'numbers'} from {look.low:g} to {look.high:g}"
    return counted(look.distinct, "value")


def choose_task(look: ColumnLook, columns: Mapping[str, ColumnLook], answers: Answers) -> tuple[Task, str] | Question:
    """Return the task of an outcome and the reason, or the question; raises UsageError for an impossible answer."""
    possible = _possible_tasks(look)
    if answers.task is not None:
        task = cast("Task", answers.task)
        if task not in possible:
            hint = f"it can be {listed(possible)}" if possible else "give another column with --outcome"
            raise UsageError.of("wrong-task", f"{quoted(look.name)} cannot be of the task {task}: it has "
                                f"{values_in_words(look)}", hint)
        return task, "your answer"
    if not possible:
        raise UsageError.of("no-outcome", f"{quoted(look.name)} cannot be an outcome: it has {values_in_words(look)}",
                            "give another column with --outcome")
    if len(look.levels) == 2 and look.graded:
        return "binary", "the outcome has two levels"
    if len(possible) == 1:
        return possible[0], "numbers that are not all whole" if look.kind == "number" else "text"
    has_probabilities = _has_probabilities(families(tuple(look.levels), columns, without=look.name))
    if look.kind != "number" and (has_probabilities or not look.has_two_clear_levels):
        return "multiclass", "more than two levels; where they have an order, init again with --task ordinal"
    if has_probabilities:
        return "multiclass", "there is a probability of each value; where they have an order, see --task ordinal"
    known = f"the outcome {quoted(look.name)} holds {values_in_words(look)}"
    notes = _TASK_NOTES
    if look.has_two_clear_levels:
        notes = _TASK_NOTES | {"binary": f"two levels; {quoted(look.doubtful)} means that the outcome is missing"}
    return Question("task", known, "what are they?", tuple((task, notes[task]) for task in possible))


_TASK_NOTES = {"count": "how often something happened", "regression": "a number that was measured",
               "ordinal": "levels that have an order", "multiclass": "levels that have none",
               "binary": "two levels, of which one is the event"}


def _possible_tasks(look: ColumnLook) -> list[Task]:
    """Return the tasks for which a column may be the outcome, likely ones first."""
    number_tasks: list[Task] = [] if look.kind != "number" or look.constant or look.percent_signs else (
        ["count", "regression"] if look.whole and look.low >= 0 else ["regression"])
    if not look.graded:
        return number_tasks
    if len(look.levels) == 2:
        return ["binary", *number_tasks]
    tasks: list[Task] = [*number_tasks, "ordinal", "multiclass"] if number_tasks else ["multiclass", "ordinal"]
    return ["binary", *tasks] if look.has_two_clear_levels else tasks


def choose_levels(look: ColumnLook, task: Task, answers: Answers) -> LevelChoice | Question:
    """Return the levels and the event of an outcome, or the question for these; raises UsageError for a wrong flag."""
    rules = (
        (answers.event is not None and task != "binary",
         f"--event is for a binary outcome, not for one of the task {task}",
         "remove it, or give --outcome or --task too"),
        (answers.levels is not None and task != "ordinal",
         f"--levels is for an ordinal outcome, not for one of the task {task}", "remove it, or add --task ordinal"),
        (answers.order is not None and task not in CLASSES,
         f"--order is for lists with a number for each level, not for an outcome of the task {task}", "remove it"),
    )
    for is_wrong, message, hint in rules:
        if is_wrong:
            raise UsageError.of("not-for-task", message, hint)
    levels = tuple(look.levels)
    counts = tuple((level, counted(rows, "row")) for level, rows in look.levels.items())
    if task == "ordinal" and answers.levels is None:  # asked for, since no order of letters is one of grades
        return Question("levels", f"the outcome {quoted(look.name)} has {counted(len(levels), 'level')}",
                        "what is their order, from the lowest to the highest?", counts, "LOWEST,…,HIGHEST")
    if task == "ordinal":
        return LevelChoice(levels_of_flag("--levels", str(answers.levels), look), answered=True)
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


def levels_of_flag(flag: str, text: str, look: ColumnLook) -> tuple[str, ...]:
    """Return an outcome's levels in the order of a flag's text, "a,b,c"; raises UsageError unless it has all."""
    levels = tuple(look.levels)
    names = [cell.strip() for cell in next(csv.reader([text]), [])]
    ordered_levels = [find_level(level, levels) or level for level in names]
    if sorted(ordered_levels) != sorted(levels):
        missing = [level for level in levels if level not in ordered_levels]
        unknown = [level for level in ordered_levels if level not in levels]
        what = f"{flag} lacks {listed(missing, 'and')}" if missing else (
            f"{flag} names {listed(unknown, 'and')}, which the data do not have" if unknown else
            f"{flag} names a level twice")
        raise UsageError.of("wrong-levels", what, f"the levels of {quoted(look.name)} are {listed(levels, 'and')}")
    return tuple(ordered_levels)


CENSORED = frozenset({"censored", "censoring", "censor", "cens", "uncensored"})
"""Words for censored rows; a column or a level with one of them suffices to recognise survival data."""

FOLLOWED = frozenset({"survival", "followup", "tte", "futime"})
ENDPOINTS = frozenset({"os", "pfs", "dfs", "efs", "rfs"})
TIMES = frozenset({"time", "duration", "days", "weeks", "months", "years"})
"""Words for times. A name of these alone means survival data only beside an event; a name with a word above always."""

EVENTS = frozenset({"event", "status", "death", "dead", "died", "deceased"})


def survival_question(columns: Mapping[str, ColumnLook], answers: Answers) -> Question | None:
    """Return the question which task it is where columns look like survival data; None where none do."""
    evidence = None if answers.task is not None else _survival_sign(columns, answers)
    if evidence is None:
        return None
    known = f"{evidence}: {MEANT['survival']}"
    if any(_has_two_levels(look) for look in columns.values()):
        choice = "binary", ("each row is known to have had the event or not; a censored row would count as one without "
                            "it")
    else:
        choice = "regression", "each time is known to its end; a censored one would count as shorter than it is"
    return Question("task", known, "is the outcome of another kind?", (choice,))


def _survival_sign(columns: Mapping[str, ColumnLook], answers: Answers) -> str | None:
    """Return a clause that says which columns look like survival data; None where none do."""
    binary = [look for look in columns.values() if _has_two_levels(look)]
    for look in binary:
        levels = [level for level in look.levels if has_word(level, CENSORED)]
        if levels:
            return f"{quoted(look.name)} has the level {quoted(levels[0])}"
        if has_word(look.name, CENSORED):
            return f"{quoted(look.name)} says which rows are censored"
    times = [look for look in columns.values() if look.kind == "number" and look.low >= 0 and look.distinct > 2
             and not like_prediction(look.name)]
    for look in times:
        if _is_follow_up_time(look.name):
            return f"{quoted(look.name)} has the name of a time to an event"
    events = [look for look in binary if has_word(look.name, EVENTS) and answers.outcome in (None, look.name)]
    plain_times = [look for look in times if set(words(look.name)) <= TIMES]  # which tell nothing without an event
    if not plain_times or not events:
        return None
    return f"{quoted(plain_times[0].name)} may be the time to {quoted(events[0].name)}"


def _has_two_levels(look: ColumnLook) -> bool:
    """Tell whether a column may say which rows had the event, or are censored."""
    return look.graded and len(look.levels) == 2 and not like_prediction(look.name)


def _is_follow_up_time(name: str) -> bool:
    """Tell whether a name has words for a time to an event, such as "follow up" or "pfs months"."""
    name_words = words(name)
    pairs = set(pairwise(name_words))
    return (bool(FOLLOWED & set(name_words)) or bool(pairs & {("follow", "up"), ("time", "to")})
            or (bool(ENDPOINTS & set(name_words)) and bool(TIMES & set(name_words))))
