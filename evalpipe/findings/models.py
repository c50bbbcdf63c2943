"""Findings on what one number of a model does not tell: its worst class, its groups, and the other measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.wording import KEY_MEASURES, joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.applies import FEW_LEVELS, NO_SLICES, NOT_BINARY, ONE_MODEL, Unless
from evalpipe.findings.claims import Claim, p_apart, rule
from evalpipe.findings.skill import CHANCE
from evalpipe.findings.words import anchor, finding, first_of, grouped, measures, of_model, on_dataset, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.results import Confusion, Estimate, Results
    from evalpipe.results.document import Finding

LEAST_ROWS = 10
"""The rows that a class has at least for its share of correct predictions to be compared with those of others."""


class WithinGroups(NamedTuple):
    """The ROC AUC of a model on all rows, and in each group of one way to slice."""

    overall: Estimate
    groups: tuple[Estimate, ...]


class BestModels(NamedTuple):
    """On one dataset, the best model by each measure, in the order of the measures."""

    dataset: str
    model_of_measure: Mapping[str, Estimate]


@rule("note", unless=(FEW_LEVELS,))
def worst_class(results: Results) -> Iterator[Claim]:
    """Which class is predicted correctly least often, and with which it is confused most often."""
    for table in results.confusion:
        if len(table.levels) > 2 and table.slice is None and table.variant == "original" and _correct_shares(table):
            yield Claim(table, least_correct)


@rule("fails", unless=(NOT_BINARY, NO_SLICES))
def ranking_within_groups(results: Results) -> Iterator[Claim]:
    """Whether a model ranks rows within groups, or only tells the groups apart."""
    for overall in measures(results, "roc_auc"):
        same_number = [row for row in results.rows if row.slice is not None and (
            row.metric, row.dataset, row.model, row.variant, row.class_) == (
            overall.metric, overall.dataset, overall.model, overall.variant, None)]
        for rows in grouped(same_number, lambda row: tuple(row.slice or ())):
            has_limits = all(row.status == "ok" and row.upper is not None for row in rows)
            halfway = (CHANCE + (overall.value or 0.0)) / 2
            if len(rows) > 1 and has_limits and max(row.value or 0.0 for row in rows) < halfway:
                # Every group must be lower: of all these tests the largest p-value counts (Berger 1982).
                yield Claim(WithinGroups(overall, tuple(rows)), only_groups, max(p_apart(overall, row) for row in rows))


def _compared(results: Results) -> bool:
    """Tell whether verdicts say which model is better by which measure."""
    return any(row.variant == row.baseline_variant and row.baseline_dataset is None for row in results.comparisons)


MODELS_COMPARED = Unless("models-compared", by_results=_compared)


@rule("note", unless=(ONE_MODEL, MODELS_COMPARED))
def best_by_measure(results: Results) -> Iterator[Claim]:
    """Whether measures agree on which model has the best value."""
    direction_of = {metric.name: metric.direction for metric in results.metrics}
    requested = {row.metric for row in results.rows}
    names = [name for name in KEY_MEASURES if name in requested and direction_of.get(name, "none") != "none"]
    # Values alone are for where there are no verdicts.
    for dataset in results.datasets if len(results.models) > 1 and not _compared(results) else ():
        best = {}
        for name in names:
            rows = [row for row in measures(results, name) if row.dataset == dataset.name]
            sign = 1 if direction_of[name] == "maximize" else -1
            ordered = sorted(rows, key=lambda row: -sign * (row.value or 0.0))
            if len(rows) > 1 and ordered[0].value != ordered[1].value:
                best[name] = ordered[0]
        if len({row.model for row in best.values()}) > 1:
            yield Claim(BestModels(dataset.name, best), measures_disagree)


def least_correct(results: Results, rows: Sequence[Confusion]) -> Iterator[Finding]:
    """Say of each model which class it predicts correctly least often, and what these rows are predicted as most."""
    for table in rows:
        shares = _correct_shares(table)
        level = min(shares, key=lambda k: shares[k])
        counts = table.counts[level]
        total, correct = sum(counts), counts[level]
        wrong = max((k for k in range(len(counts)) if k != level), key=lambda k: counts[k])
        with_class = " with a class" if table.equivocal else ""
        right = (f"{numbers.count(correct)} of its {numbers.count(total)} rows{with_class}" if results.weight is None
                 else f"{numbers.percent(correct, total)} of its rows")
        confused = (numbers.count(counts[wrong]) if results.weight is None
                    else numbers.percent(counts[wrong], total))
        text = (f"{of_model(results, table)} is least often right on '{table.levels[level]}': {right} are predicted "
                f"correctly, {confused} as '{table.levels[wrong]}'.")
        yield finding("note", weights.WORST_CLASS, text, anchor(results, table))


def _correct_shares(table: Confusion) -> dict[int, float]:
    """Return the share of each class, by its position, that is predicted correctly; empty where all or few rows are."""
    totals = [sum(counts) for counts in table.counts]
    shares = {k: table.counts[k][k] / total for k, total in enumerate(totals) if total >= LEAST_ROWS}
    return shares if shares and min(shares.values()) < 1 else {}


def only_groups(results: Results, rows: Sequence[WithinGroups]) -> Iterator[Finding]:
    """Say that a model ranks rows better over all groups than within any of them."""
    for overall, groups in rows:
        low, high = (numbers.number(value) for value in (
            min(row.value or 0.0 for row in groups), max(row.value or 0.0 for row in groups)))
        column = joined(list(groups[0].slice or ()))
        text = (f"{of_model(results, overall)} tells groups of {column} apart more than the rows within them: ROC AUC "
                f"{with_limits(overall)} over all rows, {low} to {high} within each group.")
        yield finding("fails", weights.ONLY_GROUPS, text, "slices", [overall, *groups])


def measures_disagree(results: Results, rows: Sequence[BestModels]) -> Iterator[Finding]:
    """Say which model has the best value by which measures."""
    names = names_of(results)
    for dataset, model_of_measure in rows:
        labels: dict[str, list[str]] = {}
        for row in model_of_measure.values():
            labels.setdefault(names.model_of(row), []).append(names.measure_of(row))
        best = [f"{label} by {first_of(of_label)}" for label, of_label in labels.items()]
        text = f"Which model has the best values{on_dataset(results, dataset)} depends on the measure: {joined(best)}."
        yield finding("note", weights.MEASURES_DISAGREE, text, anchor(results, next(iter(model_of_measure.values()))),
                      list(model_of_measure.values()))
