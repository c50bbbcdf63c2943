"""The canonical order of rows, against a sort by all columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalpipe.data.read import sort_rows

DRAWN = np.random.default_rng(8)
N = 400

COLUMNS = {
    "flag": DRAWN.random(N) < 0.3, "whole": DRAWN.integers(-3, 3, N), "float": DRAWN.normal(size=N),
    "rounded": np.round(DRAWN.random(N), 1) + 0.0, "again": np.round(DRAWN.random(N), 1),
    "text": DRAWN.choice(np.array(["b", "a", "c"]), N), "tail": np.arange(N),
}


@pytest.mark.parametrize("names", [
    ["flag", "float"], ["flag", "rounded"], ["flag", "rounded", "again", "text", "tail"], ["whole", "flag", "rounded"],
    ["rounded", "text"], ["text", "float"], ["flag", "whole", "text"], ["float"], ["flag"],
])
@pytest.mark.parametrize("height", [0, 1, 2, N])
def test_rows_are_sorted_by_all_columns_in_turn(names: list[str], height: int) -> None:
    table = pl.DataFrame({name: COLUMNS[name] for name in names}).head(height)
    assert_frame_equal(sort_rows(table), table.sort(table.columns))


def test_missing_values_come_first_as_in_any_sort() -> None:
    columns = {"flag": [True, None, False, True], "float": [0.5, 0.1, None, 0.2], "text": ["a", None, "", "b"]}
    table = pl.DataFrame(columns)
    assert_frame_equal(sort_rows(table), table.sort(table.columns))
    assert_frame_equal(sort_rows(table.select("float", "text")), table.select("float", "text").sort("float", "text"))
