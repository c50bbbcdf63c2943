"""What the plan holds of `curves` and `calibration`, the usual where the spec says nothing, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from evalpipe.chapters.curves.plan import (
    calibration_plan,
    columns,
    groups_plan,
    marks_plan,
    relations_plan,
    residuals_plan,
)
from evalpipe.errors import SpecError
from evalpipe.spec.load import load
from evalpipe.spec.spec import Spec

BINARY: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "models": {"m": {"probability": "p"}}, "datasets": {"d": {"path": "d.csv"}}, "metrics": ["brier"],
    "intervals": {"replicates": 100}}
NUMBERS = {"task": "regression", "outcome": {"column": "y"}, "models": {"m": {"prediction": "p"}}, "metrics": ["rmse"]}
COUNTS = NUMBERS | {"task": "count"}
LEVELS = {"task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
          "models": {"m": {"probabilities": "p_{level}"}}, "metrics": ["log_loss"]}
CLASSES = {"models": {"m": {"prediction": "c"}}, "metrics": ["accuracy"]}
RECALIBRATED = {"recalibrate": {"fit_on": {"folds": 3}, "methods": ["platt"]}}
RANK = {"models": {"m": {"score": "s"}}, "metrics": ["roc_auc"]}


def spec(**keys: Any) -> Spec:
    return load(BINARY | keys)


def problems(**keys: Any) -> list[str]:
    try:
        spec(**keys)
    except SpecError as error:
        return [f"{problem.code}: {problem.message} ({problem.hint})" for problem in error.problems]
    return []


UNIFORM, QUANTILE, RUG = "calibration_uniform", "calibration_quantile", "calibration_rug"
LOGISTIC, SPLINE, ISOTONIC = "calibration_logistic", "calibration_spline", "calibration_isotonic"


@pytest.mark.parametrize(("task", "settings", "rug", "left_out"), [
    ({}, None, False, {RUG}),
    ({}, {}, True, set()),
    ({}, {"rug": False}, False, {RUG}),
    ({}, {"strategy": "equal_width"}, True, {QUANTILE}),
    ({}, {"strategy": "equal_count"}, True, {UNIFORM}),
    ({}, {"smoother": "logistic"}, True, {SPLINE, ISOTONIC}),
    ({}, {"smoother": "spline", "strategy": "equal_count"}, True, {LOGISTIC, ISOTONIC, UNIFORM}),
    ({}, {"smoother": "isotonic", "rug": False}, False, {LOGISTIC, SPLINE, RUG}),
    (LEVELS, {}, False, {RUG}),
])
def test_the_curves_of_calibration_are_those_that_no_setting_leaves_out(
    task: dict[str, Any], settings: dict[str, Any] | None, *, rug: bool, left_out: set[str]
) -> None:
    plan = calibration_plan(spec(**task, **({} if settings is None else {"calibration": settings})))
    assert (plan.declared, plan.rug, plan.left_out) == (settings is not None, rug, left_out)


@pytest.mark.parametrize(("keys", "interval"), [
    ({}, "exact"), ({"calibration": {"interval": "wald"}}, "wald"), ({"intervals": {"method": "wilson"}}, "wilson"),
    ({"calibration": {"interval": "none"}}, "none"), ({"intervals": {"method": "none"}}, "none"),
])
def test_bins_have_the_interval_of_the_settings_or_that_of_proportions(keys: dict[str, Any], interval: str) -> None:
    assert calibration_plan(spec(**keys)).interval == interval


@pytest.mark.parametrize(("window", "original", "variant"), [
    ({"width": 0.2}, (0.2, 0.1), (0.2, 0.1)),
    ({"width": 0.2, "step": 0.05}, (0.2, 0.05), (0.2, 0.05)),
    ({"width": 0.2, "recalibrated": {"width": 0.4, "step": 0.1}}, (0.2, 0.1), (0.4, 0.1)),
])
def test_windows_of_variants_are_their_own_where_the_spec_gives_some(
    window: dict[str, Any], original: tuple[float, float], variant: tuple[float, float]
) -> None:
    plan = calibration_plan(spec(calibration={"window": window}, **RECALIBRATED))
    for name, expected in (("original", original), ("platt", variant)):
        settings = plan.of_variant(name).settings
        assert (settings.window.width, settings.window.moved_by) == expected


def test_marks_groups_and_relations_are_the_usual_where_nothing_is_asked() -> None:
    asked = spec(curves={"marks": [0.9, 0.1, 0.5], "groups": 20, "relations": {"measures": ["accuracy", "f1"]}})
    assert (marks_plan(asked), groups_plan(asked)) == ((0.1, 0.5, 0.9), 20)
    relations = relations_plan(asked)
    assert relations is not None
    assert [entry.metric.name for entry in relations.measures] == ["accuracy", "f1"]
    assert relations.prevalences == (0.05, 0.4)
    for usual in (spec(), spec(curves={"residuals": True})):
        assert (marks_plan(usual), groups_plan(usual), relations_plan(usual)) == ((), 10, None)


@pytest.mark.parametrize(("task", "residuals", "expected"), [
    ({}, True, ("probabilities", (), "deviance", (), (), None, 30)),
    ({}, {"kinds": ["pearson", "deviance"], "figures": ["half_normal"]},
     ("probabilities", ("pearson", "deviance"), "pearson", ("half_normal",), (), None, 30)),
    (LEVELS, {"kinds": ["deviance"]}, ("probabilities", ("deviance",), "deviance", (), (), None, 30)),
    (NUMBERS, {"figures": ["scale_location"]}, ("numbers", (), "raw", ("scale_location",), (), None, 30)),
    (COUNTS, {"kinds": ["pearson"]}, ("numbers", ("pearson",), "pearson", (), (), None, 30)),
    (COUNTS, {"figures": ["predicted_observed"]}, ("numbers", (), "deviance", ("predicted_observed",), (), None, 30)),
    (NUMBERS, {"against": ["a", "b"], "order": "a", "min_rows": 7}, ("numbers", (), "raw", (), ("a", "b"), "a", 7)),
])
def test_residuals_are_of_the_kind_that_the_task_and_the_spec_give(
    task: dict[str, Any], residuals: Any, expected: tuple[Any, ...]
) -> None:
    plan = residuals_plan(spec(**task, curves={"residuals": residuals}))
    assert plan is not None
    assert (plan.of, plan.kinds, plan.kind, plan.figures, plan.against, plan.order, plan.min_rows) == expected


def test_columns_of_residuals_are_named_once_each_after_their_first_place() -> None:
    where = ("curves", "residuals")
    assert columns(spec(curves={"residuals": {"against": ["a", "b"], "order": "a"}})) == (
        ((*where, "against", 0), "a"), ((*where, "against", 1), "b"))
    assert columns(spec(curves={"residuals": {"order": "c"}})) == (((*where, "order"), "c"),)
    assert (columns(spec()), residuals_plan(spec(curves={"residuals": False, "marks": [0.5]}))) == ((), None)


OF_BANDS = (
    "interval-of-bins: calibration.interval: bootstrap limits of bins are those of bands, which are drawn for a binary "
    "outcome where 'intervals' has bands and a method (write 'exact', 'wilson', 'jeffreys', 'wald' or 'none', or "
    "remove it)")
BINOMIAL = "interval-of-bins: calibration.interval: binomial limits do not hold: {} ({})"
CLUSTERED, IMPORTANT = "rows of a cluster are not independent", "rows with importance weights are no counts"
PERCENTILE, NONE = "write 'percentile', or remove it", "write 'none', or remove it"
IMPORTANCE = {"weight": {"column": "w", "kind": "importance"}}
NO_BANDS = {"intervals": {"replicates": 100, "bands": False}}


@pytest.mark.parametrize(("interval", "keys", "expected"), [
    ("percentile", {}, []),
    ("percentile", {"cluster": "c"}, []),
    ("percentile", NO_BANDS, [OF_BANDS]),
    ("percentile", {"intervals": {"method": "none"}}, [OF_BANDS]),
    ("percentile", LEVELS, [OF_BANDS]),
    ("wilson", {}, []),
    ("wilson", NO_BANDS, []),
    ("wilson", {"weight": {"column": "w", "kind": "frequency"}}, []),
    ("wilson", {"cluster": "c"}, [BINOMIAL.format(CLUSTERED, PERCENTILE)]),
    ("wilson", IMPORTANCE, [BINOMIAL.format(IMPORTANT, PERCENTILE)]),
    ("wilson", IMPORTANCE | {"cluster": "c"}, [BINOMIAL.format(CLUSTERED, PERCENTILE)]),
    ("wilson", IMPORTANCE | NO_BANDS, [BINOMIAL.format(IMPORTANT, NONE)]),
    ("wilson", {"cluster": "c", "intervals": {"method": "none"}}, [BINOMIAL.format(CLUSTERED, NONE)]),
    ("none", IMPORTANCE | NO_BANDS, []),
])
def test_an_interval_of_bins_is_refused_where_the_rows_do_not_bear_it(
    interval: str, keys: dict[str, Any], expected: list[str]
) -> None:
    assert problems(calibration={"interval": interval}, **keys) == expected


@pytest.mark.parametrize(("window", "expected"), [
    ({"width": 0.2, "step": 0.19}, []),
    ({"width": 0.2, "step": 0.2}, [("0.2", "0.2", "window")]),
    ({"width": 0.2, "step": 0.3, "recalibrated": {"width": 0.1, "step": 0.1}},
     [("0.2", "0.3", "window"), ("0.1", "0.1", "window.recalibrated")]),
    ({"width": 0.2, "recalibrated": {"width": 0.1, "step": 0.09}}, []),
])
def test_windows_overlap(window: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert problems(calibration={"window": window}, **RECALIBRATED) == [
        f"window-step: calibration.{place}.step: windows of width {width} that move by {step} do not overlap, so they "
        f"are bins and no moving windows (write a step below {width}, or leave it out for half the width)"
        for width, step, place in expected]


@pytest.mark.parametrize(("keys", "codes"), [
    ({"curves": {"marks": [0, 0.5, 1]}}, []),
    ({"curves": {"marks": [0.5, 0.5]}}, ["duplicate-mark"]),
    ({"curves": {"marks": [1.5, -0.1]}}, ["out-of-range: did you mean 0.015?", "out-of-range"]),
    ({"curves": {"marks": [100, 101]}}, ["out-of-range: did you mean 1?", "out-of-range"]),
    ({"curves": {"marks": [5, -2]}} | RANK, []),
    ({"curves": {"marks": [0.5]}} | CLASSES, ["unused-marks"]),
    ({"curves": {"groups": 20}} | RANK, []),
    ({"curves": {"groups": 20}} | CLASSES, ["unused-groups"]),
    ({"curves": {"residuals": True}} | RANK, ["unused-residuals"]),
    ({"curves": {"residuals": True}} | NUMBERS, ["unused-residuals"]),
    ({"curves": {"residuals": {"min_rows": 40, "against": ["a"]}}} | NUMBERS, []),
    ({"curves": {"residuals": {"figures": ["predicted_observed"]}}}, ["not-for-task"]),
    ({"curves": {"residuals": {"figures": ["predicted_observed"]}}} | NUMBERS, []),
    ({"curves": {"residuals": {"figures": ["scale_location", "half_normal"], "kinds": ["pearson"]}}} | LEVELS,
     ["not-for-task"] * 3),
    ({"curves": {"residuals": {"figures": ["scale_location", "half_normal"], "kinds": ["pearson"]}}}, []),
    ({"curves": {"relations": {"measures": ["accuracy", "accuracy"]}}}, ["duplicate-metric"]),
    ({"curves": {"relations": {"measures": ["accuracy", "brier"]}}}, ["not-of-classes"]),
    ({"curves": {"relations": {"measures": ["accuracy", "f1"], "prevalences": [0, 0.5, 1]}}}, ["out-of-range"] * 2),
    ({"curves": {}}, ["nothing-asked"]),
    ({"calibration": {}} | RANK, ["nothing-to-draw"]),
    ({"calibration": {}, "models": RANK["models"] | BINARY["models"] | {"n": {"probability": "q"}}}, []),
])
def test_each_setting_without_effect_or_sense_is_listed(keys: dict[str, Any], codes: list[str]) -> None:
    told = [(text.split(":")[0], text.rsplit(" (", 1)[1].removesuffix(")")) for text in problems(**keys)]
    assert [code if not hint.startswith("did you") else f"{code}: {hint}" for code, hint in told] == codes
