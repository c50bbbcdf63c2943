"""The test of the number of zeros, against the exact distribution of a sum of unlike rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, poisson_binom

from engine.runs import run
from evalpipe.engine.curves.residual_tests import zeros


def counts(n: int, mean: float, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    predicted = mean * generator.gamma(4, 0.25, n)
    return generator.poisson(predicted).astype(float), predicted


def test_many_zeros_have_the_normal_test_of_their_exact_variance() -> None:
    truth, predicted = counts(2000, 1.5)
    test = zeros(truth, predicted, np.ones(2000), 2000.0)
    assert test is not None
    chances = np.exp(-predicted)
    exact = poisson_binom(chances)
    statistic = ((truth == 0).sum() - exact.mean()) / exact.std()
    assert test.statistic == pytest.approx(statistic, rel=1e-9)  # the same sums
    assert test.p_value == pytest.approx(2 * norm.sf(abs(statistic)), rel=1e-9)


@pytest.mark.parametrize("observed", [0, 1, 2, 3, 5, 9])
def test_few_zeros_are_never_surer_than_the_exact_tail(observed: int) -> None:
    _, predicted = counts(200, 5.0)
    truth = np.r_[np.zeros(observed), np.ones(200 - observed)]
    test = zeros(truth, predicted, np.ones(200), 200.0)
    assert test is not None
    exact = poisson_binom(np.exp(-predicted))
    tail = min(exact.cdf(observed), exact.sf(observed - 1))
    assert test.p_value >= min(2 * tail, 1) - 0.001  # beyond the mean the two cross, far from any level
    assert test.p_value <= 3 * tail * 2


def test_one_zero_of_a_hundredth_expected_is_no_proof() -> None:
    test = zeros(np.r_[0.0, np.ones(9)], np.full(10, -np.log(0.001)), np.ones(10), 10.0)
    assert test is not None
    assert test.statistic > 9
    assert test.p_value == pytest.approx(2 * (1 - np.exp(-0.01)), rel=1e-9)


def test_a_weight_of_two_is_two_rows_and_clusters_have_no_test() -> None:
    truth, predicted = counts(300, 1.5)
    double = zeros(truth, predicted, np.full(300, 2.0), 600.0)
    twice = zeros(np.tile(truth, 2), np.tile(predicted, 2), np.ones(600), 600.0)
    assert (double, twice) != (None, None)
    assert double is not None
    assert twice is not None
    assert double.statistic == pytest.approx(twice.statistic, rel=1e-9)
    frame = pl.DataFrame({"y": truth.astype(int), "p": predicted, "who": np.arange(300) // 3})
    spec: dict[str, Any] = {"task": "count", "outcome": {"column": "y"}, "models": {"m": {"prediction": "p"}},
                            "metrics": ["mae"], "intervals": {"method": "none"}}
    notes = [next(c.notes for c in run(frame, **spec, **more).curves if c.curve == "rootogram")
             for more in ({}, {"cluster": "who"})]
    assert [note.model_dump().get("zeros_p_value") is None for note in notes] == [False, True]
