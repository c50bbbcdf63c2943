"""Deviance and Pearson residuals against statsmodels, and what residuals are held to against plain loops and draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats

from engine.runs import people, run
from evalpipe.results import Results

BOTH = {"residuals": {"kinds": ["deviance", "pearson"], "figures": ["scale_location", "half_normal"]}}
COUNT: dict[str, Any] = {"task": "count", "outcome": {"column": "y"}, "models": {"m": {"prediction": "p"}}}
NUMBER: dict[str, Any] = {"task": "regression", "outcome": {"column": "y"}, "models": {"m": {"prediction": "p"}}}
FIGURES = {"residuals": {"figures": ["scale_location", "half_normal"]}}


def curve(results: Results, name: str, model: str = "m") -> Any:
    (only,) = [c for c in results.curves if c.curve == name and c.model == model]
    return only


def events(n: int = 300, seed: int = 1) -> tuple[pl.DataFrame, Any]:
    """Return rows of a logistic regression, and the fit."""
    rng = np.random.default_rng(seed)
    x = sm.add_constant(rng.normal(size=(n, 2)))
    y = (rng.random(n) < 1 / (1 + np.exp(-(x @ [-0.4, 1.2, -0.8])))).astype(int)
    fit = sm.GLM(y, x, family=sm.families.Binomial()).fit()
    return pl.DataFrame({"y": y, "p": fit.fittedvalues}), fit


def counts(n: int = 300, seed: int = 2, mean: float = 1.0) -> tuple[pl.DataFrame, Any]:
    """Return rows of a Poisson regression, and the fit."""
    rng = np.random.default_rng(seed)
    x = sm.add_constant(rng.normal(size=(n, 2)))
    y = rng.poisson(mean * np.exp(x @ [0.3, 0.5, -0.4]))
    fit = sm.GLM(y, x, family=sm.families.Poisson()).fit()
    return pl.DataFrame({"y": y, "p": fit.fittedvalues}), fit


def measured(frame: pl.DataFrame, curves: Any = BOTH, **keys: Any) -> Results:
    of_task = {"metrics": ["rmse"]} if "task" in keys else {"metrics": ["brier"], "models": {"m": {"probability": "p"}}}
    return run(frame, intervals={"method": "none"}, curves=curves, **of_task | keys)


@pytest.mark.parametrize(("made", "keys"), [(events, {}), (counts, COUNT)])
def test_statsmodels_agrees_on_the_residuals(made: Any, keys: dict[str, Any]) -> None:
    frame, fit = made()
    results = measured(frame, **keys)
    for kind, theirs in (("deviance", fit.resid_deviance), ("pearson", fit.resid_pearson)):
        drawn = curve(results, f"{kind}_residual_predicted").points
        assert sorted(drawn.residual) == pytest.approx(sorted(theirs), rel=1e-9, abs=1e-9)
        order = np.lexsort((theirs, fit.fittedvalues))
        assert drawn.residual == pytest.approx(np.asarray(theirs)[order], rel=1e-9, abs=1e-9)
        quantiles = curve(results, f"{kind}_residual_quantiles").points
        assert quantiles.residual == pytest.approx(np.quantile(theirs, np.arange(11) / 10), rel=1e-9, abs=1e-9)
        assert quantiles.absolute_residual == pytest.approx(
            np.quantile(np.abs(theirs), np.arange(11) / 10), rel=1e-9, abs=1e-9)


def test_the_squares_add_up_to_the_deviance_and_to_pearsons_statistic() -> None:
    frame, _ = counts(250)
    results = measured(frame, **COUNT | {"metrics": ["poisson_deviance", "pearson_chi2"]})
    values = {e.metric: e.value for e in results.rows}
    squares = {kind: sum(r**2 for r in curve(results, f"{kind}_residual_predicted").points.residual)
               for kind in ("deviance", "pearson")}
    assert squares["deviance"] == pytest.approx(250 * values["poisson_deviance"], rel=1e-12)
    assert squares["pearson"] == pytest.approx(values["pearson_chi2"], rel=1e-12)


def test_a_row_of_weight_three_is_three_rows_in_any_order() -> None:
    frame = people(400).with_columns(w="times").select("y", "p", "w")
    once = measured(frame, weight={"column": "w", "kind": "frequency"}, metrics=["brier"])
    times = frame.select(pl.all().repeat_by("w").explode()).sample(fraction=1, shuffle=True, seed=3)
    every = measured(times.select("y", "p"))
    for name in ("deviance_residual_quantiles", "pearson_residual_predicted", "scale_location", "half_normal",
                 "scale_location_smooth", "deviance_residual_predicted_smooth"):
        one, other = curve(once, name).points.columns, curve(every, name).points.columns
        for column in one:
            near = 1e-5 if name.endswith("smooth") else 1e-11
            assert one[column] == pytest.approx(other[column], rel=near, abs=near), (name, column)


def test_probabilities_of_0_and_1_are_clipped_as_those_of_the_log_loss_are() -> None:
    frame = pl.DataFrame({"y": [1, 0, 1, 0], "p": [0.0, 0.0, 1.0, 0.5]})
    results = measured(frame)
    least = -math.sqrt(2 * -math.log(0.5))
    quantiles = curve(results, "deviance_residual_quantiles")
    assert max(quantiles.points.residual) == pytest.approx(math.sqrt(-2 * math.log(1e-15)), rel=1e-12)
    assert min(quantiles.points.residual) == pytest.approx(least, rel=1e-12)
    assert quantiles.notes.clipped == 1  # the event that was impossible; a sure hit has residual 0, clipped or not
    assert max(curve(results, "pearson_residual_quantiles").points.residual) == pytest.approx(1e7 * 10**0.5, rel=1e-12)


def test_of_several_levels_it_is_the_root_of_what_the_true_level_adds() -> None:
    frame = people(200)
    results = run(frame.with_columns(rest=1 - frame["p"]), task="multiclass", metrics=["log_loss"],
                  outcome={"column": "h", "levels": ["x", "z"]}, intervals={"method": "none"},
                  models={"m": {"probabilities": {"x": "p", "z": "rest"}}},
                  curves={"residuals": {"kinds": ["deviance"]}})
    true = np.where(frame["h"] == "x", frame["p"], 1 - frame["p"])
    theirs = np.sqrt(-2 * np.log(np.clip(true, 1e-15, 1)))
    found = curve(results, "deviance_residual_quantiles").points.residual
    assert found == pytest.approx(np.quantile(theirs, np.arange(11) / 10), rel=1e-9, abs=1e-7)
    assert not any("deviance_residual_predicted" in c.curve for c in results.curves)


def test_the_half_normal_plot_of_numbers_is_that_of_plain_ranks() -> None:
    rng = np.random.default_rng(4)
    p = rng.normal(size=150)
    y = p + rng.normal(size=150)
    half = curve(measured(pl.DataFrame({"y": y, "p": p}), FIGURES, **NUMBER), "half_normal")
    sizes, ranks = np.sort(np.abs(y - p)), np.arange(1, 151)
    scale = math.sqrt(((y - p) ** 2).mean())
    assert half.notes.scale == pytest.approx(scale, rel=1e-12)
    across = stats.halfnorm.ppf((ranks - 0.5) / 150)
    kept = [int(np.argmin(np.abs(across - x))) for x in half.points.half_normal]
    assert half.points.half_normal == pytest.approx(across[kept], rel=1e-9)
    assert half.points.absolute_residual == pytest.approx(sizes[kept] / scale, rel=1e-12)
    assert half.points.expected == pytest.approx(half.points.half_normal, rel=1e-12)
    for column, share in ((half.points.lower, 0.025), (half.points.upper, 0.975)):
        limits = stats.halfnorm.ppf(stats.beta.ppf(share, ranks, 151 - ranks))
        assert column == pytest.approx(limits[kept], rel=1e-6)
    assert max(half.points.absolute_residual) == pytest.approx(sizes[-1] / scale, rel=1e-12)


@pytest.mark.parametrize(("made", "keys"), [(events, {}), (counts, COUNT)])
@pytest.mark.parametrize("kind", ["deviance", "pearson"])
def test_what_is_expected_is_what_outcomes_drawn_as_predicted_come_to(made: Any, keys: Any, kind: str) -> None:
    frame, _ = made(400)
    half = curve(measured(frame, {"residuals": {"kinds": [kind], "figures": ["half_normal"]}}, **keys), "half_normal")
    p, rng = frame["p"].to_numpy(), np.random.default_rng(0)
    drawn = rng.poisson(p, (2000, 400)) if keys else (rng.random((2000, 400)) < p).astype(float)
    if kind == "pearson":
        sizes = np.abs(drawn - p) / np.sqrt(p if keys else p * (1 - p))
    elif keys:
        sizes = np.sqrt(2 * np.maximum(drawn * np.log(np.where(drawn > 0, drawn / p, 1)) - (drawn - p), 0))
    else:
        sizes = np.sqrt(-2 * np.log(np.where(drawn == 1, p, 1 - p)))
    sizes.sort(axis=1)
    # At each place the rank of the observed residual; the limits hold most of what is drawn, and no more than that.
    share = 2 * stats.norm.cdf(half.points.half_normal) - 1
    at = sizes[:, np.clip(np.round(share * 400 - 0.5).astype(int), 0, 399)]
    middle = np.quantile(at, 0.5, axis=0)
    spread = np.quantile(at, 0.975, axis=0) - np.quantile(at, 0.025, axis=0)
    assert np.all(np.abs(np.array(half.points.expected) - middle) <= 0.5 * spread + 0.02)
    inside = ((at >= np.array(half.points.lower) - 1e-9) & (at <= np.array(half.points.upper) + 1e-9)).mean()
    assert 0.93 < inside <= 1
    wide = np.array(half.points.upper) - np.array(half.points.lower)
    assert np.median(wide / np.maximum(spread, 1e-9)) < 1.5


@pytest.mark.parametrize(("frame", "keys"), [(events(2000)[0], {}), (counts(2000, mean=30)[0], COUNT)])
def test_the_size_of_residuals_is_what_is_expected_of_a_model_that_is_right(frame: pl.DataFrame, keys: Any) -> None:
    line = curve(measured(frame, FIGURES, **keys), "scale_location_smooth").points
    roots, expected = np.array(line.root_size), np.array(line.expected)
    inner = slice(len(roots) // 10, -len(roots) // 10)
    assert np.abs(roots - expected)[inner].max() < 0.08
    p = np.array(line.predicted)
    theirs = (p * (-2 * np.log(p)) ** 0.25 + (1 - p) * (-2 * np.log1p(-p)) ** 0.25 if not keys else
              [sum(stats.poisson.pmf(k, m) * (2 * max(k * math.log(k / m) if k else 0, -1e9) - 2 * (k - m)) ** 0.5**2
                   if (2 * (k * math.log(k / m) if k else 0) - 2 * (k - m)) > 0 else 0
                   for k in range(400)) for m in p])
    assert expected == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(("frame", "keys"), [(events(3000)[0], {}), (counts(3000)[0], COUNT)])
def test_the_mean_of_a_deviance_residual_is_that_of_outcomes_drawn_as_predicted(frame: pl.DataFrame, keys: Any) -> None:
    results = measured(frame, **keys)
    line = curve(results, "deviance_residual_predicted_smooth").points
    p, rng = np.array(line.predicted), np.random.default_rng(1)
    if keys:
        y = rng.poisson(p, (40_000, len(p)))
        theirs = np.sign(y - p) * np.sqrt(2 * np.maximum(y * np.log(np.where(y > 0, y / p, 1)) - (y - p), 0))
    else:
        y = rng.random((40_000, len(p))) < p
        theirs = np.where(y, np.sqrt(-2 * np.log(p)), -np.sqrt(-2 * np.log1p(-p)))
    assert line.expected == pytest.approx(theirs.mean(axis=0), abs=0.03)  # six standard errors of 40,000 draws
    inner = slice(len(p) // 10, -len(p) // 10)
    assert np.abs(np.array(line.residual) - line.expected)[inner].max() < 0.15
    assert np.abs(np.array(line.expected)).max() > 0.15  # so that zero would be the wrong line
    assert set(curve(results, "pearson_residual_predicted_smooth").points.expected) == {0.0}


def test_limits_of_many_counts_hold_at_the_smallest_residuals_too() -> None:
    """300 samples of 2,000 rows: at 95 % a place has at least 91 %, three standard errors below."""
    rng = np.random.default_rng(9)
    mean = np.exp(rng.normal(0.7, 0.6, 2_000))
    frame = pl.DataFrame({"y": rng.poisson(mean), "p": mean})
    half = curve(measured(frame, {"residuals": {"figures": ["half_normal"]}}, **COUNT), "half_normal")
    places = np.rint(2_000 * (2 * stats.norm.cdf(half.points.half_normal) - 1) + 0.5).astype(int) - 1
    inside = []
    for _ in range(300):
        y = rng.poisson(mean)
        logs = np.where(y > 0, y * np.log(np.maximum(y, 1) / mean), 0.0)
        sizes = np.sort(np.sqrt(2 * np.maximum(logs - (y - mean), 0)))[places]
        inside.append((sizes >= half.points.lower) & (sizes <= half.points.upper))
    assert np.mean(inside, axis=0).min() > 0.91


def test_numbers_whose_spread_grows_leave_the_line_that_is_expected() -> None:
    rng = np.random.default_rng(5)
    p = rng.uniform(1, 10, 1500)
    line = curve(measured(pl.DataFrame({"y": p + rng.normal(0, p), "p": p}), FIGURES, **NUMBER),
                 "scale_location_smooth").points
    assert line.expected == pytest.approx([stats.norm.expect(lambda z: abs(z) ** 0.5)] * len(line.expected), rel=1e-6)
    assert line.root_size[0] < 0.6
    assert line.root_size[-1] > 0.95


def test_predictions_against_the_truth_have_the_least_squares_line_of_numpy() -> None:
    rng = np.random.default_rng(6)
    p = np.round(rng.normal(50, 9, 700), 1)
    y = np.round(p + rng.normal(0, 5, 700), 1)
    frame = pl.DataFrame({"y": y, "p": p})
    results = measured(frame, {"residuals": {"figures": ["predicted_observed"]}}, **NUMBER)
    rows = curve(results, "predicted_observed")
    assert [rows.notes.slope, rows.notes.intercept] == pytest.approx(np.polyfit(y, p, 1), rel=1e-9)
    assert len(rows.points.observed) == 400
    assert rows.points.observed == sorted(rows.points.observed)
    assert set(zip(rows.points.observed, rows.points.predicted, strict=True)) <= set(zip(y, p, strict=True))
    smooth = curve(results, "predicted_observed_smooth").points
    assert np.interp(50, smooth.observed, smooth.predicted) == pytest.approx(p[np.abs(y - 50) < 1].mean(), abs=1)
    assert not any("predicted_observed" in c.curve for c in measured(frame, {"residuals": {"figures": [
        "half_normal"]}}, **NUMBER).curves)


def test_clustered_rows_have_no_limits_and_residuals_that_are_all_zero_no_plot() -> None:
    clustered = measured(people(300), {"residuals": {"figures": ["half_normal"]}}, cluster="who", metrics=["brier"])
    half = curve(clustered, "half_normal")
    assert (half.points.lower, half.points.upper, half.notes.level) == (None, None, None)
    exact = measured(pl.DataFrame({"y": [1.0, 2, 3], "p": [1.0, 2, 3]}), FIGURES, **NUMBER)
    assert not {"half_normal", "scale_location"} & {c.curve for c in exact.curves}


def test_true_stays_what_it_was() -> None:
    names = {c.curve for c in measured(people(200), {"residuals": True}, metrics=["brier"]).curves}
    assert "residual_box" in names
    assert not {name for name in names if "deviance" in name or "pearson" in name or "half" in name}
