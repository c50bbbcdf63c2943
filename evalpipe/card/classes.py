"""The table of each class's measures: classes down, measures across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import Column, Heading, Row, Table, Text
from evalpipe.card.tables import overall, shown, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.results import Estimate, ModelSummary, Results

MEASURES_ABREAST = 4


def class_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the measures of each class, for each model at most `MEASURES_ABREAST` in a table; nothing without any."""
    estimates = [e for e in overall(results, dataset) if e.class_ is not None]
    if not estimates:
        return
    yield Heading("Measures of each class")
    yield Text("Each class is the event, against all others. Rows: those of this true class.",
               "lead")
    for model in results.models:
        yield from _tables(results, dataset, model, [e for e in estimates if e.model == model.name])


def class_sizes(results: Results, dataset: str) -> dict[str, str]:
    """Write the observations of each level of a dataset: its rows, or the sum of their frequency weights."""
    counted = results.weight is not None and results.weight.get("kind") == "frequency"
    summary = next(summary for summary in results.datasets if summary.name == dataset)
    return {level.level: numbers.count(level.weight if counted else level.rows) for level in summary.levels}


def _tables(results: Results, dataset: str, model: ModelSummary, estimates: Sequence[Estimate]) -> Iterator[Table]:
    titles, sizes = {metric.name: metric.title for metric in results.metrics}, class_sizes(results, dataset)
    measures: dict[str, dict[str | None, Estimate]] = {}
    for e in estimates:
        own = {key: value for key, value in e.params.items() if key != "prevalence" or isinstance(value, str)}
        measures.setdefault(wording.measure(titles[e.metric], own), {})[e.class_] = e
    for start in range(0, len(measures), MEASURES_ABREAST):
        together = list(measures)[start : start + MEASURES_ABREAST]
        rows = tuple(
            Row((level, sizes[level], *(shown(measures[name][level]) for name in together)))
            for level in results.levels)
        columns = (Column("Class"), Column("Rows", "num"), *(Column(name, "num") for name in together))
        yield Table(f"{model.label}{with_limits(results, rows)}", columns, rows, "classes",
                    label=f"Measures of each class, {model.label} on {dataset}")
