"""Data sets with no fault: predictions are the means of the outcomes, groups and datasets differ by chance alone."""

from __future__ import annotations

from findings.planted import BINARY, LEVELS, NUMBERS, Frames, Spec, amounts, counts, events, levels, spec_of

TASKS = ("binary", "regression", "count", "multiclass")
ROWS = 400


def clean(number: int) -> tuple[Spec, Frames]:
    """Return the spec and the frames of a data set; tasks take turns."""
    task, seed = TASKS[number % len(TASKS)], 100 + 2 * number
    make = {"binary": events, "regression": amounts, "count": counts, "multiclass": levels}[task]
    frames = {"d": make(seed, ROWS), "reference": make(seed + 1, ROWS).select("y", "id")}
    if task == "binary":
        gates = [{"metric": "roc_auc", "min": 0.7}]
        return spec_of(frames, task, BINARY, id="id", metrics=["brier", "roc_auc"], slices=["g", "h"], gates=gates,
                       threshold=0.5), frames
    if task == "multiclass":
        return spec_of(frames, task, LEVELS, id="id", outcome={"column": "y", "levels": ["low", "mid", "top"]}), frames
    return spec_of(frames, task, NUMBERS, id="id", slices=["g"]), frames
