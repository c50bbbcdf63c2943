"""Resampling: how often each unit of a dataset is drawn in each replicate, be it one row or many observations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.arithmetic import exp, log
from evalpipe.intervals.bootstrap import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes


GUIDES = 128
"""Parts of 0 to 1 for which each unit has the index of a least count, from which the search for a count starts."""

STEPS = 3
"""How many counts are tried one after the other from there."""

TABLE = 2_000_000
"""The most numbers of a table of probabilities; of larger counts each is drawn by itself."""

CHUNK = 2**16
"""Numbers of a table of probabilities that are computed at once; changes no result."""

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

        A guide table gives the index at which the search starts: Chen & Asau (1974). Takes a third of the time of
        rejection sampling.
        """
        if self._width * len(self.rate) > TABLE:
            return generator.poisson(self.rate, (times, len(self.rate)))
        (low, cumulative), guides = self._table, self._guides
        uniform = generator.random((times, len(self.rate)))
        first = np.arange(len(self.rate)) * GUIDES
        index = np.take(guides, (uniform * GUIDES).astype(np.intp) + first)
        beyond = np.flatnonzero(np.take(cumulative, index) <= uniform)
        flat, uniform_beyond = index.ravel(), np.take(uniform, beyond)
        for _ in range(STEPS):
            flat[beyond] += 1
            is_further = np.take(cumulative, flat[beyond]) <= uniform_beyond
            beyond, uniform_beyond = beyond[is_further], uniform_beyond[is_further]
        # In the tails a part holds many counts: those are looked for by halves.
        lowest, highest = flat[beyond], (beyond % len(low) + 1) * self._width - 1
        while np.any(lowest < highest):
            middle = (lowest + highest) // 2
            is_above = np.take(cumulative, middle) > uniform_beyond
            lowest, highest = np.where(is_above, lowest, middle + 1), np.where(is_above, middle, highest)
        flat[beyond] = lowest
        return index + (low - np.arange(len(low)) * self._width)

    @cached_property
    def _width(self) -> int:
        """The largest number of counts of a unit that have a probability above 1e-16."""
        return int(2 * FAR * (np.sqrt(self.rate.max()) + 1)) + 2

    @cached_property
    def _table(self) -> tuple[Wholes, Floats]:
        """The least count of each unit [units], and the cumulative probabilities from it up, [units x width] flat."""
        from scipy.special import gammaln

        low = np.maximum(np.floor(self.rate - FAR * (np.sqrt(self.rate) + 1)), 0).astype(np.intp)
        most = int(low.max()) + self._width
        # The factorial of each count up to the largest, where these are no more than the counts of the table.
        factorials = gammaln(np.arange(most) + 1.0) if most - 1 < len(low) * self._width else None
        cumulative = np.empty((len(low), self._width))
        for units in self._unit_chunks():
            counts, rate = low[units, None] + np.arange(self._width), self.rate[units, None]
            logs = counts * log(rate)
            logs -= gammaln(counts + 1.0) if factorials is None else factorials[counts]
            np.cumsum(exp(logs - rate), axis=1, out=cumulative[units])
        cumulative[:, -1] = 1.0
        return low, np.minimum(cumulative, 1.0, out=cumulative).ravel()

    @cached_property
    def _guides(self) -> Wholes:
        """The index in the table from which to search for a number in each part of 0 to 1, [units x parts] flat."""
        cumulative, guides = self._table[1].reshape(len(self.rate), -1), np.empty((len(self.rate), GUIDES), np.intp)
        for units in self._unit_chunks():
            part = np.minimum(np.floor(cumulative[units] * GUIDES), GUIDES).astype(np.intp)
            # How many counts have their cumulative probability in lower parts: the first candidate for this part.
            part += np.arange(len(part))[:, None] * (GUIDES + 1)
            counts_in_part = np.bincount(part.ravel(), minlength=len(part) * (GUIDES + 1)).reshape(len(part), -1)
            counts_below = np.cumsum(counts_in_part, axis=1) - counts_in_part
            guides[units] = counts_below[:, :GUIDES]
        guides += np.arange(len(self.rate))[:, None] * self._width
        return guides.ravel()

    def _unit_chunks(self) -> Iterator[slice]:
        """Yield slices of the units whose tables are computed at once: few enough for the processor's cache."""
        units = max(1, CHUNK // self._width)
        return (slice(first, first + units) for first in range(0, len(self.rate), units))


@dataclass(frozen=True)
class MultinomialCounts:
    """Draws of as many observations as there are, with replacement, from units of ``sizes`` [units] observations."""

    sizes: Wholes

    def draw(self, generator: np.random.Generator, times: int) -> Wholes:
        """Return counts [times, units] of ``times`` bootstrap replicates of all observations, drawn with replacement.

        Most observations are drawn as independent Poisson counts whose total is a little too small, the rest one by
        one. Given their total, such counts are multinomial; a total that is too large is drawn again, which does not
        depend on how it is distributed. So the draws are exact, at a cost that does not grow with the observations.
        """
        counts = np.zeros((times, len(self.sizes)), np.intp)
        missing = np.full(times, self._total)
        while missing.min() > 4 * len(self._units):
            is_first = len(missing) == int((missing == self._total).sum())
            poisson = self._first_counts if is_first else PoissonCounts(self._rate(int(missing.min())))
            added = poisson.draw(generator, times)
            while len(too_many := np.flatnonzero(added.sum(axis=1) > missing)):
                added[too_many] = poisson.draw(generator, len(too_many))
            if len(self._units) == len(self.sizes):
                counts += added
            else:
                counts[:, self._units] += added
            missing = missing - added.sum(axis=1)
        if missing.sum() > SINGLES:  # one replicate may be short of few, and end the loop, where the others are of many
            return counts + generator.multinomial(missing, self.sizes / self._total)
        drawn_units = self._units_of(generator.integers(0, self._total, int(missing.sum())))
        unit_codes = np.repeat(np.arange(times), missing) * len(self.sizes) + drawn_units
        counts += np.bincount(unit_codes, minlength=counts.size).reshape(counts.shape)
        return counts

    def _rate(self, observations: int) -> Floats:
        """Return expectations [units] whose counts rarely total more than ``observations``, by two deviations."""
        return np.asarray(self.sizes[self._units] * (observations / self._total) * (1 - 2 / np.sqrt(observations)))

    @cached_property
    def _first_counts(self) -> PoissonCounts:
        """The Poisson counts with which each draw of all observations begins."""
        return PoissonCounts(self._rate(self._total))

    @cached_property
    def _units(self) -> Wholes:
        """The units that have observations."""
        return np.flatnonzero(self.sizes)

    @cached_property
    def _total(self) -> int:
        """The number of observations in all units together."""
        return int(self.sizes.sum())

    def _units_of(self, observations: Wholes) -> Wholes:
        """Return the index of the unit to which each observation, given by its number, belongs."""
        units = np.take(self._unit_of_run, observations >> self._run_bits)
        in_mixed_run = np.flatnonzero(units < 0)
        units[in_mixed_run] = np.searchsorted(self._ends, observations[in_mixed_run], side="right")
        return units

    @cached_property
    def _run_bits(self) -> int:
        """The number of low bits of an observation's number that give its position within a run."""
        return max(0, (self._total - 1).bit_length() - RUNS.bit_length() + 1)

    @cached_property
    def _unit_of_run(self) -> Wholes:
        """The unit to which all observations of a run belong, or -1 where it spans several units; runs are short."""
        length = 1 << self._run_bits
        whole_ends = np.where(self._ends == self._total, self._total + length - 1, self._ends)  # the last run is short
        first = -(-(self._ends - self.sizes) // length)
        after = np.maximum(whole_ends // length, first)
        # Runs that span several units lie between those of one unit and those of the next.
        runs = np.stack([first - np.concatenate([[0], after[:-1]]), after - first], axis=1)
        units = np.stack([np.full(len(first), -1, np.int32), np.arange(len(first), dtype=np.int32)], axis=1)
        return np.repeat(units.ravel(), runs.ravel())

    @cached_property
    def _ends(self) -> Wholes:
        """The cumulative number of observations up to and with each unit, [units]."""
        return np.cumsum(self.sizes)


BLOCK = 64
"""Replicates that share one random stream; fixed, so that batches and threads cannot change a draw."""

HELD = 6_400_000
"""Counts that one thread has in memory at once (51 MB); changes no result."""

SMALL: Any = np.int8
"""The type of counts of single observations; one above 127 has a chance of 1e-213."""

HYPERGEOMETRIC = 10**9
"""Observations from which on numpy draws no multivariate hypergeometric counts."""

AT_ONCE, MANY = 100_000, 4
"""The most units of which a block is drawn at once (51 MB), and the observations in the mean that it takes."""

NEAR = 2**17
"""Observations drawn at once one by one, few enough for the processor's cache; changes no result."""

LOOKUP = 4_000_000
"""The most observations whose units are listed one by one where units stand for many observations."""

LISTED = 4_000_000
"""Observations from which on many that are short of a draw are drawn unit by unit, and not looked for one by one."""


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the random generator of one named step and block under the root ``seed``."""
    text = "/".join([str(seed), *map(str, names)])
    # A hash, not Python's own, which differs from run to run; "<u4" reads it alike on every machine.
    key = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(word) for word in key])))


@dataclass(frozen=True)
class Design:
    """How ``n`` rows are resampled.

    ``weight`` [n] and its ``kind`` ("frequency" or "importance"), if any; ``cluster`` [n], the number of each row's
    cluster, where clusters are drawn as units; ``strata`` [units], the number of each unit's stratum, where strata are
    drawn separately; ``poisson``, whether each unit's count is drawn from its own Poisson distribution, instead of all
    from one multinomial; ``left_out`` [units], whether the jackknife leaves a unit out, None where it leaves out all in
    turn; ``rows_of_stratum`` [k] are the rows of which the i-th stratum and the (i + k)-th are parts: how many of both
    are drawn varies as it does among all; None where as many are drawn as there are.
    """

    n: int
    weight: Floats | None = None
    kind: str | None = None
    cluster: Wholes | None = None
    strata: Wholes | None = None
    poisson: bool = False
    left_out: Flags | None = None
    rows_of_stratum: Wholes | None = None

    @property
    def unit(self) -> Wholes:
        """The index of the resampling unit of each row, shape [n]: its cluster, or the row itself."""
        return np.arange(self.n) if self.cluster is None else self.cluster

    @cached_property
    def sizes(self) -> Wholes:
        """The number of observations of each resampling unit, [units]; 1 for a cluster."""
        if self.cluster is not None:
            return np.ones(int(self.cluster.max()) + 1, np.intp)
        if self.weight is not None and self.kind == "frequency":
            return np.asarray(self.weight, np.intp)
        return np.ones(self.n, np.intp)

    @property
    def factor(self) -> Floats | None:
        """The weight of a row each time that its unit is drawn, shape [n]; None where it is 1."""
        # Frequency weights are drawn as observations of a row, but where whole clusters are drawn.
        is_drawn = self.kind == "frequency" and self.cluster is None
        return None if is_drawn else self.weight

    @cached_property
    def parts(self) -> tuple[Wholes, ...]:
        """The indices of the resampling units of each stratum; empty without strata."""
        if self.strata is None:
            return ()
        return tuple(np.flatnonzero(self.strata == stratum) for stratum in np.unique(self.strata))

    @cached_property
    def has_single_observations(self) -> bool:
        """Whether every unit is one observation, and all are drawn together."""
        return not self.parts and bool((self.sizes == 1).all())

    @property
    def count_bytes(self) -> int:
        """The bytes that a count takes."""
        is_small = self.has_single_observations and not self.poisson
        return int(np.dtype(SMALL if is_small else np.intp).itemsize)

    @cached_property
    def lookup(self) -> Wholes | None:
        """The resampling unit of each observation, or None where there are too many observations for a table."""
        total = int(self.sizes.sum())
        return np.repeat(np.arange(len(self.sizes)), self.sizes) if total <= LOOKUP else None

    @cached_property
    def multinomials(self) -> tuple[tuple[Wholes, MultinomialCounts], ...] | None:
        """The units and the multinomial sampler of each stratum; None where units stand for few observations.

        A block of replicates is then drawn at once.
        """
        parts = self.parts or (np.arange(len(self.sizes)),)
        stand_for_many = all(self.sizes[part].sum() >= MANY * len(part) for part in parts)
        if self.poisson or not stand_for_many or len(self.sizes) > AT_ONCE:
            return None
        return tuple((part, MultinomialCounts(self.sizes[part])) for part in parts)

    def weights(self, counts: Wholes) -> Values:
        """Return the weight of each row [b, n] when its unit is drawn ``counts`` [b, units] times."""
        rows = counts if self.cluster is None else np.take(counts, self.cluster, axis=-1)
        return rows.astype(np.intp, copy=False) if self.factor is None else rows * self.factor

    def draw(self, generator: np.random.Generator, times: int) -> Wholes:
        """Return counts [times, units] of ``times`` bootstrap replicates, as many observations as there are in each.

        Efron (1979); Poisson counts: Chamandy et al. (2012).
        """
        if self.poisson:
            return generator.poisson(self.sizes, (times, len(self.sizes)))
        if self.has_single_observations:
            return _draw_single_observations(generator, len(self.sizes), times)
        if self.rows_of_stratum is not None and self.strata is not None:
            return self._draw_within_strata(generator, times)
        counts = np.zeros((times, len(self.sizes)), np.intp)
        # One replicate after the other, so that the size of a batch changes no draw.
        for row in counts:
            if not self.parts:
                row[:] = _multinomial(generator, self.sizes, self.lookup)
            for part in self.parts:
                row[part] = _multinomial(generator, self.sizes[part], None)
        return counts

    def _draw_within_strata(self, generator: np.random.Generator, times: int) -> Wholes:
        """Return counts [times, units] of units of one observation, drawn within strata of sizes that vary.

        A bootstrap sample of all rows has more rows of a stratum than there are, or fewer, by a factor. So many times
        its units are drawn, rounded up or down by chance.
        """
        assert self.strata is not None and self.rows_of_stratum is not None  # noqa: S101, PT018 - known to the caller
        rows, sizes = self.rows_of_stratum, np.bincount(self.strata)
        units_by_stratum, first = np.argsort(self.strata, kind="stable"), np.cumsum(sizes) - sizes
        counts = np.zeros((times, len(self.strata)), np.intp)
        for row in counts:
            resampled = generator.multinomial(rows.sum(), rows / rows.sum())
            factor = (resampled / rows)[np.arange(len(sizes)) % len(rows)]
            drawn = np.floor(sizes * factor + generator.random(len(sizes))).astype(np.intp)
            stratum = np.repeat(np.arange(len(sizes)), drawn)
            within = (generator.random(len(stratum)) * sizes[stratum]).astype(np.intp)
            row[:] = np.bincount(units_by_stratum[first[stratum] + within], minlength=len(row))
        return counts


def _draw_single_observations(generator: np.random.Generator, units: int, times: int) -> Wholes:
    """Return counts [times, units] of bootstrap replicates of units of a single observation, as `SMALL` integers."""
    counts: Wholes = np.empty((times, units), SMALL)
    step = max(1, NEAR // units)
    for first in range(0, times, step):
        batch_counts = counts[first : first + step]
        drawn = generator.integers(0, units, batch_counts.shape)
        drawn += np.arange(len(batch_counts))[:, None] * units
        batch_counts[:] = np.bincount(drawn.ravel(), minlength=batch_counts.size).reshape(batch_counts.shape)
    return counts


def _multinomial(generator: np.random.Generator, sizes: Wholes, lookup: Wholes | None) -> Wholes:
    """Draw as many observations as there are from units of ``sizes`` [units]; return counts [units].

    Where units stand for many observations each, most are drawn as independent Poisson counts whose total is a little
    too small, and the rest one by one, or unit by unit where it is large: given their total, they are multinomial.
    """
    total, units = int(sizes.sum()), len(sizes)
    if total < max(4 * units, 10):  # three standard deviations of fewer would leave no rate
        drawn = generator.integers(0, total, total)
        # One observation each: where a unit has none, another has several.
        is_single = total == units and bool(sizes.all())
        return np.bincount(drawn if is_single else _units_of_observations(drawn, sizes, lookup), minlength=units)
    rate = sizes * (1 - 3 / np.sqrt(total))
    while True:
        counts: Wholes = generator.poisson(rate)
        missing = total - int(counts.sum())
        if missing >= 0:
            break
    if total > LISTED and 2 * missing > units:
        return counts + generator.multinomial(missing, sizes / total)
    drawn_units = _units_of_observations(generator.integers(0, total, missing), sizes, lookup)
    return counts + np.bincount(drawn_units, minlength=units)


def _units_of_observations(observations: Wholes, sizes: Wholes, lookup: Wholes | None) -> Wholes:
    """Return the unit of each observation, by number, from the ``lookup`` table or the units' ``sizes``."""
    if lookup is not None:
        return lookup[observations]
    return np.searchsorted(np.cumsum(sizes), observations, side="right")


def blocks(replicates: int) -> list[int]:
    """Return the number of replicates of each block that shares a random stream: all full but the last."""
    return [min(BLOCK, replicates - first) for first in range(0, replicates, BLOCK)]


def block_counts(design: Design, number: int, size: int, seed: int, dataset: str) -> Iterator[Wholes]:
    """Yield the counts of each unit in a block of bootstrap replicates, in batches [b, units].

    ``number`` is the block's index and ``size`` the number of its replicates. The counts depend on the arguments only.
    """
    generator = stream(seed, "bootstrap", dataset, number)
    batch = max(1, HELD // len(design.sizes))
    if design.multinomials is not None:
        counts = np.empty((size, len(design.sizes)), np.intp)
        for units, multinomial in design.multinomials:
            counts[:, units] = multinomial.draw(generator, size)
        yield from (counts[first : first + batch] for first in range(0, size, batch))
        return
    for first in range(0, size, batch):
        yield design.draw(generator, min(batch, size - first))


def replicate_weights(design: Design, replicates: int, seed: int, dataset: str) -> Iterator[Values]:
    """Yield batches of weight rows [b, n] of ``replicates`` resamples with replacement.

    Frequency weights say how many observations a row stands for, and those are resampled; importance weights multiply
    the resampled counts.
    """
    for number, size in enumerate(blocks(replicates)):
        for counts in block_counts(design, number, size, seed, dataset):
            yield design.weights(counts)


def dealt(generator: np.random.Generator, counts: Wholes, folds: int) -> tuple[Wholes, Wholes]:
    """Return the unit and the fold of each observation of one draw, ``counts`` [units], fold by fold.

    Observations are dealt at random to ``folds`` as equal as can be.
    """
    total = int(counts.sum())
    drawn = np.repeat(np.arange(len(counts)), counts)[generator.permutation(total)]
    return drawn, np.repeat(np.arange(folds), np.diff(np.arange(folds + 1) * total // folds))


def are_dealt_singly(counts: Wholes) -> bool:
    """Tell whether a draw has so few observations that they are dealt one by one."""
    return int(counts.sum()) <= max(LOOKUP, 4 * len(counts))


def split(generator: np.random.Generator, counts: Wholes, folds: int) -> Iterator[Wholes]:
    """Yield the counts of each of ``folds`` folds of a draw, in batches [b, units], from its ``counts`` [units].

    Folds are random and as equal as can be. Observations of one unit are dealt one by one, as they were drawn.
    """
    units = len(counts)
    batch = max(1, HELD // units)
    if are_dealt_singly(counts):
        drawn, fold = dealt(generator, counts, folds)
        ends = np.searchsorted(fold, np.arange(0, folds + batch, batch))
        for first, begin, end in zip(range(0, folds, batch), ends[:-1], ends[1:], strict=False):
            batch_folds = min(batch, folds - first)
            unit_codes = (fold[begin:end] - first) * units + drawn[begin:end]
            yield np.bincount(unit_codes, minlength=batch_folds * units).reshape(-1, units)
        return
    shares = _fold_counts(generator, counts, folds)
    while rows := list(islice(shares, batch)):
        yield np.stack(rows)


def _fold_counts(generator: np.random.Generator, counts: Wholes, folds: int) -> Iterator[Wholes]:
    """Yield the counts [units] of each fold, drawn for each unit at once and not by observation."""
    total, remaining = int(counts.sum()), counts
    for k in range(folds - 1):
        if total < HYPERGEOMETRIC:
            share = generator.multivariate_hypergeometric(remaining, (total + k) // folds, method="marginals")
        else:
            share = generator.binomial(remaining, 1 / (folds - k))
        yield share
        remaining = remaining - share
    yield remaining


def jackknife_counts(design: Design, generator: np.random.Generator) -> Iterator[Wholes]:
    """Yield batches of counts [b, units], each with one group of observations left out. Tukey (1958).

    A group is an observation, up to `GROUPS` of them; more observations are grouped at random, for the rows are sorted.
    """
    sizes = design.sizes if design.left_out is None else design.sizes * design.left_out
    groups = min(int(sizes.sum()), GROUPS)
    for left_out in split(generator, sizes, groups):
        yield design.sizes - left_out
