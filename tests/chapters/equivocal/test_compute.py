"""The equivocal zone from the spec to the results: its rows are in no measure of predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import BOTH, intervals, numbers, people, read_sample, run
from evalpipe.chapters.equivocal.compute import reportable_rows
from evalpipe.chapters.equivocal.plan import ZonePlan
from evalpipe.errors import DataError
from evalpipe.metrics import registry
from evalpipe.results import Results

ZONE = {"below": 0.1, "above": 0.05}
MEASURES = ["accuracy", "sensitivity", "precision", "kappa", "f1", "roc_auc", "brier", "misclassifications", "ppv"]
FAST = intervals(100)
LEVELS = ["a", "b", "c"]
MANY: dict[str, Any] = {
    "task": "multiclass", "outcome": {"column": "z", "levels": LEVELS}, "models": {"m": {"probabilities": "p_{level}"}},
    "metrics": ["accuracy", {"metric": "f1", "average": ["macro", "macro_weighted", "micro", "none"]}, "log_loss"],
}


def outside(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `people` that `ZONE` leaves; hundredths as whole numbers, so that no end is missed."""
    hundredths = (pl.col("p") * 100).round().cast(int)
    return frame.filter((hundredths < 40) | (hundredths > 55))


def several(n: int = 600, seed: int = 4) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet([1.0, 1.5, 2.0], n)
    truth = np.array([generator.choice(3, p=row) for row in chances])
    return pl.DataFrame({"z": np.array(LEVELS)[truth], "s": generator.choice(["x", "y"], n),
                         **{f"p_{level}": chances[:, k] for k, level in enumerate(LEVELS)}})


def of_classes(results: Results) -> dict[Any, Any]:
    """Return what is known of each measure of predicted classes."""
    return {
        (row.model, str(row.slice), row.metric, row.average, row.class_): (
            row.value, row.n, row.events, row.status, row.reason, row.no_information, row.skill)
        for row in results.rows if registry[row.metric].of_reportable
    }


def assert_same(one: Results, other: Results) -> None:
    """Compare measures of predicted classes, numbers up to 1e-12 as the order of a sum may differ."""
    found, expected = of_classes(one), of_classes(other)
    assert found.keys() == expected.keys()
    for key, entries in expected.items():
        for mine, theirs in zip(found[key], entries, strict=True):
            assert mine == (pytest.approx(theirs, rel=1e-12) if isinstance(theirs, float) else theirs), key


@pytest.mark.parametrize("keys", [
    {}, {"weight": {"column": "times", "kind": "frequency"}}, {"weight": "heavy"},
    {"slices": ["s"], "slice_rules": {"min_rows": 1}},
], ids=["plain", "frequency", "importance", "slices"])
def test_measures_of_classes_are_those_of_data_without_the_zone(keys: dict[str, Any]) -> None:
    frame, keys = people(500), {"metrics": MEASURES, "prevalence": 0.3, "no_information": {"permutations": 10}} | keys
    with_zone = run(frame, equivocal=ZONE, intervals=intervals(100, method="none"), **keys)
    without = run(outside(frame), intervals=intervals(100, method="none"), **keys)
    assert 0 < len(outside(frame)) < 450
    assert_same(with_zone, without)
    assert [table.counts for table in with_zone.confusion] == [
        pytest.approx(np.array(table.counts), rel=1e-12) for table in without.confusion]


def test_measures_of_several_levels_are_those_of_data_without_the_zone() -> None:
    frame = several()
    keys: dict[str, Any] = MANY | {"intervals": {"method": "none"}, "no_information": {"permutations": 10}}
    kept = frame.filter(pl.max_horizontal(f"p_{level}" for level in LEVELS) >= 0.6)
    found = run(frame, equivocal={"min_probability": 0.6}, **keys)
    without = run(kept, **keys)
    assert_same(found, without)
    assert found.confusion[0].counts == without.confusion[0].counts
    assert found.confusion[0].equivocal == len(frame) - len(kept) > 0
    assert found.confusion[0].zone is not None
    assert found.confusion[0].zone.min_probability == 0.6


