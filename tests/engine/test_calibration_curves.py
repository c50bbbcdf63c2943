"""Calibration curves: moving windows, the logistic line, the spline and the isotonic fit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.interpolate import CubicSpline
from sklearn.isotonic import IsotonicRegression

from engine import runs
from engine.runs import people, read_sample
from evalpipe.arithmetic import expit
from evalpipe.calibration import Training, registry
from evalpipe.calibration.scales import Events, clipped, events_of, logit
from evalpipe.calibration.spline import Spread, logistic_line, logistic_spline, smooth
from evalpipe.data.catalog import look
from evalpipe.engine.curves import calibration as curves
from evalpipe.engine.curves.declare import CurveRows
from evalpipe.engine.curves.declare import registry as registered
from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Curve, Results
from evalpipe.run import load
from evalpipe.statistics import Rows, Summary

NAMES = ("calibration_window", "calibration_logistic", "calibration_spline", "calibration_isotonic")
FEW: dict[str, Any] = {"metrics": ["brier"], "intervals": {"replicates": 200}}
BINOMIAL: dict[str, Any] = {"metrics": ["accuracy"], "intervals": {"method": "exact", "bands": False}}
EXACT = {"rel": 1e-9, "abs": 1e-12}
"""Two sums of the same numbers in another order, and coefficients that iterations have settled to the last bits."""


def run(frame: pl.DataFrame, **keys: Any) -> Results:
    """Run a spec with every smooth calibration curve."""
    return runs.run(frame, calibration=None, **keys)


def found(results: Results, name: str, model: str = "p") -> Curve:
    return next(c for c in results.curves if (c.curve, c.model) == (name, model))


def columns(frame: pl.DataFrame, model: str = "p") -> tuple[Any, Any]:
    return frame["y"].to_numpy().astype(bool), frame[model].to_numpy()


def table(y: Any, p: Any, weight: Any = None) -> Events:
    return events_of(Training(y, p, np.ones(len(y)) if weight is None else weight, lambda _: ()), clipped(p))


def test_windows_are_those_of_a_plain_loop() -> None:
    frame = people(400).with_columns(p=pl.when(pl.col("p") > 0.97).then(1.0).otherwise(pl.col("p")))
    (y, p), points = columns(frame), found(run(frame, **BINOMIAL), "calibration_window").points
    assert p.max() == 1
    assert 0.05 in p, "a row that lies on the edge of windows"
    wanted = []
    for k in range(21):
        low, high = max(5 * k - 5, 0) / 100, min(5 * k + 5, 100) / 100
        inside = (p >= low) & ((p < high) | (high == 1))
        if inside.any():
            lower, upper = clopper_pearson(y[inside].sum(), inside.sum(), 0.95)
            wanted.append((k / 20, p[inside].mean(), y[inside].mean(), lower, upper, inside.sum(), inside.sum()))
    names = ("centre", "mean_probability", "event_rate", "lower", "upper", "weight", "rows")
    for name, column in zip(names, zip(*wanted, strict=True), strict=True):
        assert points.columns[name] == pytest.approx(list(map(float, column)), **EXACT), name


def test_a_window_without_rows_is_left_out() -> None:
    frame = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.02, 0.02, 0.9, 0.93]})
    assert found(run(frame, **BINOMIAL), "calibration_window").points.centre == [0.0, 0.05, 0.9, 0.95]


def test_windows_have_the_interval_of_the_bins() -> None:
    frame = people(300)
    for keys, method in ((BINOMIAL, "exact"), (FEW | {"cluster": "who"}, "percentile")):
        results = run(frame, **keys)
        bins, windows = (found(results, name) for name in ("calibration_uniform", "calibration_window"))
        assert bins.notes.method == windows.notes.method == method
        # The first window holds [0, 0.05) and the bin [0, 0.1), as the window about 0.05 does.
        assert windows.points.lower[1] == pytest.approx(bins.points.lower[0], **EXACT)
        assert windows.points.upper[1] == pytest.approx(bins.points.upper[0], **EXACT)


def glm(y: Any, p: Any, at: Any, weight: Any = None, **kind: Any) -> tuple[Any, Any]:
    """Return statsmodels' log odds at probabilities, and their standard errors."""
    given = None if weight is None else np.asarray(weight, float)
    model = sm.GLM(y.astype(float), sm.add_constant(logit(p)), sm.families.Binomial(), var_weights=given)
    fit = model.fit(tol=1e-14, **kind)
    places = sm.add_constant(logit(at), has_constant="add")
    return places @ fit.params, np.sqrt(np.einsum("gi,ij,gj->g", places, fit.cov_params(), places))


