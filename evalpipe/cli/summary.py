"""What `evalpipe run` prints for people: a table of each dataset, the findings, the gates and the standards.

Numbers and words are those of the card, what is said of a chapter is asked of it. Gates and standards that fail are
also annotations of the spec, as GitHub shows them.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from evalpipe.base.formats import REFERENCE
from evalpipe.card.junit import test_cases
from evalpipe.card.page import Number
from evalpipe.card.summary import MOST_FINDINGS, SIGNS, outcome_counts, split_by_headline, texts_after_findings
from evalpipe.card.tables import MODELS_ABREAST, abreast, overall
from evalpipe.card.wording import level, measure, names_of
from evalpipe.chapters import functions
from evalpipe.cli.exit import annotation
from evalpipe.errors import Problem
from evalpipe.results.sequences import begins_anew
from evalpipe.runs.folder import RunFolder
from evalpipe.words.numbers import count, most_decimals, number, signed_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from evalpipe.card.wording import VerdictLines
    from evalpipe.results import Comparison, Estimate, ModelSummary, Results, Scalar
    from evalpipe.review.signing import ReferenceChange
    from evalpipe.spec.spec import Spec


if TYPE_CHECKING:
    Key = tuple[str, tuple[tuple[str, Scalar], ...], str | None]
    """A measure: its metric, its options and its average over classes."""

LOSSES = ("brier", "log_loss", "rmse", "mse")
"""The measures in which the summary compares variants with their originals."""

LOSSES_ABREAST = 2

USUAL = {("base", "e"), ("scale", "half"), ("pairs", "equal"), ("epsilon", 1e-15), ("gain", "linear"),
         ("relevant_from", 1.0)}
"""Options that go without saying where a measure is listed with no other."""


def print_summary(results: Results) -> None:
    """Print a table of each dataset, a row for each measure; then changes of variants, choices and warnings."""
    from rich.console import Console

    # Where no person reads along, the width is fixed, so that the output is the same on every machine.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    if results.as_of is not None:
        console.print(f"as of {results.as_of}", markup=False)
    for summary in (dataset for dataset in results.datasets if dataset.role == "evaluate"):
        dataset = summary.name
        events = "" if summary.events is None else f", {count(summary.events)} events ('{results.event}')"
        rows = f"{count(summary.n)}"
        if summary.without_outcome:
            rows = f"{count(summary.n + summary.without_outcome)}, {rows} with an outcome"
        title = f"{results.title}: {dataset}, n = {rows}{events}"
        for start in range(0, len(results.models), MODELS_ABREAST):
            console.print(title, markup=False, style="italic")
            console.print(_value_table(results, dataset, results.models[start : start + MODELS_ABREAST]))
        console.print(_caption(results, dataset), markup=False, style="italic")
        for table in _variant_tables(results, dataset):
            console.print(f"Recalibrated minus original: {dataset}", markup=False, style="italic")
            console.print(table)
        console.print(_correction_note(results, dataset), markup=False, style="italic", end="")
        _print_lines(console, results, dataset)
    _print_lines(console, results, None)
    for warning in results.warnings:
        console.print(f"warning: {warning.message}", style="yellow", markup=False)


def _print_lines(console: Console, results: Results, dataset: str | None) -> None:
    for lines in functions("card", "lines"):
        for line in lines(results, dataset):
            console.print(line, markup=False)


def _correction_note(results: Results, dataset: str) -> str:
    """Return the line on how many tests of a model the verdicts are corrected for (Holm); "" where none was tested."""
    tested = Counter(
        row.model for row in results.comparisons
        if row.dataset == dataset and row.slice is None and row.variant != row.baseline_variant
        and row.p_adjusted is not None
    )
    if not tested:
        return ""
    fewest, most = min(tested.values()), max(tested.values())
    differences = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return (
        f"each interval is for one difference; verdicts are corrected for all {differences} differences of a model "
        "(Holm)\n"
    )


def measure_names(results: Results) -> dict[Key, str]:
    """Return the name of every measure in the results; usual options are in it only where their values differ."""
    titles = names_of(results).titles
    keys = dict.fromkeys([*map(_measure_key, results.rows), *map(_measure_key, results.comparisons)])
    values: dict[tuple[str, str], set[Scalar]] = {}
    for metric, params, _ in keys:
        for name, value in params:
            values.setdefault((metric, name), set()).add(value)
    return {
        (metric, params, average): measure(titles.get(metric, metric), {
            name: value for name, value in params if (name, value) not in USUAL or len(values[metric, name]) > 1
        }, average)
        for metric, params, average in keys
    }


def _measure_key(row: Estimate | Comparison) -> Key:
    """Return what tells the measure of a row from others: its metric, options and average."""
    return row.metric, tuple(row.params.items()), row.average


def _value_table(results: Results, dataset: str, models: Sequence[ModelSummary]) -> Table:
    """Return the table of estimates on all rows of a dataset: a row for each measure, a column for each model."""
    from rich.table import Table
    from rich.text import Text

    rows = [row for row in overall(results, dataset) if row.class_ is None]
    table = Table()
    table.add_column("measure")
    for model in models:
        table.add_column(Text(model.label), justify="right")
    names, counts = measure_names(results), {metric.name for metric in results.metrics if metric.is_whole}
    estimates: dict[Key, dict[str, Estimate]] = {}
    for row in rows:
        estimates.setdefault(_measure_key(row), {})[row.model] = row
    for key, by_model in estimates.items():
        cells = abreast(by_model, [model.name for model in models], whole=key[0] in counts)
        table.add_row(Text(names[key]), *(Text(cell.text) for cell in cells))
    return table


def _caption(results: Results, dataset: str) -> str:
    """Return the caption of a dataset's table: the level of its intervals, and where further values stand."""
    has_intervals = any(row.lower is not None for row in overall(results, dataset))
    parts = [f"with {level(results.intervals.level)} intervals" if has_intervals else "without intervals"]
    details = [("single classes", any(row.class_ is not None for row in results.rows)),
             ("slices", any(row.slice is not None for row in results.rows))]
    further_values = [name for name, is_present in details if is_present]
    if further_values:
        parts.append(f"the values of {' and '.join(further_values)} are in the card and in estimates.csv")
    return "; ".join(parts)


