"""The card's appendix of definitions: what each measure means, and how its interval is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import BlockGroup, Code, Column, Formula, Heading, Row, Section, Table, Text
from evalpipe.card.references import cited
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import MetricSummary, Results

CELLS = (
    "TP: events predicted as events. FP: non-events predicted as events. FN: events predicted as non-events. TN: "
    "non-events predicted as non-events. Each counts rows (with case weights: their total weight); n is the sum of "
    "the four."
)


def sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    yield Section("definitions", "Definitions of the measures", tuple(_blocks(results)), part="appendix")


def _blocks(results: Results) -> Iterator[Block]:
    if any("TP" in metric.formula or "FP" in metric.formula for metric in results.metrics):
        yield Text(CELLS)
    for metric in results.metrics:
        yield BlockGroup(tuple(_measure(results, metric)), "measure")
        yield from _matrices(results, metric)


def _measure(results: Results, metric: MetricSummary) -> Iterator[Block]:
    """Say what a measure means, and how its interval is made."""
    yield Heading((metric.title, " ", Code(metric.name)), anchor=f"measure-{metric.name}")
    yield Text(metric.definition)
    if metric.formula:
        yield Formula(metric.name, metric.formula)
    reason = wording.reason(results.intervals.methods.get(metric.name, ""))
    interval = f" Interval: {reason}." if reason else ""
    about = f"Range {numbers.bounds(*metric.range)}. {wording.BETTER_SENTENCES[metric.direction]} "
    source = (" Reference: ", *cited(metric.reference), ".") if metric.reference else ()
    yield Text((about, wording.undefined(metric), interval, *source), "small")


def _matrices(results: Results, metric: MetricSummary) -> Iterator[Table]:
    """Show what each pair of a true and a predicted level weighs or costs, where the measure depends on that."""
    columns = (Column("Truth"), *(Column(level, "num") for level in results.levels))
    for title, matrix in metric.matrices.items():
        rows = tuple(
            Row((level, *map(numbers.plain, weights))) for level, weights in zip(results.levels, matrix, strict=True))
        yield Table(f"{title.capitalize()}: true level by row, predicted level by column", columns, rows, "matrix-of",
                    label=f"{metric.title}: {title}")
