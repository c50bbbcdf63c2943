"""Thresholds chosen by a rule, on rows other than those that they make classes of.

The best cut of a score comes with what the bootstrap says of it: how uncertain it is, and how much too good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.recalibrate.compute import fold_of, recalibrated
from evalpipe.chapters.thresholds.records import Constraint, Threshold
from evalpipe.engine.averages import values
from evalpipe.engine.coarsening import coarsened
from evalpipe.engine.draws import CELLS, design
from evalpipe.engine.subsets import all_rows_subset, rows_of
from evalpipe.engine.support import ONE_CLUSTER, Drawn
from evalpipe.errors import DataError, Problem
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.resampling import block_counts, blocks
from evalpipe.metrics.labels import ROUNDING
from evalpipe.statistics import Draws, Rows, Stack, Summary, cut_values, sweep, view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.chapters.thresholds.plan import RulePlan
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan


class _NoCutError(Exception):
    """No cut has a value and keeps to the bounds, for this reason."""


@dataclass(frozen=True, slots=True)
class _ChosenCut:
    """The cut of the score that a rule chose on a dataset, and the fields of its record that say how."""

    cut: float
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class _RuledModel:
    """A model, or a variant of one, whose threshold a rule chooses."""

    plan: Plan
    name: str
    rule: RulePlan

    def problem(self, fault: _NoCutError) -> Problem:
        """Return the problem that no threshold of the model can be chosen, at the place of its rule in the spec."""
        message, place = f"no threshold of model '{self.name}' can be chosen {fault}", self.plan.places
        return Problem("no-threshold", message, place.place(*self.rule.place), "relax a bound, or choose by other rows")


def changed(plan: Plan, samples: Sequence[Sample]) -> tuple[tuple[Sample, ...], dict[str, object]]:
    """Return the samples, their evaluated rows classified by thresholds that rules choose, and the table of thresholds.

    Raises DataError with every rule that no threshold can keep to.
    """
    problems: list[Problem] = []
    records: list[Threshold] = []
    with_classes = list(samples)
    chosen: dict[str, _ChosenCut] = {}
    for sample_index, sample in enumerate(samples):
        for name, model in sample.models.items() if sample.role == "evaluate" else ():
            threshold = plan.models[model.source or name].threshold
            rule = threshold.rule if model.source is None else threshold.variant_rule
            if rule is None:
                if model.threshold is not None:
                    records.append(Threshold(
                        dataset=sample.dataset, **sample.named(name), value=model.threshold,
                        rule="bayes" if threshold.by_costs else "fixed", score=_recorded_score(model, model.cut)))
                continue
            ruled_model = _RuledModel(plan, name, rule)
            try:
                classify, record = _classification(ruled_model, samples, sample, chosen)
                with_classes[sample_index] = with_classes[sample_index].changed(name, classify)
                records.append(record)
            except _NoCutError as fault:
                problems.append(ruled_model.problem(fault))
    if problems:
        raise DataError(*dict.fromkeys(problems))
    return tuple(with_classes), {"thresholds": records}


def _classification(
    ruled: _RuledModel, samples: Sequence[Sample], sample: Sample, chosen: dict[str, _ChosenCut]
) -> tuple[Callable[[Predictions], Predictions], Threshold]:
    """Return the function that classifies predictions by the threshold of a rule, and the record of that threshold.

    It is chosen on the rule's dataset, once for all evaluated ones (``chosen`` keeps it), or for each fold on the other
    folds; then the record is of the threshold that all rows choose.
    """
    rule, model, fields = ruled.rule, sample.models[ruled.name], dict[str, object]()
    if rule.folds is None:
        if ruled.name not in chosen:
            choosing_rows = next(other for other in samples if other.dataset == rule.dataset)
            chosen[ruled.name] = _choose_on_all_rows(ruled, choosing_rows)
        choice, cut_of_row = chosen[ruled.name], None
    else:
        choice, (fold_of_row, cuts) = _choose_on_all_rows(ruled, sample), _cuts_of_folds(ruled, sample)
        fields = {"folds": rule.folds, "cuts": [float(cut) for cut in model.threshold_at(cuts)]}
        cut_of_row = cuts[fold_of_row]
    threshold = model.threshold_at(choice.cut)

    def classify(predictions: Predictions) -> Predictions:
        """Return predictions with classes by the chosen cut or, cross-fitted, by the cut of each row's fold."""
        classified = predictions.classified(choice.cut if cut_of_row is None else cut_of_row)
        return replace(classified, cuts=cut_of_row, threshold=threshold, cut=choice.cut)

    return classify, Threshold(
        dataset=sample.dataset, **sample.named(ruled.name), score=_recorded_score(model, choice.cut), value=threshold,
        rule=rule.text, **choice.fields, **fields)


