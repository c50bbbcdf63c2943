"""P-values of several tests, adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


def holm(p: Floats | Sequence[float], weights: Sequence[float] | None = None) -> Floats:
    """Return p-values adjusted so that the chance of any false rejection stays below the level.

    Of m p-values the i-th smallest is multiplied by m - i + 1, never falling, at most 1; the tests may depend on each
    other in any way. ``weights`` share the error unequally: a p-value counts by its weight, and is multiplied by the
    weights that are left over its own. Shapes are kept; NaN is no test: it stays NaN and is not counted. Holm (1979).
    """
    given = np.asarray(p, float)
    share = np.ones_like(given) if weights is None else np.asarray(weights, float)

    def step(ranked: Floats, ranked_share: Floats) -> Floats:
        left = np.cumsum(ranked_share[::-1])[::-1]
        return np.maximum.accumulate(ranked * left / ranked_share)

    return _adjusted(given, step, share)


def benjamini_hochberg(p: Floats | Sequence[float]) -> Floats:
    """Return p-values adjusted so that the expected share of false ones among the rejections stays below the level.

    Of m p-values the i-th smallest is multiplied by m / i, never rising towards smaller ones, at most 1; for tests that
    are independent or positively dependent. Shapes are kept; NaN is no test: it stays NaN and is not counted. Benjamini
    & Hochberg (1995).
    """

    def step(ranked: Floats, _: Floats) -> Floats:
        factors = len(ranked) / np.arange(1, len(ranked) + 1)
        return np.minimum.accumulate((ranked * factors)[::-1])[::-1]

    given = np.asarray(p, float)
    return _adjusted(given, step, np.ones_like(given))


def _adjusted(given: Floats, step: Callable[[Floats, Floats], Floats], share: Floats) -> Floats:
    """Apply a step to the p-values, ascending by weight, with their weights, and put each back in its place."""
    known = ~np.isnan(given)
    family, share, adjusted = given[known], share[known], np.full_like(given, np.nan)
    order = np.argsort(family / share, kind="stable")
    family[order] = np.minimum(step(family[order], share[order]), 1.0)
    adjusted[known] = family
    return adjusted
