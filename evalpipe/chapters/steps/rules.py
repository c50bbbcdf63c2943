"""Checks of models that have steps, and of what is measured at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.rules_measures import check_measure, effective, one_value, prevalences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.steps.spec import StepMeasures
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft

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
        yield from one_value(draft, entry, "a curve has one value at each step")
        key = (entry.metric.name, effective(draft, entry), *prevalences(draft, entry))
        earlier = first_locs.setdefault(key, loc)
        if earlier != loc:
            message = f"{entry.metric.name} is listed twice with the same options"
            yield draft.tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them",
                                     notes=draft.tree.noted("first listed at", *earlier))
