"""Probabilities judged as numbers, against DALEX's `model_performance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import dalex
import numpy as np
import polars as pl
import pytest

from engine.runs import BOTH, intervals, people, run
from evalpipe.results.curves import Curve
from evalpipe.results.curves.residuals import (
    ResidualBox,
    ResidualEcdf,
    ResidualHistogram,
    ResidualOutliers,
    ResidualQuantiles,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.results import Results

    C = TypeVar("C", bound=Curve)

NEAR = 1e-12
"""Both do the same arithmetic, in another order."""

KINDS = (ResidualQuantiles, ResidualBox, ResidualOutliers, ResidualHistogram, ResidualEcdf)


class Given:
    """A model in name alone: its predictions are given."""


def performance(truth: Any, predicted: Any, **keys: Any) -> Any:
    explainer = dalex.Explainer(Given(), np.zeros((len(truth), 1)), truth, predict_function=lambda *_: predicted,
                                verbose=False, **keys)
    # With a truth that is always 1 its R squared divides by zero.
    with np.errstate(divide="ignore"):
        return explainer.model_performance(model_type="regression")


def one(results: Results, kind: type[C], model: str = "p") -> C:
    (curve,) = (curve for curve in results.curves if isinstance(curve, kind) and curve.model == model)
    return curve


def residuals(frame: pl.DataFrame, **keys: Any) -> Results:
    return run(frame, **{"curves": {"residuals": True}, "metrics": ["brier"], "intervals": intervals(100)} | keys)


@pytest.mark.parametrize("model", ["p", "q"])
@pytest.mark.parametrize("n", [300, 301])  # a median between two rows, and on one
def test_probabilities_of_an_event_have_the_numbers_of_dalex(model: str, n: int) -> None:
    frame = people(n, digits=6)
    results = residuals(frame, models=BOTH)
    theirs = performance(frame["y"].to_numpy().astype(float), frame[model].to_numpy())
    box = one(results, ResidualBox, model)
    ours = box.notes.rmse, box.notes.mean, box.points.median[0]
    assert ours == pytest.approx(theirs.result[["rmse", "mae", "mad"]].to_numpy()[0], abs=NEAR)
    quantiles = one(results, ResidualQuantiles, model).points
    assert quantiles.residual == pytest.approx(np.quantile(theirs.residuals["residuals"], np.arange(11) / 10), abs=NEAR)
    assert quantiles.absolute_residual == pytest.approx(
        np.quantile(np.abs(theirs.residuals["residuals"]), np.arange(11) / 10), abs=NEAR)
    brier = next(row.value for row in results.rows if (row.metric, row.model) == ("brier", model))
    assert (box.notes.rmse or 0) ** 2 == pytest.approx(brier, abs=NEAR)


def test_the_distribution_from_the_top_is_that_of_the_residuals() -> None:
    frame = people(300)
    theirs = np.abs(performance(frame["y"].to_numpy().astype(float), frame["p"].to_numpy()).residuals["residuals"])
    points = one(residuals(frame), ResidualEcdf).points
    assert points.share_above == pytest.approx([(theirs > x).mean() for x in points.absolute_residual], abs=NEAR)


def test_the_histogram_has_every_row() -> None:
    points = one(residuals(people(300)), ResidualHistogram).points
    assert sum(weight or 0 for weight in points.weight) == 300


def test_several_levels_have_one_minus_the_probability_of_the_true_level(levels: Callable[[int], pl.DataFrame]) -> None:
    # R's DALEX takes 1 - p of the true class; the Python package takes the residuals that it is given.
    frame = levels(300)
    chance = frame.select(pl.concat_list("a", "b", "c").list.get(pl.col("code"))).to_series().to_numpy()
    theirs = performance(np.ones(300), chance)
    results = residuals(
        frame, task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]},
        models={"m": {"probabilities": "{level}"}}, metrics=["log_loss"],
        intervals={"replicates": 100})
    box = one(results, ResidualBox, "m")
    assert (box.notes.rmse, box.notes.mean, box.points.median[0]) == pytest.approx(
        theirs.result[["rmse", "mae", "mad"]].to_numpy()[0], abs=NEAR)
    assert one(results, ResidualQuantiles, "m").points.residual == pytest.approx(
        np.quantile(1 - chance, np.arange(11) / 10), abs=NEAR)


@pytest.fixture
def levels() -> Callable[[int], pl.DataFrame]:
    def make(n: int) -> pl.DataFrame:
        generator = np.random.default_rng(3)
        chances = generator.dirichlet([2.0, 2.0, 2.0], n)
        code = (generator.random((n, 1)) > chances.cumsum(axis=1)).sum(axis=1)
        names = np.array(["a", "b", "c"])[code]
        return pl.DataFrame({"y": names, "code": code, **dict(zip("abc", chances.T, strict=True))})

    return make


def test_a_weight_of_two_is_two_rows() -> None:
    frame = people(200)
    doubled = frame[np.repeat(np.arange(200), frame["times"].to_numpy())]
    weighted, repeated = residuals(frame, weight={"column": "times", "kind": "frequency"}), residuals(doubled)
    for kind in (ResidualQuantiles, ResidualBox):
        for ours, theirs in zip(*(one(r, kind).points.columns.values() for r in (weighted, repeated)), strict=True):
            assert ours == pytest.approx(theirs, abs=NEAR)


def test_without_the_key_probabilities_have_no_residuals() -> None:
    results = run(people(200), metrics=["brier"], intervals=intervals(100))
    assert [curve for curve in results.curves if isinstance(curve, KINDS)] == []
