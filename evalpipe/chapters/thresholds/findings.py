"""Whether the bounds under which a threshold was chosen are kept on the rows that are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, of_model, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.thresholds.records import Constraint, Threshold
    from evalpipe.results import Estimate, Results
    from evalpipe.results.findings import Finding

    Bounded = tuple[Estimate, float, str]
    """A measure on the evaluated rows, the bound, and "at least" or "at most"."""


@rule
def bounds_kept(results: Results) -> Iterator[Claim]:
    """Whether a threshold keeps the bounds that it was chosen under on the evaluated rows."""
    for threshold in results.thresholds:
        for constraint in threshold.constraints:
            for row, bound, side in _evaluated(results, threshold, constraint):
                beyond = (row.value or 0) < bound if side == "at least" else (row.value or 0) > bound
                yield Claim((row, bound, side), broken if beyond else kept, p_beyond(row, bound), undecided)


def _evaluated(results: Results, threshold: Threshold, constraint: Constraint) -> Iterator[Bounded]:
    """Yield the bounded measure on the evaluated rows of a threshold, with each of its bounds."""
    for row in measures(results, constraint.metric):
        if (row.dataset, row.model, row.variant) == (threshold.dataset, threshold.model, threshold.variant) and (
                row.params == constraint.params):
            sides = ((constraint.min, "at least"), (constraint.max, "at most"))
            yield from ((row, bound, side) for bound, side in sides if bound is not None)


def broken(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds are broken."""
    for bounded in rows:
        yield finding("fails", weights.BOUND_BROKEN, f"{_sentence(results, bounded)}: not kept.",
                      anchor(results, bounded[0]), bounded[:1])


def kept(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds are kept."""
    for bounded in rows:
        yield finding("holds", weights.GATE_HELD, f"{_sentence(results, bounded)}: kept.",
                      anchor(results, bounded[0]), bounded[:1])


def undecided(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds these data leave open."""
    for bounded in rows:
        yield finding("open", weights.GATE_OPEN, f"{_sentence(results, bounded)}: these data do not decide.",
                      anchor(results, bounded[0]), bounded[:1])


def _sentence(results: Results, bounded: Bounded) -> str:
    row, bound, side = bounded
    measure = names_of(results).measure(row.metric, row.params)
    return (f"The threshold of {of_model(results, row)} was chosen for {measure} {side} {numbers.plain(bound)}; on the "
            f"evaluated rows it is {with_limits(row)}")
