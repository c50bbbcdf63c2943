"""The card's section on measures per step, and which step the rest of the card shows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.chapters.steps.figures import step_figures
from evalpipe.chapters.steps.words import (
    OPTIMISTIC,
    end_of,
    histories,
    label_of,
    shown_said,
    title_of,
    value_of,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Cell
    from evalpipe.chapters.steps.records import StepHistory
    from evalpipe.results import ModelSummary, Results


def sections(results: Results) -> Iterator[Section]:
    """Write a section for every dataset on which models have steps."""
    for place, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        rows = histories(results, dataset)
        if rows:
            verdicts = [finding.text for finding in results.findings if finding.section == f"steps-{place}"]
            lead = (f"Measures of each model at every step of its fit, on all rows of {dataset}, without intervals. "
                    f"All other parts of this card show {shown_said(results, rows)}.")
            yield Section(f"steps-{place}", f"Measures per step on {dataset}", (
                Text(lead, "lead"), *map(Text, verdicts), _table(results, dataset, rows),
                *(() if any(OPTIMISTIC in verdict for verdict in verdicts) else (Text(OPTIMISTIC, "small"),)),
                Figures(partial(step_figures, results, dataset))), part="results")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Say which step of a model is shown, of how many."""
    row = next((row for row in results.steps if row.model == model.name), None)
    if row is not None:
        last = ", the last" if row.shown == row.steps[-1] else ""
        yield "Step", f"{row.shown}, the only one" if len(row.steps) == 1 else f"{row.shown}{last} of {_span(row)}"


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Say which step the measures of a dataset are of."""
    rows = histories(results, dataset)
    if rows:
        yield f"Models that have steps are shown at one of them: {shown_said(results, rows)}."


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how measures per step are made."""
    if results.steps:
        rules = any(threshold.rule != "fixed" for threshold in results.thresholds)
        chosen = " A threshold that a rule chose is that of the shown step, at every step." if rules else ""
        yield Procedure("Measures per step", (
            "Every step has all rows of the dataset once, and is measured as the shown step is, with the same "
            f"threshold.{chosen} The values have no intervals. The best step is the first whose value no other step "
            "betters; values that differ by rounding alone tie. It is chosen on the rows that judge it: to choose a "
            "step for use, take rows of their own, and judge it on others."))


def _span(row: StepHistory) -> str:
    """Say how many steps there are, and from which to which."""
    if len(row.steps) == 1:
        return "1 step"
    return f"{numbers.count(len(row.steps))} steps, {numbers.ranged(str(row.steps[0]), str(row.steps[-1]))}"


def _table(results: Results, dataset: str, rows: Sequence[StepHistory]) -> Table:
    """Write each measure at the first, the last and the best step, model by model."""
    apart = any(row.shown != row.steps[-1] for row in rows)
    columns = (Column("Measure", style="what"), Column("First step", "num"), Column("Last step", "num"),
               Column("Shown step", "num", shown=apart), Column("Best", "num"), Column("Best step", "num"))
    cells: list[Row | Group] = []
    for number, row in enumerate(rows):
        if not number or rows[number - 1].model != row.model:
            about = Aside(f"{_span(row)}; step {row.shown} shown", "options")
            cells.append(Group((f"{label_of(results, row)}: ", about)))
        values = (_number(results, row, value) for value in (
            row.values[0], row.values[-1], row.at(row.shown), row.best_value))
        cells.append(Row((_measure(results, row), *values, _best(row))))
    return Table(f"Measures at the first, the last and the best step on {dataset}", columns, tuple(cells), "compared",
                 stacked=True)


def _measure(results: Results, row: StepHistory) -> Cell:
    end = end_of(results, row)
    better = {"lowest": "lower is better", "highest": "higher is better"}.get(end or "", "neither side is better")
    return title_of(results, row), Aside(better, "definition")


def _number(results: Results, row: StepHistory, value: float | None) -> Number:
    """Write a value; a dash where there is none."""
    return Number("–") if value is None else Number(value_of(results, row, value), None, None, numbers.exact(value))


def _best(row: StepHistory) -> Cell:
    """Write the best step, and how many others tie with it."""
    if row.best is None:
        return "–"
    return (str(row.best), Aside(f"and {numbers.count(row.ties)} more", "options")) if row.ties else str(row.best)
