"""Step 5: put what was planned, read and evaluated together as one `Results`."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evalpipe.chapters.equivocal.compute import zone_record
from evalpipe.metrics.expression import ExpressionMetric
from evalpipe.results import Method, MetricSummary, ModelSummary, Results, Warned
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.evaluate import Evaluation
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Draw, RowFile


def gather(
    plan: Plan, samples: Sequence[Sample], evaluation: Evaluation, written: Mapping[str, Any],
    row_file: RowFile | None = None,
) -> Results:
    """Return the results; ``written`` is the resolved spec, ``row_file`` what was written of the rows."""
    settled = next((sample.levels for sample in samples if sample.role == "evaluate"), ())
    event, other = settled if plan.task == "binary" and settled else (None, None)
    return Results(
        evalpipe_version=VERSION, name=plan.name, title=plan.title, as_of=plan.as_of, task=plan.task, event=event,
        other=other, levels=list(settled), unit=plan.outcome.unit, spec=dict(written), spec_sha256=plan.spec_sha256,
        weight=asdict(plan.weight) if plan.weight else None,
        exposure=asdict(plan.exposure) if plan.exposure else None,
        inputs=[*(file for sample in samples for file in sample.files), *evaluation.files],
        row_file=row_file, datasets=[sample.summary for sample in samples], models=_models(plan),
        metrics=_metrics(plan),
        intervals=_method(plan, evaluation), rows=list(evaluation.estimates),
        confusion=list(evaluation.confusion), curves=list(evaluation.curves),
        warnings=[*(_of_spec(problem) for problem in plan.warnings), *evaluation.warnings],
        **evaluation.tables,
    )


def _metrics(plan: Plan) -> list[MetricSummary]:
    """Return what each metric means, those that expressions are of after these, and those of findings alone last."""
    described = _described(plan)
    of_metric: dict[str, list[MetricPlan]] = {}
    for entry in (*plan.entries, *described):
        for leaf in (entry, *entry.leaves):
            of_metric.setdefault(leaf.metric.name, []).append(leaf)
    metrics = {entry.metric.name: entry.metric for entry in described}
    return [_describe(plan, metric, of_metric[name]) for name, metric in metrics.items()]


def _described(plan: Plan) -> list[MetricPlan]:
    """Return the measures that have a value somewhere: those asked for, of goals, and behind findings."""
    goals = (goal.entry for goal in plan.goals if goal.entry is not None)
    asked = [*plan.metrics, *(leaf for entry in plan.metrics for leaf in entry.leaves)]
    return [*asked, *(leaf for entry in plan.steps for leaf in (entry, *entry.leaves)), *plan.diagnosed, *goals]


def _of_spec(problem: Problem) -> Warned:
    """Return a warning of the spec, with its place as far as it is the same for every working folder."""
    place = problem.place
    where = "" if place is None else f" ({place.file.rpartition('/')[2]}, line {place.line})"
    return Warned(code=problem.code, message=f"{problem.message}{where}")


def _models(plan: Plan) -> list[ModelSummary]:
    return [
        ModelSummary(
            name=model.name, label=model.label, columns=dict(model.columns),
            scale="percent" if model.percents else model.scale,
            threshold=model.threshold.number, equivocal=zone_record(model.zone, model.threshold.number),
            threshold_rule=model.threshold.words, characteristics=dict(model.characteristics),
        )
        for model in plan.models.values()
    ]


def _methods(plan: Plan) -> dict[str, str]:
    """Say how the intervals of each metric are made; where averages differ in that, each in turn."""
    reasons: dict[str, list[str]] = {}
    for entry in plan.metrics:
        reasons.setdefault(entry.metric.name, []).append(f"{entry.method}: {entry.reason}")
    return {name: "; ".join(dict.fromkeys(of_metric)) for name, of_metric in reasons.items()}


def _describe(plan: Plan, metric: Metric, listed: Sequence[MetricPlan]) -> MetricSummary:
    """Return what a metric means; ``listed`` are its entries, of which its range is the widest."""
    spans = [metric.bounds(entry.params) for entry in listed]
    widest = min(low for low, _ in spans), max(high for _, high in spans)
    low, high = (bound if math.isfinite(bound) else None for bound in widest)
    return MetricSummary(
        name=metric.name, title=metric.title, definition=metric.definition, formula=metric.formula,
        direction=metric.direction, range=(low, high), undefined=metric.undefined, reference=metric.ref,
        own_prevalence="prevalence" in metric.option_types, matrices=_matrices(plan, metric),
        **_expression(metric),
    )


def _expression(metric: Metric) -> dict[str, Any]:
    """Return the expression that a measure is, and its measures by their names in it; nothing of any other."""
    if not isinstance(metric, ExpressionMetric):
        return {}
    return {"expression": metric.text, "measures": {part.name: part.label for part in metric.parts}}


def _matrices(plan: Plan, metric: Metric) -> dict[str, list[list[float]]]:
    """Return what each pair of levels weighs in a metric, in the order of the levels."""
    if metric.matrix is None:
        return {}
    size = len(plan.outcome.levels)
    matrices = (metric.matrix(entry.params, size) for listed in plan.metrics
                for entry in listed.leaves if entry.metric == metric)
    return {title: values.tolist() for title, values in matrices}


def _method(plan: Plan, evaluation: Evaluation) -> Method:
    return Method(
        level=plan.level, replicates=plan.replicates,
        pairings=plan.permutations, seed=plan.seed,
        methods=_methods(plan), resampling=plan.resampling, draws=evaluation.draws,
        units=_units(evaluation.draws),
    )


def _units(draws: Sequence[Draw]) -> dict[str, int]:
    """Return the most cells that all rows of each dataset on a grid were drawn from."""
    units: dict[str, int] = {}
    for draw in draws:
        if draw.mode == "cells" and draw.slicing is None:
            units[draw.dataset] = max(draw.units, units.get(draw.dataset, 0))
    return units
