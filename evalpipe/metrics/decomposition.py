"""The parts of the Brier score, over rows that share a rounded probability or an isotonic event rate.

With probabilities p_j rounded to ``digits`` decimals, n_j rows of each and event rates r_j:
Sanders (1963): Brier = reliability + refinement; Murphy (1973): refinement = uncertainty - resolution. Rounding loses
what varies within a group; `brier_residual` is that loss. Dimitriadis, Gneiting & Jordan (2021): without bins,
Brier = miscalibration - discrimination + uncertainty, by the isotonic fit of the events to the scores.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric, shared_fit
from evalpipe.metrics.smooth import isotonic
from evalpipe.metrics.values import Gaps, ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

Digits = Annotated[int, Field(ge=1, le=4)]
QUARTER = (0.0, 0.25)

part = partial(metric, needs="probabilities", range=QUARTER, undefined="no rows")
"""Declare a part of the Brier score; most are bounded as the variance of an event is, by a quarter."""


@part(direction="minimize", range=(0.0, 1.0), title="Brier reliability", interval="squared_gaps", ref="Sanders (1963)")
def brier_reliability(rounded_events: Floats, rounded_others: Floats, rounded_sum: Floats, *,
                      digits: Digits = 2) -> Gaps:  # noqa: ARG001 - an option of the statistics
    r"""Part of the Brier score due to miscalibration, over groups of equal rounded probability,
    $\frac{1}{n}\sum_j n_j(p_j-r_j)^2$."""
    return Gaps(rounded_events, rounded_others, rounded_events - rounded_sum, "square")


@part(direction="minimize", title="Brier refinement", interval="scatter", ref="Sanders (1963)")
def brier_refinement(rounded_events: Floats, rounded_others: Floats, *,
                     digits: Digits = 2) -> Gaps:  # noqa: ARG001
    r"""Part of the Brier score that is left when each rounded probability is replaced by its event rate,
    $\frac{1}{n}\sum_j n_jr_j(1-r_j)$."""
    return Gaps(rounded_events, rounded_others, np.zeros_like(rounded_events), "within")


@part(direction="maximize", title="Brier resolution", interval="squared_gaps", ref="Murphy (1973)")
def brier_resolution(rounded_events: Floats, rounded_others: Floats, *,
                     digits: Digits = 2) -> Gaps:  # noqa: ARG001
    r"""How far the event rates of the rounded probabilities lie from the prevalence,
    $\frac{1}{n}\sum_j n_j(r_j-\pi)^2$."""
    rows = rounded_events + rounded_others
    prevalence = ratio(rounded_events.sum(-1, keepdims=True), rows.sum(-1, keepdims=True))
    return Gaps(rounded_events, rounded_others, rounded_events - rows * prevalence, "square")


@part(linear=True, direction="none", title="Brier uncertainty", ref="Murphy (1973)")
def brier_uncertainty(total: Floats, events: Floats) -> Floats:
    r"""Brier score of the observed prevalence; a fact of the data, not of the model, $\pi(1-\pi)$."""
    prevalence = ratio(events, total)
    return prevalence * (1 - prevalence)


@part(direction="none", range=(-1.0, 1.0), title="Brier residual", ref="Stephenson, Coelho & Jolliffe (2008)")
def brier_residual(
    total: Floats, squared_error: Floats, rounded_events: Floats, rounded_others: Floats, rounded_sum: Floats, *,
    digits: Digits = 2,  # noqa: ARG001 - an option of the statistics
) -> Floats:
    r"""Part of the Brier score that reliability and refinement miss because probabilities were rounded,
    $BS-REL-REF$."""
    rows = rounded_events + rounded_others
    reliability = ratio((rounded_sum - rounded_events) ** 2, rows, empty=0.0).sum(axis=-1)
    refinement = ratio(rounded_events * rounded_others, rows, empty=0.0).sum(axis=-1)
    return ratio(squared_error - (reliability + refinement), total)


@shared_fit
def squared_error_after_isotonic(events_at: Floats, others_at: Floats) -> Floats:
    """Return the total squared error [...] of the isotonic event rates along ascending scores [..., m]."""
    flat = (table.reshape(-1, table.shape[-1]) for table in (events_at, others_at))
    rate = np.nan_to_num(isotonic(*flat)).reshape(events_at.shape)
    return np.asarray((events_at * (1 - rate) ** 2 + others_at * rate**2).sum(axis=-1))


@part(direction="minimize", range=(0.0, 1.0), title="Brier miscalibration", interval="searched_square",
      ref="Dimitriadis, Gneiting & Jordan (2021)")
def brier_miscalibration(total: Floats, squared_error: Floats, squared_error_after_isotonic: Floats) -> Floats:
    r"""Part of the Brier score that isotonic recalibration on these rows would remove: 0 where no monotone change of
    the probabilities helps. Chance alone makes it larger, $BS-BS_{iso}$."""
    # The probabilities are one of the monotone curves of which the isotonic is the best: below 0 is rounding.
    return np.maximum(ratio(squared_error - squared_error_after_isotonic, total), 0.0)


@metric(needs="scores", direction="maximize", range=QUARTER, title="Brier discrimination", interval="searched_square",
        undefined="no rows", ref="Dimitriadis, Gneiting & Jordan (2021)")
def brier_discrimination(total: Floats, events_at: Floats, squared_error_after_isotonic: Floats) -> Floats:
    r"""Brier score of the prevalence minus that of the isotonically recalibrated scores; depends on the ranking
    only, and is larger for a prevalence near one half, $\pi(1-\pi)-BS_{iso}$."""
    prevalence = ratio(events_at.sum(axis=-1), total)
    # A constant is a monotone curve too, and the isotonic one is the best of them: below 0 is rounding.
    return np.maximum(prevalence * (1 - prevalence) - ratio(squared_error_after_isotonic, total), 0.0)
