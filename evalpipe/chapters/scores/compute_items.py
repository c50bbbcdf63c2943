"""The items that decide: on which models differ at all, which carry a difference, and which topic turns its sign.

All functions take scores of items, NaN where a model lacks one, and ``weights`` [items], how much an item counts.
Numbers closer than `TIE` of the largest are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.chapters.scores.compute_strength import TIE
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes


class ItemSpread(NamedTuple):
    """How models differ on items, each [items] unless stated otherwise.

    ``alike`` is the share of items, by weight, on which all models have the same score, of those that two models have;
    NaN where there are none. ``spread`` is the part of an item in the total over items of the variance across models;
    NaN where no item has any. ``none_solve`` and ``all_solve`` are the items on which all models have the worst and the
    best score; false where no model has it.
    """

    alike: float
    spread: Floats
    none_solve: Flags
    all_solve: Flags


class PairItems(NamedTuple):
    """Where the difference of two models comes from.

    ``carriers`` is the smallest number of items that add up to half of the difference or more, None where there is
    none. ``turning`` are the clusters without which the difference is 0 or has the other sign.
    """

    carriers: int | None
    turning: Wholes


def item_spread(means: Floats, worst: float, best: float, weights: Floats | None = None) -> ItemSpread:
    """Return how models differ on items, from ``means`` [items, models] and the ends of the range of scores.

    An end that the range lacks is infinite or NaN; no item is then at it.
    """
    weight = np.ones(len(means)) if weights is None else np.asarray(weights, float)
    has = ~np.isnan(means)
    count = has.sum(axis=1)
    near = TIE * np.max(np.abs(means), initial=0.0, where=has)
    lowest, highest = (np.where(has, means, end) for end in (np.inf, -np.inf))
    several = count > 1
    alike = several & (highest.max(axis=1) - lowest.min(axis=1) <= near)
    center = ratio(np.where(has, means, 0.0).sum(axis=1), count)[:, None]
    squares = np.where(has & ~alike[:, None], (means - center) * (means - center), 0.0).sum(axis=1)
    spread = weight * ratio(squares, count, empty=0.0)
    none_solve, all_solve = (
        (count > 0) & (~has | (np.abs(means - end) <= near)).all(axis=1) for end in (worst, best))
    return ItemSpread(float(ratio((weight * alike).sum(), (weight * several).sum())), ratio(spread, spread.sum()),
                      none_solve, all_solve)


def pair_items(
    first: Floats, second: Floats, cluster: Wholes | None = None, weights: Floats | None = None
) -> PairItems:
    """Return which items carry the difference of two models' scores, ``first`` and ``second`` [items].

    ``cluster`` [items] numbers the topics from 0; without it no cluster is left out. Items that favour the other model
    take from the difference: so a few may carry half of it, or all.
    """
    differences = first - second
    has = ~np.isnan(differences)
    weight = np.where(has, 1.0 if weights is None else weights, 0.0)
    share = ratio(weight, weight.sum())
    contributions = np.where(weight > 0, share * differences, 0.0)
    difference = float(contributions.sum())
    near = TIE * float(np.abs(contributions).sum())
    turning = np.empty(0, np.intp)
    if abs(difference) <= near:
        return PairItems(None, turning)
    sign = 1 if difference > 0 else -1
    carried = -np.sort(-sign * contributions[sign * contributions > 0])
    carriers = int((np.cumsum(carried) < abs(difference) / 2 - near).sum()) + 1
    if cluster is not None:
        left, others = difference - np.bincount(cluster, contributions), 1 - np.bincount(cluster, share)
        turning = np.flatnonzero((others > TIE) & (sign * left <= near))
    return PairItems(carriers, turning)
