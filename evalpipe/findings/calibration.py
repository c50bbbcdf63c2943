"""Findings on the level of predictions, and on how far they are spread."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

from evalpipe.card.wording import joined, nouns_of, share
from evalpipe.findings import weights
from evalpipe.findings.claims import NOT_BINARY, NOT_MULTICLASS, rule
from evalpipe.findings.margins import against_margin, margin_of, weight_of
from evalpipe.findings.words import (
    anchor,
    at_better_prevalence,
    by_prevalence,
    finding,
    measures,
    of_model,
    of_models,
    values_of,
    with_verb,
)
from evalpipe.results.curves.calibration import CalibrationLogistic, Reliability
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.findings.claims import Claim
    from evalpipe.results import Estimate, Results
    from evalpipe.results.curves.calibration import ReliabilityPoints
    from evalpipe.results.document import Finding


@rule("fails", "undecided", "note", "equivalent", unless=(NOT_BINARY,), claims_all=True)
def probabilities_on_average(results: Results) -> Iterator[Claim]:
    """Whether the probabilities are right on average."""
    for row in at_better_prevalence(results, "calibration_in_the_large", lambda row: abs(row.value)):
        yield from against_margin(row, 0, margin_of(results, "calibration"), too_low if (row.value or 0) > 0 else
                                  too_high, right_on_average, perhaps_right_on_average)


@rule("fails", "note", unless=(NOT_BINARY,), claims_all=True)
def probabilities_spread(results: Results) -> Iterator[Claim]:
    """Whether the probabilities are overconfident or underconfident, by the calibration slope."""
    for row in measures(results, "calibration_slope"):
        yield from against_margin(row, 1, margin_of(results, "slope"), overconfident if (row.value or 0) < 1 else
                                  underconfident)


@rule("fails", "note", unless=(NOT_MULTICLASS,), claims_all=True)
def confidence(results: Results) -> Iterator[Claim]:
    """Whether predictions of many classes are right as often as their probabilities say."""
    for row in measures(results, "confidence_gap"):
        yield from against_margin(row, 0, margin_of(results, "confidence"), less_sure_than_right if (
            row.value or 0) > 0 else surer_than_right)


def less_sure_than_right(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that predictions are right more often than their probabilities say."""
    yield _confidence_off(results, rows, "more")


