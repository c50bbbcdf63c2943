"""Statistics of an outcome that is a number: residuals, losses, moments about a pilot, one rate for all rows, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe import arithmetic
from evalpipe.arithmetic import log, log1p
from evalpipe.statistics.summary import column, pairs, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.statistics.number_rows import Merge, NumberRows
    from evalpipe.statistics.summary import Summary


@column
def residual(rows: NumberRows) -> Floats:
    """Truth less prediction."""
    return rows.residual


@column
def absolute_residual(rows: NumberRows) -> Floats:
    """Distance of truth and prediction."""
    return np.abs(rows.residual)


@column
def squared_residual(rows: NumberRows) -> Floats:
    """Squared distance of truth and prediction."""
    return rows.residual**2


@column
def residual_deviation(rows: NumberRows) -> Floats:
    """Residual less the plain mean of the residuals, that is of truths about the pilot less that of predictions."""
    return rows.deviation - rows.predicted_deviation


@column
def squared_residual_deviation(rows: NumberRows) -> Floats:
    """The square of the residual less the plain mean of the residuals."""
    return (rows.deviation - rows.predicted_deviation) ** 2


@table
def moments(summary: Summary) -> Floats:
    """Totals of one, of the deviations of truth and prediction from their plain means, of their squares and product.

    Shape [..., 6], in the order 1, y, p, y y, p p, y p.
    """
    return _moments(summary, summary.rows.predicted_deviation)


@table
def standard_moments(summary: Summary) -> Floats:
    """The same `moments` with predictions on a scale that folds share, where a variant was cross-fitted."""
    rows = summary.rows
    return _moments(summary, rows.predicted_deviation if rows.standardised is None else rows.standardised)


def _moments(summary: Summary, p: Floats) -> Floats:
    """Return the totals [..., 6] of 1, y, p, y y, p p and y p, with y the deviation of the truth and ``p`` [n]."""
    y = summary.rows.deviation
    terms = (np.ones(len(y)), y, p, y * y, p * p, y * p)
    return np.stack([(summary.weights * term).sum(axis=-1) for term in terms], axis=-1)


@column
def baseline_deviation(rows: NumberRows, *, baseline: Literal["evaluation", "training"]) -> Floats:
    """Truth less the baseline's prediction, times the relative exposure; NaN where the baseline is not known.

    The baseline predicts the pilot or the mean outcome in training; with an exposure, one rate for all rows.
    """
    return rows.relative_exposure * _from_baseline(rows, baseline)


@column
def squared_baseline_deviation(rows: NumberRows, *, baseline: Literal["evaluation", "training"]) -> Floats:
    """The squared distance of truth and the baseline's prediction."""
    return _from_baseline(rows, baseline) ** 2


def _from_baseline(rows: NumberRows, baseline: str) -> Floats:
    """Return the truth less the baseline's prediction, [n]; NaN where the mean outcome in training is not known."""
    if baseline == "evaluation":
        return rows.excess
    rate = np.nan if rows.baseline is None else rows.baseline
    return rows.truth - (rate if rows.exposure is None else rate * rows.exposure)


@column
def truth_sum(rows: NumberRows) -> Floats:
    """Truth."""
    return rows.truth


@column
def prediction_sum(rows: NumberRows) -> Floats:
    """Prediction."""
    return rows.predicted


@column
def zero_truths(rows: NumberRows) -> Flags:
    """Rows whose truth is zero."""
    return np.asarray(rows.truth == 0)


@column
def relative_residual(rows: NumberRows) -> Floats:
    """Residual over the truth; nothing where that is zero."""
    return _quotient_or_zero(rows.residual, rows.truth)


@column
def absolute_relative_residual(rows: NumberRows) -> Floats:
    """Size of the residual over that of the truth; nothing where that is zero."""
    return np.abs(_quotient_or_zero(rows.residual, rows.truth))


@column
def both_zero(rows: NumberRows) -> Flags:
    """Rows whose truth and prediction are zero."""
    return np.asarray((rows.truth == 0) & (rows.predicted == 0))


