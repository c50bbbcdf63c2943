"""Predictions in files of their own: matched to the rows of the dataset, and as good as columns of the dataset."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.cli.plan import plan_document
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.data.values import cells_differ
from evalpipe.errors import DataError, SpecError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Matched
from evalpipe.spec.load import load

ROWS = pl.DataFrame({
    "id": [11, 12, 13, 14, 15, 16],
    "y": ["yes", "no", "yes", "no", "no", "yes"],
    "age": [30, 40, 50, 60, 70, 80],
    "w": [1.0, 0.0, 2.0, 0.5, 1.0, 1.5],
})
OLD = pl.DataFrame({"id": [11, 12, 13, 14, 15, 16], "p": [0.9, 0.2, 0.7, 0.4, 0.1, 0.6]})
NEW = pl.DataFrame({"id": [11, 12, 13, 14, 15, 16], "p": [0.8, 0.3, 0.6, 0.5, 0.2, 0.7]})
WHOLE = ROWS.with_columns(old=OLD["p"], new=NEW["p"])
WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "csv.gz": lambda frame, path: path.write_bytes(__import__("gzip").compress(frame.write_csv().encode())),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "feather": lambda frame, path: frame.write_ipc(path),
    "ndjson": lambda frame, path: frame.write_ndjson(path),
}


def document(folder: Path, **changes: Any) -> dict[str, Any]:
    dataset = {"path": str(folder / "rows.csv")} | changes.pop("dataset", {})
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": "yes"}, "id": "id",
        "datasets": {"test": dataset} | changes.pop("more", {}),
        "models": {
            "old": {"predictions": str(folder / "old.csv"), "probability": "p"},
            "new": {"predictions": str(folder / "new.csv"), "probability": "p"},
        },
    } | changes  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ROWS.write_csv(tmp_path / "rows.csv")
    OLD.write_csv(tmp_path / "old.csv")
    NEW.write_csv(tmp_path / "new.csv")
    return tmp_path


def samples(source: dict[str, Any], frames: dict[str, pl.DataFrame] | None = None) -> tuple[Sample, ...]:
    spec = load({key: value for key, value in source.items() if value is not None})
    return read(plan(spec, look(sources(spec), frames)), frames)


def columns(found: Sample) -> dict[str, list[float]]:
    """Return the truth and both models' probabilities."""
    values = {"truth": found.truth.tolist()}
    for name, model in found.models.items():
        assert model.probability is not None
        values[name] = model.probability.tolist()
    return values


def whole(**changes: Any) -> Sample:
    """Return the sample of the same data in a single table."""
    source = document(Path(), models={"old": {"probability": "old"}, "new": {"probability": "new"}}, **changes)
    return samples(source, {"test": WHOLE})[0]


def problems(source: dict[str, Any], frames: dict[str, pl.DataFrame] | None = None) -> str:
    with pytest.raises((DataError, SpecError)) as caught:
        samples(source, frames)
    return str(caught.value)


def test_two_models_may_name_their_columns_alike_in_files_of_their_own(folder: Path) -> None:
    (found,) = samples(document(folder))
    assert columns(found) == columns(whole())
    assert columns(found)["new"] == [0.2, 0.3, 0.5, 0.7, 0.6, 0.8]  # sorted by the truth, then by the first model


@pytest.mark.parametrize("ending", WRITERS)
def test_rows_are_matched_by_id_in_every_format_and_order(ending: str, folder: Path) -> None:
    WRITERS[ending](NEW.sample(fraction=1, shuffle=True, seed=2), folder / f"new.{ending}")
    models = {**document(folder)["models"], "new": {"predictions": str(folder / f"new.{ending}"), "probability": "p"}}
    (found,) = samples(document(folder, models=models))
    assert columns(found) == columns(whole())


def test_rows_held_in_memory_are_matched_to_files_too(folder: Path) -> None:
    (found,) = samples(document(folder), {"test": ROWS.reverse()})
    assert columns(found) == columns(whole())


def test_without_an_id_rows_are_matched_in_their_order(folder: Path) -> None:
    NEW.reverse().drop("id").write_csv(folder / "new.csv")
    (found,) = samples(document(folder, id=None))
    expected = whole()
    assert columns(found)["old"] == columns(expected)["old"]
    assert columns(found)["new"] == [0.3, 0.2, 0.6, 0.8, 0.5, 0.7]
    assert found.files[1].columns == ["p", "id"]  # the id that both have must agree


