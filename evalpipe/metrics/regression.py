"""Measures of predicted numbers: errors, shares of variance explained, agreement, ranking and leave-one-out errors.

The residual is truth less prediction: positive where the prediction is too low. ``moments`` and totals of deviations
are about a pilot; `about_means` and `spread` take off what is left of the offset. Tables have a last axis of the
distinct values in ascending order, with the weight and the total there. The mean absolute scaled error is not here:
its scale is the change from one row to the next, and here no measure depends on the order of rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

POSITIVE = (0.0, np.inf)
ANY = (-np.inf, np.inf)
EXPLAINED = (-np.inf, 1.0)
CORRELATION = (-1.0, 1.0)
NO_ROWS = "no rows"
CONSTANT = "the truth is constant"
CONSTANT_RATE = f"{CONSTANT}, or its rate where there is an exposure"
EXACT = "all predictions are exact"
ONE_ROW = "the weights add up to no more than one row"
CONSTANT_EITHER = "the truth or the predictions are constant"
ROUNDING = 1e-13
"""A sum of squares that is smaller than this part of the total it is the difference from is zero but for rounding."""

Delta = Annotated[float, Field(ge=SMALLEST, le=LARGEST)]
"""Where a loss bends, in the range of numbers of data: its square and that of a residual over it can be computed."""
Share = Annotated[float, Field(gt=0, lt=1)]

error = partial(metric, needs="values", sees="numbers", direction="minimize", range=POSITIVE, undefined=NO_ROWS)
"""Declare a size of the residuals that is no mean over rows."""
linear_error = partial(error, linear=True)
"""Declare a mean over rows, or a total, of losses."""
agreement = partial(metric, needs="values", sees="numbers", direction="maximize")
"""Declare how well predictions follow the truth."""
coefficient = partial(metric, needs="values", linear=True, sees="numbers", direction="none", range=ANY)
"""Declare a mean residual or a coefficient of a line, which has no better end."""


@linear_error(title="MSE", aliases=("mean_squared_error",), ref="Gauss (1823)")
def mse(total: Floats, squared_residual: Floats) -> Floats:
    r"""Mean squared residual, in squared units of the outcome; large residuals weigh most,
    $\frac{1}{n}\sum_i(y_i-\hat y_i)^2$."""
    return ratio(squared_residual, total)


@error(standard=True, title="RMSE", aliases=("root_mean_squared_error",), ref="Gauss (1823)")
def rmse(total: Floats, squared_residual: Floats) -> Floats:
    r"""Root of the mean squared residual, in units of the outcome, $\sqrt{\frac{1}{n}\sum_i(y_i-\hat y_i)^2}$."""
    return np.sqrt(ratio(squared_residual, total))


@error(title="Relative RMSE", aliases=("nrmse",), undefined=CONSTANT, ref="Kuhn, Vaughan & Hvitfeldt (2025)")
def rmse_relative(total: Floats, squared_residual: Floats, truth_at: Floats, truth_total: Floats) -> Floats:
    r"""Root mean squared residual over the range of the truth, which grows with the number of rows,
    $\frac{RMSE}{\max_i y_i-\min_i y_i}$."""
    values = ratio(truth_total, truth_at)
    # A value without weight is NaN; where no row is left, infinity less infinity is NaN too.
    largest, smallest = np.fmax.reduce(values, axis=-1), np.fmin.reduce(values, axis=-1)
    return ratio(np.sqrt(ratio(squared_residual, total)), largest - smallest)


@linear_error(standard=True, title="MAE", aliases=("mean_absolute_error",), ref="Willmott & Matsuura (2005)")
def mae(total: Floats, absolute_residual: Floats) -> Floats:
    r"""Mean size of the residuals, in units of the outcome, $\frac{1}{n}\sum_i|y_i-\hat y_i|$."""
    return ratio(absolute_residual, total)


@error(standard=("regression",), ref="Biecek & Burzykowski (2021)")
def median_absolute_error(residual_size_at: Floats, residual_size_total: Floats) -> Floats:
    r"""Median size of the residuals, the mean of the two middle ones where there are two. It is not centred and not
    scaled, unlike the median absolute deviation, $\mathrm{median}_i|y_i-\hat y_i|$."""
    return median_size(residual_size_at, residual_size_total)


@error(title="Largest absolute error", interval="extreme", ref="Pedregosa et al. (2011)")
def max_error(residual_size_at: Floats, residual_size_total: Floats) -> Floats:
    r"""Size of the largest residual; weights do not matter, except that rows of weight zero do not count,
    $\max_i|y_i-\hat y_i|$."""
    return _value_at(ratio(residual_size_total, residual_size_at), _last_weighted(residual_size_at))


@coefficient(aliases=("msd", "mean_signed_deviation"), undefined=NO_ROWS, ref="Willmott & Matsuura (2005)")
def mean_error(total: Floats, residual: Floats) -> Floats:
    r"""Mean residual, truth minus prediction: positive where predictions are too low on average; errors of opposite
    signs cancel, $\frac{1}{n}\sum_i(y_i-\hat y_i)$."""
    return ratio(residual, total)


@linear_error(title="MAPE (per cent)", undefined="a truth is zero", ref="Makridakis (1993)")
def mape(total: Floats, absolute_relative_residual: Floats, zero_truths: Floats) -> Floats:
    r"""Mean size of the residuals in per cent of the truth; favours predictions that are too low. scikit-learn's
    measure of this name is a fraction, $\frac{100}{n}\sum_i\left|\frac{y_i-\hat y_i}{y_i}\right|$."""
    return 100 * ratio(absolute_relative_residual, _nan_if_any(zero_truths, total))


@coefficient(title="MPE (per cent)", undefined="a truth is zero", ref="Makridakis (1993)")
def mpe(total: Floats, relative_residual: Floats, zero_truths: Floats) -> Floats:
    r"""Mean residual in per cent of the truth: for a positive truth, positive where the prediction is too low,
    $\frac{100}{n}\sum_i\frac{y_i-\hat y_i}{y_i}$."""
    return 100 * ratio(relative_residual, _nan_if_any(zero_truths, total))


@error(range=(0.0, 200.0), title="SMAPE (per cent)", undefined="a truth and its prediction are both zero",
       ref="Makridakis (1993)")
def smape(total: Floats, symmetric_relative_residual: Floats, both_zero: Floats) -> Floats:
    r"""Mean size of the residuals in per cent of the mean size of truth and prediction; a row counts 200 where one of
    them is zero or their signs differ, $\frac{100}{n}\sum_i\frac{|y_i-\hat y_i|}{(|y_i|+|\hat y_i|)/2}$."""
    return 100 * ratio(symmetric_relative_residual, _nan_if_any(both_zero, total))


@linear_error(title="MSLE", aliases=("mean_squared_log_error",), undefined="a truth or a prediction is negative",
              ref="Pedregosa et al. (2011)")
def msle(total: Floats, squared_log_residual: Floats, negative_values: Floats) -> Floats:
    r"""Mean squared distance of the natural logarithms of one plus truth and one plus prediction: an error of a factor
    weighs alike at large and small outcomes, $\frac{1}{n}\sum_i(\log(1+y_i)-\log(1+\hat y_i))^2$."""
    return ratio(squared_log_residual, _nan_if_any(negative_values, total))


@linear_error(title="Huber loss", aliases=("huber_loss",), ref="Huber (1964)")
def huber(total: Floats, huber_loss: Floats, *, delta: Delta = 1.0) -> Floats:  # noqa: ARG001 - an option of the statistic
    r"""Mean of half the squared residual up to delta and of a straight line beyond, so that outliers weigh less,
    $\frac{1}{n}\sum_i h_i,\ h=\frac{r^2}{2}\ (|r|\leq\delta),\ \delta(|r|-\frac{\delta}{2})\ (|r|>\delta)$."""
    return ratio(huber_loss, total)


@linear_error(title="Pseudo-Huber loss", aliases=("huber_loss_pseudo",), ref="Hartley & Zisserman (2004)")
def huber_pseudo(total: Floats, pseudo_huber_loss: Floats, *, delta: Delta = 1.0) -> Floats:  # noqa: ARG001 - of the statistic
    r"""The Huber loss with a smooth bend at delta, $\frac{\delta^2}{n}\sum_i(\sqrt{1+(r_i/\delta)^2}-1)$."""
    return ratio(pseudo_huber_loss, total)


@linear_error(title="Pinball loss", aliases=("mean_pinball_loss", "pinball_loss", "quantile_loss"),
              ref="Koenker & Bassett (1978)")
def pinball(total: Floats, pinball_loss: Floats, *, alpha: Share = 0.5) -> Floats:  # noqa: ARG001 - an option of the statistic
    r"""Mean loss of a predicted quantile of level alpha: a truth above it costs alpha a unit, one below it 1 - alpha;
    at alpha 0.5 half the mean absolute error, $\frac{1}{n}\sum_i\max(\alpha r_i,(\alpha-1)r_i)$."""
    return ratio(pinball_loss, total)


@agreement(linear=True, range=EXPLAINED, standard=True, title="R2", aliases=("r2_score", "rsq_trad"),
           undefined=f"{CONSTANT_RATE}, or the training mean is not known", ref="Kvalseth (1985)")
def r2(
    squared_exposure: Floats, squared_residual: Floats, baseline_deviation: Floats, squared_baseline_deviation: Floats,
    *, baseline: Literal["evaluation", "training"] = "evaluation",
) -> Floats:
    r"""Relative reduction of the squared residuals against those of a constant prediction: the mean of these rows
    (evaluation), which no model could know, or the mean outcome in training. Below zero where the model is worse
    than the constant; not the squared correlation. With an exposure E the constant is a rate times E: the best rate
    for these rows, or the overall rate in training,
    $1-\frac{\sum_i(y_i-\hat y_i)^2}{\sum_i(y_i-\bar y_i)^2},\ \bar y_i=E_i\frac{\sum_j E_jy_j}{\sum_j E_j^2}$."""
    about_mean = spread(squared_exposure, baseline_deviation, squared_baseline_deviation)
    return 1 - ratio(squared_residual, about_mean if baseline == "evaluation" else squared_baseline_deviation)


@agreement(linear=True, range=EXPLAINED, aliases=("explained_variance_score",), undefined=CONSTANT,
           ref="Kvalseth (1985)")
def explained_variance(
    total: Floats, residual_deviation: Floats, squared_residual_deviation: Floats, moments: Floats
) -> Floats:
    r"""Relative reduction of the variance of the residuals against that of the truth; R2 without the mean error,
    which it does not see, $1-\frac{\mathrm{Var}(y-\hat y)}{\mathrm{Var}(y)}$."""
    return 1 - ratio(spread(total, residual_deviation, squared_residual_deviation), about_means(moments)[0])


@agreement(range=(0.0, 1.0), title="Squared correlation", interval="squared_distance", undefined=CONSTANT_EITHER,
           ref="Kvalseth (1985)")
def rsq(standard_moments: Floats) -> Floats:
    r"""Squared correlation of truth and prediction: blind to a wrong scale, a wrong level and a wrong sign of the
    predictions; not R2, $\mathrm{cor}(y,\hat y)^2$."""
    return _correlation(standard_moments) ** 2


@agreement(linear=True, range=CORRELATION, title="Concordance correlation coefficient",
           aliases=("concordance_correlation_coefficient",), undefined=f"{CONSTANT}, or, without bias, {ONE_ROW}",
           ref="Lin (1989)")
def ccc(total: Floats, residual: Floats, moments: Floats, *, bias: bool = False) -> Floats:
    r"""Agreement of truth and prediction with the line of equality: their correlation, lowered by a difference of means
    or variances. With bias the variances are divided by n, as Lin did; without by n - 1, where weights count rows and
    their scale matters, $\frac{2\,\mathrm{Cov}(y,\hat y)}{\mathrm{Var}(y)+\mathrm{Var}(\hat y)+(\bar y-\hat{\bar
    y})^2}$."""
    truth, prediction, both = about_means(moments)
    size = total if bias else _one_less(total)
    return ratio(2 * both, np.where(truth > 0, truth + prediction + size * ratio(residual, total) ** 2, np.nan))


@agreement(range=POSITIVE, title="RPD", undefined=f"{EXACT}, or {ONE_ROW}", ref="Williams (1987)")
def rpd(total: Floats, moments: Floats, squared_residual: Floats) -> Floats:
    r"""Ratio of performance to deviation: the standard deviation of the truth (divided by n - 1: weights count rows,
    and their scale matters) over the root mean squared residual, $\frac{\mathrm{SD}(y)}{RMSE}$."""
    variance = ratio(about_means(moments)[0], _one_less(total))
    return ratio(np.sqrt(variance), np.sqrt(ratio(squared_residual, total)))


@agreement(range=POSITIVE, title="RPIQ", undefined=f"{EXACT}, or {ONE_ROW}", ref="Bellon-Maurel et al. (2010)")
def rpiq(total: Floats, truth_at: Floats, truth_total: Floats, squared_residual: Floats) -> Floats:
    r"""Ratio of performance to interquartile distance: the interquartile distance of the truth over the root mean
    squared residual. Quartiles are interpolated between rows: weights count rows, and their scale matters,
    $\frac{Q_3(y)-Q_1(y)}{RMSE}$."""
    distance = _quantile_of_type_7(truth_at, truth_total, 0.75) - _quantile_of_type_7(truth_at, truth_total, 0.25)
    return ratio(distance, np.sqrt(ratio(squared_residual, total)))


@agreement(range=CORRELATION, title="Index of ideality of correlation",
           undefined="truth or predictions are constant, or all residuals are of one sign or zero",
           ref="Toropova & Toropov (2017)")
def iic(
    moments: Floats, rows_below_truth: Floats, rows_above_truth: Floats, residual_below_truth: Floats,
    residual_above_truth: Floats,
) -> Floats:
    r"""Correlation of truth and prediction, lowered where the residuals of one sign are larger on average than those
    of the other; a zero residual counts as positive,
    $\mathrm{cor}(y,\hat y)\frac{\min(MAE^-,MAE^+)}{\max(MAE^-,MAE^+)}$."""
    below, above = ratio(residual_below_truth, rows_below_truth), ratio(residual_above_truth, rows_above_truth)
    return _correlation(moments) * ratio(np.minimum(below, above), np.maximum(below, above))


@agreement(linear=True, range=CORRELATION, title="Normalised Gini", undefined=CONSTANT,
           ref="Schechtman & Yitzhaki (1987)")
def gini_coef(prediction_at: Floats, truth_by_prediction: Floats, truth_at: Floats, truth_total: Floats) -> Floats:
    r"""Area between the Lorenz curve of the truth, ordered by prediction, and the diagonal, as a share of the area
    when ordered by the truth itself. Rows of equal prediction are one step, so a constant prediction has zero,
    $\frac{\mathrm{Cov}(y,F(\hat y))}{\mathrm{Cov}(y,F(y))}$."""
    return ratio(_rank_covariance(prediction_at, truth_by_prediction), _rank_covariance(truth_at, truth_total))


@agreement(no_information=0.5, range=(0.0, 1.0), standard=("regression",), title="Concordance index",
           aliases=("concordance_index",), undefined=CONSTANT, ref="Harrell et al. (1996)")
def c_index(concordant: Floats, truth_at: Floats) -> Floats:
    r"""Probability that, of two rows with unequal truth, the row with the larger truth has the larger prediction;
    equal predictions count one half, and random predictions give 0.5,
    $P(\hat y_i>\hat y_j|y_i>y_j)+\frac{1}{2}P(\hat y_i=\hat y_j|y_i>y_j)$."""
    before = np.cumsum(truth_at, axis=-1)[..., :-1]
    # Sums of products of weights may exceed the total of the pairs by rounding.
    return np.minimum(ratio(concordant, (truth_at[..., 1:] * before).sum(axis=-1)), 1.0)


@coefficient(undefined="the predictions are constant", ref="Mincer & Zarnowitz (1969)")
def linear_calibration_slope(moments: Floats) -> Floats:
    r"""Slope of the least-squares line of the truth on the prediction: 1 for a calibrated model, below 1 where the
    predictions are too extreme, $\frac{\mathrm{Cov}(y,\hat y)}{\mathrm{Var}(\hat y)}$."""
    _, prediction, both = about_means(moments)
    return ratio(both, prediction)


@coefficient(undefined="the predictions are constant", ref="Mincer & Zarnowitz (1969)")
def linear_calibration_intercept(total: Floats, residual: Floats, prediction_sum: Floats, moments: Floats) -> Floats:
    r"""Intercept of the least-squares line of the truth on the prediction: 0 for a calibrated model. Read it
    together with the slope b; it is not the mean error, $\bar y-b\,\hat{\bar y}$."""
    _, prediction, both = about_means(moments)
    return ratio(residual, total) + (1 - ratio(both, prediction)) * ratio(prediction_sum, total)


@metric(needs="loo_values", linear=True, sees="numbers", direction="minimize", range=POSITIVE, extensive=True,
        title="PRESS", aliases=("predicted_sum_of_squares",), undefined=NO_ROWS, ref="Allen (1974)")
def press(squared_left_out_residual: Floats) -> Floats:
    r"""Sum of the squared residuals of leave-one-out predictions; grows with the number of rows,
    $\sum_i(y_i-\hat y_{i(-i)})^2$."""
    return squared_left_out_residual


@metric(needs="loo_values", linear=True, sees="numbers", direction="minimize", range=POSITIVE, title="PSE",
        aliases=("predictive_squared_error",), undefined=NO_ROWS, ref="Todeschini (2010)")
def pse(total: Floats, squared_left_out_residual: Floats) -> Floats:
    r"""Mean squared residual of leave-one-out predictions, $\frac{1}{n}\sum_i(y_i-\hat y_{i(-i)})^2$."""
    return ratio(squared_left_out_residual, total)


@metric(needs="loo_values", sees="numbers", direction="minimize", range=POSITIVE, title="SEP", undefined=NO_ROWS,
        aliases=("standard_error_in_prediction",), ref="Todeschini (2010)")
def sep(total: Floats, squared_left_out_residual: Floats) -> Floats:
    r"""Root mean squared residual of leave-one-out predictions, in units of the outcome,
    $\sqrt{\frac{1}{n}\sum_i(y_i-\hat y_{i(-i)})^2}$."""
    return np.sqrt(ratio(squared_left_out_residual, total))


@metric(needs="loo_values", linear=True, sees="numbers", direction="maximize", range=EXPLAINED, title="Q2",
        undefined=CONSTANT_RATE, aliases=("cross_validated_r2",), ref="Landram et al. (2005)")
def q2(
    squared_left_out_residual: Floats, squared_exposure: Floats, exposed_excess: Floats, squared_excess: Floats
) -> Floats:
    r"""Cross-validated R2: relative reduction of the squared residuals of leave-one-out predictions against those of
    the mean of all rows; with an exposure, against the best constant rate, $1-\frac{PRESS}{\sum_i(y_i-\bar y)^2}$."""
    return 1 - ratio(squared_left_out_residual, spread(squared_exposure, exposed_excess, squared_excess))


def spread(total: Floats, deviation: Floats, squared: Floats) -> Floats:
    """Return the weighted sum of squares about the mean, [...]; zero where what is left is rounding alone.

    ``deviation`` and ``squared`` are the weighted sums of the deviations from any other number and of their squares.
    """
    about_mean = squared - deviation * ratio(deviation, total)
    return np.where(about_mean > ROUNDING * squared, about_mean, 0.0)


def about_rate(rate_moments: Floats) -> Floats:
    """Return the sum of squares of the truths per unit of exposure about the overall rate, weighted by exposure."""
    return spread(*np.moveaxis(rate_moments, -1, 0))


def about_means(moments: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weighted sums [...] of squares of the truth, of the prediction, and of their products.

    All are about the weighted means; ``moments`` [..., 6] are those about a pilot: the weight, the sums of truth and of
    prediction, the sums of their squares and of their products.
    """
    total, y, p, yy, pp, yp = np.moveaxis(moments, -1, 0)
    return spread(total, y, yy), spread(total, p, pp), yp - y * ratio(p, total)


