"""Smooth and monotone curves of the event rate along predicted probabilities, of many replicates at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from evalpipe.metrics.bins import quantile
from evalpipe.metrics.logistic import SLACK, dot, fit, line, overlapping, rates

Smooth = Literal["spline", "logistic", "isotonic"]

KNOTS = {5: (0.05, 0.275, 0.5, 0.725, 0.95), 4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9)}
"""The quantiles at which a spline of so many knots has them: Harrell (2015), table 2.3."""

STEPS = 25
"""Steps after which a spline is given up: likelihoods without a largest value take more to flatten."""


def curve(events: Any, others: Any, log_odds: Any, smooth: Smooth) -> Any:
    """Return the event rate that a curve gives at each place of ascending ``log_odds``, all [b, m].

    ``logistic``: a line on the scale of log odds. ``spline``: a restricted cubic spline of the log odds with five
    knots; where those are not apart, have no more than that many places of weight, or the spline has no finite fit,
    four or three, at last a line. ``isotonic``: the monotone step function of least squares. NaN where there is none.
    """
    if smooth == "isotonic":
        return isotonic(events, others)
    found = np.full(events.shape, np.nan)
    left = np.flatnonzero(overlapping(events, others, log_odds))
    for count in KNOTS if smooth == "spline" else ():
        given = events[left], others[left], log_odds[left]
        some = _spline(*given, KNOTS[count])
        known = ~np.isnan(some[:, 0])
        found[left[known]] = some[known]
        left = left[~known]
    straight = line(events[left], others[left], log_odds[left])
    found[left] = rates(straight.intercept[:, None] + straight.slope[:, None] * log_odds[left]).event
    return found


def isotonic(events: Any, others: Any) -> Any:
    """Return the monotone event rates of least squares along ascending scores [b, m]; NaN where there is no weight.

    By the pooling of adjacent violators (Ayer et al. 1955), in each replicate over the places that have weight.
    """
    from scipy.optimize import isotonic_regression

    found = np.full(events.shape, np.nan)
    for row, hits, weight in zip(found, events, events + others, strict=True):
        held = np.flatnonzero(weight > 0)
        if len(held):
            row[held] = isotonic_regression(hits[held] / weight[held], weights=weight[held]).x
    return found


def _spline(events: Any, others: Any, x: Any, shares: Sequence[float]) -> Any:
    """Return the event rates of a restricted cubic spline with knots at quantiles of x [b, m]; NaN without a fit."""
    at, found = events + others, np.full(events.shape, np.nan)
    knots = np.stack([quantile(at, x, share) for share in shares], axis=-1)
    apart = (np.diff(knots, axis=-1) > SLACK).all(axis=-1) & ((at > 0).sum(axis=-1) > len(shares))
    known = np.flatnonzero(apart)
    columns = _apart(_basis(x[known], knots[known]), at[known])
    fitted = fit(events[known], others[known], columns, STEPS)
    log_odds = fitted[:, :1] * columns[0]
    for j in range(1, len(columns)):
        log_odds += fitted[:, j, None] * columns[j]
    found[known] = rates(log_odds).event
    return found


def _basis(x: Any, knots: Any) -> list[Any]:
    """Return the columns of a cubic spline that is a line beyond its knots [b, K]: K of them, each [b, m].

    Durrleman & Simon (1989), scaled as by Harrell (2015).
    """
    first, before, last = (knots[:, place, None] for place in (0, -2, -1))
    columns, width = [np.ones_like(x), x], last - first
    tail, end = (np.maximum(x - knot, 0) ** 3 for knot in (before, last))
    for j in range(knots.shape[-1] - 2):
        knot = knots[:, j, None]
        bent = np.maximum(x - knot, 0) ** 3 - (tail * (last - knot) - end * (before - knot)) / (last - before)
        columns.append(bent / width**2)
    return columns


def _apart(columns: Sequence[Any], weight: Any) -> list[Any]:
    """Make the columns [b, m] orthogonal and of length 1 under the weight, which changes no fit: Gram and Schmidt.

    The first stays 1; each loses what those before it say, twice, for the rounding of the first time.
    """
    total, found = weight.sum(axis=-1), [columns[0]]
    for column in columns[1:]:
        rest = column
        for before in (*found, *found):
            rest = rest - (dot(weight * before, rest) / total)[:, None] * before
        length = np.sqrt(dot(weight * rest, rest) / total)
        found.append(rest / np.where(length > 0, length, np.nan)[:, None])
    return found
