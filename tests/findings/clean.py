"""Data sets with no fault: predictions are the means of the outcomes, groups and datasets differ by chance alone."""

from __future__ import annotations

import numpy as np
import polars as pl

from findings.planted import BINARY, NUMBERS, Frames, Spec, amounts, counts, events, levels, spec_of

TASKS = ("binary", "regression", "count", "multiclass")
ROWS = 400
FIVE = ("least", "low", "mid", "high", "top")


def spread_counts(seed: int, n: int) -> pl.DataFrame:
    """Return rows whose prediction p is the mean of their Poisson count, from a tenth to ten and more."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(0, 1.2, n))
    return counts(seed, n).with_columns(y=pl.Series(rng.poisson(p)), p=pl.Series(p))


def amounts_with_heavy_tails(seed: int, n: int) -> pl.DataFrame:
    """Return rows whose prediction p, lognormal, is the mean of their outcome; errors have 3 degrees of freedom."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(2.5, 0.7, n))
    return amounts(seed, n).with_columns(y=pl.Series(p + 3 * rng.standard_t(3, n)), p=pl.Series(p))


FAMILIES = {
    "binary": ("binary", events), "binary, narrow": ("binary", lambda seed, n: events(seed, n, spread=0.4)),
    "binary, 2 % events": ("binary", lambda seed, n: events(seed, n, level=-4.4, spread=1.0)),
    "numbers": ("regression", amounts), "numbers, heavy tails": ("regression", amounts_with_heavy_tails),
    "counts": ("count", counts), "counts, widely spread": ("count", spread_counts),
    "classes": ("multiclass", levels), "classes, five": ("multiclass", lambda seed, n: levels(seed, n, FIVE)),
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
        threshold = 0.02 if "2 %" in family else 0.5  # nobody cuts at 0.5 what is never so probable
        return spec_of(frames, task, BINARY, id="id", metrics=["brier", "roc_auc"], slices=["g", "h"], gates=gates,
                       threshold=threshold), frames
    if task == "multiclass":
        names = [name for name in frames["d"].columns if name not in ("y", "id")]
        models = {"p": {"probabilities": {name: name for name in names}}}
        return spec_of(frames, task, models, id="id", outcome={"column": "y", "levels": names}), frames
    return spec_of(frames, task, NUMBERS, id="id", slices=["g"]), frames
