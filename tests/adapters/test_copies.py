"""`evaluate` takes arrays as they lie in memory: no column is copied before the engine puts rows in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evalpipe.arrays import table

VALUES = np.random.default_rng(3).random(10_000)


@pytest.mark.parametrize("given", [
    lambda values: values, lambda values: pd.Series(values, copy=False), pl.Series, pa.array,
    lambda values: np.asfortranarray(np.column_stack([values, values]))[:, 1],
])
def test_a_column_of_numbers_is_not_copied(given: Callable[[Any], Any]) -> None:
    column = given(VALUES)
    frame = table({"model.probability": column}, {})
    before = column if isinstance(column, np.ndarray) else column.to_numpy()
    assert np.shares_memory(frame["model.probability"].to_numpy(), before)
    assert frame["model.probability"].to_list() == VALUES.tolist()
