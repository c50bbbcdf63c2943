"""Measures at every step of a fit, and the step with the best value of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.chapters.steps.plan import steps_plan
from evalpipe.chapters.steps.records import StepHistory, same_value
from evalpipe.engine.averages import values
from evalpipe.engine.subsets import rows_of
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the history of each measure for each model that has steps, on each dataset."""
    return {"steps": [row for dataset in evaluated for model in dataset.sample.steps
                      for row in _histories(plan, dataset, model)]}


def _histories(plan: Plan, dataset: Evaluated, model: str) -> Iterator[StepHistory]:
    """Yield, for each measure that the model can serve, the record of its values at all steps."""
    steps, shown = dataset.sample.steps[model], dataset.sample.models[model]
    entries = [entry for entry in plan.part(steps_plan) if entry.lacking(plan.models[model].gives) is None]
    values_at = {steps.shown: [_defined_value(dataset.summaries[model, 0], entry) for entry in entries]}
    for step, sample in steps.others.items():
        predictions = sample.models[model]
        if predictions.predicted is None and shown.cut is not None:  # a rule chose the threshold at the shown step
            predictions = predictions.classified(shown.cut)
        summary = Summary(rows_of(sample, predictions), sample.weights)
        values_at[step] = [_defined_value(summary, entry) for entry in entries]
    for index, entry in enumerate(entries):
        by_step = {step: values_at[step][index] for step in sorted(values_at)}
        best = _best_step(entry, by_step)
        ties = sum(value is not None and best is not None and same_value(value, best[1]) for value in by_step.values())
        yield StepHistory(
            dataset=dataset.sample.dataset, model=model, metric=entry.metric.name, params=entry.shown,
            average=entry.average, shown=steps.shown, steps=list(by_step), values=list(by_step.values()),
            best=best and best[0], best_value=best and best[1], ties=max(ties - 1, 0))


def _defined_value(summary: Summary, entry: MetricPlan) -> float | None:
    """Return the value of a measure, a single number; None where it is undefined."""
    value = float(values(summary, entry))
    return None if math.isnan(value) else value


def _best_step(entry: MetricPlan, by_step: Mapping[int, float | None]) -> tuple[int, float] | None:
    """Return the first step with the best value, up to rounding, and that value; None where no value is better."""
    defined = [value for value in by_step.values() if value is not None]
    if not defined or entry.metric.direction == "none":
        return None
    best = max(defined) if entry.metric.direction == "maximize" else min(defined)
    step = next(step for step, value in by_step.items() if value is not None and same_value(value, best))
    return step, best
