"""What the settings of the figures of calibration come to: bins, windows, curves that are left out; and their rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from evalpipe.chapters.calibration.spec import Binomial, Calibration
from evalpipe.plan.measures import proportion_method
from evalpipe.spec.core_keys import gives
from evalpipe.tasks import CLASSES
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.calibration.spec import Window
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


HERE = "calibration"


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of settings that cannot be kept, and of settings of figures that no model has."""
    spec = draft.spec
    if spec.calibration is None or not draft.readable(HERE) or spec.task not in CLASSES:
        return
    if draft.readable(HERE, "window"):
        yield from _windows_without_overlap(draft, spec.calibration.window)
    if spec.calibration.interval is not None and draft.readable(HERE, "interval"):
        yield from _unfit_interval(draft, spec.calibration.interval)
    has_probabilities = any("probabilities" in gives(model) for model in draft.models.values())
    # A model that cannot be read is not in the draft, and might give probabilities.
    if draft.models and len(draft.models) == len(spec.models) and not has_probabilities:
        yield draft.tree.idle(
            "nothing-to-draw", "no model gives probabilities, so there are no figures of calibration", HERE, key=True,
            hint="name the column of a model's probabilities, or remove it")


def _windows_without_overlap(draft: Draft, window: Window) -> Iterator[Problem]:
    """Report a step that is not below the width of its windows, which then do not overlap; also for variants."""
    loc: Loc = (HERE, "window")
    windows: dict[Loc, tuple[float, float]] = {loc: (window.width, window.moved_by)}
    if window.of_variants is not None:
        windows[*loc, "recalibrated"] = window.of_variants
    for window_loc, (width, step) in windows.items():
        if step >= width and all(draft.readable(*window_loc, key) for key in ("width", "step")):
            message = (f"windows of width {width:g} that move by {step:g} do not overlap, so they are bins and no "
                       "moving windows")
            yield draft.tree.problem("window-step", message, *window_loc, "step",
                                     hint=f"write a step below {width:g}, or leave it out for half the width")


def _unfit_interval(draft: Draft, interval: str) -> Iterator[Problem]:
    """Report a method of limits that does not hold for these rows, or that nothing is drawn for."""
    spec, intervals = draft.spec, draft.spec.intervals
    has_bands = spec.task == "binary" and intervals.bands and intervals.method != "none"
    message, hint = "", "write 'percentile', or remove it"
    if interval == "percentile" and not has_bands:
        message = ("bootstrap limits of bins are those of bands, which are drawn for a binary outcome where "
                   "'intervals' has bands and a method")
        hint = f"write {listed((*get_args(Binomial), 'none'))}, or remove it"
    elif interval in get_args(Binomial) and (spec.cluster is not None or spec.importance):
        rows = "rows of a cluster are not independent" if spec.cluster is not None else (
            "rows with importance weights are no counts")
        message = f"binomial limits do not hold: {rows}"
        hint = hint if has_bands else "write 'none', or remove it"
    if message:
        yield draft.tree.problem("interval-of-bins", message, HERE, "interval", hint=hint)


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
