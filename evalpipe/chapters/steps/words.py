"""What measures at steps are called, and the sentences on steps that the findings, the card and its figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import MOST_NAMED, joined, more_models, names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.chapters.steps.records import StepHistory
    from evalpipe.results import Results

OPTIMISTIC = "A best step is chosen on the rows that judge it, so its value is optimistic."
ENDS = {"minimize": "lowest", "maximize": "highest"}


def histories(results: Results, dataset: str) -> list[StepHistory]:
    """Return the histories of a dataset, model by model."""
    return [row for row in results.steps if row.dataset == dataset]


def by_measure(rows: Iterable[StepHistory]) -> list[list[StepHistory]]:
    """Return the histories of each measure together, in the order of the measures."""
    groups: dict[tuple[object, ...], list[StepHistory]] = {}
    for row in rows:
        groups.setdefault((row.metric, tuple(row.params.items()), row.average), []).append(row)
    return list(groups.values())


def title_of(results: Results, row: StepHistory) -> str:
    """Name the measure of a history; its options where histories differ in them."""
    forms = {tuple(other.params.items()) for other in results.steps if other.metric == row.metric}
    said = row.params if len(forms) > 1 else {k: v for k, v in row.params.items() if k == "prevalence"}
    return names_of(results).measure(row.metric, said, row.average)


def end_of(results: Results, row: StepHistory) -> str | None:
    """Say on which side the better values lie: "lowest" or "highest"; None where neither is better."""
    return ENDS.get(next(metric.direction for metric in results.metrics if metric.name == row.metric))


def label_of(results: Results, row: StepHistory) -> str:
    """Name the model of a history."""
    return names_of(results).model(row.model)


def value_of(results: Results, row: StepHistory, value: float | None) -> str:
    """Write a value of a measure; a number of rows without decimals."""
    if value is None:
        return "undefined"
    metric = next(metric for metric in results.metrics if metric.name == row.metric)
    return numbers.count(value) if metric.is_whole and value.is_integer() else numbers.number(value)


def shown_said(results: Results, rows: Sequence[StepHistory]) -> str:
    """Say which step all other parts of the card show: "Run 1 and Run 2 at step 40, their last"."""
    first = {row.model: row for row in rows}.values()
    groups: dict[tuple[int, bool], list[StepHistory]] = {}
    for row in first:
        groups.setdefault((row.shown, row.shown == row.steps[-1]), []).append(row)
    if len(groups) == 1 or len(groups) <= MOST_NAMED:
        return "; ".join(_named(results, models, step, is_last=last) for (step, last), models in groups.items())
    return "each model at its last step" if all(last for _, last in groups) else "each model at a step of its own"


def _named(results: Results, rows: Sequence[StepHistory], step: int, *, is_last: bool) -> str:
    labels = [label_of(results, row) for row in rows]
    named = joined(labels) if len(labels) <= MOST_NAMED else f"{numbers.count(len(labels))} models"
    last = "" if not is_last else ", its last" if len(labels) == 1 else ", their last"
    return f"{named} at step {step}{last}"


def best_said(results: Results, rows: Sequence[StepHistory]) -> str:
    """Say at which step one measure of each model is best: "Log loss: lowest at step 40 for Run 1 (0.528)"."""
    end, known = end_of(results, rows[0]), [row for row in rows if row.best is not None]
    if end is None or not known:
        return f"{title_of(results, rows[0])}: {'neither side is better' if end is None else 'undefined'}"
    places = [_best_of(results, row) for row in known[:MOST_NAMED]]
    more = more_models(", and ", len(known))
    return f"{title_of(results, rows[0])}: {end} {joined(places)}{more}"


def _best_of(results: Results, row: StepHistory) -> str:
    first = "first at" if row.ties else "at"
    return f"{first} step {row.best} for {label_of(results, row)} ({value_of(results, row, row.best_value)})"
