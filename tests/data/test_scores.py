"""Scores of items are brought together from wide and long tables and from logs, whatever their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import DataError, SpecError
from evalpipe.results import Results
from evalpipe.run import plan, run

LOGS = Path(__file__).parent / "logs"
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "scores", "task": "score", "score": {"better": "higher", "range": [0, 1]},
    "intervals": {"method": "none"}, "report": {"formats": []}}
MODELS = {"a": {"score": "a"}, "b": {"score": "b"}}


def wide(**columns: Any) -> dict[str, pl.DataFrame]:
    return {"bench": pl.DataFrame(columns)}


def spec(**keys: Any) -> dict[str, Any]:
    return {**SPEC, "datasets": {"bench": {"path": "memory"}}, "models": MODELS, **keys}


def values(results: Results, metric: str = "mean") -> dict[str, float | None]:
    return {row.model: row.value for row in results.rows if row.metric == metric and row.slice is None}


def test_a_row_of_a_wide_table_is_an_item() -> None:
    results = run(spec(), frames=wide(a=[1, 0, 1], b=[0.5, 0.0, 1.0]))
    assert values(results) == {"a": pytest.approx(2 / 3), "b": 0.5}
    assert [dataset.n for dataset in results.datasets] == [3]


def test_epochs_of_an_item_are_one_row() -> None:
    frames = wide(q=["x", "x", "y", "y", "y"], run=[1, 2, 1, 2, 3], a=[1, 0, 1, 1, 0], b=[0, 0, 1, 1, 1])
    asked = ["mean", "flip_rate", {"metric": "pass_at", "k": 2}]
    results = run(spec(item="q", epoch="run", metrics=asked), frames=frames)
    assert values(results) == {"a": pytest.approx((1 / 2 + 2 / 3) / 2), "b": 0.5}
    # Item x flips in its only pair, item y in two of three.
    assert values(results, "flip_rate") == {"a": pytest.approx((1 + 2 / 3) / 2), "b": 0.0}
    assert values(results, "pass_at") == {"a": 1.0, "b": 0.5}
    assert [(row.model, row.items, row.fewest_epochs, row.most_epochs) for row in results.scored] == [
        ("a", 2, 2, 3), ("b", 2, 2, 3)]
    (dataset,), (file,) = results.datasets, results.inputs
    assert (dataset.rows, dataset.n, dataset.excluded_where) == (2, 2, 0)
    assert (file.rows, file.used_rows) == (5, 5)
    assert [model.columns for model in results.models] == [{"score": "a"}, {"score": "b"}]


def test_a_long_table_says_the_same_as_a_wide_one() -> None:
    long = pl.DataFrame({"q": ["x", "y", "x", "y"], "m": ["A", "A", "B", "B"], "s": [1.0, 0.0, 1.0, 1.0]})
    results = run(spec(item="q", datasets={"bench": {"path": "memory", "long": {"model": "m", "score": "s"}}},
                       models={"a": {"log": {"model": "A"}}, "b": {"log": {"model": "B"}}}), frames={"bench": long})
    assert values(results) == {"a": 0.5, "b": 1.0}


def test_the_order_of_rows_changes_no_byte() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"q": np.repeat(np.arange(40).astype(str), 3), "run": np.tile([1, 2, 3], 40),
                          "topic": np.repeat(rng.choice(["s", "t"], 40), 3), "a": rng.random(120),
                          "b": rng.random(120)})
    asked = spec(item="q", epoch="run", slices=["topic"], intervals={"replicates": 100}, slice_rules={"min_rows": 5})
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    first, second = (run(asked, frames={"bench": frame}) for frame in (table, shuffled))
    assert first.model_dump_json() == second.model_dump_json()


def test_wins_are_over_the_other_models_and_ties_count_half() -> None:
    models = {name: {"score": name} for name in "abc"}
    frames = wide(a=[1, 1], b=[0, 1], c=[0, 0])
    assert values(run(spec(models=models, metrics=["win_rate"]), frames=frames), "win_rate") == {
        "a": (1 + 0.75) / 2, "b": (0.25 + 0.75) / 2, "c": (0.25 + 0) / 2}
    lower = run(spec(models=models, metrics=["win_rate"], score={"better": "lower"}), frames=frames)
    assert values(lower, "win_rate") == {"a": 0.125, "b": 0.5, "c": 0.875}


def test_where_lower_is_better_the_verdict_and_successes_turn() -> None:
    frames = wide(a=[0.1] * 15 + [0.2] * 15, b=[0.3, 0.35, 0.4] * 10)
    results = run(spec(score={"better": "lower", "success": 0.15}, metrics=["mean", "pass_at"],
                       intervals={"replicates": 100}), frames=frames)
    assert [(row.metric, row.verdict) for row in results.comparisons if row.metric == "mean"] == [("mean", "worse")]
    assert values(results, "pass_at") == {"a": 0.5, "b": 0.0}
    assert {metric.name: metric.direction for metric in results.metrics} == {"mean": "minimize", "pass_at": "maximize"}


MISSING = {"q": ["x", "y", "z"], "a": [1.0, None, 0.0], "b": [1.0, 1.0, None]}


@pytest.mark.parametrize(("rule", "means", "items"), [
    (0, {"a": 1 / 3, "b": 2 / 3}, 3), (1, {"a": 2 / 3, "b": 1.0}, 3), ("leave_out", {"a": 1.0, "b": 1.0}, 1)])
def test_missing_scores_count_what_the_spec_says(rule: object, means: dict[str, float], items: int) -> None:
    results = run(spec(item="q", score=SPEC["score"] | {"missing": rule}), frames=wide(**MISSING))
    assert values(results) == pytest.approx(means)
    assert [dataset.n for dataset in results.datasets] == [items]
    assert [(row.model, row.missing, row.lacking) for row in results.scored] == [
        (name, {"no value": 1}, int(rule == "leave_out")) for name in "ab"]
    counts = "is left out" if rule == "leave_out" else f"counts {rule}"
    lacking = [f"bench: {name} has no score for 1 item, which is left out for every model; 1 item is left"
               for name in "ab"] if rule == "leave_out" else []
    assert [warned.message for warned in results.warnings] == [
        *lacking, *(f"bench, {name}: 1 score is missing (1 for no value) and {counts}" for name in "ab")]


@pytest.mark.parametrize("scale", [SPEC["score"], SPEC["score"] | {"missing": "fail"}])
def test_missing_scores_are_an_error_without_a_rule(scale: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"missing-score.*\n?.*1 score of the model 'a' in dataset 'bench' is missing"):
        run(spec(item="q", score=scale), frames=wide(**MISSING))


def test_items_that_a_model_lacks_are_left_out_for_all() -> None:
    long = pl.DataFrame({"q": ["x", "y", "x"], "m": ["A", "A", "B"], "s": [1.0, 0.0, 0.0]})
    results = run(spec(item="q", datasets={"bench": {"path": "memory", "long": {"model": "m", "score": "s"}}},
                       models={"a": {"log": {"model": "A"}}, "b": {"log": {"model": "B"}}}), frames={"bench": long})
    assert values(results) == {"a": 1.0, "b": 0.0}
    assert {row.model: row.lacking for row in results.scored} == {"a": 0, "b": 1}


def test_a_log_of_inspect_is_read_with_its_items_and_facts() -> None:
    logged = spec(
        datasets={"bench": {"inspect": [str(LOGS / "inspect" / "model-a.eval")]}}, slices=["subject"],
        models={"a": {"log": {"model": "mockllm/model-a", "scorer": "match"}}}, metrics=["mean", "flip_rate"],
        score={"better": "higher", "range": [0, 1], "missing": 0})
    results = run(logged)
    assert results.log_runs[0].tool.startswith("inspect")
    assert [file.rows for file in results.inputs] == [results.log_runs[0].samples]
    assert {tuple((row.slice or {}).items()) for row in results.rows} > {()}


def test_the_samples_of_lm_eval_are_read() -> None:
    logged = spec(datasets={"bench": {"lm_eval": str(LOGS / "lm_eval" / "samples_sums_text_*.jsonl")}},
                  models={"a": {"log": {"model": "tests/dummy", "scorer": "exact_match,strict"}}})
    assert values(run(logged))["a"] is not None


def test_what_a_log_has_several_of_is_asked_for() -> None:
    with pytest.raises(DataError, match="'match', 'style/characters', 'style/polite' and 'judge'"):
        run(spec(datasets={"bench": {"inspect": str(LOGS / "inspect" / "*")}},
                 models={"a": {"log": {"model": "mockllm/model-a"}}}))


def test_models_of_different_tasks_are_not_paired() -> None:
    models = {"a": {"log": {"model": "tests/dummy", "task": "sums_text", "scorer": "exact_match,strict"}},
              "b": {"log": {"model": "tests/dummy", "task": "sums_choice", "scorer": "acc,none"}}}
    with pytest.raises(DataError, match="'b' is of the task 'sums_choice', and 'a' of 'sums_text'"):
        run(spec(datasets={"bench": {"lm_eval": str(LOGS / "lm_eval" / "samples_*.jsonl")}}, models=models))


def test_a_plan_names_columns_of_items_and_models() -> None:
    planned = plan(spec(item="q", cluster="topic"), frames=wide(q=["x"], topic=["t"], a=[1], b=[0]))
    assert planned.id == "q"
    assert planned.datasets[0].columns[:2] == ("q", "topic")


@pytest.mark.parametrize("where", ["topic = 's'", "topic != 't'"])
def test_conditions_select_items(where: str) -> None:
    frames = wide(q=["x", "y", "z"], topic=["s", "s", "t"], a=[1, 0, 1], b=[0, 0, 1])
    results = run(spec(item="q", datasets={"bench": {"path": "memory", "where": where}}), frames=frames)
    assert values(results) == {"a": 0.5, "b": 0.0}
    assert [(dataset.rows, dataset.excluded_where) for dataset in results.datasets] == [(3, 1)]


def test_a_table_of_scores_is_read_as_its_csv_says(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("q;a;b\nx;1,0;?\ny;0,5;1,0\n", encoding="utf-8")
    csv = {"separator": ";", "decimal": ",", "null": {"b": ["?"]}}
    asked = spec(item="q", score={"better": "higher", "missing": 0}, datasets={
        "bench": {"path": str(tmp_path / "s.csv"), "csv": csv}})

    assert values(run(asked)) == {"a": 0.75, "b": 0.5}

    csv["null"] = {"aa": ["?"], "b": ["?"]}
    with pytest.raises(SpecError, match="the column 'aa', which the data do not have"):
        plan(asked)
    pl.DataFrame({"q": ["x"], "a": [1], "b": [1]}).write_parquet(tmp_path / "s.parquet")
    asked["datasets"]["bench"]["path"] = str(tmp_path / "s.parquet")
    with pytest.raises(SpecError, match="'csv' is declared for dataset 'bench', whose format is parquet"):
        plan(asked)
