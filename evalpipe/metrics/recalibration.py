"""Measures of what a recalibration would change: a logistic line of the log odds, or a curve of the event rate.

Tables have a last axis of the distinct probabilities in ascending order, with the total of the probabilities and of
their log odds there; those over the weight give back the values. A line or a curve is fitted once for all measures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.declare import metric, shared_fit
from evalpipe.metrics.logistic import calibration_shift, fit_logistic_line
from evalpipe.metrics.smooth import Smooth, curve, quantile
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

UNIT = (0.0, 1.0)
ANY = (-np.inf, np.inf)
IN_CACHE = 2**15
"""Numbers of a table worked on at once: a fit passes over a dozen such tables many times."""

APART = "only one class occurs, or the probabilities separate the classes perfectly"
NO_CURVE = f"{APART}; isotonic: no rows"

coefficient = partial(
    metric, needs="probabilities", direction="none", range=ANY, interval="coefficient", undefined=APART)
"""Declare a coefficient of the logistic line."""
distance = partial(
    metric, needs="probabilities", direction="minimize", range=UNIT, interval="distance", undefined=NO_CURVE
)
"""Declare a distance of the probabilities from a curve of the event rate."""


@shared_fit
def calibration_line(events_at: Floats, others_at: Floats, log_odds_at: Floats) -> Floats:
    """Logistic regression of the outcome on logit(p): intercept and slope, [..., 2]; NaN without a finite fit."""
    return _by_row(lambda *tables: np.stack(fit_logistic_line(*tables), axis=-1), events_at, others_at, log_odds_at)


@shared_fit
def curve_distance_at(
    events_at: Floats, others_at: Floats, probability_at: Floats, log_odds_at: Floats, *, smooth: Smooth
) -> Floats:
    """Return the distance [..., m] of each distinct probability from the event rate of a calibration curve there.

    NaN where no curve can be fitted, 0 at a probability of no weight. ``smooth`` names the curve.
    """
    at = events_at + others_at
    rates = _by_row(lambda events, others, x: curve(events, others, x, smooth), events_at, others_at, log_odds_at)
    missing = np.isnan(rates).all(axis=-1, keepdims=True)
    return np.where(missing, np.nan, np.where(at > 0, np.abs(rates - ratio(probability_at, at)), 0.0))


@coefficient(title="Calibration in the large", aliases=("citl",), undefined="no events or no non-events",
             swapped=None, ref="Cox (1958)")
def calibration_in_the_large(events_at: Floats, others_at: Floats, log_odds_at: Floats) -> Floats:
    r"""Constant to add to all log odds so that as many events are expected as occur: 0 is ideal, above 0 the
    probabilities are too low on average. Not the intercept that is fitted together with a slope,
    $a:\ \mathrm{logit}\,P(y=1)=a+\mathrm{logit}\,p$."""
    return _by_row(calibration_shift, events_at, others_at, log_odds_at)


@coefficient(swapped=None, ref="Miller et al. (1993)")
def calibration_intercept(calibration_line: Floats) -> Floats:
    r"""Intercept of the logistic regression of the events on the log odds of their probabilities, fitted together
    with the slope: 0 if the slope is 1 and the probabilities are right. For the mean alone see
    calibration_in_the_large, $a:\ \mathrm{logit}\,P(y=1)=a+b\,\mathrm{logit}\,p$."""
    return calibration_line[..., 0]


@coefficient(ref="Miller et al. (1993)")
def calibration_slope(calibration_line: Floats) -> Floats:
    r"""Slope of the logistic regression of the events on the log odds of their probabilities: 1 is ideal. Below 1
    the probabilities are too extreme, as those of an overfitted model; above 1 they are too close together,
    $b:\ \mathrm{logit}\,P(y=1)=a+b\,\mathrm{logit}\,p$."""
    return calibration_line[..., 1]


@distance(title="Integrated calibration index", aliases=("integrated_calibration_index", "eavg"),
          ref="Austin & Steyerberg (2019)")
def ici(
    events_at: Floats, others_at: Floats, curve_distance_at: Floats, *,
    smooth: Smooth = "spline",  # noqa: ARG001 - an option of the curve
) -> Floats:
    r"""Mean distance between the probabilities and a calibration curve. The curve is a restricted cubic spline of
    the log odds with five knots (fewer for small data), a logistic line, or isotonic steps, which follow noise most
    closely, $\frac{1}{n}\sum_i|\hat c(p_i)-p_i|$."""
    at = events_at + others_at
    return ratio((at * curve_distance_at).sum(axis=-1), at.sum(axis=-1))


@distance(title="E90", ref="Austin & Steyerberg (2019)")
def e90(
    events_at: Floats, others_at: Floats, curve_distance_at: Floats, *,
    smooth: Smooth = "spline",  # noqa: ARG001
) -> Floats:
    r"""90th percentile of the distance between the probabilities and a calibration curve, as for ici,
    $Q_{0.9}\{|\hat c(p_i)-p_i|\}$."""
    # Stable, so that the weights of equal distances are summed in the order of their probabilities.
    order = np.argsort(curve_distance_at, axis=-1, kind="stable")
    at, away = (np.take_along_axis(table, order, axis=-1) for table in (events_at + others_at, curve_distance_at))
    return quantile(at, away, 0.9)


@distance(title="Emax", ref="Harrell (2015)")
def emax(curve_distance_at: Floats, *, smooth: Smooth = "spline") -> Floats:  # noqa: ARG001
    r"""Largest distance between a probability that occurs and a calibration curve, as for ici,
    $\max_i|\hat c(p_i)-p_i|$."""
    return np.asarray(curve_distance_at.max(axis=-1))


def _by_row(function: Callable[..., Floats], events_at: Floats, others_at: Floats, log_odds_at: Floats) -> Floats:
    """Return the results of a function of events, non-events and log odds [b, m] for tables [..., m].

    ``log_odds_at`` is the total of the log odds at each distinct score, which is divided by the weight there.
    """
    tables = events_at, others_at, ratio(log_odds_at, events_at + others_at, empty=0.0)
    flat = [table.reshape(-1, table.shape[-1]) for table in tables]
    step = max(1, IN_CACHE // events_at.shape[-1])
    parts = [function(*(table[first : first + step] for table in flat)) for first in range(0, len(flat[0]), step)]
    fitted = np.concatenate(parts)
    return np.asarray(fitted.reshape(events_at.shape[:-1] + fitted.shape[1:]))
