"""Ranks of rows: ties that a map of predictions makes by rounding, and groups cut from rows in order of score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.rows import Groups

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.statistics import Summary


MIDDLE = 0.5
"""Values from here on are moved down and others up, so that probabilities stay between 0 and 1."""


def break_ties(values: Floats, ranking: Floats) -> Floats:
    """Return the values [n] with equal ones moved to neighbouring floats, to be in the order of ``ranking`` [n].

    A monotone map keeps the order of its arguments, but rounds results near 0 and 1 to the same number. Rows of equal
    rank stay equal.
    """
    order = np.lexsort((ranking, values))
    value, rank = values[order] + 0.0, ranking[order]
    is_first = np.r_[True, (value[1:] != value[:-1]) | (rank[1:] != rank[:-1])]
    steps = _ordinal(value[is_first].view(np.int64))
    if (np.diff(steps) > 0).all():
        return values
    below_middle = int(np.searchsorted(value[is_first], MIDDLE))
    index = np.arange(len(steps))
    # Steps that rise by at least 1 each, as index does: below the middle moved up, from it on moved down.
    up = np.maximum.accumulate(steps[:below_middle] - index[:below_middle]) + index[:below_middle]
    from_last = slice(None, below_middle - 1 if below_middle else None, -1)
    down = np.minimum.accumulate((steps - index)[from_last]) + index[from_last]
    moved = np.maximum.accumulate(_ordinal(np.concatenate([up, down[::-1]])).view(np.float64))
    untied = np.empty_like(value)
    untied[order] = moved[np.cumsum(is_first) - 1]
    return untied


def mid_ranks(values: Floats, weights: Floats) -> Floats:
    """Return the weight of the rows below each of the values [n], plus half of the weight of the rows equal to it."""
    groups = Groups.by(values)
    totals = groups.totals(weights)
    ranks = np.empty(len(values))
    ranks[groups.order] = np.repeat(np.cumsum(totals) - totals / 2, np.diff(groups.starts, append=len(values)))
    return ranks


def _ordinal(bits: Wholes) -> Wholes:
    """Map the bits of floats to integers in the floats' order, neighbours differing by 1; or integers to bits."""
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


ROUNDING = 1e-12
"""A share of all weight by which sums of weights may differ from rounding alone."""


def cumulative_groups(summary: Summary, groups: int, *, counted: bool) -> tuple[Floats, Floats]:
    """Return the weight of the rows, and of the events, down to the end of each group: both [..., groups + 1], from 0.

    Groups of equal weight are cut from the rows in order of score, the highest first. ``counted`` says that weights
    count observations, which no cut may divide.
    """
    events, others = summary("events_from"), summary("others_from")
    selected = events + others
    cuts = selected[..., :1] * np.arange(groups + 1) / groups
    # Rounded first, so that a cut that is an integer but for rounding takes no further row.
    cuts = np.ceil(np.round(cuts, 9)) if counted else cuts
    flat = zip(*(values.reshape(-1, values.shape[-1]) for values in (cuts, selected, events)), strict=True)
    captured = [np.interp(cut_weights, np.r_[0.0, x[::-1]], np.r_[0.0, y[::-1]]) for cut_weights, x, y in flat]
    return cuts, np.reshape(captured, cuts.shape)


def groups_of(score: Floats, weights: Floats, groups: int, *, counted: bool) -> tuple[Wholes, Wholes]:
    """Return the first and the last of ``groups`` of equal weight, from 1, that each row is in: both [n].

    Tied rows are in the same groups. First and last differ where a cut divides tied rows, or a row of frequency weight
    above one. ``counted`` says that weights count observations, which no cut may divide.
    """
    _, score_index = np.unique(score, return_inverse=True)
    weight_of_score = np.bincount(score_index, weights)[::-1]  # from the highest score down
    ends = np.cumsum(weight_of_score)
    cuts = ends[-1] * np.arange(1, groups + 1) / groups
    cuts = np.ceil(np.round(cuts, 9)) if counted else cuts
    # A sum of weights that is a cut but for rounding is that cut.
    slack = ROUNDING * ends[-1]
    first = np.searchsorted(cuts, ends - weight_of_score + slack, side="right")
    last = np.maximum(first, np.searchsorted(cuts, ends - slack, side="left"))
    descending_index = len(weight_of_score) - 1 - score_index
    return np.asarray(first[descending_index] + 1), np.asarray(last[descending_index] + 1)
