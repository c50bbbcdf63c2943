"""Data sets with no fault: predictions are the means of the outcomes, groups and datasets differ by chance alone."""

from __future__ import annotations

import numpy as np
import polars as pl

from findings.planted import BINARY, LEVELS, NUMBERS, Frames, Spec, amounts, counts, events, levels, spec_of

TASKS = ("binary", "regression", "count", "multiclass")
ROWS = 400


def spread_counts(seed: int, n: int) -> pl.DataFrame:
    """Return rows whose prediction p is the mean of their Poisson count, from a tenth to ten and more."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(0, 1.2, n))
    return counts(seed, n).with_columns(y=pl.Series(rng.poisson(p)), p=pl.Series(p))


FAMILIES = {
    "binary": ("binary", events), "binary, narrow": ("binary", lambda seed, n: events(seed, n, spread=0.4)),
    "numbers": ("regression", amounts), "counts": ("count", counts), "counts, widely spread": ("count", spread_counts),
    "classes": ("multiclass", levels),
}
"""The task of each family, and what makes its rows."""


def clean(number: int) -> tuple[Spec, Frames]:
    """Return the spec and the frames of a data set; tasks take turns."""
    task = TASKS[number % len(TASKS)]
    return clean_of({"regression": "numbers", "count": "counts", "multiclass": "classes"}.get(task, task), number, ROWS)


def clean_of(family: str, number: int, rows: int) -> tuple[Spec, Frames]:
    """Return the spec and the frames of a data set of a family."""
    (task, make), seed = FAMILIES[family], 100 + 2 * number
    frames = {"d": make(seed, rows), "reference": make(seed + 1, rows).select("y", "id")}
    if task == "binary":
        gates = [{"metric": "roc_auc", "min": 0.7 if family == "binary" else 0.5}]
        return spec_of(frames, task, BINARY, id="id", metrics=["brier", "roc_auc"], slices=["g", "h"], gates=gates,
                       threshold=0.5), frames
    if task == "multiclass":
        return spec_of(frames, task, LEVELS, id="id", outcome={"column": "y", "levels": ["low", "mid", "top"]}), frames
    return spec_of(frames, task, NUMBERS, id="id", slices=["g"]), frames
