"""Two models on the same rows: tests of their difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.bootstrap import ROUNDING

if TYPE_CHECKING:
    from evalpipe.arraytypes import Flags, Floats


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model less the second, in units of the measure, and the test that it is nothing.

    ``error`` is the standard error, ``statistic`` the difference over it, ``p_value`` two-sided. ``limits`` are None,
    and the rest is NaN, where the rows cannot tell: too few of them, or a difference that does not vary.
    """

    value: float
    error: float
    statistic: float
    p_value: float
    limits: tuple[float, float] | None


def _tested(value: float, error: float, level: float, freedom: float | None, *, same: bool) -> Difference:
    """Compare a difference with its standard error: normal, or Student's with so many degrees of freedom.

    Without spread, a difference of zero has the p-value 1; only models that are the ``same`` on every row have limits.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    if error > ROUNDING * abs(value):
        statistic, tail = value / error, (1 + level) / 2
        p_value = 2 * (ndtr(-abs(statistic)) if freedom is None else stdtr(freedom, -abs(statistic)))
        reach = error * (ndtri(tail) if freedom is None else stdtrit(freedom, tail))
        return Difference(value, error, statistic, float(p_value), (float(value - reach), float(value + reach)))
    if math.isnan(error) or value != 0:
        return Difference(value, error, math.nan, math.nan, None)
    return Difference(0.0, 0.0, math.nan, 1.0, (0.0, 0.0) if same else None)


def delong_covariance(truth: Flags, scores: Floats, weight: Floats | None = None) -> Floats:
    """Return the covariance [M, M] of the areas under the ROC curves of M models on the same rows.

    ``truth`` [n] flags the events, ``scores`` [M, n] rise with their chance and are never NaN, ``weight`` [n] says how
    many observations a row stands for. S10 / m + S01 / n of DeLong, DeLong & Clarke-Pearson (1988), where S10 and S01
    are the sample covariances of the models' placements over the m events and the n others; placements come from sorted
    scores as in Sun & Xu (2014), in O(M n log n). NaN with fewer than two rows of a class.
    """
    counts = np.ones(len(truth)) if weight is None else np.asarray(weight, float)
    covariance = np.zeros((len(scores), len(scores)))
    if min(counts[truth].sum(), counts[~truth].sum()) < 2:
        return np.full_like(covariance, np.nan)
    placed = [_placements(truth, score, counts) for score in np.asarray(scores, float)]
    for values, heavy in zip(zip(*placed, strict=True), (counts[truth], counts[~truth]), strict=True):
        away = np.stack([(value - np.average(value, weights=heavy)) * np.sqrt(heavy) for value in values])
        # einsum and not a matrix product, whose last bits would depend on the number of threads.
        covariance += np.einsum("in,jn->ij", away, away) / (heavy.sum() - 1) / heavy.sum()
    return covariance


def paired_auc(truth: Flags, first: Floats, second: Floats, level: float, weight: Floats | None = None) -> Difference:
    """Return the area under the ROC curve of the first scores less that of the second, on the same rows [n].

    The normal test and limits of DeLong, DeLong & Clarke-Pearson (1988) for the contrast (1, -1). Its variance is taken
    from each row's difference of placements, so that scores in the same order differ by exactly nothing, with limits
    (0, 0) and p-value 1. Two different orders that both separate the classes have p-value 1 and no limits: placements
    that do not vary say nothing of other rows. ``weight`` is as in `delong_covariance`. NaN without a class; all but
    the difference is NaN with fewer than two rows of one.
    """
    counts = np.ones(len(truth)) if weight is None else np.asarray(weight, float)
    if min(counts[truth].sum(), counts[~truth].sum()) <= 0:
        return Difference(math.nan, math.nan, math.nan, math.nan, None)
    ours, theirs = (_placements(truth, np.asarray(score, float), counts) for score in (first, second))
    gaps = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    value = float(np.average(gaps[0], weights=counts[truth]))
    variance = _variance_of_mean(gaps[0], counts[truth]) + _variance_of_mean(gaps[1], counts[~truth])
    same = variance == 0 and _same_order(*(np.asarray(score)[counts > 0] for score in (first, second)))
    return _tested(value, math.sqrt(variance), level, None, same=same)


def _placements(truth: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return for each event the share of non-events below it, for each non-event that of events above it; ties half."""
    return (
        _share_below(score[truth], score[~truth], weight[~truth]),
        1 - _share_below(score[~truth], score[truth], weight[truth]),
    )