def _correlation(moments: Floats) -> Floats:
    """Return the correlation [...] of truth and prediction from `moments` [..., 6], clipped to -1 and 1."""
    truth, prediction, both = about_means(moments)
    return np.clip(ratio(both, np.sqrt(truth) * np.sqrt(prediction)), -1.0, 1.0)


def _nan_if_any(flagged: Floats, total: Floats) -> Floats:
    """Return ``total`` [...], but NaN, so that a mean is undefined, where the weight ``flagged`` [...] is not zero."""
    return np.where(flagged > 0, np.nan, total)


def _one_less(total: Floats) -> Floats:
    """Return n - 1; NaN where that is not positive."""
    return np.where(total > 1, total - 1.0, np.nan)


def median_size(weight: Floats, totals: Floats) -> Floats:
    """Return the median [...] of sizes by the weight and the weighted total at each distinct one, [..., m] ascending.

    It is the mean of the two middle ones where there are two; NaN where no size has weight.
    """
    running, total = np.cumsum(weight, axis=-1), weight.sum(axis=-1)[..., None]
    # A sum of weights that is half of the total but for rounding is half of it.
    low, high = ((running < total * part).sum(axis=-1) for part in (0.5 - ROUNDING, 0.5 + ROUNDING))
    values = ratio(totals, weight)
    return (_value_at(values, low) + _value_at(values, high)) / 2


