"""The engine through `evalpipe.evaluate`: methods, undefined values, curves and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

import evalpipe
from evalpipe.results import Curve, Estimate, Results

Y = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0])
P = np.array([0.9, 0.8, 0.8, 0.7, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1])
FEW = {"replicates": 200}


def evaluate(truth: Any = Y, probability: Any = P, **options: Any) -> Results:
    return evalpipe.evaluate(truth, probability, **({"event": 1, "intervals": FEW} | options))


def only(results: Results, metric: str) -> Estimate:
    found = [row for row in results.rows if row.metric == metric]
    assert len(found) == 1
    return found[0]


def curve(results: Results, name: str, model: str = "model") -> Curve:
    return next(c for c in results.curves if (c.curve, c.model) == (name, model))


def big(n: int = 3000, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    y = (generator.random(n) < 0.3).astype(int)
    return y, np.clip(generator.normal(0.35 + 0.2 * y, 0.2), 0, 1)


def test_a_value_has_its_support_and_interval() -> None:
    row = only(evaluate(metrics=["sensitivity"]), "sensitivity")
    assert (row.value, row.n, row.events, row.method, row.status) == (0.75, 4, 4, "exact", "ok")
    assert (row.lower, row.upper) == pytest.approx((0.19412044968324104, 0.9936905367902902), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "metric", "method"),
    [
        ({}, "accuracy", "exact"),
        ({}, "brier", "percentile"),
        ({"intervals": {"method": "wilson"} | FEW}, "accuracy", "wilson"),
        ({"intervals": {"method": "wilson"} | FEW}, "brier", "percentile"),
        ({"intervals": {"method": "percentile"} | FEW}, "accuracy", "percentile"),
        ({"intervals": {"method": "none"}}, "accuracy", "none"),
        ({"weight": np.ones(10)}, "accuracy", "percentile"),
        ({"weight": np.ones(10), "weight_kind": "frequency"}, "accuracy", "exact"),
    ],
)
def test_the_method_fits_the_measure_and_the_weights(options: dict[str, Any], metric: str, method: str) -> None:
    row = only(evaluate(metrics=[metric], **options), metric)
    assert row.method == method
    assert (row.lower is None) == (method == "none")
    assert row.level == (None if method == "none" else 0.95)


def test_undefined_is_null_with_a_reason() -> None:
    results = evaluate(probability=np.full(10, 0.1), metrics=["precision", "f1", "mcc"])
    row = only(results, "precision")
    assert (row.value, row.lower, row.status, row.reason) == (None, None, "undefined", "no predicted events")
    assert only(results, "f1").value == 0
    assert only(results, "mcc").status == "undefined"
    assert "NaN" not in results.to_json()


def test_an_interval_of_many_undefined_replicates_is_degenerate() -> None:
    p = np.full(10, 0.1)
    p[0] = 0.9
    row = only(evaluate(probability=p, metrics=["precision"], intervals={"method": "percentile"} | FEW), "precision")
    assert row.status == "degenerate"
    assert 40 < row.undefined_replicates < 110  # (1 - 1/10)^10 = 35 % of 200
    assert row.reason == f"undefined in {row.undefined_replicates} of 200 replicates: no predicted events"


def test_an_interval_without_width_is_degenerate() -> None:
    few = {"method": "percentile"} | FEW
    perfect = only(evaluate(probability=Y.astype(float), metrics=["roc_auc"], intervals=few), "roc_auc")
    assert (perfect.value, perfect.lower, perfect.upper, perfect.status) == (1, 1, 1, "degenerate")
    assert perfect.reason == "the same in nearly all replicates, so the bootstrap cannot estimate its uncertainty"
    assert only(evaluate(truth=[1], probability=[0.9], metrics=["brier"]), "brier").status == "degenerate"


def test_no_value_is_minus_zero() -> None:
    value = only(evaluate(probability=np.full(10, 0.5), metrics=["sedi"]), "sedi").value
    assert str(value) == "0.0"


def test_one_class_gives_undefined_measures_and_a_warning() -> None:
    results = evaluate(truth=np.zeros(10, int), metrics=["roc_auc", "sensitivity", "specificity", "brier"])
    assert [row.status for row in results.rows] == ["undefined", "undefined", "ok", "degenerate"]
    kinds = ("uniform", "quantile", "window", "isotonic")
    shown = {"refinement", "histogram", "net_benefit", "sweep"} | {f"calibration_{k}" for k in kinds}
    assert {c.curve for c in results.curves} == shown
    assert [warning.code for warning in results.warnings] == ["one-class", "degenerate"]


def test_percentile_limits_agree_with_a_plain_loop() -> None:
    y, p = big(400)
    row = only(evaluate(y, p, metrics=["brier"], intervals={"replicates": 4000}), "brier")
    generator = np.random.default_rng(0)
    means = [((y - p) ** 2)[generator.integers(0, 400, 400)].mean() for _ in range(4000)]
    # Two Monte-Carlo quantiles of 4,000 draws differ by about 3 % of the interval's width.
    assert row.lower == pytest.approx(np.quantile(means, 0.025), abs=0.001)
    assert row.upper == pytest.approx(np.quantile(means, 0.975), abs=0.001)


def test_models_share_one_draw() -> None:
    y, p = big()
    results = evaluate(y, {"a": p, "b": p}, metrics=["roc_auc", "log_loss"])
    a, b = ([(r.value, r.lower, r.upper) for r in results.rows if r.model == name] for name in ("a", "b"))
    assert a == b


def test_the_order_of_rows_changes_no_byte() -> None:
    y, p = big(500)
    order = np.random.default_rng(1).permutation(500)
    assert evaluate(y[order], p[order]).rows == evaluate(y, p).rows
    assert evaluate(y[order], p[order]).curves == evaluate(y, p).curves


def test_frequency_weights_are_replication() -> None:
    weight = np.array([1, 3, 2, 1, 4, 1, 2, 1, 1, 5])
    weighted = evaluate(weight=weight, weight_kind="frequency", intervals={"method": "exact"} | FEW)
    repeated = evaluate(np.repeat(Y, weight), np.repeat(P, weight), intervals={"method": "exact"} | FEW)
    for one, two in zip(weighted.rows, repeated.rows, strict=True):
        assert (one.metric, one.n, one.events) == (two.metric, two.n, two.events)
        assert one.value == pytest.approx(two.value, rel=1e-12)
        if one.method == "exact":
            assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), rel=1e-12)
    assert weighted.confusion[0].counts == repeated.confusion[0].counts


def test_the_confusion_matrix_has_truth_in_rows() -> None:
    confusion = evaluate().confusion[0]
    assert confusion.levels == ["1", "0"]
    assert confusion.counts == [[3, 1], [2, 4]]
    assert (confusion.at_threshold, confusion.events_at_threshold) == (1, 0)


def test_the_events_at_the_threshold_are_counted() -> None:
    confusion = evaluate(threshold=0.8).confusion[0]
    assert (confusion.at_threshold, confusion.events_at_threshold) == (2, 1)


def test_the_roc_curve_is_scikit_learns() -> None:
    points = curve(evaluate(), "roc").points
    fpr, tpr, threshold = roc_curve(Y, P, drop_intermediate=False)
    assert points.false_positive_rate == pytest.approx(fpr)
    assert points.sensitivity == pytest.approx(tpr)
    assert points.threshold[0] is None
    assert points.threshold[1:] == pytest.approx(threshold[1:])


def test_gain_and_lift_collapse_ties() -> None:
    results = evaluate()
    assert curve(results, "gain").points.tested == pytest.approx([0, 0.1, 0.3, 0.4, 0.5, 0.7, 0.8, 1])
    assert curve(results, "gain").points.found == pytest.approx([0, 0.25, 0.5, 0.75, 0.75, 1, 1, 1])
    assert curve(results, "lift").points.lift == pytest.approx([2.5, 5 / 3, 1.875, 1.5, 10 / 7, 1.25, 1])


def test_long_curves_keep_their_ends_and_say_what_was_left_out() -> None:
    y, p = big(20_000)
    kept = curve(evaluate(y, p, intervals={"method": "none"}), "roc")
    assert len(kept.points.threshold) <= 501
    assert kept.notes.points_of == len(np.unique(p)) + 1
    gain = curve(evaluate(y, p, intervals={"method": "none"}), "gain").notes
    order = np.argsort(-p, kind="stable")
    assert gain.found_in_first_10_percent == pytest.approx(y[order][:2000].sum() / y.sum(), abs=1e-3)
    assert gain.tested_for_half_of_events == pytest.approx(
        (np.cumsum(y[order]) < y.sum() / 2).sum() / 20_000, abs=1e-3
    )
    assert (kept.points.sensitivity[0], kept.points.sensitivity[-1]) == (0, 1)


def test_uniform_bins_are_closed_below_and_count_every_row_once() -> None:
    p = np.array([0.0, 0.1, 0.1, 0.19, 0.2, 0.3, 0.6, 0.7, 0.99, 1.0])
    points = curve(evaluate(probability=p), "calibration_uniform").points
    assert points.rows == [1, 3, 1, 1, 1, 1, 2]
    assert points.mean_probability == pytest.approx([0, 0.13, 0.2, 0.3, 0.6, 0.7, 0.995])
    assert points.event_rate == pytest.approx([1, 2 / 3, 0, 0, 1, 0, 0])


def test_quantile_bins_never_split_equal_scores() -> None:
    y, p = big(1000)
    untied = curve(evaluate(y, p), "calibration_quantile")
    assert untied.points.rows[1:] == pytest.approx([100.0] * 9, abs=12)  # the clipped scores are ties
    tied = curve(evaluate(y, (p > 0.5).astype(float)), "calibration_quantile")
    assert len(tied.points.rows) == 2
    assert tied.notes.bins_requested == 10
    assert tied.notes.bins_used == 2


def test_reliability_intervals_follow_the_weights() -> None:
    y, p = big(800)
    exact = curve(evaluate(y, p), "calibration_uniform")
    drawn = curve(evaluate(y, p, weight=np.ones(800), intervals={"replicates": 2000}), "calibration_uniform")
    assert (exact.notes.method, drawn.notes.method) == ("exact", "percentile")
    assert exact.points.event_rate == drawn.points.event_rate
    for i, rows in enumerate(exact.points.rows):
        if rows > 60:  # binomial and bootstrap limits agree in large bins
            assert drawn.points.lower[i] == pytest.approx(exact.points.lower[i], abs=0.04)


def test_the_histogram_counts_every_row() -> None:
    points = curve(evaluate(), "histogram").points
    assert len(points.low) == 20
    assert (sum(points.events), sum(points.others)) == (4, 6)
    assert points.events[18] == 1  # 0.9 opens the bin [0.9, 0.95)


def test_clipping_and_a_wrong_event_are_told() -> None:
    results = evaluate(probability=1 - Y, metrics=["log_loss", "roc_auc"], intervals={"method": "none"})
    assert [w.message for w in results.warnings] == [
        (
            "model on data was certain of 10 rows and wrong on 10 of them. Log loss would be infinite, so these "
            "probabilities were limited to 1e-15"
        ),
        (
            "data, model: the ROC AUC is 0.000, below 0.5: check that '1' is the right event and that higher values "
            "mean the event"
        ),
    ]


def test_clipping_of_several_levels_is_told() -> None:
    probabilities = np.array([[1.0, 0.0, 0.0], [0.6, 0.1, 0.3], [0.1, 0.2, 0.7]])
    results = evalpipe.evaluate(
        ["b", "a", "c"], probabilities=probabilities, task="multiclass", levels=["a", "b", "c"], metrics=["log_loss"],
        intervals={"method": "none"})
    assert [w.message for w in results.warnings] == [
        (
            "data, model: 1 outcome given probability 0 did occur. Log loss would be infinite, so 1 probability was "
            "limited to 1e-15"
        )
    ]


def test_given_classes_are_used_as_they_are() -> None:
    results = evalpipe.evaluate(Y, prediction=1 - Y, event=1, metrics=["accuracy"], intervals=FEW)
    assert only(results, "accuracy").value == 0
    assert results.thresholds == []
    assert [curve.curve for curve in results.curves] == ["predictive_values"]  # of the predicted classes


def test_ppv_takes_the_declared_prevalence() -> None:
    results = evaluate(metrics=["ppv", "precision"], prevalence=0.4)
    assert only(results, "ppv").value == pytest.approx(only(results, "precision").value)
    assert only(results, "ppv").params == {"prevalence": 0.4}
    assert evaluate(metrics=["ppv"], prevalence=0.0).rows[0].value == 0


LOGITS = np.log(P.clip(0.01, 0.99) / (1 - P.clip(0.01, 0.99)))


def test_log_odds_become_probabilities() -> None:
    scaled = evalpipe.evaluate(Y, score=LOGITS, scale="logit", event=1, intervals=FEW)
    plain = evaluate()
    assert [row.metric for row in scaled.rows] == [row.metric for row in plain.rows]
    for one, two in zip(scaled.rows, plain.rows, strict=True):
        assert one.value == pytest.approx(two.value, rel=1e-9)
    assert scaled.models[0].scale == "logit"
    assert scaled.warnings == plain.warnings


def test_log_odds_keep_their_digits_at_either_end() -> None:
    results = evalpipe.evaluate([0, 1], score=[-600.0, 600.0], scale="logit", event=1, metrics=["brier"], intervals=FEW)
    points = curve(results, "roc").points
    assert points.threshold[1:] == pytest.approx([1.0, np.exp(-600.0)], rel=1e-12)


def test_a_margin_is_told_not_to_be_calibrated() -> None:
    results = evalpipe.evaluate(Y, score=LOGITS, scale="margin", event=1, intervals=FEW)
    assert [warning.code for warning in results.warnings] == ["margin-as-probability"]
    assert only(results, "brier").value == pytest.approx(only(evaluate(), "brier").value, rel=1e-9)


def test_a_rank_alone_has_ranked_measures() -> None:
    results = evalpipe.evaluate(Y, score=100 * P, event=1, intervals=FEW)
    assert [row.metric for row in results.rows] == ["roc_auc", "average_precision"]
    assert only(results, "roc_auc").value == only(evaluate(), "roc_auc").value
    assert results.confusion == []
    assert {c.curve for c in results.curves} == {
        "roc", "pr", "thresholds", "gain", "lift", "histogram", "gain_table", "ks", "roc_band",
        "pr_band", "gain_band",
    }
    assert sum(curve(results, "histogram").points.events) == 4
    assert curve(results, "histogram").points.low[0] == 10
    assert set(evalpipe.render(results, ["html"])) == {"card.html"}


def test_a_rank_with_a_threshold_has_classes(tmp_path: Any) -> None:
    (tmp_path / "a.csv").write_text("y,s\n" + "\n".join(f"{y},{100 * p}" for y, p in zip(Y, P, strict=True)))
    spec = {
        "evalpipe": 1, "name": "rank", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"a": {"path": str(tmp_path / "a.csv")}}, "models": {"m": {"score": "s", "threshold": 50}},
        "metrics": ["sensitivity", "roc_auc"], "intervals": FEW,
    }
    results = evalpipe.run(spec)
    assert results.confusion[0].counts == [[3, 1], [2, 4]]
    assert results.confusion[0].at_threshold == 1
    assert "when the score is at least 50" in evalpipe.render(results, ["html"])["card.html"].decode()


def test_rates_are_those_of_predicting_from_each_threshold_upwards() -> None:
    points = curve(evaluate(), "thresholds").points
    for t, sensitivity, specificity, precision, tested in zip(*points.columns.values(), strict=True):
        picked = t <= P
        assert sensitivity == pytest.approx(picked[Y == 1].mean())
        assert specificity == pytest.approx((~picked)[Y == 0].mean())
        assert precision == pytest.approx(Y[picked].mean())
        assert tested == pytest.approx(picked.mean())
    assert points.threshold == sorted(set(P), reverse=True)


def test_refinement_is_what_calibrating_a_rounded_probability_leaves() -> None:
    y, p = big()
    results = evaluate(y, p, metrics=["brier_refinement"])
    found = curve(results, "refinement")
    rounded = np.round(p, 2)
    rate = np.array([y[rounded == value].mean() for value in np.unique(rounded)])
    assert found.points.event_rate == pytest.approx(rate, rel=1e-12)
    assert found.points.refinement == pytest.approx(rate * (1 - rate), rel=1e-12)
    assert found.notes.mean == pytest.approx(results.rows[0].value, rel=1e-12)