def _recorded_score(model: Predictions, cut: float | None) -> float | None:
    """Return the cut for the record where scores are log odds and it is finite; None of other models."""
    return cut if model.log_odds and cut is not None and math.isfinite(cut) else None


def _choose_on_all_rows(ruled: _RuledModel, sample: Sample) -> _ChosenCut:
    """Choose a cut on all rows of a sample, with limits and optimism from the bootstrap, unless the spec wants none."""
    sample = sample.of(ruled.name)
    model, rule = sample.models[ruled.name], ruled.rule
    rows = rows_of(sample, model)
    cut_index, measures = _best_or_error(rule, Summary(rows, sample.weights), f"on dataset '{sample.dataset}'")
    cut = float(cut_values(rows.distinct)[cut_index])
    fields = {
        "chosen_on": sample.dataset, "metric": rule.goal.metric.name, "params": rule.goal.shown,
        "apparent": float(measures[0]), "n": sample.summary.n, "events": sample.summary.events,
        "constraints": _constraint_records(rule, measures, np.full(len(measures), np.nan)),
    }
    uncertain = {} if ruled.plan.interval_method == "none" else _limits_and_optimism(ruled, sample, cut, measures)
    return _ChosenCut(cut, fields | uncertain)


def _limits_and_optimism(ruled: _RuledModel, sample: Sample, cut: float, measures: Floats) -> dict[str, object]:
    """Return fields of a `Threshold`: limits of the chosen cut, and the optimism of the ``measures`` at it.

    ``measures`` are the values of the goal and of the bounded measures, in this order, as is the optimism.
    """
    plan, rule, model, clusters = ruled.plan, ruled.rule, sample.models[ruled.name], all_rows_subset(sample).clusters
    if clusters == 1:
        return {"status": "degenerate", "reason": ONE_CLUSTER}
    cuts, optimism = bootstrap_cuts(plan, sample, model, rule)
    units = sample.summary.n if clusters is None else clusters
    chosen = Drawn(cut, cuts, units, clustered=clusters is not None, absent="no-cut-in-replicates")
    limited = chosen.limited(plan.level, lambda _, cuts, level: percentile_limits(cuts, level), excludes=None)
    fields: dict[str, object] = {
        "undefined_replicates": limited.missing, "status": limited.status, "reason": limited.reason,
        "constraints": _constraint_records(rule, measures, optimism)}
    if limited.limits is not None:
        lower, upper = (float(model.threshold_at(limit)) for limit in limited.limits)
        fields |= {"lower": lower, "upper": upper, "level": plan.level}
    if not math.isnan(optimism[0]):
        corrected = float(np.clip(measures[0] - optimism[0], *rule.goal.metric.bounds(rule.goal.params)))
        fields |= {"optimism": float(optimism[0]), "corrected": corrected}
    return fields


def _constraint_records(rule: RulePlan, measures: Floats, optimism: Floats) -> list[Constraint]:
    """Return the record of each bound of a rule, from the values and the optimism of goal and bounds [1 + bounds]."""
    constraints = []
    for (entry, low, high), value, excess in zip(rule.bounds, measures[1:], optimism[1:], strict=True):
        corrected = float(np.clip(value - excess, *entry.metric.bounds(entry.params)))
        constraints.append(Constraint(
            metric=entry.metric.name, params=entry.shown, min=low if math.isfinite(low) else None,
            max=high if math.isfinite(high) else None, apparent=float(value),
            optimism=None if math.isnan(excess) else float(excess),
            corrected=None if math.isnan(corrected) else corrected,
        ))
    return constraints