def _last_weighted(weight: Floats) -> Wholes:
    """Return the index [...] of the last positive weight on the last axis."""
    return np.asarray(weight.shape[-1] - 1 - (weight[..., ::-1] > 0).argmax(axis=-1))


def _value_at(values: Floats, index: Wholes) -> Floats:
    """Return the value [...] at ``index`` [...] on the last axis of values [..., m]."""
    return np.asarray(np.take_along_axis(values, np.asarray(index)[..., None], axis=-1)[..., 0])


def _quantile_of_type_7(weight: Floats, totals: Floats, share: float) -> Floats:
    """Return the quantile [...] at position 1 + (n - 1) ``share`` among n rows, interpolated (type 7 in R).

    ``weight`` and ``totals`` [..., m] are the weight and the weighted total at each distinct value, ascending.
    """
    running, total = np.cumsum(weight, axis=-1), weight.sum(axis=-1)
    values, last = ratio(totals, weight), _last_weighted(weight)
    position = _one_less(total) * share
    below, part = np.floor(position), position - np.floor(position)
    # A running total that is above a rank by rounding alone is not above it.
    rounded = running - ROUNDING * total[..., None]
    low, high = (np.minimum((rounded <= rank[..., None]).sum(axis=-1), last) for rank in (below, below + 1))
    return _value_at(values, low) * (1 - part) + _value_at(values, high) * part


def _rank_covariance(weight: Floats, truth: Floats) -> Floats:
    """Return n squared times the covariance of the truth and the share of rows ranked below, [...]; ties count half.

    ``weight`` and ``truth`` [..., m] are the weight and the total of the truth at each distinct value, ascending; the
    truth may be about a pilot, since a constant changes no covariance.
    """
    total = weight.sum(axis=-1)[..., None]
    middle = np.cumsum(weight, axis=-1) - weight / 2 - total / 2
    return np.asarray((truth * middle).sum(axis=-1))
