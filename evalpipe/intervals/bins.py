"""Bins of rows: how uncertain the event rate of each is, be its rows many or few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalpipe.base.arraytypes import Floats

ENOUGH = 20
"""The rows of a bin that tell the variance of an event in it; of fewer, the bins next to it help. Of squares in bins
that have fewer on average most is noise: see the simulations of docs/methods.md."""


def rate_variances(events: Floats, others: Floats, squared_events: Floats, squared_others: Floats) -> Floats:
    """Return the variance of the event rate of each bin, from totals [b] of weights and of squared weights.

    The linearised variance of a ratio, times n / (n - 1) with n the effective rows (Kish 1965). The variance of an
    event is that of the rows of the bin or, where they are fewer than `ENOUGH`, of its neighbours too, bins being in
    order. Where all of these are of one class, half an event and half a non-event are added for the rate.
    """
    rows, squares = events + others, squared_events + squared_others
    first, last = _pooled_bins(rows**2 / squares)
    tables = events, others, squared_events, squared_others
    cumulative = [np.concatenate([[0.0], np.cumsum(table)]) for table in tables]
    hits, misses, squared_hits, squared_misses = (table[last] - table[first] for table in cumulative)
    pooled, weight = hits + misses, squared_hits + squared_misses
    n = pooled**2 / weight
    mixed = (hits > 0) & (misses > 0)
    rate = np.where(mixed, hits / pooled, (hits / pooled * n + 0.5) / (n + 1))
    spread = np.where(mixed, squared_hits * (1 - rate) ** 2 + squared_misses * rate**2, weight * rate * (1 - rate))
    variances: Floats = spread / weight * n / np.maximum(n - 1, 1) * squares / rows**2
    return variances


def _pooled_bins(counts: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for each bin [b], the first and one past the last bin whose rows give the variance of an event in it.

    These are the bin itself where it has `ENOUGH` rows; else the bins within half as many rows on either side.
    """
    after = np.cumsum(counts)
    bins, before = np.arange(len(counts)), after - counts
    first = np.searchsorted(after, before - ENOUGH / 2, side="right")
    last = np.searchsorted(before, after + ENOUGH / 2, side="left")
    enough = counts >= ENOUGH
    return np.where(enough, bins, np.minimum(first, bins)), np.where(enough, bins + 1, np.maximum(last, bins + 1))


def squared_error_variances(variances: Floats, counts: Floats) -> Floats:
    """Return the variance of the squared error of each bin's rate [b], from the variances of the rates and the rows.

    Two squared variances, as of a normal error, plus the fourth cumulant of the mean of so many events, which is
    negative where a rate is near one half: of a single row with a rate of one half, the squared error is always 1/4.
    """
    of_squares: Floats = 2 * variances**2 + variances / counts**2 - 6 * variances**2 / counts
    return of_squares


@dataclass(frozen=True, slots=True)
class Bins:
    """The used bins of a measure of gaps, each [b].

    ``events`` and ``others`` are totals of weights, ``squared_events`` and ``squared_others`` of squared weights;
    ``gap`` is the events less those expected.
    """

    events: Floats
    others: Floats
    gap: Floats
    squared_events: Floats
    squared_others: Floats

    @property
    def rows(self) -> Floats:
        """The total weight of each bin."""
        return self.events + self.others

    @property
    def squares(self) -> Floats:
        """The total squared weight of each bin."""
        return self.squared_events + self.squared_others

    @property
    def shares(self) -> Floats:
        """The share of each bin in the total weight."""
        shares: Floats = self.rows / self.rows.sum()
        return shares

    @property
    def variances(self) -> Floats:
        """The variance of the event rate of each bin."""
        return rate_variances(self.events, self.others, self.squared_events, self.squared_others)

    @property
    def thin(self) -> bool:
        """Whether the bins have fewer than `ENOUGH` effective rows on average."""
        return self.n < ENOUGH * len(self.events)

    @property
    def n(self) -> float:
        """Kish's effective number of rows."""
        return float(self.rows.sum() ** 2 / self.squares.sum())
