"""Judges of the same answers: read from tables and logs, complete or refused, and how they differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from click.testing import CliRunner
from statsmodels.stats.anova import anova_lm

from evalpipe.card.contents import card_of
from evalpipe.card.page import Table
from evalpipe.chapters.scores.compute_judges import judge_components
from evalpipe.cli.app import app
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.run import run

LOGS = Path(__file__).parents[2] / "data" / "logs" / "inspect"
ITEMS, EPOCHS, JUDGES = 12, 3, 3
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "judged", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
    "epoch": "run", "judge": "by", "datasets": {"bench": {"path": "memory"}},
    "models": {"a": {"score": "a"}, "b": {"score": "b"}}, "intervals": {"method": "none"}, "report": {"formats": []}}


def drawn(seed: int, items: int = ITEMS, judges: int = JUDGES) -> Any:
    """Return scores [items, judges], in which both differ."""
    rng = np.random.default_rng(seed)
    return (0.5 + rng.normal(0, 0.2, (items, 1)) + rng.normal(0, 0.1, judges) + rng.normal(0, 0.14, (items, judges)))


def wide() -> pl.DataFrame:
    """Return a table with a row for each item, epoch and judge."""
    rng = np.random.default_rng(7)
    rows = [(f"q{item:02}", epoch, f"j{judge}") for item, epoch, judge in np.ndindex(ITEMS, EPOCHS, JUDGES)]
    scores = rng.integers(0, 5, (len(rows), 2)) / 4
    return pl.DataFrame(rows, schema=["q", "run", "by"], orient="row").with_columns(
        a=pl.Series(scores[:, 0]), b=pl.Series(scores[:, 1]), topic=pl.col("q").str.slice(2))


TABLE = wide()


def results_of(frame: pl.DataFrame = TABLE, **keys: Any) -> Results:
    return run(SPEC | keys, frames={"bench": frame})


def test_the_score_of_an_epoch_is_the_mean_over_its_judges() -> None:
    answers = TABLE.group_by("q", "run", maintain_order=True).agg(pl.col("a", "b").mean())
    metrics = ["mean", "median", {"metric": "share_at_least", "limit": 0.5}, "flip_rate", "agreement", "win_rate"]
    judged = results_of(metrics=metrics)
    plain = run({key: value for key, value in SPEC.items() if key != "judge"} | {"metrics": metrics},
                frames={"bench": answers})
    assert [row.value for row in judged.rows] == pytest.approx([row.value for row in plain.rows], rel=1e-12)
    assert [(row.items, row.most_epochs) for row in judged.scored] == [(ITEMS, EPOCHS)] * 2
    for row, other in zip(judged.score_errors, plain.score_errors, strict=True):
        assert row.items_error == pytest.approx(other.items_error, rel=1e-12)
        assert row.epochs_variance == pytest.approx(other.epochs_variance, rel=1e-12)
    assert [(row.judges, row.error) for row in judged.judges] == [
        (JUDGES, pytest.approx(np.sqrt(row.variance / JUDGES))) for row in judged.judges]
    assert "judges" not in json.loads(plain.to_json())


def test_a_long_table_has_judges_too() -> None:
    long = TABLE.unpivot(["a", "b"], index=["q", "run", "by"], variable_name="m", value_name="s")
    of_long = results_of(long, datasets={"bench": {"path": "memory", "long": {"model": "m", "score": "s"}}},
                         models={name: {"log": {"model": name}} for name in "ab"})
    assert of_long.rows == results_of().rows
    assert of_long.judges == results_of().judges


def test_the_order_of_rows_changes_no_byte() -> None:
    whole = results_of()
    for seed in range(3):
        shuffled = results_of(TABLE.sample(fraction=1.0, shuffle=True, seed=seed))
        assert (shuffled.rows, shuffled.score_errors, shuffled.judges) == (whole.rows, whole.score_errors, whole.judges)


def test_equal_scores_of_judges_are_the_score_of_the_answer_to_the_last_digit() -> None:
    frame = TABLE.with_columns(a=pl.lit(0.1), b=pl.lit(0.7))
    results = results_of(frame, score={"better": "higher", "range": [0, 1], "success": 0.7},
                         metrics=[{"metric": "pass_at", "k": 1}])
    assert [row.value for row in results.rows if row.slice is None] == [0.0, 1.0]
    assert [row.value for row in results.score_errors] == [0.1, 0.7]
    assert [(row.judges, row.variance, row.error, row.agreement) for row in results.judges] == [(3, 0.0, 0.0, None)] * 2


@pytest.mark.parametrize(("rule", "means", "epochs", "missing"), [
    ("leave_out", {"a": 0.75, "b": 0.5}, 1, 1), (0, {"a": 0.625, "b": 0.375}, 2, 1)])
def test_a_judge_that_an_answer_lacks_is_left_out_with_it_or_counts(
    rule: object, means: dict[str, float], epochs: int, missing: int
) -> None:
    frame = pl.DataFrame({
        "q": ["x", "x", "x", "y", "y"], "run": [1, 1, 2, 1, 1], "by": ["j", "k", "j", "j", "k"],
        "a": [1.0, 1.0, 1.0, 0.5, 0.5], "b": [1.0, 0.0, 0.0, 0.5, 0.5]})
    results = results_of(frame, score={"better": "higher", "range": [0, 1], "missing": rule})
    assert {row.model: row.value for row in results.score_errors} == means
    assert [row.most_epochs for row in results.scored] == [epochs] * 2
    assert [row.missing for row in results.scored] == [{"no score by judge k": missing}] * 2


def test_where_every_answer_lacks_a_judge_no_item_is_left() -> None:
    frame = pl.DataFrame({"q": ["x", "y"], "run": [1, 1], "by": ["j", "k"], "a": [1.0, 1.0], "b": [1.0, 0.0]})
    with pytest.raises(DataError, match="no item of dataset 'bench' has a score of every model"):
        results_of(frame, score={"better": "higher", "range": [0, 1], "missing": "leave_out"})


def test_slices_are_of_items_and_not_of_judges() -> None:
    with pytest.raises(DataError, match="column 'by' of dataset 'bench' differs between the rows of one item"):
        results_of(slices=["by"])


@pytest.mark.parametrize("key", ["q", "by"])
def test_a_column_of_lists_names_nothing(key: str) -> None:
    with pytest.raises(DataError, match=f"column '{key}' of dataset 'bench' holds lists or mappings, not single val"):
        results_of(TABLE.with_columns(pl.concat_list(key).alias(key)))


def test_a_judge_of_one_model_alone_is_missing_for_the_others() -> None:
    long = pl.DataFrame({"q": ["x"] * 3, "run": [1] * 3, "by": ["j", "k", "j"], "m": ["a", "a", "b"], "s": [1, 1, 1]})
    with pytest.raises(DataError, match="1 score of the model 'b' in dataset 'bench' is missing: 1 for no score by"):
        results_of(long, datasets={"bench": {"path": "memory", "long": {"model": "m", "score": "s"}}},
                   models={name: {"log": {"model": name}} for name in "ab"})


def test_scorers_of_a_log_are_judges() -> None:
    spec = {key: value for key, value in SPEC.items() if key not in ("item", "epoch", "judge")} | {
        "datasets": {"bench": {"inspect": str(LOGS / "model-a.eval")}},
        "score": {"better": "higher", "range": [0, 1], "missing": "leave_out"}}
    results, match, judge = (
        run(spec | {"models": {"a": {"log": {"model": "mockllm/model-a", "scorer": scorer}}}})
        for scorer in (["match", "judge"], "match", "judge"))
    assert [row.judges for row in results.judges] == [2]
    assert match.judges == []
    # The judge refused an answer and an error left another without any score; both are left out whole.
    assert results.scored[0].missing == {"error": 2, "refusal": 1}
    assert judge.scored[0].missing == {"error": 1, "refusal": 1}
    assert results.models[0].columns["scorer"] == "match, judge"


@pytest.mark.parametrize("seed", range(5))
def test_components_and_agreement_come_from_the_anova_table(seed: int) -> None:
    items, judges = 6 + seed, 2 + seed
    scores = drawn(seed, items, judges)
    rows = pd.DataFrame({"y": scores.ravel(), "item": np.repeat(np.arange(items), judges),
                         "judge": np.tile(np.arange(judges), items)})
    table = anova_lm(smf.ols("y ~ C(item) + C(judge)", rows).fit())
    squares = table["sum_sq"] / table["df"]
    of_items, of_judges, rest = squares["C(item)"], squares["C(judge)"], squares["Residual"]
    items_variance, judges_variance, rest_variance, agreement = judge_components(scores)
    assert rest_variance == pytest.approx(rest, rel=1e-9)
    assert items_variance == pytest.approx((of_items - rest) / judges, rel=1e-9)
    assert judges_variance == pytest.approx(max(0.0, (of_judges - rest) / items), rel=1e-9)
    # ICC(2,1) of Shrout & Fleiss (1979), as pingouin has it.
    assert agreement == pytest.approx(
        (of_items - rest) / (of_items + (judges - 1) * rest + judges * (of_judges - rest) / items), rel=1e-9)


def test_the_agreement_is_that_of_shrout_and_fleiss() -> None:
    # Table 2: six targets, four judges; ICC(2,1) = .29 in table 4, .2898 in full.
    scores = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    assert judge_components(scores)[3] == pytest.approx(0.28976, abs=5e-6)


def test_a_negative_variance_of_judges_is_truncated_and_the_agreement_is_not() -> None:
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    of_items, of_judges, _, agreement = judge_components(scores)
    assert (of_items, of_judges) == (0.0, 0.0)
    assert agreement < 0


def test_weights_are_of_any_scale_and_weighted_components_are_unbiased() -> None:
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.2, 3.0, 20)
    assert judge_components(drawn(1, 20), weights) == pytest.approx(judge_components(drawn(1, 20), 7 * weights))
    assert judge_components(drawn(1, 20), np.full(20, 2.0)) == pytest.approx(judge_components(drawn(1, 20)))
    # With 10 judges the estimates are hardly ever truncated. Five standard errors of 1,000 draws.
    draws = np.array([judge_components(drawn(seed, 20, 10), weights)[:3] for seed in range(1000)])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - [0.04, 0.01, 0.0196]) < 5 * error).all()


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
def test_one_item_or_one_judge_has_no_variance(shape: tuple[int, int]) -> None:
    assert np.isnan(judge_components(drawn(0, *shape))).all()


def test_a_condition_selects_items_with_their_judges() -> None:
    some = results_of(datasets={"bench": {"path": "memory", "where": "q < 'q06'"}})
    assert some.judges == results_of(TABLE.filter(pl.col("q") < "q06")).judges


def test_an_importance_weight_weighs_the_items() -> None:
    weighted = results_of(TABLE.with_columns(w=pl.col("q").str.slice(1).cast(pl.Float64) + 0.5),
                          weight={"column": "w", "kind": "importance"}, models={"a": {"score": "a"}})
    means = TABLE.group_by("q", "by", maintain_order=True).agg(pl.col("a").mean())["a"].to_numpy()
    _, variance, _, agreement = judge_components(means.reshape(ITEMS, JUDGES), np.arange(ITEMS) + 0.5)
    (row,) = weighted.judges
    assert (row.variance, row.agreement) == pytest.approx((variance, agreement))


def test_names_of_judges_in_a_file_are_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,run,by,a,b\n1,1,7.50,1,0\n1,1,8,0,0\n2,1,8,1,1\n", "utf-8")
    of_file = SPEC | {"datasets": {"bench": {"path": str(tmp_path / "t.csv")}}, "ledger": False,
                      "score": {"better": "higher", "range": [0, 1], "missing": 0}}
    results = run(of_file, out=tmp_path / "out")
    assert [row.missing for row in results.scored] == [{"no score by judge 7.50": 1}] * 2
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "out"), "mean@a"]).output
    assert "score a; item q; epoch run; judge by" in shown


def test_a_frequency_weight_counts_items_as_often() -> None:
    weight = {"weight": {"column": "w", "kind": "frequency"}}
    twice = pl.concat([TABLE, TABLE.filter(pl.col("q") == "q03").with_columns(q=pl.lit("q99"))])
    weighted = results_of(TABLE.with_columns(w=pl.when(pl.col("q") == "q03").then(2).otherwise(1)), **weight)
    doubled = results_of(twice)
    assert [row.variance for row in weighted.judges] == pytest.approx([row.variance for row in doubled.judges])


def test_the_card_has_a_table_of_judges_only_where_there_are_any() -> None:
    plain = run({key: value for key, value in SPEC.items() if key != "judge"},
                frames={"bench": TABLE.group_by("q", "run").agg(pl.col("a", "b").mean())})
    judged, without = (next(section for section in card_of(results).sections if section.anchor == "scores")
                       for results in (results_of(), plain))
    (table,) = (block for block in judged.blocks if isinstance(block, Table) and "judges" in str(block.caption))
    assert [column.head for column in table.columns] == [
        "Model", "Judges", "SD of judges", "Error of judges", "ICC of judges"]
    assert [row.cells[:2] for row in table.rows] == [("a", "3"), ("b", "3")]
    row = results_of().judges[0]
    exact = [float(cell.exact.replace("−", "-")) for cell in table.rows[0].cells[2:]]
    assert exact == pytest.approx([row.variance ** 0.5, row.error, row.agreement])
    assert "hold these judges fixed" in str(judged.blocks)
    assert "judge" not in str(without.blocks)
