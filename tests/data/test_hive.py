"""Columns that folders name: datasets in Hive's layout hold what the same rows in one file hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from evalpipe.data.files import folder_columns
from evalpipe.errors import DataError
from streams.streaming import numbers, rows, run, write

if TYPE_CHECKING:
    from pathlib import Path


def partitioned(frame: pl.DataFrame, folder: Path) -> Path:
    """Write rows into a folder for each level of two columns, which the files then lack."""
    for (season, habitat), part in frame.group_by("s", "h"):
        place = folder / f"s={season}" / f"h={habitat}"
        place.mkdir(parents=True)
        part.drop("s", "h").write_parquet(place / "part-0.parquet")
    return folder


@pytest.mark.parametrize("mode", ["grid", "auto"])
def test_folders_are_columns(tmp_path: Path, mode: str) -> None:
    frame = rows(900)
    keys = {"slices": ["s", ["s", "h"]], "metrics": ["accuracy", "roc_auc"]}
    expected = numbers(run(write(frame, tmp_path / "one", []), mode, **keys))
    folder = partitioned(frame, tmp_path / "many")
    assert numbers(run(folder, mode, **keys)) == expected
    assert numbers(run(folder / "**" / "*.parquet", mode, **keys)) == expected


def test_a_condition_may_be_on_a_folder(tmp_path: Path) -> None:
    frame = rows(900)
    dataset = {"path": str(partitioned(frame, tmp_path / "d")), "where": "s = 'a'"}
    assert run(tmp_path, datasets={"d": dataset}, metrics=["brier"]).datasets[0].n == (frame["s"] == "a").sum()


def test_the_column_of_a_file_comes_before_its_folder(tmp_path: Path) -> None:
    path = write(rows(300), tmp_path / "s=other", [])
    results = run(path, slices=["s"], metrics=["accuracy"], slice_rules={"min_rows": 1})
    assert {row.slice["s"] for row in results.rows if row.slice} == {"a", "b", "c"}


def test_names_of_folders_are_read() -> None:
    path = "data/s=a%20b/h=__HIVE_DEFAULT_PARTITION__/=x/y=/p=1.parquet"
    assert folder_columns(path) == {"s": "a b", "h": None, "y": None}


def test_a_folder_that_a_file_lacks_is_told(tmp_path: Path) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    rows(10).drop("h").write_parquet(folder / "s=a" / "stray.parquet")
    with pytest.raises(DataError) as error:
        run(folder, slices=["h"])
    message = f"{folder}/s=a/stray.parquet has no column 'h', which {folder}/s="
    assert error.value.problems[0].message.startswith(message)


def test_a_folder_without_a_value_is_one_of_rows_without(tmp_path: Path) -> None:
    frame = rows(300).drop("s")
    for name, part in (("s=", frame[:100]), ("s=__HIVE_DEFAULT_PARTITION__", frame[100:150]), ("s=k", frame[150:])):
        write(part, tmp_path / "d" / name, [])
    results = run(tmp_path / "d", slices=["s"], metrics=["accuracy"])
    assert {(row.slice or {}).get("s"): row.n for row in results.rows if row.model == "p"} == {
        None: 300, "k": 150, "(missing)": 150}


def test_what_programs_leave_beside_the_data_is_no_data(tmp_path: Path) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    (folder / "_SUCCESS").write_text("")
    (folder / "_logs").mkdir()
    for name in ("_metadata.parquet", "._part-0.parquet", "_logs/0.parquet"):
        (folder / name).write_text("none")
    (folder / "notes").mkdir()
    assert run(folder, metrics=["brier"]).datasets[0].n == 300


@pytest.mark.parametrize("mode", ["grid", "exact"])
def test_a_folder_of_another_name_is_not_left_out_in_silence(tmp_path: Path, mode: str) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    write(rows(10), folder / "late", [])
    with pytest.raises(DataError) as error:
        run(folder, mode)
    (problem,) = error.value.problems
    assert (problem.code, problem.message, problem.hint) == (
        "mixed-folders", f"the folder {folder}/late is not called column=value, as those beside it are",
        "rename it or move it away, or name the files with a glob")


def test_a_file_beside_the_folders_is_read_too(tmp_path: Path) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    rows(10).write_parquet(folder / "more.parquet")
    assert run(folder, slices=["s"], metrics=["brier"]).datasets[0].n == 310


def test_a_link_to_a_folder_above_is_told(tmp_path: Path) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    (folder / "s=z").symlink_to(folder)
    with pytest.raises(DataError) as error:
        run(folder)
    (problem,) = error.value.problems
    assert (problem.code, problem.message, problem.hint) == (
        "folder-in-itself", f"the folder {folder}/s=z is a link to a folder that it is in",
        "remove the link, or name the files with a glob")
