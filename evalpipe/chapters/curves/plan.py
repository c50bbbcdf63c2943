"""The thresholds that are marked on curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.spec.models import Spec


def marks_plan(spec: Spec) -> tuple[float, ...]:
    """Return the marked thresholds, ascending; none where the spec marks none."""
    if spec.task != "binary" or spec.curves is None:
        return ()
    return tuple(sorted(map(float, spec.curves.marks or ())))
