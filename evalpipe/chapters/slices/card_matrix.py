"""The matrix of groups and measures: the key measures of each model in each slice, tinted by verdict, worst first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evalpipe.card.page import Column, Fold, Group, Number, Row, Strong, Styled, Table, Text
from evalpipe.card.tables import MEASURES_ABREAST, below, evenly, metric_of, row_anchor, shown, with_limits
from evalpipe.card.wording import names_of
from evalpipe.findings.margins import margin_between, margin_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.card.page import Cell
    from evalpipe.chapters.slices.figures import Measure, Sliced
    from evalpipe.chapters.slices.records import SliceDifference
    from evalpipe.results import Estimate, Results, Slice

Verdict = Literal["worse", "within", "undecided"]

SIGNS: dict[Verdict, str] = {"worse": "✗", "within": "✓", "undecided": "?"}
"""What stands before a value, so that its verdict is seen without the tint."""

FIRST = 10
"""Rows of the matrix that are shown at once; the others are folded, and in the annex of the PDF."""

MORE = "slices-more"
"""The anchor of the section in the annex of the PDF that holds the other rows."""


def verdict_of(results: Results, difference: SliceDifference, value: float) -> Verdict | None:
    """Return whether a measure is worse in a slice than in its reference by more than the margin.

    It is worse where the interval of the difference lies beyond the margin and the adjusted p-value is small; it is
    within where the interval leaves out all that lies beyond. Without a direction or limits there is no verdict.
    """
    side = {"maximize": -1, "minimize": 1}.get(metric_of(results, difference.metric).direction, 0)
    if difference.difference is None or difference.lower is None or difference.upper is None or not side:
        return None
    margin = _margin(results, difference, value)
    least, most = sorted((side * difference.lower, side * difference.upper))
    is_significant = difference.p_holm is not None and difference.p_holm < 1 - results.intervals.level
    if least > margin and is_significant and difference.status == "ok":
        return "worse"
    return "within" if most <= margin else "undecided"


def _margin(results: Results, difference: SliceDifference, value: float) -> float:
    """Return the margin of a difference, which makes the value of a slice."""
    return margin_between(results, "groups", difference.metric, value - (difference.difference or 0.0))


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A row of the matrix: a slice for a model, or for all models where it has too few rows (``few``).

    ``harm`` is how many rows are in it times by how many margins a measure is worse; 0 where none is.
    """

    labels: Slice | None
    model: str
    verdicts: Mapping[Measure, Verdict]
    harm: float = 0.0
    few: str = ""


def _group_rows(results: Results, dataset: str, by_slice: Sliced) -> list[GroupRow]:
    """Return the rows of all slices of a dataset, those with most harm first, those of too few rows last."""
    differences = {d.about: d for d in results.slice_differences if d.dataset == dataset}
    rows = []
    for labels in (labels for slices in by_slice.slicings.values() for labels in slices):
        size = by_slice.size(labels)
        for model in results.models:
            estimates = {measure: by_slice.at(model.name, labels, measure) for measure in by_slice.measures}
            few = next((str(e.reason or e.status) for e in estimates.values() if e and e.status == "insufficient"), "")
            if few and model is not results.models[0]:
                continue
            verdicts: dict[Measure, Verdict] = {}
            harms = [0.0]
            for measure, e in estimates.items():
                difference = differences.get(e.about) if e is not None else None
                if e is None or e.value is None or difference is None:
                    continue
                if verdict := verdict_of(results, difference, e.value):
                    verdicts[measure] = verdict
                if verdict == "worse":
                    margin = _margin(results, difference, e.value) or 1.0
                    harms.append((size.n if size else 0) * abs(difference.difference or 0.0) / margin)
            rows.append(GroupRow(labels, model.name, verdicts, max(harms), few))
    return sorted(rows, key=lambda row: (bool(row.few), -row.harm))


