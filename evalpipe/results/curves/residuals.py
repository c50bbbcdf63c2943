"""Curves of predicted numbers, with residual = truth - prediction, in the unit of the outcome.

Probabilities may have residuals too: the truth is then 1 for an event and 0 for the others, or of several levels 1, and
the prediction the probability of the event, or of the true level.
"""

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
    """Their standard deviation in the third of the rows with the lowest predictions."""
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
