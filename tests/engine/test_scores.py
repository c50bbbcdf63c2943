"""Ranks and classes are those of the score itself: its units change nothing, though the probabilities round to ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import evalpipe
from engine.runs import run
from evalpipe.engine.ranks import break_ties
from evalpipe.results import Results

PLAIN = {"method": "none"}
RANKED = [
    "roc_auc", "gini", "ks", "average_precision", "pr_auc", {"metric": "partial_roc_auc", "high": 0.3},
    {"metric": "precision_at_k", "k": 40}, {"metric": "recall_at_k", "k": 40}, "gain", "lift", "gain_capture",
    "sensitivity", "specificity", "mcc",
]
FACTORS = [1e-6, 50.0, 1e6]
SCALES = ["logit", "margin"]
FITTED = ["logistic", "platt", "isotonic", "beta", "temperature", {"method": "prior_shift", "to": 0.2},
          "logistic_probability", {"method": "logistic_spline", "on": "logit"}, "venn_abers"]


def scored(n: int, seed: int) -> pl.DataFrame:
    """Return n rows with scores, each of its own, rounded to a power of 2 so that they are told apart in all units."""
    generator = np.random.default_rng(seed)
    y = generator.random(n) < 0.4
    score = np.round(generator.normal(size=n) * 2**20 + 1.5 * 2**20 * y) / 2**20 - 0.7
    return pl.DataFrame({"y": y.astype(int), "s": score, "half": generator.choice(["a", "b"], n)})


def times(frame: pl.DataFrame, factor: float) -> pl.DataFrame:
    return frame.with_columns(pl.col("s") * factor)


def of_score(frames: Any, scale: str = "logit", **keys: Any) -> Results:
    base: dict[str, Any] = {"models": {"p": {"score": "s", "scale": scale}}, "metrics": RANKED, "intervals": PLAIN}
    return run(frames, **base | keys)


def figures(results: Results, variants: Any = ("original",)) -> list[Any]:
    return [(e.metric, e.variant, e.slice, e.value, e.lower, e.upper) for e in results.rows if e.variant in variants]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("factor", FACTORS)
def test_the_units_of_a_score_change_no_rank(factor: float, scale: str) -> None:
    frame = scored(700, 1)
    plain, other = (of_score(times(frame, by), scale) for by in (1.0, factor))
    assert figures(other) == figures(plain)
    value = {e.metric: e.value for e in other.rows}
    # 1e-12: the same sums in another order
    assert value["roc_auc"] == pytest.approx(roc_auc_score(frame["y"], frame["s"]), rel=1e-12)
    assert value["average_precision"] == pytest.approx(average_precision_score(frame["y"], frame["s"]), rel=1e-12)


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_nor_its_intervals_bands_slices_and_tests(mode: str) -> None:
    frame = scored(900, 2).with_columns(q=pl.col("s") + np.random.default_rng(3).normal(size=900))
    asked: dict[str, Any] = {
        "models": {"p": {"score": "s", "scale": "logit"}, "q": {"score": "q", "scale": "margin"}},
        "intervals": {"replicates": 100}, "engine": {"mode": mode, "workers": 1}, "slices": ["half"],
        "compare": {"baseline": "q"}, "metrics": ["roc_auc", "ks", "sensitivity"],
        "profit": {"benefit": 5.0, "cost": 1.0},
    }
    plain = of_score(frame, **asked)
    other = of_score(frame.with_columns(pl.col("s", "q") * 2.0**20), **asked)  # exact, so that means keep their order
    if mode == "exact":
        assert figures(other) == figures(plain)
        assert other.comparisons == plain.comparisons
        assert other.profit == plain.profit
    else:  # cells of a grid also end at probabilities, which the units move
        for one, two in zip(figures(other), figures(plain), strict=True):
            assert one[:4] == two[:4]
            # 0.05: half a thousandth of the variance lies within cells, and 100 replicates are few
            assert one[4:] == pytest.approx(two[4:], abs=0.05)
    of = {"delong", "mcnemar"}
    assert [r.p_value for r in other.comparisons if r.test in of] == [r.p_value for r in plain.comparisons
                                                                      if r.test in of]


@pytest.mark.parametrize("factor", FACTORS)
def test_nor_the_heights_of_curves(factor: float) -> None:
    frame = scored(400, 4)
    plain, other = (of_score(times(frame, by)) for by in (1.0, factor))
    heights = {"roc": ("false_positive_rate", "sensitivity"), "pr": ("recall", "precision"), "gain": ("found",),
               "lift": ("lift",), "ks": ("events_below", "others_below"), "thresholds": ("precision", "specificity"),
               "sweep": ("mcc", "sensitivity"), "gain_table": ("captured", "separation")}
    for name, axes in heights.items():
        one, two = (next(c for c in results.curves if c.curve == name) for results in (plain, other))
        assert all(one.points.columns[axis] == two.points.columns[axis] for axis in axes), name


@pytest.mark.parametrize("on", ["cal", {"folds": 5}])
@pytest.mark.parametrize("factor", FACTORS)
def test_a_chosen_threshold_makes_the_same_classes_in_all_units(factor: float, on: Any) -> None:
    frames, datasets = {"d": scored(500, 5)}, {"d": {"path": "memory"}}
    if on == "cal":
        frames, datasets = frames | {"cal": scored(600, 6)}, datasets | {"cal": {"path": "memory", "role": "calibrate"}}
    rule = {"maximize": "mcc", "on": on}
    plain, other = (
        of_score({name: times(frame, by) for name, frame in frames.items()}, datasets=datasets, threshold=rule)
        for by in (1.0, factor))
    assert [c.counts for c in other.confusion] == [c.counts for c in plain.confusion]
    (one,), (two,) = plain.thresholds, other.thresholds
    assert one.score is not None
    assert two.score is not None
    assert two.score == pytest.approx(one.score * factor, rel=1e-12)  # rounding of the units themselves
    assert two.value == pytest.approx(np.exp(-np.logaddexp(0, -two.score)), rel=1e-12)


def test_a_threshold_near_one_tells_saturated_scores_apart() -> None:
    """From 37 on the logistic function is 1: only the score says which rows a threshold above it takes."""
    frame = pl.DataFrame({"y": [0, 0, 0, 1, 1, 1] * 20, "s": [38.0, 39.0, 40.0, 45.0, 46.0, 47.0] * 20})
    results = of_score(frame, threshold={"maximize": "mcc", "on": {"folds": 4}}, metrics=["mcc", "roc_auc"])
    assert {e.metric: e.value for e in results.rows} == {"mcc": 1.0, "roc_auc": 1.0}
    (row,) = results.thresholds
    assert (row.value, row.score) == (1.0, 42.5)
    assert [c.counts for c in results.confusion] == [[[60, 0], [0, 60]]]


@pytest.mark.parametrize(("threshold", "score", "events"), [
    (0.5, 0.0, 3), (0.0, None, 5), (1.0, None, 0), (0.75, np.log(3), 2),
])
def test_a_written_threshold_is_a_probability_and_is_compared_on_the_score(
    threshold: float, score: float | None, events: int,
) -> None:
    frame = pl.DataFrame({"y": [0, 1, 0, 1, 1], "s": [-50.0, -1e-18, 0.0, 1.2, 800.0]})
    results = of_score(frame, threshold=threshold, metrics=["accuracy"])
    (row,), (table,) = results.thresholds, results.confusion
    assert (row.value, row.score) == (threshold, None if score is None else pytest.approx(score, rel=1e-15))
    assert sum(counts[0] for counts in table.counts) == events


@pytest.mark.parametrize("factor", FACTORS)
def test_recalibrators_learn_from_the_score(factor: float) -> None:
    """A method of the log odds or of the order gives the same probabilities in all units; ranks never tie."""
    frames = {"d": scored(500, 7), "cal": scored(600, 8)}
    datasets = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
    asked = {"datasets": datasets, "recalibrate": {"fit_on": "cal", "methods": FITTED},
             "metrics": ["roc_auc", "brier", "sensitivity"]}
    plain, other = (of_score({name: times(frame, by) for name, frame in frames.items()}, **asked)
                    for by in (1.0, factor))
    auc = {e.variant: e.value for e in other.rows if e.metric == "roc_auc"}
    for method in ("logistic", "platt", "beta", "temperature", "prior_shift", "logistic_probability"):
        assert auc[method] == auc["original"]
    same = ("logistic", "platt", "isotonic", "temperature", "logistic_spline", "venn_abers")  # the others are of p
    for one, two in zip(figures(plain, same), figures(other, same), strict=True):
        assert one[:3] == two[:3]
        assert two[3] == pytest.approx(one[3], rel=2e-6)  # where the search for the greatest likelihood ends


def test_a_monotone_recalibration_of_probabilities_changes_no_rank_though_it_clips_them() -> None:
    tiny = np.concatenate([10.0 ** -np.arange(13, 300, 7), np.linspace(0.01, 0.99, 200)])
    frame = pl.DataFrame({"y": (np.random.default_rng(9).random(len(tiny)) < 0.1 + 0.6 * tiny).astype(int), "p": tiny})
    asked = ["logistic", "platt", "temperature", {"method": "prior_shift", "to": 0.01}, "logistic_probability"]
    given = {"d": frame, "cal": frame.with_columns(pl.col("p") * 0.99)}
    datasets = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
    results = run(given, datasets=datasets, metrics=["roc_auc", "accuracy"], intervals=PLAIN,
                  recalibrate={"fit_on": "cal", "methods": asked})
    assert len({e.value for e in results.rows if e.metric == "roc_auc"}) == 1


def test_levels_are_chosen_and_ranked_by_their_scores() -> None:
    """The softmax of scores that lie far apart is 0 or 1; which is highest, and by how much, the scores still say."""
    generator = np.random.default_rng(10)
    truth = generator.integers(0, 3, 400)
    score = generator.normal(size=(400, 3)) + 1.2 * (np.arange(3) == truth[:, None])
    near = np.array([[800.0, 800.0 + 1e-10, 0.0]])  # exp of the difference is 1 - 1e-10; in single steps a tie
    found = []
    for factor in (1.0, 5e3):
        columns = {f"s_{level}": np.append(score[:, k], near[0, k]) * factor for k, level in enumerate("abc")}
        frame = pl.DataFrame({"y": [*np.array(list("abc"))[truth], "b"], **columns})
        found.append(run(
            frame, task="multiclass", outcome={"column": "y", "levels": list("abc")},
            models={"p": {"scores": "s_{level}"}}, intervals=PLAIN,
            metrics=["accuracy", "hand_till_auc", {"metric": "top_k_accuracy", "k": 2}, "roc_auc"],
        ))
    value = [{e.metric: e.value for e in results.rows} for results in found]
    assert value[0]["accuracy"] == value[1]["accuracy"]
    assert value[0]["top_k_accuracy"] == value[1]["top_k_accuracy"]
    assert [c.counts for c in found[0].confusion] == [c.counts for c in found[1].confusion]
    assert found[1].confusion[0].tied == 0
    # The log odds of one level of the scores times 5,000 are the score less the highest other, but for e^-5000.
    odds = [score[:, k] - np.delete(score, k, axis=1).max(axis=1) for k in range(3)]
    aucs = [roc_auc_score(np.append(truth, 1) == k, np.append(odd, near[0, k] - np.delete(near[0], k).max()))
            for k, odd in enumerate(odds)]
    assert value[1]["roc_auc"] == pytest.approx(np.mean(aucs), abs=1e-4)  # rows whose levels nearly tie


def test_ties_are_parted_by_the_smallest_steps_and_stay_between_0_and_1() -> None:
    values = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.7])
    ranking = np.array([2.0, 1.0, 5.0, 6.0, 7.0, 3.0, 3.0, 4.0])
    found = break_ties(values, ranking)
    assert np.argsort(found, kind="stable").tolist() == np.argsort(ranking, kind="stable").tolist()
    assert found.min() >= 0
    assert found.max() <= 1
    assert found[5] == found[6]  # equal in rank too
    assert np.abs(found - values).max() <= 4e-16
    odds = np.array([-3.0, -3.0, -745.0, 40.0, 40.0])
    assert np.argsort(break_ties(odds, np.array([2.0, 1.0, 0.0, 4.0, 3.0])), kind="stable").tolist() == [2, 1, 0, 4, 3]


def test_values_without_ties_stay_as_they_are() -> None:
    values = np.array([0.4, 0.1, 0.9])
    assert break_ties(values, np.arange(3.0)) is values


ARRAYS = {"truth": [1, 0, 1, 0, 1, 0] * 5, "score": [2.0, -1.0, 0.3, 0.1, 3.0, 1.0] * 5}


@pytest.mark.parametrize(("keys", "events", "value", "score"), [
    ({"threshold": 0.5}, 15, 0.5, None),  # in the units of the score
    ({"threshold": 2.5}, 5, 2.5, None),
    ({"threshold": 0.5, "scale": "logit"}, 25, 0.5, 0.0),  # a probability
    ({"threshold": 0.8, "scale": "margin"}, 10, 0.8, np.log(4)),
])
def test_a_threshold_of_arrays_is_of_the_score_or_of_the_probability_that_its_scale_makes(
    keys: dict[str, Any], events: int, value: float, score: float | None,
) -> None:
    results = evalpipe.evaluate(**ARRAYS, event=1, metrics=["sensitivity"], intervals=PLAIN, **keys)
    (row,), (table,) = results.thresholds, results.confusion
    assert (row.value, row.score) == (value, None if score is None else pytest.approx(score, rel=1e-15))
    assert sum(counts[0] for counts in table.counts) == events


def test_without_a_threshold_a_rank_has_no_classes() -> None:
    results = evalpipe.evaluate(**ARRAYS, event=1, intervals=PLAIN)
    assert (results.thresholds, results.confusion) == ([], [])
    assert "sensitivity" not in {e.metric for e in results.rows}


def test_a_resolved_spec_of_ranks_alone_runs_again() -> None:
    spec: Any = {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"d": {"path": "memory"}}, "models": {"p": {"score": "s"}}, "metrics": ["roc_auc"],
        "report": {"formats": []}, "intervals": PLAIN,
    }
    frames = {"d": scored(50, 1)}
    results = evalpipe.run(spec, frames=frames)
    assert "threshold" not in results.spec
    assert evalpipe.run(results.spec, frames=frames).rows == results.rows
