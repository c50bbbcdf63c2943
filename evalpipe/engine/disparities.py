"""Disparities: how far the slices of one slicing lie apart in a measure."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.drawn import Limited, share, spread, together
from evalpipe.engine.slices import drawn_by_subset
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.noise import range_limits
from evalpipe.results import Disparity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.arraytypes import Floats
    from evalpipe.engine.drawn import Drawn
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


def disparities(plan: Plan, one: Evaluated) -> Iterator[Disparity]:
    """Yield every disparity that the spec asks for, of each model and each slicing of two slices or more."""
    for model in one.sample.models if plan.slices.disparities else ():
        scopes = {scope.number: scope for scope in one.scopes(model)}
        for number, slicing in enumerate(one.sample.slicings):
            if len(slicing.labels) < 2:
                continue
            members = [k for k, subset in enumerate(one.subsets) if subset.slicing == number and subset.slice]
            for asked in plan.slices.disparities:
                measured = [drawn_by_subset(one, scopes, entry) for entry in asked.entries]
                yield _disparity(one, model, number, asked.name, asked.entries, measured, members)


def _disparity(
    one: Evaluated, model: str, number: int, name: str, entries: Sequence[MetricPlan],
    measured: Sequence[Mapping[int, Drawn]], members: Sequence[int],
) -> Disparity:
    level, slicing = one.plan.level, one.sample.slicings[number]
    used = [k for k in members if all(k in drawn and np.isfinite(drawn[k].value) for drawn in measured)]
    distance = ratio = Limited(None, status="insufficient", reason="fewer than two slices have a value")
    expected = None
    if len(used) > 1:
        ranges, shares = ([make([drawn[k] for k in used]) for drawn in measured] for make in (spread, share))
        undefined = f"undefined in a slice: {entries[0].undefined}"
        largest = replace(together(ranges, lambda values: values.max(axis=-1)), undefined=undefined)
        smallest = replace(together(shares, lambda values: values.min(axis=-1)), undefined=undefined)
        distance, ratio = largest.limited(level, range_limits), smallest.limited(level, _share_limits)
        if largest.replicates is not None and np.isfinite(largest.replicates).any() and distance.value is not None:
            expected = float(np.nanmean(largest.replicates) - distance.value)
    single = len(measured) == 1 and len(used) > 1
    ends = sorted(used, key=lambda k: measured[0][k].value)
    return Disparity(
        dataset=one.sample.dataset, **one.sample.named(model), slicing=slicing.title, disparity=name,
        params=entries[0].shown if len(entries) == 1 else {}, average=entries[0].average if len(entries) == 1 else None,
        difference=distance.value, lower=distance.lower, upper=distance.upper,
        ratio=ratio.value, ratio_lower=ratio.lower, ratio_upper=ratio.upper,
        level=level if distance.limits else None, expected=expected,
        lowest=dict(one.subsets[ends[0]].slice or {}) if single else None,
        highest=dict(one.subsets[ends[-1]].slice or {}) if single else None,
        slices=len(members), used=len(used), status=distance.status, reason=distance.reason,
    )


def _share_limits(value: float, drawn: Floats, level: float) -> tuple[float, float] | None:
    """Return limits of the ratio of the smallest to the largest, from the range of the logarithms."""
    if value <= 0:
        limits = percentile_limits(drawn, level)
        return None if limits is None else (0.0, max(limits[1], 0.0))
    logs = -np.log(drawn, out=np.full(len(drawn), np.nan), where=drawn > 0)
    limits = range_limits(-math.log(value), logs, level)
    return None if limits is None else (math.exp(-limits[1]), math.exp(-limits[0]))
