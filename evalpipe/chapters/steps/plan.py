"""What is measured at every step of the models that have steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from evalpipe.plan.plan import Plan
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec

USUAL = {
    "binary": ("log_loss", "accuracy"), "multiclass": ("log_loss", "accuracy"), "ordinal": ("log_loss", "accuracy"),
    "regression": ("rmse", "mae"), "count": ("poisson_deviance", "mae"),
}
"""By task, what is measured where the spec lists no measures."""

RANKING = "roc_auc"
"""What is measured of models that serve none of these: those whose score is a rank alone."""


def steps_plan(spec: Spec) -> tuple[MetricPlan, ...]:
    """Return the measures that are computed at every step, each with one value; none where no model has steps.

    They are those that the spec names for it, else those that it lists; the usual ones are added for a model that can
    serve none of these, so that every model with steps has a history.
    """
    from evalpipe.spec.core_keys import gives

    model_outputs = [gives(model, spec.threshold) for model in spec.models.values() if model.step is not None]
    distinct: list[MetricPlan] = []
    for outputs in model_outputs:
        choices = (spec.choices if spec.steps is None else spec.steps.metrics) or tuple(_usual_choices(spec, outputs))
        _add_distinct(distinct, spec, choices)
    for outputs in model_outputs:
        if all(entry.lacking(outputs) is not None for entry in distinct):
            _add_distinct(distinct, spec, _usual_choices(spec, outputs))
    return tuple(distinct)


def _add_distinct(distinct: list[MetricPlan], spec: Spec, choices: Iterable[MetricChoice]) -> None:
    """Append to the list the measures of the choices that have one value and are not in it yet."""
    for entry in (entry for choice in choices for entry in entries(spec, choice)):
        if entry.average != "none" and entry not in distinct:
            distinct.append(entry)


def _usual_choices(spec: Spec, outputs: Collection[str]) -> Iterator[MetricChoice]:
    """Yield the usual measures that a model with these ``outputs``, such as "labels", can serve."""
    from evalpipe.metrics import registry
    from evalpipe.spec.measures import MetricChoice

    yield from map(MetricChoice, [name for name in USUAL[spec.task] if registry[name].needs in outputs] or [RANKING])


def lines(plan: Plan) -> Iterator[str]:
    """Yield the line on the measures at every step."""
    if plan.part(steps_plan):
        yield f"at every step: {', '.join(entry.label for entry in plan.part(steps_plan))}"


def document(plan: Plan) -> dict[str, object]:
    """Return the models with steps, and the measures at every step, as JSON values."""
    models = [name for name, model in plan.models.items() if model.step is not None]
    measures = [entry.label for entry in plan.part(steps_plan)]
    return {"steps": {"models": models, "measures": measures} if models else None}


PARTS = (steps_plan,)