@pytest.mark.parametrize("method", ["exact", "wilson", "jeffreys"])
@pytest.mark.parametrize("weight", [None, "heavy"])
def test_limits_of_proportions_count_the_reportable_rows_alone(method: str, weight: str | None) -> None:
    frame, keys = people(400), {"metrics": ["accuracy", "sensitivity"], "intervals": intervals(100, method=method)}
    keys |= {"weight": weight} if weight else {}
    found, without = run(frame, equivocal=ZONE, **keys), run(outside(frame), **keys)
    assert [(r.lower, r.upper) for r in found.rows[:2]] == [
        pytest.approx((r.lower, r.upper), rel=1e-9) for r in without.rows[:2]]  # quantiles are found to about 1e-11


def test_replicates_draw_all_rows_and_leave_the_zone_out_of_each() -> None:
    frame = people(300)
    found = run(frame, equivocal=ZONE, metrics=["accuracy", "reportable_rate"],
                intervals=intervals(4000, method="percentile"))
    y, p = frame["y"].to_numpy(), np.round(frame["p"].to_numpy() * 100)
    kept, right = (p < 40) | (p > 55), (p >= 50) == (y == 1)
    drawn = np.random.default_rng(9).multinomial(300, np.full(300, 1 / 300), 4000)
    rates = {"accuracy": (drawn * (kept & right)).sum(1) / (drawn * kept).sum(1), "reportable_rate": drawn @ kept / 300}
    for row in found.rows:
        low, high = np.quantile(rates[row.metric], [0.025, 0.975])
        # Two draws of 4000: each end has a Monte-Carlo error of about 4 % of the standard error; five of them.
        near = 5 * np.sqrt(2) * 0.04 * rates[row.metric].std()
        assert (row.lower, row.upper) == pytest.approx((low, high), abs=near)


def test_a_frequency_weight_of_three_is_three_rows_and_their_order_changes_no_byte() -> None:
    frame = people(200)
    keys: dict[str, Any] = {"equivocal": ZONE, "metrics": MEASURES, "prevalence": 0.3, "intervals": FAST}
    weight = {"weight": {"column": "times", "kind": "frequency"}}
    repeated = frame.select(pl.exclude("times").repeat_by("times").explode())
    weighed, written = (
        [(r.metric, r.value, r.n, r.events) for r in run(f, **keys, **k).rows]
        for f, k in ((frame, weight), (repeated, {})))
    assert [w[0] for w in weighed] == [*MEASURES, "reportable_rate"]
    for one, other in zip(weighed, written, strict=True):
        assert one[1:] == pytest.approx(other[1:], rel=1e-12)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    assert numbers(run(shuffled, **keys)) == numbers(run(frame, **keys))
    assert numbers(run(frame, **keys, engine={"workers": 2})) == numbers(run(frame, **keys, engine={"workers": 1}))


@pytest.mark.parametrize("keys", [{}, {"recalibrate": {"fit_on": {"folds": 3}, "methods": ["isotonic"]}}])
def test_units_of_a_grid_are_wholly_in_the_zone_or_outside(keys: dict[str, Any]) -> None:
    zone = {"below": 0.0777, "above": 0.0333}  # whose ends are not those of cells
    found = run(people(6000, digits=9), equivocal=zone, metrics=["accuracy", "f1", "brier"],
                intervals=intervals(100, method="percentile"), engine={"mode": "grid"}, **keys)
    assert found.intervals.units["d"] <= 3000
    bounds = {(row.metric, row.variant): row.error_bound for row in found.rows}
    assert {bound for (metric, _), bound in bounds.items() if metric != "brier"} == {0}
    assert bounds["brier", "original"] not in (0, None)


def test_both_ends_are_inside_as_they_are_written() -> None:
    frame = pl.DataFrame({"y": [1, 0, 1, 0, 1, 0], "p": [0.29, 0.3, 0.4, 0.6, 0.61, 0.7]})
    made = read_sample(frame, threshold=0.4, equivocal={"below": 0.1, "above": 0.2}).models["p"]
    assert 0.4 - 0.1 > 0.3  # which is why the ends are found in decimals
    assert sorted(zip(made.score.tolist(), made.reportable.tolist(), strict=True)) == [
        (0.29, True), (0.3, False), (0.4, False), (0.6, False), (0.61, True), (0.7, True)]


def test_each_row_may_have_a_cut_of_its_own() -> None:
    score, cuts = np.array([0.3, 0.3, 0.55, 0.9]), np.array([0.4, 0.6, 0.6, 0.6])
    assert reportable_rows(ZonePlan(0.1, 0.0), score, cuts).tolist() == [False, True, False, True]


