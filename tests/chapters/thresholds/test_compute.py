"""Thresholds chosen by a rule: what they are, on which rows, and that no row chooses for itself."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import BINARY, BOTH, intervals, numbers, people, run
from evalpipe.chapters.recalibrate.compute import changed as with_variants
from evalpipe.chapters.recalibrate.compute import fold_of
from evalpipe.chapters.thresholds.compute import best_cuts
from evalpipe.chapters.thresholds.compute import changed as with_thresholds
from evalpipe.chapters.thresholds.plan import threshold_plan
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.errors import DataError
from evalpipe.metrics import registry
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Results, Threshold
from evalpipe.run import load
from evalpipe.statistics import Rows, Summary, cut_values, sweep

DATASETS = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
PLAIN = {"method": "none"}
COSTS = [{"truth": 1, "predicted": 0, "cost": 5}, {"truth": 0, "predicted": 1, "cost": 2}]
LEVELS = {"column": "y", "event": 1, "levels": [1, 0]}
TWO = {"d": people(300, 0), "cal": people(400, 1)}


def tuned(asked: dict[str, Any], given: Any = None, **keys: Any) -> Results:
    """Run a rule that chooses on a dataset of its own."""
    base = {"datasets": DATASETS, "threshold": asked, "intervals": PLAIN, "metrics": ["sensitivity", "specificity"]}
    return run(given or TWO, **base | keys)


def only(results: Results, variant: str = "original", model: str = "p") -> Threshold:
    (row,) = [row for row in results.thresholds if (row.variant, row.model) == (variant, model)]
    return row


def measured(frame: pl.DataFrame, cut: float, metric: str, weight: str | None = None, **options: Any) -> float:
    """Return a measure of the classes that a threshold makes of a frame's rows."""
    rows = Rows(frame["y"].to_numpy() == 1, frame["p"].to_numpy() >= cut, frame["p"].to_numpy())
    weights = np.ones(frame.height) if weight is None else frame[weight].to_numpy()
    return float(Summary(rows, weights).value(registry[metric], options))


@pytest.mark.parametrize("weight", [None, "times", "heavy"])
@pytest.mark.parametrize(("aim", "metric"), [
    ("maximize", "j_index"), ("maximize", "f1"), ("maximize", "mcc"), ("minimize", "roc_distance"),
    ("minimize", "cost"), ("maximize", "kappa"), ("minimize", "misclassifications"), ("maximize", "precision"),
])
def test_no_threshold_is_better_than_the_chosen_one(aim: str, metric: str, weight: str | None) -> None:
    kind = "frequency" if weight == "times" else "importance"
    asked: dict[str, Any] = {} if weight is None else {"weight": {"column": weight, "kind": kind}}
    row = only(tuned({aim: metric, "on": "cal"}, outcome=LEVELS, costs=COSTS, **asked))
    options = {"costs": ((0.0, 5.0), (2.0, 0.0))} if metric == "cost" else {}
    every = [*np.unique(TWO["cal"]["p"]), 1.5]
    found = [measured(TWO["cal"], cut, metric, weight, **options) for cut in every]
    top = np.nanmax(found) if aim == "maximize" else np.nanmin(found)
    # Sums of the weights in another order: rounding alone.
    assert measured(TWO["cal"], row.value, metric, weight, **options) == pytest.approx(top, rel=1e-12)
    assert row.apparent == pytest.approx(top, rel=1e-12)
    assert (row.rule, row.chosen_on, row.dataset) == (f"{aim} {metric}", "cal", "d")
    assert (row.lower, row.optimism, row.corrected) == (None, None, None)


def test_the_classes_of_the_evaluated_rows_are_those_of_the_chosen_threshold() -> None:
    results = tuned({"maximize": "j_index", "on": "cal"}, slices=["s"])
    cut = only(results).value
    whole = next(table for table in results.confusion if table.slice is None)
    y, p = TWO["d"]["y"].to_numpy() == 1, TWO["d"]["p"].to_numpy()
    assert whole.counts == [[(y & (p >= cut)).sum(), (y & (p < cut)).sum()],
                            [(~y & (p >= cut)).sum(), (~y & (p < cut)).sum()]]
    assert (whole.threshold, whole.cuts, whole.at_threshold) == (cut, [], int((p == cut).sum()))
    (model,) = results.models
    assert (model.threshold, model.threshold_rule) == (None, "maximize j_index, on cal")


