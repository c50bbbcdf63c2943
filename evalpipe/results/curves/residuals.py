"""Curves of predicted numbers and of residuals: truth - prediction in the unit of the outcome, deviance, Pearson."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Notes, Points, Thinned


class ResidualQuantilePoints(Points):
    """Quantiles of the residuals, interpolated between rows."""

    share: Column
    residual: Column
    absolute_residual: Column


class ResidualQuantileNotes(Notes):
    """How the quantiles are defined."""

    quantile_type: int | None = None
    """The number of the definition in Hyndman & Fan (1996), as in R."""


class ResidualQuantiles(CurveOf[Literal["residual_quantiles"], ResidualQuantilePoints, ResidualQuantileNotes]):
    """Quantiles of residuals and of absolute residuals."""


class ResidualBoxPoints(Points):
    """One box plot of absolute residuals; whiskers end at the last rows within 1.5 interquartile ranges of the box."""

    lower_whisker: Column
    lower_quartile: Column
    median: Column
    upper_quartile: Column
    upper_whisker: Column


class ResidualBoxNotes(Notes):
    """Means of the residuals, and how many lie beyond the whiskers."""

    rmse: float | None = None
    mean: float | None = None
    """The mean absolute residual."""
    outliers: float | None = None
    """What the rows beyond the whiskers weigh."""


class ResidualBox(CurveOf[Literal["residual_box"], ResidualBoxPoints, ResidualBoxNotes]):
    """The box plot of absolute residuals."""


class ResidualOutlierPoints(Points):
    """The 20 largest absolute residuals beyond the whiskers of the box plot."""

    absolute_residual: Column
    weight: Column


class ResidualOutliers(CurveOf[Literal["residual_outliers"], ResidualOutlierPoints, Thinned]):
    """Residuals beyond the whiskers of the box plot."""


class ResidualHistogramPoints(Points):
    """Bins of equal width, and what the rows in each weigh."""

    low: Column
    high: Column
    weight: Column


class ResidualHistogram(CurveOf[Literal["residual_histogram"], ResidualHistogramPoints, Notes]):
    """The histogram of residuals."""


class ResidualEcdfPoints(Points):
    """The share of the rows with a larger absolute residual."""

    absolute_residual: Column
    share_above: Column


class ResidualEcdf(CurveOf[Literal["residual_ecdf"], ResidualEcdfPoints, Thinned]):
    """The distribution of absolute residuals, from the top."""


class ObservedPoints(LinePoints):
    """Predicted and observed numbers."""

    predicted: Column
    observed: Column


class ObservedNotes(Thinned):
    """The least-squares line of the observed numbers on the predicted ones; none where predictions are constant."""

    slope: float | None = None
    """Its slope, which is 1 for a calibrated model."""
    intercept: float | None = None
    """Its intercept, which then is 0."""


class ObservedPredicted(CurveOf[Literal["observed_predicted"], ObservedPoints, ObservedNotes]):
    """Observed against predicted numbers, of rows spread evenly by prediction."""


class SmoothNotes(Notes):
    """How a smooth line was made."""

    groups: int | None = None
    """Through how many groups of rows the line goes."""
    smoothed: bool | None = None
    """Whether it is a spline or, of very few groups, their means."""


class ObservedPredictedSmooth(CurveOf[Literal["observed_predicted_smooth"], ObservedPoints, SmoothNotes]):
    """The smooth mean of the observed numbers along the predicted ones."""


class ResidualPoints(LinePoints):
    """Predicted numbers and residuals."""

    predicted: Column
    residual: Column


class ResidualTests(Thinned):
    """Tests of the residuals about the line of the truth on the predictions; none of few rows and under clusters."""

    fan_statistic: float | None = None
    """Of whether their spread changes along the predictions: n times the squared correlation of squared residuals with
    predictions. Koenker (1981). Not of counts, whose variance grows with their mean."""
    fan_p_value: float | None = None
    spread_low: float | None = None
    """Their root mean square about that line, in the third of the rows with the lowest predictions."""
    spread_high: float | None = None
    """The same of the highest."""
    curve_statistic: float | None = None
    """Of whether they follow a curve: the score test of the square and the cube of normal scores of the predictions.
    After Ramsey (1969), with the errors HC3 of MacKinnon & White (1985)."""
    curve_p_value: float | None = None
    peak_statistic: float | None = None
    """Kurtosis less squared skewness, which is at least 189/125 with one peak. Klaassen, Mokveld & van Es (2000)."""
    peak_p_value: float | None = None
    """Of the test that they have one peak; not of counts, which are whole numbers."""


class ResidualPredicted(CurveOf[Literal["residual_predicted"], ResidualPoints, ResidualTests]):
    """Residuals against predicted numbers, of rows spread evenly by prediction."""


class ResidualPredictedSmooth(CurveOf[Literal["residual_predicted_smooth"], ResidualPoints, SmoothNotes]):
    """The smooth mean of the residuals along the predicted numbers."""


class RootogramPoints(Points):
    """Counts, and what the rows weigh that have each."""

    count: Column
    observed: Column
    expected: Column
    """What they would weigh if each count were Poisson with its prediction as mean."""


class RootogramNotes(Notes):
    """What lies beyond the last count."""

    last_or_more: bool | None = None
    """Whether the last count holds all above."""
    expected_above: float | None = None
    """The weight expected above it."""
    zeros_statistic: float | None = None
    """The zeros counted minus the zeros expected, in standard errors. Each row is zero with the probability exp(-mean),
    independently of the others, so there is none of clustered rows."""
    zeros_p_value: float | None = None


class Rootogram(CurveOf[Literal["rootogram"], RootogramPoints, RootogramNotes]):
    """How often each count occurs, and how often it is expected."""


ResidualKind = Literal["raw", "deviance", "pearson"]
"""Truth less prediction; the signed root of what a row adds to the deviance; the raw one in standard deviations."""


class PredictedObservedPoints(LinePoints):
    """Observed and predicted numbers."""

    observed: Column
    predicted: Column


class PredictedObserved(CurveOf[Literal["predicted_observed"], PredictedObservedPoints, ObservedNotes]):
    """Predicted against observed numbers, of rows spread evenly by observation, with the line of the former on these.

    Its slope is below 1 for a calibrated model too.
    """


class PredictedObservedSmooth(CurveOf[Literal["predicted_observed_smooth"], PredictedObservedPoints, SmoothNotes]):
    """The smooth mean of the predicted numbers along the observed ones."""


class KindQuantileNotes(ResidualQuantileNotes):
    """How the quantiles are defined, and what was done where a probability is 0 or 1."""

    clipped: float | None = None
    """What the rows weigh whose true level has a probability of less than the least that is taken."""


class KindQuantiles(CurveOf[
    Literal["deviance_residual_quantiles", "pearson_residual_quantiles"], ResidualQuantilePoints, KindQuantileNotes,
]):
    """Quantiles of residuals of a kind, and of their absolute values."""


class KindPredicted(CurveOf[
    Literal["deviance_residual_predicted", "pearson_residual_predicted"], ResidualPoints, Thinned,
]):
    """Residuals of a kind against predictions, of rows spread evenly by prediction."""


class KindSmoothPoints(ResidualPoints):
    """The smooth mean, and the mean that is expected where the model is right: of a Pearson residual zero."""

    expected: Column


class KindPredictedSmooth(CurveOf[
    Literal["deviance_residual_predicted_smooth", "pearson_residual_predicted_smooth"], KindSmoothPoints, SmoothNotes,
]):
    """The smooth mean of residuals of a kind along the predictions."""


class ScaleLocationPoints(LinePoints):
    """Predictions and the square root of the absolute standardised residual."""

    predicted: Column
    root_size: Column


class ScaleLocationNotes(Thinned):
    """Of which residuals it is."""

    kind: ResidualKind
    scale: float | None = None
    """The root mean square that raw residuals are divided by."""


class ScaleLocation(CurveOf[Literal["scale_location"], ScaleLocationPoints, ScaleLocationNotes]):
    """The size of residuals against predictions, of rows spread evenly by prediction."""


class ScaleLocationSmoothPoints(ScaleLocationPoints):
    """The smooth mean, and the mean that is expected where the model is right."""

    expected: Column


class ScaleLocationSmooth(CurveOf[Literal["scale_location_smooth"], ScaleLocationSmoothPoints, SmoothNotes]):
    """The smooth mean of the square root of the absolute residual along the predictions."""


class HalfNormalPoints(LinePoints):
    """Absolute standardised residuals, ascending, at quantiles of the half-normal distribution."""

    half_normal: Column
    absolute_residual: Column
    expected: Column
    """Where the residual would lie if the model were right: raw ones normal, events and counts drawn as predicted."""
    lower: Column | None = None
    """The limits within which it would lie, each place for itself; none of clustered rows."""
    upper: Column | None = None


class HalfNormalNotes(Thinned):
    """Of which residuals it is, and the level of the limits."""

    kind: ResidualKind
    scale: float | None = None
    """The root mean square that raw residuals are divided by."""
    level: float | None = None


class HalfNormal(CurveOf[Literal["half_normal"], HalfNormalPoints, HalfNormalNotes]):
    """The half-normal plot of absolute residuals."""


class ResidualGroupPoints(Points):
    """Groups of rows, and how their residuals are distributed."""

    value: Column
    """The mean of a column of numbers, the place of a level among the levels, or the mean place in an order from 1."""
    mean: Column
    expected: Column
    """The mean that is expected where the model is right: zero but of several levels."""
    low: Column
    """The tenth of the rows with the lowest residuals ends here."""
    lower_quartile: Column
    median: Column
    upper_quartile: Column
    high: Column
    weight: Column


class ResidualAgainstPoints(ResidualGroupPoints):
    """The same, column by column."""

    column: Column
    """The place of the column among those of the notes, from 0."""
    smooth: Column
    """A smooth line through the means; none of levels."""


class ResidualAgainstNotes(Notes):
    """Which columns residuals are set against, and what of these is not in any group."""

    kind: ResidualKind
    least: int
    """The fewest rows of a group."""
    columns: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    """The labels of the levels by column, in order; none of a column of numbers."""
    missing: dict[str, float]
    """What the rows weigh that have no value, by column where there are any."""
    few: dict[str, int]
    """How many levels have too few rows to be a group, by column where there are any."""


class ResidualAgainst(CurveOf[Literal["residual_against"], ResidualAgainstPoints, ResidualAgainstNotes]):
    """Residuals against columns of the data."""


class ResidualOrderPoints(ResidualGroupPoints):
    """The same, along an order."""

    smooth: Column


class ResidualOrderNotes(Notes):
    """How residuals that follow each other in the order of a column are related; rows of one value are their mean."""

    kind: ResidualKind
    least: int
    """The fewest rows of a group."""
    column: str
    values: int
    """The distinct values of the column, which are that many places."""
    missing: float | None = None
    """What the rows weigh that have no value."""
    autocorrelation: float | None = None
    """At lag 1, about the mean."""
    durbin_watson: float | None = None
    """The squared differences of neighbours over the squares: about 2 where they are unrelated. Durbin & Watson
    (1950)."""


class ResidualOrder(CurveOf[Literal["residual_order"], ResidualOrderPoints, ResidualOrderNotes]):
    """Residuals in the order of a column of the data."""
