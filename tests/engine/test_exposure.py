"""Counts with an exposure: what it changes, and what it leaves as it is.

Poisson regressions with an exposure are compared with statsmodels in `tests/reference/test_statsmodels.py`. Tolerance
1e-9 where exposures are multiplied by a number that is no power of two, which rounds each of them; exact elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError
from evalpipe.metrics import registry
from evalpipe.results import Estimate, Results
from evalpipe.statistics import NumberRows, Summary

N = 300
DRAWN = np.random.default_rng(20261121)
EXPOSURE = DRAWN.gamma(2, 1, N) + 0.05
X = DRAWN.normal(size=N)
Y = DRAWN.poisson(EXPOSURE * np.exp(0.4 * X - 0.5))
RATE = np.exp(0.35 * X - 0.45)
METRICS = [entry.name for entry in registry if "count" in entry.tasks and entry.needs == "values"]
SHARES = ["r2", "d2_poisson", "d2_tweedie", "d2_absolute_error", "d2_pinball"]
"""The measures whose model without information is a constant rate."""


def evaluate(**arguments: Any) -> Results:
    options: dict[str, Any] = {"task": "count", "metrics": METRICS, "intervals": {"replicates": 100}}
    return evalpipe.evaluate(arguments.pop("truth", Y), **{**options, **arguments})


def near(left: float | None, right: float | None, within: float) -> bool:
    return left is right is None or left == pytest.approx(right, rel=within, abs=within)


FEW = {"permutations": 10}


def of(results: Results) -> dict[str, Estimate]:
    return {row.metric: row for row in results.rows}


def test_a_rate_times_its_exposure_is_an_expected_count() -> None:
    by_rate = evaluate(rate=RATE, exposure=EXPOSURE, no_information=FEW, slices={"low": X < 0})
    by_count = evaluate(prediction=RATE * EXPOSURE, exposure=EXPOSURE, no_information=FEW, slices={"low": X < 0})
    assert by_rate.rows == by_count.rows
    assert by_rate.curves == by_count.curves
    assert by_rate.datasets == by_count.datasets
    assert by_rate.models[0].columns == {"rate": "model.rate"}


def test_the_unit_of_the_exposure_changes_no_measure() -> None:
    found = evaluate(rate=RATE, exposure=EXPOSURE, no_information=FEW)
    halved = evaluate(rate=RATE / 1024, exposure=1024 * EXPOSURE, no_information=FEW)
    assert halved.rows == found.rows
    days = evaluate(rate=RATE / 365.25, exposure=365.25 * EXPOSURE, no_information=FEW)
    for one, other in zip(found.rows, days.rows, strict=True):
        for key in ("value", "lower", "upper", "no_information"):
            assert near(getattr(other, key), getattr(one, key), 1e-9), (one.metric, key)
    assert days.datasets[0].rate == pytest.approx((found.datasets[0].rate or 0) / 365.25, rel=1e-12)


def test_an_exposure_changes_only_the_model_without_information() -> None:
    expected = RATE * EXPOSURE
    plain, exposed = of(evaluate(prediction=expected)), of(evaluate(prediction=expected, exposure=EXPOSURE))
    changed = {name for name in METRICS if not near(plain[name].value, exposed[name].value, 1e-12)}
    assert changed == set(SHARES)  # rows are summed in another order: 1e-12
    same = evaluate(prediction=expected, exposure=np.ones(N))
    assert of(same) == plain


def test_no_constant_rate_explains_anything() -> None:
    rates = np.unique(Y / EXPOSURE)
    for name in ("r2", "d2_poisson", "d2_tweedie", "d2_absolute_error"):
        entry = registry[name]
        options = entry.options().model_dump()

        def value(rate: float) -> float:
            rows = NumberRows(Y.astype(float), rate * EXPOSURE, exposure=EXPOSURE)
            return float(Summary(rows, np.ones(N)).value(entry, options))  # noqa: B023 - called in this round

        best = {
            "r2": (Y * EXPOSURE).sum() / (EXPOSURE**2).sum(), "d2_poisson": Y.sum() / EXPOSURE.sum(),
            "d2_tweedie": (Y * EXPOSURE**-0.5).sum() / (EXPOSURE**0.5).sum(),
        }.get(name)
        reached = max(value(rate) for rate in rates[rates > 0]) if best is None else value(best)
        assert reached == pytest.approx(0, abs=1e-12), name
        assert all(value(factor * (best or np.median(rates))) < 1e-12 for factor in (0.7, 0.99, 1.01, 1.5)), name


@pytest.mark.parametrize("name", [*SHARES, "q2"])
def test_a_constant_rate_of_the_truth_leaves_nothing_to_explain(name: str) -> None:
    exposure = np.arange(1, 40) / 3  # three times it is a whole number, but for rounding
    truth = np.arange(1.0, 40.0)
    rows, entry = NumberRows(truth, truth + 0.5, truth + 0.5, exposure=exposure), registry[name]
    assert np.isnan(Summary(rows, np.ones(39)).value(entry, entry.options().model_dump()))
    assert "or its rate where there is an exposure" in entry.undefined


def test_pairings_are_of_rates_and_counts_keep_their_exposures() -> None:
    found = evaluate(rate=np.full(N, 0.6), exposure=EXPOSURE, no_information=True, metrics=["poisson_deviance", "mae"])
    for row in found.rows:  # whatever truth it meets, a constant rate is the same rate
        assert row.no_information == pytest.approx(row.value, rel=1e-9)
    rows = NumberRows(Y.astype(float), RATE * EXPOSURE, RATE * EXPOSURE, exposure=EXPOSURE)
    order = np.random.default_rng(3).permutation(N)
    paired = rows.paired(order)
    np.testing.assert_array_equal(paired.truth / paired.exposure, (Y / EXPOSURE)[order])
    np.testing.assert_allclose(paired.predicted / paired.exposure, RATE, rtol=1e-12)
    np.testing.assert_allclose(paired.left_out, paired.predicted, rtol=1e-12)


def test_a_weight_counts_rows_and_an_exposure_does_not() -> None:
    times = np.tile([1, 2, 3], N // 3)
    index = np.repeat(np.arange(N), times)
    weighted = evaluate(rate=RATE, exposure=EXPOSURE, weight=times, weight_kind="frequency")
    repeated = evaluate(truth=Y[index], rate=RATE[index], exposure=EXPOSURE[index])
    for one, other in zip(weighted.rows, repeated.rows, strict=True):
        assert near(one.value, other.value, 1e-10), one.metric  # lines by least squares lose two digits
        assert one.n == other.n
    (summary,), (same,) = weighted.datasets, repeated.datasets
    assert (summary.total_exposure, summary.rate) == pytest.approx((same.total_exposure, same.rate), rel=1e-12)
    assert summary.total_exposure == pytest.approx((times * EXPOSURE).sum(), rel=1e-12)
    longer = evaluate(rate=RATE / 2, exposure=2 * EXPOSURE)
    assert {row.n for row in longer.rows} == {N}


def test_exposure_is_totalled_in_the_data_and_in_slices() -> None:
    found = evaluate(rate=RATE, exposure=EXPOSURE, slices={"low": X < 0})
    (summary,) = found.datasets
    assert summary.total_exposure == pytest.approx(EXPOSURE.sum(), rel=1e-12)
    assert summary.rate == pytest.approx(Y.sum() / EXPOSURE.sum(), rel=1e-12)
    assert {part.slice["low"]: part.total_exposure for part in found.slices} == pytest.approx(
        {"true": EXPOSURE[X < 0].sum(), "false": EXPOSURE[X >= 0].sum()}, rel=1e-12)
    assert found.exposure == {"column": "exposure", "unit": None}
    assert evaluate(prediction=RATE).datasets[0].total_exposure is None


def test_many_rows_with_an_exposure_are_drawn_one_by_one() -> None:
    index = np.random.default_rng(5).integers(0, N, 17_000)
    given: dict[str, Any] = {"truth": Y[index], "rate": RATE[index], "exposure": EXPOSURE[index], "metrics": ["r2"]}
    assert evaluate(**given).rows == evaluate(**given, engine={"mode": "exact"}).rows


def written(folder: Path, name: str, **columns: Any) -> str:
    path = folder / f"{name}.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return str(path)


def run(folder: Path, training: dict[str, Any]) -> Results:
    """Run a model whose predicted rates are in a file of their own, with training data as a reference."""
    order = np.random.default_rng(7).permutation(N)
    return evalpipe.run({
        "evalpipe": 1, "name": "claims", "task": "count", "outcome": {"column": "y"}, "id": "id",
        "exposure": {"column": "years", "unit": "years"},
        "datasets": {
            "test": {"path": written(folder, "test", id=np.arange(N), y=Y, years=EXPOSURE)},
            "training": {"path": written(folder, "training", **training), "role": "reference"},
        },
        "models": {"m": {"rate": "rate", "predictions": written(folder, "m", id=order, rate=RATE[order])}},
        "metrics": [{"metric": "r2", "baseline": "training"}, "poisson_deviance"], "intervals": {"method": "none"},
        "report": {"formats": []},
    })


def test_rates_in_a_file_of_their_own_meet_the_exposures_of_their_rows(tmp_path: Path) -> None:
    training = {"id": np.arange(N, 2 * N), "y": Y[::-1] + 1, "years": EXPOSURE}
    found = of(run(tmp_path, training))
    rate = (Y + 1).sum() / EXPOSURE.sum()
    explained = 1 - ((Y - RATE * EXPOSURE) ** 2).sum() / ((Y - rate * EXPOSURE) ** 2).sum()
    assert found["r2"].value == pytest.approx(explained, rel=1e-12)
    direct = of(evaluate(rate=RATE, exposure=EXPOSURE))["poisson_deviance"].value
    assert found["poisson_deviance"].value == pytest.approx(direct, rel=1e-12)


def test_training_data_without_an_exposure_have_no_rate(tmp_path: Path) -> None:
    found = of(run(tmp_path, {"id": np.arange(N, 2 * N), "y": Y}))
    assert (found["r2"].value, found["r2"].reason) == (
        None, "the truth is constant, or its rate where there is an exposure, or the training mean is not known")


def test_a_column_may_be_both_weight_and_exposure_and_is_checked_as_both() -> None:
    exposure = EXPOSURE.copy()
    exposure[4] = 0
    columns = {"y": Y, "years": exposure, "rate": RATE}
    frame = pl.DataFrame(columns)
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "claims", "task": "count", "outcome": {"column": "y"}, "exposure": "years",
        "weight": {"column": "years", "kind": "frequency"}, "datasets": {"test": {"path": "memory"}},
        "models": {"m": {"rate": "rate"}}, "report": {"formats": []},
    }
    from evalpipe.run import run as run_frames

    with pytest.raises(DataError) as caught:
        run_frames(spec, frames={"test": frame})
    assert [problem.code for problem in caught.value.problems] == ["frequency-weight", "exposure-range"]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"exposure": np.r_[0.0, -1.0, np.inf, EXPOSURE[3:]], "rate": RATE}, """\
