"""Robust limits of the logistic line: against matrices of rows to 1e-6, and how often they cover where it bends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm

from evalpipe.intervals.analytic import robust_limits
from evalpipe.intervals.declare import NoLimits
from evalpipe.metrics.logistic import calibration_shift, fit_logistic_line

CLOSE = 1e-6


def tables(n: int = 250) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return log odds and outcomes of rows, and the events, non-events and totals of log odds at distinct places."""
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(0.5, 1.5, n), 1)
    y = (rng.random(n) < 1 / (1 + np.exp(-(0.4 + 0.7 * x)))).astype(float)
    places, at = np.unique(x, return_inverse=True)
    events, others = (np.bincount(at, weights=part, minlength=len(places)) for part in (y, 1 - y))
    return x, y, events, others, places * (events + others)


def by_rows(line: Any, index: int, level: float) -> tuple[float, float]:
    """Return limits of a coefficient of a fit of statsmodels by the larger of the HC3 and the likelihood's error."""
    x, residual, chance = line.model.exog, line.resid_response, line.fittedvalues
    bread = np.linalg.inv(x.T @ (x * (chance * (1 - chance))[:, None]))
    leverage = chance * (1 - chance) * np.einsum("ij,jk,ik->i", x, bread, x)
    scores = x * (residual / (1 - leverage))[:, None]
    error = float(np.sqrt(max((bread @ scores.T @ scores @ bread)[index, index], bread[index, index])))
    reach = float(norm.ppf((1 + level) / 2)) * error
    return line.params[index] - reach, line.params[index] + reach


@pytest.mark.parametrize(("index", "measure"), [(0, "calibration_intercept"), (1, "calibration_slope")])
def test_the_limits_of_both_coefficients_are_hc3(index: int, measure: str) -> None:
    x, y, *totals = tables()
    fitted = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial()).fit(tol=1e-12)
    limits = robust_limits(measure, float(fitted.params[index]), fitted.params, *totals, 0.95)
    assert limits == pytest.approx(by_rows(fitted, index, 0.95), rel=CLOSE)


def test_the_limits_in_the_large_are_those_of_an_intercept_beside_an_offset() -> None:
    x, y, *totals = tables()
    fitted = sm.GLM(y, np.ones((len(x), 1)), family=sm.families.Binomial(), offset=x).fit(tol=1e-12)
    none = np.full(2, np.nan)
    limits = robust_limits("calibration_in_the_large", float(fitted.params[0]), none, *totals, 0.9)
    assert limits == pytest.approx(by_rows(fitted, 0, 0.9), rel=CLOSE)


def test_at_a_prevalence_the_error_is_the_spread_of_resampled_rows() -> None:
    """The share of events is fixed by weights, so it adds nothing; 2,000 resamples tell a spread to 5 % in most."""
    _, _, events, others, log_odds = tables()
    shares, rng = (0.1, 0.9), np.random.default_rng(8)
    x, cells, total = log_odds / (events + others), np.r_[events, others], int(events.sum() + others.sum())

    def shift(counts: np.ndarray) -> float:
        parts = np.split(counts, 2)
        weighed = [share * part / part.sum() for share, part in zip(shares, parts, strict=True)]
        return float(calibration_shift(*(table[None] for table in (*weighed, x)))[0])

    drawn = [shift(rng.multinomial(total, cells / total)) for _ in range(2000)]
    lower, upper = robust_limits(
        "calibration_in_the_large", shift(cells), np.full(2, np.nan), events, others, log_odds, 0.95, shares)
    assert (lower + upper) / 2 == pytest.approx(shift(cells))
    assert (upper - lower) / (2 * norm.ppf(0.975)) == pytest.approx(np.std(drawn), rel=0.1)


def test_a_single_event_has_no_limits_at_a_prevalence() -> None:
    with pytest.raises(NoLimits, match="a level has a single row, so its spread is not known"):
        robust_limits("calibration_in_the_large", 0.0, np.full(2, np.nan), np.array([1.0, 0.0]), np.array([3.0, 2.0]),
                      np.array([0.5, 1.0]), 0.95, (0.2, 0.8))


def test_places_without_rows_change_nothing() -> None:
    _, _, events, others, log_odds = tables()
    line = np.array([0.4, 0.7])
    padded = (np.r_[table, 0.0] for table in (events, others, log_odds))
    assert robust_limits("calibration_slope", 0.7, line, *padded, 0.95) == (
        robust_limits("calibration_slope", 0.7, line, events, others, log_odds, 0.95))


def test_a_flat_likelihood_has_no_limits() -> None:
    sure = np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 0.0])
    with pytest.raises(NoLimits, match="the likelihood is flat, so its curvature cannot estimate the error"):
        robust_limits("calibration_slope", 1.0, np.array([0.0, 1.0]), *sure, 0.95)


@pytest.mark.parametrize(("n", "intercept"), [(50, -3.4), (200, -4.4)])
def test_limits_cover_the_slope_where_events_are_few(n: int, intercept: float) -> None:
    """About three events: errors of the residuals alone cover 85 %, as a second simulation found."""
    generator, covered, sets = np.random.default_rng(12), 0, 0
    for _ in range(300):
        x = generator.normal(intercept, 1, n)
        y = (generator.random(n) < 1 / (1 + np.exp(-x))).astype(float)
        fitted = fit_logistic_line(y[None], 1 - y[None], x[None])
        line = np.array([fitted.intercept[0], fitted.slope[0]])
        if np.isfinite(line).all():
            lower, upper = robust_limits("calibration_slope", line[1], line, y, 1 - y, x, 0.95)
            covered += lower <= 1 <= upper
            sets += 1
    assert sets > 200
    assert covered / sets > 0.93  # 0.95 less a standard error and a half


BENT = 0.21169
"""The slope of the line through log odds that are 3 sinh of the true ones, of 400,000 rows."""


@pytest.mark.parametrize(("n", "straight"), [(50, True), (100, False), (400, False)])
def test_limits_cover_the_slope_as_often_as_they_say_where_the_line_bends_too(n: int, straight: bool) -> None:
    generator, covered, sets = np.random.default_rng(11), 0, 0
    for _ in range(300):
        true = generator.normal(0, 1.2, n)
        y = (generator.random(n) < 1 / (1 + np.exp(-true))).astype(float)
        x = true if straight else np.clip(3 * np.sinh(true), -27.6, 27.6)
        fitted = fit_logistic_line(y[None], 1 - y[None], x[None])
        line = np.array([fitted.intercept[0], fitted.slope[0]])
        if not np.isfinite(line).all():
            continue
        lower, upper = robust_limits("calibration_slope", line[1], line, y, 1 - y, x, 0.95)
        covered += lower <= (1.0 if straight else BENT) <= upper
        sets += 1
    assert sets > 290
    assert covered / sets > 0.92  # 0.94 less two standard errors; errors of the likelihood cover 89 to 91 % of the bent
