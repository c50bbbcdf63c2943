"""A binary outcome whose models give the probabilities or scores of both levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evalpipe
from data.test_lists import numbers
from evalpipe.card import markdown
from evalpipe.card.edition import Edition
from evalpipe.errors import DataError, SpecError
from evalpipe.results import Results
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved
from streams.streaming import rows


def document(path: Path, model: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
        "datasets": {"d": {"path": str(path)}}, "models": {"m": model},
        "metrics": ["roc_auc", "log_loss", "brier", "accuracy", "ece"], "slices": ["s"],
        "recalibrate": {"fit_on": {"folds": 5}, "methods": ["logistic"]},
        "intervals": {"replicates": 100}, "report": {"formats": []}, "ledger": False} | keys


def run(path: Path, model: dict[str, Any], **keys: Any) -> Results:
    return evalpipe.run(document(path, model, **keys))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with a probability and a score of each level, columns and lists, and what they come to."""
    frame = rows(300).select("y", p_1="p", s=pl.int_range(300) % 3).with_columns(p_0=1 - pl.col("p_1"))
    row = pl.int_range(300)
    frame = frame.with_columns(z_0=row % 7 / 4, z_1=pl.col("y") + row % 5 / 4)
    frame = frame.with_columns(gap=pl.col("z_1") - pl.col("z_0"), less=pl.col("p_1") / 2,
                               ps=pl.concat_list("p_0", "p_1"), zs=pl.concat_list("z_1", "z_0"))
    frame.write_parquet(tmp_path / "d.parquet")
    return tmp_path / "d.parquet"


@pytest.mark.parametrize("model", [
    {"probabilities": "p_{level}"}, {"probabilities": {"1": "p_1", "0": "p_0"}},
    {"probabilities": "ps"}, {"probabilities": "ps", "order": [0, 1]}])
def test_probabilities_are_that_of_the_event(path: Path, model: dict[str, Any]) -> None:
    assert numbers(run(path, model)) == numbers(run(path, {"probability": "p_1"}))


@pytest.mark.parametrize("model", [
    {"scores": "z_{level}"}, {"scores": {"1": "z_1", "0": "z_0"}}, {"scores": "zs", "order": [1, 0]}])
def test_the_softmax_of_two_scores_is_the_logistic_function_of_their_difference(
    path: Path, model: dict[str, Any]
) -> None:
    threshold = {"threshold": {"maximize": "j_index", "on": {"folds": 5}}}
    results = run(path, model, **threshold)
    assert numbers(results) == numbers(run(path, {"score": "gap", "scale": "logit"}, **threshold))
    assert results.models[0].scale == "logit"


def test_an_order_turns_the_lists(path: Path) -> None:
    turned = run(path, {"probabilities": "ps", "order": [1, 0]})
    assert numbers(turned) == numbers(run(path, {"probability": "p_0"}))


def test_sums_are_checked_as_those_of_several_levels(path: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        run(path, {"probabilities": {"1": "p_1", "0": "less"}})
    assert caught.value.problems[0].code == "probability-sum"
    frame = pl.read_parquet(path).with_columns(p_1=pl.col("p_1") / 4, p_0=pl.col("p_0") / 4)
    frame.write_parquet(tmp_path / "quarters.parquet")
    assert numbers(run(tmp_path / "quarters.parquet", {"probabilities": "p_{level}", "renormalise": True})) == numbers(
        run(path, {"probability": "p_1"}))
    rounded = frame.with_columns(p_1=pl.Series([0.33, 0.335] * 150), p_0=pl.Series([0.67, 0.664] * 150))
    rounded.with_columns(p=pl.col("p_1") / (pl.col("p_1") + pl.col("p_0"))).write_parquet(tmp_path / "r.parquet")
    told = run(tmp_path / "r.parquet", {"probabilities": "p_{level}"})
    plain = run(tmp_path / "r.parquet", {"probability": "p"})
    assert [row.value for row in told.rows] == [row.value for row in plain.rows]
    assert "rounded-probabilities" in [warning.code for warning in told.warnings]


def test_probabilities_that_are_all_0_are_divided_by_nothing(path: Path, tmp_path: Path) -> None:
    # Their shares would be NaN: every measure came out as undefined, for it had "no rows".
    pl.read_parquet(path).with_columns(p_1=pl.lit(0.0), p_0=pl.when(pl.col("y") == 1).then(0.0).otherwise("p_0")
                                       ).write_parquet(tmp_path / "z.parquet")
    with pytest.raises(DataError, match=r"in \d+ rows the probabilities of model 'm' are all 0"):
        run(tmp_path / "z.parquet", {"probabilities": "p_{level}", "renormalise": True})


def test_the_card_says_how_levels_are_predicted(path: Path) -> None:
    words = {name: markdown.document(Edition(run(path, model))).decode() for name, model in (
        ("scores", {"scores": "z_{level}"}), ("score", {"score": "gap", "scale": "logit"}))}
    assert "Columns of the scores (softmax)" in words["scores"]
    rule = "when the probability is at least 0.5"
    assert [line for line in words["scores"].splitlines() if rule in line] == [
        line for line in words["score"].splitlines() if rule in line] != []


def test_rows_are_held(path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        run(path, {"scores": "z_{level}"}, engine={"mode": "grid"}, recalibrate=None)
    (problem,) = caught.value.problems
    assert problem.message == ("reading the scores of both levels of model 'm' needs all rows at once, but engine.mode "
                               "is grid, which reads them part by part")


def test_the_keys_stand_in_no_spec_that_does_not_have_them(path: Path) -> None:
    (model,) = resolved(load(document(path, {"probability": "p_1"})))["models"].values()  # type: ignore[attr-defined]
    assert not {"probabilities", "scores", "order", "renormalise"} & set(model)


def test_arrays_of_both_levels(path: Path) -> None:
    frame = pl.read_parquet(path)
    how: tuple[dict[str, Any], ...] = (
        {"probability": frame["p_1"]}, {"probabilities": frame.select("p_0", "p_1").to_numpy(), "levels": [0, 1]})
    told = [evalpipe.evaluate(frame["y"], event=1, metrics=["log_loss", "roc_auc"], **keys) for keys in how]
    assert [row.value for row in told[0].rows] == [row.value for row in told[1].rows]
