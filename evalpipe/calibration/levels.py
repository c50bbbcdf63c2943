"""Recalibration of the probabilities of several levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field

from evalpipe.arithmetic import log, log_sum_exp, softmax
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import (
    Parameters,
    RecalibrationMethod,
    Training,
    Unfit,
    recalibrator,
    registry,
)
from evalpipe.calibration.scales import OnLogOdds, Slope, clipped, maximise, rows_clipped

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Values, Wholes

RIDGE = 1e-8
"""The weight of the squared slopes for each unit of the rows' weight: it decides between equally good ones only."""

MOST = 30
"""The most levels of a multinomial fit; there are as many coefficients as their square."""

Inner = Annotated[Literal["logistic", "isotonic", "beta", "platt"], Field(description="The method for each level.")]


@recalibrator(
    title="Multinomial recalibration",
    text="A multinomial logistic regression of the level on the log probabilities of all levels.",
    tasks=("multiclass", "ordinal"), ref="Kull et al. (2019)", parameters={"coefficients": "jk"})
class Multinomial(OnLogOdds):
    """A multinomial logistic regression of the level on the log probabilities of all K levels.

    Each level but the last, whose linear predictor is 0, has K + 1 coefficients, the intercept first. The fit maximises
    the weighted likelihood with a very small ridge penalty (5e-9 of the total weight times the sum of the squared
    standardised slopes), which makes it unique where a level's probability is constant. With two levels it is beta
    calibration without sign restrictions.
    """

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the coefficients [K - 1, K + 1] of each level but the last, the intercept first."""
        logs, truth, weight = logs_in_order(training)
        require_rows_of_levels(logs, truth)
        levels = logs.shape[1]
        if levels > MOST:
            raise Unfit(f"{levels} levels have {levels**2 - 1} coefficients, and {MOST} levels are the most")
        logs_by_level, total = logs.T, float(np.sum(weight))
        centre = np.sum(logs_by_level * weight, axis=1) / total
        centred = logs_by_level - centre[:, None]
        spread = np.sqrt(np.sum(centred**2 * weight, axis=1) / total)
        # A probability that is the same in every row has no spread; the penalty alone decides its slope.
        spread = np.where(spread > 1e-9, spread, 1.0)
        coefficients = _coefficients(np.vstack([np.ones(len(truth)), centred / spread[:, None]]), truth, weight, levels)
        slopes = coefficients[:, 1:] / spread
        return {"coefficients": np.column_stack([coefficients[:, 0] - np.sum(slopes * centre, axis=1), slopes])}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the recalibrated probabilities of all levels, [n, K], from the model's."""
        coefficients = np.asarray(parameters["coefficients"], float)
        require_level_count(len(coefficients) + 1, prediction)
        design = np.vstack([np.ones(len(prediction)), log(clipped(prediction)).T])
        return softmax(_predictor(coefficients, design).T)

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return the recalibrated scores of all levels, [n, K], log odds up to a constant, from the model's."""
        coefficients = np.asarray(parameters["coefficients"], float)
        require_level_count(len(coefficients) + 1, at)
        design = np.vstack([np.ones(len(at)), normalised(at).T])
        return np.asarray(_predictor(coefficients, design).T)

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with coefficients read from a file; None where nothing is."""
        rows, columns = np.shape(parameters["coefficients"])
        return None if columns == rows + 2 else f"coefficients has {columns} columns, and {rows + 2} belong there"


@recalibrator(
    title="One against the rest",
    text="A binary recalibrator for each level against the rest; the results are divided by their sum in each row.",
    tasks=("multiclass", "ordinal"), ref="Zadrozny & Elkan (2002)", parameters=None)
class OneVsRest(RecalibrationMethod):
    """A binary recalibrator for each level against the rest; the results are divided by their sum in each row.

    A row whose parts are all 0 gets equal probabilities.
    """

    @staticmethod
    def fit(training: Training, *, each: Inner = "logistic") -> Parameters:
        """Return ``each``, the binary method, and lists of its parameters with a value for each level."""
        prediction, truth = np.asarray(training.prediction, float), np.asarray(training.truth)
        require_rows_of_levels(prediction, truth)
        parts: list[Parameters] = []
        for level in range(prediction.shape[1]):
            alone = replace(training, truth=truth == level, prediction=prediction[:, level], score=None)
            try:
                parts.append(registry[each].fit(alone).parameters)
            except Unfit as unfit:
                raise Unfit(f"level {level + 1} of {prediction.shape[1]} against the rest: {unfit}") from unfit
        return {"each": each, **{name: [part[name] for part in parts] for name in parts[0]}}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the recalibrated probabilities of all levels, [n, K], from the model's."""
        inner, parts = registry[parameters["each"]].method, _parameters_of_levels(parameters)
        require_level_count(len(parts), prediction)
        mapped = np.column_stack([inner.apply(part, column) for part, column in zip(parts, prediction.T, strict=True)])
        total = np.sum(mapped, axis=1, keepdims=True)
        return np.where(total > 0, mapped, 1.0) / np.where(total > 0, total, float(len(parts)))

    @staticmethod
    def clips(parameters: Parameters, prediction: Floats) -> int:
        """Count the rows with a probability of 0 or 1, where the levels' method takes logarithms."""
        inner, part = registry[parameters["each"]], _parameters_of_levels(parameters)[0]
        return rows_clipped(prediction) if inner.method.clips(part, np.zeros(1)) else 0

    @staticmethod
    def check(parameters: object) -> str | None:
        """Return what is wrong with parameters read from a file; None where nothing is."""
        if not isinstance(parameters, Mapping) or parameters.get("each") not in get_args(get_args(Inner)[0]):
            return "lacks the method of its levels"
        lists = [value if isinstance(value, list) else [] for name, value in parameters.items() if name != "each"]
        lengths = {len(values) for values in lists}
        if len(lengths) != 1 or min(lengths) < 2:
            return "its parameters are not one for each level"
        inner = registry[parameters["each"]]
        faults = ((place, inner.fault(part)) for place, part in enumerate(_parameters_of_levels(parameters), 1))
        return next((f"level {place}: {fault}" for place, fault in faults if fault is not None), None)


