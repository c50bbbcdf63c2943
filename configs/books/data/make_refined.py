"""Make the rows of the specs of configs/books that follow Machine Learning Refined, section 6.8.

    python configs/books/data/make_refined.py [folder]

`refined_rows.csv`: 150 points of two inputs in two classes, which overlap; some lie far on the wrong side.
`refined_run_1.parquet` to `refined_run_3.parquet`: three runs of gradient descent on the softmax cost of a linear
two-class model, from different starts; of each step the model's value of every point. `refined_points.csv`: a model's
value of points at chosen distances from its boundary. `refined_majority.csv`: 95 and 5 observations of two classes, all
taken for the larger.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 8
POINTS, STEPS = 150, 101
"""Points, and steps of a run with its start."""

STARTS = {1: (3.0, 2.0, -1.0), 2: (1.0, -1.5, 2.0), 3: (2.0, -1.0, 3.0)}
"""The weights that each run starts from: the bias, then one for each input."""

RATE = 0.3
"""The step length of gradient descent."""

DECIMALS = 5
FAR = 12
"""Points of the smaller class that lie far among those of the other, where they pull at the boundary."""

DISTANCES = ((2.0, 1), (0.5, 1), (0.5, -1), (0.0, 1), (0.0, -1), (-0.5, -1), (-2.0, -1), (-2.0, 1))
"""Distances from a boundary, and the true class of a point there."""

NORM = 5.0
"""The norm of the weights of that boundary, (3, 4): the model's value of a point is its distance times this."""


def points() -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs [n, 2] and the classes [n], +1 and -1."""
    generator = np.random.default_rng(SEED)
    y = np.where(np.arange(POINTS) % 3 == 0, 1, -1)
    x = generator.normal(size=(POINTS, 2)) + 0.9 * y[:, None]
    x[np.flatnonzero(y == 1)[:FAR]] = generator.normal(-3.0, 0.4, size=(FAR, 2))
    return x.round(DECIMALS), y


def descent(x: np.ndarray, y: np.ndarray, start: tuple[float, float, float]) -> np.ndarray:
    """Return the model's value of each point at each step, [steps, n]; the first step is the start."""
    inputs, w = np.column_stack([np.ones(len(x)), x]), np.array(start)
    values = []
    for _ in range(STEPS):
        values.append((inputs * w).sum(axis=1))
        # The softmax cost is the mean of log(1 + exp(-y value)).
        slope = -y / (1 + np.exp(y * values[-1]))
        w = w - RATE * (inputs * slope[:, None]).mean(axis=0)
    return np.array(values).round(DECIMALS)


def tables() -> dict[str, Iterable[tuple[object, ...]]]:
    """Return the rows of the files of text, heads first, by name."""
    x, y = points()
    return {
        "rows": [("point", "x1", "x2", "y"), *((n, *inputs, label) for n, (inputs, label) in enumerate(
            zip(x.tolist(), y.tolist(), strict=True), 1))],
        "points": [("point", "value", "y"), *((n, distance * NORM, label) for n, (distance, label) in enumerate(
            DISTANCES, 1))],
        "majority": [("y", "predicted", "observations"), (1, 1, 95), (-1, 1, 5)],
    }


def run(number: int) -> pl.DataFrame:
    """Return a row for each step and point of a run."""
    x, y = points()
    values = descent(x, y, STARTS[number])
    step, point = (grid.ravel() for grid in np.meshgrid(range(STEPS), range(1, POINTS + 1), indexing="ij"))
    return pl.DataFrame({"step": step, "point": point, "value": values.ravel()}, schema={
        "step": pl.Int16, "point": pl.Int16, "value": pl.Float64})


def main(folder: Path) -> None:
    """Write the files."""
    for name, rows in tables().items():
        with (folder / f"refined_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    for number in STARTS:
        run(number).write_parquet(folder / f"refined_run_{number}.parquet", compression_level=19)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