@pytest.mark.filterwarnings("ignore:cov_type not fully supported")
@pytest.mark.parametrize("kind", ["likelihood", "weights", "clusters", "weighted clusters"])
def test_the_line_and_its_band_are_those_of_statsmodels(kind: str) -> None:
    frame = people(500).with_columns(p=pl.col("p").clip(0.01, 0.99))
    y, p = columns(frame)
    keys: dict[str, Any] = {}
    given: dict[str, Any] = {}
    if kind.startswith("weight"):
        keys["weight"], given["weight"] = {"column": "heavy", "kind": "importance"}, frame["heavy"].to_numpy()
        given["cov_type"] = "HC0"
    if kind.endswith("clusters"):
        keys["cluster"] = "who"
        given |= {"cov_type": "cluster", "cov_kwds": {"groups": frame["who"].to_numpy(), "use_correction": False}}
    line = found(run(frame, **FEW | keys), "calibration_logistic")
    at = np.array(line.points.probability)
    value, error = glm(y, p, at, **given)
    # statsmodels takes the information one step before its last: its errors settle to about 1e-8.
    for name, side in (("event_rate", 0.0), ("lower", -1.959963984540054), ("upper", 1.959963984540054)):
        assert line.points.columns[name] == pytest.approx(expit(value + side * error), rel=1e-7), name
    assert line.notes.method == ("likelihood" if kind == "likelihood" else "sandwich")
    assert (at[0], at[-1], len(at)) == (p.min(), p.max(), curves.PLACES)


def test_the_band_of_statsmodels_predictions_is_ours() -> None:
    frame = people(300)
    y, p = columns(frame)
    line = found(run(frame, **BINOMIAL), "calibration_logistic")
    model = sm.GLM(y.astype(float), sm.add_constant(logit(p)), sm.families.Binomial()).fit(tol=1e-14)
    places = sm.add_constant(logit(line.points.probability), has_constant="add")
    theirs = model.get_prediction(places).summary_frame(alpha=0.05)
    for ours, name in (("event_rate", "mean"), ("lower", "mean_ci_lower"), ("upper", "mean_ci_upper")):
        assert line.points.columns[ours] == pytest.approx(theirs[name].to_numpy(), rel=1e-7)
    assert (line.notes.intercept, line.notes.slope) == pytest.approx(tuple(model.params), rel=1e-9)


def test_the_spline_is_that_of_the_recalibrator() -> None:
    frame = people(400, digits=4)
    y, p = columns(frame)
    spline = found(run(frame, **BINOMIAL), "calibration_spline")
    fitted = registry["logistic_spline"].fit(Training(y, p, np.ones(len(y)), lambda _: ()), on="logit")
    assert spline.points.event_rate == pytest.approx(fitted(np.array(spline.points.probability)), rel=1e-9)
    assert spline.notes.edf == pytest.approx(fitted.parameters["edf"], rel=1e-9)
    assert (spline.notes.criterion, spline.notes.method) == ("unbiased risk", "bayesian")


@pytest.mark.parametrize("kind", ["bayesian", "sandwich"])
def test_the_errors_of_the_spline_are_those_of_its_matrices(kind: str) -> None:
    frame = people(500, digits=4)
    (y, p), who = columns(frame), frame["who"].to_numpy()
    events, at = table(y, p), np.array([0.02, 0.1, 0.3, 0.6, 0.9])
    fit = smooth(events._replace(at=logit(events.at)))
    basis = CubicSpline(fit.smoother.at, np.eye(len(fit.smoother.at)), bc_type="natural")
    bends, width = basis(fit.smoother.at, 2), np.diff(fit.smoother.at)
    # The integral over each piece of the product of two lines.
    penalty = fit.power * sum(
        h / 6 * (2 * np.outer(a, a) + 2 * np.outer(b, b) + np.outer(a, b) + np.outer(b, a))
        for h, a, b in zip(width, bends, bends[1:], strict=False)
    )
    rows, places, value = basis(logit(p)), basis(logit(at)), np.zeros(len(fit.smoother.at))
    for _ in range(40):
        chance = expit(rows @ value)
        information = rows.T @ (rows * (chance * (1 - chance))[:, None])
        value = value + np.linalg.solve(information + penalty, rows.T @ (y - chance) - penalty @ value)
    covariance = np.linalg.inv(information + penalty)
    spread = None
    if kind == "sandwich":
        spread = Spread(y, np.ones(len(y)), np.searchsorted(events.at, clipped(p)), who)
        scores = np.stack([rows[who == c].T @ (y - chance)[who == c] for c in range(who.max() + 1)])
        covariance = covariance @ (scores.T @ scores + penalty) @ covariance
    ours = logistic_spline(events, at, spread)
    # Two inverses of a matrix of ten coordinates, in different bases.
    assert ours.log_odds == pytest.approx(places @ value, rel=1e-8, abs=1e-8)
    assert ours.error == pytest.approx(np.sqrt(np.einsum("gi,ij,gj->g", places, covariance, places)), rel=1e-7)


