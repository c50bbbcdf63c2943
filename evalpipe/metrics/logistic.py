"""Weighted logistic regression of events on few columns, of many replicates at once, by Newton's method.

Tables are [b, m]: events and non-events at each of m places, in b replicates. Each replicate takes its own steps and
stops by itself, and no sum runs across replicates, so that a batch has the bytes of a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import exp, log

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
"""What is left of a column beside the others, as a part of it, below which it says nothing of its own."""

IN_CACHE = 2**15
"""Places that are worked on at once: a step makes a dozen tables of them."""

JOINED, LEAST = 4096, 4
"""About the most places of a line that others start from, and the fewest neighbours that are joined in each."""

FAR = 700.0
"""Log odds whose exponential is still a number."""


class Rates(NamedTuple):
    """The chance of an event and of a non-event at some log odds, each without cancellation."""

    event: Floats
    other: Floats


def rates(log_odds: Floats) -> Rates:
    """Return the chances of the event and of the other outcome at ``log_odds``, of the same shape."""
    odds = np.negative(log_odds)
    odds = exp(np.minimum(odds, FAR, out=odds))
    event = 1 + odds
    np.divide(1, event, out=event)
    odds *= event
    return Rates(event, odds)


def dot(left: Floats, right: Floats) -> Floats:
    """Sum the products along the last axis without holding them; not by a BLAS, whose threads would change bits."""
    return np.asarray(np.einsum("...m,...m->...", left, right))


def overlapping(events: Floats, others: Floats, x: Floats) -> Flags:
    """Tell in which replicates [b] a logistic curve of ``x`` has a finite fit: the classes overlap along ``x``.

    Where one class lies wholly at or above the other, a steeper slope is always more likely: no likelihood is largest.
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
    left, at = np.flatnonzero(np.isfinite(prior)), (low + high) / 2
    for _ in range(MOST):
        if not len(left):
            break
        current = at[left]
        slope, bend = _shift_derivatives(chosen(left, events), chosen(left, others), chosen(left, offset), current)
        low[left], high[left] = np.where(slope > 0, current, low[left]), np.where(slope > 0, high[left], current)
        step = slope / bend
        inside = (current + step >= low[left]) & (current + step <= high[left])
        at[left] = np.where(inside, current + step, (low[left] + high[left]) / 2)
        done = (inside & (np.abs(step) < SLACK)) | (high[left] - low[left] < SAME * (1 + np.abs(current)))
        shifts[left[done]] = at[left[done]]
        left = left[~done]
    shifts[left] = at[left]  # where all are sure and many wrong, shifts of nearly any size do
    return shifts


def chosen(left: Wholes, table: Floats) -> Floats:
    """Return the replicates ``left`` of a table [b, m], in ascending order; the table itself where these are all."""
    return table if len(left) == len(table) else table[left]