def test_bounds_are_kept_on_the_rows_that_choose() -> None:
    asked = {"maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}, "ppv": {"max": 0.95}}, "on": "cal"}
    row = only(tuned(asked, prevalence=0.4))
    every = [*np.unique(TWO["cal"]["p"]), 1.5]
    inside = [cut for cut in every if measured(TWO["cal"], cut, "specificity") >= 0.9
              and measured(TWO["cal"], cut, "ppv", prevalence=0.4) <= 0.95]
    assert row.apparent == max(measured(TWO["cal"], cut, "sensitivity") for cut in inside)
    assert row.rule == "maximize sensitivity subject to specificity >= 0.9 and ppv <= 0.95"
    first, second = row.constraints
    assert (first.metric, first.min, first.max) == ("specificity", 0.9, None)
    assert first.apparent == measured(TWO["cal"], row.value, "specificity")
    assert second.params == {"prevalence": 0.4}


def test_of_equally_good_thresholds_the_middle_one_is_taken() -> None:
    truth = np.array([False, False, True, True, True, True, False, True])
    frame = pl.DataFrame({"y": truth.astype(int), "p": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]})
    rows = Rows(truth, None, frame["p"].to_numpy())
    spec = load({"evalpipe": 1, "name": "x", **BINARY, "datasets": DATASETS,
                 "threshold": {"maximize": "specificity", "on": "cal"}})
    asked = threshold_plan(spec, "p").rule
    assert asked is not None
    found = best_cuts(asked, sweep(Summary(rows, np.ones(8))))
    # Specificity is 1 above 0.7: at the cut of 0.8 and above all; the lower of the two is taken.
    assert found.index == 7
    assert cut_values(rows.distinct)[found.index] == pytest.approx(0.75)


def test_a_row_of_weight_three_chooses_as_three_rows() -> None:
    repeated = {name: frame.select(pl.all().repeat_by("times").explode()) for name, frame in TWO.items()}
    asked = {"maximize": "mcc", "subject_to": {"sensitivity": {"min": 0.5}}, "on": "cal"}
    weighted = only(tuned(asked, weight={"column": "times", "kind": "frequency"}, intervals=intervals(200)))
    rows = only(tuned(asked, repeated, intervals=intervals(200)))
    assert (weighted.value, weighted.apparent) == (rows.value, rows.apparent)
    assert (weighted.n, weighted.events) == (rows.n, rows.events)
    # Other draws of the same distribution: the limits agree to their Monte-Carlo error.
    assert weighted.lower == pytest.approx(rows.lower, abs=0.1)
    assert weighted.upper == pytest.approx(rows.upper, abs=0.1)


def test_the_order_of_rows_changes_nothing() -> None:
    turned = {name: frame.sample(fraction=1, shuffle=True, seed=3) for name, frame in TWO.items()}
    for on in ("cal", {"folds": 4}):
        asked = {"maximize": "f1", "on": on}
        given = TWO if on == "cal" else {"d": TWO["d"]}
        other = turned if on == "cal" else {"d": turned["d"]}
        keys: dict[str, Any] = {"intervals": intervals(200), "datasets": {name: DATASETS[name] for name in given}}
        assert numbers(tuned(asked, given, **keys)) == numbers(tuned(asked, other, **keys))


