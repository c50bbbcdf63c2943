"""Confusion matrices, with what decided on the predicted levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.equivocal import without_class, zone_record
from evalpipe.results import Confusion
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.engine.estimates import Place


def confusion(place: Place) -> Iterator[Confusion]:
    """Yield the counts of a place; nothing of a model that predicts no levels."""
    sample, part = place.sample, place.part
    model = sample.models[place.model]
    if model.predicted is None or sample.task in NUMBERS:
        return
    at_threshold, written = 0, model.threshold if model.cuts is None else None
    if model.score is not None and model.cut is not None and model.reportable is None:
        at_threshold = int((part.of(model.score) == (model.cut if model.cuts is None else part.of(model.cuts))).sum())
    yield Confusion(
        dataset=sample.dataset, **sample.named(place.model), slice=None if part.slice is None else dict(part.slice),
        levels=list(sample.levels), counts=place.summary.reportable("confusion").tolist(), threshold=written,
        cuts=[] if model.cuts is None else model.threshold_at(np.unique(model.cuts)).tolist(),
        at_threshold=at_threshold, tied=model.tied if part.slice is None else 0, equivocal=without_class(place.summary),
        zone=zone_record(model.zone, written),
    )
