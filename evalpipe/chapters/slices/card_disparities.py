"""How slices differ: from their reference, from each other, and the worst that a search came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import Code, Column, Heading, Number, Row, Table, Text
from evalpipe.card.tables import MOST_ROWS, ranged, signed, status_of
from evalpipe.card.wording import Names, names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.chapters.slices.records import Disparity, SliceDifference, WorstSlice
    from evalpipe.results import Results

DISPARITIES = {
    "demographic_parity": ("Demographic parity", "the range of the share of rows predicted as events"),
    "equal_opportunity": ("Equal opportunity", "the range of sensitivity"),
    "equalized_odds": (
        "Equalized odds",
        "the larger of the ranges of sensitivity and of the false positive rate, and the smaller of their ratios",
    ),
}
"""What disparities are called, and what they are the range of."""

APART = (
    "How far apart the slices of a slicing are: the largest value minus the smallest, and the smallest over the "
    "largest."
)
BY_CHANCE = "Chance alone makes a range larger; the last column estimates by how much."

REFERENCES = {"overall": "all rows", "rest": "the rows outside the slice"}


def differences(results: Results, dataset: str) -> Iterator[Block]:
    """List a dataset's differences whose adjusted p-value is below 1 - level, least p-value first; nothing if none."""
    tested = [d for d in results.slice_differences if d.dataset == dataset and d.variant == "original"]
    if not tested:
        return
    limit, names = 1 - results.intervals.level, names_of(results)
    listed = [d for d in tested if d.p_holm is not None and d.p_holm < limit]
    listed.sort(key=lambda d: (d.p_holm or 0.0, d.p_value or 0.0))
    references = tuple(dict.fromkeys(_reference(d, names) for d in tested))
    yield Heading("Differences from the reference", 4)
    yield _lead(tested, " or ".join(references), numbers.plain(round(limit, 10)), some=bool(listed))
    if listed:
        columns = (
            Column("Slice"), Column("Model", shown=len(results.models) > 1), Column("Measure"),
            Column("Reference", shown=len(references) > 1), Column("Difference", "num"), Column("Ratio", "num"),
            Column("p-value", "num", "whole"), Column("Adjusted p", "num", "whole"))
        yield Table(
            f"Slices of {dataset} that differ from {' or '.join(references)}", columns,
            tuple(_difference(d, names) for d in listed), label=f"Differences from the reference on {dataset}",
            most=MOST_ROWS)


def _lead(tested: Sequence[SliceDifference], references: str, limit: str, *, some: bool) -> Text:
    """Say how many differences were tested, which are listed, and how their p-values and limits are made."""
    count = sum(d.p_value is not None for d in tested)
    listed = (f"Those with an adjusted p-value below {limit} are listed." if some else
              f"None has an adjusted p-value below {limit}.")
    text = (
        f"{numbers.count(count)} {'difference was' if count == 1 else 'differences were'} tested, each slice against "
        f"{references}. {listed} p-values are adjusted (Holm) over the slices of each model and measure: for each, "
        f"the chance of listing any slice that does not differ stays below {limit}. The interval of a difference "
        "comes from the same test as its p-value, for that difference alone; ratios have their own limits. All are "
        "in "
    )
    return Text((text, Code("results.json"), "."), "lead")


def _reference(difference: SliceDifference, names: Names) -> str:
    if isinstance(difference.reference, str):
        return REFERENCES[difference.reference]
    return names.slice(difference.reference)


def _difference(d: SliceDifference, names: Names) -> Row:
    return Row((
        names.slice(d.slice), names.model(d.model), names.measure(d.metric, d.params, d.average, d.class_),
        _reference(d, names), signed(d.difference, d.lower, d.upper), ranged(d.ratio, d.ratio_lower, d.ratio_upper),
        numbers.p_value(d.p_value), numbers.p_value(d.p_holm)))


