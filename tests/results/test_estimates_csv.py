"""The estimates as CSV: what spreadsheets would run is text there, and numbers stay numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from engine.runs import run
from evalpipe.results.frames import estimates_csv

LEVELS = ["=1+1", "@SUM(1)", "-1", "+2.5", "+a", "plain"]


def test_a_level_that_is_a_formula_begins_with_an_apostrophe() -> None:
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({"y": generator.choice(LEVELS, 200)} | {f"p_{k}": np.full(200, 1 / 6) for k in range(6)})
    results = run(frame, task="multiclass", outcome={"column": "y", "levels": LEVELS}, intervals={"method": "none"},
                  models={"p": {"probabilities": {level: f"p_{k}" for k, level in enumerate(LEVELS)}}},
                  metrics=[{"metric": "sensitivity", "average": "none"}])
    read = pl.read_csv(estimates_csv(results).encode(), infer_schema=False)
    assert read["class"].to_list() == ["'=1+1", "'@SUM(1)", "-1", "+2.5", "'+a", "plain"]
    assert [row.class_ for row in results.rows] == LEVELS
