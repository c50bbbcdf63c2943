"""The thresholds that are marked on curves, and whether probabilities have residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from evalpipe.spec.models import Spec


def marks_plan(spec: Spec) -> tuple[float, ...]:
    """Return the marked thresholds, ascending; none where the spec marks none."""
    if spec.task != "binary" or spec.curves is None:
        return ()
    return tuple(sorted(map(float, spec.curves.marks or ())))


def residuals_planned(spec: Spec) -> bool:
    """Tell whether residuals of probabilities are asked for."""
    return spec.task in CLASSES and spec.curves is not None and bool(spec.curves.residuals)