def _cuts_of_folds(ruled: _RuledModel, sample: Sample) -> tuple[Wholes, Floats]:
    """Return the fold of each row [n], and the cut of each fold, chosen by the rows of the others.

    Of a variant that is cross-fitted itself, a fold's cut is chosen on what that fold's own recalibrator makes of the
    other rows: neither has seen the fold.
    """
    model, count = sample.models[ruled.name], ruled.rule.folds or 0
    fold_of_row = fold_of(ruled.plan, sample, count, (*ruled.rule.place, "on", "folds"))
    all_rows = rows_of(sample, model)
    cuts = []
    for fold in range(count):
        other_rows, rows = np.flatnonzero(fold_of_row != fold), all_rows
        if model.fits:
            out_of_fold = recalibrated(sample.models[model.source or ruled.name], [model.fits[fold]])
            rows = Rows(sample.truth, None, out_of_fold.probability, out_of_fold.score)
        rows = rows.at(other_rows)
        where = f"on the rows of dataset '{sample.dataset}' outside fold {fold + 1}"
        cut_index, _ = _best_or_error(ruled.rule, Summary(rows, sample.weights[other_rows]), where)
        cuts.append(cut_values(rows.distinct)[cut_index])
    return fold_of_row, np.array(cuts)


def _best_or_error(rule: RulePlan, summary: Summary, where: str) -> tuple[int, Floats]:
    """Return the index of the best cut of some rows, and goal and bounded measures at it, [measures].

    Raises _NoCutError where no cut keeps to the bounds, with the best that could be reached; ``where`` names the rows.
    """
    chosen = best_cuts(rule, sweep(summary))
    if chosen.index != NOWHERE:
        return int(chosen.index), chosen.at(chosen.index)
    if np.isnan(chosen.values[0]).all():
        raise _NoCutError(f"{where}: {rule.goal.short_label()} has no value at any ({rule.goal.metric.undefined})")
    raise _NoCutError(f"{where}: none has {rule.conditions}; {_reachable_bounds(rule, chosen.values)}")


def _reachable_bounds(rule: RulePlan, measures: tuple[Floats, ...]) -> str:
    """Return the text on what each bounded measure can reach while the others are kept, or else at any threshold."""
    where_kept: list[str] = []
    anywhere: list[str] = []
    for i, (entry, low, high) in enumerate(rule.bounds):
        others = replace(rule, bounds=tuple(bound for k, bound in enumerate(rule.bounds) if k != i)).conditions
        kept, where = measures[i + 1][within_bounds(rule, measures, left_out=i)], f" where {others}" if others else ""
        for reached, words, sentences in ((kept, where, where_kept), (measures[i + 1], "", anywhere)):
            defined = reached[~np.isnan(reached)]
            # A measure with a lower bound is told at its highest, one with an upper bound at its lowest.
            sides = [f"at most {defined.max():.4g}"] if len(defined) and math.isfinite(low) else []
            sides += [f"at least {defined.min():.4g}"] if len(defined) and math.isfinite(high) else []
            if sides:
                sentences.append(f"{entry.short_label()} is {' and '.join(sides)}{words}")
    return ", ".join(where_kept or anywhere) or f"where {rule.goal.short_label()} has a value, none of them has"


NOWHERE = -1
"""The index of the best cut where no cut has a value and keeps to the bounds."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best cuts of a sweep: their ``index`` [...] among all, and the ``values`` [..., cuts] of goal and bounds."""

    index: Wholes
    values: tuple[Floats, ...]

    def at(self, cut_index: Wholes) -> Floats:
        """Return goal and bounded measures at cuts of these indices [...], shape [..., measures]; NaN at `NOWHERE`."""
        last_axis = np.maximum(cut_index, 0)[..., None]
        at_cut = [
            np.take_along_axis(np.broadcast_to(measure, (*cut_index.shape, measure.shape[-1])), last_axis, -1)[..., 0]
            for measure in self.values]
        return np.where(cut_index[..., None] == NOWHERE, np.nan, np.stack(at_cut, axis=-1))


