"""Curves of deviance and Pearson residuals, and of whether residuals spread as they do where the model is right."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Thinned
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
