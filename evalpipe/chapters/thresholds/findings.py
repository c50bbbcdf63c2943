"""Whether the bounds under which a threshold was chosen are kept on the rows that are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import anchor, finding, more_rows, of_model, on_all_rows, rows_of, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.thresholds.records import Constraint, Threshold
    from evalpipe.findings.claims import Say
    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding

    Bounded = tuple[Estimate, float, str]
    """A measure on the evaluated rows, the bound, and "at least" or "at most"."""


@rule
def bounds_kept(results: Results) -> Iterator[Claim]:
    """Whether the requirements under which a threshold was chosen hold on the evaluated rows."""
    for threshold in results.thresholds:
        # Rows that chose a threshold keep its bounds by design.
        judged_anew = threshold.folds is not None or threshold.chosen_on != threshold.dataset
        for constraint in threshold.constraints if judged_anew else ():
            for row, bound, side in _evaluated(results, threshold, constraint):
                yield Claim((row, bound, side), _verdict(row, bound, side))


def _verdict(row: Estimate, bound: float, side: str) -> Say:
    """Return what to say of a bound: as of a gate, the interval decides."""
    if row.lower is None or row.upper is None or row.lower <= bound <= row.upper:
        return undecided
    return kept if (row.lower > bound) == (side == "at least") else broken


def _evaluated(results: Results, threshold: Threshold, constraint: Constraint) -> Iterator[Bounded]:
    """Yield the bounded measure on the evaluated rows of a threshold, with each of its bounds."""
    for row in on_all_rows(results, constraint.metric):
        if (row.dataset, row.model, row.variant) == (threshold.dataset, threshold.model, threshold.variant) and (
                row.params == constraint.params):
            sides = ((constraint.min, "at least"), (constraint.max, "at most"))
            yield from ((row, bound, side) for bound, side in sides if bound is not None)


def broken(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds are broken."""
    for bounded in rows:
        yield finding("fails", weights.BOUND_BROKEN, f"{_sentence(results, bounded)}: not kept.",
                      anchor(results, bounded[0], "thresholds"), bounded[:1])


def kept(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds are kept."""
    for bounded in rows:
        yield finding("holds", weights.GATE_HELD, f"{_sentence(results, bounded)}: kept.",
                      anchor(results, bounded[0], "thresholds"), bounded[:1])


def undecided(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Say which bounds these data leave open, and about how many more rows would decide."""
    for bounded in rows:
        row, bound, _ = bounded
        more = more_rows(row, bound, rows_of(results, row))
        way_out = "" if more is None else f" About {numbers.count(more)} more rows like these would."
        yield finding("open", weights.GATE_OPEN, f"{_sentence(results, bounded)}: these data do not decide.{way_out}",
                      anchor(results, bounded[0], "thresholds"), bounded[:1])


def _sentence(results: Results, bounded: Bounded) -> str:
    """Write "Forest: required Specificity at least 0.9; on new data 0.868 (0.835–0.897)"."""
    row, bound, side = bounded
    measure = names_of(results).measure(row.metric, row.params)
    return (f"{of_model(results, row)}: required {measure} {side} {numbers.plain(bound)}; on new data "
            f"{with_limits(row, bound)}")
