"""What is measured at every step of the models that have steps, and the checks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.rules_measures import check_measure, check_single_value, effective, prevalences

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.steps.spec import StepMeasures
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec


COLUMNS = ("probability", "score", "prediction", "rate", "loo_prediction", "leverage")
"""The keys of a model that name one column."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of steps, model by model, and of the measures that are taken at them."""
    for name, model in draft.models.items():
        if model.step is not None:
            yield from _check_column(draft, name, model)
    steps = draft.spec.steps
    if steps is None or not draft.readable("steps"):
        return
    if draft.readable("models") and all(model.step is None for model in draft.models.values()):
        message = "'steps' has no effect: no model has a 'step'"
        hint = "name the column of the steps under a model, as in 'step: epoch', or remove it"
        yield draft.tree.idle("unused-steps", message, "steps", key=True, hint=hint)
    yield from _check_metrics(draft, steps)


def _check_column(draft: Draft, name: str, model: Model) -> Iterator[Problem]:
    """Report a column of steps that is the outcome, the id, or one of the model's predictions."""
    column_loc: Loc = ("models", name, "step")
    column_loc = column_loc if draft.tree.get(*column_loc, "column") is None else (*column_loc, "column")
    if model.step is None or not draft.readable(*column_loc):
        return
    column = model.step.column
    columns = {"the outcome's column": draft.spec.outcome.column, "the id column": draft.spec.id}
    columns |= {f"the column of '{key}'": getattr(model, key) for key in COLUMNS}
    role = next((role for role, other_column in columns.items() if other_column == column), None)
    if role is not None:
        message = f"{draft.tree.show(*column_loc)} is {role}"
        yield draft.tree.problem("same-column", message, *column_loc, hint="name the column that numbers the steps")


def _check_metrics(draft: Draft, steps: StepMeasures) -> Iterator[Problem]:
    """Check the measures that are computed at every step: each has one value there, and is listed once."""
    first_locs: dict[tuple[str, ...], Loc] = {}
    for loc, choice in draft.entries(steps.metrics, "steps", "metrics"):
        entry, faults = check_measure(draft, loc, choice, of_models=False)
        yield from faults
        if entry is None:
            continue
        yield from check_single_value(draft, entry, "a curve has one value at each step")
        key = (entry.metric.name, effective(draft, entry), *prevalences(draft, entry))
        earlier = first_locs.setdefault(key, loc)
        if earlier != loc:
            message = f"{entry.metric.name} is listed twice with the same options"
            yield draft.tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them",
                                     notes=draft.tree.noted("first listed at", *earlier))


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
    """Yield for `evalpipe plan` a line with the measures that are computed at every step."""
    if plan.part(steps_plan):
        yield f"at every step: {', '.join(entry.label for entry in plan.part(steps_plan))}"


def document(plan: Plan) -> dict[str, object]:
    """Return the models with steps, and the measures at every step, as JSON values."""
    models = [name for name, model in plan.models.items() if model.step is not None]
    measures = [entry.label for entry in plan.part(steps_plan)]
    return {"steps": {"models": models, "measures": measures} if models else None}


PARTS = (steps_plan,)
