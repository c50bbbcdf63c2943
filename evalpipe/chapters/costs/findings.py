"""Whether a model costs less than always predicting the cheapest level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond, rule
from evalpipe.findings.words import by_dataset, finding, measures, values_of, with_verb
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding


@rule
def cheaper_than_one_level(results: Results) -> Iterator[Claim]:
    """Whether predictions cost less than always predicting the cheapest level, on the same rows."""
    for row in measures(results, "cost_saved"):
        yield Claim(row, cheaper if (row.value or 0) > 0 else dearer, p_beyond(row, 0), undecided)


def dearer(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say which models cost more, and by how much."""
    for same in by_dataset([_turned(row) for row in rows]):
        text = f"{_cost(results, same)} more than {_always(results, same)}: by {_by(results, same)}."
        yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, "costs", same)


def cheaper(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say which models cost less, and by how much."""
    for same in by_dataset(rows):
        text = f"{_cost(results, same)} less than {_always(results, same)}: by {_by(results, same)}."
        yield finding("holds", weights.BETTER_THAN_TRIVIAL, text, "costs", same)


def undecided(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say for which models these data do not decide."""
    for same in by_dataset(rows):
        text = (f"These data do not show that {_cost(results, same)} less than "
                f"{_always(results, same)}. Saved: {_by(results, same)}.")
        yield finding("open", weights.TRIVIAL_OPEN, text, "costs", same)


def _turned(row: Estimate) -> Estimate:
    """Return what is saved as what is paid in addition."""
    value, lower, upper = (None if number is None else -number for number in (row.value, row.upper, row.lower))
    return row.model_copy(update={"value": value, "lower": lower, "upper": upper})


def _cost(results: Results, rows: Sequence[Estimate]) -> str:
    return with_verb(results, rows, "costs", "cost")


def _by(results: Results, rows: Sequence[Estimate]) -> str:
    return f"{values_of(results, rows)} a row"


def _always(results: Results, rows: Sequence[Estimate]) -> str:
    """Write "always predicting 'no' (0.62 a row)"."""
    dataset = rows[0].dataset
    cheapest = (row for row in results.cost_references if row.cheapest and row.dataset == dataset)
    return joined([f"always predicting '{row.level}' ({numbers.number(row.cost) if row.cost else 0} a row)"
                   for row in cheapest])
