"""Gradient descents made for tests: their rows, the margins of every step, and the spec that measures them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import evalpipe
from evalpipe.results import Results

N, STEPS = 120, 31


def rows(seed: int = 5) -> pl.DataFrame:
    """Return rows with a weight and an outcome that hangs on x."""
    generator = np.random.default_rng(seed)
    y = (np.arange(N) % 3 == 0).astype(int)
    return pl.DataFrame({"id": [f"r{k}" for k in range(N)], "y": y, "x": generator.normal(size=N) + 0.8 * y,
                         "w": generator.integers(1, 4, N)})


def descent(frame: pl.DataFrame, start: tuple[float, float], steps: int = STEPS, rate: float = 0.7) -> np.ndarray:
    """Return the margins of a logistic line at each step of gradient descent, [steps, n]."""
    x, y, (slope, level) = frame["x"].to_numpy(), frame["y"].to_numpy(), start
    margins = []
    for _ in range(steps):
        margins.append(slope * x + level)
        off = 1 / (1 + np.exp(-margins[-1])) - y
        slope, level = slope - rate * np.mean(off * x), level - rate * np.mean(off)
    return np.array(margins)


def long(frame: pl.DataFrame, margins: np.ndarray, numbers: list[int] | None = None) -> pl.DataFrame:
    """Return a row for each id and step."""
    steps = list(range(len(margins))) if numbers is None else numbers
    return pl.concat([pl.DataFrame({"id": frame["id"], "epoch": [step] * len(frame), "margin": margin})
                      for step, margin in zip(steps, margins, strict=True)])


def written(folder: Path, frame: pl.DataFrame, **models: pl.DataFrame) -> dict[str, Any]:
    """Write rows and the files of models; return the spec."""
    frame.write_parquet(folder / "rows.parquet")
    for name, file in models.items():
        file.write_parquet(folder / f"{name}.parquet")
    return {
        "evalpipe": 1, "name": "steps", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [1, 0]},
        "id": "id", "datasets": {"test": {"path": str(folder / "rows.parquet")}},
        "models": {name: {"predictions": str(folder / f"{name}.parquet"), "score": "margin", "scale": "margin",
                          "step": "epoch"} for name in models},
        "metrics": ["log_loss", "accuracy"], "intervals": {"method": "none"}, "report": {"formats": []},
    }


def run_of(folder: Path, **keys: Any) -> Results:
    """Run two descents from different starts, one of 31 steps and one of 16."""
    frame = rows()
    spec = written(folder, frame, slow=long(frame, descent(frame, (-2.0, 1.0))),
                   quick=long(frame, descent(frame, (3.0, -3.0), 16)))
    return evalpipe.run(spec | keys)
