"""The card's section on slices: the key measures in each, how they differ, and how far apart they lie."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Code, Column, Figures, Group, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import shown, with_limits
from evalpipe.card.wording import names_of
from evalpipe.chapters.slices import figures
from evalpipe.chapters.slices.card_disparities import differences, disparities, worst_slices
from evalpipe.chapters.slices.card_sliced import sliced
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.slices.card_sliced import Measure, Sliced
    from evalpipe.results import Estimate, ModelSummary, Results, Slice

MEASURES_ABREAST = 6
"""Measures side by side in one table; more are shared out evenly among further tables."""

LEAD = (
    "The key measures in each slice. A slice with too few rows has no numbers. All measures of all slices are in "
)
DISPARITIES = Procedure(
    "Disparities",
    "How far apart the slices of one slicing are: the largest value minus the smallest, and the smallest over the "
    "largest, of slices that are large enough and have a value. Chance alone makes a range larger than zero, more so "
    "with small slices; “Expected from chance” estimates by how much, from the replicates.",
)
WORST = Procedure(
    "Worst slices",
    "Combinations of the named columns are searched for the groups in which a measure is worst. Each p-value tests "
    "the difference from all rows, by a normal approximation with its bootstrap error. The worst of many groups look "
    "worse than they are, so p-values are multiplied by the number of groups searched, and limits of the difference "
    "hold for all of these at once (Bonferroni). The corrected difference is the mean of the true differences that may "
    "lie behind the one found, as estimated from all groups searched; a limit keeps it from correcting a lone bad "
    "group away. The limits beside a value are those of a group that was not chosen.",
    "Jiang, W. (2020). On general maximum likelihood empirical Bayes estimation of heteroscedastic IID normal means. "
    "Electronic Journal of Statistics 14(1), 2272–2297.",
)


def sections(results: Results) -> Iterator[Section]:
    """Write the section; none where no dataset has slices."""
    blocks = tuple(block for dataset in results.datasets for block in _dataset(results, dataset.name))
    if blocks:
        lead = Text((LEAD, Code("estimates.csv"), " and ", Code("results.json"), "."), "lead")
        yield Section("slices", "Slices", (lead, *blocks), part="groups")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how disparities and the worst slices were found, where there are any."""
    if results.disparities:
        yield DISPARITIES
    if results.worst_slices:
        yield WORST


def _dataset(results: Results, dataset: str) -> Iterator[Block]:
    """Write what is known of the slices of a dataset; nothing where it has none."""
    by_slice, worst = sliced(results, dataset), tuple(worst_slices(results, dataset))
    if not by_slice.slicings and not worst:
        return
    yield Heading(f"Slices of {dataset}")
    if by_slice.slicings:
        yield from slice_tables(results, dataset, by_slice)
        count = min(figures.MOST_FORESTS, len(by_slice.measures))
        lead = f"Of the first {count} key {'measure' if count == 1 else 'measures'}; all are in "
        yield Figures(partial(figures.slice_forests, results, dataset),
                      above=(Heading("Forest plots", 4), Text((lead, Code("estimates.csv"), "."), "lead")))
    yield from differences(results, dataset)
    yield from disparities(results, dataset)
    yield from worst


def slice_tables(results: Results, dataset: str, by_slice: Sliced) -> Iterator[Table]:
    """Yield the key measures of each model by slice, over all rows first, at most `MEASURES_ABREAST` in a table."""
    many = len(by_slice.measures)
    tables = -(-many // MEASURES_ABREAST)
    ends = [many * place // max(tables, 1) for place in range(tables + 1)]
    for model in results.models:
        for start, end in pairwise(ends):
            yield _table(results, dataset, by_slice, model, by_slice.measures[start:end])


def _table(
    results: Results, dataset: str, by_slice: Sliced, model: ModelSummary, measures: Sequence[Measure]
) -> Table:
    names, letters = names_of(results), dict[str, str]()
    whole = frozenset(metric.name for metric in results.metrics if metric.is_whole)

    def row(name: str, labels: Slice | None) -> Row:
        size, estimates = by_slice.size(labels), [by_slice.at(model.name, labels, measure) for measure in measures]
        head = (name, "–" if size is None else numbers.count(size.n),
                "–" if size is None or size.events is None else numbers.count(size.events))
        few = next((e.reason or e.status for e in estimates if e is not None and e.status == "insufficient"), None)
        if few:
            return Row((*head, f"insufficient: {few}"), "few")
        return Row((*head, *(_number(e, whole, letters) for e in estimates)))

    rows: list[Row | Group] = [row("All rows", None)]
    for title, slices in by_slice.slicings.items():
        rows += [Group(title), *(row(names.slice(labels), labels) for labels in slices)]
    columns = (Column("Slice"), Column("n", "num"), Column("Events", "num", shown=results.event is not None),
               *(Column(measure.name, "num") for measure in measures))
    return Table(
        f"{model.label} in slices of {dataset}{with_limits(results, rows)}", columns, tuple(rows), "compact sliced",
        label=f"Slices of {dataset}, {model.label}", rest="estimates.csv",
        remarks=tuple((letter, remark) for remark, letter in letters.items()))


def _number(e: Estimate | None, whole: frozenset[str], letters: dict[str, str]) -> Cell:
    """Write an estimate; what is remarked on it gets the next letter, or the one it has already."""
    if e is None:
        return "–"
    number = shown(e, whole=e.metric in whole)
    remark = number.note if e.value is not None else number.value
    if remark is None:
        return number
    letter = letters.setdefault(remark, _letter(len(letters)))
    return Number(e.status, letter=letter) if e.value is None else replace(number, note=None, letter=letter)


def _letter(place: int) -> str:
    """Return a letter for a place, from 0; from 26 on two of them."""
    before = _letter(place // 26 - 1) if place >= 26 else ""
    return before + "abcdefghijklmnopqrstuvwxyz"[place % 26]
