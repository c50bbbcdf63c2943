"""Deviances of outcomes whose variance is a power of their mean, and shares of losses that a constant would leave.

D2 is to a loss what R2 is to the squared residual: the constant is the best one for these very rows, their mean for a
deviance, their median or another quantile for absolute and pinball losses. Of counts with an exposure the constant is a
rate, which predicts itself times the exposure: `evalpipe.statistics.residuals`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evalpipe.arithmetic import boxcox
from evalpipe.metrics.declare import metric
from evalpipe.metrics.regression import CONSTANT_RATE, EXPLAINED, POSITIVE, ROUNDING, Share, about_rate
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

NO_GAMMA = "a truth or a prediction is zero or negative, or a deviance too large for a number"
NO_TWEEDIE = ("a prediction is zero or negative, a truth is negative or, from power 2 on, zero, or a deviance is too "
              "large for a number")

Power = Annotated[float, Field(gt=1, le=3)]

mean_deviance = partial(metric, needs="values", linear=True, sees="numbers", direction="minimize", range=POSITIVE)
"""Declare a mean of unit deviances."""
explained = partial(metric, needs="values", linear=True, sees="numbers", direction="maximize", range=EXPLAINED)
"""Declare the share of a loss that a constant would leave and the model does not."""


@mean_deviance(tasks=("regression",), aliases=("mean_gamma_deviance",), undefined=NO_GAMMA,
               ref="McCullagh & Nelder (1989)")
def gamma_deviance(total: Floats, gamma_unit_deviance: Floats, without_gamma_deviance: Floats) -> Floats:
    r"""Mean deviance of a gamma distribution, whose standard deviation grows with the mean: an error of a factor weighs
    alike at large and small outcomes, whatever their unit,
    $\frac{2}{n}\sum_i\left(\frac{y_i}{\hat y_i}-1-\log\frac{y_i}{\hat y_i}\right)$."""
    return ratio(gamma_unit_deviance, np.where(without_gamma_deviance > 0, np.nan, total))


@mean_deviance(aliases=("mean_tweedie_deviance",), undefined=NO_TWEEDIE, ref="Jorgensen (1987)")
def tweedie_deviance(
    total: Floats, tweedie_unit_deviance: Floats, without_tweedie_deviance: Floats, *, power: Power = 1.5  # noqa: ARG001
) -> Floats:
    r"""Mean deviance of a distribution whose variance is the mean to the power p: 2 is the gamma, 3 the inverse
    Gaussian distribution, and the limit 1 the Poisson. Below 2, outcomes may be zero. Values for different powers
    cannot be compared,
    $\frac{2}{n}\sum_i\left(\frac{y_i^{2-p}}{(1-p)(2-p)}-\frac{y_i\hat y_i^{1-p}}{1-p}+\frac{\hat
    y_i^{2-p}}{2-p}\right)$."""
    return ratio(tweedie_unit_deviance, np.where(without_tweedie_deviance > 0, np.nan, total))


@explained(title="Tweedie deviance explained", aliases=("d2_tweedie_score",),
           undefined=f"{NO_TWEEDIE}, or {CONSTANT_RATE}", ref="Hastie, Tibshirani & Wainwright (2015)")
def d2_tweedie(
    tweedie_unit_deviance: Floats, without_tweedie_deviance: Floats, tweedie_exposure: Floats, tweedie_truth: Floats,
    tweedie_transformed: Floats, rate_moments: Floats, *, power: Power = 1.5,
) -> Floats:
    r"""Relative reduction of the Tweedie deviance against that of the mean of these rows; with an exposure E,
    against the rate that fits them best times E,
    $1-\frac{D_p(y,\hat y)}{D_p(y,\bar y)},\ \bar y_i=E_i\frac{\sum_j y_jE_j^{1-p}}{\sum_j E_j^{2-p}}$."""
    valid = (without_tweedie_deviance == 0) & (about_rate(rate_moments) > 0)
    mean = np.where(valid, ratio(tweedie_truth, tweedie_exposure), 1.0)
    at_mean = tweedie_exposure * boxcox(mean, 2 - power)
    # Jensen's gap of a concave function: of the deviance of the mean, the terms linear in the truth cancel.
    gap = at_mean - tweedie_transformed
    of_mean = np.where(valid & (gap > ROUNDING * np.abs(at_mean)), 2 * gap / (power - 1), np.nan)
    return 1 - ratio(tweedie_unit_deviance, of_mean)


@explained(title="Absolute error explained", aliases=("d2_absolute_error_score",), undefined=CONSTANT_RATE,
           ref="Koenker & Machado (1999)")
def d2_absolute_error(absolute_residual: Floats, rate_at: Floats, rate_total: Floats) -> Floats:
    r"""Relative reduction of the absolute residuals against the distances from the median of these rows; with an
    exposure, from their weighted median rate times the exposure,
    $1-\frac{\sum_i|y_i-\hat y_i|}{\sum_i|y_i-\mathrm{median}(y)|}$."""
    return 1 - ratio(absolute_residual, 2 * _least_pinball(rate_at, rate_total, 0.5))


@explained(title="Pinball loss explained", aliases=("d2_pinball_score",), undefined=CONSTANT_RATE,
           ref="Koenker & Machado (1999)")
def d2_pinball(pinball_loss: Floats, rate_at: Floats, rate_total: Floats, *, alpha: Share = 0.5) -> Floats:
    r"""Relative reduction of the pinball loss of a predicted quantile of level alpha against that of the same
    quantile of these rows; with an exposure, of their weighted rates times the exposure,
    $1-\frac{\sum_i\rho_\alpha(y_i-\hat y_i)}{\sum_i\rho_\alpha(y_i-q_\alpha)},\ \rho_\alpha(r)=\max(\alpha
    r,(\alpha-1)r)$."""
    return 1 - ratio(pinball_loss, _least_pinball(rate_at, rate_total, alpha))


def _least_pinball(weight: Floats, totals: Floats, alpha: float) -> Floats:
    """Return the least total pinball loss [...] of any constant prediction; NaN where only one truth has weight.

    ``weight`` and ``totals`` [..., m] are the weight and the weighted total at each distinct truth, ascending; the best
    constant is their quantile of level ``alpha``. Where two neighbours bound that quantile, all numbers between them
    have the same loss, so the first will do.
    """
    running = np.cumsum(weight, axis=-1)
    index = (running < alpha * running[..., -1:]).sum(axis=-1)[..., None]
    away = totals - weight * np.take_along_axis(ratio(totals, weight), index, axis=-1)
    loss = np.maximum(alpha * away, (alpha - 1) * away).sum(axis=-1)
    return np.where((weight > 0).sum(axis=-1) > 1, loss, np.nan)
