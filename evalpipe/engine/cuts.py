"""The best cut of a score by a rule, and what the bootstrap says of it: how uncertain it is, and how much too good."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.coarse import coarsened
from evalpipe.engine.replicates import CELLS, design
from evalpipe.engine.rows import rows_of
from evalpipe.intervals.resampling import block_counts, blocks
from evalpipe.metrics.operating import ROUNDING
from evalpipe.statistics import Draws, Stack, Summary, cut_values, sweep, view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.chapters.thresholds.plan import RulePlan
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan

NOWHERE = -1
"""The place of the best cut where no cut has a value and keeps to the bounds."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best cuts of a sweep: their ``place`` [...] among all, and the ``values`` [..., cuts] of goal and bounds."""

    place: Wholes
    values: tuple[Floats, ...]

    def at(self, place: Wholes) -> Floats:
        """Return goal and bounded measures at some cuts [...], shape [..., measures]; NaN where there is none."""
        index = np.maximum(place, 0)[..., None]
        found = [np.take_along_axis(np.broadcast_to(one, (*place.shape, one.shape[-1])), index, -1)[..., 0]
                 for one in self.values]
        return np.where(place[..., None] == NOWHERE, np.nan, np.stack(found, axis=-1))


def best(rule: RulePlan, swept: Summary) -> Best:
    """Return the best of the cuts on the last axis of a sweep [..., cuts].

    A cut where the goal or a bounded measure is undefined is never taken. Of equally good cuts it is the middle one of
    them (the lower of two): as far as can be from where the measure gets worse.
    """
    found = tuple(values(swept, entry) for entry in (rule.goal, *(bound[0] for bound in rule.bounds)))
    allowed = kept(rule, found)
    goal = np.where(allowed, found[0] if rule.aim == "maximize" else -found[0], -np.inf)
    top = goal.max(axis=-1, keepdims=True)
    reach = ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(top), top, 0.0)))
    tied = allowed & (goal >= top - reach)
    count = tied.sum(axis=-1, keepdims=True)
    middle = (np.cumsum(tied, axis=-1) >= (count + 1) // 2).argmax(axis=-1)
    return Best(np.where(count[..., 0] > 0, middle, NOWHERE), found)


def kept(rule: RulePlan, values: tuple[Floats, ...], but: int | None = None) -> Any:
    """Tell which cuts have a value of the goal and keep to the bounds, shape [..., cuts]; ``but`` leaves out one."""
    found = ~np.isnan(values[0])
    for i, ((_, low, high), value) in enumerate(zip(rule.bounds, values[1:], strict=True)):
        if i != but:
            found &= (value >= low - ROUNDING) & (value <= high + ROUNDING)
    return found


@dataclass(frozen=True, slots=True)
class Resampled:
    """Replicates of a chosen cut: ``cuts`` [B], NaN where none was possible, and the mean ``optimism`` [measures]."""

    cuts: Floats
    optimism: Floats


def resampled(plan: Plan, sample: Sample, model: Predictions, rule: RulePlan) -> Resampled:
    """Choose the cut anew in every bootstrap replicate of the rows that chose it.

    The optimism of goal and bounded measures is the mean of their value in a replicate at the replicate's cut less that
    on all rows at the same cut: Harrell, Lee & Mark (1996). Many rows are drawn in units, and many scores on a grid,
    as all replicates are.
    """
    model = replace(model, predicted=None, source=None, folds=None)
    alone = replace(sample, models=MappingProxyType({"m": model}), slicings=(), searched=())
    drawn = coarsened(plan, alone) or alone
    how = design(plan, drawn)
    unit = np.arange(drawn.n) if how.unit is None else how.unit
    exact = plan.mode == "exact"
    stack = Stack((view(rows_of(drawn, drawn.models["m"]), unit, how.factor, drawn.weight, exact=exact),))
    cuts = cut_values(stack.views[0].rows.distinct)
    whole = best(rule, sweep(Summary(stack.views[0].rows, stack.views[0].weights(how.sizes[None]))))
    places, gains = [], []
    step = f"{sample.dataset}/threshold"
    for number, size in enumerate(blocks(plan.replicates)):
        for counts in block_counts(how, number, size, plan.seed, step):
            total = how.weights(how.sizes[None]).sum()
            for swept in _swept(stack, counts, float(total), alike=not _extensive(rule)):
                found = best(rule, swept)
                places.append(found.place)
                gains.append(found.at(found.place) - whole.at(found.place))
    place, gain = np.concatenate(places), np.concatenate(gains)
    known = ~np.isnan(gain).any(axis=-1)
    optimism = gain[known].mean(axis=0) if known.any() else np.full(gain.shape[-1], np.nan)
    return Resampled(np.where(place == NOWHERE, np.nan, cuts[np.maximum(place, 0)]), optimism)


def _extensive(rule: RulePlan) -> bool:
    return any(entry.metric.extensive for entry in (rule.goal, *(bound[0] for bound in rule.bounds)))


def _swept(stack: Stack, counts: Any, total: float, *, alike: bool) -> Iterator[Summary]:
    """Yield the sweeps of replicates in batches; unless ``alike``, brought to the weight of all rows."""
    for _, _, weights in stack.weights(Draws(counts), CELLS):
        if not alike:
            weights = weights * (total / weights.sum(axis=-1, keepdims=True))  # noqa: PLW2901 - the same, scaled
        yield sweep(Summary(stack.views[0].rows, weights))
