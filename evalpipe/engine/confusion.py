"""Confusion matrices, with what decided on the predicted levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.equivocal.compute import zone_record
from evalpipe.results import Confusion
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.engine.estimates import Scope
    from evalpipe.statistics import Summary


def confusion(scope: Scope) -> Iterator[Confusion]:
    """Yield the counts of a scope; nothing of a model that predicts no levels."""
    sample, subset = scope.sample, scope.subset
    model = sample.models[scope.model]
    if model.predicted is None or sample.task in NUMBERS:
        return
    at_threshold, written = np.zeros(0, bool), model.threshold if model.cuts is None else None
    if model.score is not None and model.cut is not None and model.reportable is None:
        cuts = model.cut if model.cuts is None else subset.of(model.cuts)
        at_threshold = subset.of(sample.truth)[subset.of(model.score) == cuts]
    yield Confusion(
        dataset=sample.dataset, **sample.named(scope.model), slice=None if subset.slice is None else dict(subset.slice),
        levels=list(sample.levels), counts=scope.summary.reportable("confusion").tolist(), threshold=written,
        cuts=[] if model.cuts is None else model.threshold_at(np.unique(model.cuts)).tolist(),
        at_threshold=len(at_threshold), events_at_threshold=int(np.count_nonzero(at_threshold)),
        tied=model.tied if subset.slice is None else 0,
        equivocal=_without_class(scope.summary), zone=zone_record(model.zone, written),
    )


def _without_class(summary: Summary) -> float:
    """Return the weight of the rows that have no class, as they lie in an equivocal zone."""
    flags = summary.rows.reportable
    return 0.0 if flags is None else float(summary.weights[~flags].sum())
