"""Differences of two numbers: limits recovered from their own limits, and tests that never contradict their limits.

Tests of two models on the same rows stand at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from evalpipe.arithmetic import exp, log
from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.analytic import FAILS, variance_of_mean
from evalpipe.intervals.binomial import wilson
from evalpipe.intervals.bootstrap import ROUNDING
from evalpipe.intervals.declare import interval
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.arraytypes import Flags, Floats


@interval(
    "recovered", title="recovery of variances",
    text="For a difference between two runs, or from a reference rate with limits, taken as independent samples. "
         "Combines the distances of the two values from their limits: the root of the sum of their squares. If the "
         "two share rows, it is wider than necessary.",
    ref="Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: a general "
    "approach. Statistics in Medicine 27(10), 1693–1702.")
def recovered_limits(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the limits of the first number less the second; each is (value, lower, upper) at one level.

    The method of variance estimates recovery of Zou & Donner (2008), eq. 4: L = d - sqrt((v1 - l1)^2 + (u2 - v2)^2),
    U = d + sqrt((u1 - v1)^2 + (v2 - l2)^2) with d = v1 - v2. It assumes that the two are independent: where they share
    rows the limits are wider than they need be. A limit on the wrong side of its value counts as at the value.
    """
    (v1, l1, u1), (v2, l2, u2) = first, second
    below, above = max(v1 - l1, 0.0), max(u1 - v1, 0.0)
    below2, above2 = max(v2 - l2, 0.0), max(u2 - v2, 0.0)
    return v1 - v2 - math.hypot(below, above2), v1 - v2 + math.hypot(above, below2)


@interval(
    "newcombe", title="Newcombe", fails=FAILS,
    for_={"net_benefit": sentence("net-benefit")},
    text="For the net benefit, a difference of two shares of the same rows, the second times the odds of the "
         "threshold. Combines the distances of the two shares from their Wilson limits, with the correlation that "
         "shares of the same rows have. Of few events, quantiles of replicates cover far too seldom.",
    ref="Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions based "
    "on paired data. Statistics in Medicine 17(22), 2635–2650; Zou, G. Y. & Donner, A. (2008). Construction of "
    "confidence limits about effect measures: a general approach. Statistics in Medicine 27(10), 1693–1702.")
def net_benefit_limits(
    total: Floats, events_reached: Floats, others_reached: Floats, options: Mapping[str, Floats | float], level: float
) -> tuple[Floats, Floats]:
    """Return the limits of p1 - w p2, with w the odds of the threshold, from those of the shares; shapes broadcast.

    p1 are the true positives and p2 the false ones, r is the correlation of two counts of one multinomial draw:
    L = d - sqrt((p1 - l1)^2 + w^2 (u2 - p2)^2 - 2 r w (p1 - l1) (u2 - p2)), and U likewise. Zou & Donner (2008), eq. 6.
    """
    threshold = np.asarray(options["threshold"], float)
    odds, first, second = threshold / (1 - threshold), events_reached / total, others_reached / total
    (l1, u1), (l2, u2) = (wilson(reached, total, level) for reached in (events_reached, others_reached))
    left = (1 - first) * (1 - second)
    correlation = -np.sqrt(first * second / np.where(left > 0, left, np.inf))

    def reach(of_first: Floats, of_second: Floats) -> Floats:
        return np.asarray(np.sqrt(of_first**2 + of_second**2 - 2 * correlation * of_first * of_second))

    value = first - odds * second
    return value - reach(first - l1, odds * (u2 - second)), value + reach(u1 - first, odds * (second - l2))


Limits = tuple[float, float]
MarginVerdict = Literal["beyond", "within", "undecided"]
Verdict = Literal["better", "equivalent", "worse", "undecided", "same", "no_direction", "untested"]

HALVINGS = 60
"""How often the bracket of a limit is halved: 2 / 2^60 is below the rounding of a proportion."""


class Contrast(Protocol):
    """A difference and the p-values of what it might be."""

    @property
    def value(self) -> float:
        """The difference that was observed."""

    def p(self, null: float) -> float:
        """Return the two-sided p-value of the hypothesis that the difference is ``null``; NaN where there is none."""

    def limits(self, level: float) -> Limits | None:
        """Return the limits: the differences on either side whose p-value is 1 - level."""


@interval(
    "paired_t", title="paired t",
    text="For a difference of means on the same rows, of losses or of scores of items: plus and minus the quantile of "
         "Student’s distribution times the standard error of the mean of the rows’ differences.",
    ref="Harvey, D., Leybourne, S. & Newbold, P. (1997). Testing the equality of prediction mean squared "
    "errors. International Journal of Forecasting 13(2), 281–291.")
