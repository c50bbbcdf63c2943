"""Weighted logistic regression of events on few columns, of many replicates at once, by Newton's method.

Tables are [b, m]: events and non-events at each of m places, in b replicates. Each replicate takes its own steps and
stops by itself, and no sum runs across replicates, so that a batch has the bytes of a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes

SLACK = 1e-9
"""Log odds that differ by no more than this are equal."""

CLOSE = 1e-16
"""The squared length of a step, in standard errors of a row, after which the next step changes nothing: the error of
Newton's method is squared with each."""

SAME = 1e-14
"""A bracket of this width, as a part of what it holds, holds one number."""

MOST = 200
"""Steps after which a fit that is known to be finite is as good as it gets; far fewer do."""

SINGULAR = 1e-12
"""The share of a column that the others do not explain, below which it determines no coefficient."""

IN_CACHE = 2**15
"""Places that are worked on at once: a step makes a dozen tables of them."""

JOINED, LEAST = 4096, 4
"""About the most places of a line that others start from, and the fewest neighbours that are joined in each."""

FAR = 700.0
"""Log odds whose exponential is still a number."""


class Rates(NamedTuple):
    """The probability of an event and of a non-event at some log odds, each without cancellation."""

    event: Floats
    other: Floats


def rates(log_odds: Floats) -> Rates:
    """Return the probabilities of an event and of a non-event (a `Rates`), of the same shape as ``log_odds``."""
    odds = np.negative(log_odds)
    odds = exp(np.minimum(odds, FAR, out=odds))
    event = 1 + odds
    np.divide(1, event, out=event)
    odds *= event
    return Rates(event, odds)


def dot(left: Floats, right: Floats) -> Floats:
    """Return the sums of products along the last axis, without an array of them; not by a BLAS: threads change bits."""
    return np.asarray(np.einsum("...m,...m->...", left, right))


def overlapping(events: Floats, others: Floats, x: Floats) -> Flags:
    """Tell in which replicates [b] a logistic curve of ``x`` [b, m] has a finite fit: the classes overlap along ``x``.

    Where all of one class lies at or above the other, a steeper slope is always more likely: no likelihood is largest.
    """

    def ends(weight: Floats) -> tuple[Floats, Floats]:
        occurs = weight > 0
        return np.where(occurs, x, np.inf).min(axis=-1), np.where(occurs, x, -np.inf).max(axis=-1)

    (low_event, high_event), (low_other, high_other) = ends(events), ends(others)
    return (high_other > low_event + SLACK) & (high_event > low_other + SLACK)


def calibration_shift(events: Floats, others: Floats, offset: Floats) -> Floats:
    """Return the number [b] to add to the log odds ``offset`` [b, m] so that as many events are expected as occur.

    Newton's steps, or half of the bracket that holds the root where they leave it. NaN where either class is lacking.
    """
    shifts, occurs = np.full(len(events), np.nan), events + others > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = log(events.sum(axis=-1) / others.sum(axis=-1))
    # One shift for all rows lies between those that bring the largest and the smallest log odds to the prevalence's.
    low = prior - np.where(occurs, offset, -np.inf).max(axis=-1) - SLACK
    high = prior - np.where(occurs, offset, np.inf).min(axis=-1) + SLACK
    pending, shift = np.flatnonzero(np.isfinite(prior)), (low + high) / 2
    for _ in range(MOST):
        if not len(pending):
            break
        current = shift[pending]
        tables = chosen(pending, events), chosen(pending, others), chosen(pending, offset)
        slope, bend = _shift_derivatives(*tables, current)
        rises = slope > 0
        low[pending], high[pending] = np.where(rises, current, low[pending]), np.where(rises, high[pending], current)
        step = slope / bend
        is_inside = (current + step >= low[pending]) & (current + step <= high[pending])
        shift[pending] = np.where(is_inside, current + step, (low[pending] + high[pending]) / 2)
        width = high[pending] - low[pending]
        is_done = (is_inside & (np.abs(step) < SLACK)) | (width < SAME * (1 + np.abs(current)))
        shifts[pending[is_done]] = shift[pending[is_done]]
        pending = pending[~is_done]
    shifts[pending] = shift[pending]  # where all are sure and many wrong, shifts of nearly any size do
    return shifts


def chosen(replicates: Wholes, table: Floats) -> Floats:
    """Return the rows of ``table`` [b, m] for some ``replicates`` (ascending indices); the table itself for all."""
    return table if len(replicates) == len(table) else table[replicates]


