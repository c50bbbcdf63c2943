"""What the settings of the figures of calibration come to: the bins, the windows, and the curves that are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.chapters.calibration.spec import Calibration
from evalpipe.plan.measures import proportions

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec

CURVES = {"equal_width": "calibration_uniform", "equal_count": "calibration_quantile"}
"""The curve of each kind of bins."""

SMOOTHERS = ("logistic", "spline", "isotonic")


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """The number of ``bins``, the windows, and the curves that are ``left_out`` by name.

    ``asked`` says whether the spec has the settings. ``strategy`` and ``smoother`` are what it chose, None for all;
    ``interval`` is the method of the event rates in bins and windows. Bins stand at their ``position``: "mean", that of
    the probabilities of their rows, or "midpoint". ``recalibrated`` are the width and the step of the windows of
    recalibrated variants, None where they are those of the originals.
    """

    asked: bool
    bins: int
    strategy: str | None
    position: str
    width: float
    step: float
    recalibrated: tuple[float, float] | None
    smoother: str | None
    interval: str
    rug: bool
    left_out: frozenset[str]

    def of_variant(self, variant: str) -> CalibrationPlan:
        """Return how calibration is drawn of a variant of a model."""
        if variant == "original" or self.recalibrated is None:
            return self
        width, step = self.recalibrated
        return replace(self, width=width, step=step)


def calibration_plan(spec: Spec) -> CalibrationPlan:
    """Return what is drawn of calibration."""
    asked, settings = spec.calibration is not None, spec.calibration or Calibration()
    rug = asked and settings.rug and spec.task == "binary"
    bins = [curve for kind, curve in CURVES.items() if settings.strategy not in {None, kind}]
    smooth = [f"calibration_{name}" for name in SMOOTHERS if settings.smoother not in {None, name}]
    window = settings.window
    return CalibrationPlan(
        asked=asked, bins=settings.bins, strategy=settings.strategy, position=settings.position, width=window.width,
        step=window.moved_by, recalibrated=window.of_variants, smoother=settings.smoother,
        interval=settings.interval or proportions(spec)[0], rug=rug,
        left_out=frozenset([*bins, *smooth, *([] if rug else ["calibration_rug"])]))
