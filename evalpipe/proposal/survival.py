"""Times to an event: told from their columns, so that no censored row is taken for one without the event."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.proposal.names import has, like_prediction, words
from evalpipe.proposal.questions import Question
from evalpipe.tasks import MEANT
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.proposal.columns import ColumnLook
    from evalpipe.proposal.questions import Answers

CENSORED = frozenset({"censored", "censoring", "censor", "cens", "uncensored"})
"""Words for rows whose event was not waited for; a column or a level that has one tells survival data alone."""

FOLLOWED = frozenset({"survival", "followup", "tte", "futime"})
ENDPOINTS = frozenset({"os", "pfs", "dfs", "efs", "rfs"})
TIMES = frozenset({"time", "duration", "days", "weeks", "months", "years"})
"""Words for times. A name of these alone tells survival data beside an event; one with a word above does so alone."""

EVENTS = frozenset({"event", "status", "death", "dead", "died", "deceased"})


def survival_question(columns: Mapping[str, ColumnLook], answers: Answers) -> Question | None:
    """Return the question of what kind the outcome is where columns look like survival data; None where none do."""
    sign = None if answers.task is not None else _sign(columns, answers)
    if sign is None:
        return None
    known = f"{sign}: {MEANT['survival']}"
    if any(_two(look) for look in columns.values()):
        choice = "binary", ("each row is known to have had the event or not; a censored row would count as one without "
                            "it")
    else:
        choice = "regression", "each time is known to its end; a censored one would count as shorter than it is"
    return Question("task", known, "is the outcome of another kind?", (choice,))


def _sign(columns: Mapping[str, ColumnLook], answers: Answers) -> str | None:
    """Say in a clause which columns look like survival data."""
    two = [look for look in columns.values() if _two(look)]
    for look in two:
        levels = [level for level in look.levels if has(level, CENSORED)]
        if levels:
            return f"{quoted(look.name)} has the level {quoted(levels[0])}"
        if has(look.name, CENSORED):
            return f"{quoted(look.name)} says which rows are censored"
    times = [look for look in columns.values() if _time(look)]
    for look in times:
        if _followed(look.name):
            return f"{quoted(look.name)} has the name of a time to an event"
    events = [look for look in two if has(look.name, EVENTS) and answers.outcome in (None, look.name)]
    alone = [look for look in times if set(words(look.name)) <= TIMES]
    return f"{quoted(alone[0].name)} may be the time to {quoted(events[0].name)}" if alone and events else None


def _two(look: ColumnLook) -> bool:
    """Tell whether a column has two levels and is no prediction."""
    return look.graded and len(look.levels) == 2 and not like_prediction(look.name)


def _time(look: ColumnLook) -> bool:
    """Tell whether a column can hold times: numbers from zero on, more than two, that are no prediction."""
    return look.kind == "number" and look.low >= 0 and look.distinct > 2 and not like_prediction(look.name)


def _followed(name: str) -> bool:
    """Tell whether a name is that of a time that rows were followed for."""
    said = words(name)
    pairs = set(pairwise(said))
    return (bool(FOLLOWED & set(said)) or bool(pairs & {("follow", "up"), ("time", "to")})
            or (bool(ENDPOINTS & set(said)) and bool(TIMES & set(said))))
