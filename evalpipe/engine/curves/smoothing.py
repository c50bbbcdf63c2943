"""A smooth line through the means of groups of rows: a cubic smoothing spline whose penalty the data choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import power
from evalpipe.results.curves.residuals import SmoothNotes

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

GROUPS = 200
"""The most groups that a smooth line is drawn through, and the fewest that are smoothed."""
FEWEST = 5
APART = 1e-3
"""How far apart groups lie at least, as a share of the range; the spline is ill-conditioned where they almost meet."""

PENALTIES = power(10.0, np.linspace(-8, 0, 33))
"""Roughness penalties tried, for a range of one and per unit of weight: from almost none to a straight line."""

CAUTION = 1.4
"""What a degree of freedom costs in cross-validation; at its plain cost of one, it now and then follows noise."""


def smooth(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, SmoothNotes]:
    """Return predictions and the smooth mean of ``values`` there; ``predicted`` [m] ascends.

    A cubic smoothing spline through the means of groups of near predictions, its penalty chosen by generalised
    cross-validation (Craven & Wahba 1979, with the caution of Kim & Gu 2004); where there are fewer than `FEWEST`
    groups, these means themselves.
    """
    x, y, w = _group_means(predicted, values, weights)
    notes = SmoothNotes(groups=len(x), smoothed=len(x) >= FEWEST)
    if len(x) < FEWEST:
        return x, y, notes
    position, weight, middle = (x - x[0]) / (x[-1] - x[0]), w / w.mean(), np.average(y, weights=w)
    fits = splines(position, y - middle, weight, len(x) * PENALTIES)
    squared_error = (weight * (y - middle - fits.values) ** 2).sum(axis=1)
    spare_freedom = len(x) - CAUTION * fits.freedom
    scores = np.where(spare_freedom > 0, squared_error / np.where(spare_freedom > 0, spare_freedom, 1.0) ** 2, np.inf)
    # Only where there are rows: between distant groups a spline swings wide of the data.
    return x, middle + fits.values[scores.argmin()], notes


def _group_means(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean prediction, mean value and weight of groups of equal weight that never split equal predictions."""
    start = np.flatnonzero(np.r_[True, predicted[1:] != predicted[:-1]])
    weight_at = np.add.reduceat(weights, start)
    group = (GROUPS * (np.cumsum(weight_at) - weight_at) / weight_at.sum()).astype(np.intp)
    start = start[np.r_[True, group[1:] != group[:-1]]]
    # About their own levels, so that the means of large numbers close to each other stay apart.
    low, middle = predicted[0], np.average(values, weights=weights)
    totals = np.array([np.add.reduceat(weights * x, start) for x in (predicted - low, values - middle, 1.0)])
    joined: list[Floats] = []
    least = APART * (predicted[-1] - low)
    for group_totals in totals.T:
        if joined and group_totals[0] / group_totals[2] - joined[-1][0] / joined[-1][2] < least:
            joined[-1] = joined[-1] + group_totals
        else:
            joined.append(group_totals)
    x, y, weight = np.array(joined).T
    return low + x / weight, middle + y / weight, weight


class SplineFits(NamedTuple):
    """The smoothing splines of some penalties: ``values`` [p, n] at the places, and degrees of ``freedom`` [p]."""

    values: Floats
    freedom: Floats


class _Bands(NamedTuple):
    """The diagonal and the two above it of symmetric matrices with five bands, each [k, p]; the last rows hold 0."""

    diagonal: Floats
    first: Floats
    second: Floats


def splines(x: Floats, y: Floats, w: Floats, penalties: Floats) -> SplineFits:
    """Fit y [n] with weights w at ascending places x: least squares + penalty times the integral of squared bends.

    By the equations of Reinsch (1967) for the second derivatives c at inner places, (R + penalty Q' inv(W) Q) c = Q' y
    (Green & Silverman 1994, section 2.3.3); the degrees of freedom by Hutchinson & de Hoog (1985).
    """
    gap, v = np.diff(x), 1 / w
    a, b, c = 1 / gap[:-1], -1 / gap[:-1] - 1 / gap[1:], 1 / gap[1:]
    bent = _padded_bands(a**2 * v[:-2] + b**2 * v[1:-1] + c**2 * v[2:],
                  (b * v[1:-1])[:-1] * a[1:] + (c * v[2:])[:-1] * b[1:], (c * v[2:])[:-2] * a[2:])
    width = _padded_bands((gap[:-1] + gap[1:]) / 3, gap[1:-1] / 6, np.zeros(len(a) - 2))
    penalised = (of_width + penalties * of_bent for of_width, of_bent in zip(width, bent, strict=True))
    factors = _ldl_factors(_Bands(*penalised))
    bends = _solve_factored(factors, a * y[:-2] + b * y[1:-1] + c * y[2:])
    pulled = np.zeros((len(x), len(penalties)))
    for place, share in enumerate((a, b, c)):
        pulled[place : place + len(share)] += share[:, None] * bends
    inverse = _inverse_bands(factors)
    removed = sum(count * (of_inverse * of_bent).sum(axis=0)
                  for count, of_inverse, of_bent in zip((1, 2, 2), inverse, bent, strict=True))
    return SplineFits((y[:, None] - penalties * v[:, None] * pulled).T, len(x) - penalties * removed)


def _padded_bands(diagonal: Floats, first: Floats, second: Floats) -> _Bands:
    """Return the bands of one matrix as columns [k, 1], with 0 below the shorter ones."""
    return _Bands(*(np.pad(band, (0, len(diagonal) - len(band)))[:, None] for band in (diagonal, first, second)))


def _ldl_factors(bands: _Bands) -> _Bands:
    """Factor matrices M as L D L': return the diagonal of D and the two bands of L below its diagonal of 1."""
    d, e, f = (np.zeros_like(band) for band in bands)
    for i in range(len(d)):
        d[i], e[i], f[i] = (band[i] for band in bands)
        if i:
            d[i] -= d[i - 1] * e[i - 1] ** 2
            e[i] -= d[i - 1] * e[i - 1] * f[i - 1]
        if i > 1:
            d[i] -= d[i - 2] * f[i - 2] ** 2
        e[i] /= d[i]
        f[i] /= d[i]
    return _Bands(d, e, f)


def _solve_factored(factors: _Bands, right: Floats) -> Floats:
    """Return the solutions [k, p] of the factored equations with one right side [k]."""
    d, e, f = factors
    solution = np.repeat(right[:, None], d.shape[1], axis=1)
    for i in range(1, len(d)):
        solution[i] -= e[i - 1] * solution[i - 1]
        if i > 1:
            solution[i] -= f[i - 2] * solution[i - 2]
    solution /= d
    for i in reversed(range(len(d) - 1)):
        solution[i] -= e[i] * solution[i + 1]
        if i < len(d) - 2:
            solution[i] -= f[i] * solution[i + 2]
    return solution


def _inverse_bands(factors: _Bands) -> _Bands:
    """Return the bands of the inverse of the factored matrices, from the last row up."""
    d, e, f = factors
    # Two rows of 0 stand below the last.
    diagonal, first, second = (np.zeros((len(d) + 2, d.shape[1])) for _ in range(3))
    for i in reversed(range(len(d))):
        second[i] = -e[i] * first[i + 1] - f[i] * diagonal[i + 2]
        first[i] = -e[i] * diagonal[i + 1] - f[i] * first[i + 1]
        diagonal[i] = 1 / d[i] - e[i] * first[i] - f[i] * second[i]
    return _Bands(diagonal[:-2], first[:-2], second[:-2])
