"""Disparities: how far the slices of one slicing lie apart in a measure."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.chapters.slices.records import Disparity
from evalpipe.engine.bootstrap_values import Limited, share, spread, together
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.noise import range_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.slices.plan import DisparityPlan
    from evalpipe.engine.bootstrap_values import Drawn
    from evalpipe.engine.estimates import Evaluated

    BySubset = Mapping[int, Drawn]


def disparities(evaluated: Evaluated) -> Iterator[Disparity]:
    """Yield every disparity that the spec asks for, of each model and each slicing of two slices or more."""
    asked = evaluated.plan.slices.disparities
    for model in evaluated.sample.models if asked else ():
        scopes = list(evaluated.scopes(model))
        for slicing, rows in enumerate(evaluated.sample.slicings):
            for disparity in asked if len(rows.labels) > 1 else ():
                drawn = [{scope.number: scope.drawn(entry, evaluated.replicates) for scope in scopes}
                         for entry in disparity.entries]
                yield _disparity(evaluated, model, slicing, disparity, drawn)


def _disparity(
    evaluated: Evaluated, model: str, slicing: int, asked: DisparityPlan, drawn: Sequence[BySubset]
) -> Disparity:
    """Return a disparity between the slices of a slicing; ``drawn`` are its measures, each by subset."""
    subsets, sample, level = evaluated.subsets, evaluated.sample, evaluated.plan.level
    slices = [k for k, subset in enumerate(subsets) if subset.slicing == slicing and subset.slice is not None]
    used = [k for k in slices if all(k in values and np.isfinite(values[k].value) for values in drawn)]
    difference = ratio = Limited(None, status="insufficient", reason="fewer than two slices have a value")
    if len(used) > 1:
        largest, smallest = _extremes([[values[k] for k in used] for values in drawn], asked.entries[0].undefined)
        difference, ratio = largest.limited(level, range_limits), smallest.limited(level, _share_limits)
    entry = asked.entries[0] if len(asked.entries) == 1 else None
    # Of two measures the lowest slice of one need not be that of the other, so none is named.
    ranked = sorted(used, key=lambda k: drawn[0][k].value) if entry and len(used) > 1 else []
    return Disparity(
        dataset=sample.dataset, **sample.named(model), slicing=sample.slicings[slicing].title, disparity=asked.name,
        params=entry.shown if entry else {}, average=entry.average if entry else None,
        difference=difference.value, **difference.fields(level), ratio=ratio.value, ratio_lower=ratio.lower,
        ratio_upper=ratio.upper, expected=_by_chance(difference),
        lowest=dict(subsets[ranked[0]].slice or {}) if ranked else None,
        highest=dict(subsets[ranked[-1]].slice or {}) if ranked else None,
        slices=len(slices), used=len(used),
    )


def _extremes(measures: Sequence[Sequence[Drawn]], undefined: str) -> tuple[Drawn, Drawn]:
    """Return the largest range of any measure over slices, and the least ratio of its smallest to its largest value."""
    largest = together([spread(values) for values in measures], lambda ranges: ranges.max(axis=-1))
    smallest = together([share(values) for values in measures], lambda shares: shares.min(axis=-1))
    reason = f"undefined in a slice: {undefined}"
    return replace(largest, undefined=reason), replace(smallest, undefined=reason)


def _by_chance(difference: Limited) -> float | None:
    """Return how much larger a range is in replicates, on average; None where these tell nothing or there are none."""
    if difference.value is None or difference.drawn is None or not np.isfinite(difference.drawn.known).any():
        return None
    return float(np.nanmean(difference.drawn.known) - difference.value)


def _share_limits(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return limits of the ratio of the smallest to the largest, from the range of the logarithms."""
    if value <= 0:
        limits = percentile_limits(replicates, level)
        return None if limits is None else (0.0, max(limits[1], 0.0))
    # The range of the logarithms is minus the logarithm of that ratio, so its limits turn round on the way back.
    logs = -log(np.where(replicates > 0, replicates, np.nan))
    limits = range_limits(-math.log(value), logs, level)
    return None if limits is None else (math.exp(-limits[1]), math.exp(-limits[0]))
