"""Findings on the data: rows left out, rows shared with other datasets, outcomes that differ between datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_of
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import DatasetSummary, Results, Warned
    from evalpipe.results.findings import Finding


@rule
def rows_left_out(results: Results) -> Iterator[Claim]:
    """Whether rows were left out because a value is missing."""
    yield from (Claim(dataset, incomplete) for dataset in results.datasets
                if dataset.role == "evaluate" and (dataset.excluded_incomplete or dataset.unknown_where))


@rule
def rows_shared(results: Results) -> Iterator[Claim]:
    """Whether evaluated rows are among those that something was fitted on; a run with such rows stops."""
    yield from (Claim(dataset, not_shared) for dataset in results.datasets if dataset.role != "evaluate")


@rule
def outcome_drift(results: Results) -> Iterator[Claim]:
    """Whether the event is as frequent, or the outcome as large, in every dataset."""
    first = results.datasets[0]
    for other in results.datasets[1:]:
        z = _distance(first, other)
        if z is not None:
            yield Claim((first, other), drifted, p_of(z))


@rule
def warnings(results: Results) -> Iterator[Claim]:
    """What the run warned of."""
    yield from (Claim(warning, warned) for warning in results.warnings)


def incomplete(_: Results, rows: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Say how many rows lack a value that they need."""
    for dataset in rows:
        if dataset.excluded_incomplete:
            share = numbers.percent(dataset.excluded_incomplete, dataset.rows)
            text = (f"{numbers.count(dataset.excluded_incomplete)} of {numbers.count(dataset.rows)} rows of "
                    f"{dataset.name} ({share}) were left out: a model has no prediction for them.")
            yield finding("note", weights.ROWS_LEFT_OUT, text, "data")
        if dataset.unknown_where:
            text = (f"{numbers.count(dataset.unknown_where)} rows of {dataset.name} were left out: a value that "
                    "their condition needs is missing.")
            yield finding("note", weights.ROWS_LEFT_OUT, text, "data")


def not_shared(results: Results, rows: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Say with which datasets evaluated rows were compared, and how."""
    how = f"compared by {results.spec['id']}" if results.spec.get("id") else "compared by the columns that both have"
    text = f"No evaluated row is also in {joined([dataset.name for dataset in rows])} ({how})."
    yield finding("holds", weights.CHECKED, text, "data")


def _distance(first: DatasetSummary, other: DatasetSummary) -> float | None:
    """Return by how many standard errors the outcomes of two datasets differ; None where there is no outcome."""
    sizes = [dataset.n_effective or dataset.n for dataset in (first, other)]
    if first.prevalence is not None and other.prevalence is not None:
        shares = (first.prevalence, other.prevalence)
        pooled = sum(share * size for share, size in zip(shares, sizes, strict=True)) / sum(sizes)
        error = (pooled * (1 - pooled) * sum(1 / size for size in sizes)) ** 0.5
        return (shares[1] - shares[0]) / error if error else None
    if {"mean", "sd"} <= first.outcome.keys() & other.outcome.keys():
        error = sum(dataset.outcome["sd"] ** 2 / size for dataset, size in zip((first, other), sizes, strict=True))
        return (other.outcome["mean"] - first.outcome["mean"]) / error**0.5 if error else None
    return None


def drifted(results: Results, rows: Sequence[tuple[DatasetSummary, DatasetSummary]]) -> Iterator[Finding]:
    """Say of each pair of datasets how far their outcomes differ."""
    for first, other in rows:
        if first.prevalence is not None and other.prevalence is not None:
            text = (f"The event '{results.event}' is {'more' if other.prevalence > first.prevalence else 'less'} "
                    f"frequent in {other.name}, {numbers.percent(other.prevalence, 1)}, than in {first.name}, "
                    f"{numbers.percent(first.prevalence, 1)}.")
        else:
            means = other.outcome["mean"], first.outcome["mean"]
            text = (f"Outcomes are {'larger' if means[0] > means[1] else 'smaller'} in {other.name}, on average "
                    f"{numbers.number(means[0])}, than in {first.name}, {numbers.number(means[1])}.")
        yield finding("note", weights.DRIFT, text, "data")


def warned(_: Results, rows: Sequence[Warned]) -> Iterator[Finding]:
    """Pass each warning on."""
    for warning in rows:
        text = warning.message if warning.message.endswith(".") else f"{warning.message}."
        yield finding("note", weights.WARNED, text, "summary")
