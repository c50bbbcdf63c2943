"""Ids of rows that are read part by part: what is told of them is what is told of rows that are held."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError, UsageError
from evalpipe.streams import row_ids
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

KEYS: dict[str, Any] = {"id": "i", "metrics": ["brier"], "intervals": {"method": "none"}}


def named(n: int, first: int = 0, seed: int = 3) -> pl.DataFrame:
    """Return rows with ids that are texts."""
    return rows(n, seed=seed).with_columns(i=pl.format("row-{}", pl.int_range(first, first + n)))


@pytest.fixture(params=[0, 3], autouse=True)
def bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell hashes apart into one file, and into eight."""
    monkeypatch.setattr(row_ids, "bits_for", lambda _: request.param)


def both(path: Path, **keys: Any) -> str:
    """Return the error of rows that are read part by part, which is that of rows that are held."""
    told = []
    for mode in ("exact", "grid"):
        with pytest.raises(DataError) as error:
            run(path, mode, **KEYS | keys)
        told.append(str(error.value))
    assert told[0] == told[1]
    return told[1]


def told_both_ways(path: Path, **keys: Any) -> tuple[Any, Any]:
    """Return the datasets, the inputs and the warnings of rows that are read part by part, and of rows held."""
    streamed, held = (json.loads(run(path, mode, **KEYS | keys).to_json()) for mode in ("grid", "exact"))
    for dataset in streamed["datasets"]:
        dataset["cells"] = None
    left, right = ([results[key] for key in ("datasets", "inputs", "warnings")] for results in (streamed, held))
    return left, right


def test_ids_of_one_row_each_are_accepted(tmp_path: Path) -> None:
    streamed, whole = told_both_ways(write(named(900), tmp_path / "d", [300, 0, 200]))
    assert streamed == whole


def test_an_id_in_two_files_is_told_with_both_rows(tmp_path: Path) -> None:
    path = write(pl.concat([named(600), named(10, first=295)]), tmp_path / "d", [300, 300])
    assert both(path).startswith(
        "error[duplicate-id]: 10 rows have an id that an earlier row has (column 'i')\n"
        f" --> {path}\n  |\n"
        f"  | row 1: 'row-295' in {path}/part-00002.parquet, as in row 296 in {path}/part-00000.parquet\n")


def test_an_id_in_one_file_is_told(tmp_path: Path) -> None:
    path = write(pl.concat([named(50), named(3, first=7)]), tmp_path / "d", [])
    told = both(path / "part-00000.parquet")
    assert "row 51: 'row-7', as in row 8\n" in told


def test_rows_that_do_not_meet_where_may_have_any_id(tmp_path: Path) -> None:
    frame = named(400).with_columns(i=pl.when(pl.col("age") > 50).then(pl.lit("same")).otherwise(pl.col("i")))
    path = write(frame, tmp_path / "d", [150])
    streamed, whole = told_both_ways(path, datasets={"d": {"path": str(path), "where": "age <= 50"}})
    assert streamed == whole
    assert "have an id that an earlier row has" in both(path)


def test_a_row_without_an_id_is_told(tmp_path: Path) -> None:
    path = write(named(300), tmp_path / "d", [100])
    file = path / "part-00001.parquet"
    pl.read_parquet(file).with_columns(
        i=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise(pl.col("i"))).write_parquet(file)
    with pytest.raises(DataError) as error:
        run(path, **KEYS)
    assert str(error.value) == (
        f"error[missing-id]: 1 row has no value in the id column 'i'\n --> {file}\n  |\n  | row 6: empty\n"
        "  = named at the spec, id\n  = help: fill them, or leave such rows out with where: 'i IS NOT NULL'")


@pytest.mark.parametrize("kind", [pl.Int32, pl.UInt64, pl.Float64])
def test_ids_are_compared_by_what_is_written_and_not_by_type(tmp_path: Path, kind: Any) -> None:
    path = write(rows(200).with_columns(i=pl.int_range(pl.len())), tmp_path / "d", [])
    rows(100).with_columns(i=pl.int_range(150, 250).cast(kind)).write_parquet(path / "b.parquet")
    assert "50 rows have an id that an earlier row has" in both(path)


def test_hashes_that_collide_are_no_ids_that_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_ids, "hashes_of", lambda ids: ids.str.slice(0, 5).hash())
    streamed, whole = told_both_ways(write(named(900), tmp_path / "d", [300]))
    assert streamed == whole
    assert "1 row has an id that an earlier row has" in both(
        write(pl.concat([named(600), named(1)]), tmp_path / "e", [300]))


