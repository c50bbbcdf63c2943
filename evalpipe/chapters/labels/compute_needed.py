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
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.records import Slice
    from evalpipe.card.wording import Names
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Comparison, Gate, Results, SliceDifference

    Place = tuple[str, tuple[tuple[str, object], ...] | None]
    """A dataset and the labels of a slice, None for all rows."""


@dataclass(frozen=True, slots=True)
class NeededLabels:
    """How many rows of a dataset, or of a slice of it, need an outcome for a verdict on a number.

    ``about`` says in words what the number is of; ``value``, ``lower`` and ``upper`` are the number and its limits.
    ``known`` of the ``rows`` have an outcome now. ``more`` further ones are needed: 0 where there is a verdict, None
    where all rows would not do (``beyond``), or where there is no interval to tell it by.
    """

    kind: Literal["gate", "comparison", "slice"]
    about: str
    dataset: str
    slice: Slice | None
    value: float | None
    lower: float | None
    upper: float | None
    verdict: str
    known: int
    rows: int
    more: int | None
    beyond: bool


@dataclass(frozen=True, slots=True)
class _Present:
    """What there is now: rows by dataset and slice, and how many rows with an outcome those with judges are worth."""

    names: Names
    min_rows: int
    level: float
    counts: Mapping[Place, tuple[int, int]]
    worth: Mapping[tuple[object, ...], float]

    def needed(
        self, kind: Literal["gate", "comparison", "slice"], about: str, row: Gate | Comparison | SliceDifference,
        number: float | None, verdict: str, narrower: float | None,
    ) -> NeededLabels:
        """Return what a number needs whose interval has to be ``narrower`` by a factor, None where it has no interval.

        A slice of too few rows with an outcome needs as many as slices have to have.
        """
        known, rows = self.counts[_place(row.dataset, row.slice)]
        more, beyond = None, False
        if number is None and row.slice is not None and known < self.min_rows:
            more, beyond = (self.min_rows - known, False) if rows >= self.min_rows else (None, True)
        elif narrower is not None:
            key = row.key if isinstance(row, Subject) else Subject.of(row).key
            more = more_labels(known, rows, self.worth.get(key, known) / rows, narrower)
            beyond = more is None
        return NeededLabels(kind, about, row.dataset, row.slice, number, row.lower, row.upper, verdict, known, rows,
                            more, beyond)

    def from_zero(self, p_value: float | None, p_adjusted: float | None) -> float | None:
        """Return by what factor an interval has to be narrower for a difference to be other than zero; None untested.

        An adjusted p-value is as many times the p-value as it is now.
        """
        if p_value is None or p_adjusted is None:
            return None
        if p_adjusted < 1 - self.level:
            return 1.0
        now = NormalDist().inv_cdf(1 - min(max(p_value, 1e-300), 1.0) / 2) if p_value < 1 else 0.0
        times = max(p_adjusted / p_value, 1.0) if p_value > 0 else 1.0
        return NormalDist().inv_cdf(1 - (1 - self.level) / times / 2) / now if now > 0 else math.inf


def needed_labels(plan: Plan, results: Results, samples: Sequence[Sample]) -> list[NeededLabels]:
    """Return how many more rows need an outcome, for each gate, comparison and slice of the results.

    ``samples`` are the datasets as they were read. Gates on checks, on nights and on desirability are left out.
    """
    worth = {Subject.of(row).key: row.worth for row in results.label_worth if row.worth is not None}
    present = _Present(names_of(results), plan.slices.min_rows, plan.level, label_counts(samples), worth)
    return [*_of_gates(present, results), *_of_comparisons(present, results), *_of_slices(present, results)]


