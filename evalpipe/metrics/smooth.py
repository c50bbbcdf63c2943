"""Bins and quantiles along ordered scores; smooth and monotone curves of the event rate, of many replicates at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.metrics.logistic import SLACK, chosen, combined, dot, fit, fit_logistic_line, overlapping, rates

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes


ROUNDING = 1e-9
"""A share of the weight that misses the border of a bin by less than this part of a bin misses it by rounding alone."""


def equal_weight_bins(at: Floats, bins: int) -> Wholes:
    """Return the index of the bin [..., m] of each distinct score; ``at`` [..., m] is the weight at each, ascending.

    Bins have equal weight: a score belongs to bin floor(``bins`` x weight below it / all weight). Equal scores are
    never split and go where the first of them falls, so bins may stay empty. Where all weight is zero every score is
    of bin 0.
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    share = (running - at) / np.where(total > 0, total, 1.0)
    # A score of no weight above all others lies at share 1, which is of the last bin.
    return np.minimum((bins * share + ROUNDING).astype(np.intp), bins - 1)


def totals_in(bin_of_value: Wholes, values: Floats, bins: int) -> Floats:
    """Return the total of ``values`` [..., m] in each of ``bins`` bins, [..., bins]; ``bin_of_value`` is [..., m]."""
    flat = values.reshape(-1, values.shape[-1])
    first = np.arange(len(flat))[:, None] * bins
    # A count of weights adds them one after the other, so that a batch sums in the order of a single row.
    totals = np.bincount((bin_of_value.reshape(flat.shape) + first).ravel(), flat.ravel(), len(flat) * bins)
    return np.asarray(totals.reshape(*values.shape[:-1], bins), float)


def quantile(at: Floats, values: Floats, share: float) -> Floats:
    """Return the weighted quantile [...] of ascending ``values`` [..., m] with the weight ``at`` each of them.

    The mean of two neighbours where exactly ``share`` of the weight lies at or below the first of them (type 2 of
    Hyndman & Fan, 1996), so that the quantile of the reversed order is the same, and a weight of 3 is three rows.
    """
    return quantiles(at, values, (share,))[..., 0]


def quantiles(at: Floats, values: Floats, shares: Sequence[float]) -> Floats:
    """Return the weighted quantiles [..., k] at ``shares`` [k] of ascending ``values``, with the weight ``at`` each.

    The mean of two neighbours where exactly a share of the weight lies at or below the first of them (type 2).
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    # Looked up a little below and above each share: the two differ only where a value ends exactly at the share.
    parts = [share + side for side in (-ROUNDING, ROUNDING) for share in shares]
    indices = np.stack([(running < total * part).sum(axis=-1) for part in parts], axis=-1)
    low, high = np.split(np.take_along_axis(values, np.minimum(indices, at.shape[-1] - 1), axis=-1), 2, axis=-1)
    return np.asarray((low + high) / 2)


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
    for shares in KNOTS.values() if smooth == "spline" else ():
        if len(left):
            spline = _spline_rates(chosen(left, events), chosen(left, others), chosen(left, log_odds), shares)
            fitted = ~np.isnan(spline[:, 0])
            event_rates[left[fitted]] = spline[fitted]
            left = left[~fitted]
    if len(left):
        events, others, log_odds = (chosen(left, table) for table in (events, others, log_odds))
        straight = fit_logistic_line(events, others, log_odds, np.ones(len(left), bool))
        event_rates[left] = rates(straight.intercept[:, None] + straight.slope[:, None] * log_odds).event
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


def _spline_rates(events: Floats, others: Floats, x: Floats, shares: Sequence[float]) -> Floats:
    """Return the event rates [b, m] of a restricted cubic spline of ``x`` [b, m]; NaN in replicates without a fit.

    Its knots are the quantiles of ``x`` at ``shares``; there is no fit where two of them are one.
    """
    weight, event_rates = events + others, np.full(events.shape, np.nan)
    knots = quantiles(weight, x, shares)
    has_fit = (np.diff(knots, axis=-1) > SLACK).all(axis=-1) & ((weight > 0).sum(axis=-1) > len(shares))
    fitted = np.flatnonzero(has_fit)
    if not len(fitted):
        return event_rates
    columns = _orthonormal(_spline_columns(chosen(fitted, x), knots[fitted]), chosen(fitted, weight))
    coefficients = fit(chosen(fitted, events), chosen(fitted, others), columns, STEPS)
    event_rates[fitted] = rates(combined(columns, coefficients, np.empty(columns[0].shape))).event
    return event_rates


def _spline_columns(x: Floats, knots: Floats) -> list[Floats]:
    """Return columns, each [b, m], whose linear combinations are the restricted cubic splines with ``knots`` [b, k].

    The first is 1, the second ``x``, and k - 2 bend at knots: Durrleman & Simon (1989), scaled as by Harrell (2015).
    """
    first, before, last = (knots[:, index, None] for index in (0, -2, -1))
    columns, width, scratch = [np.ones_like(x), x], last - first, np.empty(x.shape)
    tail, end = _cube_above(x, before), _cube_above(x, last)
    for j in range(knots.shape[-1] - 2):
        knot = knots[:, j, None]
        straightened = tail * (last - knot)
        straightened -= np.multiply(end, before - knot, out=scratch)
        straightened /= last - before
        bent = _cube_above(x, knot)
        bent -= straightened
        bent /= width**2
        columns.append(bent)
    return columns


def _cube_above(x: Floats, knot: Floats) -> Floats:
    """Return the cube of how far ``x`` [b, m] is above a ``knot`` [b, 1], 0 below it."""
    above = x - knot
    np.maximum(above, 0, out=above)
    squared = above * above
    return np.multiply(above, squared, out=above)


def _orthonormal(columns: Sequence[Floats], weight: Floats) -> list[Floats]:
    """Return columns, each [b, m], made orthogonal and of length 1 under the weight, which changes no fit.

    By Gram and Schmidt: the first stays 1; each loses its projections on those before it, twice because of rounding.
    """
    total, unit_columns, weighted, scratch = weight.sum(axis=-1), [columns[0]], [weight], np.empty(weight.shape)
    for column in columns[1:]:
        residual = column.copy()
        for index in 2 * (*range(len(weighted)),):
            projection = (dot(weighted[index], residual) / total)[:, None]
            residual -= np.multiply(projection, unit_columns[index], out=scratch) if index else projection
        length = np.sqrt(dot(np.multiply(weight, residual, out=scratch), residual) / total)
        residual /= np.where(length > 0, length, np.nan)[:, None]
        unit_columns.append(residual)
        weighted.append(weight * residual)
    return unit_columns
