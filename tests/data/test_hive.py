"""Columns that folders name: datasets in Hive's layout hold what the same rows in one file hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from evalpipe.data.hive import named
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
    assert named("data/s=a%20b/h=__HIVE_DEFAULT_PARTITION__/=x/y=/p=1.parquet") == {"s": "a b", "h": None}


def test_a_folder_that_a_file_lacks_is_told(tmp_path: Path) -> None:
    folder = partitioned(rows(300), tmp_path / "d")
    rows(10).drop("h").write_parquet(folder / "s=a" / "stray.parquet")
    with pytest.raises(DataError) as error:
        run(folder, slices=["h"])
    message = f"{folder}/s=a/stray.parquet has no column 'h', which {folder}/s="
    assert error.value.problems[0].message.startswith(message)
