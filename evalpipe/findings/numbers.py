"""Findings on predicted numbers and counts: level, spread, dispersion and zeros, and what is left in the residuals."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.findings import weights
from evalpipe.findings.claims import NOT_COUNTS, NOT_NUMBERS, Claim, rule
from evalpipe.findings.margins import against_margin, margin_of, weight_of
from evalpipe.findings.words import anchor, by_dataset, finding, measures, of_model, of_models, values_of
from evalpipe.results.curves.residuals import ResidualPredicted, Rootogram
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding


USUAL_LEVEL = 0.95
"""Of limits that are made from a test alone, and hold what it says at every level."""


@rule("fails", "note", unless=(NOT_NUMBERS,), claims_all=True)
def numbers_on_average(results: Results) -> Iterator[Claim]:
    """Whether predicted numbers are right on average."""
    for row in measures(results, "mean_error"):
        yield from against_margin(row, 0, _margin_of_mean(results, row), too_low if (row.value or 0) > 0 else too_high,
                                  stated=margin_of(results, "mean"))


def _margin_of_mean(results: Results, row: Estimate) -> float:
    """Return the margin of a mean error, in the unit of the outcome."""
    spread = next(dataset.outcome.get("sd", 0.0) for dataset in results.datasets if dataset.name == row.dataset)
    return margin_of(results, "mean") * spread


@rule("fails", "note", unless=(NOT_NUMBERS,), claims_all=True)
def numbers_spread(results: Results) -> Iterator[Claim]:
    """Whether predicted numbers are too far apart or too close together, by the calibration line."""
    for row in measures(results, "linear_calibration_slope"):
        yield from against_margin(row, 1, margin_of(results, "slope"), too_far_apart if (row.value or 0) < 1 else
                                  too_close)


@rule("fails", "note", unless=(NOT_COUNTS,), claims_all=True)
def dispersion(results: Results) -> Iterator[Claim]:
    """Whether counts vary more, or less, than a Poisson distribution with the predicted means."""
    for row in measures(results, "pearson_dispersion"):
        yield from against_margin(row, 1, margin_of(results, "dispersion"), overdispersed if (row.value or 0) > 1 else
                                  underdispersed)


@rule("fails", "note", unless=(NOT_COUNTS,), claims_all=True)
def zeros(results: Results) -> Iterator[Claim]:
    """Whether there are more, or fewer, zero counts than a Poisson distribution expects."""
    for curve in results.curves:
        if isinstance(curve, Rootogram) and curve.slice is None and curve.points.count[:1] == [0]:
            observed, expected = _observed_and_expected_zeros(curve)
            if curve.notes.zeros_statistic and curve.notes.zeros_p_value is not None and expected:
                value = observed / expected
                half = abs((value - 1) / curve.notes.zeros_statistic) * NormalDist().inv_cdf((1 + USUAL_LEVEL) / 2)
                yield from against_margin(Zeros(curve, value, value - half, value + half), 1, margin_of(
                    results, "zeros"), excess_zeros if observed > expected else lacking_zeros,
                    p_value=curve.notes.zeros_p_value)


class Zeros(NamedTuple):
    """The zeros counted over the zeros expected, with limits from the test that this is 1."""

    curve: Rootogram
    value: float
    lower: float
    upper: float
    level: float = USUAL_LEVEL

    @property
    def dataset(self) -> str:
        """The dataset of the counts."""
        return self.curve.dataset


def too_high(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that predicted numbers are too high on average, and by how much."""
    yield from _off_on_average(results, rows, "too high")


