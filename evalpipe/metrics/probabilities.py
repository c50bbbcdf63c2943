"""Measures of predicted probabilities: means of losses over rows, sharpness, and sizes of residuals."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evalpipe.arithmetic import exp, log
from evalpipe.metrics.classes import entropy_of
from evalpipe.metrics.declare import metric
from evalpipe.metrics.regression import median_size
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:

    from evalpipe.base.arraytypes import Floats


ONE_CLASS = "only one class occurs"

Epsilon = Annotated[float, Field(gt=0, lt=0.5)]

of_probabilities = partial(metric, needs="probabilities", sees="classes", undefined="no rows")
"""Declare a mean or total of losses of the probabilities of all classes."""
explained = partial(
    metric, needs="probabilities", sees="classes", direction="maximize", range=(-np.inf, 1.0), undefined=ONE_CLASS
)
"""Declare a share of what the observed shares of the classes leave to explain."""


@of_probabilities(linear=True, direction="minimize", range=(0.0, np.inf), standard=True,
                  aliases=("mn_log_loss", "cross_entropy"), ref="Good (1952)")
def log_loss(
    total: Floats, negative_log: Floats, *, base: Literal["e", 2, 10] = "e",
    epsilon: Epsilon = 1e-15,  # noqa: ARG001 - an option of the statistic `negative_log`
) -> Floats:
    r"""Mean negative logarithm of the probability given to the true class, after clipping at epsilon,
    $-\frac{1}{n}\sum_i\log p_{iy_i}$."""
    return ratio(negative_log, total) / (1.0 if base == "e" else math.log(base))


@of_probabilities(direction="minimize", range=(0.0, 1.0), linear=True, standard=True,
                  range_of=lambda options: (0.0, 2.0 if options.get("scale") == "sum" else 1.0),
                  title="Brier score", aliases=("brier_score", "brier_class", "brier_score_loss"), ref="Brier (1950)")
def brier(
    total: Floats, squared_error: Floats, occurring: Floats, *, scale: Literal["half", "sum", "classes"] = "half"
) -> Floats:
    r"""Mean squared distance of the probabilities from the truth (1 for the true class, 0 for the others). Scale half:
    divided by two, which for two classes is the usual score of the event's probability; sum: Brier's own; classes:
    divided by the number of classes, $\frac{1}{2n}\sum_i\sum_k(1(y_i=k)-p_{ik})^2$."""
    factors: dict[str, float] = {"half": 1.0, "sum": 2.0, "classes": 2.0 / occurring.shape[-1]}
    return factors[scale] * ratio(squared_error, total)


@explained(linear=True, range=(-np.inf, 0.0), extensive=True, title="Log-likelihood", undefined="no rows",
           ref="Fisher (1922)")
def log_likelihood(negative_log: Floats, *, epsilon: Epsilon = 1e-15) -> Floats:  # noqa: ARG001 - of the statistic
    r"""Logarithm of the probability that the model gave to all outcomes together, after clipping at epsilon,
    $\sum_i\log p_{iy_i}$."""
    return -negative_log


@of_probabilities(linear=True, direction="minimize", range=(0.0, np.inf), extensive=True,
                  ref="Nelder & Wedderburn (1972)")
def deviance(
    total: Floats, negative_log: Floats, *, scale: Literal["sum", "mean"] = "sum", epsilon: Epsilon = 1e-15  # noqa: ARG001
) -> Floats:
    r"""Twice the negative log-likelihood, as a sum or as the mean over rows; 0 for a model that is always certain
    and right, $-2\sum_i\log p_{iy_i}$."""
    return 2 * negative_log if scale == "sum" else 2 * ratio(negative_log, total)


@metric(needs="truth", sees="classes", direction="none", linear=True, range=(0.0, np.inf), extensive=True,
        undefined="no rows", ref="McCullagh & Nelder (1989)")
def null_deviance(total: Floats, occurring: Floats, *, scale: Literal["sum", "mean"] = "sum") -> Floats:
    r"""Deviance of predicting the observed class shares for every row, as a sum or as the mean over rows; a fact of the
    data, not of the model, $-2\sum_i\log\pi_{y_i}$."""
    return 2 * (_null_log_loss_sum(occurring) if scale == "sum" else ratio(_null_log_loss_sum(occurring), total))


@explained(range=(-np.inf, np.inf), linear=True, extensive=True, undefined="no rows", ref="McCullagh & Nelder (1989)")
def deviance_reduction(
    total: Floats, occurring: Floats, negative_log: Floats, *, scale: Literal["sum", "mean"] = "sum",
    epsilon: Epsilon = 1e-15,  # noqa: ARG001
) -> Floats:
    r"""Null deviance minus deviance: above 0 where the model is nearer to the truth than the observed class shares of
    these rows. It follows a chi-squared distribution only on the rows that a maximum-likelihood model was fitted on,
    $2\sum_i\log\frac{p_{iy_i}}{\pi_{y_i}}$."""
    gained = _null_log_loss_sum(occurring) - negative_log
    return 2 * (gained if scale == "sum" else ratio(gained, total))


@explained(title="Nagelkerke R2", ref="Nagelkerke (1991)")
def nagelkerke_r2(occurring: Floats, negative_log: Floats, *, epsilon: Epsilon = 1e-15) -> Floats:  # noqa: ARG001
    r"""Gain in likelihood per row over predicting the observed class shares, as a share of the largest possible
    gain, with mean log-likelihoods l of the model and l0 of the shares, $\frac{1-e^{2(l_0-l)}}{1-e^{2l_0}}$."""
    null, mean = _null_log_loss(occurring), ratio(negative_log, occurring.sum(axis=-1))
    return ratio(1 - exp(2 * (mean - null)), 1 - exp(-2 * null))


@explained(title="McFadden R2", linear=True, aliases=("d2_log_loss_score",), ref="McFadden (1974)")
def mcfadden_r2(occurring: Floats, negative_log: Floats, *, epsilon: Epsilon = 1e-15) -> Floats:  # noqa: ARG001
    r"""Relative reduction of the log loss against that of the observed class shares, with log-likelihoods l of the
    model and l0 of the shares, $1-\frac{l}{l_0}$."""
    return 1 - ratio(ratio(negative_log, occurring.sum(axis=-1)), _null_log_loss(occurring))


@metric(needs="probabilities", linear=True, direction="maximize", within_classes=True, range=(-1.0, 1.0),
        title="Tjur R2", aliases=("discrimination_slope",), undefined="no events or no non-events", ref="Tjur (2009)")
def tjur_r2(total: Floats, events: Floats, probability_total: Floats, probability_of_events: Floats) -> Floats:
    r"""Mean probability among the events minus that among the non-events, $\bar p_1-\bar p_0$."""
    others = ratio(probability_total - probability_of_events, total - events)
    return ratio(probability_of_events, events) - others


@explained(title="Brier skill score", linear=True, aliases=("brier_skill_score", "d2_brier_score"), ref="Murphy (1973)")
def brier_skill(occurring: Floats, squared_error: Floats) -> Floats:
    r"""Relative reduction of the Brier score against that of the observed class shares,
    $1-\frac{2BS}{\sum_k\pi_k(1-\pi_k)}$."""
    total = occurring.sum(axis=-1)
    share = ratio(occurring, total[..., None])
    reference = (share * (1 - share)).sum(axis=-1)
    # Of shares next to 0 the quotient is beyond all floats.
    return 1 - ratio(2 * ratio(squared_error, total), np.where(reference < np.finfo(float).tiny, 0.0, reference))


def _null_log_loss(occurring: Floats) -> Floats:
    """Return the mean negative log-likelihood of the observed shares of the classes: their entropy in nats."""
    return entropy_of(ratio(occurring, occurring.sum(axis=-1)[..., None]))


def _null_log_loss_sum(occurring: Floats) -> Floats:
    """Return the negative log-likelihood of the observed shares of the classes over all rows, 0 without any."""
    share = ratio(occurring, occurring.sum(axis=-1)[..., None])
    return np.asarray(-(occurring * log(np.where(occurring > 0, share, 1.0))).sum(axis=-1))


sharpness = partial(metric, needs="probabilities", sees="classes", direction="none", linear=True, undefined="no rows")
"""Declare a mean impurity of the predicted probabilities; smaller is more decided, and only better where it is right.
"""


@sharpness(range=(0.0, 1.0), title="Predicted Gini index", ref="Breiman et al. (1984)")
def predicted_gini(total: Floats, predicted_gini_total: Floats) -> Floats:
    r"""Mean Gini index of the predicted probabilities: how often two classes drawn from the probabilities of a row
    would differ. Of calibrated probabilities it is the Brier score to be expected, on the scale of a sum,
    $\frac{1}{n}\sum_i\sum_k p_{ik}(1-p_{ik})$."""
    return ratio(predicted_gini_total, total)


@sharpness(range=(0.0, np.inf), title="Predicted entropy", ref="Hastie, Tibshirani & Friedman (2009)")
def predicted_entropy(
    total: Floats, predicted_entropy_total: Floats, *, base: Literal["e", 2, 10] = "e"
) -> Floats:
    r"""Mean entropy of the predicted probabilities. Of calibrated probabilities it is the log loss to be expected,
    $-\frac{1}{n}\sum_i\sum_k p_{ik}\log p_{ik}$."""
    return ratio(predicted_entropy_total, total) / (1.0 if base == "e" else math.log(base))


@sharpness(range=(0.0, 1.0), title="Predicted error rate", ref="Hastie, Tibshirani & Friedman (2009)")
def predicted_error(total: Floats, predicted_error_total: Floats) -> Floats:
    r"""Mean probability that the most probable class is not the true one, by the model itself. Of calibrated
    probabilities it is the error rate to be expected, $\frac{1}{n}\sum_i(1-\max_k p_{ik})$."""
    return ratio(predicted_error_total, total)


size = partial(metric, needs="probabilities", sees="classes", direction="minimize", range=(0.0, 1.0),
               undefined="no rows", ref="Biecek & Burzykowski (2021)")
"""Declare a mean size of the residuals of probabilities."""


@size(title="RMSE of probabilities")
def probability_rmse(total: Floats, squared_shortfall: Floats) -> Floats:
    r"""Root mean squared distance of the probability of the true class from 1; of an event, the root of the Brier
    score, $\sqrt{\frac{1}{n}\sum_i(1-p_{iy_i})^2}$."""
    return np.sqrt(ratio(squared_shortfall, total))


@size(title="MAE of probabilities", linear=True)
def probability_mae(total: Floats, shortfall: Floats) -> Floats:
    r"""Mean distance of the probability of the true class from 1; of an event, the mean of |y - p|,
    $\frac{1}{n}\sum_i(1-p_{iy_i})$."""
    return ratio(shortfall, total)


@size(title="Median absolute residual of probabilities")
def probability_mad(shortfall_at: Floats, shortfall_total: Floats) -> Floats:
    r"""Median distance of the probability of the true class from 1, the mean of the two middle ones where there are
    two. It is not centred and not scaled, $\mathrm{median}_i(1-p_{iy_i})$."""
    return median_size(shortfall_at, shortfall_total)
