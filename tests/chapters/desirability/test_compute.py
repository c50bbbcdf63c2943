"""Desirability through a whole run: against loops over the same replicates; ties, gaps, weights, the Pareto front."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from card.blocks import lines, tables
from engine.runs import BOTH, intervals, numbers, people, read_sample, run
from evalpipe.card.page import plain
from evalpipe.chapters.desirability.card_models import sections
from evalpipe.chapters.desirability.records import Individual
from evalpipe.errors import DataError
from evalpipe.findings.words import with_limits
from evalpipe.intervals.bootstrap import monte_carlo_error
from evalpipe.intervals.resampling import Design, replicate_weights
from evalpipe.results import Results

DRAWS = 300
MODELS = {
    "p": {"probability": "p", "characteristics": {"features": 18, "licence": "open"}},
    "q": {"probability": "q", "characteristics": {"features": 5, "licence": "closed"}},
    "r": {"probability": "q", "threshold": 0.3, "characteristics": {"features": 2, "licence": "open"}},
}
GOALS: list[dict[str, Any]] = [
    {"metric": "brier", "minimize": {"low": 0.1, "high": 0.25, "scale": 2}},
    {"metric": "sensitivity", "maximize": {"low": 0.2, "high": 0.9}, "weight": 3},
    {"metric": "specificity", "box": {"low": 0.8, "high": 1.0}},
    {"characteristic": "features", "target": {"low": 0, "target": 4, "high": 30}},
    {"characteristic": "licence", "category": {"open": 1.0, "closed": 0.4}, "weight": 0.5},
]
WEIGHTS = [1, 3, 1, 1, 0.5]
PLAIN: dict[str, Any] = {"models": MODELS, "metrics": ["accuracy"], "intervals": intervals(DRAWS)}


@cache
def whole() -> Results:
    return run(people(300), desirability=GOALS, **PLAIN)


def judged(y: Any, score: Any, cut: float, facts: dict[str, Any], weight: Any) -> list[float]:
    """Return the five desirabilities of a model, written plainly."""
    brier = np.average((score - y) ** 2, weights=weight)
    said = score >= cut
    sensitivity = weight[y & said].sum() / weight[y].sum()
    specificity = weight[~y & ~said].sum() / weight[~y].sum()
    features = facts["features"]
    return [
        (1 if brier < 0.1 else 0 if brier > 0.25 else (0.25 - brier) / 0.15) ** 2,
        0 if sensitivity < 0.2 else 1 if sensitivity > 0.9 else (sensitivity - 0.2) / 0.7,
        1.0 if 0.8 <= specificity <= 1 else 0.0,
        features / 4 if features <= 4 else (30 - features) / 26,
        {"open": 1.0, "closed": 0.4}[facts["licence"]],
    ]


def together(d: list[float], weights: list[float]) -> float:
    product = 1.0
    for one, weight in zip(d, weights, strict=True):
        product *= one**weight
    return float(product ** (1 / sum(weights)))


@cache
def by_loops() -> tuple[np.ndarray, np.ndarray]:
    """Return the desirabilities [m, k] and those in each replicate [m, k, B], from the rows and their draws."""
    sample = read_sample(people(300), **PLAIN)
    y = np.asarray(sample.truth, bool)
    drawn = [row for batch in replicate_weights(Design(sample.n), DRAWS, 0, "d") for row in batch]
    values, replicates = [], []
    for name, model in MODELS.items():
        score = np.asarray(sample.models[name].probability)
        facts: Any = model["characteristics"]
        rest = (y, score, model.get("threshold", 0.5), facts)
        values.append(judged(*rest, np.ones(sample.n)))
        replicates.append(np.array([judged(*rest, weight) for weight in drawn]).T)
    return np.array(values), np.array(replicates)


def test_a_value_and_its_desirability_have_limits_of_their_own_scales() -> None:
    """Of a sensitivity of 0.955 with limits 1.0 and 1.0, one could not tell what these were limits of."""
    results = run(people(300), desirability=[{"metric": "brier", "minimize": {"low": 0.9, "high": 1.0}}, GOALS[3]],
                  **PLAIN)
    estimates = {row.model: row for row in results.rows if row.metric == "brier"}
    measured, constant = results.desirability.individual[:2]
    brier = estimates["p"]
    assert (measured.value, measured.value_lower, measured.value_upper) == (brier.value, brier.lower, brier.upper)
    assert (measured.desirability, measured.lower, measured.upper) == (1.0, 1.0, 1.0)
    assert (constant.value_lower, constant.value_upper, constant.lower) == (None, None, None)
    cell = next(line[1] for line in lines(next(
        each for each in tables(sections(results)) if "Individual" in plain(each.caption))) if line[0] == "p")
    assert cell == f"1.000 (1.000–1.000) at {with_limits(brier)}"


def test_rows_of_earlier_results_have_no_limits_of_the_value() -> None:
    now = whole().desirability.individual[0]
    earlier = Individual.model_validate(now.model_dump(mode="json", exclude={"value_lower", "value_upper"}))
    assert (earlier.lower, earlier.upper, earlier.value_lower) == (now.lower, now.upper, None)


def test_individual_desirabilities_and_their_limits_are_those_of_plain_loops() -> None:
    values, drawn = by_loops()
    rows = whole().desirability.individual

    # The same sums in another order: far closer than 1e-9.
    assert [row.desirability for row in rows] == pytest.approx(values.ravel(), abs=1e-9)
    assert [row.goal for row in rows[:5]] == [
        "minimize brier", "maximize sensitivity", "box specificity", "target features", "category licence",
    ]
    for m, name in enumerate(MODELS):
        for k in range(3):
            row = rows[5 * m + k]
            assert (row.model, row.weight, row.status) == (name, WEIGHTS[k], "ok")
            assert [row.lower, row.upper] == pytest.approx(np.quantile(drawn[m, k], [0.025, 0.975]), abs=1e-9)
        assert [(row.lower, row.upper, row.level) for row in rows[5 * m + 3 : 5 * m + 5]] == [(None,) * 3] * 2


def test_the_overall_desirability_its_limits_and_the_chance_to_be_best_are_those_of_plain_loops() -> None:
    values, drawn = by_loops()
    plain = [together(list(d), WEIGHTS) for d in values]
    each = np.array([[together(list(drawn[m, :, b]), WEIGHTS) for b in range(DRAWS)] for m in range(3)])
    best = np.zeros(3)
    for b in range(DRAWS):
        first = np.flatnonzero(each[:, b] >= each[:, b].max() - 1e-12)
        best[first] += 1 / len(first) / DRAWS
    rows = whole().desirability.overall

    assert [row.value for row in rows] == pytest.approx(plain, abs=1e-9)
    assert [row.rank for row in rows] == [1 + sum(other > one for other in plain) for one in plain]
    assert [row.probability_best for row in rows] == pytest.approx(best, abs=1e-12)
    assert 0 < best.max() < 1
    for m, row in enumerate(rows):
        assert [row.lower, row.upper] == pytest.approx(np.quantile(each[m], [0.025, 0.975]), abs=1e-9)
        assert row.monte_carlo_error == pytest.approx(monte_carlo_error(each[m], 0.95), abs=1e-9)
        assert row.level == 0.95


def test_the_weights_are_halved_and_doubled_one_by_one() -> None:
    values, _ = by_loops()
    rows = iter(whole().desirability.sensitivity)
    for k, goal in enumerate(whole().desirability.goals):
        for factor in (0.5, 2.0):
            weights = [weight * factor if i == k else weight for i, weight in enumerate(WEIGHTS)]
            plain = [together(list(d), weights) for d in values]
            found = [next(rows) for _ in MODELS]
            assert {(row.goal, row.factor) for row in found} == {(goal.goal, factor)}
            assert [row.value for row in found] == pytest.approx(plain, abs=1e-9)
            assert [row.first for row in found] == [one == max(plain) for one in plain]
    assert next(rows, None) is None


def test_random_weightings_name_the_best_as_often_as_uniform_weights_do() -> None:
    values, _ = by_loops()
    weights = np.random.default_rng(1).dirichlet(np.ones(5), 40_000)
    found_by = np.array([[np.prod(d**w) for w in weights] for d in values])
    expected = np.bincount(found_by.argmax(axis=0), minlength=3) / 40_000
    found = [row.weights_best for row in whole().desirability.overall]

    # Two shares of 10,000 and 40,000 draws: five standard errors are below 0.03.
    assert found == pytest.approx(expected, abs=0.03)
    assert sum(share or 0 for share in found) == pytest.approx(1)


def test_the_front_is_by_values_in_the_direction_of_each_goal() -> None:
    frame = people(300)
    same = [{"metric": "brier", "minimize": {"low": 0.3, "high": 0.5}}]  # d = 1 for all
    rows = run(frame, models=BOTH, desirability=same, intervals={"method": "none"}).desirability
    brier = {row.model: row.value for row in rows.individual}

    assert [row.value for row in rows.overall] == [1, 1]
    assert [row.rank for row in rows.overall] == [1, 1]
    assert {row.model: row.pareto for row in rows.overall} == {
        name: value == min(brier.values()) for name, value in brier.items()}
    assert len(set(brier.values())) == 2


def test_the_front_knows_distances_to_a_target() -> None:
    models = {name: {"probability": "p", "characteristics": {"size": size}}
              for name, size in {"a": 8, "b": 13, "c": 12}.items()}
    goal = [{"characteristic": "size", "target": {"low": 0, "target": 10, "high": 20}}]
    rows = run(people(100), models=models, desirability=goal, intervals={"method": "none"}).desirability.overall

    assert [row.pareto for row in rows] == [True, False, True]
    assert [row.rank for row in rows] == [1, 3, 1]


def test_models_with_the_same_predictions_share_the_first_place() -> None:
    twins = {"p": {"probability": "p"}, "also": {"probability": "p"}, "q": {"probability": "q"}}
    goals = [{"metric": "roc_auc", "maximize": {"low": 0.5, "high": 1}}, {"metric": "brier", "minimize": {
        "low": 0, "high": 0.25}}]
    rows = run(people(300), models=twins, desirability=goals, intervals=intervals(200)).desirability.overall

    assert rows[0].probability_best == rows[1].probability_best
    assert sum(row.probability_best or 0 for row in rows) == pytest.approx(1)
    assert (rows[0].rank, rows[1].rank, rows[2].rank) == (1, 1, 3)


def without_events(goal: dict[str, Any]) -> Any:
    """Run on rows of which some replicates hold no event, so that their sensitivity is undefined."""
    frame = pl.DataFrame({"y": [1, 1] + [0] * 18, "p": np.linspace(0.9, 0.1, 20), "q": np.linspace(0.1, 0.9, 20)})
    goals = [goal, {"metric": "specificity", "maximize": {"low": 0, "high": 1}}]
    return run(frame, models=BOTH, desirability=goals, intervals=intervals(400)).desirability


def test_replicates_without_a_value_are_counted_and_won_by_nobody() -> None:
    found = without_events({"metric": "sensitivity", "maximize": {"low": -1, "high": 1}})
    gaps = found.overall[0].undefined_replicates

    assert 20 < gaps < 100  # 0.9^20 = 0.12 of 400
    assert found.overall[0].status == "degenerate"
    assert found.overall[0].reason == f"undefined in {gaps} of 400 replicates"
    assert sum(row.probability_best or 0 for row in found.overall) == pytest.approx(1 - gaps / 400)


def test_missing_says_what_a_replicate_without_a_value_counts() -> None:
    found = without_events({"metric": "sensitivity", "maximize": {"low": -1, "high": 1}, "missing": 0.2})

    assert [row.undefined_replicates for row in found.overall] == [0, 0]
    assert sum(row.probability_best or 0 for row in found.overall) == pytest.approx(1)


def test_an_undefined_measure_leaves_the_overall_undefined_with_the_reason() -> None:
    frame = pl.DataFrame({"y": [0] * 20, "p": np.linspace(0.9, 0.1, 20)})
    spec: dict[str, Any] = {"outcome": {"column": "y", "event": 1, "levels": [0, 1]}, "intervals": intervals(100)}
    goals = [{"metric": "sensitivity", "maximize": {"low": 0, "high": 1}}, {"metric": "brier", "minimize": {
        "low": 0, "high": 1}}]
    found = run(frame, desirability=goals, **spec).desirability
    counted = run(frame, desirability=[{**goals[0], "missing": 0.25}, goals[1]], **spec).desirability

    (row,) = found.overall
    assert (row.value, row.status, row.reason) == (None, "undefined", "no desirability in: maximize sensitivity")
    assert (row.rank, row.probability_best, row.pareto, row.weights_best) == (None, None, None, None)
    assert (found.individual[0].desirability, found.individual[0].status) == (None, "undefined")
    assert found.individual[0].reason == "no events"
    (row,) = counted.overall
    assert row.value == pytest.approx(np.sqrt(0.25 * (counted.individual[1].desirability or 0)))
    assert counted.individual[0].reason == "no events; counts 0.25, as 'missing' says"


def test_a_missing_characteristic_counts_what_the_goal_says() -> None:
    models = {"a": {"probability": "p", "characteristics": {"size": 5}}, "b": {"probability": "q"}}
    goals = [{"characteristic": "size", "minimize": {"low": 0, "high": 10}, "missing": 0.3}]
    found = run(people(60), models=models, desirability=goals, intervals=intervals(100)).desirability

    assert [row.value for row in found.overall] == pytest.approx([0.5, 0.3])
    assert [row.pareto for row in found.overall] == [True, False]
    assert [(row.lower, row.probability_best) for row in found.overall] == [(None, None)] * 2


def test_a_value_beyond_the_points_ends_the_run_where_the_goal_asks_for_that() -> None:
    points = {"values": [0.9, 1], "desirability": [0, 1], "extrapolate": "error"}
    with pytest.raises(DataError) as caught:
        run(people(100), desirability=[{"metric": "accuracy", "custom": points}], intervals={"method": "none"})

    assert str(caught.value) == (
        "error[beyond-points]: p on d is 0.74, beyond the points of the goal 'custom accuracy', 0.9 to 1\n  = help: "
        "add a point, or write 'extrapolate: clamp' or 'zero'"
    )


def test_variants_are_candidates_with_the_characteristics_of_their_model() -> None:
    goals = [{"metric": "log_loss", "minimize": {"low": 0, "high": 1}}, {"characteristic": "features", "minimize": {
        "low": 0, "high": 20}}]
    found = run(people(300), models={"p": MODELS["p"]}, desirability=goals, intervals=intervals(100), recalibrate={
        "fit_on": {"folds": 3}, "methods": ["logistic"]}).desirability

    assert [(row.model, row.variant) for row in found.overall] == [("p", "original"), ("p", "logistic")]
    assert [row.value for row in found.individual if row.characteristic] == [18, 18]
    assert sum(row.probability_best or 0 for row in found.overall) == pytest.approx(1)


def test_only_the_measures_of_goals_are_drawn_beside_those_that_need_it_anyway() -> None:
    from evalpipe.data.catalog import look
    from evalpipe.plan.resolve import plan
    from evalpipe.plan.sources import sources
    from evalpipe.run import load

    spec = load({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"d": {"path": "memory"}}, "models": BOTH, "metrics": ["accuracy", "npv_sample", "sensitivity"],
        "compare": {"pairs": "none"},
        "desirability": [{"metric": "recall", "box": {"low": 0.5, "high": 1}}, {"metric": "f_beta", "beta": 2,
                         "maximize": {"low": 0, "high": 1}}],
    })
    made = plan(spec, look(sources(spec), {"d": people(50)}))

    assert [entry.metric.name for entry in made.metrics] == ["accuracy", "npv_sample", "sensitivity", "f_beta"]
    assert [made.draws(entry) for entry in made.metrics] == [False, False, True, True]
    assert [entry.drawn for entry in made.metrics] == [False, False, False, True]


def test_goals_change_no_other_number() -> None:
    plain = run(people(300), **PLAIN)
    found = whole()

    assert [row for row in found.rows if row.metric == "accuracy"] == plain.rows
    assert plain.desirability.goals == plain.desirability.overall == []


@pytest.mark.parametrize("weight", ["frequency", None])
def test_a_weight_of_3_is_three_rows_and_their_order_changes_nothing(weight: str | None) -> None:
    frame = people(120)
    goals = [{"metric": "brier", "minimize": {"low": 0, "high": 0.4}}, {"metric": "accuracy", "box": {
        "low": 0.72, "high": 1}}]
    keys: dict[str, Any] = {"models": BOTH, "desirability": goals, "intervals": intervals(100)}
    if weight:
        repeated = frame.select(pl.exclude("times").repeat_by("times").explode())
        counted = run(frame, **keys, weight={"column": "times", "kind": weight}).desirability
        found = run(repeated, **keys).desirability
        assert [row.value for row in counted.overall] == pytest.approx([row.value for row in found.overall], abs=1e-12)
        assert [row.weights_best for row in counted.overall] == [row.weights_best for row in found.overall]
    else:
        first, second = run(frame, **keys), run(frame.sample(fraction=1, shuffle=True, seed=1), **keys)
        assert first.desirability == second.desirability


def test_threads_change_nothing() -> None:
    one, two = (run(people(300), desirability=GOALS, **PLAIN, engine={"workers": workers}) for workers in (1, 2))

    assert numbers(one) == numbers(two)


def test_classes_are_averaged_and_each_dataset_is_judged_for_itself() -> None:
    generator = np.random.default_rng(3)

    def frame(n: int) -> pl.DataFrame:
        raw = generator.dirichlet(np.ones(3), n)
        truth = [str(generator.choice(["a", "b", "c"], p=row)) for row in raw]
        return pl.DataFrame({"y": truth, **{f"p_{level}": raw[:, k] for k, level in enumerate("abc")}})

    goals = [{"metric": "recall", "average": "micro", "maximize": {"low": 0, "high": 1}},
             {"metric": "kappa", "maximize": {"low": 0, "high": 1}}]
    results = run(
        {"d": frame(200), "e": frame(150)}, task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]},
        models={"m": {"probabilities": "p_{level}"}}, metrics=["sensitivity"], desirability=goals,
        intervals={"replicates": 100},
    )
    found = results.desirability
    known = {(row.dataset, row.metric, row.average): row.value for row in results.rows}

    assert [goal.goal for goal in found.goals] == ["maximize sensitivity (average=micro)", "maximize kappa"]
    assert [row.dataset for row in found.overall] == ["d", "e"]
    for row in found.individual:
        assert row.value == known[row.dataset, row.metric, row.average]
    assert [row.probability_best for row in found.overall] == [1, 1]


def test_a_goal_that_rewards_the_worse_end_gives_a_warning() -> None:
    goals = [{"metric": "accuracy", "minimize": {"low": 0, "high": 1}}, {"metric": "brier", "minimize": {
        "low": 0, "high": 1}}, {"metric": "detection_prevalence", "maximize": {"low": 0, "high": 1}}]
    results = run(people(100), desirability=goals, intervals={"method": "none"})

    assert [(w.code, w.message) for w in results.warnings if w.code.startswith("goal")] == [(
        "goal-against-direction",
        "the goal 'minimize accuracy' rewards worse models: accuracy is better when it is high",
    )]


def test_curves_hold_limits_jumps_and_all_that_was_found() -> None:
    goals = {goal.goal: goal for goal in whole().desirability.goals}
    brier, inside, features = (goals[name] for name in ("minimize brier", "box specificity", "target features"))
    values = [row.value for row in whole().desirability.individual if row.goal == "minimize brier"]

    assert brier.x == sorted(brier.x)
    assert all(brier.x[0] <= value <= brier.x[-1] for value in values if isinstance(value, float))
    assert {0.1, 0.25} <= set(brier.x)
    at = dict(zip(inside.x, inside.desirability, strict=True))
    assert (at[0.8], at[float(np.nextafter(0.8, 0))], at[1.0], at[float(np.nextafter(1.0, 2))]) == (1, 0, 1, 0)
    assert dict(zip(features.x, features.desirability, strict=True))[4.0] == 1
    assert goals["category licence"].x == []
