"""What the card says of slices: a table a model, slices down and key measures across."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.disparities import (
    DifferenceTable,
    DisparityTable,
    WorstTable,
    difference_table,
    disparity_table,
    worst_tables,
)
from evalpipe.report.names import names_of
from evalpipe.report.page import Number
from evalpipe.report.tables import is_whole, key_measures, limited, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.results import DatasetSummary, Estimate, Results, Slice, SliceSummary

MEASURES_ABREAST = 6
"""Measures side by side in one table; more are shared out evenly among further tables."""

CONDITIONS = "Conditions"
"""The heading of slices that are each a condition of their own."""

Key = tuple[tuple[str, object], ...]
"""The labels of a slice, for looking it up; none of all rows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its options and its average over classes, and what it is called."""

    metric: str
    params: tuple[tuple[str, object], ...]
    average: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """A dataset's estimates by slice: its slicings in order, and each estimate by model, slice and measure.

    ``sizes`` are the rows of each slice and the events among them.
    """

    slicings: Mapping[str, tuple[Slice, ...]]
    measures: tuple[Measure, ...]
    found: Mapping[tuple[str, Key, Measure], Estimate]
    sizes: Mapping[Key, SliceSummary | DatasetSummary]

    def at(self, model: str, labels: Slice | None, measure: Measure) -> Estimate | None:
        """Return an estimate, that over all rows where ``labels`` is None; None where there is none."""
        return self.found.get((model, key(labels), measure))


@dataclass(frozen=True, slots=True)
class Mark:
    """A number of the table, with the letter of the remark on it."""

    number: Number
    letter: str | None


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A slice and its numbers; ``few`` says why a slice has none, ``heading`` names the slicing that begins here."""

    heading: str | None
    name: str
    n: str
    events: str
    cells: tuple[Mark, ...]
    few: str | None


@dataclass(frozen=True, slots=True)
class SliceTable:
    """One model's key measures by slice, over all rows first, and the remarks by their letters."""

    model: str
    heads: tuple[str, ...]
    rows: tuple[SliceRow, ...]
    remarks: tuple[tuple[str, str], ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(mark.number for row in self.rows for mark in row.cells)


@dataclass(frozen=True, slots=True)
class SlicesView:
    """What the card says of the slices of one dataset."""

    dataset: str
    anchor: str
    tables: tuple[SliceTable, ...]
    differences: DifferenceTable | None
    disparities: DisparityTable | None
    worst: tuple[WorstTable, ...]


def key(labels: Slice | None) -> Key:
    """Return the labels of a slice as a key."""
    return tuple((labels or {}).items())


def sliced(results: Results, dataset: str) -> Sliced:
    """Gather a dataset's estimates by slice, of the models' original predictions."""
    names = names_of(results)
    slicings: dict[str, dict[Key, Slice]] = {}
    found: dict[tuple[str, Key, Measure], Estimate] = {}
    for e in results.rows:
        if e.dataset != dataset or e.variant != "original" or e.class_ is not None:
            continue
        name = names.measure(e.metric, e.params, e.average)
        found[e.model, key(e.slice), Measure(e.metric, tuple(e.params.items()), e.average, name)] = e
        if e.slice is not None:
            title = CONDITIONS if names.is_condition(e.slice) else " × ".join(e.slice)
            slicings.setdefault(title, {})[key(e.slice)] = e.slice
    wanted = key_measures(results)
    measures = dict.fromkeys(measure for _, _, measure in found if measure.metric in wanted)
    sizes: dict[Key, SliceSummary | DatasetSummary] = {key(s.slice): s for s in results.slices if s.dataset == dataset}
    sizes |= {key(None): summary for summary in results.datasets if summary.name == dataset}
    return Sliced({title: tuple(each.values()) for title, each in slicings.items()}, tuple(measures), found, sizes)


def slices_views(results: Results) -> tuple[SlicesView, ...]:
    """Write what is known of the slices of every dataset that has some."""
    views = (_view(results, dataset.name, place) for place, dataset in enumerate(results.datasets, 1))
    return tuple(view for view in views if view.tables or view.worst)


def _view(results: Results, dataset: str, place: int) -> SlicesView:
    return SlicesView(
        dataset=dataset,
        anchor=f"slices-{place}",
        tables=slice_tables(results, dataset),
        differences=difference_table(results, dataset),
        disparities=disparity_table(results, dataset),
        worst=worst_tables(results, dataset),
    )


def slice_tables(results: Results, dataset: str) -> tuple[SliceTable, ...]:
    """Make the tables of a dataset's slices, for each model at most `MEASURES_ABREAST` measures each."""
    held = sliced(results, dataset)
    if not held.slicings:
        return ()
    many = len(held.measures)
    tables = -(-many // MEASURES_ABREAST)
    ends = [many * place // max(tables, 1) for place in range(tables + 1)]
    return tuple(
        _table(results, held, (model.name, model.label), held.measures[start:end])
        for model in results.models
        for start, end in pairwise(ends)
    )


def _table(results: Results, held: Sliced, model: tuple[str, str], measures: Sequence[Measure]) -> SliceTable:
    names = names_of(results)
    letters: dict[str, str] = {}
    whole = frozenset(metric.name for metric in results.metrics if is_whole(metric))
    lines: list[tuple[str | None, str, Slice | None]] = [(None, "All rows", None)]
    for title, slices in held.slicings.items():
        lines += [(None if i else title, names.slice(labels), labels) for i, labels in enumerate(slices)]
    rows = tuple(
        _row(
            heading, name, held.sizes.get(key(labels)), [held.at(model[0], labels, measure) for measure in measures],
            whole, letters,
        )
        for heading, name, labels in lines
    )
    remarks = tuple((letter, remark) for remark, letter in letters.items())
    return SliceTable(model[1], tuple(measure.name for measure in measures), rows, remarks)


def _row(
    heading: str | None, name: str, size: SliceSummary | DatasetSummary | None, estimates: Sequence[Estimate | None],
    whole: frozenset[str], letters: dict[str, str],
) -> SliceRow:
    known = [e for e in estimates if e is not None]
    few = next((e.reason or e.status for e in known if e.status == "insufficient"), None)
    return SliceRow(
        heading=heading,
        name=name,
        n="–" if size is None else numbers.count(size.n),
        events="–" if size is None or size.events is None else numbers.count(size.events),
        cells=() if few else tuple(_mark(e, whole, letters) for e in estimates),
        few=few,
    )


def _mark(e: Estimate | None, whole: frozenset[str], letters: dict[str, str]) -> Mark:
    """Write an estimate; what is remarked on it gets the next letter, or the one it has already."""
    if e is None:
        return Mark(Number("–"), None)
    written = shown(e, whole=e.metric in whole)
    remark = written.note if e.value is not None else written.value
    if remark is None:
        return Mark(written, None)
    letter = letters.setdefault(remark, _letter(len(letters)))
    return Mark(replace(written, note=None) if e.value is not None else Number(e.status), letter)


def _letter(place: int) -> str:
    """Return a letter for a place, from 0; from 26 on two of them."""
    before = _letter(place // 26 - 1) if place >= 26 else ""
    return before + "abcdefghijklmnopqrstuvwxyz"[place % 26]
