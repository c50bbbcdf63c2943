"""The parts of the Brier score, over rows that share a rounded probability.

With probabilities p_j rounded to ``digits`` decimals, n_j rows of each and event rates r_j:
Sanders (1963): Brier = reliability + refinement; Murphy (1973): refinement = uncertainty - resolution. Rounding loses
what varies within a group; `brier_residual` is that loss.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric, ratio

Digits = Annotated[int, Field(ge=1, le=4)]
QUARTER = (0.0, 0.25)


def _reliability(events: Any, others: Any, stated: Any) -> Any:
    total = events + others
    return np.nan_to_num(ratio((stated - events) ** 2, total)).sum(-1)


def _refinement(events: Any, others: Any) -> Any:
    return np.nan_to_num(ratio(events * others, events + others)).sum(-1)


@metric(needs="probabilities", direction="minimize", range=(0.0, 1.0), title="Brier reliability",
        undefined="no rows", ref="Sanders (1963)")
def brier_reliability(total: Any, rounded_events: Any, rounded_others: Any, rounded_sum: Any, *,
                      digits: Digits = 2) -> Any:  # noqa: ARG001 - an option of the statistics
    r"""Part of the Brier score that is miscalibration, over rows of the same rounded probability,
    $\frac{1}{n}\sum_j n_j(p_j-r_j)^2$."""
    return ratio(_reliability(rounded_events, rounded_others, rounded_sum), total)


@metric(needs="probabilities", direction="minimize", range=QUARTER, title="Brier refinement",
        undefined="no rows", ref="Sanders (1963)")
def brier_refinement(total: Any, rounded_events: Any, rounded_others: Any, *,
                     digits: Digits = 2) -> Any:  # noqa: ARG001
    r"""Part of the Brier score that is left when each rounded probability is replaced by its event rate,
    $\frac{1}{n}\sum_j n_jr_j(1-r_j)$."""
    return ratio(_refinement(rounded_events, rounded_others), total)


@metric(needs="probabilities", direction="maximize", range=QUARTER, title="Brier resolution",
        undefined="no rows", ref="Murphy (1973)")
def brier_resolution(total: Any, rounded_events: Any, rounded_others: Any, *,
                     digits: Digits = 2) -> Any:  # noqa: ARG001
    r"""How far the event rates of the rounded probabilities lie from the prevalence,
    $\frac{1}{n}\sum_j n_j(r_j-\pi)^2$."""
    prevalence = ratio(rounded_events.sum(-1), total)
    return prevalence * (1 - prevalence) - ratio(_refinement(rounded_events, rounded_others), total)


@metric(needs="probabilities", linear=True, direction="none", range=QUARTER, title="Brier uncertainty",
        undefined="no rows", ref="Murphy (1973)")
def brier_uncertainty(total: Any, events: Any) -> Any:
    r"""Brier score of the observed prevalence; a fact of the data, not of the model, $\pi(1-\pi)$."""
    prevalence = ratio(events, total)
    return prevalence * (1 - prevalence)


@metric(needs="probabilities", direction="none", range=(-1.0, 1.0), title="Brier residual",
        undefined="no rows", ref="Stephenson, Coelho & Jolliffe (2008)")
def brier_residual(total: Any, squared_error: Any, rounded_events: Any, rounded_others: Any, rounded_sum: Any, *,
                   digits: Digits = 2) -> Any:  # noqa: ARG001
    r"""Part of the Brier score that reliability and refinement miss because probabilities were rounded,
    $BS-REL-REF$."""
    parts = _reliability(rounded_events, rounded_others, rounded_sum) + _refinement(rounded_events, rounded_others)
    return ratio(squared_error - parts, total)
