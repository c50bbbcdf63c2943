"""The recalibrators that make variants of every model, and the rows that they are fitted on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.chapters.prevalence.plan import prevalence_plan, unread_prevalence

if TYPE_CHECKING:
    from evalpipe.chapters.recalibrate.spec import MethodChoice
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class RecalibrationPlan:
    """The recalibrators of a spec, none without `recalibrate`, and the rows that they are fitted on.

    These are the rows of a ``dataset`` for this purpose, or else the evaluated ones, in so many ``folds``.
    """

    methods: tuple[MethodChoice, ...] = ()
    dataset: str | None = None
    folds: int | None = None


def recalibration_plan(spec: Spec) -> RecalibrationPlan:
    """Return which recalibrators are fitted, and on which rows."""
    recalibrate = spec.recalibrate
    if recalibrate is None:
        return RecalibrationPlan()
    methods = tuple(_with_target_prevalence(spec, choice) for choice in recalibrate.methods)
    if isinstance(recalibrate.fit_on, str):
        return RecalibrationPlan(methods, dataset=recalibrate.fit_on)
    return RecalibrationPlan(methods, folds=recalibrate.fit_on.folds)


def _with_target_prevalence(spec: Spec, choice: MethodChoice) -> MethodChoice:
    """Return a method; if it shifts to a prevalence and names none, it gets the declared one."""
    options, declared = dict(choice.options), prevalence_plan(spec)
    if choice.shifts and options.get("to") is None and declared is not None:
        options["to"] = unread_prevalence(spec, 0 if spec.task == "binary" else "list") or (
            declared.shares[0] if spec.task == "binary" else list(declared.shares))
    return replace(choice, options=MappingProxyType(options))


PLANNED = {"recalibrate": recalibration_plan}