error[exposure-range]: 3 values of 'exposure' are not positive finite numbers
  |
  | row 1: 0.0
  | row 2: -1.0
  | row 3: inf
  = argument exposure
  = help: a row without exposure says nothing; leave such rows out of every array"""),
    ({"exposure": np.r_[np.nan, EXPOSURE[1:]], "rate": RATE}, """\
error[missing-exposure]: 1 row has no exposure in 'exposure'
  |
  | row 1: NaN
  = argument exposure
  = help: every row needs an exposure; find out why it could not be computed"""),
    ({"exposure": EXPOSURE, "rate": np.r_[0.0, RATE[1:]]}, """\
error[prediction-range]: 1 value of 'rate' is not above zero
  |
  | row 1: 0.0
  = argument rate
  = help: a rate is a number above zero; was a logarithm written?"""),
    ({"exposure": np.r_[1e-20, EXPOSURE[1:]], "rate": np.r_[1e-50, RATE[1:]]}, """\
error[extreme-value]: 1 value of 'rate' times the exposure is too large or too small to compute with
  |
  | row 1: 1e-50
  = argument rate
  = help: expected counts are from 1e-60 to 1e+60; is the rate per unit of the exposure?"""),
    ({"rate": RATE}, """\
error[rate-without-exposure]: rate: there is a rate, but no exposure
  = help: give exposure=…, or give the expected counts as prediction=…"""),
    ({"prediction": RATE, "exposure": EXPOSURE, "task": "regression", "metrics": ["rmse"]}, """\
error[not-for-task]: exposure: a regression outcome has no 'exposure'
  = help: remove it"""),
    ({}, """\
error[no-predictions]: there are no predictions to evaluate
  = help: give prediction=…, or rate=… with exposure=…"""),
])
def test_refusals_name_the_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(evalpipe.errors.EvalpipeError) as caught:
        evaluate(**arguments)
    assert str(caught.value) == message