def lead(results: Results, dataset: str, references: Sequence[str]) -> Iterator[Text]:
    """Yield the sentences that say what the signs of the matrix mean; nothing where no slice is compared."""
    tested = {d.metric for d in results.slice_differences if d.dataset == dataset and d.lower is not None}
    if not tested:
        return
    margin = margin_of(results, "groups")
    errors = any(metric_of(results, metric).direction == "minimize" for metric in tested)
    of_errors = f"; of errors, {numbers.given_percent(margin)} of their value" if errors else ""
    yield Text(
        f"✗ worse than {' or '.join(references)} by more than the margin ({numbers.plain(margin)}{of_errors}), after "
        "correction for the number of slices (Holm). ✓ not worse by more than that. ? these data do not decide.",
        "lead")


def matrices(results: Results, dataset: str, by_slice: Sliced) -> Iterator[Table]:
    """Yield the matrix of slices and key measures, over all rows first, with at most `MEASURES_ABREAST` measures."""
    rows = _group_rows(results, dataset, by_slice)
    places = {measure: below(e for (_, _, of), e in by_slice.estimates.items() if of == measure)
              for measure in by_slice.measures}
    for measures in evenly(by_slice.measures, MEASURES_ABREAST):
        yield _matrix(results, dataset, by_slice, rows, {measure: places[measure] for measure in measures})


def _matrix(
    results: Results, dataset: str, by_slice: Sliced, group_rows: Sequence[GroupRow], places: Mapping[Measure, int]
) -> Table:
    """Return the table of some measures, which have so many decimals, with remarks by letter."""
    names, letters, several = names_of(results), dict[str, str](), len(results.models) > 1
    counts = frozenset(metric.name for metric in results.metrics if metric.is_whole)

    def row(group: GroupRow) -> Row:
        """Return the row of a slice, or of all rows: its name, its model, its sizes and its measures."""
        size = by_slice.size(group.labels)
        name = "All rows" if group.labels is None else names.slice(group.labels)
        head = (name, "all" if group.few and several else names.model(group.model),
                "–" if size is None else numbers.count(size.n),
                "–" if size is None or size.events is None else numbers.count(size.events))
        if group.few:
            return Row((*head, group.few), "few")
        estimates = {measure: by_slice.at(group.model, group.labels, measure) for measure in places}
        return Row((*head, *(_cell(e, group.verdicts.get(measure), (counts, letters), places[measure])
                             for measure, e in estimates.items())),
                   anchor=row_anchor("slices", [e for e in estimates.values() if e is not None]))

    first = [row(GroupRow(None, model.name, {})) for model in results.models]
    heading = [Group("Slices, worst first")] if any(group.harm for group in group_rows) else []
    rows: tuple[Row | Group, ...] = (*first, *heading, *map(row, group_rows))
    columns = (
        Column("Slice"), Column("Model", shown=several), Column("n", "num"),
        Column("Events", "num", shown=results.event is not None), *(Column(measure.name, "num") for measure in places))
    names_of_measures = "" if len(places) == len(by_slice.measures) else (
        f", {next(iter(places)).name} to {list(places)[-1].name}")
    return Table(
        f"Measures in slices of {dataset}{names_of_measures}{with_limits(results, rows)}", columns, rows,
        "compact sliced", label=f"Slices of {dataset}{names_of_measures}", rest="estimates.csv",
        remarks=tuple((letter, remark) for remark, letter in letters.items()), fold=Fold(len(first) + FIRST, MORE))


def _cell(
    estimate: Estimate | None, verdict: Verdict | None, marks: tuple[frozenset[str], dict[str, str]], places: int
) -> Cell:
    """Return an estimate with the sign of its verdict; its remark gets the next letter, or the one it has already.

    ``marks`` are the measures that count, and the letters of the remarks so far.
    """
    if estimate is None:
        return "–"
    counts, letters = marks
    number = shown(estimate, whole=estimate.metric in counts, places=places)
    remark = number.note if estimate.value is not None else number.value
    if remark is not None:
        letter = letters.setdefault(remark, _letter(len(letters)))
        number = replace(number, note=None, letter=letter) if estimate.value is not None else (
            Number(estimate.status, letter=letter))
    return number if verdict is None else Styled((Strong(SIGNS[verdict], "sign"), " ", number), verdict)


def _letter(index: int) -> str:
    """Return the letter of an index from 0; two letters from index 26 on."""
    prefix = _letter(index // 26 - 1) if index >= 26 else ""
    return prefix + "abcdefghijklmnopqrstuvwxyz"[index % 26]
