"""Tables of how slices differ: from their reference, from each other, and the worst that a search found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import Number
from evalpipe.report.tables import signed, status_of

if TYPE_CHECKING:
    from evalpipe.results import Disparity, Results, SliceDifference, WorstSlice

DISPARITIES = {
    "demographic_parity": ("Demographic parity", "the range of the share of rows predicted as events"),
    "equal_opportunity": ("Equal opportunity", "the range of sensitivity"),
    "equalized_odds": (
        "Equalized odds",
        "the larger of the ranges of sensitivity and of the false positive rate, and the smaller of their ratios",
    ),
}
"""What disparities are called, and what they are the range of."""

REFERENCES = {"overall": "all rows", "rest": "the rows outside the slice"}


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A slice whose measure differs from the reference."""

    slice: str
    model: str
    measure: str
    reference: str
    difference: Number
    ratio: Number
    p: str
    adjusted: str


@dataclass(frozen=True, slots=True)
class DifferenceTable:
    """The differences that stand after adjustment, and how many were tested against which references."""

    rows: tuple[DifferenceRow, ...]
    tested: str
    against: tuple[str, ...]
    limit: str
    """The adjusted p-value below which a difference is listed."""


@dataclass(frozen=True, slots=True)
class DisparityRow:
    """How far the slices of one slicing lie apart in one respect."""

    slicing: str
    disparity: str
    model: str
    difference: Number
    ratio: Number
    ends: str
    used: str
    expected: str


@dataclass(frozen=True, slots=True)
class DisparityTable:
    """The disparities of a dataset, and what those that have a name of their own mean."""

    rows: tuple[DisparityRow, ...]
    meanings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A slice that a search found."""

    rank: str
    slice: str
    n: str
    events: str
    value: Number
    overall: str
    difference: str
    adjusted: str


@dataclass(frozen=True, slots=True)
class WorstTable:
    """The worst slices of a model by one measure, and the number of slices searched."""

    model: str
    measure: str
    searched: str
    rows: tuple[WorstRow, ...]


def difference_table(results: Results, dataset: str) -> DifferenceTable | None:
    """List a dataset's differences whose adjusted p-value is below 1 - level, least p-value first; None without any."""
    found = [d for d in results.slice_differences if d.dataset == dataset and d.variant == "original"]
    if not found:
        return None
    limit, names = 1 - results.intervals.level, names_of(results)
    kept = [d for d in found if d.p_holm is not None and d.p_holm < limit]
    kept.sort(key=lambda d: (d.p_holm or 0.0, d.p_value or 0.0))
    against = dict.fromkeys(_reference(d, names) for d in found)
    return DifferenceTable(
        rows=tuple(_difference(d, names) for d in kept),
        tested=numbers.count(sum(d.p_value is not None for d in found)),
        against=tuple(against),
        limit=numbers.plain(round(limit, 10)),
    )


def _reference(found: SliceDifference, names: Names) -> str:
    if isinstance(found.reference, str):
        return REFERENCES[found.reference]
    return names.slice(found.reference)


def _difference(found: SliceDifference, names: Names) -> DifferenceRow:
    return DifferenceRow(
        slice=names.slice(found.slice),
        model=names.model(found.model),
        measure=names.measure(found.metric, found.params, found.average, found.class_),
        reference=_reference(found, names),
        difference=signed(found.difference, found.lower, found.upper),
        ratio=ranged(found.ratio, found.ratio_lower, found.ratio_upper),
        p=numbers.p_value(found.p_value),
        adjusted=numbers.p_value(found.p_holm),
    )


def disparity_table(results: Results, dataset: str) -> DisparityTable | None:
    """List a dataset's disparities; None without any."""
    found = [d for d in results.disparities if d.dataset == dataset and d.variant == "original"]
    if not found:
        return None
    names = names_of(results)
    named = dict.fromkeys(DISPARITIES[d.disparity] for d in found if d.disparity in DISPARITIES)
    return DisparityTable(tuple(_disparity(d, names) for d in found), tuple(named))


def _disparity(found: Disparity, names: Names) -> DisparityRow:
    special = DISPARITIES.get(found.disparity)
    note = found.reason if found.status != "ok" and found.difference is not None else None
    difference = ranged(found.difference, found.lower, found.upper, note)
    if found.difference is None:
        difference = Number(f"{found.status}: {found.reason}" if found.reason else found.status)
    return DisparityRow(
        slicing=found.slicing,
        disparity=special[0] if special else names.measure(found.disparity, found.params, found.average),
        model=names.model(found.model),
        difference=difference,
        ratio=ranged(found.ratio, found.ratio_lower, found.ratio_upper),
        ends=" / ".join("–" if end is None else names.label(end) for end in (found.lowest, found.highest)),
        used=f"{numbers.count(found.used)} of {numbers.count(found.slices)}",
        expected="–" if found.expected is None else _rounded(found),
    )


def _rounded(found: Disparity) -> str:
    """Write what chance adds with the digits of the difference."""
    width = None if found.lower is None or found.upper is None else found.upper - found.lower
    digits = numbers.decimals(found.difference or 0.0, width)
    return numbers.signed(found.expected or 0.0, digits)


def worst_tables(results: Results, dataset: str) -> tuple[WorstTable, ...]:
    """Make a table of the worst slices for each model and measure that was searched."""
    names = names_of(results)
    groups: dict[tuple[str, str], list[WorstSlice]] = {}
    for found in results.worst_slices:
        if found.dataset == dataset and found.variant == "original":
            title = names.measure(found.metric, found.params, found.average)
            groups.setdefault((found.model, title), []).append(found)
    return tuple(
        WorstTable(
            names.model(model), title, numbers.count(rows[0].searched),
            tuple(_worst(row) for row in sorted(rows, key=lambda row: row.rank)),
        )
        for (model, title), rows in groups.items()
    )


def _worst(found: WorstSlice) -> WorstRow:
    value = ranged(found.value, found.lower, found.upper, None if found.status == "ok" else status_of(found))
    digits = len(value.value.partition(".")[2])
    return WorstRow(
        rank=str(found.rank),
        slice=wording.slice_name(found.slice),
        n=numbers.count(found.n),
        events="–" if found.events is None else numbers.count(found.events),
        value=value,
        overall=numbers.fixed(found.overall, digits),
        difference=numbers.signed(found.difference, digits),
        adjusted=numbers.p_value(found.p_adjusted),
    )


def ranged(value: float | None, lower: float | None, upper: float | None, note: str | None = None) -> Number:
    """Write a number and its interval; a dash where there is none."""
    if value is None:
        return Number("–", None, note)
    if lower is None or upper is None:
        return Number(numbers.number(value), None, note, numbers.exact(value))
    return Number(*numbers.interval(value, lower, upper), note, numbers.exact(value))
