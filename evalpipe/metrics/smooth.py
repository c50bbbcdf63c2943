"""Smooth and monotone curves of the event rate along predicted probabilities, of many replicates at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.metrics.bins import quantile
from evalpipe.metrics.logistic import SLACK, dot, fit, line, overlapping, rates

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats

Smooth = Literal["spline", "logistic", "isotonic"]

KNOTS = {5: (0.05, 0.275, 0.5, 0.725, 0.95), 4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9)}
"""The quantiles at which a spline of so many knots has them: Harrell (2015), table 2.3."""

STEPS = 25
"""Steps after which a spline is given up: likelihoods without a largest value take more to flatten."""


def curve(events: Floats, others: Floats, log_odds: Floats, smooth: Smooth) -> Floats:
    """Return the event rate that a curve gives at each place of ascending ``log_odds``; all are [b, m].

    ``logistic``: a line on the scale of log odds. ``spline``: a restricted cubic spline of the log odds with five
    knots; where those are not apart, have no more than that many places of weight, or the spline has no finite fit,
    four or three, at last a line. ``isotonic``: the monotone step function of least squares. NaN where there is none.
    """
    if smooth == "isotonic":
        return isotonic(events, others)
    event_rates = np.full(events.shape, np.nan)
    left = np.flatnonzero(overlapping(events, others, log_odds))
    for count in KNOTS if smooth == "spline" else ():
        spline = _spline(events[left], others[left], log_odds[left], KNOTS[count])
        fitted = ~np.isnan(spline[:, 0])
        event_rates[left[fitted]] = spline[fitted]
        left = left[~fitted]
    straight = line(events[left], others[left], log_odds[left])
    event_rates[left] = rates(straight.intercept[:, None] + straight.slope[:, None] * log_odds[left]).event
    return event_rates


def isotonic(events: Floats, others: Floats) -> Floats:
    """Return the monotone event rates of least squares along ascending scores, all [b, m]; NaN where no row is.

    By the pooling of adjacent violators (Ayer et al. 1955), in each replicate over the places that have weight.
    """
    from scipy.optimize import isotonic_regression

    event_rates = np.full(events.shape, np.nan)
    for row, hits, weight in zip(event_rates, events, events + others, strict=True):
        used = np.flatnonzero(weight > 0)
        if len(used):
            row[used] = isotonic_regression(hits[used] / weight[used], weights=weight[used]).x
    return event_rates


def _spline(events: Floats, others: Floats, x: Floats, shares: Sequence[float]) -> Floats:
    """Return the event rates [b, m] of a restricted cubic spline of ``x`` [b, m]; NaN in replicates without a fit.

    Its knots are the quantiles of ``x`` at ``shares``; there is no fit where two of them are one.
    """
    at, event_rates = events + others, np.full(events.shape, np.nan)
    knots = np.stack([quantile(at, x, share) for share in shares], axis=-1)
    apart = (np.diff(knots, axis=-1) > SLACK).all(axis=-1) & ((at > 0).sum(axis=-1) > len(shares))
    fitted = np.flatnonzero(apart)
    columns = _orthonormal(_basis(x[fitted], knots[fitted]), at[fitted])
    coefficients = fit(events[fitted], others[fitted], columns, STEPS)
    # Term by term and not as a matrix product, whose last bits may depend on the threads.
    log_odds = coefficients[:, :1] * columns[0]
    for j in range(1, len(columns)):
        log_odds += coefficients[:, j, None] * columns[j]
    event_rates[fitted] = rates(log_odds).event
    return event_rates


def _basis(x: Floats, knots: Floats) -> list[Floats]:
    """Return the columns, each [b, m], whose sums are the cubic splines with ``knots`` [b, k] that end as lines.

    The first is 1, the second ``x``, and k - 2 bend at knots: Durrleman & Simon (1989), scaled as by Harrell (2015).
    """
    first, before, last = (knots[:, place, None] for place in (0, -2, -1))
    columns, width = [np.ones_like(x), x], last - first
    tail, end = (np.maximum(x - knot, 0) ** 3 for knot in (before, last))
    for j in range(knots.shape[-1] - 2):
        knot = knots[:, j, None]
        bent = np.maximum(x - knot, 0) ** 3 - (tail * (last - knot) - end * (before - knot)) / (last - before)
        columns.append(bent / width**2)
    return columns


def _orthonormal(columns: Sequence[Floats], weight: Floats) -> list[Floats]:
    """Make the columns, each [b, m], orthogonal and of length 1 under the weight, which changes no fit.

    By Gram and Schmidt: the first stays 1; each loses what those before it say, twice, for the rounding of the first
    time.
    """
    total, unit_columns = weight.sum(axis=-1), [columns[0]]
    for column in columns[1:]:
        rest = column
        for before in (*unit_columns, *unit_columns):
            rest = rest - (dot(weight * before, rest) / total)[:, None] * before
        length = np.sqrt(dot(weight * rest, rest) / total)
        unit_columns.append(rest / np.where(length > 0, length, np.nan)[:, None])
    return unit_columns
