"""The items that decide: on which models differ at all, which carry a difference, and which topic turns its sign.

All functions take scores of items, NaN where a model lacks one, and ``weights`` [items], how much an item counts.
Numbers closer than `TIE` of the largest are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.scores.compute_strength import TIE
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes


def item_spread(means: Floats, weights: Floats | None = None) -> tuple[float, Floats]:
    """Return how models differ on items, from ``means`` [items, models].

    First the share of items, by weight, on which all models have the same score, of those that two models have; NaN
    where there are none. Then the part of each item [items] in the total over items of the variance across models; NaN
    where no item has any.
    """
    weight = np.ones(len(means)) if weights is None else np.asarray(weights, float)
    has = ~np.isnan(means)
    count = has.sum(axis=1)
    lowest, highest = (np.where(has, means, end) for end in (np.inf, -np.inf))
    several = count > 1
    alike = several & (highest.max(axis=1) - lowest.min(axis=1) <= _near(means))
    center = ratio(np.where(has, means, 0.0).sum(axis=1), count)[:, None]
    squares = np.where(has & ~alike[:, None], (means - center) * (means - center), 0.0).sum(axis=1)
    spread = weight * ratio(squares, count, empty=0.0)
    return float(ratio((weight * alike).sum(), (weight * several).sum())), ratio(spread, spread.sum())


def items_at(means: Floats, end: float) -> int:
    """Return the number of items on which all models that have one have the score ``end``."""
    has = ~np.isnan(means)
    return int((has.any(axis=1) & (~has | (np.abs(means - end) <= _near(means))).all(axis=1)).sum())


def _near(means: Floats) -> float:
    """Return how far apart two scores may lie and be the same."""
    return TIE * float(np.max(np.abs(means), initial=0.0, where=~np.isnan(means)))


def pair_items(
    first: Floats, second: Floats, cluster: Wholes | None = None, weights: Floats | None = None
) -> tuple[int | None, list[int]]:
    """Return what carries the difference of two models' scores, ``first`` and ``second`` [items].

    First the smallest number of items that add up to half of it or more, None without a difference. Items that favour
    the other model take from it: so a few may carry half of it, or all. Then the clusters without which it is 0 or has
    the other sign; ``cluster`` [items] numbers them from 0.
    """
    differences = first - second
    has = ~np.isnan(differences)
    weight = np.where(has, 1.0 if weights is None else weights, 0.0)
    share = ratio(weight, weight.sum())
    contributions = np.where(weight > 0, share * differences, 0.0)
    difference = float(contributions.sum())
    near = TIE * float(np.abs(contributions).sum())
    turning: list[int] = []
    if not abs(difference) > near:
        return None, turning
    sign = 1 if difference > 0 else -1
    carried = -np.sort(-sign * contributions[sign * contributions > 0])
    carriers = int((np.cumsum(carried) < abs(difference) / 2 - near).sum()) + 1
    if cluster is not None:
        left, others = difference - np.bincount(cluster, contributions), 1 - np.bincount(cluster, share)
        turning = np.flatnonzero((others > TIE) & (sign * left <= near)).tolist()
    return carriers, turning
