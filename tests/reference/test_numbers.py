"""Every metric of numbers against an independent source, over 100 random weighted data sets, every other one tied.

The sources are scikit-learn, scipy and numpy; what they lack is spelled out over rows. A source without weights is
given each row as often as its whole weight says, so these data sets have whole weights. Tolerance 1e-12, absolute and
relative: both sides sum up to a few hundred float64 terms in different orders; least-squares lines, found by another
route, are given 1e-10. What is undefined is not compared, and the number of comparisons is checked.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy import special, stats
from sklearn import metrics as sk

from evalpipe.metrics import registry
from evalpipe.statistics import NumberRows, Summary


class Data(NamedTuple):
    """Truth, prediction, leave-one-out prediction, weight, and the mean outcome in training."""

    y: Any
    p: Any
    out: Any
    w: Any
    mean: float

    def each(self) -> Data:
        """Repeat each row as often as its weight says."""
        times = self.w.astype(int)
        y, p, out = (np.repeat(values, times) for values in (self.y, self.p, self.out))
        return Data(y, p, out, np.ones(len(y)), self.mean)


def draw(seed: int) -> Data:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(12, 80))
    y = generator.poisson(6, n) + float(seed % 4 > 0)  # every fourth data set may have zeros
    p = np.maximum(y * generator.uniform(0.7, 1.2) + generator.normal(0, 2, n), 0.2)
    out = p + generator.normal(0, 0.5, n)
    if seed % 2:
        p, out = np.maximum(np.round(p), 1), np.round(out, 1)
    return Data(y, p, out, generator.integers(1, 5, n).astype(float), float(generator.uniform(4, 8)))


def reweighted(data: Data, seed: int) -> Data:
    return data._replace(w=np.random.default_rng(seed).gamma(1.0, 2.0, len(data.y)))


def mean(values: Any, data: Data) -> float:
    return float(np.average(values, weights=data.w))


def arguments(data: Data) -> dict[str, Any]:
    """Return the arguments of scikit-learn's measures."""
    return {"y_true": data.y, "y_pred": data.p, "sample_weight": data.w}


def correlation(data: Data) -> float:
    cov = np.cov(data.y, data.p, aweights=data.w)
    return float(cov[0, 1] / math.sqrt(cov[0, 0] * cov[1, 1]))


def concordance(data: Data, *, bias: bool) -> float:
    cov = np.cov(data.y, data.p, fweights=data.w.astype(int), ddof=0 if bias else 1)
    return float(2 * cov[0, 1] / (cov[0, 0] + cov[1, 1] + mean(data.y - data.p, data) ** 2))


def ideality(data: Data) -> float:
    r = data.y - data.p
    sides = [np.average(np.abs(r[side]), weights=data.w[side]) for side in (r < 0, r >= 0) if side.any()]
    return correlation(data) * min(sides) / max(sides)


def normalised_gini(data: Data) -> float:
    y, p = data.each()[:2]
    return float(np.cov(y, stats.rankdata(p))[0, 1] / np.cov(y, stats.rankdata(y))[0, 1])


def ranked_rightly(data: Data) -> float:
    found = possible = 0.0
    for i in range(len(data.y)):
        for j in range(len(data.y)):
            if data.y[i] > data.y[j]:
                possible += data.w[i] * data.w[j]
                found += data.w[i] * data.w[j] * ((data.p[i] > data.p[j]) + (data.p[i] == data.p[j]) / 2)
    return found / possible


def line(data: Data) -> Any:
    y, p = data.each()[:2]
    return stats.linregress(p, y)


def spread_over_error(data: Data) -> float:
    y, p = data.each()[:2]
    return float(np.std(y, ddof=1) / sk.root_mean_squared_error(y, p))


def quartiles_over_error(data: Data) -> float:
    y, p = data.each()[:2]
    return float(stats.iqr(y, interpolation="linear") / sk.root_mean_squared_error(y, p))


def chi_squared(data: Data) -> float:
    return float(sum(w * (y - p) ** 2 / p for y, p, w in zip(data.y, data.p, data.w, strict=True)))


def log_loss_of_counts(data: Data, floor: float) -> float:
    return -mean(stats.poisson.logpmf(data.y, np.maximum(data.p, floor)), data)


def against_training(data: Data) -> float:
    return float(1 - sk.mean_squared_error(**arguments(data)) / mean((data.y - data.mean) ** 2, data))