def test_without_an_id_columns_that_both_have_must_agree(folder: Path) -> None:
    NEW.reverse().write_csv(folder / "new.csv")
    assert problems(document(folder, id=None)) == f"""\
error[misaligned-rows]: the file of model 'new' for dataset 'test' is matched row by row, but column 'id', which both \
have, differs in 6 of 6 rows
 --> {folder / "new.csv"}
  |
  | row 1: '16', but '11' in the dataset
  | row 2: '15', but '12' in the dataset
  | row 3: '14', but '13' in the dataset
  | row 4: '13', but '14' in the dataset
  | row 5: '12', but '15' in the dataset
  = and 1 more
  = named at the spec, models.new.predictions
  = help: write 'id: id', so that rows are matched by it, or write the file's rows in the order of the dataset"""
    (by_id,) = samples(document(folder))
    assert columns(by_id) == columns(whole())


def test_a_shared_column_that_is_no_id_must_agree_too(folder: Path) -> None:
    NEW.drop("id").with_columns(ROWS["w"], age=pl.Series([30, 40, 50, 60, 70, 81])).write_csv(folder / "new.csv")
    said = problems(document(folder, id=None))
    assert "column 'age', which both have, differs in 1 of 6 rows" in said
    assert "row 6: '81', but '80' in the dataset" in said
    assert "= help: write 'id: age', so that rows are matched by it" in said
    NEW.drop("id").with_columns(age=pl.Series([30, 30, 50, 60, 70, 80])).write_csv(folder / "new.csv")
    assert "= help: name the column that identifies a row under 'id'" in problems(document(folder, id=None))


def test_how_rows_were_matched_is_in_the_summary(folder: Path) -> None:
    assert samples(document(folder))[0].summary.matched == [Matched(model=name, by="id") for name in ("old", "new")]
    OLD.drop("id").write_csv(folder / "old.csv")
    NEW.with_columns(ROWS["w"], ROWS["y"]).write_parquet(folder / "new.parquet")  # numbers there, text in the dataset
    models = {**document(folder)["models"], "new": {"predictions": str(folder / "new.parquet"), "probability": "p"}}
    (found,) = samples(document(folder, id=None, models=models, dataset={"where": "age > 30"}))
    assert found.summary.matched == [
        Matched(model="old", by="position"), Matched(model="new", by="position", agree=["id", "w", "y"])]
    assert [file.columns for file in found.files] == [["y", "age", "id", "w"], ["p"], ["p", "id", "w", "y"]]


def test_the_plan_says_how_rows_are_matched(folder: Path) -> None:
    OLD.drop("id").write_csv(folder / "old.csv")
    spec = load({key: value for key, value in document(folder, id=None).items() if value is not None})
    made = plan(spec, look(sources(spec)))
    (dataset,) = plan_document(made)["datasets"]
    assert {name: (held["matched"], held["compared"]) for name, held in dataset["predictions"].items()} == {
        "old": ("position", []), "new": ("position", ["id"])}


@pytest.mark.parametrize(("left", "right", "expected"), [
    ([1, 2, None], ["1", "3", ""], [False, True, False]),
    ([1.0, 2.5, math.nan], ["1", "2.50", ""], [False, False, False]),
    ([True, False], ["TRUE", "true"], [False, True]),
    ([True, False], [1, 1], [False, True]),
    (["a ", "b"], ["a", "B"], [False, True]),
    ([None, None], ["x", None], [True, False]),
    (pl.Series([0.1, 0.2], dtype=pl.Float32), ["0.1", "0.3"], [False, True]),
    ([2**53, 2**53], [2**53, 2**53 + 1], [False, True]),
    ([date(2026, 1, 2)], ["2026-01-02"], [False]),
    ([datetime(2026, 1, 2, 3, 4)], ["2026-01-02T03:04:00.000Z"], [False]),  # noqa: DTZ001 - polars' plain time
    ([datetime(2026, 1, 2)], [date(2026, 1, 3)], [True]),  # noqa: DTZ001 - polars' plain time
], ids=str)  # fmt: skip
def test_shared_values_are_compared_whatever_their_storage(left: Any, right: Any, expected: list[bool]) -> None:
    assert cells_differ(pl.Series(left), pl.Series(right)).to_list() == expected
    assert cells_differ(pl.Series(right), pl.Series(left)).to_list() == expected


@pytest.mark.parametrize("identity", ["id", None])
def test_rows_are_matched_before_where_is_applied(identity: str | None, folder: Path) -> None:
    where = {"where": "age BETWEEN 40 AND 70"}
    (found,) = samples(document(folder, id=identity, dataset=where))
    assert columns(found) == columns(whole(id=identity, dataset=where))
    assert [(file.rows, file.used_rows) for file in found.files] == [(6, 4)] * 3


def test_a_row_that_where_leaves_out_needs_no_prediction(folder: Path) -> None:
    NEW.filter(pl.col("id") > 12).write_csv(folder / "new.csv")
    assert samples(document(folder, dataset={"where": "age > 40"}))[0].n == 4
    assert "1 row has no prediction: its id is not in the file of model 'new'" in problems(
        document(folder, dataset={"where": "age > 30"}))


