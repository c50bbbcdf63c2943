"""Make the rows of the specs of configs/books that follow the slides of Stat 406.

    python configs/books/data/make_stat406.py [folder]

`stat406_simulated.csv`: the simulation of the slides drawn anew: 250 evenly spaced x from -5 to 5, a probability of
1 / (1 + exp(-x)), an outcome, and the probability that a logistic regression of the outcome on x predicts. `sharpened`
has twice these log odds, for the plot that is less well calibrated, whose model the slides do not give. `node` and
`tree` are the nodes of a tree with three cuts of x, and the share of events in them.
`stat406_faces.csv`: persons at a gate, as counts of what they are and of what they are taken for. Needs numpy.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED, ROWS, SHARPER = 406, 250, 2
NODES = {"x below -2": (-5, -2), "x from -2 to 0": (-2, 0), "x from 0 to 2": (0, 2), "x from 2": (2, 6)}
"""Where each node of the tree begins and ends."""

FACES = {
    "fine": {"fine": 9600, "expired": 240, "terrorist": 60},
    "expired": {"fine": 12, "expired": 78, "terrorist": 2},
    "terrorist": {"fine": 1, "expired": 1, "terrorist": 6},
}
"""Persons by what they are, then by what they are taken for."""


def logistic(score: np.ndarray) -> np.ndarray:
    """Return the probabilities of some log odds."""
    return 1 / (1 + np.exp(-score))


def log_odds(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Fit a logistic regression of y on x by Newton's method and return the log odds that it predicts."""
    design = np.column_stack([np.ones_like(x), x])
    coefficients = np.zeros(2)
    for _ in range(25):
        p = logistic(design @ coefficients)
        information = design.T @ (design * (p * (1 - p))[:, None])
        coefficients += np.linalg.solve(information, design.T @ (y - p))
    return design @ coefficients


def simulated() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then the simulated rows."""
    x = np.linspace(-5, 5, ROWS)
    y = np.random.default_rng(SEED).random(ROWS) < logistic(x)
    score = log_odds(x, y)
    node = [next(name for name, (low, high) in NODES.items() if low <= value < high) for value in x]
    share = {name: y[[other == name for other in node]].mean() for name in NODES}
    yield "x", "y", "fitted", "sharpened", "node", "tree"
    for place in range(ROWS):
        probabilities = (f"{logistic(factor * score[place]):.6f}" for factor in (1, SHARPER))
        yield f"{x[place]:.4f}", int(y[place]), *probabilities, node[place], f"{share[node[place]]:.6f}"


def faces() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then a row for each pair of levels."""
    yield "person", "taken_for", "persons"
    for truth, counts in FACES.items():
        for predicted, persons in counts.items():
            yield truth, predicted, persons


def main(folder: Path) -> None:
    """Write the files."""
    for name, rows in {"simulated": simulated, "faces": faces}.items():
        with (folder / f"stat406_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
