"""Measures of predicted means of counts, whose variance grows with the mean."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evalpipe.arithmetic import log
from evalpipe.metrics.declare import metric
from evalpipe.metrics.regression import CONSTANT_RATE, about_rate
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

POSITIVE = (0.0, np.inf)
NOT_POSITIVE = "a prediction is zero or negative"
NO_DEVIANCE = "a prediction is zero or negative, or a truth is negative"

of_counts = partial(metric, needs="values", linear=True, sees="numbers", tasks=("count",), range=POSITIVE)
"""Declare a measure of predicted means of counts."""


@of_counts(direction="minimize", standard=True, extensive=True, title="Pearson chi-squared", undefined=NOT_POSITIVE,
           ref="Biecek & Burzykowski (2021)")
def pearson_chi2(squared_pearson_residual: Floats, predictions_not_positive: Floats) -> Floats:
    r"""Sum of the squared residuals over the predictions, so a residual weighs more where less was predicted. Grows
    with the number of rows: if the Poisson model is right, it is about that number,
    $\sum_i\frac{(y_i-\hat y_i)^2}{\hat y_i}$."""
    return np.where(predictions_not_positive > 0, np.nan, squared_pearson_residual)


@of_counts(direction="none", standard=True, title="Pearson dispersion",
           undefined=f"{NOT_POSITIVE}, or no more rows than parameters", ref="McCullagh & Nelder (1989)")
def pearson_dispersion(
    total: Floats, squared_pearson_residual: Floats, predictions_not_positive: Floats, *,
    parameters: Annotated[int, Field(ge=0)] = 0,
) -> Floats:
    r"""Pearson chi-squared over the degrees of freedom: about 1 where the variance of the counts is their mean,
    above 1 where it is larger. The model's parameters p are subtracted if it was fitted to these rows; weights then
    count rows, $\frac{1}{n-p}\sum_i\frac{(y_i-\hat y_i)^2}{\hat y_i}$."""
    free = np.where((predictions_not_positive > 0) | (total <= parameters), np.nan, total - parameters)
    return ratio(squared_pearson_residual, free)


@of_counts(direction="minimize", standard=True, aliases=("mean_poisson_deviance",), undefined=NO_DEVIANCE,
           ref="Nelder & Wedderburn (1972)")
def poisson_deviance(
    total: Floats, unit_deviance: Floats, predictions_not_positive: Floats, negative_truths: Floats
) -> Floats:
    r"""Twice the mean difference of the log-likelihood from that of a model that predicts each count exactly,
    $\frac{2}{n}\sum_i\left(y_i\log\frac{y_i}{\hat y_i}-(y_i-\hat y_i)\right)$."""
    return ratio(unit_deviance, np.where(predictions_not_positive + negative_truths > 0, np.nan, total))


@of_counts(direction="maximize", range=(-np.inf, 1.0), title="Poisson deviance explained",
           undefined=f"{NO_DEVIANCE}, or {CONSTANT_RATE}", ref="Cameron & Windmeijer (1996)")
def d2_poisson(
    unit_deviance: Floats, predictions_not_positive: Floats, negative_truths: Floats, truth_sum: Floats,
    rate_information: Floats, rate_moments: Floats,
) -> Floats:
    r"""Relative reduction of the Poisson deviance against that of the mean of these rows; with an exposure E,
    against their overall rate times E,
    $1-\frac{D(y,\hat y)}{D(y,\bar y)},\ \bar y_i=E_i\frac{\sum_j y_j}{\sum_j E_j}$."""
    exposure, *_ = np.moveaxis(rate_moments, -1, 0)
    valid = (predictions_not_positive + negative_truths == 0) & (about_rate(rate_moments) > 0)
    rate = np.where(valid, ratio(truth_sum, exposure), 1.0)
    of_mean = 2 * (rate_information - truth_sum * log(rate))
    return 1 - ratio(unit_deviance, np.where(valid, of_mean, np.nan))


@of_counts(direction="minimize", standard=True, undefined="a truth is negative or not whole", ref="Good (1952)")
def poisson_log_loss(
    total: Floats, negative_log_poisson: Floats, not_counts: Floats, *,
    epsilon: Annotated[float, Field(gt=0, lt=0.5)] = 1e-15,  # noqa: ARG001 - an option of the statistic
) -> Floats:
    r"""Mean negative natural logarithm of the probability of the count under a Poisson distribution with the predicted
    mean; predictions below epsilon are raised to it, $\frac{1}{n}\sum_i(\hat y_i-y_i\log\hat y_i+\log y_i!)$."""
    return ratio(negative_log_poisson, np.where(not_counts > 0, np.nan, total))


@of_counts(direction="none", title="Observed-to-expected ratio", undefined="the predictions add up to zero",
           ref="Breslow & Day (1987)")
def observed_expected_ratio(truth_sum: Floats, prediction_sum: Floats) -> Floats:
    r"""Observed counts over expected counts: 1 where the predictions are right in total, above 1 where they are too
    low, $\frac{\sum_i y_i}{\sum_i\hat y_i}$."""
    return ratio(truth_sum, prediction_sum)
