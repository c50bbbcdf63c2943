"""The bootstrap of rows: resampling counts as weights, and limits from replicates."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = np.ndarray[Any, np.dtype[np.float64]]

BLOCK = 64
"""Replicates that share one random stream; fixed, so that batches and threads cannot change a draw."""

CELLS = 60_000
"""Weights held at once, few enough for the processor's cache; changes no result."""


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the random generator of one named step and block under the root ``seed``."""
    text = "/".join([str(seed), *map(str, names)])
    key = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(word) for word in key])))


def replicate_weights(
    n: int, weight: Floats | None, kind: str | None, replicates: int, seed: int, dataset: str
) -> Iterator[Floats]:
    """Yield batches of weight rows [b, n] of ``replicates`` resamples with replacement. Efron (1979).

    Frequency weights say how many observations a row stands for, and those are resampled; importance weights multiply
    the resampled counts. The draw depends on ``seed``, ``dataset`` and the block alone.
    """
    batch = max(1, CELLS // n)
    rows: list[Floats] = []
    for block in range(-(-replicates // BLOCK)):
        generator = stream(seed, "bootstrap", dataset, block)
        for _ in range(min(BLOCK, replicates - block * BLOCK)):
            rows.append(_resample(generator, n, weight, kind))
            if len(rows) == batch:
                yield np.stack(rows)
                rows = []
    if rows:
        yield np.stack(rows)


def _resample(generator: np.random.Generator, n: int, weight: Floats | None, kind: str | None) -> Floats:
    if weight is not None and kind == "frequency":
        observations = weight.sum()
        return generator.multinomial(int(observations), weight / observations).astype(float)
    counts = np.bincount(generator.integers(0, n, n), minlength=n)
    return counts.astype(float) if weight is None else counts * weight


def percentile_limits(replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return the percentile limits of the defined replicates, or None where fewer than two are. Efron (1979)."""
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    tail = (1 - level) / 2
    lower, upper = np.quantile(defined, [tail, 1 - tail])
    return float(lower), float(upper)
