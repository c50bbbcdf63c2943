"""Outcomes of several levels through `evalpipe.evaluate`: averages, absent classes, ties, priors, costs and curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.errors import UsageError
from evalpipe.results import Curve, Estimate, Results

LEVELS = ["low", "middle", "high"]
FEW = {"replicates": 200}


def drawn(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    codes = generator.choice(3, n, p=[0.5, 0.3, 0.2])
    chances = generator.dirichlet([1, 1, 1], n)
    chances[np.arange(n), codes] += 0.4
    return codes, chances / chances.sum(axis=1, keepdims=True)


CODES, CHANCES = drawn()
TRUTH = np.array(LEVELS)[CODES]


def evaluate(truth: Any = TRUTH, probabilities: Any = CHANCES, **options: Any) -> Results:
    usual = {"task": "multiclass", "levels": LEVELS, "probabilities": probabilities, "intervals": FEW}
    return evalpipe.evaluate(truth, **(usual | options))


def rows(results: Results, metric: str) -> list[Estimate]:
    return [row for row in results.rows if row.metric == metric]


def test_each_average_is_an_estimate_of_its_own() -> None:
    averages = ["macro", "macro_weighted", "micro", "none"]
    found = rows(evaluate(metrics=[{"metric": "precision", "average": averages}]), "precision")
    assert [(row.average, row.class_) for row in found] == [
        ("macro", None), ("macro_weighted", None), ("micro", None), *(("none", level) for level in LEVELS),
    ]
    picked = CHANCES.argmax(axis=1)
    each = [(CODES[picked == k] == k).mean() for k in range(3)]
    assert [row.value for row in found] == pytest.approx(
        [np.mean(each), np.average(each, weights=np.bincount(CODES)), (picked == CODES).mean(), *each], rel=1e-12)
    assert [row.method for row in found] == ["percentile"] * 3 + ["exact"] * 3
    assert [row.n for row in found[3:]] == np.bincount(picked).tolist()
    assert [row.events for row in found[3:]] == [(CODES[picked == k] == k).sum() for k in range(3)]
    assert [row.classes_used for row in found] == [3, 3, None, None, None, None]


def test_macro_is_the_default_and_binary_measures_have_no_average() -> None:
    assert [row.average for row in rows(evaluate(metrics=["recall"]), "sensitivity")] == ["macro"]
    binary = evalpipe.evaluate(CODES == 0, CHANCES[:, 0], event=True, metrics=["recall"], intervals=FEW)
    assert [row.average for row in binary.rows] == [None]


def test_a_class_that_does_not_occur_makes_a_mean_degenerate() -> None:
    kept = CODES != 2
    results = evaluate(TRUTH[kept], CHANCES[kept], metrics=["sensitivity", "balanced_accuracy", "hand_till_auc"])
    for row in results.rows:
        assert (row.status, row.classes_used) == ("degenerate", 2)
        assert row.reason == "over 2 of 3 classes; no value for 'high'"
    said = [warning.message for warning in results.warnings]
    assert said[0] == "no row of dataset 'data' has the level 'high'; averages are over the other levels"
    assert said[1] == (
        "data, model: sensitivity (macro) is no mean over all classes: it is over 2 of 3 classes; no value for 'high'"
    )


def test_of_equal_probabilities_the_first_level_is_predicted_and_counted() -> None:
    even = np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.1, 0.2, 0.7]])
    found = evaluate(["low", "low", "high"], even, metrics=["accuracy"]).confusion[0]
    assert found.counts == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert found.tied == 2


def test_given_levels_count_as_the_most_probable_ones_do() -> None:
    predicted = np.array(LEVELS)[CHANCES.argmax(axis=1)]
    metrics = ["accuracy", "kappa", "mcc", {"metric": "f1", "average": "macro"}]
    given = evaluate(probabilities=None, prediction=predicted, metrics=metrics)
    assert [row.value for row in given.rows] == [row.value for row in evaluate(metrics=metrics).rows]


def test_a_prior_of_each_level_enters_its_own_class() -> None:
    priors = {"low": 0.1, "middle": 0.2, "high": 0.7}
    asked = {"metric": "ppv", "average": ["none", "macro"]}
    found = rows(evaluate(metrics=[asked], prevalence={"levels": priors}), "ppv")
    picked = CHANCES.argmax(axis=1)
    each = []
    for k, prior in enumerate(priors.values()):
        se, fpr = (picked == k)[k == CODES].mean(), (picked == k)[k != CODES].mean()
        each.append(se * prior / (se * prior + fpr * (1 - prior)))
    assert [row.value for row in found] == pytest.approx([*each, np.mean(each)], rel=1e-12)
    assert [row.params for row in found] == [*({"prevalence": prior} for prior in priors.values()), {}]


def test_costs_are_named_triples() -> None:
    costs = [{"truth": "low", "predicted": "high", "cost": 10}, {"truth": "high", "predicted": "low", "cost": 3}]
    results = evaluate(metrics=["cost", "expected_cost"], costs=costs)
    picked = CHANCES.argmax(axis=1)
    hard = 10 * ((CODES == 0) & (picked == 2)) + 3 * ((CODES == 2) & (picked == 0))
    soft = 10 * CHANCES[:, 2] * (CODES == 0) + 3 * CHANCES[:, 0] * (CODES == 2)
    assert [row.value for row in results.rows] == pytest.approx([hard.mean(), soft.mean()], rel=1e-12)
    assert results.metrics[0].matrices == {"costs": [[0, 0, 10], [0, 0, 0], [3, 0, 0]]}
    assert results.rows[0].params == {}


def test_costs_are_told_beside_those_of_predicting_one_level_for_all() -> None:
    costs = [{"truth": "low", "predicted": "high", "cost": 10}, {"truth": "high", "predicted": "low", "cost": 3}]
    results = evaluate(metrics=["cost"], costs=costs)
    assert [each.model_dump() for each in results.costs] == costs
    expected = [3 * (CODES == 2).mean(), 0.0, 10 * (CODES == 0).mean()]
    assert [each.cost for each in results.cost_references] == pytest.approx(expected, rel=1e-12)
    assert [each.level for each in results.cost_references if each.cheapest] == [results.levels[1]]


def test_a_measure_of_no_average_takes_every_class_in_the_bootstrap() -> None:
    found = rows(evaluate(metrics=[{"metric": "roc_auc", "average": "none"}]), "roc_auc")
    for k, row in enumerate(found):
        alone = evalpipe.evaluate(k == CODES, CHANCES[:, k], event=True, metrics=["roc_auc"], intervals=FEW)
        assert row.value == pytest.approx(alone.rows[0].value, rel=1e-12)
        assert row.lower is not None
        assert row.lower < row.value < row.upper


def test_the_order_of_rows_changes_no_byte() -> None:
    order = np.random.default_rng(1).permutation(len(TRUTH))
    moved = evaluate(TRUTH[order], CHANCES[order])
    assert moved.to_json() == evaluate().to_json()


def test_every_class_has_its_curves_and_every_cut_of_ordered_ones() -> None:
    results = evaluate(task="ordinal")

    def of(name: str) -> list[str | None]:
        return [curve.class_ for curve in results.curves if curve.curve == name]

    assert of("roc") == of("pr") == of("calibration_uniform") == LEVELS
    assert of("cumulative_calibration_uniform") == LEVELS[:-1]
    cut = next(c for c in results.curves if (c.curve, c.class_) == ("cumulative_calibration_uniform", "low"))
    above, chance = CODES > 0, CHANCES[:, 1:].sum(axis=1)
    place = np.minimum((chance * 10).astype(int), 9)
    expected = [above[place == b].mean() for b in range(10) if (place == b).any()]
    assert cut.points.event_rate == pytest.approx(expected, rel=1e-12)


def test_the_predicted_class_has_a_reliability_diagram() -> None:
    results = evaluate(metrics=["top_label_ece"])
    (curve,) = [c for c in results.curves if c.curve == "top_label_calibration_uniform"]
    sure, right = CHANCES.max(axis=1), CHANCES.argmax(axis=1) == CODES
    place = np.minimum((sure * 10).astype(int), 9)
    used = [b for b in range(10) if (place == b).any()]
    assert curve.class_ is None
    assert curve.points.event_rate == pytest.approx([right[place == b].mean() for b in used], rel=1e-12)
    assert curve.points.mean_probability == pytest.approx([sure[place == b].mean() for b in used], rel=1e-12)
    assert curve.points.rows == [(place == b).sum() for b in used]


@pytest.mark.parametrize("total", [0.5, 2.0])
def test_renormalise_divides_by_the_sum(total: float) -> None:
    import polars as pl

    frame = pl.DataFrame({"y": TRUTH, **{level: total * CHANCES[:, k] for k, level in enumerate(LEVELS)}})
    if total > 1:
        frame = frame.with_columns(pl.col(level) / 2 + 1e-9 for level in LEVELS)
    spec = {
        "evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
        "datasets": {"data": {"path": "memory"}}, "metrics": ["log_loss"], "intervals": {"method": "none"},
        "models": {"m": {"probabilities": "{level}", "renormalise": True}},
    }
    found = evalpipe.run(spec, frames={"data": frame}).rows[0].value
    assert found == pytest.approx(-np.log(CHANCES[np.arange(300), CODES]).mean(), rel=1e-8)  # 1e-9 was added above


def test_scores_become_probabilities_by_the_softmax() -> None:
    import polars as pl
    from scipy.special import softmax

    scores = np.random.default_rng(4).normal(0, 300, (300, 3))  # so large that exp alone would overflow
    frame = pl.DataFrame({"y": TRUTH, **{f"z_{level}": scores[:, k] for k, level in enumerate(LEVELS)}})
    spec = {
        "evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
        "datasets": {"data": {"path": "memory"}}, "metrics": ["brier"], "intervals": {"method": "none"},
        "models": {"m": {"scores": "z_{level}"}},
    }
    chances = softmax(scores, axis=1)
    results = evalpipe.run(spec, frames={"data": frame})
    expected = ((chances - np.eye(3)[CODES]) ** 2).sum(axis=1).mean() / 2
    assert results.rows[0].value == pytest.approx(expected, rel=1e-12)
    assert results.models[0].columns == {f"score of {level}": f"z_{level}" for level in LEVELS}


def test_a_table_of_another_shape_is_told() -> None:
    with pytest.raises(UsageError) as caught:
        evaluate(probabilities=CHANCES[:, :2])
    assert str(caught.value) == (
        "error[not-a-table]: probabilities of 'model' are of shape [300, 2], not [n, 3]\n"
        "  = help: give a column of probabilities for each of 'levels', in their order"
    )


def test_numbers_are_evaluated_too() -> None:
    generator = np.random.default_rng(2)
    y = generator.normal(10, 3, 200)
    results = evalpipe.evaluate(y, task="regression", prediction=y + 1, metrics=["rmse", "r2"], intervals=FEW)
    assert [row.value for row in results.rows] == pytest.approx([1, 1 - 200 / ((y - y.mean()) ** 2).sum()], rel=1e-12)
    assert results.datasets[0].outcome["mean"] == pytest.approx(y.mean())
    assert results.datasets[0].outcome["median"] == pytest.approx(np.median(y))
    assert (results.levels, results.event, results.rows[0].events) == ([], None, None)


def test_the_baseline_of_r2_may_be_the_training_mean() -> None:
    import polars as pl

    y, train = np.array([1.0, 2.0, 4.0]), np.array([0.0, 3.0])
    spec = {
        "evalpipe": 1, "name": "x", "task": "regression", "outcome": {"column": "y"}, "id": "row",
        "datasets": {"new": {"path": "memory"}, "old": {"path": "memory", "role": "reference"}},
        "models": {"m": {"prediction": "p"}}, "metrics": [{"metric": "r2", "baseline": "training"}, "r2"],
        "intervals": {"method": "none"},
    }
    frames = {
        "new": pl.DataFrame({"row": [1, 2, 3], "y": y, "p": y + 0.5}),
        "old": pl.DataFrame({"row": [4, 5], "y": train}),
    }
    found = [row.value for row in evalpipe.run(spec, frames=frames).rows]
    assert found == pytest.approx([1 - 0.75 / ((y - 1.5) ** 2).sum(), 1 - 0.75 / ((y - y.mean()) ** 2).sum()])


def curve(results: Results, name: str) -> Curve:
    return next(found for found in results.curves if found.curve == name)


def test_the_residuals_of_numbers_have_curves() -> None:
    y = np.arange(50.0)
    results = evalpipe.evaluate(y, task="regression", prediction=y - 2, metrics=["rmse"], intervals=FEW)
    assert set(curve(results, "residual_quantiles").points.residual) == {2.0}
