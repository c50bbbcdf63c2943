"""Measures at a chosen cut: the best under a condition on the other rate, and what acting at a threshold brings.

Tables have a last axis of the distinct scores in ascending order and hold what is scored at or above each of them. A
row at or above the cut is called an event. The cut above all scores has sensitivity 0 and specificity 1, the one at the
lowest score the reverse, so there always is a cut that meets the condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIT = (0.0, 1.0)
ONE_CLASS = "no events or no non-events"
ROUNDING = 1e-12
"""A rate that misses what is asked by less than this misses it by rounding alone."""

Rate = Annotated[float, Field(ge=0, le=1)]
Chance = Annotated[float, Field(gt=0, lt=1)]


@metric(needs="scores", direction="maximize", within=True, range=UNIT, title="Sensitivity at specificity",
        aliases=("tpr_at_fpr", "recall_at_specificity"), undefined=ONE_CLASS, ref="Pepe (2003)")
def sensitivity_at_specificity(events_from: Any, others_from: Any, *, at: Rate = 0.9) -> Any:
    r"""Largest sensitivity among the cuts whose specificity is at least the one asked (a),
    $\max_{t:\,Sp(t)\geq a}Se(t)$."""
    found, spared = _rates(events_from, others_from)
    return _best(found, spared, at, above_all=0.0)


@metric(needs="scores", direction="maximize", within=True, range=UNIT, title="Specificity at sensitivity",
        aliases=("specificity_at_recall",), undefined=ONE_CLASS, ref="Pepe (2003)")
def specificity_at_sensitivity(events_from: Any, others_from: Any, *, at: Rate = 0.9) -> Any:
    r"""Largest specificity among the cuts whose sensitivity is at least the one asked (a),
    $\max_{t:\,Se(t)\geq a}Sp(t)$."""
    found, spared = _rates(events_from, others_from)
    return _best(spared, found, at, above_all=0.0 if at > 0 else 1.0)


def _least(options: Mapping[str, Any]) -> tuple[float, float]:
    return -options["threshold"] / (1 - options["threshold"]), 1.0


@metric(needs="probabilities", direction="maximize", range=(-np.inf, 1.0), range_of=_least, linear=True,
        undefined="no rows", ref="Vickers & Elkin (2006)")
def net_benefit(total: Any, events_reached: Any, others_reached: Any, *, threshold: Chance = 0.5) -> Any:
    r"""Events acted on less the non-events acted on, as shares of all rows, where rows with at least a threshold
    probability (t) are acted on and t is the chance of an event at which acting is just worth it, so that a non-event
    acted on undoes t/(1 - t) of an event; acting on nobody is 0, and no forecast exceeds the prevalence,
    $\frac{TP_t}{n}-\frac{FP_t}{n}\cdot\frac{t}{1-t}$."""
    return ratio(events_reached - others_reached * threshold / (1 - threshold), total)


def _rates(events_from: Any, others_from: Any) -> tuple[Any, Any]:
    """Return sensitivity and specificity at each cut; NaN in both where a class is missing."""
    events, others = events_from[..., :1], others_from[..., :1]
    missing = (events <= 0) | (others <= 0)
    events, others = (np.where(missing, np.nan, whole) for whole in (events, others))
    return events_from / events, (others - others_from) / others


def _best(wanted: Any, bound: Any, asked: float, above_all: float) -> Any:
    """Return the largest wanted rate where the bound one reaches what is asked, at least that of the cut above all."""
    best = np.maximum(np.where(bound >= asked - ROUNDING, wanted, 0.0).max(axis=-1), above_all)
    return np.where(np.isnan(wanted[..., 0]), np.nan, best)
