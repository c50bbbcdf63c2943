"""Differences from reference rates, against limits put together by hand."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any

import polars as pl
import pytest

from engine.runs import BOTH, intervals, people, run
from evalpipe.results import Estimate, RateDifference, Results

KNOWN = {"value": 0.79, "lower": 0.76, "upper": 0.83}
RATES = [
    {"name": "last year", "metric": "auc", **KNOWN},
    {"name": "a guess", "metric": "brier", "value": 0.17},
    {"name": "a guess", "metric": "detection_prevalence", "value": 0.9},
]
METRICS = ["roc_auc", "brier", "detection_prevalence", "precision"]
ROUNDING = 1e-12
"""Sums of few numbers of size one, in another order."""


def rated(frame: Any, rates: Any = RATES, **keys: Any) -> Results:
    keys = {"metrics": METRICS, "models": BOTH, "intervals": intervals(200)} | keys
    return run(frame, reference_rates=rates, **keys)


@cache
def whole() -> Results:
    return rated(people(400))


def pairs(results: Results) -> list[tuple[RateDifference, Estimate]]:
    """Return each difference with the estimate that it is of."""
    known = {(e.dataset, e.model, e.variant, e.metric): e for e in results.rows if e.slice is None}
    return [(r, known[r.dataset, r.model, r.variant, r.metric]) for r in results.reference_rates]


def test_every_model_is_compared_with_every_rate_on_every_dataset_on_all_rows_alone() -> None:
    results = rated({"d": people(200), "e": people(150, seed=1)}, slices=["s"], intervals=intervals(100))

    assert [(r.dataset, r.model, r.baseline, r.metric, r.slice) for r in results.reference_rates] == [
        (dataset, model, rate, metric, None) for dataset in "de" for model in "pq" for rate, metric in
        (("last year", "roc_auc"), ("a guess", "brier"), ("a guess", "detection_prevalence"))]


def test_a_difference_is_the_estimate_less_the_rate_with_its_support() -> None:
    for row, estimate in pairs(whole()):
        assert row.difference == pytest.approx(estimate.value - row.rate, abs=ROUNDING)
        assert (row.n, row.status, row.level, row.params) == (estimate.n, "ok", 0.95, estimate.params)
        assert (row.p_value, row.test, row.margin) == (None, None, None)


def test_with_limits_of_the_rate_those_of_the_difference_are_recovered_from_both() -> None:
    # Zou & Donner (2008), eq. 4, written out.
    known = [(r, e) for r, e in pairs(whole()) if r.metric == "roc_auc"]
    for row, e in known:
        assert row.method == "recovered"
        assert (row.rate, row.rate_lower, row.rate_upper) == (0.79, 0.76, 0.83)
        lower = e.value - 0.79 - sqrt((e.value - e.lower) ** 2 + (0.83 - 0.79) ** 2)
        upper = e.value - 0.79 + sqrt((e.upper - e.value) ** 2 + (0.79 - 0.76) ** 2)
        assert (row.lower, row.upper) == pytest.approx((lower, upper), abs=ROUNDING)
    assert len(known) == 2


def test_without_limits_the_rate_is_known_without_error() -> None:
    exact = [(r, e) for r, e in pairs(whole()) if r.metric != "roc_auc"]
    for row, e in exact:
        assert (row.method, row.rate_lower, row.rate_upper) == (e.method, None, None)
        assert (row.lower, row.upper) == pytest.approx((e.lower - row.rate, e.upper - row.rate), abs=ROUNDING)
    assert len(exact) == 4


@pytest.mark.parametrize(("metric", "value", "verdict"), [
    ("roc_auc", 0.5, "better"), ("roc_auc", 0.99, "worse"), ("roc_auc", None, "undecided"),
    ("brier", 0.05, "worse"), ("brier", 0.5, "better"), ("brier", None, "undecided"),
    ("detection_prevalence", 0.9, "no_direction"), ("detection_prevalence", None, "no_direction"),
])
def test_the_interval_decides(metric: str, value: float | None, verdict: str) -> None:
    reached = next(e.value for e in whole().rows if (e.model, e.metric) == ("p", metric))
    rate = {"name": "r", "metric": metric, "value": reached if value is None else value}

    assert rated(people(400), [rate]).reference_rates[0].verdict == verdict


def test_a_rate_with_wide_limits_leaves_open_what_one_without_decides() -> None:
    wide = {"name": "wide", "metric": "roc_auc", "value": 0.6, "lower": 0.2, "upper": 0.95}
    rows = rated(people(400), [wide, {"name": "exact", "metric": "roc_auc", "value": 0.6}]).reference_rates

    assert [row.verdict for row in rows if row.model == "p"] == ["undecided", "better"]


def test_an_undefined_measure_has_no_difference_and_says_why() -> None:
    never = {"p": {"probability": "p", "threshold": 1.0}}
    frame = people(100).with_columns(p=pl.col("p") * 0.9)
    rate = {"name": "r", "metric": "precision", "value": 0.5}
    (row,) = rated(frame, [rate], models=never).reference_rates

    assert (row.difference, row.lower, row.upper) == (None, None, None)
    assert (row.status, row.verdict) == ("undefined", "untested")
    assert row.reason == "no predicted events"


def test_limits_that_cannot_be_relied_on_decide_nothing() -> None:
    frame = people(100).with_columns(who=pl.int_range(100) % 2)
    rate = {"name": "r", "metric": "brier", "value": 0.9}
    row = rated(frame, [rate], cluster="who").reference_rates[0]

    assert (row.status, row.verdict) == ("degenerate", "untested")
    assert row.upper is not None
    assert row.upper < 0
    assert row.reason == "2 clusters, fewer than 3: limits from so few cover the true value less often than 95%"


def test_without_intervals_nothing_is_tested() -> None:
    for row, e in pairs(rated(people(100), intervals={"method": "none"})):
        assert row.difference == pytest.approx(e.value - row.rate, abs=ROUNDING)
        assert (row.lower, row.upper, row.level, row.method, row.verdict) == (None, None, None, "none", "untested")


def test_frequency_weights_are_repeated_rows() -> None:
    frame = people(150)
    weighted = rated(frame, weight={"column": "times", "kind": "frequency"})
    repeated = rated(frame.select(pl.all().repeat_by("times")).explode(pl.all()))
    exact = [(row.model, row.difference, row.n) for row in repeated.reference_rates]

    assert [(row.model, pytest.approx(row.difference), row.n) for row in weighted.reference_rates] == exact
    plain = rated(frame).reference_rates
    assert [row.difference for row in plain] != [difference for _, difference, _ in exact]


def test_recalibrated_variants_are_compared_too() -> None:
    recalibrate = {"fit_on": {"folds": 2}, "methods": ["logistic"]}
    rows = rated(people(200), recalibrate=recalibrate, intervals=intervals(100)).reference_rates

    assert [(row.model, row.variant) for row in rows[::3]] == [
        ("p", "original"), ("p", "logistic"), ("q", "original"), ("q", "logistic")]


def test_of_several_averages_the_one_that_is_named_is_compared() -> None:
    frame = people(200).with_columns(y=pl.col("s"), guess=pl.col("s").reverse())
    results = rated(
        frame, [{"name": "r", "metric": {"metric": "f1", "average": "macro"}, "value": 0.3}], task="multiclass",
        intervals={"replicates": 100},
        outcome={"column": "y", "levels": ["a", "b", "c"]}, models={"m": {"prediction": "guess"}},
        metrics=[{"metric": "f1", "average": ["macro", "micro"]}])
    macro = next(e for e in results.rows if e.average == "macro")

    (row,) = results.reference_rates
    assert (row.average, row.difference) == ("macro", pytest.approx(macro.value - 0.3, abs=ROUNDING))


def test_the_rows_survive_json_and_are_a_table() -> None:
    results = whole()

    assert Results.from_json(results.to_json()) == results
    frame = results.frame("reference_rates")
    assert frame["baseline"].to_list() == ["last year", "a guess", "a guess"] * 2
    assert frame["rate"].to_list() == [0.79, 0.17, 0.9] * 2
    assert results.spec["reference_rates"][0] == {"name": "last year", "metric": "roc_auc", **KNOWN}


def test_without_rates_the_table_is_empty_and_the_spec_is_as_it_was() -> None:
    results = rated(people(60), None, intervals={"method": "none"})

    assert results.reference_rates == []
    assert "reference_rates" not in results.spec