def test_the_isotonic_curve_is_that_of_scikit_learn() -> None:
    frame = people(600)
    (y, p), curve = columns(frame), found(run(frame, **BINOMIAL), "calibration_isotonic")
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    at = np.array(curve.points.probability)
    assert curve.points.event_rate == pytest.approx(theirs.predict(at), **EXACT)
    between = np.unique(p)
    steps = np.interp(between, at, np.array(curve.points.event_rate))
    assert steps == pytest.approx(theirs.predict(between), **EXACT), "nothing is lost between the ends of blocks"


def test_the_parts_of_the_isotonic_curve_sum_to_the_brier_score() -> None:
    frame = people(600)
    (y, p), notes = columns(frame), found(run(frame, **BINOMIAL), "calibration_isotonic").notes
    fit = IsotonicRegression().fit_transform(p, y)
    assert notes.miscalibration == pytest.approx(np.mean((y - p) ** 2) - np.mean((y - fit) ** 2), **EXACT)
    assert notes.uncertainty == pytest.approx(y.mean() * (1 - y.mean()), **EXACT)
    parts = float(notes.miscalibration) - float(notes.discrimination) + float(notes.uncertainty)
    assert parts == pytest.approx(np.mean((y - p) ** 2), **EXACT)


def test_the_limits_of_the_isotonic_curve_are_quantiles_of_its_replicates() -> None:
    frame = people(300)
    results = run(frame, metrics=["brier"], intervals={"replicates": 2000})
    (y, p), points = columns(frame), found(results, "calibration_isotonic").points
    at, generator, drawn = np.array(points.probability), np.random.default_rng(0), []
    for _ in range(2000):
        rows = generator.integers(0, len(y), len(y))
        drawn.append(IsotonicRegression(out_of_bounds="clip").fit(p[rows], y[rows]).predict(at))
    for name, share in (("lower", 0.025), ("upper", 0.975)):
        # A quantile of 2,000 draws has a standard error of sqrt(.025 x .975 / 2000) = 0.35 % in its share.
        loose = np.quantile(drawn, [max(share - 0.014, 0), min(share + 0.014, 1)], axis=0)
        inside = (loose[0] - 1e-9 <= points.columns[name]) & (np.array(points.columns[name]) <= loose[1] + 1e-9)
        assert inside.all(), name


@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_heights_of_a_batch_are_those_of_each_alone(batch: tuple[int, ...]) -> None:
    y, p = columns(people(60))
    rows = Rows(y, None, p, p)
    weights = np.random.default_rng(0).integers(0, 3, (*batch, 60))
    places, ends = np.array([0.1, 0.4, 0.8]), np.array([0.1, 0.2, 0.3, 0.5])
    together = Summary(rows, weights)
    for index in np.ndindex(batch):
        alone = Summary(rows, weights[index])
        assert np.array_equal(
            curves.isotonic_heights(together, places)[index], curves.isotonic_heights(alone, places))
        assert np.array_equal(
            curves.window_rates(together, ends)[index], curves.window_rates(alone, ends), equal_nan=True)


def test_a_replicate_without_rows_has_no_height() -> None:
    y, p = columns(people(20))
    empty = Summary(Rows(y, None, p, p), np.zeros((1, 20)))
    assert np.isnan(curves.isotonic_heights(empty, p[:2])).all()