@dataclass(frozen=True, slots=True)
class Wald:
    """A difference with its standard error, normal or Student's with so many degrees of ``freedom``. Wald (1943)."""

    value: float
    error: float
    freedom: float | None = None

    def p(self, null: float) -> float:
        """Return the two-sided p-value that the difference is ``null``; NaN where the error is but rounding."""
        from scipy.special import ndtr, stdtr

        if not self.error > ROUNDING * abs(self.value):
            return math.nan
        away = -abs(self.value - null) / self.error
        return float(2 * (ndtr(away) if self.freedom is None else stdtr(self.freedom, away)))

    def limits(self, level: float) -> Limits | None:
        """Return the value plus and minus the quantile times the error; None where the error is but rounding."""
        from scipy.special import ndtri, stdtrit

        if not self.error > ROUNDING * abs(self.value):
            return None
        tail = (1 + level) / 2
        reach = self.error * float(ndtri(tail) if self.freedom is None else stdtrit(self.freedom, tail))
        return self.value - reach, self.value + reach


@interval(
    "none_differs", title="no item differs",
    text="For a difference of mean scores of two models that score the same on every item. It is zero, and so in every "
         "resample, yet items that were not drawn may differ. The limits are the largest differences that leave n "
         "items alike with a probability of (1 − level) / 2, if no item differs by more than the range of scores.",
    ref="Hanley, J. A. & Lippman-Hand, A. (1983). If nothing goes wrong, is everything all right? Interpreting zero "
    "numerators. JAMA 249(13), 1743–1745.")
@dataclass(frozen=True, slots=True)
class NoneDiffers:
    """A difference of two means that is zero in each of ``n`` independent rows, and at most ``reach`` in any row.

    Where the mean difference is d, a row differs with a probability of d / reach at least. That none of n does has a
    probability of (1 - d / reach)^n at most: Hanley & Lippman-Hand (1983).
    """

    n: float
    reach: float

    @property
    def value(self) -> float:
        """Zero."""
        return 0.0

    def p(self, null: float) -> float:
        """Return twice the probability that no row differs, at most, where the difference is ``null``; 1 of none."""
        alike = 1 - abs(null) / self.reach
        return min(2 * float(exp(self.n * log(alike))), 1.0) if alike > 0 else 0.0

    def limits(self, level: float) -> Limits:
        """Return the differences for which that is 1 - level."""
        reach = self.reach * (1 - float(exp(log((1 - level) / 2) / self.n)))
        return -reach, reach


@interval(
    "tango", title="Tango score",
    text="For a difference of two proportions of the same rows: the differences that the score test does not reject; "
         "its test of no difference is McNemar’s test.",
    ref="Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the "
    "paired-sample design. Statistics in Medicine 17(8), 891–908.")
@dataclass(frozen=True, slots=True)
class PairedProportions:
    """Two proportions of the same ``rows``: successes of the first alone, and of the second alone.

    The score test of Tango (1998), Statistics in Medicine 17, eq. 13; of no difference it is that of McNemar (1947)
    without a correction, (b - c)^2 / (b + c). Fagerland, Lydersen & Laake (2014) recommend both.
    """

    only_first: float
    only_second: float
    rows: float

    @property
    def value(self) -> float:
        """The first proportion less the second."""
        return (self.only_first - self.only_second) / self.rows

    def p(self, null: float) -> float:
        """Return the two-sided p-value that the difference is ``null``, from -1 to 1."""
        n, b, c = self.rows, self.only_first, self.only_second
        linear = (2 * n - b + c) * null - b - c
        root = math.sqrt(max(linear**2 + 8 * n * c * null * (1 - null), 0.0))
        discordant = (root - linear) / (4 * n)  # the second's, under the hypothesis
        return _p_of_score(b - c - n * null, n * (2 * discordant + null * (1 - null)), n)

    def limits(self, level: float) -> Limits | None:
        """Return the differences whose p-value is 1 - level."""
        return _inverted_limits(self.p, self.value, level, (-1.0, 1.0))


@interval(
    "miettinen_nurminen", title="Miettinen-Nurminen score",
    text="For a difference of two proportions of separate rows: the differences that the score test does not reject. "
         "A slice against all rows is computed as the slice against the rest, times the share of the rest.",
    ref="Miettinen, O. & Nurminen, M. (1985). Comparative analysis of two rates. Statistics in "
    "Medicine 4(2), 213–226.")
