"""Which intervals the measures of calibration have: an inversion where bins are fixed, replicates, or none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import evalpipe
from card.blocks import lines
from engine.runs import people, run
from evalpipe.card.dataset_results import measure_tables


def drawn(seed: int) -> tuple[Any, Any]:
    """Return outcomes and the probabilities that they were drawn with."""
    generator = np.random.default_rng(seed)
    chance = generator.beta(1, 2, 300)
    return (generator.random(300) < chance).astype(int), chance


def row(metric: Any, seed: int = 6, **more: Any) -> Any:
    """Return the estimate of one measure of drawn rows."""
    truth, chance = drawn(seed)
    intervals = {"replicates": 100} | more.pop("intervals", {})
    return evalpipe.evaluate(truth, chance, event=1, metrics=[metric], intervals=intervals, **more).rows[0]


CASES = [
    ({"metric": "ece"}, "folded"), ({"metric": "ece", "strategy": "quantile"}, "folded"),
    ({"metric": "ece", "norm": "l2"}, "noncentral"), ({"metric": "ece", "norm": "max"}, "binomial_bins"),
    ({"metric": "ece", "norm": "l2", "debiased": True}, "noncentral"), ({"metric": "mce"}, "binomial_bins"),
    ({"metric": "ace"}, "folded"), ({"metric": "rmsce"}, "noncentral"),
    ({"metric": "brier_reliability", "digits": 1}, "noncentral"),
    ({"metric": "brier_resolution", "digits": 1}, "noncentral"),
    ({"metric": "brier_refinement", "digits": 1}, "corrected"), ({"metric": "ks"}, "bootstrap_noncentral"),
    ({"metric": "ici"}, "bootstrap_noncentral"), ({"metric": "brier_miscalibration"}, "bootstrap_noncentral"),
]


@pytest.mark.parametrize("asked", ["auto", "percentile", "basic", "bca"])
def test_no_measure_that_noise_moves_has_quantiles_for_limits(asked: str) -> None:
    truth, chance = drawn(6)
    found = evalpipe.evaluate(truth, chance, event=1, metrics=[metric for metric, _ in CASES],
                              intervals={"replicates": 100, "method": asked}).rows
    assert [(row.metric, row.method, row.status) for row in found] == [
        (metric["metric"], method, "ok") for metric, method in CASES]
    assert [row.metric for row in found if not row.lower <= row.value <= row.upper] == []


def test_the_plan_says_why_what_was_asked_for_is_replaced() -> None:
    frame = pl.DataFrame({"y": [0, 1], "p": [0.2, 0.8]})
    spec = {
        "evalpipe": 1, "name": "asked", "outcome": {"column": "y", "event": 1}, "task": "binary",
        "datasets": {"data": {"path": "memory"}}, "models": {"m": {"probability": "p"}}, "metrics": ["ece", "ks"],
        "intervals": {"method": "percentile"},
    }
    reasons = [entry.reason for entry in evalpipe.plan(spec, frames={"data": frame}).metrics]
    assert reasons == [
        ("a sum of distances; noise makes it larger, and resampling larger still: the limits invert the noise; "
         "percentile limits, which the spec asks for, would miss it"),
        ("noise makes it larger, and resampling larger still: the limits invert the noise; percentile limits, which "
         "the spec asks for, would miss it"),
    ]


def test_weights_of_one_change_no_limit_and_others_widen_them() -> None:
    generator = np.random.default_rng(2)
    for metric in ("ece", "rmsce", "brier_reliability", "brier_refinement"):
        plain, same = row(metric), row(metric, weight=np.ones(300))
        assert same.method == plain.method
        assert (same.lower, same.upper) == pytest.approx((plain.lower, plain.upper))
        uneven = row(metric, weight=generator.exponential(size=300) ** 2)
        assert uneven.upper - uneven.lower > plain.upper - plain.lower


def test_a_part_of_the_brier_score_in_thin_groups_lies_outside_its_limits() -> None:
    """Of 300 rows in 83 groups most is noise, which the limits leave out; 3,000 or ten groups have enough."""
    for metric, side in (("brier_reliability", "above"), ("brier_refinement", "below"), ("brier_resolution", "above")):
        thin = row(metric)
        assert (thin.status, thin.reason) == ("degenerate", (
            f"the value is {side} its {thin.method} limits: the noise of bins with few rows is left out of them; ask "
            "for fewer digits"))
        found = row({"metric": metric, "digits": 1})
        assert (found.status, found.reason) == ("ok", None)
        assert found.lower <= found.value <= found.upper


@pytest.mark.parametrize(("rows", "events", "few"), [
    (49, 20, "49 rows, fewer than 50"), (100, 9, "9 rows of the rarer level, fewer than 10"), (50, 10, None)])
def test_a_calibration_curve_through_few_rows_has_no_limits_to_rely_on(rows: int, events: int, few: str | None) -> None:
    truth, chance = np.arange(rows) < events, np.linspace(0.05, 0.95, rows)[np.random.default_rng(4).permutation(rows)]
    found = evalpipe.evaluate(truth, chance, event=True, metrics=["ici", "e90", "emax", "brier"],
                              intervals={"replicates": 200}).rows
    more = ": a calibration curve follows so few too closely, and limits cover the true value too seldom"
    reason = None if few is None else few + more
    assert [(row.metric, row.status, row.reason) for row in found] == [
        *((name, "ok" if few is None else "degenerate", reason) for name in ("ici", "e90", "emax")),
        ("brier", "ok", None)]


def test_clusters_are_inverted_from_what_replicates_show() -> None:
    found = row("ece", cluster=np.arange(300) // 3)
    assert (found.method, found.status) == ("bootstrap_noncentral", "ok")
    assert found.lower <= found.value <= found.upper


def test_resampling_clusters_does_not_see_the_noise_of_thin_groups() -> None:
    found = row("brier_reliability", cluster=np.arange(300) // 3)
    assert (found.status, found.reason) == ("degenerate", (
        "about 100 independent units in 83 bins, fewer than 20 per bin, so the noise is underestimated: ask for "
        "fewer digits"))
    found = row("ece", cluster=np.arange(300) // 6)
    assert (found.status, found.reason) == ("degenerate", (
        "about 50 independent units in 15 bins, fewer than 5 per bin, so the noise is underestimated: ask for fewer "
        "bins"))


def test_few_clusters_are_called_few() -> None:
    few = "{} clusters, fewer than {}: limits from so few cover the true value less often than 95%"
    for method, least in (("auto", 3), ("percentile", 20)):
        asked = {"method": method, "replicates": 200}
        found = row("brier", cluster=np.arange(300) % (least - 1), intervals=asked)
        assert (found.status, found.reason) == ("degenerate", few.format(least - 1, least))
        assert row("brier", cluster=np.arange(300) % least, intervals=asked).status == "ok"


def test_a_log_loss_without_spread_is_degenerate() -> None:
    found = evalpipe.evaluate([0, 1] * 30, [0.5] * 60, event=1, metrics=["log_loss"]).rows[0]
    assert (found.status, found.reason) == (
        "degenerate", "the same in nearly all replicates, so the bootstrap cannot estimate its uncertainty")


def test_a_largest_error_has_no_limits() -> None:
    generator = np.random.default_rng(1)
    truth = generator.normal(size=50)
    found = evalpipe.evaluate(truth, prediction=truth + 1, task="regression", metrics=["max_error"]).rows[0]
    assert (found.method, found.lower, found.status) == ("none", None, "ok")


def test_a_disparity_lies_in_its_limits() -> None:
    generator = np.random.default_rng(11)
    for seed in range(20):
        truth, chance = drawn(seed)
        frame = pl.DataFrame({"y": truth, "p": chance, "group": generator.choice(["a", "b", "c"], 300)})
        spec = {
            "evalpipe": 1, "name": "apart", "outcome": {"column": "y", "event": 1}, "task": "binary",
            "datasets": {"data": {"path": "memory"}}, "models": {"m": {"probability": "p"}}, "metrics": ["brier"],
            "slices": ["group"], "slice_rules": {"disparities": ["brier"]}, "report": {"formats": []},
            "intervals": {"replicates": 100, "bands": False},
        }
        (found,) = evalpipe.run(spec, frames={"data": frame}).disparities
        assert (found.status, found.reason) == ("ok", None)
        assert found.lower <= found.difference <= found.upper
        assert found.ratio_lower <= found.ratio <= found.ratio_upper


@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_a_test_has_no_limits(method: str) -> None:
    truth, chance = drawn(7)
    metrics = ["spiegelhalter_z", "spiegelhalter_p", "hosmer_lemeshow", "hosmer_lemeshow_p"]
    metrics[2:] = [{"metric": name, "groups": 5} for name in metrics[2:]]
    rows = evalpipe.evaluate(
        truth, chance, event=1, metrics=metrics, intervals={"method": method, "replicates": 100},
    ).rows
    assert [(row.method, row.lower, row.status) for row in rows] == [("none", None, "ok")] * 4


FITTED: Any = {"d": {"path": "memory", "trained_on": True}}


def test_the_rows_of_a_fit_take_two_degrees_of_freedom_off() -> None:
    """Not those of a slice, of which the fit sees others too, nor those of a variant, which was fitted elsewhere."""
    frame = people(400, digits=12)
    variants: Any = {"recalibrate": {"fit_on": {"folds": 4}, "methods": ["logistic"]}, "slices": ["h"]}
    results = run(frame, metrics=["hosmer_lemeshow_p"], datasets=FITTED, **variants)
    assert {(row.variant, (row.slice or {}).get("h")): row.degrees_of_freedom for row in results.rows} == {
        ("original", None): 8, ("original", "x"): 10, ("original", "z"): 10,
        ("logistic", None): 10, ("logistic", "x"): 10, ("logistic", "z"): 10}
    chi2, p_value = run(frame, metrics=["hosmer_lemeshow", "hosmer_lemeshow_p"]).rows
    assert (chi2.degrees_of_freedom, p_value.degrees_of_freedom) == (10, 10)
    assert p_value.value == pytest.approx(stats.chi2.sf(chi2.value, 10), rel=1e-12)
    assert results.rows[0].value == pytest.approx(stats.chi2.sf(chi2.value, 8), rel=1e-12)
    (table,) = measure_tables(results, "d")
    assert any(line[0].endswith(" Degrees of freedom 8") for line in lines(table))


def test_each_class_has_its_degrees_of_freedom_and_their_average_none() -> None:
    generator = np.random.default_rng(1)
    chances = generator.dirichlet(np.ones(3), 400)
    levels = np.array(["a", "b", "c"])[(generator.random((400, 1)) > chances.cumsum(axis=1)).sum(axis=1)]
    frame = pl.DataFrame({"y": levels, **{f"p_{level}": chances[:, k] for k, level in enumerate("abc")}})
    many: Any = {"task": "multiclass", "outcome": {"column": "y", "levels": list("abc")},
            "models": {"m": {"probabilities": "p_{level}"}}}
    asked = {"metric": "hosmer_lemeshow", "average": ["none", "macro"]}
    found = [row.degrees_of_freedom for row in run(frame, metrics=[asked], **many).rows]
    assert found == [10, 10, 10, None]
    assert [row.degrees_of_freedom for row in run(frame, metrics=[asked], datasets=FITTED, **many).rows][:3] == [8] * 3


HOSMER = ["hosmer_lemeshow", {"metric": "hosmer_lemeshow_p"}]


def test_a_chi_squared_test_of_few_expected_events_is_not_relied_on() -> None:
    """Of 200 rows with 2 % events p is below 0.05 in 10.6 % of sets under perfect calibration (docs/methods.md)."""
    chance = np.linspace(0.005, 0.035, 200)
    truth = (np.arange(200) % 50 == 49).astype(int)
    few = ("{} are expected in 10 groups, fewer than 5 a group: the chi-squared distribution does not hold, "
           "ask for fewer groups")
    for truths, chances, rarer in ((truth, chance, "4 events"), (1 - truth, 1 - chance, "4 non-events")):
        rows = evalpipe.evaluate(truths, chances, event=1, metrics=HOSMER).rows
        assert [(row.status, row.reason) for row in rows] == [("degenerate", few.format(rarer))] * 2
    enough = evalpipe.evaluate(np.tile(truth, 13), np.tile(chance, 13), event=1, metrics=HOSMER).rows
    assert [(row.status, row.reason) for row in enough] == [("ok", None)] * 2


@pytest.mark.parametrize(("share", "reason"), [
    (0.25, None),
    (0.2499, ("49.9 events are expected in 10 groups, fewer than 5 a group: the chi-squared distribution does not "
              "hold, ask for fewer groups"))])
def test_as_many_events_as_the_chi_squared_test_needs_are_enough(share: float, reason: str | None) -> None:
    """The number that the reason names is rounded down: it never says that 50 are fewer than 5 in each of 10 groups."""
    chance = share + np.linspace(-0.01, 0.01, 200)
    rows = evalpipe.evaluate((np.arange(200) % 4 == 0).astype(int), chance, event=1, metrics=HOSMER).rows
    assert [row.reason for row in rows] == [reason] * 2


def test_a_chi_squared_test_of_groups_that_expect_next_to_nothing_is_not_relied_on() -> None:
    """Of 900 rows at 0.0005 and 100 at one half p is below 0.05 in a quarter of sets under perfect calibration."""
    chance = np.concatenate([np.linspace(4e-4, 6e-4, 900), np.linspace(0.45, 0.55, 100)])
    truth = (np.arange(1000) % 2 == 1) & (chance > 0.4)
    for truths, chances in ((truth, chance), (~truth, 1 - chance)):
        rows = evalpipe.evaluate(truths.astype(int), chances, event=1, metrics=HOSMER).rows
        few = ("fewer than 1 event or non-event is expected in 9 of 10 groups: the chi-squared distribution does not "
               "hold, ask for fewer groups")
        assert [(row.status, row.reason) for row in rows] == [("degenerate", few)] * 2


def test_limits_of_clusters_need_the_rarer_level_in_three_of_them() -> None:
    """Of 5 clusters of 20 rows with 2.5 % events they covered 82 %, with events in three of them 93 % or more."""
    cluster, chance = np.arange(100) // 20, np.linspace(0.01, 0.05, 100)
    for places, inside in (([], 0), ([3, 7], 1), ([3, 27], 2), ([3, 27, 44], 3)):
        truth = np.zeros(100, int)
        truth[places] = 1
        row = evalpipe.evaluate(
            truth, chance, event=1, metrics=["brier"], cluster=cluster, intervals={"replicates": 200}).rows[0]
        few = "the rarer level is in {} of 5 clusters, fewer than 3: limits from so few cover the true value too seldom"
        reason = few.format(inside) if inside else ONE_LEVEL
        assert (row.status, row.reason) == (("ok", None) if inside == 3 else ("degenerate", reason))


ONE_LEVEL = "all rows are of one level: limits leave out what rows of the other would add"


@pytest.mark.parametrize("truth", [0, 1])
def test_limits_of_rows_of_one_level_leave_out_what_the_other_would_add(truth: int) -> None:
    """Of 50 rows with 2 % events a third of sets have none: their limits of the Brier score cover nothing."""
    for metric in ("brier", "log_loss"):
        row = evalpipe.evaluate(np.full(50, truth), np.linspace(0.01, 0.05, 50), event=1, levels=[1, 0],
                                metrics=[metric, "accuracy"], intervals={"replicates": 200}).rows[0]
        assert (row.status, row.reason) == ("degenerate", ONE_LEVEL)


def test_limits_of_a_proportion_of_clusters_need_successes_and_failures_in_three_of_them() -> None:
    cluster, truth = np.arange(100) // 20, np.tile([0, 1], 50)
    for wrong, inside in (([3, 7], 1), ([3, 27], 2), ([3, 27, 44], 3)):
        chance = truth * 0.8 + 0.1
        chance[wrong] = 1 - chance[wrong]
        row = evalpipe.evaluate(
            truth, chance, event=1, metrics=["accuracy"], cluster=cluster, intervals={"replicates": 200}).rows[0]
        few = "failures are in {} of 5 clusters, fewer than 3: limits from so few cover the true value too seldom"
        assert (row.status, row.reason) == (("ok", None) if inside == 3 else ("degenerate", few.format(inside)))


def test_differences_in_clusters_need_the_rarer_level_in_three_of_them() -> None:
    """Of 20 to 40 clusters, with events in two of them, limits of a difference covered 12 to 89 %."""
    cluster, chance = np.arange(500) // 20, np.linspace(0.01, 0.05, 500)
    for places, inside in (([3, 27], 2), ([3, 27, 44], 3)):
        truth = np.zeros(500, int)
        truth[places] = 1
        results = evalpipe.evaluate(
            truth, {"a": chance, "b": chance[::-1]}, event=1, metrics=["brier"], cluster=cluster,
            intervals={"replicates": 200}, compare={"baseline": "b"})
        few = "the rarer level is in 2 of 25 clusters, fewer than 3: limits from so few cover the true value too seldom"
        (difference,) = results.comparisons
        assert (difference.status, difference.reason) == (("ok", None) if inside == 3 else ("degenerate", few))
        assert (difference.p_value is None, difference.verdict == "untested") == (inside == 2,) * 2


def test_desirability_in_clusters_needs_the_rarer_level_in_three_of_them() -> None:
    cluster, chance = np.arange(500) // 20, np.linspace(0.01, 0.05, 500)
    for places, inside in (([3, 27], 2), ([3, 27, 44], 3)):
        truth = np.zeros(500, int)
        truth[places] = 1
        results = evalpipe.evaluate(
            truth, chance, event=1, metrics=["brier"], cluster=cluster, intervals={"replicates": 200},
            desirability=[{"metric": "brier", "minimize": {"low": 0, "high": 0.1}}])
        few = "the rarer level is in 2 of 25 clusters, fewer than 3: limits from so few cover the true value too seldom"
        rows = [*results.desirability.individual, *results.desirability.overall]
        assert [(row.status, row.reason) for row in rows] == [("ok", None) if inside == 3 else ("degenerate", few)] * 2
