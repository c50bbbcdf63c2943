"""Operating points: the threshold that costs decide on, and measures at a chosen cut.

The best under a condition on the other rate, and what acting at a threshold brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats


def bayes_threshold(costs: Sequence[Sequence[float]]) -> float | None:
    """Return the probability from which calling a row an event costs no more, in expectation, than not to.

    ``costs`` [2, 2] are by true and predicted level, the event first. With c_FP, c_TN, c_FN and c_TP of them,
    t* = (c_FP - c_TN) / ((c_FP - c_TN) + (c_FN - c_TP)): Elkan (2001), section 1. None where a wrong prediction costs
    less than the right one of the same level, or neither costs more.
    """
    (right_event, missed), (alarm, right_other) = costs
    extra_alarm, extra_miss = alarm - right_other, missed - right_event
    if extra_alarm < 0 or extra_miss < 0 or extra_alarm + extra_miss <= 0:
        return None
    return extra_alarm / (extra_alarm + extra_miss)


UNIT = (0.0, 1.0)
ONE_CLASS = "no events or no non-events"
ROUNDING = 1e-12
"""A rate that misses what is asked by less than this misses it by rounding alone."""

Rate = Annotated[float, Field(ge=0, le=1)]
Chance = Annotated[float, Field(gt=0, lt=1)]

best_rate = partial(metric, needs="scores", direction="maximize", within_classes=True, range=UNIT, undefined=ONE_CLASS)
"""Declare the best rate under a condition on the other one."""


@best_rate(title="Sensitivity at specificity", aliases=("tpr_at_fpr", "recall_at_specificity"),
           swapped="specificity_at_sensitivity", ref="Pepe (2003)")
def sensitivity_at_specificity(events_from: Floats, others_from: Floats, *, at: Rate = 0.9) -> Floats:
    r"""Largest sensitivity among the thresholds with a specificity of at least the requested value (a),
    $\max_{t:\,Sp(t)\geq a}Se(t)$."""
    sensitivity, specificity = _sensitivity_and_specificity(events_from, others_from)
    return _best(sensitivity, specificity, at, above_all=0.0)


@best_rate(title="Specificity at sensitivity", aliases=("specificity_at_recall",),
           swapped="sensitivity_at_specificity", ref="Pepe (2003)")
def specificity_at_sensitivity(events_from: Floats, others_from: Floats, *, at: Rate = 0.9) -> Floats:
    r"""Largest specificity among the thresholds with a sensitivity of at least the requested value (a),
    $\max_{t:\,Se(t)\geq a}Sp(t)$."""
    sensitivity, specificity = _sensitivity_and_specificity(events_from, others_from)
    return _best(specificity, sensitivity, at, above_all=0.0 if at > 0 else 1.0)


def _net_benefit_range(options: Mapping[str, float]) -> tuple[float, float]:
    """Return the range of the net benefit: least where all rows are acted on and none is an event."""
    return -options["threshold"] / (1 - options["threshold"]), 1.0


@metric(needs="probabilities", direction="maximize", range=(-np.inf, 1.0), range_of=_net_benefit_range, linear=True,
        interval="net_benefit", undefined="no rows", swapped=None, ref="Vickers & Elkin (2006)")
def net_benefit(total: Floats, events_reached: Floats, others_reached: Floats, *, threshold: Chance = 0.5) -> Floats:
    r"""Net benefit per case: true positives minus false positives, the latter weighted by the threshold's odds. Rows
    with a probability of at least the threshold (t) are acted on; t is the probability of an event at which acting
    is just worth it. Acting on no row gives 0, and no model exceeds the prevalence,
    $\frac{TP_t}{n}-\frac{FP_t}{n}\cdot\frac{t}{1-t}$."""
    return ratio(events_reached - others_reached * threshold / (1 - threshold), total)


def _sensitivity_and_specificity(events_from: Floats, others_from: Floats) -> tuple[Floats, Floats]:
    """Return sensitivity and specificity [..., m] at each cut; NaN in both where a class is missing."""
    events, others = events_from[..., :1], others_from[..., :1]
    missing = (events <= 0) | (others <= 0)
    events, others = (np.where(missing, np.nan, total) for total in (events, others))
    return events_from / events, (others - others_from) / others


def _best(rate: Floats, bound: Floats, at_least: float, above_all: float) -> Floats:
    """Return the largest ``rate`` [...] among the cuts [..., m] at which the other rate, ``bound``, is high enough.

    That is ``at_least``, but for rounding. ``above_all`` is the rate at the cut above all scores, which the tables do
    not hold.
    """
    best = np.maximum(np.where(bound >= at_least - ROUNDING, rate, 0.0).max(axis=-1), above_all)
    return np.where(np.isnan(rate[..., 0]), np.nan, best)
