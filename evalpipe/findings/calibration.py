"""Findings on the level of predictions, and on how far they are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, of_model, of_models, values_of
from evalpipe.results.curves.calibration import Reliability

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.curves.calibration import ReliabilityPoints
    from evalpipe.results.findings import Finding


@rule
def probabilities_on_average(results: Results) -> Iterator[Claim]:
    """Whether as many events occur as the probabilities expect."""
    for row in measures(results, "calibration_in_the_large"):
        yield Claim(row, too_low if (row.value or 0) > 0 else too_high, p_beyond(row, 0), right_on_average)


@rule
def probabilities_spread(results: Results) -> Iterator[Claim]:
    """Whether the probabilities are as far apart as the events bear out."""
    for row in measures(results, "calibration_slope"):
        yield Claim(row, overconfident if (row.value or 0) < 1 else too_timid, p_beyond(row, 1))


def too_high(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say of each model that fewer events occur than its probabilities expect, and where."""
    for row in rows:
        yield _off(results, row, "too high")


def too_low(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say of each model that more events occur than its probabilities expect, and where."""
    for row in rows:
        yield _off(results, row, "too low")


def right_on_average(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that these data do not tell expected and observed events apart."""
    text = (f"These data do not show the probabilities of {of_models(results, rows)} to be too high or too low on "
            "average.")
    yield finding("open", weights.CALIBRATED, text, anchor(results, rows[0]), rows)


def _off(results: Results, row: Estimate, how: str) -> Finding:
    bins, where = _bins(results, row), ""
    text = f"The probabilities of {of_model(results, row)} are {how}"
    if bins is not None:
        expected, observed = _totals(bins)
        text += (f": {numbers.percent(expected, 1)} of the rows were expected to be events, "
                 f"{numbers.percent(observed, 1)} are")
        where = _where(bins, how)
    return finding("fails", weights.CALIBRATION, f"{text}.{where}", anchor(results, row), [row])


def _bins(results: Results, row: Estimate) -> ReliabilityPoints | None:
    """Return the reliability bins of a model, of equal weight; None where the results have none."""
    return next((curve.points for curve in results.curves if isinstance(curve, Reliability)
                 and curve.curve == "calibration_quantile" and curve.slice is None
                 and (curve.dataset, curve.model, curve.variant) == (row.dataset, row.model, row.variant)), None)


def _totals(bins: ReliabilityPoints) -> tuple[float, float]:
    """Return the mean probability and the share of events over all bins."""
    total = sum(weight or 0 for weight in bins.weight)
    means = (sum((value or 0) * (weight or 0) for value, weight in zip(column, bins.weight, strict=True)) / total
             for column in (bins.mean_probability, bins.event_rate))
    expected, observed = means
    return expected, observed


def _where(bins: ReliabilityPoints, how: str) -> str:
    """Say in which bins the event rate lies beyond the probability at once, by limits of all bins together."""
    lowers, uppers = bins.simultaneous_lower, bins.simultaneous_upper
    if lowers is None or uppers is None:
        return ""
    limits = [(p, low, high) for p, low, high in zip(bins.mean_probability, lowers, uppers, strict=True)
              if p is not None and low is not None and high is not None]
    beyond = [p for p, low, high in limits if (p > high if how == "too high" else p < low)]
    if not beyond:
        return ""
    if len(beyond) == len(bins.mean_probability):
        return " They are so in every bin."
    span = numbers.fixed(beyond[0], 2) if len(beyond) == 1 else (
        f"{numbers.fixed(beyond[0], 2)} to {numbers.fixed(beyond[-1], 2)}")
    return f" Most clearly so at probabilities about {span}."


def overconfident(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that probabilities are too extreme."""
    text = (f"{of_models(results, rows)} {_is(rows)} overconfident: probabilities lie too close to 0 and 1. "
            f"Calibration slope {values_of(results, rows)}; 1 is right.")
    yield finding("fails", weights.CALIBRATION, text, anchor(results, rows[0]), rows)


def too_timid(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that probabilities are squeezed together."""
    text = (f"{of_models(results, rows)} {_is(rows)} too timid: probabilities lie too close to the prevalence. "
            f"Calibration slope {values_of(results, rows)}; 1 is right.")
    yield finding("fails", weights.CALIBRATION, text, anchor(results, rows[0]), rows)


def _is(rows: Sequence[Estimate]) -> str:
    return "is" if len(rows) == 1 else "are"
