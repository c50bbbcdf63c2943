"""The row-level file against plain loops over the rows, its bytes, and what says that it is there."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

import evalpipe
from card.blocks import lines, paragraphs, tables
from engine.runs import people, with_line
from evalpipe.chapters.row_file.card import sections
from evalpipe.cli.app import app
from evalpipe.errors import DataError

SPEC: dict[str, Any] = with_line({
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}, "q": {"probability": "q"}},
    "metrics": ["brier"], "intervals": {"method": "none"}, "report": {"formats": [], "rows": "parquet"},
})
EVENT = ["id", "dataset", "model", "variant", "truth", "probability", "score", "predicted", "threshold", "residual",
         "confidence", "gain_group", "gain_group_last", "equivocal", "weight"]


def named(n: int, seed: int = 0) -> pl.DataFrame:
    return people(n, seed).with_columns(pl.Series("id", [f"case {place}" for place in range(n)]))


def written(frame: Any, out: Path, **keys: Any) -> pl.DataFrame:
    frames = frame if isinstance(frame, dict) else {"d": frame}
    results = evalpipe.run(with_line(SPEC | keys), frames=frames, out=out)
    assert results.row_file is not None
    assert results.row_file.sha256 == hashlib.sha256((out / results.row_file.file).read_bytes()).hexdigest()
    table = pl.read_parquet(out / results.row_file.file)
    assert results.row_file.rows == table.height
    types = {"text": pl.String, "number": pl.Float64, "whole number": pl.Int64, "true or false": pl.Boolean}
    assert {column.name: types[column.type] for column in results.row_file.columns} == dict(table.schema)
    return table


def test_every_row_stands_with_its_probability_class_residual_and_confidence(tmp_path: Path) -> None:
    data = named(150)
    table = written(data, tmp_path / "out", threshold=0.4)
    assert table.columns == EVENT
    assert table.select("dataset", "model", "variant").unique().sort("model").rows() == [
        ("d", "p", "original"), ("d", "q", "original")]
    for model in ("p", "q"):
        rows = table.filter(pl.col("model") == model).sort("id")
        given = data.sort("id")
        y, p = given["y"].to_numpy(), given[model].to_numpy()
        assert rows["id"].to_list() == given["id"].to_list()
        assert rows["truth"].to_list() == [str(level) for level in y]
        assert rows["probability"].to_list() == p.tolist()
        assert rows["predicted"].to_list() == [str(int(chance >= 0.4)) for chance in p]
        assert rows["threshold"].unique().to_list() == [0.4]
        assert rows["residual"].to_list() == (y - p).tolist()
        assert rows["confidence"].to_list() == np.maximum(p, 1 - p).tolist()
    assert table.select("score", "equivocal", "weight").null_count().row(0) == (300, 300, 300)


def test_the_gain_group_is_that_of_the_rank_and_ties_tell_all_groups_that_share_them(tmp_path: Path) -> None:
    data = named(97, 3)  # of two decimals, so that many scores tie
    table = written(data, tmp_path / "out", curves={"groups": 7})
    for model in ("p", "q"):
        rows = table.filter(pl.col("model") == model)
        scores = sorted(rows["probability"].to_list(), reverse=True)
        group_of_rank = [math.floor(rank * 7 / 97) + 1 for rank in range(97)]
        for score, first, last in rows.select("probability", "gain_group", "gain_group_last").rows():
            ranks = [rank for rank, other in enumerate(scores) if other == score]
            assert (first, last) == (group_of_rank[ranks[0]], group_of_rank[ranks[-1]])
    assert (table["gain_group"] < table["gain_group_last"]).any()


def test_frequency_weights_rank_as_repeated_rows(tmp_path: Path) -> None:
    data = named(40, 5)
    weighted = written(data, tmp_path / "a", weight={"column": "times", "kind": "frequency"})
    repeated = data.select(pl.all().repeat_by("times")).explode(pl.all()).with_columns(
        pl.int_range(pl.len()).cast(pl.String).alias("again"), pl.col("id").alias("name")).with_columns(
        pl.concat_str("name", "again").alias("id"))
    plain = written(repeated, tmp_path / "b")
    groups = ["model", "truth", "probability", "gain_group", "gain_group_last"]
    assert_frame_equal(weighted.select(groups).unique().sort(groups), plain.select(groups).unique().sort(groups))
    given = dict(data.select("id", "times").rows())
    assert {row["id"]: row["weight"] for row in weighted.rows(named=True)} == given


def test_variants_have_lines_of_their_own_and_cross_fitted_thresholds_stand_row_by_row(tmp_path: Path) -> None:
    data = named(300, 1)
    chosen = {"maximize": "accuracy", "on": {"folds": 3}}
    table = written(data, tmp_path / "out", models={"p": {"probability": "p", "threshold": chosen}},
                    recalibrate={"fit_on": {"folds": 3}, "methods": ["isotonic"]})
    assert table["variant"].unique(maintain_order=True).to_list() == ["original", "isotonic"]
    own = table.filter(pl.col("variant") == "original")
    assert own["threshold"].n_unique() > 1
    # The threshold of a row is the one that decided on it.
    assert own["predicted"].to_list() == ["1" if p >= cut else "0" for p, cut in own.select(
        "probability", "threshold").rows()]
    isotonic = table.filter(pl.col("variant") == "isotonic")
    y = isotonic["truth"].cast(pl.Int64)
    assert isotonic["residual"].to_list() == (y - isotonic["probability"]).to_list()
    assert isotonic["probability"].to_list() != own["probability"].to_list()


def test_a_row_in_the_equivocal_zone_has_no_class(tmp_path: Path) -> None:
    table = written(named(200), tmp_path / "out", equivocal=0.1)
    inside = (table["probability"] - 0.5).abs() <= 0.1 + 1e-12
    assert table["equivocal"].to_list() == inside.to_list()
    assert table["predicted"].is_null().to_list() == inside.to_list()
    assert 0 < inside.sum() < len(inside)


def test_scores_and_classes_leave_empty_what_they_do_not_give(tmp_path: Path) -> None:
    data = named(60).with_columns(pl.Series("score", np.log(np.arange(1.0, 61))), c=(pl.col("p") > 0.3).cast(int))
    table = written(data, tmp_path / "out", metrics=["accuracy"], models={
        "rank": {"score": "score", "threshold": 2.0}, "odds": {"score": "score", "scale": "logit"},
        "classes": {"prediction": "c"}})
    rank, odds, classes = (table.filter(pl.col("model") == name) for name in ("rank", "odds", "classes"))
    assert rank["predicted"].to_list() == [str(int(score >= 2.0)) for score in rank["score"]]
    assert rank.select("probability", "residual", "confidence").null_count().row(0) == (60, 60, 60)
    assert odds["probability"].to_list() == pytest.approx([1 / (1 + math.exp(-score)) for score in odds["score"]])
    assert classes.select("probability", "score", "threshold", "gain_group").null_count().row(0) == (60,) * 4
    assert dict(classes.select("id", "predicted").rows()) == dict(data.select("id", pl.col("c").cast(str)).rows())


def test_levels_have_a_column_each_and_the_residual_is_of_the_true_one(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    chances = generator.dirichlet([1, 2, 3], 80)
    data = pl.DataFrame({"y": generator.choice(["a", "b", "c"], 80), "id": [f"{k}" for k in range(80)]} | {
        f"p_{level}": chances[:, k] for k, level in enumerate("abc")})
    table = written(data, tmp_path / "out", task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]},
                    models={"m": {"probabilities": "p_{level}"}}, metrics=["accuracy"])
    rows = table.join(data, on="id", maintain_order="left")
    assert rows["truth"].to_list() == rows["y"].to_list()
    for row in rows.rows(named=True):
        by_level = {level: row[f"p_{level}"] for level in "abc"}
        assert {level: row[f"probability of {level}"] for level in "abc"} == by_level
        assert row["predicted"] == max(by_level, key=lambda level: by_level[level])
        assert (row["residual"], row["confidence"]) == (1 - by_level[row["truth"]], max(by_level.values()))


def test_counts_have_the_expected_count_in_their_exposure(tmp_path: Path) -> None:
    data = pl.DataFrame({"y": [0, 3, 1], "r": [0.5, 1.5, 0.2], "t": [2.0, 1.0, 4.0], "id": ["a", "b", "c"]})
    table = written(data, tmp_path / "out", task="count", outcome={"column": "y"}, metrics=["rmse"],
                    models={"m": {"rate": "r"}}, exposure={"column": "t"}, calibration=None).sort("id")
    assert table.columns == [*EVENT[:5], "prediction", "residual", "exposure", "weight"]
    assert table["prediction"].to_list() == [1.0, 1.5, 0.8]
    assert table["residual"].to_list() == [-1.0, 1.5, 1 - 0.8]
    assert table["exposure"].to_list() == [2.0, 1.0, 4.0]


def test_without_an_id_rows_have_their_numbers_in_their_files(tmp_path: Path) -> None:
    data = people(30)
    (tmp_path / "parts").mkdir()
    data.head(20).write_parquet(tmp_path / "parts" / "a.parquet")
    data.tail(10).write_parquet(tmp_path / "parts" / "b.parquet")
    spec = {key: value for key, value in SPEC.items() if key != "id"}
    for path, expected in (("parts/a.parquet", [f"{row}" for row in range(1, 21)]),
                           ("parts", [f"1:{row}" for row in range(1, 21)] + [f"2:{row}" for row in range(1, 11)])):
        out = tmp_path / "out" / path.replace("/", "-")
        results = evalpipe.run(spec | {"datasets": {"d": {"path": str(tmp_path / path)}}}, out=out)
        assert results.row_file is not None
        assert results.row_file.id is None
        rows = pl.read_parquet(out / "rows.parquet").filter(pl.col("model") == "p")
        assert sorted(rows["id"]) == sorted(expected)
        at = dict(zip(expected, data["p"], strict=False))
        assert rows["probability"].to_list() == [at[name] for name in rows["id"]]


def test_the_same_rows_in_any_order_give_the_same_bytes_and_change_no_number(tmp_path: Path) -> None:
    data = pl.concat([named(80), named(80).with_columns(pl.col("id") + " again")])  # rows alike but for their ids
    keys = {"intervals": {"replicates": 100}, "recalibrate": {"fit_on": {"folds": 4}, "methods": ["isotonic"]}}
    for form in ("parquet", "csv"):
        report = {"formats": [], "rows": form}
        files = []
        for name, frame in (("a", data), ("b", data.sample(fraction=1.0, shuffle=True, seed=9))):
            evalpipe.run(SPEC | keys | {"report": report}, frames={"d": frame}, out=tmp_path / name)
            files.append((tmp_path / name / f"rows.{form}").read_bytes())
        assert files[0] == files[1]
    plain = evalpipe.run(SPEC | keys | {"report": {"formats": []}}, frames={"d": data}, out=tmp_path / "a")
    assert plain.row_file is None
    assert not list((tmp_path / "a").glob("rows.*"))  # that of the run before is gone
    theirs = json.loads((tmp_path / "b" / "results.json").read_text())
    ours = json.loads(plain.to_json())
    apart = {"spec", "spec_sha256", "row_file", "inputs", "since"}
    assert {key: value for key, value in ours.items() if key not in apart} == {
        key: value for key, value in theirs.items() if key not in apart}


def test_csv_says_the_same_as_parquet(tmp_path: Path) -> None:
    table = written(named(50), tmp_path / "a", equivocal=0.1)
    evalpipe.run(SPEC | {"equivocal": 0.1, "report": {"formats": [], "rows": "csv"}},
                 frames={"d": named(50)}, out=tmp_path / "b")
    assert_frame_equal(pl.read_csv(tmp_path / "b" / "rows.csv", schema=table.schema), table)


def test_no_text_of_a_csv_is_run_as_a_formula(tmp_path: Path) -> None:
    ids = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "-5", "+1e3", "x=1", "5"]
    frame = people(10).with_columns(pl.Series("id", ids))
    asked = SPEC | {"report": {"formats": [], "rows": "csv"}}
    evalpipe.run(asked, frames={"d": frame}, out=tmp_path / "a")
    read = set(pl.read_csv(tmp_path / "a" / "rows.csv", infer_schema=False)["id"])
    assert read == {"'=1+1", "'+x", "'-x", "'@x", "'\tx", "'\rx", "-5", "+1e3", "x=1", "5"}


def test_a_run_without_a_folder_writes_none_and_one_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evalpipe.run(SPEC, frames={"d": named(20)}).row_file is None

    def failing(*_: object, **__: object) -> dict[str, bytes]:
        assert len(list(tmp_path.rglob("rows.parquet"))) == 1  # it is written by now
        raise ZeroDivisionError

    monkeypatch.setattr(sys.modules["evalpipe.run"], "_rendered", failing)
    with pytest.raises(ZeroDivisionError):
        evalpipe.run(SPEC, frames={"d": named(20)}, out=tmp_path / "out")
    assert list(tmp_path.rglob("rows.parquet")) == []


def test_sign_refuses_a_row_level_file_that_was_changed_and_lets_it_be_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evalpipe.run(SPEC, frames={"d": named(20)}, out="out")
    file = tmp_path / "out" / "rows.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole + b" ")
    digits = [hashlib.sha256(content).hexdigest()[:8] for content in (whole + b" ", whole)]
    signature: dict[str, Any] = {"role": "owner", "name": "A", "decision": "approved", "date": "2026-11-21"}
    with pytest.raises(DataError) as caught:
        evalpipe.sign("out", **signature)
    assert str(caught.value) == (
        f"error[changed-file]: out/rows.parquet was changed after the run: its sha256 begins with {digits[0]}, that of "
        f"the run with {digits[1]}\n  = help: restore it; or run again, and look at the new results")
    file.unlink()
    assert evalpipe.sign("out", **signature)


def test_the_card_and_the_plan_say_that_the_file_holds_the_rows(tmp_path: Path) -> None:
    named(50).write_parquet(tmp_path / "d.parquet")
    results = evalpipe.run(SPEC | {"datasets": {"d": {"path": str(tmp_path / "d.parquet")}}}, out=tmp_path / "out")
    assert results.row_file is not None
    said = paragraphs(sections(results))
    assert said[0] == (
        "rows.parquet has 100 lines, one for each evaluated row, model and variant. It holds the rows themselves, not "
        "sums of them: personal data where rows are of persons. It is no part of this card, which can be passed on "
        "without it; give it to those alone who may see the rows.")
    assert said[-1] == f"sha256 of the file: {results.row_file.sha256}"
    assert [line[0] for line in lines(tables(sections(results))[0])] == EVENT
    assert list(sections(evalpipe.run(SPEC, frames={"d": named(20)}))) == []
    spec = tmp_path / "x.yaml"
    spec.write_text(json.dumps(SPEC | {"datasets": {"d": {"path": "d.parquet"}}}), encoding="utf-8")
    planned = CliRunner().invoke(app, ["plan", str(spec)]).output.splitlines()
    assert ("rows.parquet: a line for each row, model and variant, with its id; personal data where rows are of "
            "persons") in planned