def surer_than_right(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that predictions are right less often than their probabilities say."""
    yield _confidence_off(results, rows, "less")


def _confidence_off(results: Results, rows: Sequence[Estimate], how: str) -> Finding:
    """Return the finding that predictions are right "more" or "less" often than their probabilities say."""
    text = (f"{with_verb(results, rows, 'is', 'are')} right {how} often than the probabilities of the predicted "
            f"classes say: accuracy less mean confidence {values_of(results, rows)}; ideal: 0.")
    return finding("fails", weight_of(rows, 0, margin_of(results, "confidence")), text, anchor(results, rows[0]), rows)


def too_high(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that models expect more events than occur, with where this is clearest."""
    yield from (_off_on_average(results, group, "too high") for group in by_prevalence(rows, of_dataset=True))


def too_low(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that models expect fewer events than occur, with where this is clearest."""
    yield from (_off_on_average(results, group, "too low") for group in by_prevalence(rows, of_dataset=True))


def right_on_average(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that as many events occur as are expected, within the margin."""
    for group in by_prevalence(rows):
        text = (f"On average{_where_declared(group)} the probabilities of {of_models(results, group)} agree with the "
                f"outcomes, within {numbers.plain(margin_of(results, 'calibration'))} in log odds.")
        yield finding("equivalent", weights.CALIBRATED, text, anchor(results, group[0]), group)


def perhaps_right_on_average(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that it is open whether expected and observed events differ by more than the margin."""
    for group in by_prevalence(rows):
        models, where = of_models(results, group), _where_declared(group)
        text = (f"On average{where} the probabilities of {models} agree with the outcomes; these data do not rule out "
                "a difference that matters.")
        if any(row.lower is not None and row.upper is not None and not row.lower <= 0 <= row.upper for row in group):
            text = f"Whether the probabilities of {models} are right on average{where} is not settled."
        yield finding("undecided", weights.CALIBRATED, text, anchor(results, group[0]), group)


def _where_declared(rows: Sequence[Estimate]) -> str:
    """Return " at the declared prevalence 0.1", of rows at that; empty of others."""
    prevalence: Any = rows[0].params.get("prevalence")
    return "" if prevalence is None else f" at the declared prevalence {share(prevalence)}"


def _off_on_average(results: Results, rows: Sequence[Estimate], how: str) -> Finding:
    """Return the finding that probabilities are ``how`` ("too high" or "too low") on average, with means."""
    text = f"The probabilities of {of_models(results, rows)} are {how}"
    diagrams = [diagram for diagram in (_reliability_diagram(results, row) for row in rows) if diagram is not None]
    where_declared = _where_declared(rows)
    if where_declared:
        factors = joined(list(dict.fromkeys(numbers.fixed(exp(abs(row.value or 0.0)), 1) for row in rows)))
        text += f" on average{where_declared}: their odds {factors} times"
        diagrams = []
    if len(diagrams) == len(rows):
        means = joined([numbers.number(diagram.notes.mean_probability or 0.0) for diagram in diagrams])
        observed = numbers.number(diagrams[0].notes.event_rate or 0.0)
        text += f" on average: mean {means}, observed prevalence {observed}"
    where = _where_clearest(diagrams[0].points, how) if len(diagrams) == len(rows) == 1 else ""
    weight = weight_of(rows, 0, margin_of(results, "calibration"))
    return finding("fails", weight, f"{text}.{where}", anchor(results, rows[0]), rows)


def _reliability_diagram(results: Results, row: Estimate) -> Reliability | None:
    """Return the reliability diagram, in bins of equal weight, of the model of a row; None where there is none."""
    return next((curve for curve in results.curves if isinstance(curve, Reliability)
                 and curve.curve == "calibration_quantile" and curve.slice is None
                 and (curve.dataset, curve.model, curve.variant) == (row.dataset, row.model, row.variant)), None)


def _where_clearest(bins: ReliabilityPoints, how: str) -> str:
    """Return a sentence on the bins that show most clearly that probabilities are ``how``; empty if none does.

    These are the bins whose joint limits exclude the mean probability on that side.
    """
    lowers, uppers = bins.simultaneous_lower, bins.simultaneous_upper
    if lowers is None or uppers is None:
        return ""
    # Limits without width, such as Wald's at 0 and 1, do not say what they exclude.
    limits = [(p, low, high) for p, low, high in zip(bins.mean_probability, lowers, uppers, strict=True)
              if p is not None and low is not None and high is not None and low < high]
    outside = [p > high if how == "too high" else p < low for p, low, high in limits]
    probabilities = [p for (p, _, _), is_outside in zip(limits, outside, strict=True) if is_outside]
    if not probabilities:
        return ""
    if len(probabilities) == len(bins.mean_probability):
        return " This holds in every bin."
    first = outside.index(True)
    if all(outside[first:first + len(probabilities)]):
        low, high = (numbers.fixed(p, 2) for p in (probabilities[0], probabilities[-1]))
        return f" Clearest at probabilities around {low if low == high else numbers.ranged(low, high)}."
    return f" Clearest at probabilities around {joined([numbers.fixed(p, 2) for p in probabilities])}."


def overconfident(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that probabilities are too extreme: calibration slopes below 1."""
    yield _spread_off(results, rows, "overconfident", "0 and 1")


def underconfident(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that probabilities are too close together: calibration slopes above 1."""
    yield _spread_off(results, rows, "underconfident", "the prevalence")


def _spread_off(results: Results, rows: Sequence[Estimate], how: str, near: str) -> Finding:
    """Return the finding that probabilities are over- or underconfident (``how``): too close to ``near``."""
    text = (f"{with_verb(results, rows, 'is', 'are')} {how}: the probabilities are too close to {near}. Calibration "
            f"slope {values_of(results, rows)}; ideal: 1.{_rests_on(results, rows)}")
    return finding("fails", weight_of(rows, 1, margin_of(results, "slope")), text, anchor(results, rows[0]), rows)


def _rests_on(results: Results, rows: Sequence[Estimate]) -> str:
    """Return a sentence on the rows at probabilities 0 and 1 that decide a slope, and on the slope without them.

    Empty where no slope is another by more than its margin.
    """
    parts = []
    for row in rows if results.weight is None else ():
        notes = next((curve.notes for curve in results.curves if isinstance(curve, CalibrationLogistic)
                      and curve.slice is None and curve.class_ is None
                      and (curve.dataset, curve.model, curve.variant) == (row.dataset, row.model, row.variant)), None)
        if notes is None or not notes.clipped or notes.slope_inside is None:
            continue
        if abs(notes.slope_inside - (row.value or 0.0)) > margin_of(results, "slope"):
            whose = f" of {of_model(results, row)}" if len(rows) > 1 else ""
            digits = numbers.decimals(row.value or 0.0, row.lower, row.upper)
            parts.append(f"{nouns_of(results).counted_rows(notes.clipped)}{whose} at probability 0 or 1, without which "
                         f"it is {numbers.fixed(notes.slope_inside, digits)}")
    return f" It rests on {joined(parts)}." if parts else ""
