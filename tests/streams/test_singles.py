"""Cells whose rows all have one value: their rows are tied, and their value is known to the last bit."""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from evalpipe.streams.tables import merged_shared_scores as merged
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

VALUES = np.array([np.inf, 0.25, 0.4, np.nan])


def test_what_is_the_same_of_several_parts_does_not_depend_on_their_order() -> None:
    table = {(a, b): float(merged(np.array([a]), np.array([b]))[0]) for a in VALUES for b in VALUES}
    expected = [[np.inf, 0.25, 0.4, np.nan], [0.25, 0.25, np.nan, np.nan], [0.4, np.nan, 0.4, np.nan], [np.nan] * 4]
    assert np.array_equal(np.reshape(list(table.values()), (4, 4)), expected, equal_nan=True)
    for three in permutations(VALUES, 3):
        one, other, last = (np.array([value]) for value in three)
        left, right = merged(merged(one, other), last), merged(one, merged(other, last))
        assert np.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize("metric", ["ece", "mce", "rmsce", {"metric": "ece", "bins": 10}])
@pytest.mark.parametrize(("events", "others"), [(0.4, 0.37), (0.2, 0.19), (0.25, 0.2499), (0.75, 0.7499), (0.6, 0.59)])
def test_a_probability_at_the_edge_of_a_bin_is_in_the_bin_above(
    tmp_path: Path, metric: object, events: float, others: float
) -> None:
    # 100 events at the edge and 100 others below: (1 - events + others) / 2 where two bins have them, by hand 0.485.
    path = write(pl.DataFrame({"p": [events] * 100 + [others] * 100, "y": [1] * 100 + [0] * 100}), tmp_path / "d", [])
    options = {"models": {"p": {"probability": "p"}}, "metrics": [metric], "intervals": {"method": "none"}}
    (streamed,), (held,) = (run(path, mode, **options).rows for mode in ("grid", "exact"))
    assert streamed.value == pytest.approx(held.value, abs=1e-15)
    assert streamed.error_bound == pytest.approx(0.0, abs=1e-15)
    if metric == "ece" and events == 0.4:
        assert streamed.value == pytest.approx(0.485, abs=1e-15)


def test_tied_scores_have_no_bound(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    p = np.round(generator.random(3000), 2)
    frame = pl.DataFrame({"p": p, "y": (generator.random(3000) < p).astype(int), "s": generator.integers(0, 2, 3000)})
    metrics = ["roc_auc", "average_precision", "ace", "calibration_slope", "ici", "brier_reliability"]
    estimates = run(write(frame, tmp_path / "d", [1000, 700]), models={"p": {"probability": "p"}}, metrics=metrics,
                    slices=["s"], intervals={"method": "none"}).rows
    # But for rounding: each cell has one value, so all of its rows are tied, in the rows as in the cell.
    assert max(row.error_bound for row in estimates) < 1e-13


@pytest.mark.parametrize(("scale", "value"), [({}, 0.4321), ({"scale": "logit"}, 1 / (1 + math.exp(-0.4321)))],
                         ids=["probabilities", "log odds"])
def test_a_score_that_many_rows_share_is_reported_as_of_held_rows(
    tmp_path: Path, scale: dict[str, str], value: float
) -> None:
    place = pl.int_range(pl.len())
    frame = rows().with_columns(p=pl.when(place % 12 == 0).then(0.4321).otherwise(pl.col("p")))
    path = write(frame, tmp_path / "d", [1500])
    models = {"p": {"score": "p", **scale} if scale else {"probability": "p"}}
    in_parts, held = (run(path, mode, models=models, metrics=["brier"], weight=None).shared_values
                      for mode in ("grid", "exact"))
    (shared,), (in_cells,) = held, in_parts
    # The two ways compute a probability of log odds by other formulas, within one unit in the last place.
    assert shared.value == pytest.approx(value, rel=1e-15)
    assert in_cells.value == pytest.approx(value, rel=1e-15)
    assert shared.rows == in_cells.rows == frame.height // 12 + 1
    assert (shared.n, shared.events, shared.at_end) == (in_cells.n, in_cells.events, in_cells.at_end)
    # A cell of the grid may hold a few values, so that the next value's rows are bounded from above.
    assert shared.next_rows <= in_cells.next_rows < 10


def test_scores_next_to_each_other_in_one_cell_are_not_one_score(tmp_path: Path) -> None:
    place = pl.int_range(pl.len())
    near = pl.when(pl.col("y") == 1).then(0.4321).otherwise(0.4321 + 1e-9)  # one for events, one for others
    path = write(rows().with_columns(p=pl.when(place % 12 == 0).then(near).otherwise(pl.col("p"))), tmp_path / "d", [9])
    models = {"p": {"probability": "p"}}
    assert run(path, models=models, metrics=["brier"], weight=None).shared_values == []
