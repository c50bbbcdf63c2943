"""Two models on the same rows: tests of their difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.analytic import variance_of_mean
from evalpipe.intervals.contrasts import Wald

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats


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
    """Return the mean of the first losses less that of the second, on the same rows [n], as a contrast.

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
