"""Curves of predicted numbers, with residual = truth - prediction, in the unit of the outcome."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, Curve, Notes, Points, Thinned


class ResidualQuantilePoints(Points):
    """Quantiles of the residuals, interpolated between rows."""

    share: Column
    residual: Column
    absolute_residual: Column


class ResidualQuantileNotes(Notes):
    """How the quantiles are defined."""

    quantile_type: int | None = None
    """The number of the definition in Hyndman & Fan (1996), as in R."""


class ResidualQuantiles(Curve):
    """Quantiles of residuals and of absolute residuals."""

    curve: Literal["residual_quantiles"] = "residual_quantiles"
    points: ResidualQuantilePoints
    notes: ResidualQuantileNotes = ResidualQuantileNotes()


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


class ResidualBox(Curve):
    """The box plot of absolute residuals."""

    curve: Literal["residual_box"] = "residual_box"
    points: ResidualBoxPoints
    notes: ResidualBoxNotes = ResidualBoxNotes()


class ResidualOutlierPoints(Points):
    """The 20 largest absolute residuals beyond the whiskers of the box plot."""

    absolute_residual: Column
    weight: Column


class ResidualOutliers(Curve):
    """Residuals beyond the whiskers of the box plot."""

    curve: Literal["residual_outliers"] = "residual_outliers"
    points: ResidualOutlierPoints
    notes: Thinned = Thinned()


class ResidualHistogramPoints(Points):
    """Bins of equal width, and what the rows in each weigh."""

    low: Column
    high: Column
    weight: Column


class ResidualHistogram(Curve):
    """The histogram of residuals."""

    curve: Literal["residual_histogram"] = "residual_histogram"
    points: ResidualHistogramPoints
    notes: Notes = Notes()


class ResidualEcdfPoints(Points):
    """The share of the rows with a larger absolute residual."""

    absolute_residual: Column
    share_above: Column


class ResidualEcdf(Curve):
    """The distribution of absolute residuals, from the top."""

    curve: Literal["residual_ecdf"] = "residual_ecdf"
    points: ResidualEcdfPoints
    notes: Thinned = Thinned()


class ObservedPoints(Points):
    """Predicted and observed numbers."""

    predicted: Column
    observed: Column

    @property
    def path(self) -> tuple[Column, Column]:
        """The coordinates across and up, as they are drawn."""
        return self.predicted, self.observed


class ObservedPredicted(Curve):
    """Observed against predicted numbers, of rows spread evenly by prediction."""

    curve: Literal["observed_predicted"] = "observed_predicted"
    points: ObservedPoints
    notes: Thinned = Thinned()


class SmoothNotes(Notes):
    """How a smooth line was made."""

    groups: int | None = None
    """Through how many groups of rows the line goes."""
    smoothed: bool | None = None
    """Whether it is a spline or, of very few groups, their means."""


class ObservedPredictedSmooth(Curve):
    """The smooth mean of the observed numbers along the predicted ones."""

    curve: Literal["observed_predicted_smooth"] = "observed_predicted_smooth"
    points: ObservedPoints
    notes: SmoothNotes = SmoothNotes()


class ResidualPoints(Points):
    """Predicted numbers and residuals."""

    predicted: Column
    residual: Column

    @property
    def path(self) -> tuple[Column, Column]:
        """The coordinates across and up, as they are drawn."""
        return self.predicted, self.residual


class ResidualPredicted(Curve):
    """Residuals against predicted numbers, of rows spread evenly by prediction."""

    curve: Literal["residual_predicted"] = "residual_predicted"
    points: ResidualPoints
    notes: Thinned = Thinned()


class ResidualPredictedSmooth(Curve):
    """The smooth mean of the residuals along the predicted numbers."""

    curve: Literal["residual_predicted_smooth"] = "residual_predicted_smooth"
    points: ResidualPoints
    notes: SmoothNotes = SmoothNotes()


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


class Rootogram(Curve):
    """How often each count occurs, and how often it is expected."""

    curve: Literal["rootogram"] = "rootogram"
    points: RootogramPoints
    notes: RootogramNotes = RootogramNotes()
