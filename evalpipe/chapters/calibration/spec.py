"""The settings of the figures of calibration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import Needs, Only, Sparse, SpecPart
from evalpipe.tasks import CLASSES

Binomial = Literal["exact", "wilson", "jeffreys", "wald"]
"""The methods whose limits are those of a binomial proportion."""


class WindowOfVariants(Sparse):
    """The moving windows of recalibrated variants."""

    width: Annotated[StrictFloat, Field(ge=0.01, le=1)] | None = None
    """The width of a window; that of the original models where it is left out."""
    step: Annotated[StrictFloat, Field(ge=0.005, lt=1)] | None = None
    """How far the centres of two neighbouring windows are apart, less than the width; half the width where it is left
    out."""


class Window(SpecPart):
    """Windows of predicted probability that move by a step and so share rows."""

    width: Annotated[StrictFloat, Field(ge=0.01, le=1)] = 0.1
    """The width of a window. Windows are cut off at 0 and 1."""
    step: Annotated[StrictFloat, Field(ge=0.005, lt=1)] | None = None
    """How far the centres of two neighbouring windows are apart, less than the width; half the width where it is left
    out. The centres run from 0 to 1."""
    recalibrated: Annotated[
        WindowOfVariants | None, UNWRITTEN,
        Needs(("recalibrate",), "nothing-to-draw", "nothing is recalibrated, so no variant has windows",
              "add 'recalibrate: …', or remove it", of_spec=True, idle=True),
    ] = None
    """Other windows for recalibrated variants, such as `{step: 0.05}`; those of the original models where it is left
    out."""

    @property
    def moved_by(self) -> float:
        """The step by which windows move: as written, or half the width."""
        return self.width / 2 if self.step is None else self.step

    @property
    def of_variants(self) -> tuple[float, float] | None:
        """The width and the step of the windows of recalibrated variants; None where they are those of all."""
        if self.recalibrated is None:
            return None
        width = self.width if self.recalibrated.width is None else self.recalibrated.width
        return width, width / 2 if self.recalibrated.step is None else self.recalibrated.step


class Calibration(SpecPart):
    """The figures of calibration: bins, moving windows, smooth curves and the rug."""

    bins: Annotated[StrictInt, Field(ge=2, le=100)] = 10
    """The number of bins of the reliability diagrams. Measures such as `ece` have an option `bins` with a default of
    its own, which this key does not change: `{metric: ece, bins: 20}` measures in as many bins as `bins: 20` draws."""
    strategy: Literal["equal_width", "equal_count"] | None = None
    """Which bins are made and drawn; both kinds where it is left out. What measures call `strategy: uniform` are bins
    of equal width, `strategy: quantile` those of equal count."""
    position: Annotated[Literal["mean", "midpoint"], UNWRITTEN] = "mean"
    """Where a bin stands across in the reliability diagrams: at the mean probability of its rows, or at the `midpoint`
    of the bin, as in many texts. Of bins of equal count that is the middle between where the bin and the next begin.
    Findings compare the event rate with the mean probability either way."""
    window: Window = Window()
    """The moving windows."""
    smoother: Literal["logistic", "spline", "isotonic"] | None = None
    """Which smooth curve is fitted and drawn, with its band: the logistic line, the spline or the isotonic fit. All
    three where it is left out, with the band of the spline."""
    interval: Literal["none", Binomial, "percentile"] | None = None
    """The limits of the event rate in each bin and window: binomial limits by Clopper and Pearson (`exact`), Wilson or
    Jeffreys, or bootstrap percentiles of a binary outcome. Where it is left out, those of a proportion under
    `intervals.method`. `wald` are the ±1.96 standard errors of many texts, for comparison with these: they have no
    width at a rate of 0 or 1 and cover less often than their level. The bands of smooth curves are those of
    `intervals`."""
    rug: Annotated[StrictBool, Only("binary")] = True
    """Mark the probabilities in the reliability diagrams: those of events at the upper edge, those of non-events at the
    lower edge. More than 250 distinct ones are marked at hundredths, the longer the more rows there are. Models then
    have a panel each."""


class CalibrationKeys(SpecPart):
    """Keys of a spec."""

    calibration: Annotated[Calibration | None, Only(*CLASSES), After("worst_slices")] = None
    """The settings of the figures of calibration. They have the defaults below without this key too. With it, the
    reliability diagrams have a rug, and moving windows and smooth curves are also drawn of every recalibrated
    variant."""