def test_a_model_may_have_its_own_zone_and_given_classes_have_none() -> None:
    frame = people(300).with_columns(r=(pl.col("q") > 0.5).cast(int), s=pl.col("q") * 20)
    found = run(frame, equivocal=0.05, intervals=FAST, metrics=["accuracy"], models={
        "p": {"probability": "p"}, "own": {"probability": "p", "equivocal": {"above": 0.2}},
        "rank": {"score": "s", "threshold": 8, "equivocal": 1}, "plain": {"score": "s", "threshold": 8},
        "rule": {"prediction": "r"},
    })
    tables = {table.model: table for table in found.confusion}
    p, s = np.round(frame["p"].to_numpy() * 100), np.round(frame["s"].to_numpy() * 5)
    inside = {"p": (p >= 45) & (p <= 55), "own": (p >= 50) & (p <= 70), "rank": (s >= 35) & (s <= 45)}
    assert {name: table.equivocal for name, table in tables.items()} == {
        **{name: flags.sum() for name, flags in inside.items()}, "plain": 0, "rule": 0}
    assert {name: (t.zone.low, t.zone.high) for name, t in tables.items() if t.zone} == {
        "p": (0.45, 0.55), "own": (0.5, 0.7), "rank": (7, 9)}
    assert all(table.at_threshold == 0 for table in tables.values() if table.zone)
    rates = {row.model: row.value for row in found.rows if row.metric == "reportable_rate"}
    assert rates == {name: 1 - table.equivocal / 300 for name, table in tables.items()}


def test_the_rate_is_listed_once_and_only_with_a_zone() -> None:
    def listed(**keys: Any) -> list[str]:
        return [row.metric for row in run(people(60), intervals=FAST, **keys).rows]

    assert listed(metrics=["reportable_rate", "brier"], equivocal=0.1) == ["reportable_rate", "brier"]
    assert listed(metrics=["brier"], equivocal=0.1) == ["brier", "reportable_rate"]
    assert listed(metrics=["brier"]) == ["brier"]
    assert listed(equivocal=0.1) == [*listed(), "reportable_rate"]


def test_where_every_row_is_equivocal_measures_of_classes_say_so() -> None:
    found = run(people(60), equivocal={"below": 0.5, "above": 0.5}, metrics=["accuracy", "f1", "brier"],
                no_information=True, slices=["h"], slice_rules={"min_rows": 5}, intervals=FAST)
    for row in found.rows:
        if row.metric in ("accuracy", "f1"):
            assert (row.value, row.status, row.n) == (None, "undefined", 0)
            assert row.reason == "no row is reportable: all lie in the equivocal zone"
        else:
            assert row.value == pytest.approx(0) if row.metric == "reportable_rate" else (row.value or 0) > 0
    assert {table.equivocal for table in found.confusion if table.slice is None} == {60}


def test_a_variant_has_the_zone_of_its_own_probabilities() -> None:
    frame = people(400)
    keys: dict[str, Any] = {"equivocal": ZONE, "recalibrate": {"fit_on": {"folds": 4}, "methods": ["logistic"]}}
    found = run(frame, **keys, metrics=["accuracy"], intervals=FAST)
    original, variant = found.confusion
    assert (original.variant, variant.variant) == ("original", "logistic")
    assert original.equivocal != variant.equivocal > 0
    assert original.zone == variant.zone
    assert sum(map(sum, variant.counts)) + variant.equivocal == 400
    several_levels = run(several(), **(MANY | {"metrics": ["accuracy"], "equivocal": {"min_probability": 0.6}}),
                         recalibrate={"fit_on": {"folds": 4}, "methods": ["temperature"]}, intervals={"method": "none"})
    one, other = several_levels.confusion
    assert one.equivocal != other.equivocal > 0


