"""What `evalpipe run` prints for people: a table of each dataset, the findings, the gates and the standards.

Numbers and words are those of the card. Gates and standards that fail are also annotations of the spec, as GitHub
shows them.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from evalpipe.base.formats import REFERENCE
from evalpipe.card.page import Number
from evalpipe.card.summary import MOST_FINDINGS, SIGNS
from evalpipe.card.tables import MODELS_ABREAST, abreast, overall, ranged
from evalpipe.card.wording import level, measure, names_of
from evalpipe.chapters.candidates.card import in_a_line
from evalpipe.chapters.gates.card import called, run_verdict, word_and_reason
from evalpipe.chapters.gates.card_sentences import gate_sentence
from evalpipe.chapters.standards.card import in_words
from evalpipe.chapters.thresholds.card import chosen
from evalpipe.cli.exit import annotation
from evalpipe.errors import Problem
from evalpipe.review.acceptance import begins_anew
from evalpipe.runs.folder import RunFolder
from evalpipe.words.numbers import count, most_decimals, number, percent, signed_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.table import Table

    from evalpipe.chapters.gates.earlier_runs import ReferenceChange
    from evalpipe.results import Comparison, Estimate, Gate, ModelSummary, Results, Scalar
    from evalpipe.spec.spec import Spec


if TYPE_CHECKING:
    Key = tuple[str, tuple[tuple[str, Scalar], ...], str | None]
    """A measure: its metric, its options and its average over classes."""

LOSSES = ("brier", "log_loss", "rmse", "mse")
"""The measures in which the summary compares variants with their originals."""

LOSSES_ABREAST = 2

USUAL = {("base", "e"), ("scale", "half"), ("pairs", "equal"), ("epsilon", 1e-15)}
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
        title = f"{results.title}: {dataset}, n = {count(summary.n)}{events}"
        for start in range(0, len(results.models), MODELS_ABREAST):
            console.print(title, markup=False, style="italic")
            console.print(_value_table(results, dataset, results.models[start : start + MODELS_ABREAST]))
        console.print(_caption(results, dataset), markup=False, style="italic")
        for table in _variant_tables(results, dataset):
            console.print(f"Recalibrated minus original: {dataset}", markup=False, style="italic")
            console.print(table)
        console.print(_correction_note(results, dataset), markup=False, style="italic", end="")
        for line in _choice_lines(results, dataset):
            console.print(line, markup=False)
    if results.candidates.ranking:
        console.print(in_a_line(results), markup=False)
    for warning in results.warnings:
        console.print(f"warning: {warning.message}", style="yellow", markup=False)


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
        table.add_row(
            Text(labels.model(model, variant)), *(_difference(row_of_loss.get(loss), least[loss]) for loss in losses))
    return table


def _difference(row: Comparison | None, least: int) -> str:
    """Return a difference with its interval and verdict, with ``least`` decimals or more; a dash without a value."""
    if row is None or row.difference is None:
        return "–"
    return f"{Number(*signed_interval(row.difference, row.lower, row.upper, least)).text} {row.verdict}"


def _choice_lines(results: Results, dataset: str) -> Iterator[str]:
    """Yield a line for each threshold that a rule chose, and one for the most desirable model."""
    names = names_of(results)
    for row in results.thresholds:
        if row.dataset == dataset and row.variant == "original" and row.chosen_on is not None:
            rows = f"on {row.chosen_on}" if row.folds is None else f"cross-fitted in {row.folds} folds"
            value = "none" if row.value is None else chosen(row).text
            yield f"threshold of {names.model(row.model)}: {value}, {row.rule}, {rows}"
    for winner in results.desirability.overall:
        if winner.dataset == dataset and winner.rank == 1 and winner.value is not None:
            share_best = "" if winner.probability_best is None else (
                f", best in {percent(winner.probability_best, 1)} of replicates")
            value = ranged(winner.value, winner.lower, winner.upper).text
            yield f"most desirable: {names.model(winner.model, winner.variant)}, D {value}{share_best}"


def print_findings(results: Results) -> None:
    """Print the first findings, each with the sign of its kind, and how many there are."""
    shown = results.findings[:MOST_FINDINGS]
    if not shown:
        return
    more = f", {len(shown)} of {len(results.findings):,}" if len(shown) < len(results.findings) else ""
    click.echo(f"\nfindings{more}:")
    for finding in shown:
        click.echo(f"{SIGNS[finding.kind][0]} {finding.text}")


SEVERITIES = {"fail": "error", "warn": "warning"}
"""What an annotation is called, by what became of the gate; "notice" where it did not fail."""


def print_gates(results: Results, spec: Spec, folder: Path) -> None:
    """Print the verdict in a sentence, how many gates held, and a line for each other one.

    For a skipped gate it says which reference is missing.
    """
    if not results.gates:
        return
    held_count, names = len(results.gates) - len(gates_not_held(results)), names_of(results)
    for sign, sentence in run_verdict(results):
        click.echo(f"\n{sign} {sentence}")
    click.echo(f"\ngates: {held_count:,} of {len(results.gates):,} held")
    for gate in gates_not_held(results):
        word, reason = word_and_reason(names, gate)
        if gate.verdict == "skipped" and gate.against_sha256 is None:
            missing_path = RunFolder(folder).file(REFERENCE) if gate.against == "last" else (
                spec.origin.folder_of("gates", gate.gate - 1, "against", "results") / str(gate.against))
            reason += f" Looked for {missing_path}."
        click.echo(f"gate {gate.gate} {word}: {reason}")


def gate_documents(results: Results) -> list[dict[str, Any]]:
    """Return the gates as JSON values, each with the sentence of its verdict."""
    names = names_of(results)
    return [gate.model_dump(by_alias=True) | {"text": gate_sentence(names, gate)} for gate in results.gates]


def gates_not_held(results: Results) -> list[Gate]:
    """Return the gates that failed, were inconclusive or were skipped."""
    return [gate for gate in results.gates if gate.verdict != "pass"]


def print_annotations(results: Results, spec: Spec) -> None:
    """Print each gate that did not hold or was skipped as a GitHub workflow command at its place in the spec."""
    names = names_of(results)
    for gate in gates_not_held(results):
        word, reason = word_and_reason(names, gate)
        position, severity = spec.origin.place("gates", gate.gate - 1), SEVERITIES.get(gate.kind, "notice")
        click.echo(annotation(Problem(f"gate {word}", reason, position, severity=severity)))


def print_accepted(folder: str, results: Results, changes: Sequence[ReferenceChange]) -> None:
    """Print that an accepted run is the reference, which gates had failed, and the former and new reference values."""
    names = names_of(results)
    click.echo(f"{folder}: this run is now the reference of gates 'against: last'")
    for gate in results.gates:
        if gate.verdict == "fail":
            click.echo(f"gate {gate.gate} had failed: {word_and_reason(names, gate)[1]}")
    for change in changes:
        gate = change.gate
        before, after = ("none" if value is None else number(value) for value in (change.before, change.after))
        click.echo(f"{called(names, gate)}: {names.subject(gate)}, reference before {before}, from now on {after}")
    if begins_anew(results):
        click.echo(f"gates 'on: sequence' of {results.name} begin anew after {results.as_of}")
    elif not changes:
        click.echo("no gate of this run is 'against: last', so nothing is compared with it")


MOST_GAPS = 6
"""The gaps of a standard that the terminal names."""

WORDS = {"fail": "failed", "pass": "held", None: "documented"}
"""What became of a standard, by its verdict."""


def print_standards(results: Results) -> None:
    """Print a line for each standard: its verdict, how many items are answered, and which are missing."""
    if results.standards:
        click.echo("\nevidence for standards, which is no statement of conformity:")
    for standard in results.standards:
        click.echo(f"standard {standard.profile} {WORDS[standard.verdict]}: {in_words(standard, MOST_GAPS)}")


def annotate_standards(results: Results, spec: Spec) -> None:
    """Print each standard that is answered less than is required as a GitHub workflow command at its place."""
    for index, standard in enumerate(results.standards):
        if standard.verdict == "fail":
            words = f"{standard.title}: {in_words(standard, MOST_GAPS)}"
            click.echo(annotation(Problem("standard failed", words, spec.origin.place("standards", index))))