SOURCES: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "mse": [({}, lambda d: sk.mean_squared_error(**arguments(d)))],
    "rmse": [({}, lambda d: sk.root_mean_squared_error(**arguments(d)))],
    "rmse_relative": [({}, lambda d: sk.root_mean_squared_error(**arguments(d)) / np.ptp(d.y))],
    "mae": [({}, lambda d: sk.mean_absolute_error(**arguments(d)))],
    "median_absolute_error": [({}, lambda d: sk.median_absolute_error(**arguments(d)))],
    "max_error": [({}, lambda d: sk.max_error(d.y, d.p))],
    "mean_error": [({}, lambda d: mean(d.y - d.p, d))],
    "mape": [({}, lambda d: 100 * sk.mean_absolute_percentage_error(**arguments(d)))],
    "mpe": [({}, lambda d: 100 * mean((d.y - d.p) / d.y, d))],
    "smape": [({}, lambda d: 200 * mean(np.abs(d.y - d.p) / (d.y + d.p), d))],
    "msle": [({}, lambda d: sk.mean_squared_log_error(**arguments(d)))],
    "huber": [({}, lambda d: mean(special.huber(1, d.y - d.p), d)),
              ({"delta": 0.4}, lambda d: mean(special.huber(0.4, d.y - d.p), d))],
    "huber_pseudo": [({}, lambda d: mean(special.pseudo_huber(1, d.y - d.p), d)),
                     ({"delta": 0.4}, lambda d: mean(special.pseudo_huber(0.4, d.y - d.p), d))],
    "pinball": [({}, lambda d: sk.mean_pinball_loss(**arguments(d))),
                ({"alpha": 0.9}, lambda d: sk.mean_pinball_loss(**arguments(d), alpha=0.9))],
    "r2": [({}, lambda d: sk.r2_score(**arguments(d))), ({"baseline": "training"}, against_training)],
    "explained_variance": [({}, lambda d: sk.explained_variance_score(**arguments(d)))],
    "rsq": [({}, lambda d: correlation(d) ** 2)],
    "ccc": [({"bias": True}, lambda d: concordance(d, bias=True)), ({}, lambda d: concordance(d, bias=False))],
    "rpd": [({}, spread_over_error)],
    "rpiq": [({}, quartiles_over_error)],
    "iic": [({}, ideality)],
    "gini_coef": [({}, normalised_gini)],
    "c_index": [({}, ranked_rightly), ({}, lambda d: (stats.somersd(*d.each()[:2]).statistic + 1) / 2)],
    "linear_calibration_slope": [({}, lambda d: line(d).slope)],
    "linear_calibration_intercept": [({}, lambda d: line(d).intercept)],
    "press": [({}, lambda d: sk.mean_squared_error(d.y, d.out, sample_weight=d.w) * d.w.sum())],
    "pse": [({}, lambda d: sk.mean_squared_error(d.y, d.out, sample_weight=d.w))],
    "sep": [({}, lambda d: sk.root_mean_squared_error(d.y, d.out, sample_weight=d.w))],
    "q2": [({}, lambda d: sk.r2_score(d.y, d.out, sample_weight=d.w))],
    "pearson_chi2": [({}, chi_squared)],
    "pearson_dispersion": [({}, lambda d: chi_squared(d) / d.w.sum()),
                           ({"parameters": 3}, lambda d: chi_squared(d) / (d.w.sum() - 3))],
    "poisson_deviance": [({}, lambda d: sk.mean_poisson_deviance(**arguments(d)))],
    "d2_poisson": [({}, lambda d: sk.d2_tweedie_score(**arguments(d), power=1))],
    "poisson_log_loss": [({}, lambda d: log_loss_of_counts(d, 1e-15)),
                         ({"epsilon": 0.49}, lambda d: log_loss_of_counts(d, 0.49))],
    "observed_expected_ratio": [({}, lambda d: mean(d.y, d) / mean(d.p, d))],
    "gamma_deviance": [({}, lambda d: sk.mean_gamma_deviance(**arguments(d)))],
    "tweedie_deviance": [({}, lambda d: sk.mean_tweedie_deviance(**arguments(d), power=1.5)),
                         ({"power": 1.1}, lambda d: sk.mean_tweedie_deviance(**arguments(d), power=1.1)),
                         ({"power": 2.0}, lambda d: sk.mean_gamma_deviance(**arguments(d))),
                         ({"power": 2.5}, lambda d: sk.mean_tweedie_deviance(**arguments(d), power=2.5)),
                         ({"power": 3.0}, lambda d: sk.mean_tweedie_deviance(**arguments(d), power=3))],
    "d2_tweedie": [({}, lambda d: sk.d2_tweedie_score(**arguments(d), power=1.5)),
                   ({"power": 1.1}, lambda d: sk.d2_tweedie_score(**arguments(d), power=1.1)),
                   ({"power": 2.0}, lambda d: sk.d2_tweedie_score(**arguments(d), power=2)),
                   ({"power": 3.0}, lambda d: sk.d2_tweedie_score(**arguments(d), power=3))],
    "d2_absolute_error": [({}, lambda d: sk.d2_absolute_error_score(**arguments(d)))],
    "d2_pinball": [({}, lambda d: sk.d2_pinball_score(**arguments(d))),
                   ({"alpha": 0.9}, lambda d: sk.d2_pinball_score(**arguments(d), alpha=0.9)),
                   ({"alpha": 0.05}, lambda d: sk.d2_pinball_score(**arguments(d), alpha=0.05))],
}
CASES = [(name, number) for name, sources in SOURCES.items() for number in range(len(sources))]
OF_WHOLE_WEIGHTS = {
    "ccc", "rpd", "rpiq", "gini_coef", "linear_calibration_slope", "linear_calibration_intercept", "c_index",
}
LINES = {"linear_calibration_slope", "linear_calibration_intercept"}


