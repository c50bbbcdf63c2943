"""Step 5: put what was planned, read and evaluated together as one `Results`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalpipe.plan import model_columns, threshold
from evalpipe.results import Method, MetricSummary, ModelSummary, Prior, Results
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.evaluate import Evaluation
    from evalpipe.metrics import Metric
    from evalpipe.plan import Plan


def gather(
    plan: Plan, samples: Sequence[Sample], evaluation: Evaluation, written: Mapping[str, Any], sha256: str
) -> Results:
    """Return the results; ``written`` is the resolved spec and ``sha256`` its hash."""
    spec = plan.spec
    prior = Prior(value=spec.prevalence.value, source=spec.prevalence.source) if spec.prevalence else None
    return Results(
        evalpipe_version=VERSION,
        name=spec.name,
        title=spec.title or spec.name,
        task=spec.task,
        event=samples[0].event,
        other=next((s.other for s in samples if s.role == "evaluate"), samples[0].other),
        spec=dict(written),
        spec_sha256=sha256,
        prevalence=prior,
        weight=spec.weight.model_dump() if spec.weight else None,
        inputs=[file for sample in samples for file in sample.files],
        datasets=[sample.summary for sample in samples],
        models=_models(plan),
        metrics=[_describe(metric) for metric in {entry.metric.name: entry.metric for entry in plan.metrics}.values()],
        intervals=_method(plan),
        rows=list(evaluation.estimates),
        confusion=list(evaluation.confusion),
        curves=list(evaluation.curves),
        thresholds=list(evaluation.thresholds),
        warnings=list(evaluation.warnings),
    )


def _models(plan: Plan) -> list[ModelSummary]:
    return [
        ModelSummary(
            name=name,
            label=model.label or name,
            columns=model_columns(model),
            scale=model.scale,
            threshold=threshold(plan.spec, model),
            characteristics=dict(model.characteristics),
        )
        for name, model in plan.spec.models.items()
    ]


def _describe(metric: Metric) -> MetricSummary:
    low, high = (bound if math.isfinite(bound) else None for bound in metric.range)
    return MetricSummary(
        name=metric.name, title=metric.title, definition=metric.definition, formula=metric.formula,
        direction=metric.direction, range=(low, high), undefined=metric.undefined, reference=metric.ref,
    )


def _method(plan: Plan) -> Method:
    intervals = plan.spec.intervals
    return Method(
        level=intervals.level, replicates=intervals.replicates, seed=plan.spec.seed,
        methods={entry.metric.name: f"{entry.method}: {entry.reason}" for entry in plan.metrics},
    )
