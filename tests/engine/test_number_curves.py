"""Curves of models of numbers against numpy, scipy, plain loops and the table of residuals in Biecek & Burzykowski.

Where a value is read off the data, it is equal; sums of weights and means differ by rounding alone (1e-12). The
equations of a smooth line are ill-conditioned: sums that differ in the last digit move it by up to 1e-6; `LINE` allows
ten times as much.
"""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.interpolate import make_smoothing_spline
from scipy.stats import poisson

import evalpipe
from evalpipe.engine.curves.declare import CurveRows, computed_curves
from evalpipe.engine.curves.numbers import quantiles
from evalpipe.engine.curves.residual_tests import CAUTION, GROUPS, PENALTIES, smooth
from evalpipe.statistics import NumberRows, Summary
from few_by_day import by_night

NAMES = {
    "residual_quantiles", "residual_box", "residual_histogram", "residual_ecdf", "observed_predicted",
    "observed_predicted_smooth", "residual_predicted", "residual_predicted_smooth",
}
LINE = 1e-5
PLAN = SimpleNamespace(calibration=SimpleNamespace(left_out=frozenset()), residuals=None)
"""What of a plan these curves read."""
Found = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def curves(
    truth: Any, predicted: Any, weight: Any = None, task: str = "regression", kind: str | None = "frequency"
) -> Found:
    y, p = np.asarray(truth, float), np.asarray(predicted, float)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    sample = SimpleNamespace(task=task, weight_kind=kind, cluster=None)
    rows = CurveRows("numbers", PLAN, sample, Summary(NumberRows(y, p), w))  # type: ignore[arg-type]
    return {name: (points, notes.model_dump()) for name, points, notes in computed_curves(rows)}


