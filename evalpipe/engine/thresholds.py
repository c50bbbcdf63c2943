"""Thresholds chosen by a rule, on rows other than those that they make classes of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.recalibrate.compute import fold_of, recalibrated
from evalpipe.chapters.thresholds.plan import RulePlan, called
from evalpipe.engine.cuts import NOWHERE, Best, best, kept, resampled
from evalpipe.engine.drawn import ONE_CLUSTER, Drawn
from evalpipe.engine.rows import rows_of
from evalpipe.engine.subsets import whole
from evalpipe.errors import DataError, Problem
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.results import Constraint, Threshold
from evalpipe.statistics import Rows, Summary, cut_values, sweep

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.chapters.recalibrate.compute import Variants
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan


@dataclass(slots=True)
class Thresholds:
    """The samples with classes made by the chosen thresholds, and the record of every threshold."""

    samples: tuple[Sample, ...]
    rows: list[Threshold] = field(default_factory=list)


class _NoCutError(Exception):
    """No cut has a value and keeps to the bounds, for this reason."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a rule chose: the cut of the score, and its record without a dataset."""

    cut: float
    known: dict[str, Any]


def with_thresholds(plan: Plan, made: Variants) -> Thresholds:
    """Choose every threshold that a rule asks for, and make the classes of the evaluated rows by them.

    Raises DataError with every rule that no threshold can keep to.
    """
    problems: list[Problem] = []
    records: list[Threshold] = []
    seen: dict[str, _Chosen] = {}
    samples = []
    for sample in made.samples:
        models: dict[str, Predictions] = {}
        for name, model in sample.models.items() if sample.role == "evaluate" else ():
            declared = plan.models[model.source or name].threshold
            asked = declared.rule if model.source is None else declared.variant_rule
            try:
                models[name], row = _ruled(plan, made, sample, name, asked, seen)
            except _NoCutError as fault:
                problems.append(_problem(plan, name, asked, str(fault)))
                continue
            records += [] if row is None else [row]
        samples.append(replace(sample, models=MappingProxyType(models)) if sample.role == "evaluate" else sample)
    if problems:
        raise DataError(*dict.fromkeys(problems))
    return Thresholds(tuple(samples), records)


def _problem(plan: Plan, name: str, asked: RulePlan | None, reason: str) -> Problem:
    place = () if asked is None else asked.place
    message = f"no threshold of model '{name}' can be chosen {reason}"
    return Problem("no-threshold", message, plan.places.place(*place), "relax a bound, or choose by other rows")


def _ruled(
    plan: Plan, made: Variants, sample: Sample, name: str, asked: RulePlan | None, seen: dict[str, _Chosen]
) -> tuple[Predictions, Threshold | None]:
    """Return a model's predictions with classes, and the record of its threshold, if it has one."""
    model = sample.models[name]
    if asked is None:
        if model.threshold is None:
            return model, None
        kind = "bayes" if plan.models[model.source or name].threshold.by_costs else "fixed"
        return model, Threshold(
            dataset=sample.dataset, **sample.named(name), value=model.threshold, rule=kind,
            **_on_score(model, model.cut),
        )
    if asked.folds is None:
        if name not in seen:
            on = next(one for one in made.samples if one.dataset == asked.dataset)
            seen[name] = _on_all(plan, on, name, asked)
        chosen, cuts, folds = seen[name], None, None
        model = replace(model.classified(chosen.cut), threshold=model.threshold_at(chosen.cut), cut=chosen.cut)
    else:
        chosen, folds = _on_all(plan, sample, name, asked), asked.folds
        numbers, each = _crossed(plan, made, sample, name, asked)
        cuts = [float(cut) for cut in model.threshold_at(each)]
        rowwise = each[numbers]
        model = replace(
            model.classified(rowwise), threshold=model.threshold_at(chosen.cut), cut=chosen.cut, cuts=rowwise)
    row = Threshold(
        dataset=sample.dataset, **sample.named(name), **_on_score(model, chosen.cut),
        value=model.threshold_at(chosen.cut), rule=asked.text, folds=folds, cuts=cuts or [],
        **chosen.known,
    )
    return model, row


def _on_score(model: Predictions, cut: float | None) -> dict[str, float | None]:
    """Return what the record says of a cut of a score that a probability is made of."""
    return {"score": cut if model.log_odds and cut is not None and math.isfinite(cut) else None}


def _on_all(plan: Plan, on: Sample, name: str, asked: RulePlan) -> _Chosen:
    """Choose by all rows of a sample; with limits and optimism from the bootstrap, unless the spec wants none."""
    model = on.models[name]
    rows = rows_of(on, model)
    found, place = _best(asked, Summary(rows, on.weights), f"on dataset '{on.dataset}'")
    cut = float(cut_values(rows.distinct)[place])
    values = found.at(np.array(place))
    known = {
        "chosen_on": on.dataset, "metric": asked.goal.metric.name, "params": asked.goal.shown,
        "apparent": float(values[0]), "n": on.summary.n, "events": on.summary.events,
        "constraints": _constraints(asked, values, np.full(len(values), np.nan)),
    }
    if plan.interval_method == "none":
        return _Chosen(cut, known)
    return _Chosen(cut, known | _limits(plan, on, model, asked, cut, values))


