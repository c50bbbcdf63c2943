"""Limits of few clusters: Student's, on the scale of the measure, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t

from evalpipe.intervals.bootstrap import cluster_limits, percentile_limits
from evalpipe.intervals.declare import FEW_CLUSTERS

UNIT = (0.0, 1.0)
SETS, DRAWS, ROWS = 1000, 300, 20
"""Two standard errors of a coverage of 95 % in so many data sets are 1.4 points."""


def replicates() -> np.ndarray:
    return np.linspace(0.65, 0.75, 401)


def test_the_limits_are_students_on_the_logit_scale() -> None:
    drawn = replicates()
    low, high = np.quantile(drawn, [0.025, 0.975])
    error = (high - low) / (2 * 1.959963984540054) * math.sqrt(8 / 7) / (0.7 * 0.3)
    reach = t.ppf(0.975, 7) * error
    found = cluster_limits(drawn, 0.7, 8, UNIT, 0.95)
    assert found is not None
    assert found.method is None
    assert found[:2] == pytest.approx((expit(logit(0.7) - reach), expit(logit(0.7) + reach)), rel=1e-12)


def test_other_ranges_have_other_scales() -> None:
    for bounds, to in (((0.0, math.inf), np.log), ((-math.inf, math.inf), np.asarray)):
        found = cluster_limits(replicates(), 0.7, 8, bounds, 0.95)
        assert found is not None
        assert to(found[0]) + to(found[1]) == pytest.approx(2 * to(0.7), rel=1e-12)


@pytest.mark.parametrize(("clusters", "value"), [(FEW_CLUSTERS + 1, 0.7), (None, 0.7), (1, 0.7), (8, 1.0)])
def test_percentiles_stand_in(clusters: int | None, value: float) -> None:
    drawn = replicates()
    assert cluster_limits(drawn, value, clusters, UNIT, 0.95) == (*percentile_limits(drawn, 0.95), "percentile")


def test_without_two_replicates_there_are_no_limits() -> None:
    assert cluster_limits(np.array([0.7, np.nan]), 0.7, 8, UNIT, 0.95) is None


@pytest.mark.parametrize("clusters", [5, 12])
def test_limits_hold_the_true_share_where_quantiles_do_not(clusters: int) -> None:
    """Shares of clusters are beta distributed with an intraclass correlation of 0.1 and a mean of 0.7."""
    generator = np.random.default_rng(364)
    shares = generator.binomial(ROWS, generator.beta(0.7 * 9, 0.3 * 9, (SETS, clusters))) / ROWS
    drawn = shares[np.arange(SETS)[:, None, None], generator.integers(0, clusters, (SETS, DRAWS, clusters))].mean(2)
    held = np.zeros(2)
    for one, known in zip(shares, drawn, strict=True):
        for i, limits in enumerate((cluster_limits(known, one.mean(), clusters, UNIT, 0.95),
                                    percentile_limits(known, 0.95))):
            assert limits is not None
            held[i] += limits[0] <= 0.7 <= limits[1]
    # Four standard errors below and above 95 %: 2.8 points.
    assert abs(held[0] / SETS - 0.95) < 0.028
    assert held[1] / SETS < 0.922
