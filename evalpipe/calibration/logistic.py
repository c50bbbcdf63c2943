"""Recalibration by lines: of predicted numbers, and logistic curves of probabilities with one to three coefficients."""

from __future__ import annotations

import math
import typing
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalpipe.arithmetic import expit, log, log1p, log_expits
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, RecalibrationMethod, Training, Unfit, recalibrator
from evalpipe.calibration.scales import (
    SCALES,
    Events,
    OnEither,
    OnLogOdds,
    clipped,
    events_by_log_odds,
    events_of,
    events_on,
    logistic_fit,
    numbers_of,
    require_distinct,
    separated,
)

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


@recalibrator(
    title="Linear recalibration",
    text="The line, intercept + slope × prediction, that fits the truth best by least squares.",
    tasks=("regression", "count"), ref="Mincer & Zarnowitz (1969)", parameters={"intercept": "", "slope": ""})
class Linear(RecalibrationMethod):
    """The line intercept + slope x prediction that fits the truth best by weighted least squares.

    For counts it may fall below 0 at small predictions.
    """

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the intercept and the slope of the least-squares line of the truth on the prediction."""
        table = numbers_of(training)
        require_distinct(table.at, 2, "a slope")
        weight = np.sum(table.total)
        centre, level = np.sum(table.total * table.at) / weight, np.sum(table.sums) / weight
        moved = table.at - centre
        # Sums about the centres lose no digits to large means.
        slope = np.sum(moved * (table.sums - table.total * level)) / np.sum(table.total * moved**2)
        return {"intercept": level - slope * centre, "slope": slope}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return recalibrated numbers [n]."""
        return np.asarray(parameters["intercept"] + parameters["slope"] * prediction)


On = Annotated[Literal["logit", "probability"], Field(description="The scale on which the curve is fitted.")]
Terms = Annotated[Literal["abm", "ab", "am"], Field(description="The coefficients that are free.")]

BACKWARDS = "higher predictions have fewer events"
SEPARATED = "a threshold separates all events from all non-events, so the likelihood has no maximum"