def value(name: str, options: dict[str, Any], data: Data) -> float:
    rows, entry = NumberRows(data.y, data.p, data.out, data.mean), registry[name]
    return float(Summary(rows, data.w).value(entry, entry.options(**options).model_dump()))


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # sources divide by a truth of zero: not compared
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("name", "number"), CASES, ids=[f"{name}-{number}" for name, number in CASES])
@pytest.mark.parametrize("sets", [30, pytest.param(100, marks=pytest.mark.nightly)])
def test_an_independent_source_agrees(name: str, number: int, sets: int) -> None:
    (options, source), compared = SOURCES[name][number], 0
    within = 1e-10 if name in LINES else 1e-12
    for seed in range(sets):
        data = draw(seed)
        if name not in OF_WHOLE_WEIGHTS:
            data = reweighted(data, seed)
        found = value(name, options, data)
        if not math.isnan(found):
            compared += 1
            assert found == pytest.approx(float(source(data)), rel=within, abs=within), f"data set {seed}"
    assert compared >= 0.75 * sets


@pytest.mark.metrics("c_index")
def test_many_pairs_are_counted_as_one_by_one() -> None:
    generator = np.random.default_rng(11)
    for n in (1, 2, 3, 64, 65, 700):
        y, p = generator.integers(0, 30, n) / 2, generator.integers(0, 25, n) / 4
        w = generator.integers(0, 4, n).astype(float)
        pair = w[:, None] * w * (y[:, None] > y)
        scored = (p[:, None] > p) + (p[:, None] == p) / 2
        assert Summary(NumberRows(y, p), w)("concordant") == (pair * scored).sum()  # whole and half numbers: exact


@pytest.mark.metrics("mse", "rmse", "r2", "median_absolute_error")
def test_the_apartments_of_the_book(reference: Path) -> None:
    table = pl.read_csv(reference / "apartments" / "test.csv")
    y, p = (table[column].to_numpy().astype(float) for column in ("m2_price", "pred_lm"))
    data = Data(y, p, p, np.ones(len(y)), 0.0)
    # All the digits that its linear model is listed with.
    figures = {
        "mse": (80137.98, 2), "rmse": (283.0865, 4), "r2": (0.9011624, 7), "median_absolute_error": (212.7067, 4),
    }
    for name, (figure, digits) in figures.items():
        assert round(value(name, {}, data), digits) == figure
        assert value(name, {}, data) == pytest.approx(float(SOURCES[name][0][1](data)), rel=1e-12)


LEVERAGE_X = np.array([1.0, 2.0, 4.0, 7.0, 11.0])


@pytest.mark.metrics("press", "q2")
def test_press_of_a_line_is_that_of_its_leverages() -> None:
    y = np.array([2.0, 1.5, 5.0, 6.0, 12.5])
    design = np.column_stack([np.ones(5), LEVERAGE_X])
    hat = design @ np.linalg.pinv(design)
    fitted, leverage = hat @ y, np.diag(hat)
    out = np.array([
        np.polyval(np.polyfit(np.delete(LEVERAGE_X, i), np.delete(y, i), 1), LEVERAGE_X[i]) for i in range(5)
    ])
    found = value("press", {}, Data(y, fitted, out, np.ones(5), 0.0))
    assert found == pytest.approx((((y - fitted) / (1 - leverage)) ** 2).sum(), rel=1e-10)  # two least-squares routes
    assert value("q2", {}, Data(y, fitted, out, np.ones(5), 0.0)) < value("r2", {}, Data(y, fitted, out, np.ones(5), 0))