def test_frequency_weights_are_repeated_rows() -> None:
    frame = people(150)
    repeated = frame.select(pl.all().repeat_by("times").explode())
    one = run(frame, weight={"column": "times", "kind": "frequency"}, **BINOMIAL)
    two = run(repeated, **BINOMIAL)
    for name in NAMES:
        first, second = found(one, name), found(two, name)
        for coordinate in first.points.columns.keys() - {"rows"}:
            ours, theirs = (np.array(curve.points.columns[coordinate], float) for curve in (first, second))
            assert ours == pytest.approx(theirs, nan_ok=True, **EXACT), (name, coordinate)
        notes, others = first.notes.model_dump(), second.notes.model_dump()
        assert notes.keys() == others.keys()
        for key in notes.keys() - {"criterion", "method"}:
            assert notes[key] == pytest.approx(others[key], **EXACT), (name, key)


def test_the_scale_of_importance_weights_changes_nothing() -> None:
    frame = people(150)
    keys = FEW | {"weight": {"column": "heavy", "kind": "importance"}}
    one = run(frame, **keys)
    two = run(frame.with_columns(heavy=pl.col("heavy") * 1000), **keys)
    for name in NAMES:
        first, second = found(one, name).points.columns, found(two, name).points.columns
        for coordinate in first.keys() - {"weight"}:
            # The logarithm of the penalty is rounded to three decimals, so a last bit may move it by 0.001.
            assert first[coordinate] == pytest.approx(second[coordinate], rel=1e-4), (name, coordinate)


def test_equal_importance_weights_leave_the_curves_as_they_are() -> None:
    frame = people(150).with_columns(heavy=pl.lit(3.0))
    weighted = run(frame, **FEW | {"weight": {"column": "heavy", "kind": "importance"}})
    for name in NAMES:
        ours = found(weighted, name).points.event_rate
        assert ours == pytest.approx(found(run(frame, **FEW), name).points.event_rate, rel=1e-9)


@pytest.mark.parametrize("keys", [{}, {"cluster": "who"}, {"weight": {"column": "heavy", "kind": "importance"}}])
def test_the_order_of_rows_changes_no_byte(keys: dict[str, Any]) -> None:
    frame = people(200)
    turned = frame.sample(fraction=1, shuffle=True, seed=3)
    one, two = (run(rows, **FEW | keys) for rows in (frame, turned))
    for name in NAMES:
        assert found(one, name) == found(two, name)


def test_curves_without_a_fit_are_not_drawn() -> None:
    here = {c.curve for c in run(pl.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.2, 0.8, 0.9]}), **BINOMIAL).curves}
    assert here & set(NAMES) == {"calibration_window", "calibration_isotonic"}, "separated: no line fits best"
    results = run(pl.DataFrame({"y": [0, 0, 0], "p": [0.1, 0.2, 0.8]}), **BINOMIAL)
    assert {c.curve for c in results.curves} & set(NAMES) == {"calibration_window", "calibration_isotonic"}
    assert found(results, "calibration_isotonic").notes.uncertainty == 0
    few = {c.curve for c in run(pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.2, 0.8, 0.9]}), **BINOMIAL).curves}
    assert few & set(NAMES) == set(NAMES) - {"calibration_spline"}, "four predictions are too few for ten knots"


def test_without_intervals_curves_have_no_limits() -> None:
    results = run(people(200), metrics=["brier"], intervals={"method": "none"})
    for name in NAMES:
        curve = found(results, name)
        assert curve.notes.method == "none"
        assert set(curve.points.lower) == set(curve.points.upper) == {None}
        assert None not in curve.points.event_rate


def test_probabilities_of_zero_and_one_are_clipped_and_counted() -> None:
    frame = people(200).with_columns(p=pl.when(pl.col("p") < 0.1).then(0.0).otherwise(pl.col("p")))
    line = found(run(frame, **BINOMIAL), "calibration_logistic")
    assert line.notes.clipped == (frame["p"] == 0).sum() > 0
    assert line.points.probability[0] == 1e-12


def test_many_probabilities_are_joined_for_smooth_curves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(3000, digits=6)
    exact = run(frame, **BINOMIAL)
    monkeypatch.setattr(curves, "EXACT", 100)
    monkeypatch.setattr(curves, "CELLS", 1000)
    joined = run(frame, **BINOMIAL)
    for name in NAMES:
        one, two = found(exact, name).points.columns, found(joined, name).points.columns
        if name not in ("calibration_spline", "calibration_logistic"):
            assert one == two
            continue
        for coordinate in ("event_rate", "lower", "upper"):
            gap = np.abs(np.array(one[coordinate]) - np.array(two[coordinate]))
            # A thousand cells are far finer than ten knots; few enough to move a knot may move the chosen penalty. A
            # line is moved only by how the log odds vary within a cell.
            assert 0 < gap.max() < (0.002 if name == "calibration_spline" else 1e-4), coordinate