def too_low(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that predicted numbers are too low on average, and by how much."""
    yield from _off_on_average(results, rows, "too low")


def _off_on_average(results: Results, rows: Sequence[Estimate], how: str) -> Iterator[Finding]:
    """Yield the finding that predicted numbers are ``how`` ("too high" or "too low") on average."""
    text = (f"The predictions of {of_models(results, rows)} are {how} on average. Mean error (outcome minus "
            f"prediction) {values_of(results, rows)}.")
    weight = weight_of(rows, 0, _margin_of_mean(results, rows[0]))
    yield finding("fails", weight, text, anchor(results, rows[0]), rows)


def too_far_apart(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that large predictions are too large and small ones too small."""
    text = (f"The predictions of {of_models(results, rows)} are too far apart: large ones are too large, small ones "
            f"too small. Slope of outcome on prediction {values_of(results, rows)}; ideal: 1.")
    weight = weight_of(rows, 1, margin_of(results, "slope"))
    yield finding("fails", weight, text, anchor(results, rows[0]), rows)


def too_close(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that large predictions are too small and small ones too large."""
    text = (f"The predictions of {of_models(results, rows)} are too close together: large ones are too small, small "
            f"ones too large. Slope of outcome on prediction {values_of(results, rows)}; ideal: 1.")
    weight = weight_of(rows, 1, margin_of(results, "slope"))
    yield finding("fails", weight, text, anchor(results, rows[0]), rows)


def overdispersed(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that counts vary more than Poisson counts with the predicted means."""
    text = (f"Counts are overdispersed around the predictions of {of_models(results, rows)}: dispersion "
            f"{values_of(results, rows)}; a Poisson distribution has 1. Intervals that assume a Poisson "
            "distribution would be too narrow.")
    weight = weight_of(rows, 1, margin_of(results, "dispersion"))
    yield finding("fails", weight, text, anchor(results, rows[0]), rows)


def underdispersed(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that counts vary less than Poisson counts with the predicted means."""
    text = (f"Counts are underdispersed around the predictions of {of_models(results, rows)}: dispersion "
            f"{values_of(results, rows)}; a Poisson distribution has 1.")
    yield finding("note", weights.DISTRIBUTION, text, anchor(results, rows[0]), rows)


def _observed_and_expected_zeros(curve: Rootogram) -> tuple[float, float]:
    """Return the observed and the expected weight of the rows whose count is zero."""
    return curve.points.observed[0] or 0.0, curve.points.expected[0] or 0.0


def excess_zeros(results: Results, rows: Sequence[Zeros]) -> Iterator[Finding]:
    """Yield a finding for each model that there are more zero counts than it expects, with both numbers."""
    for row in rows:
        yield _zeros_finding(results, row.curve, "More")


def lacking_zeros(results: Results, rows: Sequence[Zeros]) -> Iterator[Finding]:
    """Yield a finding for each model that there are fewer zero counts than it expects, with both numbers."""
    for row in rows:
        yield _zeros_finding(results, row.curve, "Fewer")


def _zeros_finding(results: Results, curve: Rootogram, how: str) -> Finding:
    """Return the finding that there are ``how``, "More" or "Fewer", zero counts than a model predicts."""
    observed, expected = _observed_and_expected_zeros(curve)
    text = (f"{how} zero counts than {of_model(results, curve)} predicts: {numbers.count(observed)} observed, "
            f"{numbers.fixed(expected, 0)} expected.")
    return finding("fails", weights.DISTRIBUTION, text, anchor(results, curve))


@rule("note", unless=(NOT_NUMBERS,), claims_all=True)
def residuals_fan_out(results: Results) -> Iterator[Claim]:
    """Whether residuals are equally spread for small and large predictions."""
    yield from (Claim(curve, fanning, curve.notes.fan_p_value) for curve in _residual_curves(results)
                if curve.notes.fan_p_value is not None)


@rule("fails", unless=(NOT_NUMBERS,), claims_all=True)
def residuals_follow_a_curve(results: Results) -> Iterator[Claim]:
    """Whether residuals follow a curve along the predictions."""
    yield from (Claim(curve, curved, curve.notes.curve_p_value) for curve in _residual_curves(results)
                if curve.notes.curve_p_value is not None)


@rule("fails", unless=(NOT_NUMBERS,), claims_all=True)
def residuals_form_groups(results: Results) -> Iterator[Claim]:
    """Whether the residuals have more than one peak, as when an important feature is missing."""
    yield from (Claim(curve, grouped, curve.notes.peak_p_value) for curve in _residual_curves(results)
                if curve.notes.peak_p_value is not None)


def _residual_curves(results: Results) -> Iterator[ResidualPredicted]:
    """Yield the plots of residuals against predictions of all rows and original models."""
    for curve in results.curves:
        if isinstance(curve, ResidualPredicted) and curve.slice is None and curve.variant == "original":
            yield curve


def fanning(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Yield a finding for each dataset on residuals that spread more for high than for low predictions, or less."""
    for group in by_dataset(rows):
        spreads = [f"{numbers.number(curve.notes.spread_low or 0.0)} for the lowest third of the predictions, "
                   f"{numbers.number(curve.notes.spread_high or 0.0)} for the highest"
                   f"{f' ({of_model(results, curve)})' if len(group) > 1 else ''}" for curve in group]
        grow = all((curve.notes.spread_high or 0.0) > (curve.notes.spread_low or 0.0) for curve in group)
        text = (f"Residuals of {of_models(results, group)} {'fan out' if grow else 'spread unevenly'}: their root "
                f"mean square about the calibration line is {'; '.join(spreads)}.")
        yield finding("note", weights.RESIDUALS, text, anchor(results, group[0]))


def curved(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Yield a finding for each dataset that residuals follow a curve along the predictions."""
    for curves in by_dataset(rows):
        text = (f"Residuals of {of_models(results, curves)} follow a curve along the predictions: in some ranges "
                "predictions are too high, in others too low.")
        yield finding("fails", weights.RESIDUALS, text, anchor(results, curves[0]))


def grouped(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Yield a finding for each dataset that residuals have more than one peak, so that a feature may be missing."""
    for curves in by_dataset(rows):
        text = (f"Residuals of {of_models(results, curves)} form groups: their distribution has more than one peak. A "
                "feature may be missing.")
        yield finding("fails", weights.RESIDUALS, text, anchor(results, curves[0]))
