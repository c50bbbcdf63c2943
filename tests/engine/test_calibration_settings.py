"""Settings of the figures of calibration: bins, windows, limits, smooth curves and the rug."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from card.drawn import of_figure
from engine.runs import people, run
from evalpipe.chapters.recalibrate.card import curve_drawings
from evalpipe.errors import SpecError
from evalpipe.intervals.binomial import clopper_pearson, wilson
from evalpipe.results import Curve, Results

PLAIN: dict[str, Any] = {"metrics": ["accuracy"], "intervals": {"method": "exact", "bands": False}}
DRAWN: dict[str, Any] = {"metrics": ["brier"], "intervals": {"replicates": 200}}
EXACT = {"rel": 1e-12, "abs": 1e-12}
"""Sums of the same few hundred numbers in another order."""


def curves(results: Results) -> dict[str, Curve]:
    return {c.curve: c for c in results.curves if c.model == "p" and c.variant == "original"}


def test_settings_that_are_the_defaults_change_no_curve_but_add_the_rug() -> None:
    frame = people(300)
    written = {"bins": 10, "window": {"width": 0.1, "step": 0.05}}
    before, after = (run(frame, **DRAWN, calibration=keys).curves for keys in (None, written))
    assert [c for c in after if c.curve != "calibration_rug"] == before
    assert sum(c.curve == "calibration_rug" for c in after) == 1
    quiet = run(frame, **DRAWN, calibration={**written, "rug": False})
    assert quiet.curves == before


@pytest.mark.parametrize(("width", "step", "windows"), [(0.2, 0.02, 51), (0.2, 0.05, 21), (0.35, 0.3, 5)])
def test_windows_are_those_of_a_plain_loop(width: float, step: float, windows: int) -> None:
    frame = people(500)
    y, p = (frame[name].to_numpy() for name in "yp")
    curve = curves(run(frame, **PLAIN, calibration={"window": {"width": width, "step": step}}))["calibration_window"]
    wanted = []
    for k in range(windows):
        # In thousandths, which are whole numbers: no sum of steps ends beside an edge.
        centre = min(round(1000 * step) * k, 1000)
        low, high = max(centre - round(500 * width), 0) / 1000, min(centre + round(500 * width), 1000) / 1000
        inside = (p >= low) & ((p < high) | (high == 1))
        if inside.any():
            limits = clopper_pearson(y[inside].sum(), inside.sum(), 0.95)
            wanted.append((centre / 1000, p[inside].mean(), y[inside].mean(), *limits, inside.sum()))
    names = ("centre", "mean_probability", "event_rate", "lower", "upper", "rows")
    for name, values in zip(names, zip(*wanted, strict=True), strict=True):
        assert curve.points.columns[name] == pytest.approx(list(map(float, values)), **EXACT), name
    assert curve.notes.model_dump() == {"width": width, "step": step, "method": "exact"}


def test_a_step_that_is_left_out_is_half_the_width() -> None:
    assert curves(run(people(50), **PLAIN, calibration={"window": {"width": 0.3}}))[
        "calibration_window"].notes.model_dump() == {"width": 0.3, "step": 0.15, "method": "exact"}


def test_bins_are_as_many_as_asked_of_the_kind_that_is_asked() -> None:
    frame = people(600, digits=6)
    y, p = (frame[name].to_numpy() for name in "yp")
    found = curves(run(frame, **PLAIN, calibration={"bins": 20, "strategy": "equal_count"}))
    assert "calibration_uniform" not in found
    order = np.argsort(p)
    assert found["calibration_quantile"].points.columns["event_rate"] == pytest.approx(
        [y[part].mean() for part in np.split(order, 20)], **EXACT)
    assert found["calibration_quantile"].notes.model_dump()["bins_requested"] == 20
    even = curves(run(frame, **PLAIN, calibration={"bins": 4, "strategy": "equal_width"}))
    assert "calibration_quantile" not in even
    assert even["calibration_uniform"].points.columns["rows"] == list(np.histogram(p, [0, 0.25, 0.5, 0.75, 1])[0])


def test_the_bins_of_a_measure_are_its_own() -> None:
    frame = people(400)
    keys: dict[str, Any] = {"metrics": ["ece", {"metric": "ece", "bins": 5}], "intervals": {"method": "none"}}
    plain, set_ = (run(frame, **keys, **more) for more in ({}, {"calibration": {"bins": 20}}))
    assert [e.value for e in set_.rows] == [e.value for e in plain.rows]
    assert set_.rows[0].params["bins"] == 15
    assert set_.rows[1].params["bins"] == 5


def test_variants_have_windows_of_their_own_and_all_else_is_as_it_was() -> None:
    """Also their limits from replicates: the draws are the same."""
    keys: dict[str, Any] = {"metrics": ["brier"], "intervals": {"replicates": 100},
                            "recalibrate": {"fit_on": {"folds": 5}, "methods": ["logistic", "beta"]}}

    def settings(**window: Any) -> dict[str, Any]:
        return {"interval": "percentile", "window": {"width": 0.2, "step": 0.02, **window}}

    frame = people(300)
    results = run(frame, **keys, calibration=settings(recalibrated={"step": 0.05}))
    fine, coarse = (run(frame, **keys, calibration=settings(step=step)).curves for step in (0.02, 0.05))
    for ours, first, second in zip(results.curves, fine, coarse, strict=True):
        assert ours == (first if ours.variant == "original" else second)
    for drawing in of_figure(results, "d", "windows"):
        assert "in windows of width 0.2 that move by 0.02. Dotted" in drawing.caption
    (drawing,) = [d for d in curve_drawings(results, "d") if "moving windows" in d.title]
    assert ("in windows of width 0.2 that move by 0.02, after recalibration of width 0.2 that move by 0.05. Dotted "
            in drawing.caption)
    assert results.spec["calibration"]["window"]["recalibrated"] == {"step": 0.05}


def test_windows_of_variants_that_cannot_be_drawn_are_refused() -> None:
    recalibrate = {"fit_on": {"folds": 5}, "methods": ["logistic"]}
    for window, more, message in (
        ({"width": 0.2, "step": 0.02, "recalibrated": {"step": 0.2}}, {"recalibrate": recalibrate},
         ("calibration.window.recalibrated.step: windows of width 0.2 that move by 0.2 do not overlap, so they are "
          "bins and no moving windows")),
        ({"recalibrated": {"step": 0.05}}, {},
         "calibration.window.recalibrated: nothing is recalibrated, so no variant has windows"),
    ):
        with pytest.raises(SpecError) as fault:
            run(people(100), **PLAIN, calibration={"window": window}, **more)
        assert [problem.message for problem in fault.value.problems] == [message]


def test_bins_stand_at_their_middles_where_the_spec_says_so() -> None:
    """All else is as it was; to 1e-12."""
    frame = people(300).filter(~pl.col("p").is_between(0.3, 0.49))
    p = np.sort(frame["p"].to_numpy())
    before, after = (run(frame, **PLAIN, calibration={"bins": 10, **keys}) for keys in ({}, {"position": "midpoint"}))
    for name in ("calibration_uniform", "calibration_quantile"):
        points = curves(after)[name].points.columns
        others = {key: column for key, column in points.items() if key != "midpoint"}
        assert others == curves(before)[name].points.columns
    used = sorted({min(int(value * 10), 9) for value in p})
    assert 3 not in used
    assert curves(after)["calibration_uniform"].points.columns["midpoint"] == pytest.approx(
        [(k + 0.5) / 10 for k in used], **EXACT)
    points = curves(after)["calibration_quantile"].points.columns
    lowest = [min(p[int(first):]) for first in np.cumsum([0, *points["rows"][:-1]])]
    assert points["midpoint"] == pytest.approx(
        [(low + high) / 2 for low, high in zip(lowest, [*lowest[1:], p[-1]], strict=True)], **EXACT)
    for drawing in of_figure(after, "d", "reliability"):
        assert "against the middle of each bin of the predicted probability." in drawing.caption
        assert "The intervals are set against the diagonal at the mean probability of the rows." in drawing.caption
        kind = "quantile" if "equal count" in drawing.title else "uniform"
        drawn = next(series for series in drawing.points if series.name == "p")
        assert next(iter(drawn.columns.values())) == curves(after)[f"calibration_{kind}"].points.columns["midpoint"]
    for drawing in of_figure(before, "d", "reliability"):
        assert "against the mean predicted probability." in drawing.caption
    assert "position" not in before.spec["calibration"]
    assert after.spec["calibration"]["position"] == "midpoint"


@pytest.mark.parametrize("smoother", ["logistic", "spline", "isotonic"])
def test_the_smoother_that_is_asked_for_is_the_only_one_and_is_as_it_was(smoother: str) -> None:
    frame = people(300)
    before, after = (curves(run(frame, **DRAWN, calibration=keys)) for keys in (None, {"smoother": smoother}))
    kinds = {"calibration_logistic", "calibration_spline", "calibration_isotonic"}
    assert kinds & after.keys() == {f"calibration_{smoother}"}
    assert after[f"calibration_{smoother}"] == before[f"calibration_{smoother}"]


def test_the_interval_is_that_of_bins_and_windows_alone() -> None:
    frame = people(300)
    for interval, drawn in (("wilson", DRAWN), ("none", DRAWN), ("percentile", DRAWN), ("wilson", PLAIN)):
        found = curves(run(frame, **drawn, calibration={"interval": interval}))
        for name in ("calibration_uniform", "calibration_quantile", "calibration_window"):
            assert found[name].method == interval
            lower = found[name].points.columns["lower"]
            assert all(x is None for x in lower) is (interval == "none")
    points = found["calibration_uniform"].points
    rows, rate = (np.array(points.columns[name], float) for name in ("rows", "event_rate"))
    assert points.columns["upper"] == pytest.approx(list(wilson(rows * rate, rows, 0.95)[1]), **EXACT)


def test_wald_limits_are_drawn_with_their_warning_and_are_degenerate_where_they_have_no_width() -> None:
    found = run(people(300), **PLAIN | {"metrics": ["accuracy"]}, calibration={"interval": "wald"})
    points = curves(found)["calibration_uniform"].points
    rows, rate = (np.array(points.columns[name], float) for name in ("rows", "event_rate"))
    half = 1.959963984540054 * np.sqrt(rate * (1 - rate) / rows)
    assert points.columns["lower"] == pytest.approx(list(np.maximum(rate - half, 0)), **EXACT)
    assert points.columns["upper"] == pytest.approx(list(np.minimum(rate + half, 1)), **EXACT)
    caution = "Wald limits have no width where the share is 0 or 1, and elsewhere cover less often than their level."
    for name in ("reliability", "windows"):
        drawings = of_figure(found, "d", name)
        assert drawings, name
        assert {drawing.caption.count(caution) for drawing in drawings} == {1}, name
    zero = sum(share in (0, 1) for share in rate)
    assert zero
    assert f" of {len(rate) - zero} bins the interval excludes" in of_figure(found, "d", "reliability")[0].finding
    frame = people(100).with_columns(p=pl.col("y") * 0.5 + 0.25)
    (row,) = run(frame, metrics=["accuracy"], intervals={"method": "wald"}).rows
    assert (row.value, row.lower, row.upper, row.status, row.reason) == (1.0, 1.0, 1.0, "degenerate", caution)
    assert row.method == "wald"


def test_limits_of_fine_windows_from_replicates_are_those_of_the_bootstrap() -> None:
    frame = people(400)
    y, p = (frame[name].to_numpy() for name in "yp")
    keys = {"metrics": ["brier"], "intervals": {"replicates": 2000}}
    curve = curves(run(frame, **keys, calibration={"interval": "percentile", "window": {"width": 0.25, "step": 0.125}}))
    points = curve["calibration_window"].points
    generator = np.random.default_rng(1)
    draws = generator.integers(0, 400, (4000, 400))
    for centre, lower, upper in zip(*(points.columns[n] for n in ("centre", "lower", "upper")), strict=True):
        inside = (p >= centre - 0.125) & ((p < centre + 0.125) | (centre + 0.125 >= 1))
        rates = (y * inside)[draws].sum(axis=1) / inside[draws].sum(axis=1)
        # 0.015: three standard errors of a limit of 2,000 draws and one of 4,000 where the rate varies most, 0.07.
        assert (lower, upper) == pytest.approx(tuple(np.nanquantile(rates, [0.025, 0.975])), abs=0.015)


def test_several_levels_have_the_settings_too() -> None:
    generator = np.random.default_rng(0)
    probabilities = generator.dirichlet([1, 1, 1], 300)
    frame = pl.DataFrame({
        "y": [str(generator.choice(list("abc"), p=row)) for row in probabilities],
        **{f"p_{level}": probabilities[:, k] for k, level in enumerate("abc")},
    })
    results = run(frame, task="ordinal", outcome={"column": "y", "levels": list("abc")},
                  models={"p": {"probabilities": "p_{level}"}}, metrics=["accuracy"], intervals={"method": "none"},
                  calibration={"bins": 5, "strategy": "equal_count", "smoother": "spline"})
    kinds = {c.curve for c in results.curves}
    assert {"calibration_quantile", "cumulative_calibration_quantile", "top_label_calibration_quantile"} <= kinds
    assert not any(name.endswith("_uniform") for name in kinds)
    assert {"calibration_logistic", "calibration_isotonic", "calibration_rug"}.isdisjoint(kinds)
    assert {len(c.points.columns["rows"]) for c in results.curves if c.curve.endswith("_quantile")} == {5}


def test_a_rug_has_every_probability_with_its_events_and_others() -> None:
    frame = people(200)
    curve = curves(run(frame, **PLAIN, calibration={}))["calibration_rug"]
    y = pl.col("y")
    counts = frame.group_by("p").agg(y.sum().alias("events"), (1 - y).sum().alias("others")).sort("p")
    assert curve.points.columns == counts.rename({"p": "probability"}).to_dict(as_series=False)
    assert curve.notes.model_dump() == {"distinct": len(counts)}


def test_a_rug_of_many_probabilities_is_to_the_nearest_of_even_places() -> None:
    frame = people(3000, digits=9)
    curve = curves(run(frame, **PLAIN, calibration={}))["calibration_rug"]
    at, events, others = (np.array(curve.points.columns[n], float) for n in ("probability", "events", "others"))
    assert len(at) <= 101
    assert np.array_equal(at, np.rint(at * 100) / 100)
    near = np.rint(frame["p"].to_numpy() * 100) / 100
    assert events.tolist() == [float(frame["y"].to_numpy()[near == place].sum()) for place in at]
    assert (events + others).tolist() == [float((near == place).sum()) for place in at]
    assert curve.notes.model_dump() == {"distinct": frame["p"].n_unique(), "places": 100}


def test_binomial_limits_under_importance_weights_count_effective_observations_in_any_unit() -> None:
    rows = people(300).with_columns(big=pl.col("heavy") * 16)
    heavy, big = (curves(run(rows, metrics=["accuracy"], weight=weight, intervals={"method": "exact", "bands": False}))
                  for weight in ("heavy", "big"))
    y, p, w = (rows[name].to_numpy() for name in ("y", "p", "heavy"))
    for name in ("calibration_uniform", "calibration_quantile", "calibration_window"):
        ours, theirs = (found[name].points.columns for found in (heavy, big))
        for limit in ("lower", "upper"):
            assert theirs[limit] == pytest.approx(ours[limit], **EXACT), name
    inside = (p >= 0.3) & (p < 0.4)
    effective = w[inside].sum() ** 2 / (w[inside] ** 2).sum()
    rate = (w * y)[inside].sum() / w[inside].sum()
    columns = heavy["calibration_uniform"].points.columns
    # The incomplete beta function is inverted to about 1e-10.
    assert (columns["lower"][3], columns["upper"][3]) == pytest.approx(
        tuple(map(float, clopper_pearson(rate * effective, effective, 0.95))), rel=1e-9)
