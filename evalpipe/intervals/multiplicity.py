"""P-values of several tests, adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats


def holm(p: Floats | Sequence[float]) -> Floats:
    """Return p-values adjusted so that the chance of any false rejection stays below the level.

    Of m p-values the i-th smallest is multiplied by m - i + 1, never falling, at most 1; the tests may depend on each
    other in any way. Shapes are kept; NaN is no test: it stays NaN and is not counted. Holm (1979).
    """
    return _adjusted(p, lambda ranked: np.maximum.accumulate(ranked * np.arange(len(ranked), 0, -1)))


def benjamini_hochberg(p: Floats | Sequence[float]) -> Floats:
    """Return p-values adjusted so that the expected share of false ones among the rejections stays below the level.

    Of m p-values the i-th smallest is multiplied by m / i, never rising towards smaller ones, at most 1; for tests that
    are independent or positively dependent. Shapes are kept; NaN is no test: it stays NaN and is not counted. Benjamini
    & Hochberg (1995).
    """

    def step(ranked: Floats) -> Floats:
        factors = len(ranked) / np.arange(1, len(ranked) + 1)
        return np.minimum.accumulate((ranked * factors)[::-1])[::-1]

    return _adjusted(p, step)


def _adjusted(p: Floats | Sequence[float], step: Callable[[Floats], Floats]) -> Floats:
    """Apply a step to the ascending p-values and put each back in its place."""
    given = np.asarray(p, float)
    known = ~np.isnan(given)
    family, adjusted = given[known], np.full_like(given, np.nan)
    order = np.argsort(family, kind="stable")
    family[order] = np.minimum(step(family[order]), 1.0)
    adjusted[known] = family
    return adjusted