def data(n: int, seed: int = 5, *, ties: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return truth, prediction and whole weights, with ties and skewed residuals."""
    rng = np.random.default_rng(seed)
    p = rng.gamma(3, 2, n)
    y = np.round(p + rng.gamma(2, 1, n) - 2.3, 1) if ties else p + rng.gamma(2, 1, n) - 2.3
    return y, np.round(p, 1) if ties else p, rng.integers(1, 4, n).astype(float)


def assert_same(one: Found, other: Found, tolerance: float) -> None:
    assert one.keys() == other.keys()
    for name, (points, notes) in one.items():
        most = LINE if name.endswith("smooth") and tolerance else tolerance
        assert points.keys() == other[name][0].keys()
        for key, values in points.items():
            assert values == pytest.approx(other[name][0][key], rel=most, abs=most), (name, key)
        assert notes == pytest.approx(other[name][1], rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("n", [1, 7, 150, 2000])
@pytest.mark.parametrize("task", ["regression", "count"])
def test_a_row_of_weight_three_is_three_rows(n: int, task: str) -> None:
    y, p, w = data(n)
    y, p = (np.round(np.abs(y)), p + 0.1) if task == "count" else (y, p)
    times = w.astype(int)
    assert_same(curves(y, p, w, task), curves(np.repeat(y, times), np.repeat(p, times), task=task), 1e-12)


def test_the_order_of_rows_changes_nothing() -> None:
    y, p, w = data(1500)
    w = w / 7
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(curves(y, p, w), curves(y[order], p[order], w[order]), 1e-12)


def test_a_row_of_weight_zero_is_no_row() -> None:
    y, p, w = data(60)
    with_more = curves(np.r_[y, 1000.0], np.r_[p, -1000.0], np.r_[w, 0.0])
    assert_same(with_more, curves(y, p, w), 0.0)
    assert curves([1.0], [2.0], [0.0]) == {}


def test_the_scale_of_weights_matters_only_to_totals() -> None:
    y, p, w = data(300)
    one, ten = (curves(y, p, times * w, kind="importance") for times in (1, 10))
    totals = ("residual_histogram", "residual_outliers", "residual_box")
    scaled = ({k: v for k, v in found.items() if k not in totals} for found in (one, ten))
    assert_same(*scaled, 1e-12)
    for name in totals[:2]:
        assert ten[name][0]["weight"] == pytest.approx(10 * np.array(one[name][0]["weight"]), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 11, 40, 333])
def test_quantiles_are_those_of_numpy(n: int) -> None:
    y, p, w = data(n)
    r = y - p
    shares = np.arange(11) / 10
    repeated = np.repeat(r, w.astype(int))
    for values, weights, oracle in ((r, None, r), (r, w, repeated)):
        points = curves(y, p, weights)["residual_quantiles"][0]
        assert points["share"] == shares.tolist()
        # 1e-12: numpy interpolates from the nearer of the two rows, ours from the lower one
        assert points["residual"] == pytest.approx(np.quantile(oracle, shares), rel=1e-12)
        assert points["absolute_residual"] == pytest.approx(np.quantile(np.abs(oracle), shares), rel=1e-12)
        assert points["residual"][0] == values.min()
        assert points["residual"][-1] == values.max()


def test_a_share_is_reached_whatever_the_rounding_of_the_weights() -> None:
    # 0.1 + 0.2 exceeds 0.3 and ten tenths fall short of one; by proportion both halves weigh the same.
    assert quantiles(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), np.array([0.5])).tolist() == [2.5]
    assert quantiles(np.arange(10.0), np.full(10, 0.1), np.array([0.1, 0.7, 1.0])).tolist() == [0.5, 6.5, 9.0]


BOOK = [
    -0.98457244, -0.31904861, -0.23408037, -0.20311483, -0.15200813, -0.10318060, -0.06933478, 0.05858024, 0.29306442,
    0.73666519, 0.97151255,
]


def test_the_residual_deciles_of_the_book(reference: Path) -> None:
    """The table of the logistic model in Explanatory Model Analysis, 15.6: all eleven, to the 8 decimals printed."""
    with (reference / "titanic" / "lrm.csv").open() as file:
        rows = list(csv.DictReader(file))
    truth, predicted = (np.array([float(row[name]) for row in rows]) for name in ("survived", "p_lrm"))
    assert curves(truth, predicted)["residual_quantiles"][0]["residual"] == pytest.approx(BOOK, abs=5e-9)


def test_the_box_of_absolute_residuals() -> None:
    y, p, _ = data(400)
    sizes = np.sort(np.abs(y - p))
    points, notes = curves(y, p)["residual_box"]
    lower, median, upper = np.quantile(sizes, [0.25, 0.5, 0.75], method="averaged_inverted_cdf")
    inside = [x for x in sizes if lower - 1.5 * (upper - lower) <= x <= upper + 1.5 * (upper - lower)]
    assert points == {
        "lower_whisker": [inside[0]], "lower_quartile": [lower], "median": [median], "upper_quartile": [upper],
        "upper_whisker": [inside[-1]],
    }
    assert notes == pytest.approx(
        {"rmse": np.sqrt(np.mean(sizes**2)), "mean": sizes.mean(), "outliers": 400 - len(inside)}, rel=1e-12
    )
    assert 0 < notes["outliers"] < 40


def test_the_largest_outliers_are_kept_and_the_rest_counted() -> None:
    residual = np.r_[np.linspace(1, 2, 1000), np.arange(100.0, 130.0), 129.0]
    found = curves(residual, np.zeros(1031))
    assert found["residual_box"][1]["outliers"] == 31
    points, notes = found["residual_outliers"]
    assert points["absolute_residual"] == np.arange(110.0, 130.0).tolist()
    assert points["weight"] == [1.0] * 19 + [2.0]
    assert notes == {"points_of": 30}
    assert "residual_outliers" not in curves(residual[:1000], np.zeros(1000))


def test_small_absolute_residuals_lie_beyond_the_lower_whisker() -> None:
    found = curves(np.r_[np.full(90, 10.0), np.linspace(9.9, 10.1, 200), 0.5], np.zeros(291))
    assert found["residual_outliers"][0]["absolute_residual"][0] == 0.5
    assert found["residual_box"][0]["lower_whisker"] == [9.9]


def test_the_histogram_is_numpys() -> None:
    y, p, w = data(500, ties=False)
    points = curves(y, p, w)["residual_histogram"][0]
    counts, edges = np.histogram(y - p, bins=25, weights=w)
    assert points["weight"] == pytest.approx(counts, rel=1e-12)
    assert points["low"] == pytest.approx(edges[:-1], rel=1e-12)
    assert points["high"] == pytest.approx(edges[1:], rel=1e-12)


def test_the_reversed_distribution_against_a_loop() -> None:
    y, p, w = data(120)
    points, notes = curves(y, p, w)["residual_ecdf"]
    sizes = np.abs(y - p)
    assert points["absolute_residual"][0] == 0.0
    assert points["share_above"][-1] == 0.0
    expected = [w[sizes > at].sum() / w.sum() for at in points["absolute_residual"]]
    assert points["share_above"] == pytest.approx(expected, rel=1e-12)
    assert notes == {}
    many, notes = curves(*data(5000, ties=False)[:2])["residual_ecdf"]
    assert len(many["share_above"]) == 500
    assert notes == {"points_of": 5001}


def test_every_list_is_bounded_and_as_long_as_its_neighbours() -> None:
    y, p, _ = data(20_000, ties=False)
    for name, (points, _) in curves(np.round(np.abs(y) * 9), p, task="count").items():
        (length,) = {len(values) for values in points.values()}
        assert length <= 500, name


def test_the_points_are_rows_spread_evenly_by_prediction() -> None:
    y, p, _ = data(4000, ties=False)
    found = curves(y, p)
    points, notes = found["observed_predicted"]
    slope, intercept = np.polyfit(p, y, 1)
    # Both are least squares of 4,000 rows in double precision.
    assert notes == {"points_of": 4000, "slope": pytest.approx(slope, rel=1e-10),
                     "intercept": pytest.approx(intercept, rel=1e-8)}
    order = np.argsort(p)
    rank = np.searchsorted(p[order], points["predicted"])
    assert np.diff(rank).tolist() == [10] * 399
    assert points["observed"] == y[order][rank].tolist()
    assert found["residual_predicted"][0]["residual"] == (y - p)[order][rank].tolist()
    few, notes = curves(y[:400], p[:400])["observed_predicted"]
    assert (sorted(few["observed"]), set(notes)) == (sorted(y[:400].tolist()), {"slope", "intercept"})
    assert curves(y[:400], np.ones(400))["observed_predicted"][1] == {}


def score(x: np.ndarray, y: np.ndarray, w: np.ndarray, penalty: float) -> float:
    """The criterion of generalised cross-validation, by the hat matrix: a spline for each unit vector."""
    hat = np.array([make_smoothing_spline(x, row, w, lam=penalty)(x) for row in np.eye(len(x))]).T
    spare = len(x) - CAUTION * np.trace(hat)
    return float((w * (y - hat @ y) ** 2).sum() / spare**2) if spare > 0 else np.inf


@pytest.mark.parametrize("seed", [by_night(1), 2, by_night(3)])
def test_the_smooth_line_is_the_spline_of_least_cross_validation_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.linspace(2, 7, 30) + rng.uniform(-0.07, 0.07, 30)
    y = np.sin(2 * x) * (seed - 1) + rng.normal(0, 0.3, 30)
    w = rng.integers(1, 4, 30).astype(float)
    at, line, notes = smooth(x, y, w)
    place, weight = (x - x[0]) / (x[-1] - x[0]), w / w.mean()
    best = min(PENALTIES * 30, key=lambda penalty: score(place, y, weight, penalty))
    assert notes.model_dump() == {"groups": 30, "smoothed": True}
    assert at == pytest.approx(x, rel=1e-12)
    assert line == pytest.approx(make_smoothing_spline(place, y, weight, lam=best)(place), rel=LINE, abs=LINE)


@pytest.mark.parametrize("n", [60, 300, 9000])
def test_a_wave_is_followed_and_a_straight_line_left_straight(n: int) -> None:
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 4, n))
    noise = rng.normal(0, 0.2, n)
    at, line, _ = smooth(x, np.sin(4 * x) + noise, np.ones(n))
    # A quarter of the wave's height; with n = 60 the mean of the noise alone is a tenth of it.
    assert np.abs(line - np.sin(4 * at)).max() < 0.25
    at, line, _ = smooth(x, x + noise, np.ones(n))
    slope, start = np.polyfit(x, x + noise, 1)
    # Grouping rows moves a fitted straight line by far less than the noise.
    assert np.abs(line - (start + slope * at)).max() < 0.05


def test_groups_have_equal_weight_and_never_split_equal_predictions() -> None:
    x = np.repeat(np.arange(1000.0), 3)
    y = np.random.default_rng(2).normal(size=3000)
    at, _, notes = smooth(x, y, np.ones(3000))
    assert notes.groups == GROUPS
    assert at.tolist() == (np.arange(GROUPS) * 5 + 2.0).tolist()
    w = np.repeat([9, 1], 1500)
    alike = np.repeat(x, w)
    assert smooth(x, y, w.astype(float))[0] == pytest.approx(smooth(alike, alike, np.ones(len(alike)))[0], rel=1e-12)


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_of_few_predictions_the_means_are_given(levels: int) -> None:
    y, _, w = data(40)
    p = np.arange(40.0) % levels
    points, notes = curves(y, p, w)["observed_predicted_smooth"]
    assert notes == {"groups": levels, "smoothed": False}
    means = [np.average(y[p == level], weights=w[p == level]) for level in range(levels)]
    assert points["observed"] == pytest.approx(means, rel=1e-12)
    assert points["predicted"] == pytest.approx(np.arange(float(levels)), abs=1e-12)


@pytest.mark.parametrize(("offset", "spread"), [(0.0, 1e-6), (0.0, 1e6), (1e9, 1.0), (1e9, 1e6)])
def test_the_smooth_line_moves_with_the_numbers(offset: float, spread: float) -> None:
    y, p, w = data(200)
    order = np.argsort(p, kind="stable")
    y, p, w = y[order], p[order], w[order]
    at, line, _ = smooth(p, y, w)
    moved, other, _ = smooth(offset + spread * p, offset + spread * y, w)
    # LINE holds at 1e9 too, where numbers are stored to 1e-7.
    assert (moved - offset) / spread == pytest.approx(at, rel=LINE, abs=LINE)
    assert (other - offset) / spread == pytest.approx(line, rel=LINE, abs=LINE)


@pytest.mark.parametrize(
    "predicted",
    [
        np.random.default_rng(1).standard_cauchy(3000), np.random.default_rng(2).lognormal(0, 4, 3000),
        np.r_[np.random.default_rng(3).normal(0, 1e-12, 500), 1.0, 2.0], np.r_[np.zeros(500), np.arange(9.0)],
        np.r_[1e-300, 1e300, np.arange(20.0)],
    ],
    ids=["cauchy", "lognormal", "nearly equal", "one heavy value", "far apart"],
)
def test_no_spread_of_predictions_breaks_the_line(predicted: np.ndarray) -> None:
    x = np.sort(predicted)
    y = np.random.default_rng(4).normal(3, 1, len(x))
    at, line, _ = smooth(x, y, np.ones(len(x)))
    assert (np.diff(at) > 0).all()
    assert (np.abs(line - 3) < 5).all()


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [
        ([3.0], [1.0]), ([3.0], [3.0]), ([3.0] * 9, [3.0] * 9), ([5.0] * 40, np.arange(40.0)),
        (np.arange(40.0), [5.0] * 40), (np.arange(40.0), np.arange(40.0)), (np.arange(40.0) + 7, np.arange(40.0)),
        ([0.0, 1e9], [0.0, 0.0]), (np.arange(9.0) + 1e-12, np.arange(9.0)),
    ],
    ids=["one row", "one exact row", "all the same", "constant truth", "constant prediction", "exact", "shifted",
         "two", "nearly exact"],
)
@pytest.mark.parametrize("task", ["regression", "count"])
def test_degenerate_rows_give_finite_curves(truth: Any, predicted: Any, task: str) -> None:
    y = np.floor(truth) if task == "count" else np.asarray(truth)
    p = np.asarray(predicted) + (0.5 if task == "count" else 0.0)
    found = curves(y, p, task=task)
    assert found.keys() - {"residual_outliers", "rootogram"} == NAMES
    assert all(np.isfinite(values).all() for points, _ in found.values() for values in points.values())
    bins = found["residual_histogram"][0]
    assert sum(bins["weight"]) == len(y)
    assert all(low < high for low, high in zip(bins["low"], bins["high"], strict=True))
    box = [values[0] for values in found["residual_box"][0].values()]
    assert box == sorted(box)


def test_the_rootogram_against_scipy() -> None:
    rng = np.random.default_rng(8)
    p = rng.gamma(2, 2, 300) + 0.1
    y, w = rng.poisson(p).astype(float), rng.integers(1, 4, 300).astype(float)
    points, notes = curves(y, p, w, "count")["rootogram"]
    counts = np.arange(y.max() + 1)
    assert points["count"] == counts.tolist()
    assert points["observed"] == [w[y == k].sum() for k in counts]
    assert points["expected"] == pytest.approx([(w * poisson.pmf(k, p)).sum() for k in counts], rel=1e-11)
    above = (w * poisson.sf(y.max(), p)).sum()
    chance = np.exp(-p)
    statistic = (w * ((y == 0) - chance)).sum() / np.sqrt((w * chance * (1 - chance)).sum())
    assert notes == {"last_or_more": False, "expected_above": pytest.approx(above, rel=1e-9),
                     "zeros_statistic": pytest.approx(statistic, rel=1e-9), "zeros_p_value": notes["zeros_p_value"]}


def test_counts_above_the_last_bin_are_in_it() -> None:
    y, p = np.r_[np.arange(50.0), 400.0], np.full(51, 35.0)
    points, notes = curves(y, p, task="count")["rootogram"]
    assert points["count"] == list(range(41))
    assert points["observed"] == [1.0] * 40 + [11.0]
    assert points["expected"][-1] == pytest.approx(51 * poisson.sf(39, 35), rel=1e-11)
    assert sum(points["expected"]) == pytest.approx(51, rel=1e-11)
    assert (notes["last_or_more"], notes["expected_above"]) == (True, 0.0)
    exactly = curves([0.0, 40.0], [20.0, 30.0], task="count")["rootogram"]
    assert exactly[1]["last_or_more"] is False


def test_a_run_holds_the_curves_and_agrees_with_its_measures(reference: Path) -> None:
    frame = pl.read_csv(reference / "apartments" / "test.csv")
    results = evalpipe.run(
        {
            "evalpipe": 1, "name": "apartments", "task": "regression", "outcome": {"column": "m2_price", "unit": "€"},
            "datasets": {"test": {"path": "memory"}}, "models": {"lm": {"prediction": "pred_lm"}},
            "metrics": ["rmse", "mae", "median_absolute_error"], "intervals": {"replicates": 100},
            "report": {"formats": []},
        },
        frames={"test": frame},
    )
    found = {curve.curve: curve for curve in results.curves}
    value = {row.metric: row.value for row in results.rows}
    assert found.keys() == NAMES
    box = found["residual_box"]
    means = {"rmse": value["rmse"], "mean": value["mae"], "outliers": 0}
    assert box.notes.model_dump() == pytest.approx(means, rel=1e-12)
    assert box.points.median == pytest.approx([value["median_absolute_error"]], rel=1e-12)
    # As the chapter's model gives them, to the digits of the reference table.
    assert (box.notes.rmse, box.points.median[0]) == pytest.approx((283.0865, 212.7067), abs=5e-5)
    distinct = frame.select("m2_price", "pred_lm").unique().height
    assert found["observed_predicted"].notes.points_of == distinct
