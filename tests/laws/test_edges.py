"""Laws at the edges that a mutant of a metric can hide in: tiny weights, rows of no weight at either end, rounding.

Tolerance 1e-12 relative, as for the other laws: two orders of summing a hundred float64 terms.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from evalpipe.metrics import registry
from evalpipe.statistics import ClassRows, NumberRows, Rows
from laws import samples
from laws import test_number_metrics as numbers

CLOSE = 1e-12
TINY = 2.0**-40
"""A power of two, so that weights times it have the same digits."""
every_class_case = pytest.mark.parametrize(("name", "options", "task"), samples.CASES, ids=samples.IDS)


def grows(name: str, options: dict[str, Any]) -> bool:
    return registry[name].extensive and options.get("scale") != "mean"


def of_hardly_a_row(name: str, data: Any, weight: Any, before: float) -> float:
    """Return what a metric whose weights count rows comes to: k is more than there are, and nothing is surprising."""
    if name == "spiegelhalter_p":
        return math.erfc(math.sqrt(TINY) * NormalDist().inv_cdf(1 - before / 2) / math.sqrt(2))
    return {
        "precision_at_k": float(np.average(data.truth, weights=weight)), "recall_at_k": 1.0,
        "spiegelhalter_z": before * math.sqrt(TINY), "hosmer_lemeshow_p": 1.0, "ece": 0.0,
    }[name]


@every_class_case
def test_tiny_weights_are_weights(name: str, options: dict[str, Any], task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    before, after = (samples.value(name, options, data, weight * scale) for scale in (1, TINY))
    if samples.counts_rows(name, options):
        close = 1e-10 if name == "hosmer_lemeshow_p" else CLOSE  # a chi-squared of 1e-11
        assert after == pytest.approx(of_hardly_a_row(name, data, weight, float(before)), rel=close)
        return
    assert after == pytest.approx((TINY if grows(name, options) else 1) * before, rel=CLOSE)


@numbers.every_metric
def test_tiny_weights_of_numbers_are_weights(name: str, options: dict[str, Any]) -> None:
    data, weight = numbers.rows(), numbers.weights()
    before, after = (float(numbers.value(name, options, data, weight * scale)) for scale in (1, TINY))
    if (name, options) in numbers.COUNTS_ROWS:
        assert math.isnan(after)  # less than one row
    else:
        assert after == pytest.approx((TINY if grows(name, options) else 1) * before, rel=CLOSE)


@every_class_case
@pytest.mark.parametrize("end", [slice(None, 12), slice(-12, None)], ids=["lowest", "highest"])
def test_rows_of_weight_zero_at_one_end_are_no_rows(
    name: str, options: dict[str, Any], task: str, end: slice
) -> None:
    data, weight = samples.rows(task, ties=False), samples.weights(97)
    chance = data.event_probability if isinstance(data, Rows) else data.level_probabilities[:, 0]
    weight[np.argsort(chance)[end]] = 0
    kept = np.flatnonzero(weight)
    dropped = samples.value(name, options, samples.take(data, kept), weight[kept])
    np.testing.assert_allclose(samples.value(name, options, data, weight), dropped, rtol=CLOSE, atol=CLOSE)


@numbers.every_metric
@pytest.mark.parametrize("end", [slice(None, 12), slice(-12, None)], ids=["lowest", "highest"])
@pytest.mark.parametrize("by", ["truth", "predicted"])
def test_rows_of_weight_zero_at_one_end_of_numbers_are_no_rows(
    name: str, options: dict[str, Any], end: slice, by: str
) -> None:
    data, weight = numbers.rows(ties=False), numbers.weights()
    weight[np.argsort(getattr(data, by))[end]] = 0
    kept = np.flatnonzero(weight)
    dropped = numbers.value(name, options, numbers.take(data, kept), weight[kept])
    np.testing.assert_allclose(numbers.value(name, options, data, weight), dropped, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("name", ["rsq", "c_index"])
def test_rounding_takes_nothing_beyond_one(name: str) -> None:
    found = []
    for seed in range(200):
        truth = np.random.default_rng(seed).gamma(2.0, 1.0, 30)
        for slope in (3, -3) if name == "rsq" else (3,):
            data = NumberRows(truth, slope * truth + 1)
            found.append(float(numbers.value(name, {}, data, numbers.weights(seed, 30))))
    assert max(found) == 1.0  # to the last bit
    assert min(found) == pytest.approx(1.0, abs=CLOSE)


@pytest.mark.parametrize("scale", ["half", "sum", "classes"])
def test_the_brier_score_of_what_is_surely_wrong(scale: str) -> None:
    wrong = {
        2: Rows(np.array([True, False]), None, np.array([0.0, 1.0])),
        4: ClassRows(np.array([0, 3]), 4, None, np.eye(4)[[1, 0]]),
    }
    for levels, data in wrong.items():
        limit = {"half": 1.0, "sum": 2.0, "classes": 2 / levels}[scale]
        assert samples.value("brier", {"scale": scale}, data, np.ones(2)) == limit
        assert limit <= registry["brier"].bounds({"scale": scale})[1] == max(limit, 1.0)


def test_a_band_has_a_width() -> None:
    options = registry["partial_roc_auc"].options
    assert options(low=0.2, high=0.3).model_dump()["high"] == 0.3
    with pytest.raises(ValidationError, match=r"low \(0\.3\) must be below high \(0\.3\)"):
        options(low=0.3, high=0.3)


def test_a_matrix_is_named_by_what_it_weighs() -> None:
    costs = ((0.0, 2.0), (5.0, 0.0))
    for name in ("cost", "expected_cost", "cost_saved"):
        entry = registry[name]
        assert entry.matrix is not None
        called, weighs = entry.matrix({"costs": costs}, 2)
        assert (called, weighs.tolist()) == ("costs", [[0.0, 2.0], [5.0, 0.0]])
    agreement = registry["weighted_kappa"].matrix
    assert agreement is not None
    for kind, far in (("linear", 2.0), ("quadratic", 4.0)):
        called, weighs = agreement({"weights": kind}, 3)
        assert (called, weighs.tolist()) == (f"{kind} weights", [[0.0, 1.0, far], [1.0, 0.0, 1.0], [far, 1.0, 0.0]])


@pytest.mark.parametrize(("cells", "rates"), [
    ((4, 0, 0, 6), (1 - 1e-9, 1e-9)), ((0, 3, 4, 9), (1e-9, 0.25)), ((4, 3, 0, 9), (1 - 1e-9, 0.25)),
    ((1, 12, 3, 0), (0.25, 1 - 1e-9)), ((1, 0, 3, 7), (0.25, 1e-9)),
])
def test_sedi_clips_rates_of_zero_and_one(cells: tuple[int, ...], rates: tuple[float, float]) -> None:
    """Its formula, spelled out; 1e-14 tells it from a limit of 1, which a perfect prediction misses by 1e-10."""
    found_share, false_share = rates
    ups = math.log(false_share) + math.log1p(-found_share)
    downs = math.log(found_share) + math.log1p(-false_share)
    expected = (ups - downs) / (ups + downs)
    found = registry["sedi"](*(np.array(float(one)) for one in cells))
    assert float(found) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("name", ["r2", "explained_variance", "rsq", "q2", "rpd", "ccc", "linear_calibration_slope"])
def test_a_spread_that_is_small_beside_the_offset_is_a_spread(name: str) -> None:
    data, weight = numbers.rows(), numbers.weights()
    assert data.left_out is not None
    # A row of no weight moves the plain mean 30,000 spreads away: of 16 digits the squares lose 9, and 1e-6 is left.
    far = NumberRows(*(np.append(values, 3e6 * 2) for values in (data.truth, data.predicted, data.left_out)))
    expected = numbers.value(name, {}, data, weight)
    assert numbers.value(name, {}, far, np.append(weight, 0)) == pytest.approx(float(expected), rel=1e-6)


def test_a_quartile_of_hardly_more_than_one_row_is_a_row() -> None:
    data = NumberRows(np.array([2.0, 5.0]), np.array([1.0, 1.0]))
    found = float(numbers.value("rpiq", {}, data, np.array([1 + 1e-14, 0.0])))
    assert found == pytest.approx(0, abs=1e-14)  # two parts of 2 between them are 2 but for rounding


@pytest.mark.parametrize("name", ["rpd", "rpiq", "ccc"])
def test_weights_of_one_row_have_no_degree_of_freedom(name: str) -> None:
    data = NumberRows(np.array([2.0, 5.0]), np.array([1.0, 1.5]))
    assert math.isnan(numbers.value(name, {}, data, np.array([0.5, 0.5])))
    assert math.isfinite(numbers.value(name, {}, data, np.array([0.5, 0.75])))


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_a_truth_that_is_always_nearly_one_is_constant(power: float) -> None:
    """Its transform is nearly zero, and so is the size that a gap of rounding is measured by."""
    for seed in range(50):
        data = NumberRows(np.full(97, 1 + TINY), numbers.rows().predicted)
        assert math.isnan(numbers.value("d2_tweedie", {"power": power}, data, numbers.weights(seed)))


def test_no_value_is_minus_zero() -> None:
    certain = Rows(np.array([True, True]), None, None)
    for name in ("entropy", "self_information"):  # the logarithm of 1, negated
        assert math.copysign(1, float(samples.value(name, {}, certain, np.ones(2)))) == 1


@pytest.mark.parametrize(("written", "meant"), [
    (" roc auc ", "roc_auc"), ("Brier-Score", "brier_score"), ("MEAN ABSOLUTE ERROR", "mean_absolute_error"),
    ("      f1      ", "f1"), ("nothing like it at all", None),
])
def test_the_closest_name_overlooks_case_blanks_and_dashes(written: str, meant: str | None) -> None:
    assert registry.closest(written) == meant


@pytest.mark.parametrize("name", sorted(numbers.SPREAD))
def test_a_spread_beside_spreads_of_rounding_is_the_only_one(name: str) -> None:
    truth, guess = np.full(97, 7.1), numbers.rows().predicted
    truth[-1] = 9.3
    batch = np.stack([numbers.weights(seed) for seed in range(40)])
    batch[:-1, -1] = 0
    found = numbers.value(name, {}, NumberRows(truth, guess, guess), batch)
    assert np.isnan(found).tolist() == [True] * 39 + [False]


def test_half_of_the_weight_is_half_whatever_its_sum_rounds_to() -> None:
    for n in range(4, 80, 2):
        data = NumberRows(np.arange(1.0, n + 1), np.zeros(n))
        for weight in (0.1, 0.3, 0.7, 1.1, 1 / 3):
            found = float(numbers.value("median_absolute_error", {}, data, np.full(n, weight)))
            assert found == pytest.approx((n + 1) / 2, rel=CLOSE)


@pytest.mark.parametrize("parts", [3, 6, 7, 10, 11, 13, 30, 49])
def test_rows_in_parts_are_rows(parts: int) -> None:
    """Parts that add up to whole rows but for rounding, which may put a sum above or below the rank of a quartile."""
    for n in range(5, 42, 4):
        truth = np.random.default_rng(n).permutation(n) * 1.5
        split = NumberRows(np.tile(truth, parts), np.tile(truth + 1, parts))
        for rows in (1.0, 3.0):
            whole = numbers.value("rpiq", {}, NumberRows(truth, truth + 1), np.full(n, rows))
            found = numbers.value("rpiq", {}, split, np.full(n * parts, rows / parts))
            assert found == pytest.approx(float(whole), rel=1e-10), f"{n} rows"
