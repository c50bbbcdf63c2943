"""How judges of the same answers differ: the variance of items and of judges, and the agreement of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


def judge_components(scores: Floats, weights: Floats | None = None) -> tuple[float, float, float, float]:
    """Return the variance of items, of judges and of the rest in ``scores`` [items, judges], and the ICC(2,1); or NaN.

    Two-way crossed analysis of variance with random items and judges: Searle, Casella & McCulloch (1992), Variance
    Components, chapter 4. With ``weights`` [items] the sums of squares are weighted, and are set equal to their
    expectations all the same. Variances below 0 are set to 0 after the ICC, that of Shrout & Fleiss (1979), is taken.
    """
    weight = np.ones(len(scores)) if weights is None else weights
    judges, whole = scores.shape[1], weight.sum()
    away = scores - scores[0, 0]  # what is the same everywhere has a variance of exactly 0
    by_item, by_judge = away.mean(axis=1), ratio((weight[:, None] * away).sum(axis=0), whole)
    mean, share = by_judge.mean(), ratio((weight * weight).sum(), whole * whole)
    free = whole * (1 - share)
    left = away - by_item[:, None] - by_judge + mean
    rest = ratio((weight[:, None] * left * left).sum(), free * (judges - 1))
    of_items = ratio((weight * (by_item - mean) ** 2).sum(), free) - rest / judges
    of_judges = ratio(((by_judge - mean) ** 2).sum(), judges - 1) - rest * share
    agreement = ratio(of_items, of_items + of_judges + rest)
    return float(np.maximum(of_items, 0.0)), float(np.maximum(of_judges, 0.0)), float(rest), float(agreement)