def _of_gates(present: _Present, results: Results) -> Iterator[NeededLabels]:
    """Yield what each gate on a measure needs, so that its interval or limit leaves the gate's limits on one side."""
    for gate in results.gates:
        if gate.metric is None or gate.on in ("sequence", "check") or gate.verdict == "skipped":
            continue
        inside = gate.observed is not None and gate.limits.side(gate.observed, gate.scale) == 0
        is_open = gate.verdict == "inconclusive" or (gate.on in ("lower", "upper") and gate.verdict == "fail" and inside)
        narrower = factor_to_clear(gate.observed, gate.lower, gate.upper, gate.limits.finite) if is_open else 1.0
        less = f" less {gate.against}" if gate.reference is not None else ""
        about = f"gate {gate.gate}: {present.names.subject(gate)}{less}, {present.names.gate(gate)}"
        yield present.needed("gate", about, gate, gate.observed, gate.verdict, narrower)


def _of_comparisons(present: _Present, results: Results) -> Iterator[NeededLabels]:
    """Yield what each comparison of two models on the same rows needs to be better, worse or equivalent."""
    for row in results.comparisons:
        if row.baseline_dataset is not None or row.verdict in ("no_direction", "untested"):
            continue
        narrower: float | None = 1.0
        if row.verdict == "undecided":
            narrower = present.from_zero(row.p_value, row.p_adjusted)
            if row.margin is not None and row.difference is not None and abs(row.difference) < row.margin:
                within = factor_to_clear(row.difference, row.lower, row.upper, [-row.margin, row.margin])
                narrower = min(within or math.inf, narrower or math.inf)
        names = present.names
        about = f"{names.measure_of(row)}, {names.scope(Subject.of(row))}, less {names.model(row.baseline)}"
        yield present.needed("comparison", about, row, row.difference, row.verdict, narrower)


def _of_slices(present: _Present, results: Results) -> Iterator[NeededLabels]:
    """Yield what each measure in a slice needs for it to differ from the reference of the slice."""
    for row in results.slice_differences:
        narrower = present.from_zero(row.p_value, row.p_holm)
        about = f"{present.names.measure_of(row)}, {present.names.scope(Subject.of(row))}, less " + (
            row.reference if isinstance(row.reference, str) else present.names.slice(row.reference))
        yield present.needed("slice", about, row, row.difference, "differs" if narrower == 1 else "undecided", narrower)


def factor_to_clear(
    value: float | None, lower: float | None, upper: float | None, limits: Sequence[float]
) -> float | None:
    """Return by what factor an interval has to be narrower, its value the same, to have each limit on one side of it.

    1 where it has, infinite where the value is at a limit; None without a value or an interval.
    """
    if value is None or lower is None or upper is None:
        return None
    factor = 1.0
    for limit in limits:
        if lower <= limit <= upper:
            apart, half = (value - limit, value - lower) if value > limit else (limit - value, upper - value)
            factor = max(factor, half / apart if apart > 0 else math.inf)
    return factor


def more_labels(known: int, rows: int, floor: float, narrower: float) -> int | None:
    """Return how many more of the ``rows`` need an outcome, beside those ``known``; None where all would not do.

    ``floor`` is the share of the present variance that stays when all rows have an outcome, known / rows without
    judges; the interval has to be ``narrower`` by this factor.
    """
    if narrower <= 1:
        return 0
    share = 1 / narrower**2
    if known >= rows or known <= 0 or floor >= 1 or share < floor:
        return None
    total = 1 / (1 / rows + (share - floor) / (1 - floor) * (1 / known - 1 / rows))
    return max(math.ceil(total - known - 1e-9), 1)


def label_counts(samples: Sequence[Sample]) -> dict[Place, tuple[int, int]]:
    """Return how many rows have an outcome, and how many rows there are, by dataset and slice."""
    counts: dict[Place, tuple[int, int]] = {}
    for sample in samples:
        known = np.ones(sample.n, bool) if sample.known is None else sample.known.known
        counts[_place(sample.dataset, None)] = int(known.sum()), sample.n
        for slicing in sample.slicings:
            for code, labels in enumerate(slicing.labels):
                inside = slicing.codes == code
                counts[_place(sample.dataset, labels)] = int(known[inside].sum()), int(inside.sum())
    return counts


def _place(dataset: str, labels: Mapping[str, object] | None) -> Place:
    """Return the key of a dataset, or of a slice of it."""
    return dataset, None if labels is None else tuple(sorted(labels.items()))
