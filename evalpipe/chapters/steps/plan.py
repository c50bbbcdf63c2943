"""What is measured at every step of the models that have steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Spec

USUAL = {
    "binary": ("log_loss", "accuracy"), "multiclass": ("log_loss", "accuracy"), "ordinal": ("log_loss", "accuracy"),
    "regression": ("rmse", "mae"), "count": ("poisson_deviance", "mae"),
}
"""By task, what is measured where the spec lists no measures."""

RANKING = "roc_auc"
"""What is measured of models that serve none of these: those whose score is a rank alone."""


def steps_plan(spec: Spec) -> tuple[MetricPlan, ...]:
    """Return the measures that are taken at every step, each with one value; none where no model has steps."""
    if all(model.step is None for model in spec.models.values()):
        return ()
    distinct: list[MetricPlan] = []
    for entry in (entry for choice in _choices(spec) for entry in entries(spec, choice)):
        distinct += [entry] if entry.average != "none" and entry not in distinct else []
    return tuple(distinct)


def _choices(spec: Spec) -> Iterable[MetricChoice]:
    if spec.steps is not None:
        return spec.steps.metrics
    return spec.choices or tuple(_usual(spec))


def _usual(spec: Spec) -> Iterator[MetricChoice]:
    """Yield the usual measures that a model with steps can serve."""
    from evalpipe.metrics import registry
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.parts import gives

    served = [gives(model, spec.threshold) for model in spec.models.values() if model.step is not None]
    names = [name for name in USUAL[spec.task] if any(registry[name].needs in given for given in served)]
    yield from map(MetricChoice, names or [RANKING])
