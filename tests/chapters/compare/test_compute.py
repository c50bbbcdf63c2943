"""Comparisons against replicates by hand, scipy, statsmodels and the tests of `evalpipe.intervals`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, ttest_rel
from scipy.stats import t as student
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from engine.runs import BOTH, intervals, people, read_sample, run
from evalpipe.intervals.contrasts import paired_auc
from evalpipe.intervals.resampling import Design, replicate_weights
from evalpipe.results import Comparison, Results

DRAWS = 200
MEASURES = ["accuracy", "brier", "log_loss", "roc_auc", "average_precision"]
AGAINST = {"models": BOTH, "compare": {"baseline": "q"}}


@cache
def whole() -> Results:
    return run(people(300), metrics=MEASURES, intervals=intervals(DRAWS), slices=["s"], **AGAINST)


def of(results: Results, metric: str, part: dict[str, str] | None = None, **keys: Any) -> Comparison:
    found = [row for row in results.comparisons if (row.metric, row.slice) == (metric, part)]
    found = [row for row in found if all(getattr(row, key) == value for key, value in keys.items())]
    assert len(found) == 1
    return found[0]


def arrays(frame: pl.DataFrame) -> tuple[Any, Any, Any]:
    return frame["y"].to_numpy() == 1, frame["p"].to_numpy(), frame["q"].to_numpy()


SKLEARN: dict[str, Any] = {
    "accuracy": lambda y, p, w=None: accuracy_score(y, p >= 0.5, sample_weight=w),
    "brier": lambda y, p, w=None: brier_score_loss(y, p, sample_weight=w),
    "roc_auc": lambda y, p, w=None: roc_auc_score(y, p, sample_weight=w),
    "average_precision": lambda y, p, w=None: average_precision_score(y, p, sample_weight=w),
}


@pytest.mark.parametrize("part", [None, {"s": "b"}])
@pytest.mark.parametrize("metric", ["accuracy", "brier", "average_precision"])
def test_differences_and_their_limits_are_those_of_sklearn_under_the_same_draws(metric: str, part: Any) -> None:
    frame = people(300)
    sample = read_sample(frame, metrics=MEASURES, slices=["s"], **AGAINST)
    models = [sample.models[name].probability for name in ("p", "q")]
    inside = np.ones(sample.n, bool)
    if part is not None:
        inside = sample.slicings[0].codes == [label["s"] for label in sample.slicings[0].labels].index(part["s"])
    measure = SKLEARN[metric]
    plain = [measure(sample.truth[inside], score[inside]) for score in models if score is not None]
    drawn = np.array([
        [measure(sample.truth[inside], score[inside], weight[inside]) for score in models if score is not None]
        for batch in replicate_weights(Design(sample.n), DRAWS, 0, "d")
        for weight in batch
    ])
    gaps = drawn[:, 0] - drawn[:, 1]
    row = of(whole(), metric, part)
    # 1e-12: the same sums in another order.
    assert row.difference == pytest.approx(plain[0] - plain[1], abs=1e-12)
    if metric != "average_precision":
        return  # it has a test of its own
    low, high = np.quantile(gaps, [0.025, 0.975])
    error, freedom = (high - low) / 2 / norm.ppf(0.975), int(inside.sum()) - 1
    limits = student.interval(0.95, freedom, plain[0] - plain[1], error)
    assert (row.lower, row.upper) == pytest.approx(limits, abs=1e-12)
    assert (row.method, row.test, row.level, row.undefined_replicates) == ("bootstrap_error", "bootstrap", 0.95, 0)
    assert row.p_value == pytest.approx(2 * student.cdf(-abs(plain[0] - plain[1]) / error, freedom), rel=1e-9)


@pytest.mark.parametrize("part", [None, "a", "b"])
def test_areas_are_compared_by_delong(part: str | None) -> None:
    frame = people(300) if part is None else people(300).filter(pl.col("s") == part)
    truth, first, second = arrays(frame)
    expected = paired_auc(truth, first, second)
    row = of(whole(), "roc_auc", None if part is None else {"s": part})
    assert (row.test, row.method, row.n) == ("delong", "delong", frame.height)
    assert row.difference == pytest.approx(roc_auc_score(truth, first) - roc_auc_score(truth, second), abs=1e-12)
    assert row.p_value == pytest.approx(expected.p(0.0), rel=1e-9)  # sums of pairs in another order
    assert (row.lower, row.upper) == pytest.approx(expected.limits(0.95), abs=1e-12)


@pytest.mark.parametrize("part", [None, "a", "b"])
def test_accuracies_are_compared_by_mcnemar(part: str | None) -> None:
    frame = people(300) if part is None else people(300).filter(pl.col("s") == part)
    truth, first, second = arrays(frame)
    right, other = (first >= 0.5) == truth, (second >= 0.5) == truth
    alone, beside = int((right & ~other).sum()), int((other & ~right).sum())
    theirs = mcnemar([[0, alone], [beside, 0]], exact=True).pvalue
    row = of(whole(), "accuracy", None if part is None else {"s": part})
    # 1e-9: tails by different series.
    assert {key: row.details[key] for key in ("only_model", "only_baseline")} == {
        "only_model": alone, "only_baseline": beside}
    assert row.details["p_exact"] == pytest.approx(theirs, rel=1e-9)
    assert float(row.details["p_mid"]) < theirs
    plain = mcnemar([[0, alone], [beside, 0]], exact=False, correction=False).pvalue
    assert (row.test, row.method, row.p_value) == ("mcnemar", "tango", pytest.approx(plain, rel=1e-9))


@pytest.mark.parametrize("part", [None, "a", "b"])
@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_mean_losses_are_compared_by_the_paired_t_test(metric: str, part: str | None) -> None:
    frame = people(300) if part is None else people(300).filter(pl.col("s") == part)
    truth, *models = arrays(frame)
    with np.errstate(divide="ignore"):
        each = [
            (truth - p) ** 2 if metric == "brier" else -np.log(np.clip(np.where(truth, p, 1 - p), 1e-15, 1))
            for p in models
        ]
    row = of(whole(), metric, None if part is None else {"s": part})
    assert row.test == "diebold_mariano"
    assert row.difference == pytest.approx((each[0] - each[1]).mean(), rel=1e-9)
    assert row.p_value == pytest.approx(ttest_rel(each[0], each[1]).pvalue, rel=1e-6)  # from sums, not rows


@pytest.mark.parametrize(("metric", "loss"), [("mse", np.square), ("mae", np.abs)])
def test_losses_of_numbers_are_compared_by_the_paired_t_test(metric: str, loss: Any) -> None:
    generator = np.random.default_rng(5)
    truth = generator.normal(0, 1, 80)
    frame = pl.DataFrame({
        "y": truth, "p": truth + generator.normal(0, 1, 80), "q": truth + generator.normal(0, 1.3, 80)})
    found = run(
        frame, task="regression", outcome={"column": "y"}, models={m: {"prediction": m} for m in "pq"},
        metrics=[metric, "r2"], intervals={"replicates": DRAWS}, compare={"baseline": "q"})
    each = [loss(truth - frame[name].to_numpy()) for name in "pq"]
    row = of(found, metric)
    assert (row.test, of(found, "r2").test) == ("diebold_mariano", "bootstrap")
    assert row.difference == pytest.approx((each[0] - each[1]).mean(), rel=1e-9)
    assert row.p_value == pytest.approx(ttest_rel(each[0], each[1]).pvalue, rel=1e-9)


def test_p_values_are_adjusted_over_all_rows_and_over_slices_apart() -> None:
    slices: dict[str, Any] = {"slices": ["s"], "slice_rules": {"min_rows": 150}}
    rows = run(people(1000), metrics=MEASURES, intervals=intervals(DRAWS), **slices, **AGAINST).comparisons
    assert len(rows) == 3 * len(MEASURES)  # all rows and two slices; the third is too small for numbers
    for sliced in (False, True):
        family = [row for row in rows if (row.slice is not None) == sliced]
        theirs = multipletests([row.p_value for row in family], method="holm")[1]
        assert [row.p_adjusted for row in family] == pytest.approx(list(theirs), abs=1e-12)
    assert len({row.p_adjusted for row in rows}) > 2  # and not all 1


def test_verdicts_follow_from_the_limits_and_the_margins() -> None:
    def compared(margin: float | None, baseline: str = "q") -> dict[str, Comparison]:
        margins = {} if margin is None else {"brier": margin, "auc": margin}
        found = run(people(1200), metrics=["accuracy", "brier", "roc_auc"], intervals=intervals(DRAWS), models=BOTH,
                    compare={"baseline": baseline, "margins": margins})
        return {row.metric: row for row in found.comparisons}

    brier, area = compared(None)["brier"], compared(None)["roc_auc"]
    assert (brier.lower or 0) < (brier.upper or 0) < 0 < (area.lower or 0)  # losses fall, areas rise: better by both
    small, middle = min(-(brier.upper or 0), area.lower or 0) / 2, -((brier.lower or 0) + (brier.upper or 0)) / 2
    for margin, expected in ((None, "better"), (small / 4, "better"), (0.5, "equivalent")):
        found = compared(margin)
        assert [(found[name].verdict, found[name].margin) for name in ("brier", "roc_auc")] == [(expected, margin)] * 2
        assert found["accuracy"].margin is None
    assert (compared(middle)["brier"].verdict, compared(middle)["brier"].margin_verdict) == ("better", "undecided")
    turned = compared(None, baseline="p")["brier"]
    assert (turned.model, turned.verdict) == ("q", "worse")
    assert (turned.difference, turned.lower) == pytest.approx((-(brier.difference or 0), -(brier.upper or 0)))


def test_datasets_are_compared_as_independent_samples() -> None:
    now, then = people(400, seed=3), people(250, seed=4)
    found = run(
        {"now": now, "then": then}, metrics=["brier", "roc_auc", "accuracy"], models=BOTH,
        intervals=intervals(2000, method="percentile"), slices=["h"],
        compare={"baseline_dataset": "then", "pairs": "none"})
    values = {(row.dataset, row.model, row.metric): row for row in found.rows if row.slice is None}
    assert len(found.comparisons) == 2 * 3  # all rows alone
    for row in found.comparisons:
        assert (row.dataset, row.baseline_dataset, row.baseline, row.n) == ("now", "then", row.model, 400)
        one, other = values["now", row.model, row.metric], values["then", row.model, row.metric]
        assert row.difference == pytest.approx((one.value or 0) - (other.value or 0), abs=1e-15)
        assert (row.test, row.method) == (
            ("two_proportions", "miettinen_nurminen") if row.metric == "accuracy" else ("bootstrap", "bootstrap_error"))
        widths = [(r.upper or 0) - (r.lower or 0) for r in (row, one, other)]
        # Independent, so variances add: 10 % is 5 standard errors of widths from 2000 replicates.
        assert widths[0] == pytest.approx(np.hypot(widths[1], widths[2]), rel=0.1)


def test_a_dataset_that_is_the_baseline_twice_over_differs_by_nothing_but_its_draws() -> None:
    frame = people(200)
    row = run({"now": frame, "then": frame}, metrics=["brier"], intervals=intervals(DRAWS),
              compare={"baseline_dataset": "then", "margins": {"brier": 0.5}}).comparisons[0]
    assert (row.difference, row.verdict) == (0.0, "equivalent")
    assert row.lower is not None
    assert row.upper is not None
    assert row.lower < 0 < row.upper  # drawn apart, though the rows are the same


@pytest.mark.parametrize("margins", [{}, dict.fromkeys(MEASURES, 0.01)])
def test_models_that_say_the_same_differ_by_exactly_nothing_and_there_is_nothing_to_test(
    margins: dict[str, float]
) -> None:
    frame = people(200).with_columns(q=pl.col("p"))
    found = run(frame, metrics=MEASURES, intervals=intervals(DRAWS), models=BOTH,
                compare={"baseline": "q", "margins": margins})
    for row in found.comparisons:
        assert (row.difference, row.lower, row.upper) == (0.0, 0.0, 0.0)
        assert (row.p_value, row.p_adjusted, row.test) == (None, None, None)
        assert (row.verdict, row.status) == ("same", "ok")


def test_an_undefined_measure_has_no_difference_and_says_so() -> None:
    frame = people(200).with_columns(p=pl.col("p") / 3)  # nothing is predicted as the event
    found = run(frame, metrics=["precision", "brier"], intervals=intervals(DRAWS), **AGAINST)
    row = of(found, "precision")
    assert (row.difference, row.lower, row.upper, row.level, row.p_value, row.p_adjusted, row.test) == (None,) * 7
    assert (row.status, row.method, row.verdict) == ("undefined", "none", "untested")
    assert row.reason is not None
    assert row.reason.startswith("undefined for one of the two: ")
    assert of(found, "brier").p_adjusted == of(found, "brier").p_value  # what has no test is not counted


def rare() -> pl.DataFrame:
    """Return 40 rows with two events, which an eighth of all replicates lack."""
    return people(40, digits=6).with_columns(y=pl.Series([1, 1, *[0] * 38]))


def test_a_difference_that_many_replicates_lack_is_degenerate() -> None:
    found = run(rare(), metrics=["average_precision", "roc_auc"], intervals=intervals(DRAWS), **AGAINST)
    row = of(found, "average_precision")
    assert 0.05 * DRAWS < row.undefined_replicates < 0.3 * DRAWS
    assert (row.status, row.method, row.verdict) == ("degenerate", "bootstrap_error", "untested")
    assert (row.p_value, row.p_adjusted) == (None, None)  # an interval that cannot be relied on makes no test
    assert row.reason is not None
    assert row.reason.startswith(f"undefined in {row.undefined_replicates} of {DRAWS} replicates: ")
    closed = of(found, "roc_auc")
    assert (closed.status, closed.method, closed.undefined_replicates) == ("ok", "delong", 0)  # needs no replicates


@pytest.mark.parametrize("method", ["auto", "exact", "wilson", "percentile", "bca"])
def test_limits_of_a_difference_are_of_its_test_whatever_those_of_values_are(method: str) -> None:
    found = run(people(100), metrics=["roc_auc", "gini"], intervals=intervals(100, method=method), **AGAINST)
    area, gini = found.comparisons
    assert (area.method, area.test, gini.method, gini.test) == ("delong",) * 4
    assert gini.p_value == area.p_value
    assert (gini.lower, gini.upper) == pytest.approx((2 * (area.lower or 0), 2 * (area.upper or 0)), rel=1e-12)


@pytest.mark.parametrize("keys", [{"cluster": "who"}, {"weight": {"column": "heavy", "kind": "importance"}}])
def test_where_rows_do_not_count_alike_only_the_bootstrap_tests(keys: dict[str, Any]) -> None:
    found = run(people(200), metrics=MEASURES, intervals=intervals(DRAWS), **AGAINST, **keys)
    assert {(row.test, row.method) for row in found.comparisons} == {("bootstrap", "bootstrap_error")}
    assert all(row.details == {} for row in found.comparisons)


def test_frequency_weights_are_repeated_rows_to_the_tests() -> None:
    frame = people(150)
    many = frame.select(pl.all().repeat_by("times").explode())
    keys: dict[str, Any] = {"metrics": ["accuracy", "roc_auc"], "intervals": intervals(100)} | AGAINST
    weighted = run(frame, **keys, weight={"column": "times", "kind": "frequency"}).comparisons
    for one, other in zip(weighted, run(many, **keys).comparisons, strict=True):
        assert (one.test, one.n) == (other.test, other.n)
        assert one.details == other.details
        assert (one.difference, one.p_value) == pytest.approx((other.difference, other.p_value), rel=1e-9)


def test_without_intervals_differences_have_values_alone() -> None:
    found = run(people(100), metrics=MEASURES, intervals={"method": "none"}, **AGAINST)
    for row in found.comparisons:
        assert row.difference is not None
        assert (row.lower, row.upper, row.level, row.p_value, row.test) == (None,) * 5
        assert (row.method, row.verdict, row.status) == ("none", "untested", "ok")


def test_every_class_is_compared_where_classes_are_not_averaged() -> None:
    generator = np.random.default_rng(6)
    frame = pl.DataFrame({name: generator.choice(list("abc"), 120) for name in ("y", "p", "q")})
    found = run(
        frame, task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]},
        models={m: {"prediction": m} for m in "pq"}, intervals={"replicates": DRAWS}, compare={"baseline": "q"},
        metrics=[{"metric": "f1", "average": ["macro", "none"]}, "accuracy"])
    values = {(row.model, row.class_): row.value or 0 for row in found.rows if row.metric == "f1"}
    rows = [row for row in found.comparisons if row.metric == "f1"]
    assert [row.class_ for row in rows] == [None, "a", "b", "c"]
    for row in rows:
        expected = values["p", row.class_] - values["q", row.class_]
        assert row.difference == pytest.approx(expected, abs=1e-15)
        assert row.test == "bootstrap"
    assert of(found, "accuracy").test == "mcnemar"
