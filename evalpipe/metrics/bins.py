"""Bins of equal weight and quantiles along ordered scores, and totals in bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Wholes

ROUNDING = 1e-9
"""A share of the weight that misses the border of a bin by less than this part of a bin misses it by rounding alone."""


def equal_weight(at: Floats, bins: int) -> Wholes:
    """Return the bin [..., m] of each distinct score, in ascending order, from the weights ``at`` the scores [..., m].

    A score belongs to bin floor(``bins`` x weight below it / all weight): equal scores are never split and go where the
    first of them falls, so bins may stay empty. Where all weight is zero every score is of bin 0.
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    share = (running - at) / np.where(total > 0, total, 1.0)
    # A score of no weight above all others lies at share 1, which is of the last bin.
    return np.minimum((bins * share + ROUNDING).astype(np.intp), bins - 1)


def totals_in(bin_of_value: Wholes, values: Floats, bins: int) -> Floats:
    """Return the total of ``values`` [..., m] in each of ``bins`` bins, [..., bins]; ``bin_of_value`` is [..., m]."""
    flat = values.reshape(-1, values.shape[-1])
    first = np.arange(len(flat))[:, None] * bins
    # A count of weights adds them one after the other, so that a batch sums in the order of a single row.
    totals = np.bincount((bin_of_value.reshape(flat.shape) + first).ravel(), flat.ravel(), len(flat) * bins)
    return np.asarray(totals.reshape(*values.shape[:-1], bins), float)


def quantile(at: Floats, values: Floats, share: float) -> Floats:
    """Return the weighted quantile [...] of ascending ``values`` [..., m] with the weight ``at`` each of them.

    The mean of two neighbours where exactly ``share`` of the weight lies at or below the first of them (type 2 of
    Hyndman & Fan, 1996), so that the quantile of the reversed order is the same, and a weight of 3 is three rows.
    """
    return quantiles(at, values, (share,))[..., 0]


def quantiles(at: Floats, values: Floats, shares: Sequence[float]) -> Floats:
    """Return the weighted quantiles [..., k] at ``shares`` [k] of ascending ``values``, with the weight ``at`` each.

    The mean of two neighbours where exactly a share of the weight lies at or below the first of them (type 2).
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    # Looked up a little below and above each share: the two differ only where a value ends exactly at the share.
    parts = [share + side for side in (-ROUNDING, ROUNDING) for share in shares]
    indices = np.stack([(running < total * part).sum(axis=-1) for part in parts], axis=-1)
    low, high = np.split(np.take_along_axis(values, np.minimum(indices, at.shape[-1] - 1), axis=-1), 2, axis=-1)
    return np.asarray((low + high) / 2)
