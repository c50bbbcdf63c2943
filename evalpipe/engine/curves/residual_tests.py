"""What residuals tell: smooth lines through means; tests of lines, fanning, curvature, groups and zeros of counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, power, product, singular, solve
from evalpipe.results.curves.residuals import SmoothNotes

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


GROUPS = 200
"""The most groups that a smooth line is drawn through, and the fewest that are smoothed."""
FEWEST_GROUPS = 5
APART = 1e-3
"""How far apart groups lie at least, as a share of the range; the spline is ill-conditioned where they almost meet."""

PENALTIES = power(10.0, np.linspace(-8, 0, 33))
"""Roughness penalties tried, for a range of one and per unit of weight: from almost none to a straight line."""

CAUTION = 1.4
"""What a degree of freedom costs in cross-validation; at its plain cost of one, it now and then follows noise."""


def smooth(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, SmoothNotes]:
    """Return predictions and the smooth mean of ``values`` there; ``predicted`` [m] ascends.

    A cubic smoothing spline through the means of groups of near predictions, its penalty chosen by generalised
    cross-validation (Craven & Wahba 1979, with the caution of Kim & Gu 2004); where there are fewer than
    `FEWEST_GROUPS` groups, these means themselves.
    """
    x, y, w = _group_means(predicted, values, weights)
    notes = SmoothNotes(groups=len(x), smoothed=len(x) >= FEWEST_GROUPS)
    if len(x) < FEWEST_GROUPS:
        return x, y, notes
    position, weight, middle = (x - x[0]) / (x[-1] - x[0]), w / w.mean(), np.average(y, weights=w)
    fits = splines(position, y - middle, weight, len(x) * PENALTIES)
    squared_error = (weight * (y - middle - fits.values) ** 2).sum(axis=1)
    spare_freedom = len(x) - CAUTION * fits.freedom
    scores = np.where(spare_freedom > 0, squared_error / np.where(spare_freedom > 0, spare_freedom, 1.0) ** 2, np.inf)
    # Only where there are rows: between distant groups a spline swings wide of the data.
    return x, middle + fits.values[scores.argmin()], notes


def _group_means(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean prediction, mean value and weight of groups of about equal weight, each [groups].

    Equal predictions, and groups with nearly the same mean prediction, are together.
    """
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
    """Fit cubic smoothing splines to y [n] with weights w at ascending x, for each of the ``penalties``.

    They minimise the weighted squares plus penalty times the integral of the squared second derivative. By the
    equations of Reinsch (1967) for the second derivatives c at inner places, (R + penalty Q' inv(W) Q) c = Q' y
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


FEWEST = 20
"""So many rows these tests take; their p-values are for many."""

LEAST = 189 / 125
"""The least that kurtosis less squared skewness is for any distribution with one peak: Klaassen, Mokveld & van Es
(2000), who write 186/125 for squared skewness less excess kurtosis."""

ROUNDING = 1e-12
"""Residuals this small beside the truths are rounding alone."""


class ResidualTest(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    p_value: float


def least_squares(predicted: Floats, truth: Floats, weight: Floats) -> tuple[float, float] | None:
    """Return slope and intercept of the weighted line of the truth on predictions; None if these are constant."""
    mean, mean_truth = (float(np.average(values, weights=weight)) for values in (predicted, truth))
    spread = float((weight * (predicted - mean) ** 2).sum())
    if spread <= float(weight.sum()) * (ROUNDING * float(np.abs(predicted).max())) ** 2:
        return None
    slope = float((weight * (predicted - mean) * (truth - mean_truth)).sum()) / spread
    return slope, mean_truth - slope * mean


class AboutLine(NamedTuple):
    """Standardised predictions [m], the residuals [m] about the line of the truth on them, and weights [m].

    The weights add up to the number of independent rows.
    """

    standardised: Floats
    residual: Floats
    weight: Floats

    @classmethod
    def of(cls, predicted: Floats, truth: Floats, weight: Floats, rows: float) -> AboutLine | None:
        """Fit the weighted least-squares line of the truth on the predictions; return residuals about it.

        ``rows`` is the number of independent rows that the weights amount to. None for too few rows, and where
        predictions or residuals are constant.
        """
        if rows < FEWEST:
            return None
        weight = weight * (rows / weight.sum())
        standardised = predicted - np.average(predicted, weights=weight)
        centred_truth = truth - np.average(truth, weights=weight)
        size = math.sqrt(float((weight * standardised**2).sum()) / rows)
        if size <= ROUNDING * float(np.abs(predicted).max()):
            return None
        standardised = standardised / size
        residual = centred_truth - standardised * float((weight * standardised * centred_truth).sum()) / rows
        if math.sqrt(float((weight * residual**2).sum()) / rows) <= ROUNDING * float(np.abs(truth).max()):
            return None
        return cls(standardised, residual, weight)


def fan_test(line: AboutLine) -> ResidualTest:
    """Test whether the spread of residuals changes along the predictions.

    n times the squared correlation of squared residuals with predictions is chi-squared with one degree of freedom:
    Koenker (1981), after Breusch & Pagan (1979).
    """
    from scipy.special import chdtrc

    rows = float(line.weight.sum())
    squared = line.residual**2 - float((line.weight * line.residual**2).sum()) / rows
    covariance = float((line.weight * line.standardised * squared).sum()) / rows
    spread = float((line.weight * squared**2).sum()) / rows
    statistic = rows * covariance**2 / spread if spread > 0 else 0.0
    return ResidualTest(statistic, float(chdtrc(1, statistic)))


def residual_spreads(line: AboutLine) -> tuple[float, float]:
    """Return the root mean square of residuals in the thirds of rows with the lowest and highest predictions."""
    share = (np.cumsum(line.weight) - line.weight / 2) / line.weight.sum()
    low, high = (float(np.sqrt(np.average(line.residual[third] ** 2, weights=line.weight[third])))
                 for third in (share <= max(1 / 3, share[0]), share >= min(2 / 3, share[-1])))
    return low, high


def curvature(line: AboutLine) -> ResidualTest | None:
    """Test whether residuals follow a curve: the score test of a square and a cube of the predictions beside the line.

    As Ramsey's (1969), but of normal scores of the predictions, for the largest of widely spread ones would decide all.
    Errors hold where the spread changes, HC3 of MacKinnon & White (1985), from the residuals about the line, which keep
    the level where those of the curve do not: Davidson & MacKinnon (1985). Chi-squared with two degrees of freedom.
    None where there are too few distinct predictions.
    """
    from scipy.special import chdtrc, ndtri

    values, value_index = np.unique(line.standardised, return_inverse=True)
    weight = np.bincount(value_index, line.weight)
    share = (np.cumsum(weight) - weight / 2) / weight.sum()
    # A weight that is lost in the sum would have rank 1, whose score is infinite.
    score = ndtri(np.minimum(share, np.nextafter(1.0, 0.0)))[value_index]
    bends, rows = np.stack([score**2, score * score**2]), float(line.weight.sum())
    for straight in (np.ones_like(line.standardised), line.standardised):  # at right angles, and of mean square 1
        bends -= straight * ((bends * line.weight * straight).sum(axis=1) / rows)[:, None]
    # The leverage of a row; a row that the line goes through has no residual.
    one_less_leverage = np.maximum(1 - (1 + line.standardised**2) / rows, ROUNDING)
    scaled = bends * (line.residual / one_less_leverage)
    unit = float(np.abs(scaled).max(initial=0.0)) or 1.0  # so that no square of a large residual overflows
    covariance = product(scaled / unit * line.weight, scaled.T / unit)
    sizes = singular(covariance).sizes
    if len(values) < FEWEST / 2 or not sizes[-1] > sizes[0] * ROUNDING:
        return None
    scores = (bends * line.weight * (line.residual / unit)).sum(axis=1)
    statistic = float((scores * solve(covariance, scores)).sum())
    return ResidualTest(statistic, float(chdtrc(2, statistic)))


def peaks(line: AboutLine) -> ResidualTest:
    """Test whether residuals have more than one peak: whether kurtosis less squared skewness is below `LEAST`.

    It is at least that for any distribution with one peak, and 1 for two points. One-sided, with the error of the delta
    method.
    """
    from scipy.special import ndtr

    rows = float(line.weight.sum())
    z = line.residual / math.sqrt(float((line.weight * line.residual**2).sum()) / rows)
    cubed = z * z**2
    third, fourth = (float((line.weight * values).sum()) / rows for values in (cubed, z * cubed))
    influence_on_third = cubed - third - 3 * z - 1.5 * third * (z**2 - 1)
    influence_on_fourth = z * cubed - fourth - 4 * third * z - 2 * fourth * (z**2 - 1)
    error = math.sqrt(float((line.weight * (influence_on_fourth - 2 * third * influence_on_third) ** 2).sum())) / rows
    statistic = fourth - third**2
    if error == 0:
        return ResidualTest(statistic, float(statistic >= LEAST))
    return ResidualTest(statistic, float(ndtr((statistic - LEAST) / error)))


FEW = 25
"""The variance from which on a number of rows is near enough to normal."""


def zeros(truth: Floats, predicted: Floats, weight: Floats, rows: float) -> ResidualTest | None:
    """Test the number of zeros among counts [m] that are Poisson with means ``predicted`` [m], of ``weight`` [m].

    Each row is zero with the probability exp(-mean), independently, so that the number has the variance of a sum of
    such rows. The p-value is two-sided, from the normal distribution; where the variance is below `FEW`, from the
    Poisson distribution, whose variance is larger. ``rows`` is the number of independent rows that the weights amount
    to. None where no number is uncertain.
    """
    from scipy.special import ndtr, pdtr, pdtrc

    weight = weight * (rows / weight.sum())
    probability = exp(-predicted)
    error = math.sqrt(float((weight * probability * (1 - probability)).sum()))
    if not error:
        return None
    observed, expected = (float((weight * zero).sum()) for zero in (truth == 0, probability))
    statistic = (observed - expected) / error
    if error**2 >= FEW:
        return ResidualTest(statistic, 2 * float(ndtr(-abs(statistic))))
    at_most, at_least = pdtr(math.floor(observed), expected), pdtrc(math.ceil(observed) - 1, expected)
    return ResidualTest(statistic, min(2 * float(min(at_most, at_least if observed > 0 else 1.0)), 1.0))
