"""Conduct the evaluation of a plan, from validated samples to tables, and gather these as one `Results`.

Confusion matrices come first, then the conductor over datasets, models and chapters, then step 5: what was planned,
read and evaluated, put together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters import functions
from evalpipe.chapters.candidates.compute import candidate_warnings, ranked
from evalpipe.chapters.equivocal.compute import zone_record
from evalpipe.chapters.recalibrate.compute import with_variants
from evalpipe.chapters.repeats.compute import with_refits
from evalpipe.chapters.steps.plan import steps_plan
from evalpipe.chapters.thresholds.compute import with_thresholds
from evalpipe.engine.curves import model_curves
from evalpipe.engine.differences import dataset_differences
from evalpipe.engine.draws import not_gridded
from evalpipe.engine.estimates import evaluated
from evalpipe.engine.notes import notes
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.results import (
    Confusion,
    Curve,
    Draw,
    Estimate,
    InputFile,
    Method,
    MetricSummary,
    ModelSummary,
    Results,
    Warned,
)
from evalpipe.tasks import NUMBERS
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.chapters.candidates.compute import CandidateRows
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import RowFile
    from evalpipe.statistics import Summary


def confusion(scope: Scope) -> Iterator[Confusion]:
    """Yield the counts of a scope; nothing of a model that predicts no levels."""
    sample, subset = scope.sample, scope.subset
    model = sample.models[scope.model]
    if model.predicted is None or sample.task in NUMBERS:
        return
    at_threshold, written = np.zeros(0, bool), model.threshold if model.cuts is None else None
    if model.score is not None and model.cut is not None and model.reportable is None:
        cuts = model.cut if model.cuts is None else subset.of(model.cuts)
        at_threshold = subset.of(sample.truth)[subset.of(model.score) == cuts]
    yield Confusion(
        dataset=sample.dataset, **sample.named(scope.model), slice=None if subset.slice is None else dict(subset.slice),
        levels=list(sample.levels), counts=scope.summary.reportable("confusion").tolist(), threshold=written,
        cuts=[] if model.cuts is None else model.threshold_at(np.unique(model.cuts)).tolist(),
        at_threshold=len(at_threshold), events_at_threshold=int(np.count_nonzero(at_threshold)),
        tied=model.tied if subset.slice is None else 0,
        equivocal=_without_class(scope.summary), zone=zone_record(model.zone, written),
    )


def _without_class(summary: Summary) -> float:
    """Return the weight of the rows that have no class, as they lie in an equivocal zone."""
    flags = summary.rows.reportable
    return 0.0 if flags is None else float(summary.weights[~flags].sum())


@dataclass(slots=True)
class Evaluation:
    """The tables of step 4, those of chapters in ``tables`` by their names in `Results`.

    ``files`` are those that hold candidates; ``samples`` the evaluated datasets, with variants and classes. ``draws``
    say what replicates drew.
    """

    estimates: list[Estimate] = field(default_factory=list)
    confusion: list[Confusion] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    files: tuple[InputFile, ...] = ()
    samples: tuple[Sample, ...] = ()


def evaluate(
    plan: Plan, samples: Sequence[Sample], advance: Callable[[int], None] = lambda _: None,
    candidates: CandidateRows | None = None,
) -> Evaluation:
    """Evaluate every sample of role ``evaluate``, and rank the candidates.

    ``advance`` is told of each block of replicates done.
    """
    evaluation = Evaluation(warnings=[warning for sample in samples for warning in sample.warnings])
    datasets: list[Evaluated] = []
    # Before thresholds are chosen, for a variant has its own.
    variants = with_variants(plan, samples)
    classified, thresholds = with_thresholds(plan, variants)
    evaluation.tables |= {"recalibration": variants.records, "thresholds": thresholds}
    for sample in (sample for sample in with_refits(plan, classified) if sample.role == "evaluate"):
        datasets.append(dataset := evaluated(plan, sample, advance))
        evaluation.draws += dataset.replicates.draws
        evaluation.warnings += not_gridded(plan, dataset.replicates.draws)
        for name in sample.models:
            _add_model(evaluation, dataset, name)
    evaluation.samples = tuple(dataset.sample for dataset in datasets)
    evaluation.tables["dataset_differences"] = list(dataset_differences(samples))
    evaluation.tables["diagnostics"] = [row for dataset in datasets for row in dataset.diagnosed()]
    for tables in functions("compute", "tables"):
        evaluation.tables |= tables(plan, datasets)
    for warnings in functions("compute", "warnings"):
        evaluation.warnings += warnings(plan, datasets)
    if candidates is not None:
        _add_candidates(evaluation, plan, candidates)
    return evaluation


def _add_candidates(evaluation: Evaluation, plan: Plan, candidates: CandidateRows) -> None:
    """Add the ranking of the candidates."""
    evaluation.tables["candidates"] = ranked(plan, candidates)
    evaluation.warnings += candidate_warnings(evaluation.tables["candidates"])
    evaluation.files = candidates.files


def _add_model(evaluation: Evaluation, dataset: Evaluated, name: str) -> None:
    """Add the tables of one model on one dataset."""
    plan, sample = dataset.plan, dataset.sample.of(name)
    rows = [row for estimates in dataset.estimates_of(name).values() for row in estimates]
    evaluation.estimates += rows
    evaluation.confusion += [table for scope in dataset.scopes(name) for table in confusion(scope)]
    evaluation.curves += model_curves(plan, sample, name, dataset.summaries[name, 0], dataset.replicates)
    evaluation.warnings += notes(plan, sample, name, dataset.summaries[name, 0], rows)
    dataset.forget(name)


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
        weight=plan.weight.model_dump() if plan.weight else None,
        exposure=plan.exposure.model_dump() if plan.exposure else None,
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
    steps = (leaf for entry in plan.part(steps_plan) for leaf in (entry, *entry.leaves))
    return [*asked, *steps, *plan.diagnosed, *goals]


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
