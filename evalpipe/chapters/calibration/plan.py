"""What the settings of the figures of calibration come to: the bins, the windows, and the curves that are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.chapters.calibration.spec import Calibration
from evalpipe.plan.measures import proportion_method

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec

CURVES = {"equal_width": "calibration_uniform", "equal_count": "calibration_quantile"}
"""The curve of each kind of bins."""

SMOOTHERS = ("logistic", "spline", "isotonic")


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """The ``settings``, usual ones where the spec has none, and the curves that are ``left_out`` by name.

    ``declared`` says whether the spec has the settings; ``interval`` is the method of the event rates in bins and
    windows.
    """

    declared: bool
    settings: Calibration
    interval: str
    rug: bool
    left_out: frozenset[str]

    def of_variant(self, variant: str) -> CalibrationPlan:
        """Return the plan for a variant of a model: recalibrated ones may have windows of their own."""
        window = self.settings.window
        if variant == "original" or window.of_variants is None:
            return self
        width, step = window.of_variants
        variant_window = window.model_copy(update={"width": width, "step": step})
        return replace(self, settings=self.settings.model_copy(update={"window": variant_window}))


def calibration_plan(spec: Spec) -> CalibrationPlan:
    """Return which figures of calibration are drawn, and how."""
    declared, settings = spec.calibration is not None, spec.calibration or Calibration()
    rug = declared and settings.rug and spec.task == "binary"
    bins = [curve for kind, curve in CURVES.items() if settings.strategy not in {None, kind}]
    smooth = [f"calibration_{name}" for name in SMOOTHERS if settings.smoother not in {None, name}]
    left_out = frozenset([*bins, *smooth, *([] if rug else ["calibration_rug"])])
    return CalibrationPlan(declared, settings, settings.interval or proportion_method(spec), rug, left_out)


PLANNED = {"calibration": calibration_plan}