@column
def symmetric_relative_residual(rows: NumberRows) -> Floats:
    """Distance of truth and prediction over the mean of their sizes; nothing where both are zero."""
    return _quotient_or_zero(np.abs(rows.residual), (np.abs(rows.truth) + np.abs(rows.predicted)) / 2)


@column
def negative_values(rows: NumberRows) -> Flags:
    """Rows whose truth or prediction is below zero."""
    return (rows.truth < 0) | (rows.predicted < 0)


@column
def squared_log_residual(rows: NumberRows) -> Floats:
    """Squared distance of the logarithms of one plus truth and one plus prediction, values below zero taken as zero."""
    return (log1p(np.maximum(rows.truth, 0)) - log1p(np.maximum(rows.predicted, 0))) ** 2


@column
def rows_below_truth(rows: NumberRows) -> Flags:
    """Rows predicted at or below their truth."""
    return rows.residual >= 0


@column
def rows_above_truth(rows: NumberRows) -> Flags:
    """Rows predicted above their truth."""
    return rows.residual < 0


@column
def residual_below_truth(rows: NumberRows) -> Floats:
    """Distance of truth and prediction, of the rows predicted at or below their truth."""
    return np.maximum(rows.residual, 0)


@column
def residual_above_truth(rows: NumberRows) -> Floats:
    """Distance of truth and prediction, of the rows predicted above their truth."""
    return np.maximum(-rows.residual, 0)


@column
def huber_loss(rows: NumberRows, *, delta: float) -> Floats:
    """Half the squared residual up to ``delta``, and beyond it the straight line that continues it."""
    near = np.minimum(np.abs(rows.residual), delta)
    return near * (np.abs(rows.residual) - near / 2)


@column
def pseudo_huber_loss(rows: NumberRows, *, delta: float) -> Floats:
    """The smooth curve near half the squared residual below ``delta`` and near a straight line beyond."""
    ratio = rows.residual / delta
    # The same as delta^2 (sqrt(1 + ratio^2) - 1), which would lose the digits of a small ratio.
    return np.asarray(delta**2 * ratio**2 / (np.sqrt(1 + ratio**2) + 1))


@column
def pinball_loss(rows: NumberRows, *, alpha: float) -> Floats:
    """Residual times ``alpha`` where it is positive, its size times 1 - ``alpha`` where it is negative."""
    return np.where(rows.residual >= 0, alpha, alpha - 1) * rows.residual


@column
def squared_left_out_residual(rows: NumberRows) -> Floats:
    """Squared distance of the truth and the prediction by a model that had not seen the row."""
    return rows.left_out_residual**2


@column
def predictions_not_positive(rows: NumberRows) -> Flags:
    """Rows whose prediction is zero or less."""
    return rows.predicted <= 0


@column
def negative_truths(rows: NumberRows) -> Flags:
    """Rows whose truth is below zero."""
    return rows.truth < 0


@column
def not_counts(rows: NumberRows) -> Flags:
    """Rows whose truth is no whole number or is below zero."""
    return np.asarray((rows.truth < 0) | (rows.truth != np.floor(rows.truth)))


@column
def squared_pearson_residual(rows: NumberRows) -> Floats:
    """Squared residual over the prediction; nothing where that is zero or less."""
    return _quotient_or_zero(rows.residual**2, np.maximum(rows.predicted, 0))


@column
def unit_deviance(rows: NumberRows) -> Floats:
    """Poisson deviance of a row; nothing where the prediction is zero or less or the truth is negative."""
    valid = (rows.predicted > 0) & (rows.truth >= 0)
    relative = _quotient_or_zero(rows.truth, np.where(valid, rows.predicted, 0))
    # Rounding may take the deviance of an almost exact prediction below zero.
    return np.where(valid, np.maximum(2 * (rows.truth * logarithm(relative) - rows.residual), 0), 0)


@column
def gamma_unit_deviance(rows: NumberRows) -> Floats:
    """Gamma deviance of a row; nothing where it has none."""
    return np.nan_to_num(_tweedie(rows, 2.0))


