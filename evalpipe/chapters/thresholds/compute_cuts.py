"""The best cut of a score by a rule, and what the bootstrap says of it: how uncertain it is, and how much too good."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.coarsening import coarsened
from evalpipe.engine.draws import CELLS, design
from evalpipe.engine.subsets import rows_of
from evalpipe.intervals.resampling import block_counts, blocks
from evalpipe.metrics.operating import ROUNDING
from evalpipe.statistics import Draws, Stack, Summary, cut_values, sweep, view

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
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
        at_place = [np.take_along_axis(np.broadcast_to(measure, (*place.shape, measure.shape[-1])), index, -1)[..., 0]
                    for measure in self.values]
        return np.where(place[..., None] == NOWHERE, np.nan, np.stack(at_place, axis=-1))


def best(rule: RulePlan, swept: Summary) -> Best:
    """Return the best of the cuts on the last axis of a sweep [..., cuts].

    A cut where the goal or a bounded measure is undefined is never taken. Of equally good cuts it is the middle one of
    them (the lower of two): as far as can be from where the measure gets worse.
    """
    measures = tuple(values(swept, entry) for entry in rule.measures)
    allowed = within_bounds(rule, measures)
    goal = np.where(allowed, measures[0] if rule.aim == "maximize" else -measures[0], -np.inf)
    top = goal.max(axis=-1, keepdims=True)
    reach = ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(top), top, 0.0)))
    tied = allowed & (goal >= top - reach)
    count = tied.sum(axis=-1, keepdims=True)
    middle = (np.cumsum(tied, axis=-1) >= (count + 1) // 2).argmax(axis=-1)
    return Best(np.where(count[..., 0] > 0, middle, NOWHERE), measures)


def within_bounds(rule: RulePlan, measures: tuple[Floats, ...], but: int | None = None) -> Flags:
    """Tell which cuts have a value of the goal and keep to the bounds, shape [..., cuts]; ``but`` leaves out one."""
    allowed = ~np.isnan(measures[0])
    for i, ((_, low, high), measure) in enumerate(zip(rule.bounds, measures[1:], strict=True)):
        if i != but:
            allowed &= (measure >= low - ROUNDING) & (measure <= high + ROUNDING)
    return allowed


def resampled(plan: Plan, sample: Sample, model: Predictions, rule: RulePlan) -> tuple[Floats, Floats]:
    """Choose the cut anew in every bootstrap replicate of the rows that chose it.

    Returns the cuts [B], NaN where none was possible, and the optimism of goal and bounded measures [measures]: the
    mean of their value in a replicate at the replicate's cut less that on all rows at the same cut: Harrell, Lee & Mark
    (1996). Many rows are drawn in units, and many scores on a grid, as all replicates are.
    """
    model = replace(model, predicted=None, source=None, folds=None)
    alone = replace(sample, models=MappingProxyType({"m": model}), slicings=(), searched=())
    drawn = coarsened(plan, alone) or alone
    how = design(plan, drawn)
    rows = view(rows_of(drawn, drawn.models["m"]), how.unit, how.factor, drawn.weight, exact=plan.mode == "exact")
    stack, all_rows = Stack((rows,)), how.sizes[None]
    whole, total = best(rule, sweep(Summary(rows.rows, rows.weights(all_rows)))), float(how.weights(all_rows).sum())
    places, gains = [], []
    for number, size in enumerate(blocks(plan.replicates)):
        for counts in block_counts(how, number, size, plan.seed, f"{sample.dataset}/threshold"):
            for _, _, weights in stack.weights(Draws(counts), CELLS):
                replicate = best(rule, sweep(Summary(rows.rows, _scaled(rule, weights, total))))
                places.append(replicate.place)
                gains.append(replicate.at(replicate.place) - whole.at(replicate.place))
    place, gain = np.concatenate(places), np.concatenate(gains)
    known = ~np.isnan(gain).any(axis=-1)
    optimism = gain[known].mean(axis=0) if known.any() else np.full(gain.shape[-1], np.nan)
    return np.where(place == NOWHERE, np.nan, cut_values(rows.rows.distinct)[np.maximum(place, 0)]), optimism


def _scaled(rule: RulePlan, weights: Values, total: float) -> Values:
    """Bring the weights of replicates to the ``total`` of all rows, where a measure of the rule grows with it."""
    if not any(entry.metric.extensive for entry in rule.measures):
        return weights
    return np.asarray(weights * (total / weights.sum(axis=-1, keepdims=True)))
