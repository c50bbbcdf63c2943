"""What the card says of rows that models were fitted to, of measures corrected for that, and what is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Cell, Column, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import ranged, reason_texts, row_anchor, with_intervals
from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule
from evalpipe.findings.words import anchor, finding, grouped
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.chapters.optimism.records import Optimism
    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding


LEAD = (
    "Measures on rows that a model was fitted to, and corrected for that. Optimism: the value of a bootstrap fit in "
    "its own sample minus that on the original rows, on average; of a loss it is negative. Corrected: the apparent "
    "value minus the optimism. Out of bag: the value on the rows that a bootstrap fit had not seen, on average."
)
COLUMNS = (
    Column("Measure", style="what"), Column("Apparent", "num"), Column("Optimism", "num"), Column("Corrected", "num"),
    Column("Interval", "num", "limits"), Column("Out of bag", "num"),
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the section, with a table for each model that has bootstrap fits."""
    blocks = [block for rows in grouped(results.optimism, lambda row: (row.dataset, row.model))
              for block in _blocks_of_model(results, rows)]
    if blocks:
        yield Section("optimism", "Optimism", (Text(LEAD, "lead"), *blocks), part="results")


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Yield the warning that measures on a dataset are too good because models were fitted to its rows."""
    if any(summary.name == dataset and summary.trained_on for summary in results.datasets):
        more = " The section on optimism corrects them." if any(
            row.dataset == dataset for row in results.optimism) else ""
        yield f"The models were fitted to these rows: their measures here are apparent, and too good.{more}"


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how optimism was estimated."""
    if results.optimism:
        yield Procedure("Optimism", (
            "Each bootstrap fit repeats the whole procedure on a sample of the training rows, which the user drew. It "
            "is measured in its sample, each row counted as often as it was drawn, and on the original rows; the mean "
            "of the differences is the optimism. What the fits leave out, such as a choice of variables that was made "
            "once, is not corrected."),
            "Harrell, F. E., Lee, K. L. & Mark, D. B. (1996). Multivariable prognostic models: issues in developing "
            "models, evaluating assumptions and adequacy, and measuring and reducing errors. Statistics in Medicine "
            "15(4), 361–387.")


def _blocks_of_model(results: Results, rows: list[Optimism]) -> Iterator[Block]:
    """Yield the table of the apparent and the corrected value of each measure of a model, and its optimism."""
    names, first = names_of(results), rows[0]
    has_limits = any(row.lower is not None for row in rows)
    columns = tuple(replace(column, shown=has_limits or column.head != "Interval") for column in COLUMNS)
    cells = []
    for row in rows:
        corrected = ranged(row.corrected, row.lower, row.upper)
        first_known = row.apparent if row.corrected is None else row.corrected
        digits = numbers.most_decimals([(first_known, row.lower, row.upper)])
        optimism: Cell = "–" if row.optimism is None else Number(
            numbers.signed(row.optimism, digits), None, None, numbers.exact(row.optimism))
        apparent, out_of_bag = ("–" if value is None else Number(
            numbers.fixed(value, digits), None, None, numbers.exact(value)) for value in (row.apparent, row.out_of_bag))
        cells.append(Row((
            names.measure_of(row), apparent, optimism,
            Number(corrected.value, None, None, corrected.exact) if row.corrected is not None else "–",
            corrected.interval or "–", out_of_bag), anchor=row_anchor("optimism", [row])))
    name = f"{names.model(first.model)} on {first.dataset}"
    yield Heading(name)
    yield Table(f"{name} by {first.fits} bootstrap fits{with_intervals(results, limited=has_limits)}", columns,
                tuple(cells), stacked=True)
    yield from reason_texts(results, rows)


MOST_MEASURES = 3
"""The most measures that a sentence gives."""


NOT_TRAINED_ON = Unless("not-trained-on", by_results=lambda results: not results.optimism and not any(
    dataset.trained_on for dataset in results.datasets))


@rule("note", unless=(NOT_TRAINED_ON,))
def measures_apparent(results: Results) -> Iterator[Claim]:
    """Whether measures are of rows that the models were fitted to, and what they come to corrected for optimism."""
    for row in results.optimism:
        if row.corrected is not None and row.class_ is None:
            yield Claim(row, corrected)
    trained = {dataset.name for dataset in results.datasets if dataset.trained_on}
    corrected_models = {(row.dataset, row.model) for row in results.optimism}
    first = {(row.dataset, row.model): row for row in reversed(results.rows)
             if row.slice is None and row.variant == "original"}
    for model, estimate in sorted(first.items()):
        if estimate.dataset in trained and model not in corrected_models:
            yield Claim(estimate, apparent)


def corrected(results: Results, rows: Sequence[Optimism]) -> Iterator[Finding]:
    """Yield findings on the values of measures without their optimism."""
    for group in grouped(rows, lambda row: (row.dataset, row.model)):
        names, first = names_of(results), group[0]
        parts = [f"{names.measure(row.metric, row.params, row.average)} "
                 f"{numbers.with_limits(row.corrected or 0.0, row.lower, row.upper)} instead of "
                 f"{numbers.fixed(row.apparent or 0.0, numbers.most_decimals([(row.corrected, row.lower, row.upper)]))}"
                 for row in group[:MOST_MEASURES]]
        text = (f"{names.model(first.model)} was fitted to the rows of {first.dataset}. Corrected for optimism: "
                f"{joined(parts)}.")
        yield finding("note", weights.APPARENT, text, "optimism", group)


def apparent(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings on models whose measures are too good, by an amount that is not known."""
    for group in grouped(rows, lambda row: row.dataset):
        names = names_of(results)
        models = joined([names.model(row.model) for row in group])
        verb = "was" if len(group) == 1 else "were"
        text = (f"{models} {verb} fitted to the rows of {group[0].dataset}: measures there are too good, and no "
                "bootstrap fits say by how much.")
        yield finding("note", weights.APPARENT, text, anchor(results, group[0]), group)