@column
def without_gamma_deviance(rows: NumberRows) -> Flags:
    """Rows without a gamma deviance."""
    return np.isnan(_tweedie(rows, 2.0))


@column
def tweedie_unit_deviance(rows: NumberRows, *, power: float) -> Floats:
    """Tweedie deviance of a row; nothing where it has none."""
    return np.nan_to_num(_tweedie(rows, power))


@column
def without_tweedie_deviance(rows: NumberRows, *, power: float) -> Flags:
    """Rows without a Tweedie deviance."""
    return np.isnan(_tweedie(rows, power))


@column
def negative_log_poisson(rows: NumberRows, *, epsilon: float) -> Floats:
    """Negative natural logarithm of the Poisson probability of the truth; predictions are at least ``epsilon``."""
    from scipy.special import gammaln

    mean, count = np.maximum(rows.predicted, epsilon), np.maximum(rows.truth, 0)
    return np.asarray(gammaln(count + 1) + mean - count * log(mean))


def _tweedie(rows: NumberRows, power: float) -> Floats:
    """Return the Tweedie deviance of each row, for a power above 1; NaN where there is none or it overflows.

    By a Box-Cox transform, which has the limit of power 2 in it and loses no digits near that.
    """
    valid = is_possible_truth(rows.truth, power) & (rows.predicted > 0)
    truth, mean = np.where(valid, rows.truth, 1.0), np.where(valid, rows.predicted, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        relative = truth / mean
        beyond = relative - 1 - arithmetic.boxcox(relative, 2 - power)
        deviance = 2 * arithmetic.power(mean, 2 - power) * beyond / (power - 1)
    # Rounding may take the deviance of an almost exact prediction below zero.
    return np.where(valid & np.isfinite(deviance), np.maximum(deviance, 0), np.nan)


def is_possible_truth(truth: Floats, power: float) -> Flags:
    """Tell which truths a Tweedie distribution can have: zero only below power 2."""
    return truth >= 0 if power < 2 else truth > 0


def _quotient_or_zero(numerator: Floats, denominator: Floats) -> Floats:
    """Return quotients [n]; zero where the denominator is zero."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def logarithm(values: Floats) -> Floats:
    """Return natural logarithms of values, 0 where a value is zero or less."""
    return log(np.where(values > 0, values, 1.0))


@table
def rate_moments(summary: Summary) -> Floats:
    """Totals of exposure, of truth less the plain rate's prediction, and of the square of that over the exposure.

    Shape [..., 3]: the moments of the truths per unit of exposure, each weighted by its exposure.
    """
    rows = summary.rows
    terms = (rows.relative_exposure, rows.excess, rows.excess**2 / rows.relative_exposure)
    return np.stack([(summary.weights * term).sum(axis=-1) for term in terms], axis=-1)


@column
def squared_exposure(rows: NumberRows) -> Floats:
    """Squared exposure."""
    return rows.relative_exposure**2


@column
def exposed_excess(rows: NumberRows) -> Floats:
    """Truth less the plain rate's prediction, times the exposure."""
    return rows.relative_exposure * rows.excess


@column
def squared_excess(rows: NumberRows) -> Floats:
    """Squared distance of truth and the plain rate's prediction."""
    return rows.excess**2


@column
def rate_information(rows: NumberRows) -> Floats:
    """Truth times the natural logarithm of truth per unit of exposure, zero where the truth is zero or less."""
    return rows.truth * logarithm(rows.truth / rows.relative_exposure)


@column
def tweedie_exposure(rows: NumberRows, *, power: float) -> Floats:
    """Exposure to the power 2 - ``power``."""
    return np.asarray(arithmetic.power(rows.relative_exposure, 2 - power))


@column
def tweedie_truth(rows: NumberRows, *, power: float) -> Floats:
    """Truth times the exposure to the power 1 - ``power``."""
    return np.asarray(rows.truth * arithmetic.power(rows.relative_exposure, 1 - power))


@column
def tweedie_transformed(rows: NumberRows, *, power: float) -> Floats:
    """Box-Cox transform by 2 - ``power`` of the truth per unit of exposure, times the exposure to that power.

    Nothing where the truth has no Tweedie deviance.
    """
    rate = np.where(is_possible_truth(rows.truth, power), rows.truth / rows.relative_exposure, 1.0)
    return np.asarray(arithmetic.power(rows.relative_exposure, 2 - power) * arithmetic.boxcox(rate, 2 - power))


@table
def rate_at(summary: Summary) -> Floats:
    """Exposure at each distinct truth per unit of exposure."""
    return np.asarray(summary.rows.by_rate.totals(summary.weights * summary.rows.relative_exposure))


@table
def rate_total(summary: Summary) -> Floats:
    """Total of the truths, less the plain rate's prediction, at each distinct truth per unit of exposure."""
    return np.asarray(summary.rows.by_rate.totals(summary.weights * summary.rows.excess))


IN_CACHE = 2**15
"""Numbers worked on at once where places are looked up at random: more would not stay in the processor's cache."""


@table
def residual_size_at(summary: Summary) -> Floats:
    """Weight at each distinct size of the residuals."""
    return np.asarray(summary.rows.by_absolute_residual.totals(summary.weights))


@table
def residual_size_total(summary: Summary) -> Floats:
    """Total of the sizes of the residuals at each distinct one."""
    return np.asarray(summary.rows.by_absolute_residual.totals(summary.weights * np.abs(summary.rows.residual)))


@table
def truth_at(summary: Summary) -> Floats:
    """Weight at each distinct truth."""
    return np.asarray(summary.rows.by_truth.totals(summary.weights))


@table
def truth_total(summary: Summary) -> Floats:
    """Total of the truths, less the plain mean of all rows, at each of them."""
    return np.asarray(summary.rows.by_truth.totals(summary.weights * summary.rows.deviation))


@table
def prediction_at(summary: Summary) -> Floats:
    """Weight at each distinct prediction."""
    return np.asarray(summary.rows.by_prediction.totals(summary.weights))


@table
def truth_by_prediction(summary: Summary) -> Floats:
    """Total of the truths, less the plain mean of all rows, at each distinct prediction."""
    return np.asarray(summary.rows.by_prediction.totals(summary.weights * summary.rows.deviation))


@pairs
def concordant(summary: Summary) -> Floats:
    """Pairs of rows of unequal truth whose predictions are in the same order; equal predictions count half.

    One pass of prefix sums for each level of a merge sort that was done without the weights: n log n for each row of
    weights, and nothing is sorted again.
    """
    rows = summary.rows
    cells = rows.cells.totals(summary.weights)
    flat = cells.reshape(-1, cells.shape[-1])
    step = max(1, IN_CACHE // cells.shape[-1])
    totals = [_concordant_weight(flat[first : first + step], rows.merges) for first in range(0, len(flat), step)]
    return np.concatenate(totals).reshape(cells.shape[:-1])


def _concordant_weight(cells: Floats, merges: tuple[Merge, ...]) -> Floats:
    """Return the total weight [b] of the pairs of cells in the right order, from the weights ``cells`` [b, m].

    ``merges`` are the levels of a merge sort, in which each pair of cells meets once.
    """
    padded = np.zeros((len(cells), 2 ** len(merges)))
    padded[:, : cells.shape[-1]] = cells
    totals = np.zeros(len(cells))
    for merge in merges:
        running = np.zeros((len(cells), len(merge.left) // merge.half, merge.half + 1))
        left = np.take(padded, merge.left, axis=-1).reshape(len(cells), -1, merge.half)
        np.cumsum(left, axis=-1, out=running[..., 1:])
        running_totals = running.reshape(len(cells), -1)
        # The mean of "smaller" and "smaller or equal" counts an equal prediction by half; the halving is done last.
        below = np.take(running_totals, merge.less, axis=-1) + np.take(running_totals, merge.at_most, axis=-1)
        right = padded.reshape(len(cells), -1, 2, merge.half)[:, :, 1].reshape(len(cells), -1)
        totals += (right * below).sum(axis=-1) / 2
    return totals
