"""Weighted logistic regression of events on few columns, of many replicates at once, by Newton's method.

Tables are [b, m]: events and non-events at each of m places, in b replicates. Each replicate takes its own steps and
stops by itself, and no sum runs across replicates, so that a batch has the bytes of a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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


FAR = 700.0
"""Log odds whose exponential is still a number."""


class Rates(NamedTuple):
    """The chance of an event and of a non-event at some log odds, each without cancellation."""

    event: Any
    other: Any


def rates(log_odds: Any) -> Rates:
    """Turn log odds into chances."""
    odds = np.exp(np.minimum(-log_odds, FAR))
    event = 1 / (1 + odds)
    odds *= event
    return Rates(event, odds)


def dot(left: Any, right: Any) -> Any:
    """Sum the products along the last axis; not by a BLAS, whose threads would change bits."""
    return np.einsum("...m,...m->...", left, right)


def overlapping(events: Any, others: Any, x: Any) -> Any:
    """Tell where a logistic curve of x has a finite fit: neither class lies wholly at or above the other [b]."""

    def ends(weight: Any) -> tuple[Any, Any]:
        held = weight > 0
        return np.where(held, x, np.inf).min(axis=-1), np.where(held, x, -np.inf).max(axis=-1)

    (low_event, high_event), (low_other, high_other) = ends(events), ends(others)
    return (high_other > low_event + SLACK) & (high_event > low_other + SLACK)


def shift(events: Any, others: Any, offset: Any) -> Any:
    """Return what must be added to the log odds ``offset`` [b, m] so that they expect as many events as occur: [b].

    Newton's steps, or half of the bracket that holds the root where they leave it. NaN where either class is lacking.
    """
    found, held = np.full(len(events), np.nan), events + others > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log(events.sum(axis=-1) / others.sum(axis=-1))
    low = prior - np.where(held, offset, -np.inf).max(axis=-1) - SLACK
    high = prior - np.where(held, offset, np.inf).min(axis=-1) + SLACK
    left, at = np.flatnonzero(np.isfinite(prior)), (low + high) / 2
    for _ in range(MOST):
        if not len(left):
            break
        here = at[left]
        slope, bend = _slope(events[left], others[left], offset[left] + here[:, None])
        low[left], high[left] = np.where(slope > 0, here, low[left]), np.where(slope > 0, high[left], here)
        step = slope / bend
        inside = (here + step >= low[left]) & (here + step <= high[left])
        at[left] = np.where(inside, here + step, (low[left] + high[left]) / 2)
        done = (inside & (np.abs(step) < SLACK)) | (high[left] - low[left] < SAME * (1 + np.abs(here)))
        found[left[done]] = at[left[done]]
        left = left[~done]
    found[left] = at[left]  # where all are sure and many wrong, shifts of nearly any size do
    return found


def _slope(events: Any, others: Any, log_odds: Any) -> tuple[Any, Any]:
    """Return the first derivative of the log-likelihood by a shift of the log odds, and the second less its sign."""
    chance = rates(log_odds)
    return dot(events, chance.other) - dot(others, chance.event), dot((events + others) * chance.event, chance.other)


def fit(events: Any, others: Any, columns: Sequence[Any], most: int) -> Any:
    """Return the coefficients [b, k] of ``columns``, k tables [b, m] of which the first is 1, of largest likelihood.

    Newton's steps from the prevalence, each halved while the likelihood falls more steeply beyond it than it rose
    before. NaN where ``most`` steps do not end it, or where a column says nothing that the others do not.
    """
    found = np.full((len(events), len(columns)), np.nan)
    left = np.flatnonzero((events.sum(axis=-1) > 0) & (others.sum(axis=-1) > 0))
    events, others, held = events[left], others[left], [column[left] for column in columns]
    total = (events + others).sum(axis=-1)
    at = np.zeros((len(left), len(columns)))
    at[:, 0] = np.log(events.sum(axis=-1) / others.sum(axis=-1))
    step, rise = np.zeros_like(at), np.full(len(left), np.inf)
    for _ in range(most):
        if not len(left):
            break
        gradient, matrix = _derivatives(events, others, held, at)
        beyond = (gradient * step).sum(axis=-1) < -rise
        newton = solved(matrix, gradient)
        gain = (gradient * newton).sum(axis=-1)
        step = np.where(beyond[:, None], step / 2, newton)
        at = np.where(beyond[:, None], at - step, at + step)
        rise = np.where(beyond, rise / 2, gain)
        done = ~beyond & (gain <= CLOSE * total)
        found[left[done]] = at[done]
        going = ~done & (beyond | np.isfinite(gain))
        if not going.all():
            left, events, others, total = left[going], events[going], others[going], total[going]
            at, step, rise, held = at[going], step[going], rise[going], [column[going] for column in held]
    return found


def _derivatives(events: Any, others: Any, columns: Sequence[Any], at: Any) -> tuple[Any, Any]:
    """Return the gradient of the log-likelihood [b, k], and the information matrix [b, k, k], lower triangle."""
    log_odds = np.repeat(at[:, :1], events.shape[-1], axis=-1)
    for j in range(1, len(columns)):
        log_odds += at[:, j, None] * columns[j]
    chance = rates(log_odds)
    excess, weight = events * chance.other, events + others
    weight *= chance.event
    weight *= chance.other
    excess -= others * chance.event
    matrix = np.zeros((len(events), len(columns), len(columns)))
    for j, column in enumerate(columns):
        weighted = weight * column if j else weight
        for i in range(j, len(columns)):
            matrix[:, i, j] = dot(weighted, columns[i])
    return np.stack([dot(excess, column) for column in columns], axis=-1), matrix


def solved(matrix: Any, vector: Any) -> Any:
    """Solve positive definite systems [b, k, k], of which the lower triangle is read, by Cholesky: [b, k].

    NaN where a pivot is lost to rounding. Plain arithmetic on whole batches, since a library's order may vary.
    """
    size = vector.shape[-1]
    root, found = np.zeros_like(matrix), np.zeros_like(vector)
    for j in range(size):
        pivot = matrix[:, j, j] - (root[:, j, :j] ** 2).sum(axis=-1)
        pivot = np.sqrt(np.where(pivot > SINGULAR * matrix[:, j, j], pivot, np.nan))
        root[:, j, j] = pivot
        for i in range(j + 1, size):
            root[:, i, j] = (matrix[:, i, j] - (root[:, i, :j] * root[:, j, :j]).sum(axis=-1)) / pivot
    for j in range(size):
        found[:, j] = (vector[:, j] - (root[:, j, :j] * found[:, :j]).sum(axis=-1)) / root[:, j, j]
    for j in reversed(range(size)):
        found[:, j] = (found[:, j] - (root[:, j + 1 :, j] * found[:, j + 1 :]).sum(axis=-1)) / root[:, j, j]
    return found


class Line(NamedTuple):
    """A logistic recalibration a + b x of log odds x: each [b], NaN without a finite fit; ``error`` that of b."""

    intercept: Any
    slope: Any
    error: Any


def line(events: Any, others: Any, x: Any) -> Line:
    """Fit log odds of the events on x, all [b, m]: Cox (1958). The error is that of the likelihood, from the weights.

    NaN where the classes do not overlap in x.
    """
    at = events + others
    total = np.where(overlapping(events, others, x), at.sum(axis=-1), np.nan)
    middle = dot(at, x) / total
    away = x - middle[:, None]
    unit = np.sqrt(dot(at * away, away) / total)
    known = np.flatnonzero(np.isfinite(unit))
    columns = [np.ones((len(known), x.shape[-1])), away[known] / unit[known, None]]
    intercept, slope, error = (np.full(len(events), np.nan) for _ in range(3))
    found = fit(events[known], others[known], columns, MOST)
    slope[known] = found[:, 1] / unit[known]
    intercept[known] = found[:, 0] - slope[known] * middle[known]
    _, matrix = _derivatives(events[known], others[known], columns, found)
    error[known] = np.sqrt(solved(matrix, np.broadcast_to([0.0, 1.0], found.shape))[:, 1]) / unit[known]
    return Line(intercept, slope, error)
