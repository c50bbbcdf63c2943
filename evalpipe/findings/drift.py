"""Findings on how datasets differ: in the outcome, in what is predicted, and in how well models do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.names import names_of
from evalpipe.card.wording import KEY_MEASURES, joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_apart
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import DatasetDifference, Estimate, Results
    from evalpipe.results.findings import Finding, FindingKind


class Pair(NamedTuple):
    """The estimates of one measure of one model on two datasets."""

    first: Estimate
    other: Estimate


@rule
def outcome_drift(results: Results) -> Iterator[Claim]:
    """Whether the event is equally frequent, or the mean outcome equal, in every dataset."""
    for row in results.dataset_differences:
        if row.p_value is not None:
            yield Claim(row, means_drifted if row.level is None else shares_drifted, row.p_value)


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


def shares_drifted(results: Results, rows: Sequence[DatasetDifference]) -> Iterator[Finding]:
    """Say of each pair of datasets which levels are more or less frequent."""
    event = "the event " if results.task == "binary" else ""
    for first, other in dict.fromkeys((row.baseline, row.dataset) for row in rows):
        said = [f"{event}'{row.level}' is {'more' if row.value > row.baseline_value else 'less'} frequent in {other}, "
                f"{numbers.number(row.value)}, than in {first}, {numbers.number(row.baseline_value)}"
                for row in rows if (row.baseline, row.dataset) == (first, other)]
        yield finding("note", weights.DRIFT, f"{joined(said)}.", "data")


def means_drifted(_: Results, rows: Sequence[DatasetDifference]) -> Iterator[Finding]:
    """Say of each pair of datasets in which outcomes are larger."""
    for row in rows:
        text = (f"Outcomes are {'larger' if row.value > row.baseline_value else 'smaller'} in {row.dataset}, on "
                f"average {numbers.number(row.value)}, than in {row.baseline}, {numbers.number(row.baseline_value)}.")
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