def normalised(scores: Floats) -> Floats:
    """Return the logarithms [n, K] of the softmax of scores [n, K]."""
    return np.asarray(scores - log_sum_exp(scores, 1)[:, None])


def logs_in_order(training: Training) -> tuple[Floats, Wholes, Floats]:
    """Return log probabilities [n, K], truth [n] and weight [n], sorted so that sums are the same in any row order.

    Log probabilities are computed from the scores, where there are any; else from `clipped` probabilities.
    """
    prediction, weight = np.asarray(training.ordering(), float) + 0.0, np.asarray(training.weight, float)
    truth = np.asarray(training.truth, np.intp)
    order = np.lexsort((weight, truth, *prediction.T))
    prediction = prediction[order]
    logs = log(clipped(prediction)) if training.score is None else normalised(prediction)
    return logs, truth[order], weight[order]


def require_rows_of_levels(prediction: Floats, truth: Values) -> None:
    """Raise `Unfit` where a level of ``truth`` [n] has no rows; ``prediction`` [n, K] has a column for each level."""
    for level in range(prediction.shape[1]):
        if not np.any(truth == level):
            raise Unfit(f"no row is of level {level + 1} of {prediction.shape[1]}")


def require_level_count(levels: int, prediction: Floats) -> None:
    """Raise ValueError where predictions are not [n, ``levels``]."""
    if prediction.ndim != 2 or prediction.shape[1] != levels:
        raise ValueError(f"the fit is for [n, {levels}] probabilities, and these are {list(prediction.shape)}")


def _parameters_of_levels(parameters: Mapping[str, Any]) -> list[Parameters]:
    """Return each level's parameters as a mapping, from lists by parameter with a value for each level."""
    names = [name for name in parameters if name != "each"]
    return [dict(zip(names, values, strict=True)) for values in zip(*(parameters[n] for n in names), strict=True)]


def _predictor(coefficients: Floats, design: Floats) -> Floats:
    """Return the linear predictors [K, n] of coefficients [K - 1, k] at a design [k, n]."""
    rows = [np.sum(row[:, None] * design, axis=0) for row in coefficients]
    return np.vstack([*rows, np.zeros(design.shape[1])])


def _coefficients(design: Floats, truth: Wholes, weight: Floats, levels: int) -> Floats:
    """Return the ridge-penalised maximum-likelihood coefficients [K - 1, k] for a ``design`` [k, n].

    Raises `Unfit` where the likelihood alone has no maximum: then the fit moves when the penalty is cut.
    """
    coefficients = _penalised(design, truth, weight, np.zeros((levels - 1, len(design))), RIDGE)
    less_penalised = _penalised(design, truth, weight, coefficients, RIDGE / 100)
    if np.max(np.abs(_predictor(less_penalised - coefficients, design))) > 0.1:
        raise Unfit("some levels are perfectly separated, so the likelihood has no maximum")
    return coefficients


def _penalised(design: Floats, truth: Wholes, weight: Floats, start: Floats, ridge: float) -> Floats:
    """Return the coefficients of greatest likelihood under a ridge penalty on the slopes, from ``start`` [K - 1, k]."""
    total, shape = float(np.sum(weight)), start.shape
    penalty = np.full(shape, ridge * total)
    penalty[:, 0] = 0
    observed = np.arange(shape[0] + 1)[:, None] == truth

    def value(coefficients: Floats) -> float:
        """Return the log likelihood less the penalty."""
        values = _predictor(coefficients.reshape(shape), design)
        log_probabilities = values[truth, np.arange(len(truth))] - log_sum_exp(values, 0)
        return float(np.sum(weight * log_probabilities) - 0.5 * float(np.sum(penalty.ravel() * coefficients**2)))

    def slope(coefficients: Floats) -> Slope:
        """Return the gradient of it and the information; the last level has no coefficients."""
        probability = softmax(_predictor(coefficients.reshape(shape), design).T).T
        residuals = weight * (observed - probability)[:-1]
        gradient = np.array([np.sum(row * design, axis=1) for row in residuals]).ravel()
        gradient -= penalty.ravel() * coefficients
        return Slope(gradient, _information(design, probability, weight) + np.diag(penalty.ravel()))

    return maximise(value, slope, start.ravel(), total).reshape(shape)


def _information(design: Floats, probability: Floats, weight: Floats) -> Floats:
    """Return the Fisher information of the coefficients, [(K - 1) k, (K - 1) k], ordered level by level."""
    free_levels, width = len(probability) - 1, len(design)
    information = np.empty((free_levels, width, free_levels, width))
    for first in range(free_levels):
        # The matrix is symmetric, so that half of its blocks are computed.
        for second in range(first + 1):
            weighted_variance = weight * probability[first] * ((first == second) - probability[second])
            block = np.array([np.sum(weighted_variance * column * design, axis=1) for column in design])
            information[first, :, second], information[second, :, first] = block, block
    return information.reshape(free_levels * width, free_levels * width)
