"""What checks tell of the rows: scores and predictions that many of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.contents.records import SharedValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.sample import Predictions
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

SHARE, FEWEST, TIMES = 0.05, 20, 10
"""The least share and number of rows of a value that many share, and how many times those of the next value."""

GRID = 1000
"""The finest grid of a model with few distinct scores, such as a forest of so many trees."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what the rows of evaluated datasets hold, as fields of the results; nothing of rows that are not held."""
    del plan
    datasets = [dataset for dataset in evaluated if not dataset.sample.streamed]
    return {"shared_values": [row for dataset in datasets for row in _shared_values(dataset)]}


def _shared_values(dataset: Evaluated) -> Iterator[SharedValue]:
    """Yield for each model the score or prediction that many rows share, if there is one."""
    sample = dataset.sample
    for name, model in sample.models.items():
        values = _scores(model, sample.task)
        if model.source is not None or values is None or not len(values):
            continue
        _, first_rows, inverse, counts = np.unique(
            values, return_index=True, return_inverse=True, return_counts=True, axis=0)
        mode = int(counts.argmax())
        rows, next_rows = int(counts[mode]), int(np.delete(counts, mode).max(initial=0))
        is_shared = rows >= max(FEWEST, SHARE * len(values)) and rows >= TIMES * next_rows and next_rows > 0
        at_end = values.ndim == 1 and mode in (0, len(counts) - 1)
        if not is_shared or (at_end and _on_grid(values)):
            continue
        events = int(sample.truth[inverse.ravel() == mode].sum()) if sample.task == "binary" else None
        value = float(values[first_rows[mode]]) if values.ndim == 1 else None
        yield SharedValue(dataset=sample.dataset, model=name, value=value, rows=rows, n=len(values),
                          next_rows=next_rows, at_end=at_end, events=events)


def _scores(model: Predictions, task: str) -> Values | None:
    """Return what a model predicts for each row in numbers, [n] or [n, K]; None where it gives classes alone."""
    if model.probability is not None:
        return model.probability
    return model.score if model.score is not None or task in ("binary", "multiclass", "ordinal") else model.predicted


def _on_grid(values: Floats) -> bool:
    """Tell whether all values are multiples of one over `GRID`, as rounded scores and those of a forest are."""
    scaled = values * GRID
    return bool((np.abs(scaled - np.rint(scaled)) < 1e-6).all())