def disparities(results: Results, dataset: str) -> Iterator[Block]:
    """List a dataset's disparities; nothing without any."""
    rows = [d for d in results.disparities if d.dataset == dataset and d.variant == "original"]
    if not rows:
        return
    names = names_of(results)
    meanings = dict.fromkeys("{} is {}.".format(*DISPARITIES[d.disparity]) for d in rows if d.disparity in DISPARITIES)
    yield Heading("Disparities", 4)
    yield Text(" ".join((APART, *meanings, BY_CHANCE)), "lead")
    columns = (
        Column("Slicing"), Column("Disparity"), Column("Model", shown=len(results.models) > 1),
        Column("Difference", "num"), Column("Ratio", "num"), Column("Lowest / highest"), Column("Slices used"),
        Column("Expected from chance", "num"))
    yield Table(f"Disparities between slices of {dataset}", columns, tuple(_disparity(d, names) for d in rows),
                label=f"Disparities on {dataset}")


def _disparity(d: Disparity, names: Names) -> Row:
    name = DISPARITIES[d.disparity][0] if d.disparity in DISPARITIES else (
        names.measure(d.disparity, d.params, d.average))
    difference = Number(status_of(d)) if d.difference is None else ranged(
        d.difference, d.lower, d.upper, None if d.status == "ok" else d.reason)
    return Row((
        d.slicing, name, names.model(d.model), difference, ranged(d.ratio, d.ratio_lower, d.ratio_upper),
        " / ".join("–" if end is None else names.label(end) for end in (d.lowest, d.highest)),
        f"{numbers.count(d.used)} of {numbers.count(d.slices)}", _by_chance(d)))


def _by_chance(d: Disparity) -> str:
    """Write the difference expected from chance, with the digits of the difference."""
    if d.expected is None:
        return "–"
    return numbers.fixed(d.expected, numbers.decimals(d.difference or 0.0, d.lower, d.upper))


AS_FOUND = (
    "Values and differences are as found, and so too bad on average: the groups were chosen for them. Corrected "
    "differences, and their limits, allow for the search.")


def worst_slices(results: Results, dataset: str) -> Iterator[Block]:
    """Write a table of the worst slices for each model and measure that was searched; nothing without a search."""
    names = names_of(results)
    searches: dict[tuple[str, str], list[WorstSlice]] = {}
    for row in results.worst_slices:
        if row.dataset == dataset and row.variant == "original":
            measure = names.measure(row.metric, row.params, row.average)
            searches.setdefault((names.model(row.model), measure), []).append(row)
    if searches:
        yield Heading("Worst slices", 4)
    columns = (
        Column("Rank", "num"), Column("Slice"), Column("n", "num"),
        Column("Events", "num", shown=results.event is not None), Column("Value", "num"), Column("All rows", "num"),
        Column("Difference", "num"), Column("Corrected difference", "num"), Column("Adjusted p", "num", "whole"))
    for (model, measure), rows in searches.items():
        count = numbers.count(rows[0].searched)
        yield Text(f"Worst of {count} groups searched; p-values are corrected for that.", "lead")
        yield Table(
            f"{model}: worst slices of {dataset} by {measure}", columns,
            tuple(_worst(row) for row in sorted(rows, key=lambda row: row.rank)),
            label=f"Worst slices of {dataset}, {model}", heading=1)
        yield Text(AS_FOUND, "small")


def _worst(row: WorstSlice) -> Row:
    value = ranged(row.value, row.lower, row.upper, None if row.status == "ok" else status_of(row))
    digits = len(value.value.partition(".")[2])
    return Row((
        str(row.rank), wording.slice_name(row.slice), numbers.count(row.n),
        "–" if row.events is None else numbers.count(row.events), value, numbers.fixed(row.overall, digits),
        numbers.signed(row.difference, digits),
        ranged(row.difference_corrected, row.difference_lower, row.difference_upper), numbers.p_value(row.p_adjusted)))