def test_every_class_has_calibration_curves() -> None:
    generator = np.random.default_rng(0)
    given = generator.dirichlet([2, 2, 2], 200)
    truth = [("a", "b", "c")[generator.choice(3, p=row)] for row in given]
    frame = pl.DataFrame({"k": truth, **{f"p_{k}": given[:, i] for i, k in enumerate("abc")}})
    results = run(frame, task="multiclass", outcome={"column": "k", "levels": ["a", "b", "c"]},
                  models={"m": {"probabilities": "p_{level}"}}, metrics=["brier"])
    alone = run(pl.DataFrame({"y": [int(k == "b") for k in truth], "p": given[:, 1]}), **BINOMIAL)
    for name in NAMES:
        levels = [c.class_ for c in results.curves if c.curve == name]
        assert levels == ["a", "b", "c"]
        ours = next(c for c in results.curves if (c.curve, c.class_) == (name, "b"))
        assert ours.points.event_rate == pytest.approx(found(alone, name).points.event_rate, **EXACT)


def test_an_isotonic_curve_of_many_blocks_is_thinned() -> None:
    starts = np.arange(0, 900, 3)
    ends = curves.isotonic_ends(starts, 900, 120)
    assert (len(ends), ends[0], ends[-1]) == (120, 0, 899)
    assert len(curves.isotonic_ends(starts, 900, 900)) == 600


SETS, LEVEL = 200, 0.9
AT = (4, 12, 20, 30, 40, 46)


@cache
def held(bent: bool) -> dict[str, Any]:
    """Return, for each curve, how often its band at 90 % holds the truth at the places `AT`: [sets, places]."""
    sample = read_sample(people(30), **BINOMIAL)
    spec = load({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "metrics": ["accuracy"],
        "intervals": {"method": "exact", "level": LEVEL}, "report": {"formats": []},
    })
    planned = plan(spec, look(sources(spec), {"d": people(30)}))
    found: dict[str, list[Any]] = {"calibration_logistic": [], "calibration_spline": []}
    for number in range(SETS):
        generator = np.random.default_rng((364, number))
        x = generator.normal(-0.3, 1.5, 600)

        def truth(log_odds: Any) -> Any:
            return 0.7 * log_odds + (-0.15 * log_odds**2 if bent else 0.3)

        y, p = generator.random(600) < expit(truth(x)), expit(x)
        summary = Summary(Rows(y, None, p, p), np.ones(600))
        rows = CurveRows("class", planned, replace(sample, weight=None), summary)
        for name, held in found.items():
            fitted = registered[name].compute(rows)
            if fitted is not None:
                columns = fitted[0]
                at, lower, upper = (np.array(columns[key])[list(AT)] for key in ("probability", "lower", "upper"))
                true = expit(truth(logit(at)))
                held.append((lower <= true) & (true <= upper))
    return {name: np.array(each) for name, each in found.items()}


# Three standard errors of a share of 90 % in 200 data sets: 3 x sqrt(.9 x .1 / 200) = 6.4 %. A band by the one-sided
# quantile would hold the truth in 80 %.
ERROR = 3 * np.sqrt(LEVEL * (1 - LEVEL) / SETS)


# The errors that these bands are made of are held to their matrices above, on every run.
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["calibration_logistic", "calibration_spline"])
def test_a_band_holds_the_truth_as_often_as_it_says(name: str) -> None:
    share = held(bent=False)[name].mean(axis=0)
    assert np.abs(share - LEVEL).max() < ERROR, share


@pytest.mark.nightly
def test_the_band_of_a_spline_holds_a_bent_truth_over_the_curve_and_that_of_a_line_does_not() -> None:
    # Bayesian limits cover over the curve and not at each of its points (Nychka 1988).
    assert held(bent=True)["calibration_spline"].mean() == pytest.approx(LEVEL, abs=ERROR)
    assert held(bent=True)["calibration_logistic"].mean() < 0.75


def test_a_line_at_given_places_is_the_same_among_others() -> None:
    y, p = columns(people(200))
    one, two = (logistic_line(table(y, p), np.array(at)) for at in ([0.3], [0.1, 0.3, 0.9]))
    assert (one.log_odds[0], one.error[0]) == pytest.approx((two.log_odds[1], two.error[1]), rel=1e-12)
