"""The recalibrators that make variants of every model, and the rows that they are fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.chapters.prevalence.plan import declared_shares

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.chapters.recalibrate.spec import MethodChoice
    from evalpipe.spec.models import Spec


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """A recalibrator: its method, the name of the variant that it makes, and its options.

    One that shifts to a prevalence knows to which.
    """

    method: str
    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecalibrationPlan:
    """Recalibrators, and the dataset they are fitted on, or the number of folds in which they are cross-fitted."""

    methods: tuple[MethodPlan, ...]
    dataset: str | None
    folds: int | None


def recalibration_plan(spec: Spec) -> RecalibrationPlan | None:
    """Return how models are recalibrated; None where the spec asks for no recalibrator."""
    asked = spec.recalibrate
    if asked is None:
        return None
    methods = tuple(_method(spec, choice) for choice in asked.methods)
    if isinstance(asked.fit_on, str):
        return RecalibrationPlan(methods, asked.fit_on, None)
    return RecalibrationPlan(methods, None, asked.fit_on.folds)


def _method(spec: Spec, choice: MethodChoice) -> MethodPlan:
    """Return a recalibrator; one that shifts to a prevalence and names none gets the declared one, or its mean."""
    options = dict(choice.options)
    if choice.shifts and options.get("to") is None:
        shares = declared_shares(spec)
        options["to"] = shares[0] if spec.task == "binary" else list(shares)
    return MethodPlan(choice.method, choice.name, MappingProxyType(options))
