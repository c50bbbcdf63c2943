"""Ranked lists of documents are read from a table, and a query is an item with a score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import DataError, SpecError
from evalpipe.results import Results
from evalpipe.run import plan, run

MODELS = {"bm25": {"ranking": {"relevance": "rel", "score": "bm25"}},
          "dense": {"ranking": {"relevance": "rel", "score": "dense"}}}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "search", "task": "score", "item": "q", "models": MODELS,
    "score": {"better": "higher", "range": [0, 1], "of": {"metric": "ndcg", "k": 2}},
    "datasets": {"test": {"path": "memory"}}, "metrics": ["mean", {"metric": "ndcg", "k": 2}, "mrr"],
    "intervals": {"replicates": 100}, "report": {"formats": []}}
ROWS = pl.DataFrame({
    "q": ["b", "b", "b", "a", "a", "a"], "topic": ["t2"] * 3 + ["t1"] * 3,
    "rel": [0, 2, None, 1, 0, 3],
    "bm25": [3.0, 2.0, 1.0, None, 2.0, 1.0], "dense": [1.0, 3.0, 2.0, 2.0, 1.0, 3.0]})


def results_of(frame: pl.DataFrame = ROWS, **keys: Any) -> Results:
    return run(SPEC | keys, frames={"test": frame})


def values(results: Results, metric: str) -> dict[str, float | None]:
    return {row.model: row.value for row in results.rows if row.metric == metric and row.slice is None}


def test_a_query_is_an_item_whose_score_is_the_measure_of_its_list() -> None:
    results = results_of()
    # bm25: b ranks 0, 2, unjudged; a ranks 0, 3, and the document of relevance 1 was not retrieved.
    discount = 1 / np.log2(3)
    of_b, of_a = discount, 3 * discount / (3 + discount)
    assert values(results, "ndcg") == {"bm25": pytest.approx((of_a + of_b) / 2, rel=1e-12), "dense": 1}
    assert values(results, "mean") == values(results, "ndcg")
    assert values(results, "mean_reciprocal_rank") == {"bm25": 0.5, "dense": 1}
    assert [dataset.n for dataset in results.datasets] == [2]
    assert [row.items for row in results.scored] == [2, 2]


def test_the_order_of_rows_changes_nothing() -> None:
    assert results_of(ROWS.reverse()).rows == results_of().rows


def test_the_spec_of_the_page_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
    (spec,) = (block for block in page.split("```") if "\nname: search\n" in block)
    (tmp_path / "search.yaml").write_text(spec.removeprefix("yaml\n") + "report: {formats: []}\n", encoding="utf-8")
    ROWS.rename({"q": "query"}).write_parquet(tmp_path / "runs.parquet")
    results = run(tmp_path / "search.yaml", out=tmp_path / "out")
    assert values(results, "ndcg")["dense"] == 1


def test_slices_and_conditions_are_of_queries() -> None:
    sliced = results_of(slices=["topic"], slice_rules={"min_rows": 1})
    of_topic = {row.slice["topic"]: row.value for row in sliced.rows
                if row.slice and (row.model, row.metric) == ("bm25", "mean_reciprocal_rank")}
    assert of_topic == {"t1": 0.5, "t2": 0.5}
    one = results_of(datasets={"test": {"path": "memory", "where": "topic = 't2'"}})
    assert values(one, "ndcg")["bm25"] == pytest.approx(1 / np.log2(3), rel=1e-12)


EMPTY = pl.concat([ROWS, pl.DataFrame({"q": ["c"], "topic": ["t2"], "rel": [0], "bm25": [1.0], "dense": [1.0]})],
                  how="vertical_relaxed")


@pytest.mark.parametrize(("rule", "factor", "items"), [(0, 2 / 3, 3), ("leave_out", 1.0, 2)])
def test_a_query_without_a_relevant_document_counts_as_the_spec_says(rule: Any, factor: float, items: int) -> None:
    results = results_of(EMPTY, score=SPEC["score"] | {"missing": rule})
    for metric in ("mean", "ndcg", "mean_reciprocal_rank"):
        assert values(results, metric)["dense"] == pytest.approx(factor)
    assert [row.items for row in results.scored] == [items, items]


def test_without_a_rule_a_query_without_a_relevant_document_is_an_error() -> None:
    with pytest.raises(DataError, match="1 for no relevant document"):
        results_of(EMPTY)


def test_a_measure_of_another_least_relevance_has_no_value_where_a_query_has_none() -> None:
    results = results_of(metrics=[{"metric": "recall_at", "k": 2, "relevant_from": 3}])
    (row, _) = results.rows
    assert (row.value, row.status) == (None, "undefined")


@pytest.mark.parametrize(("keys", "frame", "message"), [
    ({"score": {"better": "higher"}}, ROWS, "which measure of a list is the score"),
    ({"score": SPEC["score"] | {"of": "mean"}}, ROWS, "mean is no measure of a ranked list"),
    ({"score": {"better": "lower", "of": "ndcg"}}, ROWS, "higher values of ndcg are better"),
    ({"item": None}, ROWS, "no column names the query"),
    ({"epoch": "topic"}, ROWS, "a ranked list has no epochs"),
    ({"models": MODELS | {"x": {"score": "dense"}}}, ROWS, "'bm25' has a ranking, and 'x' has none"),
    ({"models": {"x": {"score": "dense"}}, "metrics": ["ndcg"]}, ROWS, "ndcg needs ranked lists"),
    ({"models": {"x": {"score": "dense"}}, "metrics": ["mean"]}, ROWS, "no model has a ranking"),
    ({}, ROWS.with_columns(rel=pl.col("rel") - 1), "has a relevance of -1"),
    ({}, ROWS.drop("rel"), "no column 'rel'"),
])
def test_what_cannot_be_ranked_is_refused(keys: dict[str, Any], frame: pl.DataFrame, message: str) -> None:
    with pytest.raises((SpecError, DataError), match=message):
        plan({name: key for name, key in (SPEC | keys).items() if key is not None}, frames={"test": frame})