def _shift_derivatives(events: Floats, others: Floats, offset: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the first derivative [b] of the log-likelihood at a shift ``at`` [b], and minus the second [b]."""
    if events.shape[-1] > IN_CACHE:
        return _summed(_shift_derivatives(events[:, part], others[:, part], offset[:, part], at)
                       for part in _cache_slices(events.shape[-1]))
    probability = rates(offset + at[:, None])
    slope = dot(events, probability.other) - dot(others, probability.event)
    return slope, dot((events + others) * probability.event, probability.other)


def _cache_slices(m: int) -> Iterator[slice]:
    """Yield slices of 0 to ``m`` that are small enough for the processor's cache."""
    return (slice(first, first + IN_CACHE) for first in range(0, m, IN_CACHE))


def _summed(derivatives: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the sums of first and of second derivatives over parts, in their order."""
    first, second = zip(*derivatives, strict=True)
    return np.sum(first, axis=0), np.sum(second, axis=0)


def fit(events: Floats, others: Floats, columns: Sequence[Floats], most: int, start: Floats | None = None) -> Floats:
    """Return the maximum-likelihood coefficients [b, k] of weighted logistic regressions of events on k ``columns``.

    ``events`` and ``others`` [b, m] are weights; ``columns`` are k tables [b, m], of which the first is 1. Newton's
    steps from ``start`` [b, k], else from the prevalence, are halved while the likelihood falls more steeply beyond
    them than it rose before. NaN where ``most`` steps do not end it, or a column is a combination of the others.
    """
    coefficients = np.full((len(events), len(columns)), np.nan)
    pending = np.flatnonzero((events.sum(axis=-1) > 0) & (others.sum(axis=-1) > 0))
    events, others = chosen(pending, events), chosen(pending, others)
    columns = [chosen(pending, column) for column in columns]
    total = (events + others).sum(axis=-1)
    current = np.zeros((len(events), len(columns)))
    current[:, 0] = log(events.sum(axis=-1) / others.sum(axis=-1))
    if start is not None:
        current = np.where(np.isnan(start[pending]), current, start[pending])
    step, rise = np.zeros_like(current), np.full(len(pending), np.inf)
    for _ in range(most):
        if not len(pending):
            break
        gradient, matrix = _derivatives(events, others, columns, current)
        is_beyond = (gradient * step).sum(axis=-1) < -rise
        newton = cholesky_solution(matrix, gradient)
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is halved, or ends the fit
            gain = (gradient * newton).sum(axis=-1)
        step = np.where(is_beyond[:, None], step / 2, newton)
        current = np.where(is_beyond[:, None], current - step, current + step)
        rise = np.where(is_beyond, rise / 2, gain)
        is_done = ~is_beyond & (gain <= CLOSE * total)
        coefficients[pending[is_done]] = current[is_done]
        unfinished = ~is_done & (is_beyond | np.isfinite(gain))
        if not unfinished.all():
            pending, events, others = pending[unfinished], events[unfinished], others[unfinished]
            total, current, step, rise = (table[unfinished] for table in (total, current, step, rise))
            columns = [column[unfinished] for column in columns]
    return coefficients


def _derivatives(events: Floats, others: Floats, columns: Sequence[Floats], at: Floats) -> tuple[Floats, Floats]:
    """Return the gradient [b, k] of the log-likelihood at coefficients ``at`` [b, k], and the information [b, k, k].

    Of the information matrix, minus the second derivatives, only the lower triangle is filled.
    """
    if events.shape[-1] > IN_CACHE:
        return _summed(_derivatives(events[:, part], others[:, part], [column[:, part] for column in columns], at)
                       for part in _cache_slices(events.shape[-1]))
    scratch = np.empty(events.shape)
    probability = rates(combined(columns, at, scratch))
    excess, weight = events * probability.other, events + others
    weight *= probability.event
    weight *= probability.other
    excess -= np.multiply(others, probability.event, out=scratch)
    matrix = np.zeros((len(events), len(columns), len(columns)))
    for j, column in enumerate(columns):
        weighted = np.multiply(weight, column, out=scratch) if j else weight
        for i in range(j, len(columns)):
            matrix[:, i, j] = dot(weighted, columns[i])
    return np.stack([dot(excess, column) for column in columns], axis=-1), matrix


def combined(columns: Sequence[Floats], coefficients: Floats, scratch: Floats) -> Floats:
    """Return the sums [b, m] of the columns, of which the first is 1, times their ``coefficients`` [b, k].

    Term by term and not as a matrix product, whose last bits may depend on the threads; ``scratch`` [b, m] is written.
    """
    total = coefficients[:, 1, None] * columns[1]
    total += coefficients[:, :1]
    for j in range(2, len(columns)):
        total += np.multiply(coefficients[:, j, None], columns[j], out=scratch)
    return total


def cholesky_solution(matrix: Floats, vector: Floats) -> Floats:
    """Return the solutions [b, k] of positive definite systems ``matrix`` [b, k, k] x = ``vector`` [b, k], by Cholesky.

    Only the lower triangle of the matrix is read. NaN where a pivot is lost to rounding. Plain arithmetic on whole
    batches, since a library's order may vary.
    """
    size = vector.shape[-1]
    # Replicates last: the few terms of a sum are then added one after the other, of all replicates at once.
    matrix, vector = np.ascontiguousarray(matrix.transpose(1, 2, 0)), np.ascontiguousarray(vector.T)
    root, solution = np.zeros_like(matrix), np.zeros_like(vector)
    for j in range(size):
        rest = matrix[j:, j] - (root[j:, :j] * root[j, :j]).sum(axis=1) if j else matrix[j:, j]
        root[j, j] = np.sqrt(np.where(rest[0] > SINGULAR * matrix[j, j], rest[0], np.nan))
        root[j + 1 :, j] = rest[1:] / root[j, j]
    # Forward through the triangle, then back through its transpose.
    for j in range(size):
        solution[j] = (vector[j] - (root[j, :j] * solution[:j]).sum(axis=0)) / root[j, j]
    for j in reversed(range(size)):
        solution[j] = (solution[j] - (root[j + 1 :, j] * solution[j + 1 :]).sum(axis=0)) / root[j, j]
    return np.ascontiguousarray(solution.T)


def _starting_coefficients(events: Floats, others: Floats, x: Floats) -> Floats | None:
    """Return coefficients [b, 2] to start from: the fit after joining neighbouring ``x`` [b, m]; None if m is small.

    They are so near to the coefficients for all places that three further steps suffice, instead of six or more.
    """
    joined_places = x.shape[-1] // JOINED
    if joined_places < LEAST:
        return None
    starts = np.arange(0, x.shape[-1], joined_places)
    weight = events + others
    totals = [np.add.reduceat(table, starts, axis=-1) for table in (events, others, weight, weight * x)]
    means = np.divide(totals[3], totals[2], out=np.zeros_like(totals[3]), where=totals[2] > 0)
    return fit(totals[0], totals[1], [np.ones_like(means), means], MOST)


class LogisticLine(NamedTuple):
    """A line ``intercept`` + ``slope`` x of the log odds x, one in each replicate [b]; NaN without a finite fit."""

    intercept: Floats
    slope: Floats


class _CentredFit(NamedTuple):
    """Lines fitted in f of b replicates, ``fitted`` [f] by index, to ``x`` less ``middle`` [f] over ``unit`` [f].

    ``columns`` are two tables [f, m], 1 and the scaled x, with their ``coefficients`` [f, 2].
    """

    fitted: Wholes
    middle: Floats
    unit: Floats
    events: Floats
    others: Floats
    columns: Sequence[Floats]
    coefficients: Floats


def _centred_fit(events: Floats, others: Floats, x: Floats, overlap: Flags) -> _CentredFit:
    """Return the fit of a line to centred and scaled ``x`` [b, m], in the replicates where classes ``overlap`` [b]."""
    weight = events + others
    total = np.where(overlap, weight.sum(axis=-1), np.nan)
    middle = dot(weight, x) / total
    centred = x - middle[:, None]
    unit = np.sqrt(dot(weight * centred, centred) / total)
    fitted = np.flatnonzero(np.isfinite(unit))
    # Centred and of unit spread, the columns are orthogonal, and the steps few.
    columns = [np.ones((len(fitted), x.shape[-1])), chosen(fitted, centred) / unit[fitted, None]]
    events, others = chosen(fitted, events), chosen(fitted, others)
    coefficients = fit(events, others, columns, MOST, _starting_coefficients(events, others, columns[1]))
    return _CentredFit(fitted, middle[fitted], unit[fitted], events, others, columns, coefficients)


def fit_logistic_line(events: Floats, others: Floats, x: Floats, overlap: Flags | None = None) -> LogisticLine:
    """Fit the log odds of events as a line of ``x`` [b, m], in b replicates with m distinct values each: Cox (1958).

    ``events`` and ``others`` [b, m] are weights at each value. NaN where the classes do not overlap in x, as where a
    cut separates them; ``overlap`` [b] says where they do, if computed already.
    """
    centred_fit = _centred_fit(events, others, x, overlapping(events, others, x) if overlap is None else overlap)
    intercept, slope = (np.full(len(x), np.nan) for _ in range(2))
    slope[centred_fit.fitted] = centred_fit.coefficients[:, 1] / centred_fit.unit
    intercept[centred_fit.fitted] = centred_fit.coefficients[:, 0] - slope[centred_fit.fitted] * centred_fit.middle
    return LogisticLine(intercept, slope)


def slope_error(events: Floats, others: Floats, x: Floats) -> Floats:
    """Return the standard error [b] of the slope of `fit_logistic_line`, from the information; weights count rows."""
    centred_fit, error = _centred_fit(events, others, x, overlapping(events, others, x)), np.full(len(x), np.nan)
    _, matrix = _derivatives(centred_fit.events, centred_fit.others, centred_fit.columns, centred_fit.coefficients)
    unit_vector = np.broadcast_to([0.0, 1.0], centred_fit.coefficients.shape)
    error[centred_fit.fitted] = np.sqrt(cholesky_solution(matrix, unit_vector)[:, 1]) / centred_fit.unit
    return error
