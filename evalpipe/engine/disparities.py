"""Disparities: how far the slices of one slicing lie apart in a measure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.differences import Gap, gap, quotient
from evalpipe.engine.slices import Measured
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.noise import range_limits
from evalpipe.results import Disparity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.arraytypes import Floats
    from evalpipe.engine.evaluate import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


def disparities(plan: Plan, one: Evaluated) -> Iterator[Disparity]:
    """Yield every disparity that the spec asks for, of each model and each slicing of two slices or more."""
    for model in one.sample.models if plan.slices.disparities else ():
        places = {place.number: place for place in one.places(model)}
        for number, slicing in enumerate(one.sample.slicings):
            if len(slicing.labels) < 2:
                continue
            members = [k for k, part in enumerate(one.parts) if part.slicing == number and part.beside is None]
            for asked in plan.slices.disparities:
                measured = [Measured.of(one, places, entry) for entry in asked.entries]
                yield _disparity(one, model, number, asked.name, asked.entries, measured, members)


def _disparity(
    one: Evaluated, model: str, number: int, name: str, entries: Sequence[MetricPlan], measured: Sequence[Measured],
    members: Sequence[int],
) -> Disparity:
    level, slicing = one.plan.level, one.sample.slicings[number]
    used = [k for k in members if all(np.isfinite(m.value.get(k, np.nan)) for m in measured)]
    undefined = f"undefined in a slice: {measured[0].undefined}"
    spread = share = Gap(None, status="insufficient", reason="fewer than two slices have a value")
    expected = None
    if len(used) > 1:
        values = [np.array([m.value[k] for k in used]) for m in measured]
        drawn = [_stacked(m, used) for m in measured]
        apart = None if drawn[0] is None else np.max([_range(d) for d in drawn if d is not None], axis=0)
        spread = gap(float(max(_range(v) for v in values)), apart, level, undefined, range_limits)
        shares = None if drawn[0] is None else np.min([_share(d) for d in drawn if d is not None], axis=0)
        share = gap(float(min(_share(v) for v in values)), shares, level, undefined, _share_limits)
        if apart is not None and np.isfinite(apart).any() and spread.value is not None:
            expected = float(np.nanmean(apart) - spread.value)
    single = len(measured) == 1 and len(used) > 1
    ends = sorted(used, key=lambda k: measured[0].value[k])
    return Disparity(
        dataset=one.sample.dataset, **one.sample.named(model), slicing=slicing.title, disparity=name,
        params=entries[0].shown if len(entries) == 1 else {}, average=entries[0].average if len(entries) == 1 else None,
        difference=spread.value, lower=spread.lower, upper=spread.upper, ratio=share.value, ratio_lower=share.lower,
        ratio_upper=share.upper, level=level if spread.limits else None, expected=expected,
        lowest=dict(one.parts[ends[0]].slice or {}) if single else None,
        highest=dict(one.parts[ends[-1]].slice or {}) if single else None,
        slices=len(members), used=len(used), status=spread.status, reason=spread.reason,
    )


def _share_limits(value: float, drawn: Floats, level: float) -> tuple[float, float] | None:
    """Return limits of the ratio of the smallest to the largest, from the range of the logarithms."""
    if value <= 0:
        limits = percentile_limits(drawn, level)
        return None if limits is None else (0.0, max(limits[1], 0.0))
    logs = -np.log(drawn, out=np.full(len(drawn), np.nan), where=drawn > 0)
    limits = range_limits(-math.log(value), logs, level)
    return None if limits is None else (math.exp(-limits[1]), math.exp(-limits[0]))


def _stacked(measured: Measured, used: Sequence[int]) -> Floats | None:
    """Return the replicates of the slices [B, slices]; a replicate in which one is undefined stays so."""
    tables = [measured.drawn[k] for k in used]
    return None if any(table is None for table in tables) else np.stack([t for t in tables if t is not None], axis=-1)


def _range(values: Floats) -> Any:
    return values.max(axis=-1) - values.min(axis=-1)


def _share(values: Floats) -> Any:
    return quotient(values.min(axis=-1), values.max(axis=-1))
