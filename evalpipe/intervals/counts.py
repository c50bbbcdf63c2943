"""Counts of many replicates at once, where units stand for many observations each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import exp, log

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

GUIDES = 128
"""Parts of 0 to 1 for which each unit knows the least count, from which a count is looked for."""

STEPS = 3
"""How many counts are tried one after the other from there."""

TABLE = 2_000_000
"""The most numbers of a table of probabilities; of larger counts each is drawn by itself."""

RUNS = 2**20
"""The most runs of observations that follow each other whose unit is listed."""

SINGLES = 2**24
"""The most observations of all replicates together that are drawn one by one."""

FAR = 9.0
"""Standard deviations about its mean, and as many counts again, beyond which a Poisson count has a chance of 1e-16."""


@dataclass(frozen=True)
class PoissonCounts:
    """Independent Poisson counts of expectations ``rate`` [units], all above 0."""

    rate: Floats

    def draw(self, generator: np.random.Generator, times: int) -> Wholes:
        """Draw the counts of every unit ``times`` times, [times, units], by inversion of their distribution.

        With a guide to where to look: Chen & Asau (1974). A third of the time of a rejection for each count.
        """
        if self._width * len(self.rate) > TABLE:
            return generator.poisson(self.rate, (times, len(self.rate)))
        (low, reached), guides = self._table, self._guides
        chance = generator.random((times, len(self.rate)))
        first = np.arange(len(self.rate)) * GUIDES
        place = np.take(guides, (chance * GUIDES).astype(np.intp) + first)
        beyond = np.flatnonzero(np.take(reached, place) <= chance)
        flat, of_chance = place.ravel(), np.take(chance, beyond)
        for _ in range(STEPS):
            flat[beyond] += 1
            further = np.take(reached, flat[beyond]) <= of_chance
            beyond, of_chance = beyond[further], of_chance[further]
        # In the tails a part holds many counts: those are looked for by halves.
        least, most = flat[beyond], (beyond % len(low) + 1) * self._width - 1
        while np.any(least < most):
            middle = (least + most) // 2
            above = np.take(reached, middle) > of_chance
            least, most = np.where(above, least, middle + 1), np.where(above, middle, most)
        flat[beyond] = least
        return place + (low - np.arange(len(low)) * self._width)

    @cached_property
    def _width(self) -> int:
        """How many counts of a unit have a probability to speak of, at most."""
        return int(2 * FAR * (np.sqrt(self.rate.max()) + 1)) + 2

    @cached_property
    def _table(self) -> tuple[Wholes, Floats]:
        """The least count of each unit [units], and the chance of at most it, of at most the next, …, end to end."""
        from scipy.special import gammaln

        low = np.maximum(np.floor(self.rate - FAR * (np.sqrt(self.rate) + 1)), 0).astype(np.intp)
        counts = low[:, None] + np.arange(self._width)
        # The factorial of each count up to the largest, where these are no more than the counts of the table.
        few = counts.max() < counts.size
        factorials = gammaln(np.arange(counts.max() + 1) + 1.0)[counts] if few else gammaln(counts + 1.0)
        logs = counts * log(self.rate)[:, None] - factorials
        reached = np.cumsum(exp(logs - self.rate[:, None]), axis=1)
        reached[:, -1] = 1.0
        return low, np.minimum(reached, 1.0).ravel()

    @cached_property
    def _guides(self) -> Wholes:
        """The place in the table at or before that of any chance in each part of 0 to 1, [units x parts]."""
        reached = self._table[1].reshape(len(self.rate), -1)
        part = np.minimum(np.floor(reached * GUIDES), GUIDES).astype(np.intp)
        # How many counts are reached in lower parts; a chance in this part may be in the last of these still.
        cells = np.arange(len(part))[:, None] * (GUIDES + 1) + part
        below = np.bincount(cells.ravel(), minlength=len(part) * (GUIDES + 1)).reshape(len(part), -1)
        number = np.cumsum(below, axis=1) - below
        return np.asarray((number[:, :GUIDES] + np.arange(len(part))[:, None] * self._width).ravel())


@dataclass(frozen=True)
class MultinomialCounts:
    """Draws of as many observations as there are, with replacement, from units of ``sizes`` [units] observations."""

    sizes: Wholes

    def draw(self, generator: np.random.Generator, times: int) -> Wholes:
        """Draw ``times`` replicates, counts [times, units].

        Most of a draw is made by independent Poisson counts whose total is a little too small, and the rest one by one.
        Given their total, such counts are multinomial; a total that is too large is drawn again, which tells nothing of
        how it is spread. So the draws are exact, at a cost that does not grow with the observations.
        """
        counts = np.zeros((times, len(self.sizes)), np.intp)
        short = np.full(times, self._total)
        while short.min() > 4 * len(self._units):
            whole = len(short) == int((short == self._total).sum())
            most = self._first if whole else PoissonCounts(self._rate(int(short.min())))
            added = most.draw(generator, times)
            while len(again := np.flatnonzero(added.sum(axis=1) > short)):
                added[again] = most.draw(generator, len(again))
            if len(self._units) == len(self.sizes):
                counts += added
            else:
                counts[:, self._units] += added
            short = short - added.sum(axis=1)
        if short.sum() > SINGLES:  # one replicate may be short of few, and end the loop, where the others are of many
            return counts + generator.multinomial(short, self.sizes / self._total)
        single = self._lookup(generator.integers(0, self._total, int(short.sum())))
        cell = np.repeat(np.arange(times), short) * len(self.sizes) + single
        counts += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
        return counts

    def _rate(self, wanted: int) -> Floats:
        """Return expectations whose counts are rarely more than ``wanted``, by two standard deviations fewer."""
        return np.asarray(self.sizes[self._units] * (wanted / self._total) * (1 - 2 / np.sqrt(wanted)))

    @cached_property
    def _first(self) -> PoissonCounts:
        """The counts that every draw begins with."""
        return PoissonCounts(self._rate(self._total))

    @cached_property
    def _units(self) -> Wholes:
        """The units that have observations."""
        return np.flatnonzero(self.sizes)

    @cached_property
    def _total(self) -> int:
        return int(self.sizes.sum())

    def _lookup(self, observations: Wholes) -> Wholes:
        """Return the unit of each observation."""
        unit = np.take(self._listed, observations >> self._shift)
        divided = np.flatnonzero(unit < 0)
        unit[divided] = np.searchsorted(self._ends, observations[divided], side="right")
        return unit

    @cached_property
    def _shift(self) -> int:
        """The bits of an observation's number that tell its place within a run."""
        return max(0, (self._total - 1).bit_length() - RUNS.bit_length() + 1)

    @cached_property
    def _listed(self) -> Wholes:
        """The unit of each run of observations, -1 where it has several: few, as runs are many more than units."""
        firsts = np.arange(0, self._total, 1 << self._shift)
        lasts = np.minimum(firsts + (1 << self._shift), self._total) - 1
        unit, last = (np.searchsorted(self._ends, ends, side="right").astype(np.int32) for ends in (firsts, lasts))
        return np.where(unit == last, unit, np.int32(-1))

    @cached_property
    def _ends(self) -> Wholes:
        return np.cumsum(self.sizes)
