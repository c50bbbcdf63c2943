"""Laws that every metric of numbers obeys, over all that are registered.

Tolerances: 1e-12 relative, since two orders of summing a hundred float64 terms differ by a few units in the last place;
1e-6 for a shift by 1e8, which itself rounds the data to 1.5e-8.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from evalpipe.metrics import Metric, metric, ratio, registry
from evalpipe.statistics import NumberRows, Summary, residuals, statistics
from reference.test_numbers import SOURCES

CLOSE = 1e-12
N = 97


def options_of_sources(name: str) -> tuple[dict[str, Any], ...]:
    """Return the options of a metric that have an independent source, completed, each once."""
    filled = [registry[name].options(**options).model_dump() for options, _ in SOURCES[name]]
    return tuple(options for place, options in enumerate(filled) if options not in filled[:place])


VARIANTS = {name: options_of_sources(name) for name in SOURCES}
"""Every option value that the laws cover."""

ENTRIES = [entry for entry in registry if entry.sees == "numbers"]
CASES = [(entry.name, options) for entry in ENTRIES for options in VARIANTS.get(entry.name, ({},))]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}".rstrip("-") for name, options in CASES]
every_metric = pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)

OPTIONS = {"baseline": "training", "delta": 0.7, "alpha": 0.3, "epsilon": 1e-15, "power": 1.7}
USED = sorted({name for entry in ENTRIES for name in entry.statistics})

COUNTS_ROWS = [("ccc", {"bias": False}), ("rpd", {}), ("rpiq", {}), ("pearson_dispersion", {"parameters": 3})]
"""Metrics whose weights count rows, since n - 1, n - p or a place among n rows is part of their definition."""

RELATIVE = {
    "mape", "mpe", "smape", "msle", "linear_calibration_intercept", "pearson_chi2", "pearson_dispersion",
    "poisson_deviance", "d2_poisson", "poisson_log_loss", "gamma_deviance", "tweedie_deviance", "d2_tweedie",
    "observed_expected_ratio",
}
"""Metrics that see more than differences of outcomes: a shift of truth and prediction matters to them."""

SPREAD = {
    "rmse_relative", "r2", "explained_variance", "rsq", "ccc", "iic", "gini_coef", "c_index", "q2", "d2_poisson",
    "d2_tweedie", "d2_absolute_error", "d2_pinball",
}
"""Metrics that a constant truth leaves undefined."""

AT_BEST = {"mean_error": 0.0, "mpe": 0.0, "linear_calibration_slope": 1.0, "linear_calibration_intercept": 0.0,
           "pearson_dispersion": 0.0, "observed_expected_ratio": 1.0}
"""The value for exact predictions of metrics that have no better end."""


def rows(n: int = N, seed: int = 0, *, ties: bool = True) -> NumberRows:
    """Return n rows of positive whole truths; tied ones have equal truths, predictions and residuals."""
    generator = np.random.default_rng(seed)
    truth = 1.0 + (generator.poisson(4, n) if ties else generator.choice(10 * n, n, replace=False) / 1.0)
    noise = generator.normal(0.3, 2.0, (2, n)) * math.sqrt(truth.mean())
    guess, left_out = np.maximum(np.round(0.8 * truth + noise, 0 if ties else 9), 0.5)
    return NumberRows(truth, guess, left_out, 4.25)


def weights(seed: int = 1, n: int = N) -> Any:
    return np.random.default_rng(seed).gamma(2.0, 1.0, n) + 0.05


def take(data: NumberRows, index: Any, shift: float = 0.0) -> NumberRows:
    assert data.left_out is not None
    moved = (values[index] + shift for values in (data.truth, data.predicted, data.left_out))
    return NumberRows(*moved, None if data.baseline is None else data.baseline + shift)


def value(name: str, options: dict[str, Any], data: NumberRows, weight: Any) -> Any:
    entry = registry[name]
    return Summary(data, np.asarray(weight, float)).value(entry, entry.options(**options).model_dump())


def assert_close(left: Any, right: Any, within: float = CLOSE) -> None:
    assert np.isfinite(left).all()
    np.testing.assert_allclose(left, right, rtol=within, atol=within)


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_integer_weights_are_replication(name: str, options: dict[str, Any], ties: bool) -> None:
    data, weight = rows(ties=ties), np.random.default_rng(3).integers(0, 4, N)
    repeated = take(data, np.repeat(np.arange(N), weight))
    assert_close(value(name, options, data, weight), value(name, options, repeated, np.ones(weight.sum())))


@pytest.mark.parametrize("name", ["huber", "huber_pseudo"])
def test_a_huber_loss_nears_its_ends_with_the_largest_and_the_smallest_delta(name: str) -> None:
    data, weight = rows(), weights()
    squares, sizes = (float(np.average(np.abs(data.residual) ** k, weights=weight)) for k in (2, 1))
    assert value(name, {"delta": 1e60}, data, weight) == pytest.approx(squares / 2, rel=CLOSE)
    assert value(name, {"delta": 1e-60}, data, weight) == pytest.approx(sizes * 1e-60, rel=CLOSE)
    for beyond in (1e160, 1e-160):  # their squares cannot be held
        with pytest.raises(ValidationError):
            registry[name].options(delta=beyond)


@every_metric
def test_the_order_of_rows_changes_nothing(name: str, options: dict[str, Any]) -> None:
    data, weight, order = rows(), weights(), np.random.default_rng(5).permutation(N)
    assert_close(value(name, options, take(data, order), weight[order]), value(name, options, data, weight))


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_a_row_of_weight_zero_is_no_row(name: str, options: dict[str, Any], ties: bool) -> None:
    data, weight = rows(ties=ties), weights()
    weight[::3] = 0
    kept = np.flatnonzero(weight)
    assert_close(value(name, options, take(data, kept), weight[kept]), value(name, options, data, weight))


@every_metric
def test_a_row_of_weight_zero_cannot_make_undefined(name: str, options: dict[str, Any]) -> None:
    data, weight = rows(), np.r_[weights(), 0, 0, 0]
    assert data.left_out is not None
    odd = NumberRows(*(np.r_[values, extra] for values, extra in (
        (data.truth, [0.0, -2.5, 1.0]), (data.predicted, [0.0, 97.25, -1.0]), (data.left_out, [0.0, 0.0, 0.0])
    )), data.baseline)
    assert_close(value(name, options, odd, weight), value(name, options, data, weight[:N]))


@every_metric
def test_the_scale_of_weights_changes_nothing_unless_declared(name: str, options: dict[str, Any]) -> None:
    data, weight = rows(), weights()
    before, after = value(name, options, data, weight), value(name, options, data, 7 * weight)
    if (name, options) in COUNTS_ROWS:
        assert after != pytest.approx(before, rel=1e-6)
        return
    assert_close(after, (7 if registry[name].extensive else 1) * before)


@every_metric
def test_weights_do_something(name: str, options: dict[str, Any]) -> None:
    data, weight = rows(ties=False), weights()
    if name == "max_error":  # only whether a row has weight matters to it
        weight[np.abs(data.residual) > np.median(np.abs(data.residual))] = 0
    assert value(name, options, data, weight) != pytest.approx(value(name, options, data, np.ones(N)), rel=1e-6)


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_a_batch_is_a_loop_to_the_last_bit(name: str, options: dict[str, Any], ties: bool) -> None:
    data, batch = rows(ties=ties), np.stack([weights(seed) for seed in range(6)]).reshape(2, 3, N)
    together = value(name, options, data, batch)
    assert together.shape == (2, 3)
    assert together.ravel().tolist() == [float(value(name, options, data, one)) for one in batch.reshape(6, N)]


@every_metric
def test_a_value_lies_in_the_declared_range(name: str, options: dict[str, Any]) -> None:
    low, high = registry[name].bounds(options)
    found = [value(name, options, rows(12, seed), weights(seed, 12)) for seed in range(30)]
    assert all(low - CLOSE <= one <= high + CLOSE for one in found if not math.isnan(one))
    assert sum(map(math.isnan, found)) <= 3


@every_metric
def test_exact_predictions_reach_the_best_value(name: str, options: dict[str, Any]) -> None:
    data, entry, weight = rows(), registry[name], weights()
    best = float(value(name, options, NumberRows(data.truth, data.truth, data.truth, data.baseline), weight))
    if name in {"rpd", "rpiq", "iic"}:
        assert math.isnan(best)  # zero is divided by
        return
    if name == "poisson_log_loss":
        beside = [NumberRows(data.truth, data.truth + change) for change in (-0.1, 0.1)]
        assert 0 < best < min(value(name, options, near, weight) for near in beside)
        return
    assert best == pytest.approx(AT_BEST[name] if entry.direction == "none" else entry.best, abs=1e-14)
    other = value(name, options, data, weight)
    assert {"maximize": other < best, "minimize": other > best, "none": other != best}[entry.direction]


@every_metric
def test_a_shift_of_truth_and_prediction(name: str, options: dict[str, Any]) -> None:
    data, weight = rows(), weights()
    found = value(name, options, take(data, slice(None), 1e8), weight)
    if name in RELATIVE:
        assert found != pytest.approx(value(name, options, data, weight), rel=1e-3)
    else:
        assert_close(found, value(name, options, data, weight), within=1e-6)


TWO = np.array([3.0, 5.0, 4.0])
DEGENERATE = {
    "one row": ([2.0], [3.0], [1.0]),
    "one exact row": ([2.0], [2.0], [1.0]),
    "constant truth": ([4.1, 4.1, 4.1], TWO, [1.0, 2.0, 0.3]),
    "constant truth, large": ([1e8 + 0.1] * 3, TWO, [1.0, 2.0, 0.3]),
    "constant truth under the weights": ([7.3, 7.3, -1e5], TWO, [1.0, 2.0, 0.0]),
    "constant prediction": (TWO, [4.1, 4.1, 4.1], [1.0, 2.0, 0.3]),
    "all tied": ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0], [0.1, 0.2, 0.4]),
    "all tied and exact": ([0.3, 0.3, 0.3], [0.3, 0.3, 0.3], [0.1, 0.2, 0.4]),
    "all zero": ([0.0, 0.0], [0.0, 0.0], [1.0, 1.0]),
    "negative": ([-1.0, -2.0], [-3.0, -1.0], [1.0, 1.0]),
    "no weight": (TWO, TWO + 1, [0.0, 0.0, 0.0]),
    "little weight": (TWO, TWO[::-1], [0.1, 0.2, 0.3]),
}


@every_metric
@pytest.mark.parametrize("kind", DEGENERATE)
def test_what_is_degenerate_has_a_finite_value_or_none(name: str, options: dict[str, Any], kind: str) -> None:
    truth, guess, weight = (np.array(values) for values in DEGENERATE[kind])
    for baseline in (None, 2.0):
        found = float(value(name, options, NumberRows(truth, guess, guess, baseline), weight))
        assert not math.isinf(found)
        if (kind.startswith(("constant truth", "all", "one")) and name in SPREAD) or kind == "no weight":
            known = baseline is not None and options.get("baseline") == "training"
            assert math.isnan(found) or (known and found <= 1) or (registry[name].extensive and found == 0)


NO_DEVIANCE = [(1.0, 0.0), (1.0, -1.0), (-1.0, 1.0)]
UNDEFINED_BY = {
    "mape": [(0.0, 1.0), (0.0, 0.0)], "mpe": [(0.0, 1.0), (0.0, 0.0)], "smape": [(0.0, 0.0)],
    "msle": [(-1.0, 1.0), (1.0, -1.0)], "poisson_deviance": [*NO_DEVIANCE, (0.0, 0.0)],
    "d2_poisson": [*NO_DEVIANCE, (0.0, 0.0)], "pearson_chi2": [(1.0, 0.0), (1.0, -1.0), (0.0, 0.0)],
    "pearson_dispersion": [(1.0, 0.0), (1.0, -1.0), (0.0, 0.0)], "poisson_log_loss": [(-1.0, 1.0), (1.5, 1.0)],
    "gamma_deviance": [*NO_DEVIANCE, (0.0, 0.0), (0.0, 1.0)], "tweedie_deviance": [*NO_DEVIANCE, (0.0, 0.0)],
    "d2_tweedie": [*NO_DEVIANCE, (0.0, 0.0)],
}
"""The truth and prediction of a single row that leaves a metric undefined, of all rows in this table."""


@every_metric
@pytest.mark.parametrize("row", sorted({row for table in UNDEFINED_BY.values() for row in table}))
def test_one_row_leaves_undefined_what_has_no_value_for_it(
    name: str, options: dict[str, Any], row: tuple[float, float]
) -> None:
    data = rows()
    truth, guess = np.append(data.truth, row[0]), np.append(data.predicted, row[1])
    found = value(name, options, NumberRows(truth, guess, guess, data.baseline), np.r_[weights(), 0.01])
    zero_is_none = options.get("power", 0) >= 2 and row[0] == 0
    assert math.isnan(found) == (zero_is_none or row in UNDEFINED_BY.get(name, ()))


@pytest.mark.parametrize("name", sorted(SPREAD))
def test_a_spread_that_is_but_rounding_is_none(name: str) -> None:
    guess = rows().predicted
    for seed in range(20):
        weight, truth = weights(seed), np.full(N, 7.1 + seed / 3)
        weight[-1], truth[-1] = 0, 1e5  # which moves the pilot far away
        assert math.isnan(value(name, {}, NumberRows(truth, guess, guess), weight))


def test_residuals_of_one_sign_leave_the_index_of_ideality_undefined() -> None:
    data = rows()
    for shift in (-1, 1):
        assert math.isnan(value("iic", {}, NumberRows(data.truth, data.truth + shift), weights()))


UNIT_DEVIANCES = {
    "poisson": residuals.unit_deviance,
    "gamma": residuals.gamma_unit_deviance,
    "tweedie": lambda data: residuals.tweedie_unit_deviance(data, power=1.3),
}


@pytest.mark.parametrize("kind", UNIT_DEVIANCES)
def test_a_deviance_is_never_negative(kind: str) -> None:
    truth = np.repeat([3.0, 7.0, 11.0], 400)
    near = truth * (1 + 1e-10 * np.tile(np.arange(-200, 200), 3))
    assert UNIT_DEVIANCES[kind](NumberRows(truth, near)).min() == 0


def test_a_deviance_beyond_all_numbers_is_none() -> None:
    data = NumberRows(np.array([5.0, 1.0]), np.array([1e-300, 2.0]))
    for options in ({"power": 2.5}, {"power": 3.0}):
        for name in ("tweedie_deviance", "d2_tweedie"):
            assert math.isnan(value(name, options, data, [1.0, 1.0]))
            alone = value(name, options, NumberRows(np.array([5.0, 1.0, 4.0]), np.array([1e-300, 2.0, 3.0])), [0, 1, 1])
            assert_close(alone, value(name, options, NumberRows(np.array([1.0, 4.0]), np.array([2.0, 3.0])), [1, 1]))


def test_the_share_explained_is_blind_to_the_unit_and_the_deviance_of_a_power_is_not() -> None:
    data, weight = rows(), weights()
    larger = NumberRows(8 * data.truth, 8 * data.predicted)
    for power in (1.1, 1.5, 2.0, 2.5, 3.0):
        before, after = (value("tweedie_deviance", {"power": power}, one, weight) for one in (data, larger))
        assert_close(after, 8 ** (2 - power) * before)
        assert_close(*(value("d2_tweedie", {"power": power}, one, weight) for one in (data, larger)))


def test_a_power_near_two_loses_no_digits() -> None:
    data, weight = rows(), weights()
    for name, options in (("tweedie_deviance", {}), ("d2_tweedie", {})):
        at_two = value(name, options | {"power": 2.0}, data, weight)
        for change in (-1e-13, 1e-13):  # the value moves by some 1e-13; scikit-learn's formula is off by 2e-4
            assert value(name, options | {"power": 2 + change}, data, weight) == pytest.approx(at_two, rel=1e-11)


def test_a_gap_that_is_but_rounding_leaves_the_deviance_explained_undefined() -> None:
    guess = rows().predicted
    truth = 1e8 + rows().truth  # of relative variance 4e-16, where a logarithm has 1e-16 to give
    for unit in (1.0, 1e-9):  # the transform of the mean is positive, and negative
        for seed in range(10):
            data = NumberRows(unit * truth, unit * (1e8 + guess))
            assert math.isnan(value("d2_tweedie", {"power": 2.0}, data, weights(seed)))


def test_no_constant_has_a_smaller_pinball_loss() -> None:
    data, weight = rows(), weights()
    for alpha in (0.1, 0.5, 0.9):
        constants = [NumberRows(data.truth, np.full(N, one)) for one in np.unique(data.truth)]
        found = [value("d2_pinball", {"alpha": alpha}, one, weight) for one in constants]
        assert max(found) == pytest.approx(0, abs=CLOSE)


def test_a_training_mean_that_is_not_known_leaves_r2_undefined() -> None:
    data = rows()
    unknown = NumberRows(data.truth, data.predicted)
    assert math.isnan(value("r2", {"baseline": "training"}, unknown, weights()))
    assert math.isfinite(value("r2", {}, unknown, weights()))


def test_a_median_between_two_sizes_is_their_mean_at_any_scale_of_weights() -> None:
    data = NumberRows(np.array([1.0, 2.0, 3.0, 6.0]), np.zeros(4))
    for scale in (1.0, 0.1, 0.7, 1 / 3, 1e-9, 1e9):
        assert value("median_absolute_error", {}, data, np.full(4, scale)) == pytest.approx(2.5, rel=CLOSE)


@pytest.mark.parametrize("name", USED)
def test_a_statistic_adds(name: str) -> None:
    data, one, two = rows(), weights(1), weights(2)
    left, right, both = (Summary(data, weight)(name, OPTIONS) for weight in (one, two, one + two))
    if statistics[name].of_pairs:
        assert_close(both + Summary(data, one - two)(name, OPTIONS), 2 * left + 2 * right)  # a quadratic form
    else:
        assert_close(left + right, both)


def test_no_statistic_is_idle() -> None:
    homes = {residuals.__name__, residuals.__name__, residuals.__name__}
    assert {name for name, one in statistics.items() if one.function.__module__ in homes} == set(USED) - {"total"}


@every_entry
def test_a_metric_says_what_people_need(entry: Metric) -> None:
    assert entry.definition.endswith(".")
    assert entry.formula
    assert re.search(r"\(\d{4}\)", entry.ref)
    assert entry.undefined
    assert entry.needs in {"values", "loo_values"}
    assert not (entry.needs == "loo_values" and entry.standard)


def test_every_option_has_more_than_its_default() -> None:
    lacking = [entry.name for entry in ENTRIES if entry.option_types and len(VARIANTS[entry.name]) < 2]
    assert lacking == [], "add a source with other options to SOURCES in tests/reference/test_numbers.py"


def _sum_of_sizes(absolute_residual: Any) -> Any:
    return absolute_residual


def _signed(total: Any, residual: Any) -> Any:
    return ratio(residual, total)


def _any_residual(total: Any, absolute_residual: Any) -> Any:
    return ratio(absolute_residual > 0, total > 0)


def _over_truth(squared_residual: Any, truth_sum: Any) -> Any:
    return ratio(squared_residual, truth_sum)


def _distinct_sizes(residual_size_at: Any) -> Any:
    return np.full(residual_size_at.shape[:-1], residual_size_at.shape[-1])


@pytest.mark.parametrize(
    ("mutant", "law"),
    [
        (_sum_of_sizes, test_the_scale_of_weights_changes_nothing_unless_declared),
        (_signed, test_a_value_lies_in_the_declared_range),
        (_any_residual, test_weights_do_something),
        (_over_truth, test_a_shift_of_truth_and_prediction),
        (_distinct_sizes, test_a_row_of_weight_zero_cannot_make_undefined),
    ],
)
def test_the_laws_can_fail(mutant: Any, law: Any) -> None:
    entry = metric(needs="values", sees="numbers", direction="minimize", range=(0.0, np.inf), undefined="never",
                   ref="nobody (2000)")(mutant)
    try:
        with pytest.raises(AssertionError):
            law(entry.name, {})
    finally:
        registry.remove(entry.name)