def test_very_many_ids_that_stand_twice_are_told_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_ids, "MOST_HASHES", 20)
    path = write(pl.concat([named(600), named(600)]), tmp_path / "d", [600])
    with pytest.raises(DataError) as error:
        run(path, **KEYS)
    (problem,) = error.value.problems
    assert problem.message == "20 rows have an id that an earlier row has (column 'i')"
    assert "and more: of very many such ids, 20 in 1,000,000 rows were compared as they are written" in problem.notes


def datasets(tmp_path: Path, role: str, first: int, **keys: Any) -> dict[str, Any]:
    path, other = write(named(500), tmp_path / "d", [200]), write(named(300, first, seed=9), tmp_path / "o", [100])
    return {"path": path, "datasets": {"d": {"path": str(path)}, "o": {"path": str(other), "role": role}}, **keys}


FIT = {"recalibrate": {"methods": ["platt"], "fit_on": "o"}}


@pytest.mark.parametrize(("role", "keys"), [("reference", {}), ("calibrate", FIT)])
def test_datasets_that_share_no_row_are_compared(tmp_path: Path, role: str, keys: Any) -> None:
    asked = datasets(tmp_path, role, 500, **keys)
    streamed, whole = told_both_ways(**asked)
    assert streamed == whole
    assert run(**KEYS | asked).datasets[0].compared == {"o": ["i"]}


@pytest.mark.parametrize(("role", "keys"), [("reference", {}), ("calibrate", FIT)])
def test_rows_that_datasets_share_are_told(tmp_path: Path, role: str, keys: Any) -> None:
    told = both(**datasets(tmp_path, role, 493, **keys))
    assert told.startswith("error[shared-rows]: 7 rows of dataset 'd' are also in ")
    assert "'row-493'" in told


def test_a_reference_dataset_needs_no_outcome(tmp_path: Path) -> None:
    asked = datasets(tmp_path, "reference", 500)
    for file in (tmp_path / "o").iterdir():
        pl.read_parquet(file).select("i").write_parquet(file)
    streamed, whole = told_both_ways(**asked)
    assert streamed == whole


def test_a_reference_dataset_may_have_a_condition_and_rows_without_an_outcome(tmp_path: Path) -> None:
    asked = datasets(tmp_path, "reference", 400)
    asked["datasets"]["o"]["where"] = "i > 'row-5'"
    for file in (tmp_path / "o").iterdir():
        frame = pl.read_parquet(file)
        nothing = pl.int_range(pl.len()) % 7 == 0
        frame.with_columns(y=pl.when(nothing).then(None).otherwise(pl.col("y")), i=pl.when(nothing).then(
            None).otherwise(pl.col("i"))).write_parquet(file)
    streamed, whole = told_both_ways(**asked)
    assert streamed == whole


def test_levels_that_differ_between_datasets_are_told(tmp_path: Path) -> None:
    asked = datasets(tmp_path, "calibrate", 500, **FIT)
    for file in (tmp_path / "o").iterdir():
        pl.read_parquet(file).with_columns(y=pl.col("y").replace({0: 2})).write_parquet(file)
    with pytest.raises(DataError) as error:
        run(**KEYS | asked)
    (problem,) = error.value.problems
    assert (problem.code, problem.message) == (
        "levels-differ", "the outcome has the level '2' in dataset 'o' but '0' in dataset 'd'")


def test_nothing_is_left_of_what_was_compared(tmp_path: Path) -> None:
    path = write(named(300), tmp_path / "d", [100])
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": str(path)}}, "id": "i",
            "outcome": {"column": "y", "event": 1}, "models": {"p": {"probability": "p"}}, "metrics": ["brier"],
            "engine": {"mode": "grid"}, "report": {"formats": []}, "intervals": {"method": "none"}}
    evalpipe.run(spec, out=tmp_path / "out")
    left = sorted(entry.name for entry in (tmp_path / ".evalpipe-cache" / "out").iterdir())
    assert [name for name in left if not name.endswith(".tables")] == ["last-run.json"]


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "split", full)
    with pytest.raises(UsageError) as error:
        run(write(named(300), tmp_path / "d", []), **KEYS)
    assert error.value.problems[0].code == "no-space"
    assert "where ids are compared: No space left on device" in error.value.problems[0].message
