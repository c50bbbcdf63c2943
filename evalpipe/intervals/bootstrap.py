"""The bootstrap of rows: resampling counts as weights, and limits from replicates."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.intp]]

BLOCK = 64
"""Replicates that share one random stream; fixed, so that batches and threads cannot change a draw."""

GROUPS = 1000
"""The most groups of rows that the jackknife leaves out in turn."""

CELLS = 60_000
"""Weights held at once, few enough for the processor's cache; changes no result."""


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the random generator of one named step and block under the root ``seed``."""
    text = "/".join([str(seed), *map(str, names)])
    key = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(word) for word in key])))


@dataclass(frozen=True, slots=True)
class Design:
    """How ``n`` rows are resampled.

    ``weight`` [n] and its ``kind``, if any; ``cluster`` [n], the numbers of clusters that are drawn whole; ``strata``
    [n], the numbers of groups of rows that are each drawn apart.
    """

    n: int
    weight: Floats | None = None
    kind: str | None = None
    cluster: Whole | None = None
    strata: Whole | None = None


def replicate_weights(design: Design, replicates: int, seed: int, dataset: str) -> Iterator[Floats]:
    """Yield batches of weight rows [b, n] of ``replicates`` resamples with replacement. Efron (1979).

    Frequency weights say how many observations a row stands for, and those are resampled; importance weights multiply
    the resampled counts. The draw depends on ``seed``, ``dataset`` and the block alone.
    """
    batch = max(1, CELLS // design.n)
    rows: list[Floats] = []
    for block in range(-(-replicates // BLOCK)):
        generator = stream(seed, "bootstrap", dataset, block)
        for _ in range(min(BLOCK, replicates - block * BLOCK)):
            rows.append(_resample(generator, design))
            if len(rows) == batch:
                yield np.stack(rows)
                rows = []
    if rows:
        yield np.stack(rows)


def _resample(generator: np.random.Generator, design: Design) -> Floats:
    weight = design.weight
    if design.cluster is not None:
        clusters = int(design.cluster.max()) + 1
        drawn = np.bincount(generator.integers(0, clusters, clusters), minlength=clusters).astype(float)
        return drawn[design.cluster] if weight is None else drawn[design.cluster] * weight
    if design.strata is not None:
        counts = np.empty(design.n)
        for stratum in range(int(design.strata.max()) + 1):
            rows = np.flatnonzero(design.strata == stratum)
            if len(rows):
                part = None if weight is None else weight[rows]
                counts[rows] = _resample(generator, Design(len(rows), part, design.kind))
        return counts
    if weight is not None and design.kind == "frequency":
        observations = weight.sum()
        return generator.multinomial(int(observations), weight / observations).astype(float)
    counts = np.bincount(generator.integers(0, design.n, design.n), minlength=design.n).astype(float)
    return counts if weight is None else counts * weight


def jackknife_weights(design: Design) -> Iterator[Floats]:
    """Yield batches of weight rows [b, n], each with one group of rows left out. Tukey (1958).

    A group is a row, or a cluster, up to `GROUPS` of them; of more, every `GROUPS`-th, so that groups of sorted rows
    are alike.
    """
    number = np.arange(design.n) if design.cluster is None else design.cluster
    groups = min(int(number.max()) + 1, GROUPS)
    whole = np.ones(design.n) if design.weight is None else design.weight
    batch = max(1, CELLS // design.n)
    for first in range(0, groups, batch):
        left = np.arange(first, min(first + batch, groups))
        yield np.where(number % groups == left[:, None], 0.0, whole)


def percentile_limits(replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return the percentile limits of the defined replicates, or None where fewer than two are. Efron (1979)."""
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    tail = (1 - level) / 2
    lower, upper = np.quantile(defined, [tail, 1 - tail])
    return float(lower), float(upper)


def bca_limits(replicates: Floats, value: float, jackknife: Floats, level: float) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated limits, or None where fewer than two replicates are defined.

    ``jackknife`` are the values with one group of rows left out at a time, groups of like size. Efron (1987), eq. 6.
    """
    from scipy.special import ndtr, ndtri

    defined, left = replicates[~np.isnan(replicates)], jackknife[~np.isnan(jackknife)]
    if len(defined) < 2 or len(left) < 2:
        return None
    share = ((defined < value).sum() + (defined == value).sum() / 2) / len(defined)
    if not 0 < share < 1:
        return None
    bias, away = ndtri(share), left.mean() - left
    spread = (away**2).sum() ** 1.5
    acceleration = (away**3).sum() / (6 * spread) if spread else 0.0
    tail = ndtri([(1 - level) / 2, (1 + level) / 2])
    at = ndtr(bias + (bias + tail) / (1 - acceleration * (bias + tail)))
    lower, upper = np.quantile(defined, at)
    return float(lower), float(upper)


def monte_carlo_error(replicates: Floats, level: float) -> float | None:
    """Return the larger standard error of the two percentile limits that comes from drawing so few replicates.

    That of a quantile at share q of B draws is half the distance between the quantiles at q +- sqrt(q (1 - q) / B):
    Maritz & Jarrett (1978) give the idea; it needs no density. None where fewer than two replicates are defined.
    """
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    reach = np.sqrt(shares * (1 - shares) / len(defined))
    low, high = (np.quantile(defined, np.clip(shares + side * reach, 0, 1)) for side in (-1, 1))
    return float(((high - low) / 2).max())
