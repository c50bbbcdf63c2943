"""What epochs of items used is brought together from tables and logs, and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.results import Results
from evalpipe.run import run

LOGS = Path(__file__).parent / "logs"
COST, PER_SUCCESS = ({"metric": metric, "usage": "cost"} for metric in ("mean_usage", "usage_per_success"))


def spec(**keys: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "agents", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
        "intervals": {"method": "none"}, "report": {"formats": []}, "datasets": {"bench": {"path": "memory"}},
        "models": {name: {"score": name, "usage": {"cost": f"{name} cost"}} for name in "ab"},
        "metrics": ["mean", COST, PER_SUCCESS], **keys}


def values(results: Results, model: str) -> dict[str, float | None]:
    return {row.metric: row.value for row in results.rows if row.model == model}


def test_an_item_is_the_mean_of_its_epochs() -> None:
    frame = pl.DataFrame({
        "q": ["x", "x", "y"], "run": [1, 2, 1], "a": [1, 0, 1], "a cost": [1.0, 3.0, 6.0], "b": [0, 0, 0],
        "b cost": [1, 1, 0]})
    results = run(spec(epoch="run"), frames={"bench": frame})
    assert values(results, "a") == {"mean": 0.75, "mean_usage": 4.0, "usage_per_success": pytest.approx(8 / 1.5)}
    assert values(results, "b") == {"mean": 0.0, "mean_usage": 0.5, "usage_per_success": None}


def test_a_long_table_says_the_same_of_each_model() -> None:
    frame = pl.DataFrame({
        "q": ["x", "y", "x", "y"], "m": ["A", "A", "B", "B"], "s": [1, 0, 1, 1], "cost": [2.0, 4.0, 1.0, 2.0]})
    keys = {"datasets": {"bench": {"path": "memory", "long": {"model": "m", "score": "s"}}},
            "models": {name: {"log": {"model": name.upper()}, "usage": {"cost": "cost"}} for name in "ab"}}
    results = run(spec(**keys), frames={"bench": frame})
    assert values(results, "a") == {"mean": 0.5, "mean_usage": 3.0, "usage_per_success": 6.0}
    assert values(results, "b") == {"mean": 1.0, "mean_usage": 1.5, "usage_per_success": 1.5}


def test_an_answer_that_is_left_out_need_not_say_what_it_used() -> None:
    frame = pl.DataFrame({"q": ["x", "y"], "a": [1, None], "a cost": [2.0, None], "b": [1, 1], "b cost": [1.0, 5.0]})
    results = run(spec(score={"better": "higher", "range": [0, 1], "missing": "leave_out"}), frames={"bench": frame})
    assert values(results, "b") == {"mean": 1.0, "mean_usage": 1.0, "usage_per_success": 1.0}


def test_the_spec_of_the_page_runs(tmp_path: Path) -> None:
    page = (LOGS.parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
    (written,) = (block for block in page.split("```") if "\nname: agents\n" in block)
    (tmp_path / "agents.yaml").write_text(f"{written.removeprefix('yaml')}report: {{formats: []}}\n", encoding="utf-8")
    solved = [int(number % 3 > 0) for number in range(60)]
    pl.DataFrame({
        "problem": [str(number // 2) for number in range(60)], "run": [1, 2] * 30, "a_solved": solved, "a_dollars": 0.5,
        "a_seconds": 2, "b_solved": solved, "b_dollars": 0.1, "b_seconds": 4}).write_csv(tmp_path / "runs.csv")
    results = run(tmp_path / "agents.yaml", out=tmp_path / "out")
    assert values(results, "a")["usage_per_success"] == pytest.approx(0.75)
    assert [gate.verdict for gate in results.gates] == ["pass"]


def test_logs_say_what_answers_used() -> None:
    uses = ["output_tokens", "seconds"]
    keys = {"datasets": {"bench": {"inspect": str(LOGS / "inspect" / "model-b.json")}}, "item": None, "models": {
        "b": {"log": {"model": "mockllm/model-b", "scorer": "match"}, "usage": {use: use for use in uses}}}}
    keys["metrics"] = ["mean", *({"metric": "mean_usage", "usage": use} for use in uses)]
    results = run(spec(**keys), frames=None)
    # A token for each of two answers, in 0.01 and 0.007 seconds: the log.
    assert [row.value for row in results.rows if row.metric == "mean_usage"] == [1, pytest.approx(0.0085)]


def test_an_answer_has_one_usage_whoever_judges_it() -> None:
    frame = pl.DataFrame({
        "q": ["x", "x", "y", "y"], "judge": ["j", "k"] * 2, "a": [1, 0, 1, 1], "a cost": [2.0, 2.0, 6.0, 6.0],
        "b": 1, "b cost": 1.0})
    results = run(spec(judge="judge", score={"better": "higher", "range": [0, 1], "success": 0.5}),
                  frames={"bench": frame})
    assert values(results, "a") == {"mean": 0.75, "mean_usage": 4.0, "usage_per_success": 4.0}
