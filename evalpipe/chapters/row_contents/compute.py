"""What checks tell of the rows: scores and predictions that many of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.row_contents.compute_groups import undeclared_clusters, undeclared_groups
from evalpipe.chapters.row_contents.compute_rows import copies_in, shared_contents
from evalpipe.chapters.row_contents.records import LookedAt, SharedValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

SHARE, FEWEST, TIMES = 0.05, 20, 10
"""The least share and number of rows of a value that many share, and how many times those of the next value."""

GRID = 1000
"""The finest grid of a model with few distinct scores, such as a forest of so many trees."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what the rows of evaluated datasets hold, as fields of the results; nothing of rows that are not held."""
    datasets = [dataset for dataset in evaluated if not dataset.sample.streamed]
    fields: dict[str, list[object]] = {name: [] for name in (
        "looked_at", "copies", "shared_contents", "undeclared_clusters", "undeclared_groups", "shared_values")}
    for sample in (dataset.sample for dataset in evaluated):
        fields["shared_contents"] += shared_contents(sample)
    for sample in (dataset.sample for dataset in datasets):
        clusters = list(undeclared_clusters(sample))
        cluster = sample.cluster if not clusters or sample.contents is None else sample.contents.ids[clusters[0].column]
        fields["looked_at"] += _looked_at(sample)
        fields["copies"] += copies_in(sample)
        fields["undeclared_clusters"] += clusters
        fields["undeclared_groups"] += undeclared_groups(sample, plan.slices.min_rows, cluster)
        fields["shared_values"] += _shared_values(sample)
    return dict(fields)


def _looked_at(sample: Sample) -> Iterator[LookedAt]:
    """Yield how many columns were looked at that the spec does not name, if there are any."""
    contents = sample.contents
    if contents is not None and (contents.further or contents.unseen):
        holds: list[Literal["groups", "ids"]] = ["groups"] if contents.groups else []
        if contents.ids:
            holds.append("ids")
        yield LookedAt(dataset=sample.dataset, unseen=contents.unseen, holds=holds)


def _shared_values(sample: Sample) -> Iterator[SharedValue]:
    """Yield for each model the score or prediction that many rows share, if there is one."""
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
