"""The card's first section: warnings, and the key measures of each dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.report import desirability, wording
from evalpipe.report.page import Aside, Box, Bullets, Code, Column, Heading, Row, Section, Table, Text
from evalpipe.report.tables import key_measures, metric_tables, overall, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.report.page import Block
    from evalpipe.results import Results


def sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    yield Section("summary", "Summary", (_warnings(results), *desirability.summary(results), *_key_measures(results)))


def _warnings(results: Results) -> Block:
    if not results.warnings:
        return Text("The run gave no warnings.")
    title = f"{len(results.warnings)} {'warning' if len(results.warnings) == 1 else 'warnings'}"
    items = tuple((Code(warning.code), f" {warning.message}") for warning in results.warnings)
    return Box((Heading(title), Bullets(items)), "warnings", label=title)


def _key_measures(results: Results) -> Iterator[Table]:
    for dataset in results.datasets:
        if not overall(results, dataset.name):
            continue
        for table in metric_tables(results, dataset.name, key_measures(results)):
            columns = (Column("Measure", style="what"), *(Column(model, "num") for model in table.models))
            rows = tuple(Row(((row.title, Aside(_about(row.options, row.better), "definition")), *row.cells))
                         for row in table.rows)
            yield Table(f"Key measures on {dataset.name}{with_limits(results, rows)}", columns, rows, "key")


def _about(options: str, better: str) -> str:
    return ", ".join(filter(None, (options, wording.better(better))))
