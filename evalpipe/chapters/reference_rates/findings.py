"""Whether models reach what others reached elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import agreeing, difference_of, finding, of_models, together
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import RateDifference, Results
    from evalpipe.results.document import Finding


RATES = "reference-rates"
"""The anchor of the section on reference rates."""


@rule
def reference_rates_reached(results: Results) -> Iterator[Claim]:
    """Whether models reach the reference rates, by the intervals of the differences."""
    says = {"better": reached, "worse": missed, "undecided": undecided}
    yield from (Claim(row, says[row.verdict]) for row in results.reference_rates
                if row.verdict in says and row.variant == "original" and row.class_ is None and row.slice is None)


def reached(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Say which models are better than a reference rate."""
    for same in _rates(rows):
        verb = agreeing(same, "is better than", "are better than")
        yield finding("holds", weights.RATE_REACHED, _sentence(results, same, verb), RATES, same)


def missed(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Say which models do not reach a reference rate."""
    for same in _rates(rows):
        verb = agreeing(same, "does not reach", "do not reach")
        yield finding("fails", weights.RATE_MISSED, _sentence(results, same, verb), RATES, same)


def undecided(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Say which models cannot be told apart from a reference rate."""
    for same in _rates(rows):
        yield finding("open", weights.RATE_OPEN, _sentence(results, same, "cannot be told apart from"), RATES, same)


def _rates(rows: Sequence[RateDifference]) -> Iterator[list[RateDifference]]:
    """Yield the rows of each reference rate together."""
    return together(rows, lambda row: (row.baseline, row.metric, str(row.params)))


def _sentence(results: Results, rows: Sequence[RateDifference], verb: str) -> str:
    """Write "Forest does not reach last year's model (Brier score 0.12): difference +0.02 (0.01 to 0.03)."."""
    first = rows[0]
    measure = names_of(results).measure(first.metric, first.params, first.average)
    differences = ", ".join(difference_of(row) for row in rows)
    return (f"{of_models(results, rows)} {verb} {first.baseline} ({measure} {numbers.plain(first.rate)}): difference "
            f"{differences}.")