def test_the_files_are_among_the_inputs(folder: Path) -> None:
    (found,) = samples(document(folder, weight="w"))
    own, old, new = found.files
    assert (own.role, own.columns, own.rows, own.used_rows) == ("evaluate", ["y", "id", "w"], 6, 5)
    assert (new.dataset, new.role, new.columns, new.rows, new.used_rows) == ("test", "predictions", ["p", "id"], 6, 5)
    assert new.path == str(folder / "new.csv")
    assert new.sha256 == hashlib.sha256((folder / "new.csv").read_bytes()).hexdigest()
    assert old.sha256 != new.sha256


def test_a_file_that_serves_two_models_is_one_input(folder: Path) -> None:
    WHOLE.select("id", "old", "new").write_csv(folder / "both.csv")
    both = str(folder / "both.csv")
    models = {name: {"predictions": both, "probability": name} for name in ("old", "new")}
    (found,) = samples(document(folder, models=models))
    assert columns(found) == columns(whole())
    assert [(file.path, file.columns) for file in found.files[1:]] == [(both, ["old", "id", "new"])]


def test_predictions_may_be_in_several_files(folder: Path) -> None:
    (folder / "parts").mkdir()
    NEW[:2].write_csv(folder / "parts" / "b.csv")
    NEW[2:].write_csv(folder / "parts" / "a.csv")
    models = {**document(folder)["models"], "new": {"predictions": str(folder / "parts"), "probability": "p"}}
    (found,) = samples(document(folder, models=models))
    assert columns(found) == columns(whole())
    assert [(Path(str(file.path)).name, file.used_rows) for file in found.files[2:]] == [("a.csv", 4), ("b.csv", 2)]


def test_each_evaluated_dataset_has_its_file(folder: Path) -> None:
    ROWS.with_columns(pl.col("id") + 100).write_csv(folder / "later.csv")
    NEW.with_columns(pl.col("id") + 100).write_csv(folder / "later-new.csv")
    models = {"new": {"predictions": {"later": str(folder / "later-new.csv"), "test": str(folder / "new.csv")},
                      "probability": "p"}}
    reference = {"path": str(folder / "reference.csv"), "role": "reference"}
    ROWS.with_columns(pl.col("id") + 500).write_csv(folder / "reference.csv")
    more = {"later": {"path": str(folder / "later.csv")}, "training": reference}
    first, later, training = samples(document(folder, models=models, more=more))
    assert columns(first) == columns(later)
    assert [file.path for file in later.files] == [str(folder / "later.csv"), str(folder / "later-new.csv")]
    assert (training.models, len(training.files)) == ({}, 1)


def test_paths_start_at_the_folder_of_the_file_they_are_written_in(folder: Path) -> None:
    (folder / "base").mkdir()
    OLD.write_csv(folder / "base" / "old.csv")
    text = "evalpipe: 1\nname: x\ntask: binary\noutcome: {column: y, event: 'yes'}\nid: id\n"
    models = "models: {old: {predictions: old.csv, probability: p}}\n"
    (folder / "base" / "base.yaml").write_text(text + models)
    (folder / "a.yaml").write_text("extends: base/base.yaml\ndatasets: {test: {path: rows.csv}}\n")
    (folder / "old.csv").unlink()
    spec = load(folder / "a.yaml")
    (found,) = read(plan(spec, look(sources(spec))))
    assert found.files[1].path == "old.csv"
    assert columns(found)["old"] == columns(whole())["old"]
    other = load(folder / "a.yaml", ["models.old.predictions=new.csv"])
    assert columns(read(plan(other, look(sources(other))))[0])["old"] == [0.2, 0.3, 0.5, 0.6, 0.7, 0.8]


def test_a_models_column_may_have_the_name_of_one_of_the_dataset(folder: Path) -> None:
    NEW.rename({"p": "y"}).write_csv(folder / "new.csv")
    models = {**document(folder)["models"], "new": {"predictions": str(folder / "new.csv"), "probability": "y"}}
    assert columns(samples(document(folder, models=models))[0]) == columns(whole())


def test_leaks_are_found_by_what_the_dataset_itself_holds(folder: Path) -> None:
    ROWS.select("y").head(2).write_csv(folder / "training.csv")
    training = {"training": {"path": str(folder / "training.csv"), "role": "reference"}}
    NEW.rename({"p": "y"}).write_csv(folder / "new.csv")  # numbers there, levels in the reference dataset
    models = {"new": {"predictions": str(folder / "new.csv"), "probability": "y"}}
    assert "6 rows of dataset 'test' are also in the reference dataset" in problems(
        document(folder, id=None, more=training, models=models))


