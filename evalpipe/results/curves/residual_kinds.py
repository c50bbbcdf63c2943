"""Curves of deviance and Pearson residuals, and of whether residuals spread as they do where the model is right."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Notes, Points, Thinned
from evalpipe.results.curves.residuals import (
    ObservedNotes,
    ResidualPoints,
    ResidualQuantileNotes,
    ResidualQuantilePoints,
    SmoothNotes,
)

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