def _limits(
    plan: Plan, on: Sample, model: Predictions, asked: RulePlan, cut: float, values: Floats
) -> dict[str, Any]:
    """Return the percentile limits of a chosen threshold, and how much too good the measures at it are."""
    clusters = whole(on).clusters
    if clusters == 1:
        return {"status": "degenerate", "reason": ONE_CLUSTER}
    drawn = resampled(plan, on, model, asked)
    optimism = drawn.optimism
    units = on.summary.n if clusters is None else clusters
    chosen = Drawn(cut, drawn.cuts, units, clustered=clusters is not None, absent="no threshold can be chosen")
    found = chosen.limited(plan.level, lambda _, cuts, level: percentile_limits(cuts, level), excludes=None)
    known: dict[str, Any] = {
        "undefined_replicates": found.missing, "status": found.status, "reason": found.reason,
        "constraints": _constraints(asked, values, optimism)}
    if found.limits is not None:
        lower, upper = (float(model.threshold_at(limit)) for limit in found.limits)
        known |= {"lower": lower, "upper": upper, "level": plan.level}
    if not math.isnan(optimism[0]):
        least, most = asked.goal.metric.bounds(asked.goal.params)
        corrected = float(np.clip(values[0] - optimism[0], least, most))
        known |= {"optimism": float(optimism[0]), "corrected": corrected}
    return known


def _constraints(asked: RulePlan, values: Floats, optimism: Floats) -> list[Constraint]:
    """Return the bounds of a rule with what the bounded measures are at the threshold."""
    found = []
    for (entry, low, high), value, excess in zip(asked.bounds, values[1:], optimism[1:], strict=True):
        corrected = float(np.clip(value - excess, *entry.metric.bounds(entry.params)))
        found.append(Constraint(
            metric=entry.metric.name, params=entry.shown, min=low if math.isfinite(low) else None,
            max=high if math.isfinite(high) else None, apparent=float(value),
            optimism=None if math.isnan(excess) else float(excess),
            corrected=None if math.isnan(corrected) else corrected,
        ))
    return found


def _crossed(
    plan: Plan, made: Variants, sample: Sample, name: str, asked: RulePlan
) -> tuple[Wholes, Floats]:
    """Return the fold of each row, and the threshold of each fold, chosen by the rows of the others.

    Of a variant that is cross-fitted itself, a fold's threshold is chosen on what that fold's own recalibrator makes of
    the other rows: neither has seen the fold.
    """
    model, count = sample.models[name], asked.folds or 0
    numbers = fold_of(plan, sample, count, (*asked.place, "on", "folds"))
    whole, parts, cuts = rows_of(sample, model), made.by_fold.get((sample.dataset, name)), []
    for fold in range(count):
        others = np.flatnonzero(numbers != fold)
        rows = whole
        if parts is not None:
            again = recalibrated(sample.models[model.source or name], [parts[fold]])
            rows = Rows(sample.truth, None, again.probability, again.score)
        rows = rows.taken(others)
        where = f"on the rows of dataset '{sample.dataset}' outside fold {fold + 1}"
        _, place = _best(asked, Summary(rows, sample.weights[others]), where)
        cuts.append(cut_values(rows.distinct)[place])
    return numbers, np.array(cuts)


def _best(asked: RulePlan, summary: Summary, where: str) -> tuple[Best, int]:
    """Return the best cut of some rows; raises where there is none, with the best that could be reached."""
    found = best(asked, sweep(summary))
    if found.place != NOWHERE:
        return found, int(found.place)
    goal = called(asked.goal)
    if np.isnan(found.values[0]).all():
        raise _NoCutError(f"{where}: {goal} has no value at any ({asked.goal.metric.undefined})")
    raise _NoCutError(f"{where}: none has {asked.conditions}; {_reached(asked, found.values)}")


def _reached(asked: RulePlan, values: tuple[Floats, ...]) -> str:
    """Say how far each bounded measure goes where the others are kept; where they cannot be, how far it goes at all."""
    said: list[str] = []
    alone: list[str] = []
    for i, (entry, low, high) in enumerate(asked.bounds):
        others = replace(asked, bounds=tuple(one for k, one in enumerate(asked.bounds) if k != i))
        inside = values[i + 1][kept(asked, values, but=i)]
        for found, where, told in ((inside, others.conditions, said), (values[i + 1], "", alone)):
            free = found[~np.isnan(found)]
            sides = [f"at most {free.max():.4g}"] if len(free) and math.isfinite(low) else []
            sides += [f"at least {free.min():.4g}"] if len(free) and math.isfinite(high) else []
            if sides:
                told.append(f"{called(entry)} is {' and '.join(sides)}{' where ' if where else ''}{where}")
    return ", ".join(said or alone) or f"where {called(asked.goal)} has a value, none of them has"
