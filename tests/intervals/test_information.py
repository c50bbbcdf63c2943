"""Limits of the logistic line against statsmodels, which ends its steps where the deviance changes by 1e-8: to 1e-6."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from evalpipe.intervals.analytic import information_limits
from evalpipe.intervals.declare import NoLimits

CLOSE = 1e-6


def tables(n: int = 250) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return log odds and outcomes of rows, and the events, non-events and totals of log odds at distinct places."""
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(0.5, 1.5, n), 1)
    y = (rng.random(n) < 1 / (1 + np.exp(-(0.4 + 0.7 * x)))).astype(float)
    places, at = np.unique(x, return_inverse=True)
    events, others = (np.bincount(at, weights=part, minlength=len(places)) for part in (y, 1 - y))
    return x, y, events, others, places * (events + others)


def test_the_limits_of_the_slope_are_those_of_a_logistic_regression() -> None:
    x, y, *totals = tables()
    fitted = sm.Logit(y, sm.add_constant(x)).fit(disp=0)
    limits = information_limits("calibration_slope", float(fitted.params[1]), *totals, 0.95)
    assert limits == pytest.approx(tuple(fitted.conf_int(0.05)[1]), rel=CLOSE)


def test_the_limits_in_the_large_are_those_of_an_intercept_beside_an_offset() -> None:
    x, y, *totals = tables()
    fitted = sm.GLM(y, np.ones_like(x), family=sm.families.Binomial(), offset=x).fit()
    limits = information_limits("calibration_in_the_large", float(fitted.params[0]), *totals, 0.9)
    assert limits == pytest.approx(tuple(fitted.conf_int(0.1)[0]), rel=CLOSE)


def test_places_without_rows_change_nothing() -> None:
    _, _, events, others, log_odds = tables()
    padded = (np.r_[table, 0.0] for table in (events, others, log_odds))
    assert information_limits("calibration_slope", 0.7, *padded, 0.95) == (
        information_limits("calibration_slope", 0.7, events, others, log_odds, 0.95))


def test_a_flat_likelihood_has_no_limits() -> None:
    sure = np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 0.0])
    with pytest.raises(NoLimits, match="the likelihood is flat, so its curvature cannot estimate the error"):
        information_limits("calibration_slope", 1.0, *sure, 0.95)
