"""The table of each class's measures: classes down, measures across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.page import Number
from evalpipe.report.tables import limited, overall, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Estimate, ModelSummary, Results

MEASURES_ABREAST = 4


@dataclass(frozen=True, slots=True)
class ClassTable:
    """One model's measures of each class against the rest: heads, and a row a class of its rows and its values."""

    model: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Number, ...]], ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(cell for _, _, cells in self.rows for cell in cells)


def class_tables(results: Results, dataset: str) -> tuple[ClassTable, ...]:
    """Make the tables of a dataset, for each model at most `MEASURES_ABREAST` measures each."""
    rows = [e for e in overall(results, dataset) if e.class_ is not None]
    sizes = class_sizes(results, dataset)
    return tuple(table for m in results.models for table in _tables(results, m, rows, sizes))


def class_sizes(results: Results, dataset: str) -> dict[str, str]:
    """Write the observations of each level of a dataset: its rows, or the sum of their frequency weights."""
    counted = results.weight is not None and results.weight.get("kind") == "frequency"
    found = next(summary for summary in results.datasets if summary.name == dataset)
    return {each.level: numbers.count(each.weight if counted else each.rows) for each in found.levels}


def _tables(
    results: Results, model: ModelSummary, estimates: list[Estimate], sizes: dict[str, str]
) -> Iterator[ClassTable]:
    titles = {metric.name: metric.title for metric in results.metrics}
    named: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in estimates:
        if e.model == model.name and e.class_ is not None:
            own = {key: value for key, value in e.params.items() if key != "prevalence" or isinstance(value, str)}
            named.setdefault((wording.measure(titles[e.metric], own),), {})[e.class_] = e
    heads = list(named)
    for start in range(0, len(heads), MEASURES_ABREAST):
        chosen = heads[start : start + MEASURES_ABREAST]
        yield ClassTable(model.label, tuple(str(head[0]) for head in chosen), tuple(
            (level, sizes[level], tuple(shown(named[head][level]) for head in chosen))
            for level in results.levels
        ))

