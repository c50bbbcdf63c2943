"""Findings on how datasets differ: in the outcome, in what is predicted, and in how well models do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.card.wording import KEY_MEASURES, joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_apart, p_of
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import DatasetSummary, Estimate, Results
    from evalpipe.results.findings import Finding, FindingKind


class Shares(NamedTuple):
    """The share of a level of the outcome in two datasets."""

    level: str
    first: DatasetSummary
    other: DatasetSummary
    shares: tuple[float, float]


class Pair(NamedTuple):
    """The estimates of one measure of one model on two datasets."""

    first: Estimate
    other: Estimate


@rule
def outcome_drift(results: Results) -> Iterator[Claim]:
    """Whether the event is equally frequent, or the mean outcome equal, in every dataset."""
    known = [dataset for dataset in results.datasets if dataset.levels or dataset.outcome]
    for other in known[1:]:
        first = known[0]
        if {"mean", "sd"} <= first.outcome.keys() & other.outcome.keys():
            yield Claim((first, other), means_drifted, p_of(_of_means(first, other)))
        for shares in _shares(results, first, other):
            yield Claim(shares, shares_drifted, p_of(_of_shares(shares)))


@rule
def performance_drift(results: Results) -> Iterator[Claim]:
    """Whether models perform equally well on every evaluated dataset, by the key measure."""
    better = {metric.name: metric.direction for metric in results.metrics}
    asked = {row.metric for row in results.rows}
    judging = [name for name in sorted(KEY_MEASURES, key=lambda name: name not in asked)
               if better.get(name, "none") != "none" and measures(results, name)]
    metric = judging[0] if judging else ""
    compared = any(row.baseline_dataset is not None for row in results.comparisons)  # with verdicts of their own
    rows = [] if compared else measures(results, metric)
    for first in (row for row in rows if row.dataset == rows[0].dataset):
        for other in (row for row in rows if row.model == first.model and row.dataset != first.dataset):
            falls = ((other.value or 0) < (first.value or 0)) == (better[metric] == "maximize")
            yield Claim(Pair(first, other), worse_there if falls else better_there, p_apart(first, other))


@rule
def prediction_drift(results: Results) -> Iterator[Claim]:
    """Whether models predict the event equally often on every evaluated dataset."""
    rows = measures(results, "detection_prevalence")
    for first in (row for row in rows if row.dataset == rows[0].dataset):
        for other in (row for row in rows if row.model == first.model and row.dataset != first.dataset):
            yield Claim(Pair(first, other), predicts_otherwise, p_apart(first, other))


def _shares(results: Results, first: DatasetSummary, other: DatasetSummary) -> Iterator[Shares]:
    """Yield the share of the event, or of each level, in two datasets."""
    totals = [sum(count.weight for count in dataset.levels) for dataset in (first, other)]
    weights_of = [{count.level: count.weight for count in dataset.levels} for dataset in (first, other)]
    for level in results.levels[:1] if results.task == "binary" else results.levels:
        if all(totals):
            earlier, later = (of.get(level, 0.0) / total for of, total in zip(weights_of, totals, strict=True))
            yield Shares(level, first, other, (earlier, later))


def _size(dataset: DatasetSummary) -> float:
    """Return how many independent observations a dataset tells as much as, at least: its clusters where it has any."""
    return min(size for size in (dataset.n, dataset.n_effective, dataset.clusters) if size is not None)


def _of_shares(shares: Shares) -> float:
    """Return by how many standard errors two shares differ, with the error of their common share."""
    sizes = _size(shares.first), _size(shares.other)
    pooled = sum(share * size for share, size in zip(shares.shares, sizes, strict=True)) / sum(sizes)
    error = (pooled * (1 - pooled) * sum(1 / size for size in sizes)) ** 0.5
    return (shares.shares[1] - shares.shares[0]) / error if error else 0.0


def _of_means(first: DatasetSummary, other: DatasetSummary) -> float:
    """Return by how many standard errors two means differ."""
    error = sum(dataset.outcome["sd"] ** 2 / _size(dataset) for dataset in (first, other)) ** 0.5
    return (other.outcome["mean"] - first.outcome["mean"]) / error if error else 0.0


def shares_drifted(results: Results, rows: Sequence[Shares]) -> Iterator[Finding]:
    """Say of each pair of datasets which levels are more or less frequent."""
    for first, other in dict.fromkeys((row.first.name, row.other.name) for row in rows):
        levels = [row for row in rows if (row.first.name, row.other.name) == (first, other)]
        said = [f"{'the event ' if results.task == 'binary' else ''}'{row.level}' is "
                f"{'more' if row.shares[1] > row.shares[0] else 'less'} frequent in {other}, "
                f"{numbers.number(row.shares[1])}, than in {first}, {numbers.number(row.shares[0])}"
                for row in levels]
        yield finding("note", weights.DRIFT, f"{joined(said)}.", "data")


def means_drifted(_: Results, rows: Sequence[tuple[DatasetSummary, DatasetSummary]]) -> Iterator[Finding]:
    """Say of each pair of datasets in which outcomes are larger."""
    for first, other in rows:
        means = other.outcome["mean"], first.outcome["mean"]
        text = (f"Outcomes are {'larger' if means[0] > means[1] else 'smaller'} in {other.name}, on average "
                f"{numbers.number(means[0])}, than in {first.name}, {numbers.number(means[1])}.")
        yield finding("note", weights.DRIFT, text, "data")


def predicts_otherwise(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Say which models predict the event more or less often on another dataset."""
    for first, other in rows:
        often = "more" if (other.value or 0) > (first.value or 0) else "less"
        text = (f"{names_of(results).model(other.model)} predicts the event {often} often on {other.dataset} than on "
                f"{first.dataset}: share of rows {with_limits(other)} against {with_limits(first)}.")
        yield finding("note", weights.PREDICTION_DRIFT, text, anchor(results, other), [other, first])


def worse_there(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Say which models do worse on another dataset, and by what measure."""
    yield from (_differs(results, row, "does worse", "fails", weights.WORSE_THERE) for row in rows)


def better_there(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Say which models do better on another dataset."""
    yield from (_differs(results, row, "does better", "note", weights.CHECKED) for row in rows)


def _differs(results: Results, row: Pair, verb: str, kind: FindingKind, weight: float) -> Finding:
    names, (first, other) = names_of(results), row
    text = (f"{names.model(other.model)} {verb} on {other.dataset} than on {first.dataset}: "
            f"{names.measure(other.metric, other.params, other.average)} {with_limits(other)} against "
            f"{with_limits(first)}.")
    return finding(kind, weight, text, anchor(results, other), [other, first])
