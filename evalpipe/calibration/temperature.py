"""Temperature scaling: one number that makes all probabilities of a model bolder or more cautious."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from evalpipe.arithmetic import expit, log, log_sum_exp, softmax
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, Training, Unfit, recalibrator
from evalpipe.calibration.levels import logs_in_order, require_rows_of_levels
from evalpipe.calibration.logistic import BACKWARDS
from evalpipe.calibration.scales import (
    OnLogOdds,
    Slope,
    clipped,
    events_by_log_odds,
    logistic_fit,
    logit,
    maximise,
    separated,
)

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


@recalibrator(
    title="Temperature scaling",
    text="Log probabilities divided by one temperature, by maximum likelihood; above 1 it makes predictions more "
    "cautious.",
    tasks=("binary", "multiclass", "ordinal"), ref="Guo et al. (2017)", parameters={"temperature": ""})
class Temperature(OnLogOdds):
    """Log probabilities divided by a temperature T > 0 and normalised again, T by weighted maximum likelihood.

    For a binary outcome: logit p' = logit p / T. T above 1 makes predictions more cautious; the order of the levels in
    a row does not change.
    """

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the maximum-likelihood temperature; raises `Unfit` where it would turn the order of probabilities."""
        levels = np.asarray(training.prediction).ndim == 2
        # The inverse, for the likelihood is concave in it and not in the temperature.
        inverse = _inverse_temperature_of_levels(training) if levels else _inverse_temperature(training)
        if inverse <= 0:
            raise Unfit(BACKWARDS)
        return {"temperature": 1 / inverse}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return recalibrated probabilities of the event [n], or of all levels [n, K]."""
        if prediction.ndim < 2:
            return expit(logit(prediction) / parameters["temperature"])
        return softmax(log(clipped(prediction)) / parameters["temperature"])

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return recalibrated log odds of the event [n], or of all levels up to a constant [n, K]."""
        return np.asarray(at / parameters["temperature"])

    @staticmethod
    def direction(parameters: Parameters) -> float:
        """Return the temperature, a number above 0: the map rises everywhere."""
        return typing.cast("float", parameters["temperature"])

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with a temperature read from a file; None where nothing is."""
        return None if parameters["temperature"] > 0 else "temperature is not above 0"


def _inverse_temperature(training: Training) -> float:
    """Return the inverse temperature of greatest likelihood for a binary outcome; raises `Unfit` if there is none."""
    table = events_by_log_odds(training)
    if np.all(table.at == 0):
        raise Unfit("all predictions are 0.5")
    if separated(table, 0.0):
        raise Unfit("every row's outcome has at least half the probability, so the likelihood has no maximum")
    return float(logistic_fit([table.at], table.events, table.others, intercept=False)[0])


def _inverse_temperature_of_levels(training: Training) -> float:
    """Return the inverse temperature of greatest likelihood for several levels; raises `Unfit` where there is none."""
    log_odds, truth, weight = logs_in_order(training)
    require_rows_of_levels(log_odds, truth)
    log_odds = log_odds - log_odds[np.arange(len(truth)), truth][:, None]  # of each level against the one that came
    if np.all(log_odds == 0):
        raise Unfit("all levels have equal probabilities in every row")
    if np.all(log_odds <= 0):
        raise Unfit("every row's outcome has the highest probability, so the likelihood has no maximum")

    def value(inverse: Floats) -> float:
        """Return the log likelihood: each level's log odds are against the true level, whose own are 0."""
        return -float(np.sum(weight * log_sum_exp(inverse[0] * log_odds, 1)))

    def slope(inverse: Floats) -> Slope:
        """Return its derivative, and the information: the variance of log odds over the levels."""
        probability = softmax(inverse[0] * log_odds)
        mean = np.sum(probability * log_odds, axis=1)
        variance = np.sum(probability * (log_odds - mean[:, None]) ** 2, axis=1)
        return Slope(-np.sum(weight * mean, keepdims=True), np.sum(weight * variance).reshape(1, 1))

    return float(maximise(value, slope, np.zeros(1), float(np.sum(weight)))[0])
