"""A run of twelve classes, whose confusion matrix is as wide as any that has to fit a page and a phone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from engine.runs import run
from evalpipe.results import Results

ANIMALS = (
    "Tyrannosaurus rex", "Ankylosaurus", "Diplodocus", "Triceratops horridus", "Stegosaurus", "Brachiosaurus",
    "Velociraptor", "Pteranodon longiceps", "Iguanodon", "Spinosaurus", "Allosaurus", "Parasaurolophus",
)
SHORT = tuple(f"{k}" for k in range(1, 13))


def of_levels(levels: tuple[str, ...], rows: int = 2400, **keys: Any) -> Results:
    """Run a model that predicts the level of about two in three rows, and 100 % of the rows of the first level."""
    generator = np.random.default_rng(1)
    truth = generator.integers(0, len(levels), rows)
    guess = np.where(generator.random(rows) < 0.66, truth, generator.integers(0, len(levels), rows))
    predicted = np.where(truth == 0, 0, guess)
    frame = pl.DataFrame({name: [levels[k] for k in column] for name, column in (("y", truth), ("p", predicted))})
    return run(frame, task="multiclass", outcome={"column": "y", "levels": [*levels]}, metrics=["accuracy"],
               models={"m": {"prediction": "p", "label": "Forest"}}, intervals={"method": "none"}, **keys)
