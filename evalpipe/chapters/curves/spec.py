"""What curves show beside themselves: marked thresholds, groups of ranked rows, residuals, figures of calibration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, StrictBool, StrictFloat, StrictInt, Tag

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import (
    AnyOf,
    ColumnName,
    Needs,
    Number,
    Only,
    Probability,
    Refers,
    Sparse,
    SpecPart,
    Unique,
)
from evalpipe.spec.measures import MetricName
from evalpipe.tasks import CLASSES, WITH_OUTCOME

ResidualKind = Literal["deviance", "pearson"]
ResidualFigure = Literal["scale_location", "half_normal", "predicted_observed"]

MOST_MARKS = 9
MOST_GROUPS = 100
MOST_COLUMNS = 6
NAMED_ONCE = Unique("duplicate-name", "{} is listed twice", "remove one")


class Relations(Sparse):
    """Measures of predicted classes against the prevalence, and against each other over all thresholds."""

    measures: Annotated[tuple[MetricName, ...], Field(min_length=2, max_length=5), Refers("measure")]
    """The measures of predicted classes, such as `[accuracy, balanced_accuracy, f1, mcc]`. Each is drawn against the
    prevalence at the threshold in use, and each but the first against the first over all thresholds."""
    prevalences: Annotated[
        tuple[Probability, ...], Field(min_length=1, max_length=4),
        Unique("duplicate-prevalence", "the prevalence {} is listed twice", "remove one of them"),
    ] = (0.05, 0.4)
    """The prevalences to which rows are reweighted for measure against measure."""


class ResidualDiagnostics(Sparse):
    """What is shown of residuals beside their sizes, histogram, box plots and distribution."""

    kinds: Annotated[
        tuple[ResidualKind, ...] | None, Field(min_length=1, max_length=2), Only(*CLASSES, "count"), NAMED_ONCE,
    ] = None
    """`deviance`: the root of what a row adds to the deviance, with the sign of truth − prediction. `pearson`: truth −
    prediction over the standard deviation that the prediction implies. Each has quantiles and is drawn against the
    prediction. Of several levels there is `deviance` alone, the root of −2 log of the true level's probability. The
    first is the kind that `figures` show; without any it is `deviance`, of a regression outcome the plain residual."""
    figures: Annotated[tuple[ResidualFigure, ...] | None, Field(min_length=1, max_length=3), NAMED_ONCE] = None
    """`scale_location`: the root of the size of residuals against the prediction, which shows whether their spread
    changes. `half_normal`: their sizes, ascending, against those that are expected if the model is right.
    `predicted_observed`: the prediction of a number against the truth, with the truth on the horizontal axis."""
    against: Annotated[
        tuple[ColumnName, ...] | None, Field(min_length=1, max_length=MOST_COLUMNS), NAMED_ONCE] = None
    """Columns of the data that residuals are set against, such as `[age, region]`: numbers in groups of equal weight,
    with a smooth line, text by its levels. Each group has at least `min_rows` rows, so no row is shown."""
    order: ColumnName | None = None
    """The column in whose order residuals are shown, such as a date, with their autocorrelation at lag 1 and the
    Durbin-Watson statistic. Rows of one value count as their mean, for their order in the files means nothing."""
    min_rows: Annotated[
        Annotated[StrictInt, Field(ge=5)] | None,
        Needs(("against", "order"), "unused-min-rows",
              "'min_rows' has no effect: no 'against' and no 'order' makes groups of rows", idle=True),
    ] = None
    """The fewest rows of a group of `against` and of `order`: 30 where nothing is written. Levels with fewer are left
    out."""


class Curves(Sparse):
    """What the curves show beside themselves."""

    marks: Annotated[tuple[Number, ...] | None, Field(min_length=1, max_length=MOST_MARKS), Only("binary")] = None
    """Thresholds, such as `[0.1, 0.5, 0.9]`, that are drawn as labelled points on the ROC curve, the precision-recall
    curve, cumulative gain, lift, and measures by threshold, with a table of the numbers there. Probabilities; for a
    model whose score is a rank alone, scores. Each model then has curves of its own, with the others grey behind."""
    residuals: Annotated[
        Annotated[StrictBool, Tag("a flag")] | Annotated[ResidualDiagnostics, Tag("diagnostics")],
        Discriminator(lambda value: "a flag" if isinstance(value, bool) else "diagnostics"),
        AnyOf(),
    ] | None = None
    """Judge probabilities as numbers, as DALEX's `model_performance` does: RMSE, MAE and MAD (the median) of the
    absolute residuals, quantiles, a histogram, box plots and the distribution from the top. The residual of a binary
    outcome is 1 − p for an event and −p for the others; of several levels it is 1 − the probability of the true level,
    as in R's DALEX. Numbers have these without a key. A mapping adds more, for numbers too, such as
    `{figures: [scale_location, half_normal], against: [age]}`."""
    groups: Annotated[StrictInt | None, Field(ge=2, le=MOST_GROUPS), Only("binary")] = None
    """The number of groups of equal size that the gain table cuts the ranked rows into: 10 for tenths, which it is
    where nothing is written. Rows of one score that a cut divides are shared in proportion. Where it is written, the
    groups are also points on cumulative gain and lift. With `profit`, the table says what contacting the rows down to
    each cut brings."""
    relations: Annotated[Relations | None, Only("binary")] = None
    """How measures of predicted classes relate to the prevalence and to each other."""


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
        """The distance between the centres of neighbouring windows: as the spec has it, or half the width."""
        return self.width / 2 if self.step is None else self.step

    @property
    def of_variants(self) -> tuple[float, float] | None:
        """The width and the step of the windows of recalibrated variants; None if they are as for other models."""
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
    window: Window = Window.model_construct()
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


class CurvesKeys(SpecPart):
    """Keys of a spec."""

    curves: Annotated[Curves | None, After("costs"), Only(*WITH_OUTCOME), UNWRITTEN] = None
    """What the curves show beside themselves."""
    calibration: Annotated[Calibration | None, Only(*CLASSES), After("worst_slices")] = None
    """The settings of the figures of calibration. They have the defaults below without this key too. With it, the
    reliability diagrams have a rug, and moving windows and smooth curves are also drawn of every recalibrated
    variant."""
