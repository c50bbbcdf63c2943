"""Numbers and weights so extreme that sums of them cannot be held: an error, or a rescaling that is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError

GENERATOR = np.random.default_rng(11)
CHANCE = GENERATOR.random(60)
EVENT = (GENERATOR.random(60) < CHANCE).astype(int)
WEIGHT = GENERATOR.random(60) + 0.1
NUMBER = GENERATOR.normal(size=60)
NUMBER = np.where(np.abs(NUMBER) < 0.01, 0.01, NUMBER)
FEW: dict[str, Any] = {"intervals": {"replicates": 100}, "engine": {"workers": 1}}


def weighed(weight: Any, **more: Any) -> evalpipe.Results:
    return evalpipe.evaluate(EVENT, CHANCE, event=1, weight=weight, **FEW, **more)


@pytest.mark.parametrize("size", [1e61, 1e154, 1e300, 1e-61, 1e-308])
def test_an_extreme_number_is_refused(size: float) -> None:
    predicted = NUMBER.copy()
    predicted[0] = size
    with pytest.raises(DataError) as caught:
        evalpipe.evaluate(NUMBER, task="regression", prediction=predicted, **FEW)
    assert str(caught.value) == (
        "error[extreme-value]: 1 value of 'prediction' is too large or too small to compute with\n"
        f"  |\n  | row 1: {size}\n  = argument prediction\n"
        "  = help: give them in another unit: 0, or in size from 1e-60 to 1e+60"
    )


def test_an_endless_outcome_of_the_training_data_is_refused() -> None:
    spec = {
        "evalpipe": 1, "name": "x", "task": "regression", "outcome": {"column": "y"}, "metrics": ["mae"],
        "datasets": {"test": {"path": "memory"}, "training": {"path": "memory", "role": "reference"}},
        "models": {"m": {"prediction": "p"}}, **FEW,
    }
    test = pl.DataFrame({"y": NUMBER, "p": NUMBER})
    training = pl.DataFrame({"y": [1.0, np.inf, None, 2.0], "p": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(DataError) as caught:
        evalpipe.run(spec, frames={"test": test, "training": training})
    assert str(caught.value) == (
        "error[infinite-value]: 1 value of column 'y' is not finite\n --> training (in memory)\n  |\n  | row 2: inf\n"
        "  = named at the spec, outcome.column\n  = help: find out why it could not be computed"
    )


@pytest.mark.parametrize("size", [1e-57, 1e57])
def test_a_measure_of_numbers_up_to_the_bounds_is_finite_or_undefined(size: float) -> None:
    names = [m.name for m in evalpipe.metrics.registry if "regression" in m.tasks and not m.from_spec]
    names = [name for name in names if evalpipe.metrics.registry[name].needs in {"values", "truth"}]
    found = evalpipe.evaluate(
        np.abs(NUMBER) * size, task="regression", prediction=np.abs(NUMBER + 0.3) * size, metrics=names, **FEW,
    )
    assert [row.metric for row in found.rows if row.value is not None and not np.isfinite(row.value)] == []
    assert [row.metric for row in found.rows if row.value is None and row.status == "ok"] == []
    assert len([row for row in found.rows if row.value is not None]) > 10


@pytest.mark.parametrize("factor", [2.0**531, 2.0**996, 2.0**-564])
def test_extreme_weights_are_divided_and_change_no_measure(factor: float) -> None:
    plain, scaled = weighed(WEIGHT), weighed(WEIGHT * factor)
    power = int(np.frexp((WEIGHT * factor).max())[1])
    assert next(w.message for w in scaled.warnings) == (
        f"the weights of dataset 'data' are divided by 2^{power} because their sums are too extreme; only their "
        "ratios matter, and totals are of the divided weights"
    )
    ratios = [row.metric for row in plain.rows if row.metric != "misclassifications"]
    for name in ratios:
        pair = [next(row for row in found.rows if row.metric == name) for found in (plain, scaled)]
        # Powers of two change no digit of a weight, and every measure here is a ratio of their sums.
        assert (pair[0].value, pair[0].lower) == pytest.approx((pair[1].value, pair[1].lower), rel=1e-12)
    assert plain.datasets[0].n_effective == pytest.approx(scaled.datasets[0].n_effective, rel=1e-12)


def test_negligible_weights_count_as_zero_and_are_told() -> None:
    weight = WEIGHT.copy()
    weight[:7] *= 1e-200
    found = weighed(weight)
    assert [w.message for w in found.warnings] == [
        "7 rows have weights below 1e-60 of the largest in dataset 'data', and count as weight 0"
    ]
    assert found.datasets[0].excluded_zero_weight == 7


def test_few_effective_rows_are_told() -> None:
    weight = WEIGHT.copy()
    weight[0] = 1e30
    found = weighed(weight)
    assert found.datasets[0].n_effective == pytest.approx(1.0)
    assert [w.message for w in found.warnings if w.code == "few-effective-rows"] == [
        ("the weights of dataset 'data' are very uneven: its 60 rows carry the information of 1 rows of equal weight "
         "(Kish's effective sample size), so intervals may be too narrow")
    ]
    assert weighed(WEIGHT).warnings == []


def test_frequency_weights_beyond_what_can_be_counted_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        weighed([10**15] * 60, weight_kind="frequency")
    assert str(caught.value) == (
        "error[frequency-weight]: 'weight' sums to 6e+16, more than can be counted one by one\n  = argument weight\n"
        "  = help: frequency weights count rows, 9,007,199,254,740,992 at most; for other weights give "
        "weight_kind='importance'"
    )


def test_memory_does_not_grow_with_frequency_weights() -> None:
    import tracemalloc

    from evalpipe.intervals.resampling import Design

    design = Design(300, np.full(300, 3e13), "frequency")
    tracemalloc.start()
    counts = design.draw(np.random.default_rng(0), 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts.sum(axis=1).tolist() == [300 * 30_000_000_000_000] * 20
    # The counts of a row are multinomial: their sd is sqrt(3e13 * 299 / 300); 6,000 of them, five standard errors.
    assert counts.std() == pytest.approx(np.sqrt(3e13 * 299 / 300), rel=5 / np.sqrt(2 * 6000))
    assert peak < 20_000_000


def test_probabilities_next_to_zero_make_no_slope() -> None:
    found = evalpipe.evaluate(EVENT, CHANCE * 1e-308, event=1, **FEW)
    assert all(row.value is None or np.isfinite(row.value) for row in found.rows)