def _variant_tables(results: Results, dataset: str) -> Iterator[Table]:
    """Yield tables of each recalibrated variant minus its original, with `LOSSES_ABREAST` losses as columns."""
    rows = [
        row for row in results.comparisons
        if row.dataset == dataset and row.slice is None and row.variant != "original" and row.metric in LOSSES
        and row.class_ is None and row.baseline_dataset is None
    ]
    losses = list(dict.fromkeys(_measure_key(row) for name in LOSSES for row in rows if row.metric == name))
    for start in range(0, len(losses), LOSSES_ABREAST):
        yield _change_table(results, rows, losses[start : start + LOSSES_ABREAST])


def _change_table(results: Results, rows: Sequence[Comparison], losses: Sequence[Key]) -> Table:
    """Return a table of differences in some losses, with a row for each variant of a model."""
    from rich.table import Table
    from rich.text import Text

    labels, names, table = names_of(results), measure_names(results), Table()
    table.add_column("variant")
    for loss in losses:
        table.add_column(Text(names[loss]), justify="right")
    least = {loss: most_decimals((row.difference, row.lower, row.upper) for row in rows if _measure_key(row) == loss)
             for loss in losses}
    for model, variant in dict.fromkeys((row.model, row.variant) for row in rows):
        row_of_loss = {_measure_key(row): row for row in rows if (row.model, row.variant) == (model, variant)}
        cells = [labels.model(model, variant)]
        for loss in losses:
            row = row_of_loss.get(loss)
            cells.append("–" if row is None or row.difference is None else Number(
                *signed_interval(row.difference, row.lower, row.upper, least[loss])).text + f" {row.verdict}")
        table.add_row(Text(cells[0]), *cells[1:])
    return table


def print_findings(results: Results) -> None:
    """Print the first findings with their signs, the counts of checks, and what chapters say after the findings."""
    shown = split_by_headline(results)[1][:MOST_FINDINGS]
    if shown:
        more = f", {len(shown)} of {len(results.findings):,}" if len(shown) < len(results.findings) else ""
        click.echo(f"\nfindings{more}:")
    for finding in shown:
        click.echo(f"{SIGNS[finding.kind][0]} {finding.text}")
    if results.checks:
        click.echo(f"\n{len(results.checks)} checks: {outcome_counts(results)}")
    for text in texts_after_findings(results):
        click.echo(text)


def verdicts(results: Results) -> list[VerdictLines]:
    """Return what to print of the verdicts of all chapters: of gates first, for they are what fails most runs."""
    return [part for write in reversed(functions("card", "verdict_lines")) for part in write(results)]


def print_verdicts(results: Results, spec: Spec, folder: Path) -> None:
    """Print what became of gates and standards; of a skipped gate also which reference is missing."""
    for head, lines in verdicts(results):
        click.echo(head)
        for line in lines:
            gate, looked_for = line.gate, ""
            if gate is not None and gate.verdict == "skipped" and gate.against_sha256 is None:
                path = RunFolder(folder).file(REFERENCE) if gate.against == "last" else (
                    spec.origin.folder_of(*line.place, "against", "results") / str(gate.against))
                looked_for = f" Looked for {path}."
            click.echo(f"{line.text}{looked_for}")


def gate_documents(results: Results) -> list[dict[str, Any]]:
    """Return the gates as JSON values, each with the sentence of its verdict."""
    return [check.gate.model_dump(by_alias=True) | {"text": check.reason} for check in test_cases(results)
            if check.gate is not None]


def print_annotations(results: Results, spec: Spec) -> None:
    """Print each gate and standard that did not hold as a GitHub workflow command at its place in the spec."""
    for line in (line for part in verdicts(results) for line in part.lines):
        if line.severity is not None:
            place = spec.origin.place(*line.place)
            click.echo(annotation(Problem(
                f"{line.what} {line.word}", f"{line.title}{line.reason}", place, severity=line.severity)))


def print_accepted(folder: str, results: Results, changes: Sequence[ReferenceChange]) -> None:
    """Print that an accepted run is the reference, which gates had failed, and the former and new reference values."""
    names = names_of(results)
    click.echo(f"{folder}: this run is now the reference of gates 'against: last'")
    for line in (line for part in verdicts(results) for line in part.lines):
        if line.gate is not None and line.gate.verdict == "fail":
            click.echo(f"gate {line.name} had failed: {line.reason}")
    for change in changes:
        gate = change.gate
        before, after = ("none" if value is None else number(value) for value in (change.before, change.after))
        click.echo(f"{names.gate(gate)}: {names.subject(gate)}, reference before {before}, from now on {after}")
    if begins_anew(results):
        click.echo(f"gates 'on: sequence' of {results.name} begin anew after {results.as_of}")
    elif not changes:
        click.echo("no gate of this run is 'against: last', so nothing is compared with it")
