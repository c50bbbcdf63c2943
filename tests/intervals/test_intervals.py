"""Intervals against statsmodels' formulas as scipy gives them, and the bootstrap's draw against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from evalpipe.intervals.binomial import clopper_pearson, wald, wilson
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.resampling import Design, replicate_weights


@pytest.mark.parametrize(("method", "ours"), [("exact", clopper_pearson), ("wilson", wilson)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("x", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (1, 20), (7, 20), (4793, 6107)])
def test_binomial_limits_are_scipys(method: str, ours: object, level: float, x: int, n: int) -> None:
    assert callable(ours)
    theirs = binomtest(x, n).proportion_ci(level, method=method)
    lower, upper = ours(x, n, level)
    # 1e-9: scipy finds its Clopper-Pearson limits by root finding.
    assert (float(lower), float(upper)) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("ours", [clopper_pearson, wald, wilson])
def test_no_trials_have_no_limits(ours: object) -> None:
    assert callable(ours)
    assert np.isnan(ours([0, 3], [0, 4], 0.95)).tolist() == [[True, False], [True, False]]


def draws(**changes: object) -> np.ndarray:
    drawn = {"replicates": 200, "seed": 1, "dataset": "a"}
    design = Design(**({"n": 50} | {key: value for key, value in changes.items() if key not in drawn}))  # type: ignore[arg-type]
    asked = drawn | {key: value for key, value in changes.items() if key in drawn}
    return np.concatenate(list(replicate_weights(design, **asked)))  # type: ignore[arg-type]


def test_each_replicate_draws_n_rows_with_replacement() -> None:
    weights = draws()
    assert weights.shape == (200, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert (weights == weights.astype(int)).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(50), abs=0.35)  # 5 standard errors of a count's mean
    assert (weights == 0).mean() == pytest.approx((1 - 1 / 50) ** 50, abs=0.02)


def test_batches_do_not_change_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draws()
    monkeypatch.setattr("evalpipe.intervals.resampling.HELD", 150)
    assert (draws() == whole).all()


def test_more_replicates_keep_the_earlier_ones() -> None:
    assert (draws(replicates=300)[:200] == draws()).all()


@pytest.mark.parametrize("change", [{"seed": 2}, {"dataset": "b"}])
def test_seed_and_dataset_change_the_draw(change: dict[str, object]) -> None:
    assert not (draws(**change) == draws()).all()


def test_importance_weights_multiply_counts() -> None:
    weight = np.linspace(0.5, 2, 50)
    assert (draws(weight=weight, kind="importance") == draws() * weight).all()


def test_frequency_weights_resample_observations() -> None:
    weight = np.arange(50.0)
    weights = draws(weight=weight, kind="frequency")
    assert (weights.sum(axis=1) == weight.sum()).all()
    assert weights.mean(axis=0) == pytest.approx(weight, abs=5 * np.sqrt(49 / 200))


def test_percentile_limits_leave_undefined_replicates_out() -> None:
    values = np.array([np.nan, *np.arange(101.0)])
    assert percentile_limits(values, 0.9) == pytest.approx((5, 95))
    assert percentile_limits(np.array([np.nan, 1.0]), 0.9) is None


def test_clusters_are_drawn_whole() -> None:
    cluster = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 6, 7, 8, 9])
    weights = draws(cluster=cluster)
    counts = np.stack([row[np.unique(cluster, return_index=True)[1]] for row in weights])
    assert (weights == counts[:, cluster]).all()
    assert (counts.sum(axis=1) == 10).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.35)  # 5 standard errors of a count's mean


def test_strata_keep_their_sizes() -> None:
    strata = np.repeat([0, 2], [20, 30])  # a level that does not occur has no rows to draw
    weights = draws(strata=strata)
    assert (weights[:, :20].sum(axis=1) == 20).all()
    assert (weights[:, 20:].sum(axis=1) == 30).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(50), abs=0.35)
    times = np.tile([1.0, 3.0], 25)
    heavy = draws(strata=strata, weight=times, kind="frequency")
    assert (heavy[:, :20].sum(axis=1) == times[:20].sum()).all()
    assert heavy.mean(axis=0) == pytest.approx(times, abs=0.65)
