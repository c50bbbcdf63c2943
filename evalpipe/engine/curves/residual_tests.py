"""Tests of residuals: the line of the truth on the predictions, fanning, curvature, groups, and the zeros of counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import exp
from evalpipe.arithmetic.matrices import product, singular, solve

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


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
    """Return the slope and the intercept of the line of the truth on the predictions; None of constant predictions."""
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
        """Fit the line; None of too few rows, and where predictions or residuals are constant."""
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


def fan(line: AboutLine) -> ResidualTest:
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


def spreads(line: AboutLine) -> tuple[float, float]:
    """Return the root mean square about the line in the third of rows with the lowest predictions, and the highest."""
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
