"""Checks of what curves are to show: the thresholds that are marked on them, and residuals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.chapters.curves.spec import ResidualDiagnostics
from evalpipe.metrics import registry
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import with_article
from evalpipe.tasks import CLASSES, MANY, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.curves.spec import Relations
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft

HERE: Loc = ("curves", "marks")
RESIDUALS: Loc = ("curves", "residuals")
GROUPS: Loc = ("curves", "groups")
RELATIONS: Loc = ("curves", "relations")
EXAMPLES = dict.fromkeys(MANY, "add 'residuals: true', or remove it") | {
    "binary": "add 'marks: [0.1, 0.5, 0.9]' or 'residuals: true', or remove it"}
"""What can be asked for, by task."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of `curves`: settings without effect, marks on no curve, residuals of no probability."""
    curves = draft.spec.curves
    if curves is None or not draft.readable("curves") or not draft.readable("task"):
        return
    if not curves.marks and not curves.residuals and curves.groups is None and curves.relations is None:
        if all(draft.readable(*loc) for loc in (HERE, RESIDUALS, GROUPS, RELATIONS)):
            yield draft.tree.idle("nothing-asked", "'curves' asks for nothing", "curves", key=True,
                                  hint=EXAMPLES.get(draft.spec.task, "remove it"))
        return
    outputs_by_model = [gives(model, draft.spec.threshold) for model in draft.models.values()]
    if draft.spec.task == "binary" and curves.marks and draft.readable(*HERE):
        yield from _marks(draft, curves.marks, outputs_by_model)
    has_scores = not outputs_by_model or any("scores" in outputs for outputs in outputs_by_model)
    if draft.spec.task == "binary" and curves.groups is not None and not has_scores and draft.readable(*GROUPS):
        message = "'groups' has no effect: no model gives a probability or a score that ranks rows"
        yield draft.tree.idle("unused-groups", message, *GROUPS, key=True, hint="remove it")
    if draft.spec.task == "binary" and curves.relations is not None and draft.readable(*RELATIONS):
        yield from _relations(draft, curves.relations)
    if curves.residuals and draft.readable(*RESIDUALS):
        diagnostics = curves.residuals if isinstance(curves.residuals, ResidualDiagnostics) else None
        yield from _residuals(draft, diagnostics, outputs_by_model)


def _residuals(
    draft: Draft, diagnostics: ResidualDiagnostics | None, outputs_by_model: Sequence[frozenset[str]]
) -> Iterator[Problem]:
    """Check that there are residuals to show, and that their kinds and figures fit the task.

    ``outputs_by_model`` are what models give, such as "probabilities"; ``diagnostics`` is None for the usual residuals.
    """
    task = draft.spec.task
    if task in CLASSES and outputs_by_model and not any("probabilities" in outputs for outputs in outputs_by_model):
        message = "'residuals' has no effect: no model gives probabilities"
        yield draft.tree.idle("unused-residuals", message, *RESIDUALS, key=True, hint="remove it")
        return
    if task in NUMBERS and (diagnostics is None or not diagnostics.model_fields_set):
        message = f"'residuals' has no effect: {with_article(task)} outcome has its residuals without it"
        yield draft.tree.idle("unused-residuals", message, *RESIDUALS, key=True,
                              hint="name what to add, as in {figures: [scale_location, half_normal]}, or remove it")
    for key in ("kinds", "figures") if diagnostics is not None else ():
        for index, name in enumerate(getattr(diagnostics, key) or ()):
            loc: Loc = (*RESIDUALS, key, index)
            if name == "predicted_observed" and task in CLASSES:
                message = "'predicted_observed' is of a predicted number, and the model gives probabilities"
                yield draft.tree.problem("not-for-task", message, *loc,
                                         hint="remove it; the calibration curves have observed shares")
            elif task in MANY and name in ("pearson", "scale_location", "half_normal"):
                message = f"'{name}' is of a residual with a sign, and that of several levels has none"
                yield draft.tree.problem("not-for-task", message, *loc, hint="remove it")


def _marks(draft: Draft, marks: tuple[float, ...], outputs_by_model: Sequence[frozenset[str]]) -> Iterator[Problem]:
    """Check each mark, and that a model has curves to mark; ``outputs_by_model`` are such as "scores", in any order."""
    has_rank_scores = any("scores" in outputs and "probabilities" not in outputs for outputs in outputs_by_model)
    for index, mark in enumerate(marks):
        if math.isnan(mark):
            continue
        if mark in marks[:index]:
            yield draft.tree.problem("duplicate-mark", f"the threshold {mark:g} is marked twice", *HERE, index,
                                     hint="remove one of them")
        elif not 0 <= mark <= 1 and outputs_by_model and not has_rank_scores:
            message = f"a marked threshold is a probability, from 0 to 1, got {draft.tree.show(*HERE, index)}"
            hint = f"did you mean {mark / 100:g}?" if 1 < mark <= 100 else None
            yield draft.tree.problem("out-of-range", message, *HERE, index, hint=hint)
    if outputs_by_model and not any("scores" in outputs for outputs in outputs_by_model):
        message = "'marks' has no effect: no model gives a probability or a score, so there are no curves"
        yield draft.tree.idle("unused-marks", message, *HERE, key=True, hint="remove it")


def _relations(draft: Draft, relations: Relations) -> Iterator[Problem]:
    """Check that related measures are of predicted classes and can be reweighted, and prevalences within 0 and 1."""
    first_names: dict[str, str] = {}
    for index, name in enumerate(relations.measures):
        loc: Loc = (*RELATIONS, "measures", index)
        if name not in registry:
            continue
        metric = registry[name]
        required_options = [option for option, field in metric.options.model_fields.items() if field.is_required()]
        if "binary" not in metric.tasks or not metric.of_reportable or not metric.reweighed or required_options:
            message = f"{metric.name} is no measure of predicted classes that the prevalence changes by reweighting"
            yield draft.tree.problem("not-of-classes", message, *loc, hint="name one such as accuracy, f1 or mcc")
        elif first_names.setdefault(metric.name, name) != name or name in relations.measures[:index]:
            yield draft.tree.problem("duplicate-metric", f"{metric.name} is listed twice", *loc, hint="remove one")
    for index, prevalence in enumerate(relations.prevalences):
        if prevalence in (0, 1):
            message = f"at the prevalence {draft.tree.show(*RELATIONS, 'prevalences', index)} one level is absent"
            yield draft.tree.problem("out-of-range", message, *RELATIONS, "prevalences", index,
                                     hint="name one between 0 and 1")