@dataclass(frozen=True, slots=True)
class IndependentProportions:
    """Two proportions of rows that are not shared: successes among trials of each; their difference times ``scale``.

    The score test of Mee (1984) with the variance of Miettinen & Nurminen (1985), Statistics in Medicine 4, eq. 8 and
    appendix I; of no difference it is Pearson's, times (N - 1) / N: Campbell (2007). A part differs from the whole that
    holds it by its difference from the rest times the share of the rest: that is what ``scale`` is for.
    """

    successes: float
    trials: float
    other_successes: float
    other_trials: float
    scale: float = 1.0

    @property
    def value(self) -> float:
        """The first proportion less the second, times the scale."""
        return self.scale * (self.successes / self.trials - self.other_successes / self.other_trials)

    def p(self, null: float) -> float:
        """Return the two-sided p-value that the difference is ``null``, from -scale to scale."""
        gap, m, n = null / self.scale, self.trials, self.other_trials
        first, second = self.successes / m, self.other_successes / n
        low = self._restricted_proportion(gap)
        variance = low * (1 - low) / n + (low + gap) * (1 - low - gap) / m
        return _p_of_score(first - second - gap, variance * (m + n) / (m + n - 1), 1.0)

    def _restricted_proportion(self, gap: float) -> float:
        """Return the maximum-likelihood estimate of the second proportion where the first is larger by ``gap``."""
        m, n, x, y = self.trials, self.other_trials, self.successes, self.other_successes
        cubic = [
            m + n, (m + 2 * n) * gap - m - n - x - y, (n * gap - m - n - 2 * y) * gap + x + y, y * gap * (1 - gap)]
        a, b, c, d = cubic
        q = b * b * b / (27 * a * a * a) - b * c / (6 * a**2) + d / (2 * a)
        r = math.copysign(math.sqrt(max(b**2 / (3 * a) ** 2 - c / (3 * a), 0.0)), q)
        # The likelihood is highest at one of the three roots of the cubic: that of this angle, which is a proportion.
        # Rounding may take the cosine beyond 1.
        angle = (math.pi + math.acos(min(max(q / (r * r * r), -1.0), 1.0))) / 3 if r else math.pi / 2
        return min(max(2 * r * math.cos(angle) - b / (3 * a), 0.0, -gap), 1.0, 1 - gap)

    def limits(self, level: float) -> Limits | None:
        """Return the differences whose p-value is 1 - level."""
        return _inverted_limits(self.p, self.value, level, (-self.scale, self.scale))


def _p_of_score(away: float, variance: float, size: float) -> float:
    """Return the two-sided p-value of a score statistic; without a variance, 1 of no distance and 0 of any."""
    from scipy.special import ndtr

    if variance <= ROUNDING * size:
        return 1.0 if abs(away) <= ROUNDING * size else 0.0
    return float(2 * ndtr(-abs(away) / math.sqrt(variance)))


def _inverted_limits(p: Callable[[float], float], value: float, level: float, ends: Limits) -> Limits:
    """Return the two differences around ``value`` whose p-value ``p(difference)`` is 1 - level, by bisection.

    They lie within ``ends``, the least and the largest possible difference.
    """
    limits = []
    for end in ends:
        inside, outside = value, end
        if p(end) >= 1 - level:
            inside = outside
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if p(middle) >= 1 - level else (inside, middle)
        limits.append(inside)
    return limits[0], limits[1]


def equivalence_p_value(contrast: Contrast, margin: float) -> float:
    """Return the p-value of a difference being within, or beyond, an equivalence margin, whichever was observed.

    It is the least error level at which limits show that. Without a margin (0) it is the p-value of no difference.
    Beyond the margin it is that of the margin's near end; within, the larger of those of its two ends: two one-sided
    tests, each at half the level (Schuirmann 1987; Lakens 2017). NaN where the contrast has no p-value.
    """
    if margin == 0:
        return contrast.p(0.0)
    if abs(contrast.value) > margin:
        return contrast.p(math.copysign(margin, contrast.value))
    return max(contrast.p(margin), contrast.p(-margin))


def verdict(
    value: float, p: float, p_zero: float, level: float, margin: float,
    direction: Literal["maximize", "minimize", "none"],
) -> Verdict:
    """Say what a difference of model less baseline means by two p-values, both adjusted or neither.

    ``p`` tests that it lies on its side of the margin, ``p_zero`` that there is none; without a margin they are one.
    ``equivalent`` where ``p`` is below 1 - level and the difference within the margin. Else ``better`` or ``worse``, in
    the measure's good or bad direction, where either is: a margin hides no harm. Else ``undecided``. A measure without
    a direction is never better or worse: ``no_direction``, also where there is no margin and so nothing to decide.
    ``untested`` without a p-value.
    """
    if math.isnan(p):
        return "untested"
    if direction == "none" and margin == 0:
        return "no_direction"
    if passes(p, level) and abs(value) <= margin:
        return "equivalent"
    if direction == "none":
        return "no_direction" if passes(p, level) else "undecided"
    if not passes(min(p, p_zero), level):
        return "undecided"
    return "better" if (value > 0) == (direction == "maximize") else "worse"


