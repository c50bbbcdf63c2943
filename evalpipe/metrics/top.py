"""Measures of one part of a ranking: the highest-scored rows, or a band of the ROC curve."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import Proportion, ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

UNIT = (0.0, 1.0)
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]

of_top = partial(metric, needs="scores", linear=True, direction="maximize", range=UNIT, undefined="no events",
                 swapped=None)
"""Declare a measure of the events among the rows scored highest."""


def _events_on_top(
    events_at: Floats, others_at: Floats, events_from: Floats, others_from: Floats, rows: Floats | int
) -> Floats:
    """Return the events [...] among ``rows`` rows with the highest scores; of scores tied at the border, a share."""
    weight = events_at + others_at
    above = events_from + others_from - weight
    # All of a score above the border count, none of one below; 0 / 0 is a score without rows.
    share = np.clip(np.nan_to_num(ratio(np.asarray(rows)[..., None] - above, weight)), 0, 1)
    return np.asarray((events_at * share).sum(-1))


@of_top(title="Precision at k", undefined="no rows", ref="Manning, Raghavan & Schutze (2008)")
def precision_at_k(
    events_at: Floats, others_at: Floats, events_from: Floats, others_from: Floats, *, k: Count
) -> Floats:
    r"""Share of events among the k rows scored highest (all rows if there are fewer); rows tied at the border count
    in proportion, $\frac{TP_k}{k}$."""
    rows = np.minimum(k, events_from[..., 0] + others_from[..., 0])
    return ratio(_events_on_top(events_at, others_at, events_from, others_from, rows), rows)


@of_top(title="Recall at k", ref="Manning, Raghavan & Schutze (2008)")
def recall_at_k(
    events_at: Floats, others_at: Floats, events_from: Floats, others_from: Floats, *, k: Count
) -> Proportion:
    r"""Share of the events that are among the k rows scored highest; rows tied at the border count in proportion,
    $\frac{TP_k}{TP_k+FN_k}$."""
    return Proportion(_events_on_top(events_at, others_at, events_from, others_from, k), events_from[..., 0])


@of_top(ref="Ling & Li (1998)")
def gain(
    events_at: Floats, others_at: Floats, events_from: Floats, others_from: Floats, *, at: Share = 0.1
) -> Proportion:
    r"""Share of all events found among a given share (at) of the rows, the highest scores first,
    $\frac{TP_{at}}{TP+FN}$."""
    rows = at * (events_from[..., 0] + others_from[..., 0])
    return Proportion(_events_on_top(events_at, others_at, events_from, others_from, rows), events_from[..., 0])


@of_top(range=(0.0, np.inf), ref="Ling & Li (1998)")
def lift(events_at: Floats, others_at: Floats, events_from: Floats, others_from: Floats, *, at: Share = 0.1) -> Floats:
    r"""Events found among a given share (at) of the rows, the highest scores first, relative to random order,
    $\frac{TP_{at}/(TP+FN)}{at}$."""
    rows = at * (events_from[..., 0] + others_from[..., 0])
    return ratio(_events_on_top(events_at, others_at, events_from, others_from, rows), events_from[..., 0]) / at


@metric(needs="scores", direction="maximize", within_classes=True, range=UNIT, title="Partial ROC AUC", swapped=None,
        aliases=("pauc",), undefined="no events or no non-events", ref="McClish (1989)",
        check=lambda band: None if band.low < band.high else f"low ({band.low:g}) must be below high ({band.high:g})")
def partial_roc_auc(
    events_from: Floats, others_from: Floats, *,
    over: Literal["false_positive_rate", "sensitivity"] = "false_positive_rate",
    low: Annotated[float, Field(ge=0, lt=1)] = 0.0, high: Share = 1.0, standardize: bool = True,
) -> Floats:
    r"""Area under the ROC curve over a band of the false positive rate, or of sensitivity (then specificity is
    integrated). Standardized, chance is 1/2 and perfection 1; else the raw area,
    $\frac{1}{2}\left(1+\frac{A-A_{min}}{A_{max}-A_{min}}\right)$."""
    zero = np.zeros_like(events_from[..., :1])
    sensitivity, alarms = (
        np.concatenate([zero, ratio(values, values[..., :1])[..., ::-1]], -1) for values in (events_from, others_from)
    )
    across, height = (alarms, sensitivity) if over == "false_positive_rate" else (sensitivity, 1 - alarms)
    area = _area_between(across, height, low, high)
    if not standardize:
        return area
    middle, width = (low + high) / 2, high - low
    chance = width * (middle if over == "false_positive_rate" else 1 - middle)
    return (1 + ratio(area - chance, width - chance)) / 2


def _area_between(x: Floats, y: Floats, low: float, high: float) -> Floats:
    """Return the area [...] between two limits under the line through points ``x``, ``y`` [..., m], x ascending."""
    left, right = np.clip(x[..., :-1], low, high), np.clip(x[..., 1:], low, high)
    slope = np.nan_to_num(ratio(np.diff(y, axis=-1), np.diff(x, axis=-1)))
    height = y[..., :-1] + slope * ((left + right) / 2 - x[..., :-1])
    area = ((right - left) * height).sum(-1)
    return np.where(np.isnan(x[..., -1]) | np.isnan(y[..., -1]), np.nan, area)