def _share_below(score: Floats, among: Floats, weight: Floats) -> Floats:
    order = np.argsort(among)
    below, ranked = np.append(0.0, np.cumsum(weight[order])), among[order]
    left, right = (below[np.searchsorted(ranked, score, side)] for side in ("left", "right"))
    share: Floats = (left + right) / (2 * below[-1])
    return share


def _variance_of_mean(values: Floats, counts: Floats) -> float:
    """Return the sample variance of values that occur so often, over their number; NaN of fewer than two."""
    total = float(counts.sum())
    away = values - np.average(values, weights=counts)
    return float((counts * away**2).sum()) / (total - 1) / total if total >= 2 else math.nan


def _same_order(first: Floats, second: Floats) -> bool:
    places = [np.unique(scores, return_inverse=True)[1] for scores in (first, second)]
    return bool((places[0] == places[1]).all())


def mcnemar(b: float, c: float) -> tuple[float, float]:
    """Return the exact and the mid-P two-sided p-values that two models are wrong equally often.

    ``b`` and ``c`` count the rows that only the first, and only the second, gets right; whole numbers. The exact test
    is binomial given b + c: McNemar (1947). The mid-P value is lower by the probability of what was seen, by half of it
    where b = c; it is not bound to keep its level, but holds it in practice and has more power: Fagerland, Lydersen &
    Laake (2013). Both are 1 where the models never disagree.
    """
    from scipy.special import betainc

    few, disagree = min(b, c), b + c
    if disagree == 0:
        return 1.0, 1.0

    def up_to(k: float) -> float:
        """Return the probability of at most k out of b + c at one half, k below b + c."""
        return float(betainc(disagree - k, k + 1, 0.5)) if k >= 0 else 0.0

    at_most, below = up_to(few), up_to(few - 1)
    if b == c:
        return 1.0, 1 - (at_most - below) / 2
    return min(1.0, 2 * at_most), at_most + below


def diebold_mariano(
    first_losses: Floats, second_losses: Floats, weight: Floats | None = None, *, level: float = 0.95
) -> Difference:
    """Return the mean of the first losses less that of the second, on the same rows [n], and its test.

    Diebold & Mariano (1995) with the correction of Harvey, Leybourne & Newbold (1997), eq. 9, for forecasts one step
    ahead: the statistic is multiplied by sqrt((n - 1) / n) and held against Student's distribution with n - 1 degrees
    of freedom. So corrected it is the paired t test. Rows are independent; ``weight`` [n] says how many observations a
    row stands for. Models of equal loss in every row have p-value 1 and limits (0, 0); a difference that does not vary
    but is not zero, or fewer than two rows, have neither.
    """
    gaps = np.asarray(first_losses, float) - np.asarray(second_losses, float)
    counts = np.ones(len(gaps)) if weight is None else np.asarray(weight, float)
    count = float(counts.sum())
    mean = float((counts * gaps).sum()) / count if count else math.nan
    return _student(count, mean, float((counts * (gaps - mean) ** 2).sum()), level)


def diebold_mariano_sums(count: float, total: float, squares: float, *, level: float = 0.95) -> Difference:
    """Return what `diebold_mariano` does from sums over rows of the differences of losses: how many, total, squares.

    A spread that is within rounding of the squares counts as none.
    """
    mean = total / count if count else math.nan
    spread = squares - total * mean if count else math.nan
    return _student(count, mean, 0.0 if spread < ROUNDING * squares else spread, level)


def _student(count: float, mean: float, spread: float, level: float) -> Difference:
    """Test a mean with so large a sum of squares about it."""
    if count < 2:
        return Difference(mean, math.nan, math.nan, math.nan, None)
    return _tested(mean, math.sqrt(spread / (count - 1) / count), level, count - 1, same=spread == 0)
