"""Which model is the most desirable, and which goals are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding, of_model, of_models, together, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Individual, Overall, Results
    from evalpipe.results.document import Finding

SECTION = "desirability"


@rule
def most_desirable(results: Results) -> Iterator[Claim]:
    """Whether one model is the most desirable, by the share of resamples in which it ranks first."""
    for row in results.desirability.overall:
        if row.rank == 1 and row.value and row.probability_best is not None:
            yield Claim(row, first if row.probability_best >= results.intervals.level else first_perhaps)


@rule
def goals_reached(results: Results) -> Iterator[Claim]:
    """Whether every goal has a desirability above 0."""
    for row in results.desirability.individual:
        if row.desirability == 0 and row.status == "ok":
            yield Claim(row, missed if row.upper in (None, 0) else missed_perhaps)


def first(results: Results, rows: Sequence[Overall]) -> Iterator[Finding]:
    """Say which model is the most desirable."""
    for row in rows:
        text = f"{of_model(results, row)} is the most desirable: {_overall(row)}."
        yield finding("holds", weights.RANKED, text, SECTION)


def first_perhaps(results: Results, rows: Sequence[Overall]) -> Iterator[Finding]:
    """Say which model ranks first where resamples do not agree on it."""
    for row in rows:
        text = f"{of_model(results, row)} ranks first in desirability, but these data do not decide: {_overall(row)}."
        yield finding("open", weights.RANKED, text, SECTION)


def _overall(row: Overall) -> str:
    return f"{with_limits(row)} overall, first in {numbers.percent(row.probability_best or 0.0, 1)} of resamples"


def missed(results: Results, rows: Sequence[Individual]) -> Iterator[Finding]:
    """Say which models miss a goal."""
    for same in _goals(rows):
        text = _sentence(results, same, "misses", "miss")
        yield finding("fails", weights.GOAL_MISSED, text, SECTION, _measured(same))


def missed_perhaps(results: Results, rows: Sequence[Individual]) -> Iterator[Finding]:
    """Say which models miss a goal, where other rows might reach it."""
    for same in _goals(rows):
        text = _sentence(results, same, "may miss", "may miss")
        yield finding("open", weights.TRIVIAL_OPEN, text, SECTION, _measured(same))


def _goals(rows: Sequence[Individual]) -> Iterator[list[Individual]]:
    """Yield the rows of each goal and dataset together."""
    return together(rows, lambda row: (row.dataset, row.goal))


def _measured(rows: Sequence[Individual]) -> list[Individual]:
    """Return the rows that are of a measure, and not of a characteristic."""
    return [row for row in rows if row.metric is not None]


def _sentence(results: Results, rows: Sequence[Individual], verb: str, verb_of_many: str) -> str:
    """Write "Forest misses the goal 'maximize sensitivity': 0.41. Its overall desirability is 0."."""
    values = joined([numbers.number(row.value) if isinstance(row.value, float) else str(row.value) for row in rows])
    whose = ("Its", "Their")[len(rows) > 1]
    return (f"{of_models(results, rows)} {verb if len(rows) == 1 else verb_of_many} the goal '{rows[0].goal}': "
            f"{values}. {whose} overall desirability is 0.")
