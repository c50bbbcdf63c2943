"""The leverages of a linear fit: leave-one-out predictions and their measures without a fit for each row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from engine.runs import read_sample, run
from evalpipe.cli.trace import trace
from evalpipe.errors import DataError
from evalpipe.run import run as run_spec
from evalpipe.runs.folder import RunFolder

MEASURES = ["press", "pse", "sep", "q2"]
LINEAR = {"task": "regression", "outcome": {"column": "y"}, "metrics": MEASURES, "intervals": {"replicates": 100}}


def fitted(n: int = 60, seed: int = 3) -> tuple[pl.DataFrame, Any]:
    """Return the rows of a linear fit with its leverages and leave-one-out predictions, and its influence."""
    rng = np.random.default_rng(seed)
    x = sm.add_constant(np.column_stack([rng.normal(size=n), rng.gamma(2, 1, n)]))
    y = x @ [40.0, 3.0, -2.0] + rng.normal(size=n)
    fit = sm.OLS(y, x).fit()
    influence = fit.get_influence()
    return pl.DataFrame({"y": y, "p": fit.fittedvalues, "h": influence.hat_matrix_diag,
                         "out": y - influence.resid_press, "row": range(n)}), influence


def test_statsmodels_agrees_on_the_leave_one_out_residuals_of_a_linear_fit() -> None:
    frame, influence = fitted()
    sample = read_sample(frame, **LINEAR, models={"m": {"prediction": "p", "leverage": "h"}})
    model = sample.models["m"]
    assert model.left_out is not None
    assert sorted(sample.truth - model.left_out) == pytest.approx(sorted(influence.resid_press), rel=1e-11, abs=1e-11)


def test_a_model_with_leverages_has_the_measures_of_its_leave_one_out_predictions() -> None:
    frame, influence = fitted()
    models = {"hat": {"prediction": "p", "leverage": "h"}, "loo": {"prediction": "p", "loo_prediction": "out"}}
    rows = {(e.model, e.metric): e for e in run(frame, **LINEAR, models=models).rows}
    assert rows["hat", "press"].value == pytest.approx(influence.ess_press, rel=1e-11)
    for name in MEASURES:
        hat, loo = rows["hat", name], rows["loo", name]
        assert (hat.value, hat.lower, hat.upper) == pytest.approx((loo.value, loo.lower, loo.upper), rel=1e-9)


def test_a_spec_without_leverages_has_the_hash_that_it_had() -> None:
    frame, _ = fitted()
    model = run(frame, **LINEAR, models={"loo": {"prediction": "p", "loo_prediction": "out"}}).spec["models"]["loo"]
    assert "leverage" not in model


def test_leverages_in_a_file_of_predictions_meet_the_truth_of_their_rows(tmp_path: Path) -> None:
    frame, influence = fitted()
    frame.select("row", "y").write_csv(tmp_path / "rows.csv")
    frame.select("row", "p", "h").reverse().write_csv(tmp_path / "fit.csv")
    results = run_spec({
        "evalpipe": 1, "name": "x", **LINEAR, "id": "row", "datasets": {"d": {"path": str(tmp_path / "rows.csv")}},
        "models": {"m": {"predictions": str(tmp_path / "fit.csv"), "prediction": "p", "leverage": "h"}},
        "report": {"formats": []}})
    (press,) = (e.value for e in results.rows if e.metric == "press")
    assert press == pytest.approx(influence.ess_press, rel=1e-11)


def test_an_estimate_names_the_leverages_and_the_predictions_that_it_is_made_from(tmp_path: Path) -> None:
    results = run(fitted()[0], **LINEAR, models={"m": {"prediction": "p", "leverage": "h"}})
    columns = trace(results, results.rows[0], "press@m", RunFolder(tmp_path))["columns"]
    assert columns == {"truth": ["y"], "leverage": ["h"], "prediction": ["p"]}


@pytest.mark.parametrize("wrong", [1.0, -1e-9, 1.5])
def test_a_leverage_outside_0_to_1_is_an_error_that_names_the_row(wrong: float) -> None:
    frame, _ = fitted()
    frame = frame.with_columns(h=pl.when(pl.col("row") == 4).then(wrong).otherwise("h"))
    with pytest.raises(DataError) as error:
        run(frame, **LINEAR, models={"m": {"prediction": "p", "leverage": "h"}})
    assert "1 value of column 'h' is no leverage, which is at least 0 and below 1" in str(error.value)
    assert f"row 5: {wrong:g}" in str(error.value)
