"""How many more rows need an outcome, until gates, comparisons and slices have a verdict at the present values.

The variance of a number is one part that stays when all rows have an outcome, and one that falls with their number n,
as 1 / n. An interval that is to leave a limit on one side needs a variance that is so much smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.base.records import Subject
from evalpipe.card.wording import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Flags
    from evalpipe.base.records import Slice
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Comparison, Gate, Results, SliceDifference

    Kind = Literal["gate", "comparison", "slice"]
    Number = tuple[Kind, str, Gate | Comparison | SliceDifference, float | None, float | None]


@dataclass(frozen=True, slots=True)
class NeededLabels:
    """How many rows of a dataset, or of a slice of it, need an outcome for a verdict on a number ``about`` something.

    ``known`` of the ``rows`` have an outcome now. ``more`` are needed: 0 where there is a verdict, None where all
    rows would not do (``beyond``), or where there is no interval to tell it by.
    """

    kind: Kind
    about: str
    dataset: str
    slice: Slice | None
    value: float | None
    lower: float | None
    upper: float | None
    known: int
    rows: int
    more: int | None
    beyond: bool


def needed_labels(plan: Plan, results: Results, samples: Sequence[Sample]) -> Iterator[NeededLabels]:
    """Yield how many more rows need an outcome, for each gate, comparison and slice of the results.

    ``samples`` are the datasets as they were read. Gates on checks, on nights and on desirability are left out.
    """
    worth = {Subject.of(row).key: row.worth for row in results.label_worth if row.worth is not None}
    flags: dict[tuple[str, frozenset[tuple[str, object]]], Flags] = {}
    for sample in samples:
        known = np.ones(sample.n, bool) if sample.known is None else sample.known.known
        flags[sample.dataset, frozenset()] = known
        flags |= {(sample.dataset, frozenset(labels.items())): known[slicing.codes == code]
                  for slicing in sample.slicings for code, labels in enumerate(slicing.labels)}
    for kind, about, row, number, narrower in _numbers(results, plan.level):
        known = flags[row.dataset, frozenset((row.slice or {}).items())]
        count, rows, least = int(known.sum()), len(known), plan.slices.min_rows
        key = row.key if isinstance(row, Subject) else Subject.of(row).key
        more = None if narrower is None else more_labels(count, rows, worth.get(key, count) / max(rows, 1), narrower)
        too_few = number is None and row.slice is not None and count < least
        if too_few:
            more = least - count if rows >= least else None
        yield NeededLabels(kind, about, row.dataset, row.slice, number, row.lower, row.upper, count, rows, more,
                           beyond=more is None and (too_few or narrower is not None))


def _numbers(results: Results, level: float) -> Iterator[Number]:
    """Yield each number after its kind and words, and by what factor its interval has to be narrower for a verdict."""
    names = names_of(results)
    for gate in results.gates:
        if gate.metric is not None and gate.on not in ("sequence", "check") and gate.verdict != "skipped":
            inside = gate.observed is not None and gate.limits.side(gate.observed, gate.scale) == 0
            by_end = gate.on in ("lower", "upper") and gate.verdict == "fail" and inside
            is_open = gate.verdict == "inconclusive" or by_end
            narrower = factor_to_clear(gate.observed, gate.lower, gate.upper, gate.limits.finite) if is_open else 1.0
            yield "gate", f"gate {gate.gate}: {names.subject(gate)}, {names.gate(gate)}", gate, gate.observed, narrower
    for row in results.comparisons:
        if row.baseline_dataset is None and row.verdict not in ("no_direction", "untested"):
            narrower = factor_from_zero(row.p_value, row.p_adjusted, level) if row.verdict == "undecided" else 1.0
            if row.verdict == "undecided" and row.margin and abs(row.difference or 0.0) < row.margin:
                within = factor_to_clear(row.difference, row.lower, row.upper, [-row.margin, row.margin])
                narrower = min(within or math.inf, narrower or math.inf)
            about = f"{names.measure_of(row)}, {names.scope(Subject.of(row))}, less {names.model(row.baseline)}"
            yield "comparison", about, row, row.difference, narrower
    for other in results.slice_differences:
        less = other.reference if isinstance(other.reference, str) else names.slice(other.reference)
        yield ("slice", f"{names.measure_of(other)}, {names.scope(Subject.of(other))}, less {less}", other,
               other.difference, factor_from_zero(other.p_value, other.p_holm, level))


def factor_from_zero(p_value: float | None, p_adjusted: float | None, level: float) -> float | None:
    """Return by what factor an interval has to be narrower for a difference to be other than zero; None untested.

    An adjusted p-value is taken to stay as many times the p-value as it is now.
    """
    if p_value is None or p_adjusted is None:
        return None
    if p_adjusted < 1 - level:
        return 1.0
    needed = NormalDist().inv_cdf(1 - (1 - level) / max(p_adjusted / p_value, 1.0) / 2)
    return needed / NormalDist().inv_cdf(1 - p_value / 2) if p_value < 1 else math.inf


def factor_to_clear(
    value: float | None, lower: float | None, upper: float | None, limits: Sequence[float]
) -> float | None:
    """Return by what factor an interval has to be narrower, its value the same, to have each limit on one side of it.

    1 where it has, infinite where the value is at a limit; None without a value or an interval.
    """
    if value is None or lower is None or upper is None:
        return None
    halves = [(value - lower, value - limit) if value > limit else (upper - value, limit - value)
              for limit in limits if lower <= limit <= upper]
    return max((half / apart if apart > 0 else math.inf for half, apart in halves), default=1.0)


def more_labels(known: int, rows: int, floor: float, narrower: float) -> int | None:
    """Return how many more of the ``rows`` need an outcome, beside those ``known``; None where all would not do.

    ``floor`` is the share of the present variance that stays when all rows have an outcome, known / rows without
    judges; the interval has to be ``narrower`` by this factor.
    """
    share = 1 / narrower**2
    if narrower <= 1:
        return 0
    if known >= rows or known <= 0 or floor >= 1 or share < floor:
        return None
    total = 1 / (1 / rows + (share - floor) / (1 - floor) * (1 / known - 1 / rows))
    return max(math.ceil(total - known - 1e-9), 1)