def test_mcnemar_tests_the_rows_that_both_models_report_where_these_are_the_same() -> None:
    frame = people(400)
    frame = frame.with_columns(pl.col("p").clip(0.01, 0.99))
    logit = np.log(frame["p"].to_numpy() / (1 - frame["p"].to_numpy()))
    # The other model is wrong more often, and unsure of exactly the same rows.
    flipped = np.where(np.arange(400) % 7 == 0, -logit, logit)
    frame = frame.with_columns(q=pl.Series(np.round(1 / (1 + np.exp(-flipped)), 2)))
    keys: dict[str, Any] = {
        "models": BOTH, "compare": {"baseline": "q"}, "metrics": ["accuracy"], "intervals": FAST}
    found = run(frame, **keys, equivocal=0.1).comparisons[0]
    p = np.round(frame["p"].to_numpy() * 100)
    left = run(frame.filter(pl.Series((p < 40) | (p > 60))), **keys).comparisons[0]
    assert found.test == left.test == "mcnemar"
    assert (found.p_value, found.details, found.n) == (left.p_value, left.details, left.n)
    apart = run(frame, **keys, equivocal={"below": 0.1}).comparisons[0]
    assert (apart.test, apart.details) == ("bootstrap", {})
    assert run(frame, **keys).comparisons[0].test == "mcnemar"


def test_worst_slices_count_the_rows_that_their_measure_is_of() -> None:
    frame = people(600)
    keys: dict[str, Any] = {"intervals": intervals(100, method="none"), "worst_slices": {
        "columns": ["s"], "metric": "accuracy", "depth": 1, "top": 3}, "metrics": ["accuracy"]}
    found, without = run(frame, equivocal=ZONE, **keys), run(outside(frame), **keys)
    assert {(str(w.slice), w.n, w.events, round(w.value, 12)) for w in found.worst_slices} == {
        (str(w.slice), w.n, w.events, round(w.value, 12)) for w in without.worst_slices}
    of_all = run(frame, equivocal=ZONE, **(keys | {"worst_slices": keys["worst_slices"] | {"metric": "brier"}}))
    assert sum(w.n for w in of_all.worst_slices) == 600


def test_a_given_class_that_is_missing_stays_an_error() -> None:
    frame = people(60).with_columns(r=pl.when(pl.col("p") > 0.1).then(pl.col("y")))
    with pytest.raises(DataError, match="r"):
        run(frame, models={"p": {"probability": "p"}, "rule": {"prediction": "r"}}, equivocal=0.1, metrics=["accuracy"])


def test_a_prevalence_is_that_among_the_reportable_rows() -> None:
    metrics = [{"metric": "precision", "prevalence": 0.1}, "ppv", {"metric": "npv_sample", "prevalence": 0.1}, "npv"]
    results = run(people(400), metrics=metrics, prevalence=0.1, equivocal=0.1,
                  intervals={"replicates": 200, "method": "percentile"})
    found = [(row.value, row.lower, row.upper) for row in results.rows if row.metric != "reportable_rate"]
    # The same numbers by two ways of calculating them: equal but for rounding.
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert found[2] == pytest.approx(found[3], abs=1e-12)


@pytest.mark.parametrize("on", ["c", {"folds": 4}])
def test_the_zone_is_about_the_threshold_that_a_rule_chooses(on: object) -> None:
    frames = {"d": people(400), "c": people(300, 1)}
    rule = {"maximize": {"metric": "accuracy", "prevalence": 0.3}, "on": on}
    datasets = {"d": {"path": "d"}, **({"c": {"path": "c", "role": "calibrate"}} if on == "c" else {})}
    results = run({name: frames[name] for name in datasets}, datasets=datasets, threshold=rule, equivocal=0.1,
                  metrics=["accuracy"], intervals={"method": "none"})
    (chosen,), (table,) = results.thresholds, results.confusion
    p = frames["d"]["p"].to_numpy()
    if on == "c":
        assert table.threshold == chosen.value
        assert table.equivocal == ((p >= chosen.value - 0.1) & (p <= chosen.value + 0.1)).sum()
    assert 0 < table.equivocal == 400 - np.sum(table.counts)


def test_the_curve_of_predictive_values_is_of_the_reportable_rows() -> None:
    results = run(people(400), metrics=["ppv", "npv"], prevalence=0.1, equivocal=0.1, intervals={"method": "none"})
    (curve,) = [one for one in results.curves if one.curve == "predictive_values"]
    values = {row.metric: row.value for row in results.rows}
    assert (curve.notes.ppv_declared, curve.notes.npv_declared) == (values["ppv"], values["npv"])
    assert curve.points.ppv[10] == pytest.approx(values["ppv"], abs=1e-12)  # equal but for rounding
