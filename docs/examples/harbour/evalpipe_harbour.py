"""What Harbour Bank adds to a card: a section, a figure and a finding. None of them computes a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import Axis, ticks_between
from evalpipe.card.figures.panel import RowLabel, rows
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.card.page import Column, Link, Row, Section, Table, Text
from evalpipe.findings.claims import Claim
from evalpipe.findings.words import finding
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures import Drawing
    from evalpipe.card.figures.context import Context
    from evalpipe.results import DatasetSummary, Results
    from evalpipe.results.document import Finding

ENOUGH = 100
"""The events that the bank asks for in each evaluated dataset."""


def house_rules(results: Results) -> Iterator[Section]:
    """Write the bank's own rules beside what was evaluated."""
    evaluated = [dataset for dataset in results.datasets if dataset.role == "evaluate"]
    if results.event is not None:
        rows = tuple(Row((dataset.name, numbers.count(dataset.events or 0), str(ENOUGH))) for dataset in evaluated)
        columns = (Column("Dataset"), Column("Events", "num"), Column("Required", "num"))
        yield Section("house-rules", "House rules of Harbour Bank", (
            Text(("A model is put to use with enough events in each dataset. See ", Link("Data", "data"), "."), "lead"),
            Table("Events in evaluated datasets", columns, rows)), part="use")


def rows_by_level(context: Context) -> Drawing | None:
    """Draw the number of rows of each level of the outcome; nothing where the outcome is a number."""
    levels = context.dataset.levels
    if not levels:
        return None
    top = 1.1 * max(level.rows for level in levels)
    sheet = Sheet()
    labels = [RowLabel(f"{level.level} ({numbers.count(level.rows)})") for level in levels]
    panel = rows(sheet, labels, Axis("Rows", 0, top, ticks_between(0, top, 4))).panel
    for place, level in enumerate(levels):
        y = panel.top + (place + 0.5) * panel.height / len(levels)
        right = panel.across(level.rows)
        sheet.path(f"M{panel.left:.1f},{y - 6:.1f}H{right:.1f}v12H{panel.left:.1f}z", "fill", "muted")
        panel.record_values(level.level, rows=[float(level.rows)])
    said = ", ".join(f"{level.level}: {numbers.count(level.rows)}" for level in levels)
    texts = (f"{said}.", "Rows of each level of the outcome.", f"Rows of each level on {context.dataset.name}. {said}.")
    return drawing(f"levels-{context.place}", "Rows by level", texts, [sheet])


def enough_events(results: Results) -> Iterator[Claim]:
    """Whether each evaluated dataset has the events that the bank asks for."""
    for dataset in results.datasets:
        if dataset.role == "evaluate" and dataset.events is not None:
            yield Claim(dataset, enough if dataset.events >= ENOUGH else too_few)


def enough(_: Results, datasets: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Say in which datasets the events are enough."""
    yield finding("holds", 30, f"Harbour Bank asks for {ENOUGH} events: {_counted(datasets)}.", "house-rules")


def too_few(_: Results, datasets: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Say in which datasets the events are too few."""
    yield finding("fails", 90, f"Harbour Bank asks for {ENOUGH} events: only {_counted(datasets)}.", "house-rules")


def _counted(datasets: Sequence[DatasetSummary]) -> str:
    return ", ".join(f"{numbers.count(dataset.events or 0)} in {dataset.name}" for dataset in datasets)
