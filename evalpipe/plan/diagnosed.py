"""The measures that findings rest on and that the spec does not ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.chapters.curves.plan import residuals_plan
from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.plan.measures import entries
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.models import ModelPlan
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Spec

DIAGNOSTICS = {
    "binary": ("roc_auc", "brier_skill", "calibration_in_the_large", "calibration_slope"),
    "multiclass": ("brier_skill",),
    "ordinal": ("brier_skill",),
    "regression": ("r2", "mean_error", "linear_calibration_slope"),
    "count": ("d2_poisson", "pearson_dispersion"),
}
"""For each task: skill against a rule that sees no features, the level of the predictions, and their spread."""


SIZES = ("probability_rmse", "probability_mae", "probability_mad")
"""The sizes of the residuals of probabilities, where these are asked for; the card has them with their limits."""

LINE = frozenset({"calibration_in_the_large", "calibration_slope"})
"""The diagnostics that are coefficients of a logistic line, which takes long to fit in every replicate."""

QUICK = "taken for findings only, so limits from the curvature of the likelihood are enough"


def diagnosed(spec: Spec, metrics: tuple[MetricPlan, ...], models: Mapping[str, ModelPlan]) -> tuple[MetricPlan, ...]:
    """Return the measures of the task's diagnostics, and those that thresholds keep to, that are not asked for."""
    wanted: list[MetricPlan] = []
    # Measures that differ in their limits alone are one.
    asked = [replace(entry, method="", reason="") for entry in metrics]
    of_task = _of_task(spec) if models else ()
    for entry in (*of_task, *(entry for model in models.values() for entry in _bounded(model))):
        wanted += [] if entry in wanted or replace(entry, method="", reason="") in asked else [entry]
    return tuple(wanted)


def _of_task(spec: Spec) -> Iterator[MetricPlan]:
    for choice in _choices(spec):
        yield from (_quick(spec, entry) for entry in entries(spec, choice) if entry.prior == SAMPLE)


def _quick(spec: Spec, entry: MetricPlan) -> MetricPlan:
    """Return a coefficient of the logistic line with limits in closed form, where these hold: no fit a replicate."""
    independent = spec.cluster is None and not spec.importance and spec.intervals.method != "none"
    return replace(entry, method="information", reason=QUICK) if independent and entry.metric.name in LINE else entry


def _choices(spec: Spec) -> Iterator[MetricChoice]:
    """Yield the diagnostics of the task, and those for which there are reference data, several datasets, or keys."""
    from evalpipe.spec.choices import MetricChoice

    yield from map(MetricChoice, DIAGNOSTICS[spec.task])
    if spec.task in NUMBERS and any(dataset.role == "reference" for dataset in spec.datasets.values()):
        yield MetricChoice("r2", {"baseline": "training"})
    if spec.task == "binary" and sum(dataset.role == "evaluate" for dataset in spec.datasets.values()) > 1:
        yield MetricChoice("detection_prevalence")
    if spec.costs is not None:
        yield MetricChoice("cost_saved")
    residuals = residuals_plan(spec)
    if residuals is not None and residuals.of == "probabilities":
        yield from map(MetricChoice, SIZES)


def _bounded(model: ModelPlan) -> Iterator[MetricPlan]:
    for rule in (model.threshold.rule, model.threshold.variant_rule):
        yield from () if rule is None else (entry for entry, _, _ in rule.bounds)