def test_other_kinds_of_predictions_are_read_from_files_too(folder: Path) -> None:
    pl.DataFrame({"id": ROWS["id"], "a": [0.9] * 6, "b": [0.1] * 6, "said": ["yes"] * 6}).write_csv(folder / "k.csv")
    model = {"predictions": str(folder / "k.csv")}
    levels = {"column": "y", "levels": ["yes", "no"]}
    chances = {"probabilities": {"yes": "a", "no": "b"}}
    (several,) = samples(document(folder, task="multiclass", outcome=levels, models={
        "chances": {**model, **chances}, "classes": {**model, "prediction": "said"}}))
    assert several.models["chances"].probability is not None
    assert several.models["chances"].probability.tolist() == [[0.9, 0.1]] * 6
    assert several.models["classes"].predicted is not None
    assert several.models["classes"].predicted.tolist() == [0] * 6
    (number,) = samples(document(folder, task="regression", outcome={"column": "age"}, models={
        "m": {"predictions": str(folder / "new.csv"), "prediction": "p", "loo_prediction": "p"}}))
    assert number.models["m"].predicted is not None
    assert number.models["m"].predicted.tolist() == NEW["p"].to_list()
    assert number.models["m"].left_out is not None
    assert number.models["m"].left_out.tolist() == NEW["p"].to_list()


def test_what_is_wrong_is_said_of_the_file_and_its_own_rows(folder: Path) -> None:
    NEW.reverse().with_columns(p=pl.Series([0.7, 0.2, 1.5, 0.6, None, 0.8])).write_csv(folder / "new.csv")
    said = problems(document(folder))
    assert said.count(f"--> {folder / 'new.csv'}") == 2
    assert "row 3: '1.5'" in said
    assert "row 5: empty" in said
    assert "leave such rows out for every model with 'complete_case: all'" in said
    pl.DataFrame({"id": ROWS["id"], "said": ["yes"] * 5 + ["maybe"]}).write_csv(folder / "new.csv")
    models = {"new": {"predictions": str(folder / "new.csv"), "prediction": "said"}}
    said = problems(document(folder, models=models))
    assert "1 value of the prediction column 'said' is no level of the outcome: 'maybe'" in said
    assert f"--> {folder / 'new.csv'}" in said
    assert "row 6: 'maybe'" in said


def test_ids_of_the_dataset_that_are_missing_or_stand_twice_are_said_of_the_dataset(folder: Path) -> None:
    ROWS.with_columns(id=pl.Series([11, None, 13, 14, 15, 16])).write_csv(folder / "rows.csv")
    said = problems(document(folder, dataset={"where": "age > 30"}))
    assert "an id in the file of model 'old' for dataset 'test' that the dataset does not have" in said
    OLD.filter(pl.col("id") != 12).write_csv(folder / "old.csv")
    NEW.filter(pl.col("id") != 12).write_csv(folder / "new.csv")
    said = problems(document(folder))
    assert "error[missing-id]: 1 row has no value in the id column 'id'" in said
    assert "misaligned-rows" not in said
    ROWS.with_columns(id=pl.Series([11, 11, 13, 14, 15, 16])).write_csv(folder / "rows.csv")
    said = problems(document(folder))
    assert "error[duplicate-id]: 1 row has an id that an earlier row has (column 'id')" in said
    assert "misaligned-rows" not in said


def test_ids_are_compared_by_their_text(folder: Path) -> None:
    # numbers in one file, texts in the other
    OLD.with_columns(pl.col("id").cast(pl.String)).write_parquet(folder / "old.parquet")
    models = {"old": {"predictions": str(folder / "old.parquet"), "probability": "p"}}
    (found,) = samples(document(folder, models=models), {"test": ROWS})
    assert columns(found)["old"] == columns(whole())["old"]
    OLD.with_columns(id=pl.Series([[1]] * 6)).write_parquet(folder / "old.parquet")
    assert "column 'id' of the file of model 'old' for dataset 'test' holds lists" in problems(
        document(folder, models=models))


def test_a_file_without_rows_is_another_number_of_rows(folder: Path) -> None:
    OLD.clear().drop("id").write_csv(folder / "old.csv")
    assert "the file of model 'old' for dataset 'test' has 0 rows, but the dataset has 6" in problems(
        document(folder, id=None))


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "old.csv").write_text("id,p\n11,0.9,5\n")
    said = problems(document(folder))
    assert f"cannot read {folder / 'old.csv'}" in said
    (folder / "old.csv").unlink()
    (folder / "new.csv").unlink()
    said = problems(document(folder))
    assert said.count("error[missing-file]") == 2