class _Line(OnEither):
    """A line on the scale that it is a function of, whose heights are log odds."""

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return recalibrated log odds [n] of ``at``, log odds or a probability: the height of the line."""
        return np.asarray(parameters["intercept"] + parameters["slope"] * at)

    @staticmethod
    def direction(parameters: Parameters) -> float:
        """Return the slope, whose sign says whether the map rises or falls."""
        return typing.cast("float", parameters["slope"])


@recalibrator(
    title="Logistic recalibration",
    text="A line on the log odds, intercept + slope × logit p, by maximum likelihood.",
    tasks=("binary",), ref="Cox (1958)", parameters={"intercept": "", "slope": ""})
class Logistic(OnLogOdds, _Line):
    """A line on the log odds: logit p' = intercept + slope x logit p, by weighted maximum likelihood."""

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the maximum-likelihood intercept and slope of a logistic regression on the log odds."""
        return _fitted_line(events_by_log_odds(training))


@recalibrator(
    title="Logistic recalibration on the probability",
    text="A logistic curve of the probability itself, log odds = intercept + slope × p, by maximum likelihood.",
    tasks=("binary",), ref="Kuhn et al. (2026), probably", parameters={"intercept": "", "slope": ""})
class LogisticProbability(_Line):
    """A logistic curve of the probability itself: logit p' = intercept + slope x p, by weighted maximum likelihood."""

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the maximum-likelihood intercept and slope of a logistic regression on the probability."""
        return _fitted_line(events_of(training))


@recalibrator(
    title="Platt scaling",
    text="A logistic curve fitted to targets shrunk slightly from 1 and 0.",
    tasks=("binary",), ref="Platt (1999)", parameters={"on": SCALES, "intercept": "", "slope": ""})
class Platt(_Line):
    """A logistic curve fitted to shrunken targets instead of 1 and 0.

    An event counts as (N1 + 1) / (N1 + 2) and a non-event as 1 / (N0 + 2), with N1 and N0 the weights of events and
    non-events. This keeps the curve finite where a threshold separates them. Of a raw score it is a curve of the score
    itself, whatever its scale; the option ``on`` is then of no account.
    """

    of_scores: ClassVar[bool] = True

    @staticmethod
    def fit(training: Training, *, on: On = "logit") -> Parameters:
        """Return the intercept and the slope of greatest likelihood of shrunken targets, and the scale they are on."""
        table = events_on(training, on)
        require_distinct(table.at, 2, "a slope")
        event, other = float(np.sum(table.events)), float(np.sum(table.others))
        high, low = (event + 1) / (event + 2), 1 / (other + 2)
        hits = table.events * high + table.others * low
        misses = table.events * (1 - high) + table.others * (1 - low)
        intercept, slope = logistic_fit([table.at], hits, misses)
        return {"on": "score" if training.raw else on, "intercept": intercept, "slope": slope}


@recalibrator(
    title="Beta calibration",
    text="A curve from two beta distributions, log odds = a ln p − b ln(1 − p) + intercept, with a and b not below 0.",
    tasks=("binary",), ref="Kull, Silva Filho & Flach (2017)", parameters={"a": "", "b": "", "intercept": ""})
class Beta(OnLogOdds):
    """A curve from two beta distributions: logit p' = a ln p - b ln(1 - p) + intercept, with a and b not below 0.

    ``abm`` fits all three, with the intercept for the midpoint m. ``am`` sets a = b, which is a line on the log odds.
    ``ab`` sets the intercept to (a - b) ln 2, so 1/2 stays 1/2. If the best coefficient would be negative, its term is
    left out and the others are fitted again.
    """

    @staticmethod
    def fit(training: Training, *, parameters: Terms = "abm") -> Parameters:
        """Return the maximum-likelihood coefficients a, b and intercept; ``parameters`` names those that are free."""
        table = events_by_log_odds(training)
        require_distinct(table.at, 3 if parameters == "abm" else 2, "three coefficients")
        if separated(table, 0.0 if parameters == "ab" else None):
            events, others = table.at[table.events > 0], table.at[table.others > 0]
            if not events[-1] <= others[0]:  # where all events lie below, the fits to come are refused as backwards
                raise Unfit(SEPARATED)
        if parameters == "am":
            intercept, slope = logistic_fit([table.at], table.events, table.others)
            if slope < 0:
                raise Unfit(BACKWARDS)
            return {"a": slope, "b": slope, "intercept": intercept}
        # With ln 2p and -ln 2(1 - p), which are 0 at 1/2, and no intercept, 1/2 stays 1/2.
        moved = math.log(2) if parameters == "ab" else 0.0
        event, other = log_expits(table.at)
        columns = np.array([event + moved, -other - moved])
        intercept, a, b = _nonnegative_fit(columns, table, intercept=parameters == "abm")
        return {"a": a, "b": b, "intercept": intercept if parameters == "abm" else (a - b) * moved}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return recalibrated probabilities [n]."""
        inside = clipped(prediction)
        return expit(parameters["a"] * log(inside) - parameters["b"] * log1p(-inside) + parameters["intercept"])

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return recalibrated log odds [n]."""
        event, other = log_expits(at)
        return np.asarray(parameters["a"] * event - parameters["b"] * other + parameters["intercept"])

    @staticmethod
    def direction(parameters: Parameters) -> float:
        """Return the sum of both slopes: neither is below 0, so the map rises unless both are 0."""
        return typing.cast("float", parameters["a"] + parameters["b"])


def _fitted_line(table: Events) -> Parameters:
    """Return the intercept and slope of a logistic line; raises `Unfit` where the likelihood has no maximum."""
    require_distinct(table.at, 2, "a slope")
    if separated(table):
        raise Unfit(SEPARATED)
    intercept, slope = logistic_fit([table.at], table.events, table.others)
    return {"intercept": intercept, "slope": slope}


def _nonnegative_fit(columns: Floats, table: Events, *, intercept: bool) -> tuple[float, float, float]:
    """Return the intercept and the two coefficients, not below 0, that fit best.

    A fit of one column is best if a coefficient above 0 for the other would not improve it. Otherwise the fit of both
    columns has two positive coefficients, and it does not diverge.
    """
    single_fits = []
    for column in (0, 1):
        coefficients = logistic_fit(columns[[column]], table.events, table.others, intercept=intercept)
        start, slope = (coefficients[0], coefficients[1]) if intercept else (0.0, coefficients[0])
        probability = expit(start + slope * columns[column])
        gain = np.sum(columns[1 - column] * (table.events - table.total * probability))
        single_fits.append((start, max(slope, 0.0)))
        if slope > 0 and gain <= 0:
            return (start, slope, 0.0) if column == 0 else (start, 0.0, slope)
    if not any(slope for _, slope in single_fits):
        raise Unfit(BACKWARDS)
    fit = logistic_fit(columns, table.events, table.others, intercept=intercept)
    return (fit[0], fit[1], fit[2]) if intercept else (0.0, fit[0], fit[1])