def best_cuts(rule: RulePlan, swept: Summary) -> Best:
    """Return the best cut by the goal and bounds of a rule; ``swept`` has the cuts on its last axis.

    A cut where the goal or a bounded measure is undefined is never chosen. Of equally good cuts it is the middle
    one (the lower of two): as far as can be from where the measure gets worse.
    """
    measures = tuple(values(swept, entry) for entry in rule.measures)
    allowed = within_bounds(rule, measures)
    goal = np.where(allowed, measures[0] if rule.aim == "maximize" else -measures[0], -np.inf)
    top = goal.max(axis=-1, keepdims=True)
    tolerance = ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(top), top, 0.0)))
    tied = allowed & (goal >= top - tolerance)
    count = tied.sum(axis=-1, keepdims=True)
    middle = (np.cumsum(tied, axis=-1) >= (count + 1) // 2).argmax(axis=-1)
    return Best(np.where(count[..., 0] > 0, middle, NOWHERE), measures)


def within_bounds(rule: RulePlan, measures: tuple[Floats, ...], left_out: int | None = None) -> Flags:
    """Return flags [..., cuts] of the cuts where the goal has a value and the bounds of a rule are kept.

    ``left_out`` is the index of a bound that need not be kept.
    """
    allowed = ~np.isnan(measures[0])
    for index, ((_, low, high), measure) in enumerate(zip(rule.bounds, measures[1:], strict=True)):
        if index != left_out:
            allowed &= (measure >= low - ROUNDING) & (measure <= high + ROUNDING)
    return allowed


def bootstrap_cuts(plan: Plan, sample: Sample, model: Predictions, rule: RulePlan) -> tuple[Floats, Floats]:
    """Choose the cut anew in every bootstrap replicate of the rows that chose it.

    Returns the cuts [B], NaN where none was possible, and the optimism of goal and bounded measures [measures]: the
    mean of their value in a replicate at the replicate's cut less that on all rows at the same cut: Harrell, Lee & Mark
    (1996). Many rows are drawn in units, and many scores on a grid, as all replicates are.
    """
    model = replace(model, predicted=None, source=None, folds=None)
    one_model = replace(sample, models=MappingProxyType({"m": model}), slicings=(), searched=())
    drawn = coarsened(plan, one_model) or one_model
    sampling = design(plan, drawn)
    rows = view(
        rows_of(drawn, drawn.models["m"]), sampling.unit, sampling.factor, drawn.weight, exact=plan.mode == "exact")
    stack, all_rows = Stack((rows,)), sampling.sizes[None]
    original = best_cuts(rule, sweep(Summary(rows.rows, rows.weights(all_rows))))
    # A measure that grows with the total weight is compared at the total of all rows.
    total = float(sampling.weights(all_rows).sum())
    grows = any(entry.metric.extensive for entry in rule.measures)
    indices, gains = [], []
    for number, size in enumerate(blocks(plan.replicates)):
        for counts in block_counts(sampling, number, size, plan.seed, f"{sample.dataset}/threshold"):
            for _, _, weights in stack.weights(Draws(counts), CELLS):
                scaled = np.asarray(weights * (total / weights.sum(axis=-1, keepdims=True))) if grows else weights
                replicate = best_cuts(rule, sweep(Summary(rows.rows, scaled)))
                indices.append(replicate.index)
                gains.append(replicate.at(replicate.index) - original.at(replicate.index))
    index, gain = np.concatenate(indices), np.concatenate(gains)
    defined = ~np.isnan(gain).any(axis=-1)
    optimism = gain[defined].mean(axis=0) if defined.any() else np.full(gain.shape[-1], np.nan)
    return np.where(index == NOWHERE, np.nan, cut_values(rows.rows.distinct)[np.maximum(index, 0)]), optimism

