"""The units of a score change nothing: ranks, curves, thresholds and what recalibrators make of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import people, run
from evalpipe.results import Results

UNITS = (50.0, 1e4, 1e-6)
FAST: dict[str, Any] = {"intervals": {"replicates": 100}}
CLOSE = {"rel": 1e-12, "abs": 1e-12}
"""Fits that iterations have settled to the last bits, and products that a factor rounds."""

ON_SCORES = {"threshold", "score", "low", "high"}
"""Columns and notes of curves that are scores, and so have their units."""


def frame(unit: float) -> pl.DataFrame:
    rows = people(400, digits=9)
    p = rows["p"].to_numpy()
    score = np.round(np.log(p / (1 - p)) + np.random.default_rng(3).normal(0, 1, 400), 3)
    return rows.with_columns(s=pl.Series(score), scaled=pl.Series(unit * score))


def flat(facts: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each fact by its name, those of places with the name of the place: "furthest.threshold"."""
    for name, value in facts.items():
        yield from flat(value, f"{within}{name}.") if isinstance(value, dict) else [(f"{within}{name}", value)]


def assert_same_curves(first: Results, second: Results, unit: float) -> None:
    assert [(c.curve, c.variant) for c in first.curves] == [(c.curve, c.variant) for c in second.curves]
    for one, two in zip(first.curves, second.curves, strict=True):
        for facts in ("points", "notes"):
            values, others = (dict(flat(getattr(c, facts).model_dump())) for c in (one, two))
            assert values.keys() == others.keys()
            for name, value in values.items():
                if isinstance(value, str) or value is None:
                    assert others[name] == value
                    continue
                factor = unit if name.rpartition(".")[2] in ON_SCORES and one.variant == "original" else 1.0
                theirs = np.array(others[name], float) / factor
                assert theirs == pytest.approx(np.array(value, float), nan_ok=True, **CLOSE), (one.curve, name)


@pytest.mark.parametrize("unit", UNITS)
def test_ranks_curves_and_classes_of_a_raw_score_have_no_units(unit: float) -> None:
    rows = frame(unit)
    metrics = ["roc_auc", "average_precision", "gini", "ks", "gain_capture", "sensitivity", "precision", "mcc"]
    first, second = (
        run(rows, models={"p": {"score": column, "threshold": cut}}, metrics=metrics, **FAST)
        for column, cut in (("s", 0.5), ("scaled", 0.5 * unit)))
    for one, two in zip(first.rows, second.rows, strict=True):
        assert (two.value, two.lower, two.upper) == (one.value, one.lower, one.upper), one.metric
    assert {"roc", "pr", "gain", "lift", "thresholds", "ks"} <= {c.curve for c in first.curves}
    assert_same_curves(first, second, unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("rule", [
    {"maximize": "j_index", "on": {"folds": 5}},
    {"maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}}, "on": {"folds": 5}},
])
def test_a_chosen_threshold_has_the_units_of_the_score_and_chooses_the_same_rows(unit: float, rule: Any) -> None:
    first, second = (
        run(frame(unit), models={"p": {"score": column, "threshold": rule}}, metrics=["sensitivity"], **FAST)
        for column in ("s", "scaled"))
    for one, two in zip(first.thresholds, second.thresholds, strict=True):
        assert two.value == pytest.approx(unit * one.value, **CLOSE)
    assert [m.counts for m in second.confusion] == [m.counts for m in first.confusion]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["platt", "logistic", "isotonic"])
def test_what_recalibrators_make_of_a_score_has_no_units(unit: float, method: str) -> None:
    rows = frame(unit)
    first, second = (
        run(rows, models={"p": {"score": column, "scale": "margin"}}, metrics=["brier", "log_loss", "roc_auc"],
            recalibrate={"fit_on": {"folds": 5}, "methods": [method]}, intervals={"method": "none"})
        for column in ("s", "scaled"))
    variants = [[e for e in results.rows if e.variant == method] for results in (first, second)]
    assert len(variants[0]) == 3
    for one, two in zip(*variants, strict=True):
        assert two.value == pytest.approx(one.value, **CLOSE), one.metric
    made = [results.model_copy(update={"curves": [c for c in results.curves if c.variant == method]})
            for results in (first, second)]
    assert {"roc", "calibration_uniform", "calibration_window"} <= {c.curve for c in made[0].curves}
    assert_same_curves(*made, unit)


@pytest.mark.parametrize("method", ["platt", "logistic"])
def test_a_curve_that_rises_makes_no_ties_where_the_score_has_none(method: str) -> None:
    rows = frame(1e4)
    distinct = rows["scaled"].n_unique()
    results = run(rows, models={"p": {"score": "scaled", "scale": "margin"}}, metrics=["roc_auc"],
                  recalibrate={"fit_on": {"folds": 5}, "methods": [method]}, intervals={"method": "none"})
    assert len(np.unique(1 / (1 + np.exp(-np.clip(rows["scaled"].to_numpy(), -700, 700))))) < 20
    (applied,) = results.recalibration[0].applied
    # A score in two folds is recalibrated by two fits, so there may be more after.
    assert applied.distinct_before == distinct <= applied.distinct_after
    roc = next(c for c in results.curves if (c.curve, c.variant) == ("roc", "original"))
    assert len(roc.points.columns["threshold"]) == distinct + 1