def _shift_derivatives(events: Floats, others: Floats, offset: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the first derivative [b] of the log-likelihood by a shift ``at`` [b], and minus the second [b]."""
    if events.shape[-1] > IN_CACHE:
        return _summed(_shift_derivatives(events[:, part], others[:, part], offset[:, part], at)
                       for part in _parts(events.shape[-1]))
    chance = rates(offset + at[:, None])
    return dot(events, chance.other) - dot(others, chance.event), dot((events + others) * chance.event, chance.other)


def _parts(m: int) -> Iterator[slice]:
    """Yield the parts of ``m`` places that are worked on at once."""
    return (slice(first, first + IN_CACHE) for first in range(0, m, IN_CACHE))


def _summed(derivatives: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the sums of first and of second derivatives over parts, in their order."""
    first, second = zip(*derivatives, strict=True)
    return np.sum(first, axis=0), np.sum(second, axis=0)


def fit(events: Floats, others: Floats, columns: Sequence[Floats], most: int, start: Floats | None = None) -> Floats:
    """Return the coefficients [b, k] of ``columns``, k tables [b, m] of which the first is 1, of largest likelihood.

    Newton's steps from ``start`` [b, k], else from the prevalence, each halved while the likelihood falls more steeply
    beyond it than it rose before. NaN where ``most`` steps do not end it, or a column says nothing beside the others.
    """
    coefficients = np.full((len(events), len(columns)), np.nan)
    left = np.flatnonzero((events.sum(axis=-1) > 0) & (others.sum(axis=-1) > 0))
    events, others, columns = chosen(left, events), chosen(left, others), [chosen(left, column) for column in columns]
    total = (events + others).sum(axis=-1)
    at = np.zeros((len(events), len(columns)))
    at[:, 0] = log(events.sum(axis=-1) / others.sum(axis=-1))
    if start is not None:
        at = np.where(np.isnan(start[left]), at, start[left])
    step, rise = np.zeros_like(at), np.full(len(left), np.inf)
    for _ in range(most):
        if not len(left):
            break
        gradient, matrix = _derivatives(events, others, columns, at)
        beyond = (gradient * step).sum(axis=-1) < -rise
        newton = solved(matrix, gradient)
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is halved, or ends the fit
            gain = (gradient * newton).sum(axis=-1)
        step = np.where(beyond[:, None], step / 2, newton)
        at = np.where(beyond[:, None], at - step, at + step)
        rise = np.where(beyond, rise / 2, gain)
        done = ~beyond & (gain <= CLOSE * total)
        coefficients[left[done]] = at[done]
        going = ~done & (beyond | np.isfinite(gain))
        if not going.all():
            left, events, others, total = left[going], events[going], others[going], total[going]
            at, step, rise, columns = at[going], step[going], rise[going], [column[going] for column in columns]
    return coefficients


def _derivatives(events: Floats, others: Floats, columns: Sequence[Floats], at: Floats) -> tuple[Floats, Floats]:
    """Return the gradient [b, k] of the log-likelihood at coefficients ``at`` [b, k], and the information [b, k, k].

    Of the information matrix, minus the second derivatives, only the lower triangle is filled.
    """
    if events.shape[-1] > IN_CACHE:
        return _summed(_derivatives(events[:, part], others[:, part], [column[:, part] for column in columns], at)
                       for part in _parts(events.shape[-1]))
    scratch = np.empty(events.shape)
    chance = rates(combined(columns, at, scratch))
    excess, weight = events * chance.other, events + others
    weight *= chance.event
    weight *= chance.other
    excess -= np.multiply(others, chance.event, out=scratch)
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


def solved(matrix: Floats, vector: Floats) -> Floats:
    """Solve positive definite systems [b, k, k], of which the lower triangle is read, by Cholesky: [b, k].

    NaN where a pivot is lost to rounding. Plain arithmetic on whole batches, since a library's order may vary.
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


def _joined_fit(events: Floats, others: Floats, x: Floats) -> Floats | None:
    """Fit a line to neighbours of ``x`` [b, m] joined, as coefficients [b, 2] to start from; None where places are few.

    They are so near to those of all places that three steps are left of six or more.
    """
    parts = x.shape[-1] // JOINED
    if parts < LEAST:
        return None
    starts = np.arange(0, x.shape[-1], parts)
    at = events + others
    totals = [np.add.reduceat(table, starts, axis=-1) for table in (events, others, at, at * x)]
    means = np.divide(totals[3], totals[2], out=np.zeros_like(totals[3]), where=totals[2] > 0)
    return fit(totals[0], totals[1], [np.ones_like(means), means], MOST)


class LogisticLine(NamedTuple):
    """A line ``intercept`` + ``slope`` x of the log odds x, one in each replicate [b]; NaN without a finite fit."""

    intercept: Floats
    slope: Floats


class _CentredFit(NamedTuple):
    """Lines fitted in the replicates ``fitted`` [f] of b, of ``x`` less its ``middle`` [f] in its ``unit`` [f].

    ``columns`` are two tables [f, m], 1 and x so scaled, with their ``coefficients`` [f, 2].
    """

    fitted: Wholes
    middle: Floats
    unit: Floats
    events: Floats
    others: Floats
    columns: Sequence[Floats]
    coefficients: Floats


def _centred_fit(events: Floats, others: Floats, x: Floats, overlap: Flags) -> _CentredFit:
    """Fit a line of ``x`` [b, m] where the classes ``overlap`` [b]."""
    at = events + others
    total = np.where(overlap, at.sum(axis=-1), np.nan)
    middle = dot(at, x) / total
    away = x - middle[:, None]
    unit = np.sqrt(dot(at * away, away) / total)
    fitted = np.flatnonzero(np.isfinite(unit))
    # Centred and of unit spread, the columns are orthogonal, and the steps few.
    columns = [np.ones((len(fitted), x.shape[-1])), chosen(fitted, away) / unit[fitted, None]]
    events, others = chosen(fitted, events), chosen(fitted, others)
    coefficients = fit(events, others, columns, MOST, _joined_fit(events, others, columns[1]))
    return _CentredFit(fitted, middle[fitted], unit[fitted], events, others, columns, coefficients)


def line(events: Floats, others: Floats, x: Floats, overlap: Flags | None = None) -> LogisticLine:
    """Fit the log odds of the events as a line of ``x``, all [b, m]: Cox (1958).

    NaN where the classes do not overlap in x; ``overlap`` is what `overlapping` tells, where that is known.
    """
    scaled = _centred_fit(events, others, x, overlapping(events, others, x) if overlap is None else overlap)
    intercept, slope = (np.full(len(x), np.nan) for _ in range(2))
    slope[scaled.fitted] = scaled.coefficients[:, 1] / scaled.unit
    intercept[scaled.fitted] = scaled.coefficients[:, 0] - slope[scaled.fitted] * scaled.middle
    return LogisticLine(intercept, slope)


def slope_error(events: Floats, others: Floats, x: Floats) -> Floats:
    """Return the standard error [b] of the slope of `line`: that of maximum likelihood, where a weight counts rows."""
    scaled, error = _centred_fit(events, others, x, overlapping(events, others, x)), np.full(len(x), np.nan)
    _, matrix = _derivatives(scaled.events, scaled.others, scaled.columns, scaled.coefficients)
    second = np.broadcast_to([0.0, 1.0], scaled.coefficients.shape)
    error[scaled.fitted] = np.sqrt(solved(matrix, second)[:, 1]) / scaled.unit
    return error
