"""Whether a model costs less than always predicting the cheapest level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding, measures, of_model, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.costs.records import CostReference
    from evalpipe.results import Estimate, Results
    from evalpipe.results.findings import Finding

    Priced = tuple[Estimate, CostReference]


@rule
def cheaper_than_one_level(results: Results) -> Iterator[Claim]:
    """Whether predictions cost less than always predicting the cheapest level."""
    cheapest = {row.dataset: row for row in results.cost_references if row.cheapest}
    for row in measures(results, "cost"):
        if row.dataset in cheapest:
            reference = cheapest[row.dataset]
            dearer_now = (row.value or 0) > reference.cost
            yield Claim((row, reference), dearer if dearer_now else cheaper, p_beyond(row, reference.cost), undecided)


def dearer(results: Results, rows: Sequence[Priced]) -> Iterator[Finding]:
    """Say which models cost more."""
    for row, reference in rows:
        yield finding("fails", weights.WORSE_THAN_TRIVIAL,
                      f"{of_model(results, row)} costs more than {_always(reference)}: {_costs(row, reference)}.",
                      "costs", [row])


def cheaper(results: Results, rows: Sequence[Priced]) -> Iterator[Finding]:
    """Say which models cost less."""
    for row, reference in rows:
        yield finding("holds", weights.BETTER_THAN_TRIVIAL,
                      f"{of_model(results, row)} costs less than {_always(reference)}: {_costs(row, reference)}.",
                      "costs", [row])


def undecided(results: Results, rows: Sequence[Priced]) -> Iterator[Finding]:
    """Say for which models these data do not decide."""
    for row, reference in rows:
        yield finding("open", weights.TRIVIAL_OPEN,
                      f"These data do not show that {of_model(results, row)} costs less than {_always(reference)}: "
                      f"{_costs(row, reference)}.", "costs", [row])


def _always(reference: CostReference) -> str:
    return f"always predicting '{reference.level}'"


def _costs(row: Estimate, reference: CostReference) -> str:
    return f"{with_limits(row)} a row, against {numbers.number(reference.cost)}"