def test_limits_and_optimism_are_those_of_the_bootstrap() -> None:
    """Of the same draws, chosen by brute force: Harrell's optimism and percentiles of the replicates' cuts."""
    from evalpipe.intervals.bootstrap import percentile_limits
    from evalpipe.intervals.resampling import Design, replicate_weights

    row = only(tuned({"maximize": "j_index", "on": "cal"}, intervals=intervals(200)))
    loaded = load({"evalpipe": 1, "name": "x", **BINARY, "datasets": DATASETS,
                   "threshold": {"maximize": "j_index", "on": "cal"}})
    sample = read(plan(loaded, look(sources(loaded), TWO)), TWO)[1]
    p = sample.models["p"].probability
    assert p is not None
    every = cut_values(np.unique(p))
    cuts, gains = [], []

    def youden(weights: Any) -> Any:
        called = p[:, None] >= every
        hit = (weights[:, None] * (called & sample.truth[:, None])).sum(axis=0) / (weights * sample.truth).sum()
        alarm = (weights[:, None] * (called & ~sample.truth[:, None])).sum(axis=0) / (weights * ~sample.truth).sum()
        return hit - alarm

    whole = youden(np.ones(sample.n))
    for weights in np.concatenate(list(replicate_weights(Design(sample.n), 200, 0, "cal/threshold"))):
        found = youden(weights)
        tied = np.flatnonzero(found >= found.max() - 1e-12)
        place = tied[(len(tied) - 1) // 2]
        cuts.append(every[place])
        gains.append(found[place] - whole[place])
    assert (row.lower, row.upper) == pytest.approx(percentile_limits(np.array(cuts), 0.95), abs=1e-12)
    assert row.optimism == pytest.approx(np.mean(gains), abs=1e-12)
    assert row.corrected == pytest.approx(whole.max() - np.mean(gains), abs=1e-12)
    assert row.optimism is not None
    assert row.optimism > 0
    assert (row.level, row.n, row.undefined_replicates, row.status) == (0.95, 400, 0, "ok")


def test_thinning_and_grids_never_move_the_choice() -> None:
    """The stored sweep and the replicates are thinned; the threshold is chosen among all cuts."""
    given = {"d": people(500, 0), "cal": people(20_000, 1, 9)}
    asked = {"maximize": "j_index", "on": "cal"}
    grid = only(tuned(asked, given, intervals=intervals(100), engine={"mode": "grid"}))
    exact = only(tuned(asked, given, intervals=PLAIN))
    assert (grid.value, grid.apparent) == (exact.value, exact.apparent)
    every = cut_values(np.unique(given["cal"]["p"]))
    y, p = given["cal"]["y"].to_numpy() == 1, given["cal"]["p"].to_numpy()
    order = np.sort(p[y]), np.sort(p[~y])
    rates = [1 - np.searchsorted(one, every) / len(one) for one in order]
    top = (rates[0] - rates[1]).max()
    assert exact.apparent == pytest.approx(top, abs=1e-12)
    assert grid.lower is not None
    assert grid.upper is not None
    assert grid.lower < grid.value < grid.upper


def crossing(frame: pl.DataFrame, **keys: Any) -> tuple[Any, Any]:
    """Return the sample of a cross-fitted rule with its classes, and the fold of each row."""
    spec = {"evalpipe": 1, "name": "x", **BINARY, "datasets": {"d": {"path": "memory"}}, "intervals": PLAIN,
            "threshold": {"maximize": "j_index", "on": {"folds": 5}}} | keys
    loaded = load(spec)
    planned = plan(loaded, look(sources(loaded), {"d": frame}))
    made, _ = with_variants(planned, read(planned, {"d": frame}))
    return with_thresholds(planned, made)[0][0], fold_of(planned, made[0], 5)


@pytest.mark.parametrize("variant", [None, "isotonic"])
def test_no_row_is_classified_by_a_threshold_that_saw_its_fold(variant: str | None) -> None:
    """The thresholds of a fold do not change whatever its rows' truths are."""
    frame = people(200, 5).sort("p", "q", "y", "age")
    keys: dict[str, Any] = {}
    name = "p"
    if variant is not None:
        keys, name = {"recalibrate": {"fit_on": {"folds": 5}, "methods": [variant]}}, f"p+{variant}"
    before, folds = crossing(frame, **keys)
    for fold in range(5):
        # A truth that is sorted last moves no row: rows are in the order of truth, then of score.
        turned = before.truth.copy()
        turned[folds == fold] = ~turned[folds == fold]
        spec, planned, made = _made(frame, turned, keys)
        after = with_thresholds(planned, made)[0][0]
        inside = folds == fold
        assert spec is not None
        assert (after.models[name].cuts[inside] == before.models[name].cuts[inside]).all()
        assert (after.models[name].predicted[inside] == before.models[name].predicted[inside]).all()
        assert (after.models[name].cuts[~inside] != before.models[name].cuts[~inside]).any()


def _made(frame: pl.DataFrame, truth: Any, keys: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the variants of the same rows with other truths, in the same order."""
    from dataclasses import replace

    loaded = load({"evalpipe": 1, "name": "x", **BINARY, "datasets": {"d": {"path": "memory"}}, "intervals": PLAIN,
                   "threshold": {"maximize": "j_index", "on": {"folds": 5}}} | keys)
    planned = plan(loaded, look(sources(loaded), {"d": frame}))
    (sample,) = read(planned, {"d": frame})
    return loaded, planned, with_variants(planned, (replace(sample, truth=truth),))[0]


def test_cross_fitted_thresholds_are_those_of_the_other_folds() -> None:
    frame = people(300, 2)
    sample, folds = crossing(frame)
    model = sample.models["p"]
    for fold in range(5):
        others = folds != fold
        p, y = model.probability[others], sample.truth[others]
        every = cut_values(np.unique(p))
        found = np.array([(p[y] >= cut).mean() - (p[~y] >= cut).mean() for cut in every])
        tied = np.flatnonzero(found >= found.max() - 1e-12)
        assert set(model.cuts[~others]) == {every[tied[(len(tied) - 1) // 2]]}
    row = only(run(frame, threshold={"maximize": "j_index", "on": {"folds": 5}}, intervals=PLAIN, metrics=["j_index"]))
    assert (row.folds, row.chosen_on, len(row.cuts)) == (5, "d", 5)
    assert set(row.cuts) == set(np.unique(model.cuts))
    assert row.value == model.threshold


def test_clusters_are_not_shared_among_folds() -> None:
    sample, _ = crossing(people(300, 2), cluster="who")
    cuts = sample.models["p"].cuts
    assert all(len(np.unique(cuts[sample.cluster == one])) == 1 for one in np.unique(sample.cluster))


def test_variants_choose_a_threshold_of_their_own() -> None:
    asked = {"maximize": "f1", "on": "cal"}
    keys: dict[str, Any] = {"recalibrate": {"fit_on": "cal", "methods": ["logistic", "isotonic"]}, "models": BOTH}
    results = tuned(asked, **keys)
    assert [(row.model, row.variant) for row in results.thresholds] == [
        (model, variant) for model in BOTH for variant in ("original", "logistic", "isotonic")]
    plain, line = only(results), only(results, "logistic")
    assert line.apparent == plain.apparent  # a monotone map keeps every cut
    assert line.value != plain.value
    found = {e.variant: e.value for e in results.rows if e.metric == "sensitivity" and e.model == "p"}
    assert found["logistic"] == pytest.approx(found["original"], abs=0.05)  # midway between scores is elsewhere
    crossed = tuned(asked, recalibrate={"fit_on": {"folds": 5}, "methods": ["logistic"]})
    assert only(crossed, "logistic").chosen_on == "cal"


def test_a_rank_is_cut_on_its_own_scale() -> None:
    given = {name: frame.with_columns((100 * pl.col("p") - 3).alias("points")) for name, frame in TWO.items()}
    row = only(tuned({"maximize": "j_index", "on": "cal"}, given, models={"p": {"score": "points"}}))
    plain = only(tuned({"maximize": "j_index", "on": "cal"}))
    assert row.value == pytest.approx(100 * plain.value - 3)
    assert row.apparent == plain.apparent


def test_costs_decide_on_a_threshold_without_data() -> None:
    results = run(TWO["d"], threshold={"bayes": "costs"}, costs=COSTS, outcome=LEVELS, intervals=PLAIN,
                  metrics=["cost"], recalibrate={"fit_on": {"folds": 4}, "methods": ["logistic"]})
    assert [(row.value, row.rule, row.variant) for row in results.thresholds] == [
        (2 / 7, "bayes", "original"), (2 / 7, "bayes", "logistic")]
    assert results.models[0].threshold_rule == "bayes, from the costs"


def test_a_threshold_of_its_own_comes_before_that_of_the_spec() -> None:
    results = tuned({"maximize": "j_index", "on": "cal"}, models=BOTH | {"q": {"probability": "q", "threshold": 0.4}})
    assert only(results, model="q").rule == "fixed"
    assert only(results, model="q").value == 0.4
    own = {"q": {"probability": "q", "threshold": {"maximize": "f1", "on": "cal"}}}
    ruled = tuned({"bayes": "costs"}, models=BOTH | own, costs=COSTS, outcome=LEVELS)
    assert [row.rule for row in ruled.thresholds] == ["bayes", "maximize f1"]


def test_a_bound_that_no_threshold_keeps_is_an_error_that_says_how_far_one_gets() -> None:
    asked = {"maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}, "sensitivity": {"min": 0.99}},
             "on": "cal"}
    with pytest.raises(DataError) as caught:
        tuned(asked)
    best_there = max(measured(TWO["cal"], cut, "sensitivity") for cut in np.unique(TWO["cal"]["p"])
                     if measured(TWO["cal"], cut, "specificity") >= 0.9)
    least = max(measured(TWO["cal"], cut, "specificity") for cut in np.unique(TWO["cal"]["p"])
                if measured(TWO["cal"], cut, "sensitivity") >= 0.99)
    (problem,) = caught.value.problems
    assert problem.code == "no-threshold"
    assert problem.message == (
        "no threshold of model 'p' can be chosen on dataset 'cal': none has specificity >= 0.9 and sensitivity >= 0.99"
        f"; specificity is at most {least:.4g} where sensitivity >= 0.99, "
        f"sensitivity is at most {best_there:.4g} where specificity >= 0.9")


def test_a_measure_without_a_value_chooses_nothing() -> None:
    given = {"d": TWO["d"], "cal": TWO["cal"].with_columns(y=pl.lit(0))}
    with pytest.raises(DataError, match="j_index has no value at any"):
        tuned({"maximize": "j_index", "on": "cal"}, given)


def test_more_folds_than_rows_are_refused_where_the_rule_stands() -> None:
    with pytest.raises(DataError, match="which cannot be split into 900 folds"):
        run(TWO["d"], threshold={"maximize": "f1", "on": {"folds": 900}}, intervals=PLAIN)


def test_rows_that_choose_may_not_be_among_the_evaluated() -> None:
    numbered = TWO["d"].with_row_index("row")
    with pytest.raises(DataError) as caught:
        tuned({"maximize": "f1", "on": "cal"}, {"d": numbered, "cal": numbered}, id="row")
    assert "on which thresholds are chosen" in str(caught.value)
    assert "no threshold is judged on rows that chose it" in str(caught.value)


def test_one_cluster_says_nothing_of_the_uncertainty() -> None:
    given = {name: frame.with_columns(who=pl.lit(name)) for name, frame in TWO.items()}
    row = only(tuned({"maximize": "f1", "on": "cal"}, given, cluster="who", intervals=intervals(100)))
    assert (row.status, row.lower, row.optimism) == ("degenerate", None, None)


def test_the_sweep_has_every_measure_of_classes_at_every_threshold() -> None:
    metrics = ["sensitivity", "roc_auc", {"metric": "f_beta", "beta": 2}, "ppv", {"metric": "ppv", "prevalence": 0.1}]
    results = run(TWO["d"], metrics=metrics, prevalence=0.3, intervals=PLAIN)
    (curve,) = [one for one in results.curves if one.curve == "sweep"]
    assert list(curve.points.columns) == ["threshold", "sensitivity", "f_beta(beta=2)", "ppv(prevalence=0.3)",
                                  "ppv(prevalence=0.1)"]
    cuts = curve.points.threshold
    assert cuts[0] is None
    assert cuts[1:] == sorted(TWO["d"]["p"].unique().to_list(), reverse=True)
    for cut, found in zip(cuts[1:], curve.points.measures["f_beta(beta=2)"][1:], strict=True):
        assert cut is not None
        assert found == pytest.approx(measured(TWO["d"], cut, "f_beta", beta=2.0), rel=1e-12)


def test_a_long_sweep_is_thinned_and_says_so() -> None:
    results = run(people(3000, 0, 9), metrics=["f1"], intervals=PLAIN)
    (curve,) = [one for one in results.curves if one.curve == "sweep"]
    (roc,) = [one for one in results.curves if one.curve == "roc"]
    assert curve.points.threshold == roc.points.threshold
    assert curve.notes.points_of == 3001


def test_the_plan_says_how_thresholds_are_chosen() -> None:
    spec = load({"evalpipe": 1, "name": "x", **BINARY, "datasets": DATASETS, "outcome": LEVELS, "costs": COSTS,
                 "threshold": {"maximize": {"metric": "f_beta", "beta": 2}, "on": "cal"},
                 "models": {"p": {"probability": "p"}, "c": {"prediction": "q"},
                            "s": {"score": "q", "threshold": {"maximize": "f1", "on": {"folds": 3}}},
                            "b": {"probability": "q", "threshold": {"bayes": "costs"}}}})
    chosen = {name: threshold_plan(spec, name) for name in spec.models}
    assert {name: threshold.words for name, threshold in chosen.items()} == {
        "p": "maximize f_beta(beta=2), on cal", "s": "maximize f1, cross-fitted in 3 folds", "c": None,
        "b": "bayes, from the costs"}
    assert [threshold.number for threshold in chosen.values()] == [None, None, None, 2 / 7]


def test_variants_of_a_ruled_model_can_be_applied_to_new_rows() -> None:
    import evalpipe

    results = tuned({"maximize": "f1", "on": "cal"}, recalibrate={"fit_on": "cal", "methods": ["logistic"]})
    made = evalpipe.recalibrate(results, "p+logistic", TWO["d"].select("p"))
    assert made["p+logistic"].is_between(0, 1).all()


def test_records_of_thresholds_are_json_without_gaps() -> None:
    results = tuned({"maximize": "f1", "on": "cal"}, intervals=intervals(100))
    (row,) = json.loads(results.to_json())["thresholds"]
    assert {"dataset", "model", "variant", "value", "lower", "upper", "rule", "chosen_on"} <= set(row)
    assert Results.from_json(results.to_json()) == results