def margin_verdict(decided: Verdict, p: float, level: float, margin: float) -> MarginVerdict | None:
    """Return whether a difference with the verdict ``decided`` is shown to lie beyond or within the equivalence margin.

    ``p`` is the p-value that it lies on its side of the margin. ``undecided`` where neither is shown; None without a
    margin, and where the verdict is no decision.
    """
    if not margin or decided not in ("better", "worse", "equivalent"):
        return None
    if decided == "equivalent":
        return "within"
    return "beyond" if passes(p, level) else "undecided"


def passes(p: float, level: float) -> bool:
    """Tell whether a p-value is below 1 - level; NaN is not."""
    # 1 - 0.95 is a little more than 0.05 in floats, and a p-value of 0.05 itself must not pass.
    return p < round(1 - level, 12)


def verdict_of_limits(
    lower: float | None, upper: float | None, direction: Literal["maximize", "minimize", "none"]
) -> Verdict:
    """Return the verdict on a difference by its limits alone: better or worse where they exclude 0.

    ``untested`` without limits, ``undecided`` where they include 0, ``no_direction`` for a measure without a
    direction.
    """
    if lower is None or upper is None:
        return "untested"
    if direction == "none":
        return "no_direction"
    if lower <= 0 <= upper:
        return "undecided"
    return "better" if (lower > 0) == (direction == "maximize") else "worse"


def paired_auc(truth: Flags, first: Floats, second: Floats, weight: Floats | None = None) -> Wald:
    """Return the area under the ROC curve of the first scores less that of the second, on the same rows [n].

    The normal contrast of DeLong, DeLong & Clarke-Pearson (1988). ``truth`` [n] flags the events, scores [n] rise with
    their chance and are never NaN, ``weight`` [n] says how many observations a row stands for. The error is 0 where
    placements do not vary, as those of scores in the same order or of two that both separate the classes: that says
    nothing of other rows. NaN without a class; the error is NaN with fewer than two rows of one.
    """
    counts = np.ones(len(truth)) if weight is None else np.asarray(weight, float)
    if min(counts[truth].sum(), counts[~truth].sum()) <= 0:
        return Wald(math.nan, math.nan)
    ours, theirs = (_placements(truth, np.asarray(score, float), counts) for score in (first, second))
    # Of each row's difference and not from the two areas' variances, so that equal orders differ by exactly nothing.
    gaps = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    variance = variance_of_mean(gaps[0], counts[truth]) + variance_of_mean(gaps[1], counts[~truth])
    return Wald(float(np.average(gaps[0], weights=counts[truth])), math.sqrt(variance))


def _placements(truth: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the share of non-events scored below each event, and of events above each non-event; ties count half."""
    return (
        _share_below(score[truth], score[~truth], weight[~truth]),
        1 - _share_below(score[~truth], score[truth], weight[truth]),
    )


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """Return for each score [n] the share of ``others`` [m], by their weight, that is lower; ties count half."""
    order = np.argsort(others)
    below, ranked = np.append(0.0, np.cumsum(weight[order])), others[order]
    below_score, up_to_score = (below[np.searchsorted(ranked, score, side)] for side in ("left", "right"))
    share: Floats = (below_score + up_to_score) / (2 * below[-1])
    return share


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


def diebold_mariano(first_losses: Floats, second_losses: Floats, weight: Floats | None = None) -> Wald:
    """Return the mean difference of two models' losses on the same rows [n] with its standard error, as a `Wald`.

    Diebold & Mariano (1995) with the correction of Harvey, Leybourne & Newbold (1997), eq. 9, for forecasts one step
    ahead: the statistic is multiplied by sqrt((n - 1) / n) and held against Student's distribution with n - 1 degrees
    of freedom. So corrected it is the paired t test. Rows are independent; ``weight`` [n] says how many observations a
    row stands for. The error is 0 where the losses differ by the same in every row, NaN with fewer than two rows.
    """
    gaps = np.asarray(first_losses, float) - np.asarray(second_losses, float)
    counts = np.ones(len(gaps)) if weight is None else np.asarray(weight, float)
    count = float(counts.sum())
    mean = float((counts * gaps).sum()) / count if count else math.nan
    squares = float((counts * (gaps - mean) ** 2).sum())
    error = math.sqrt(squares / (count - 1) / count) if count >= 2 else math.nan
    return Wald(mean, error, max(count - 1, 1.0))
