"""Recalibrators: evalpipe against scikit-learn's IsotonicRegression doing the same, on the same rows.

    python benchmarks/recalibration.py        prints the table

Both sides run in turn in one process; the figure that counts is the ratio. Our side is the recalibrator that a run fits
and applies; theirs resamples rows, fits and predicts.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS, BAGS, MANY = 6_107, 1_000, 1_000_000
RUNS = 5
HEADER = (
    "| what | evalpipe | scikit-learn | ratio | range | largest difference |",
    "|---|---|---|---|---|---|",
)


def data(n: int) -> tuple[Any, Any]:
    """Return outcomes [n] and distinct probabilities [n] that are too sure of themselves."""
    generator = np.random.default_rng(n)
    odds = generator.normal(size=n)
    return generator.random(n) < 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-2 * odds))


def ours(method: str, y: Any, p: Any, **options: Any) -> Any:
    """Fit a recalibrator and apply it to the same rows."""
    from evalpipe.calibration import Training, registry
    from evalpipe.intervals.resampling import Design, replicate_weights

    n = len(y)
    training = Training(y, p, np.ones(n), lambda times: replicate_weights(Design(n), times, 0, "bags"))
    return registry[method].fit(training, **options)(p)


def isotonic(y: Any, p: Any) -> Any:
    """Fit scikit-learn's isotonic regression and predict the same rows."""
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(p)


def bagged(y: Any, p: Any) -> Any:
    """Return the mean of `BAGS` isotonic regressions on resampled rows."""
    from sklearn.isotonic import IsotonicRegression

    generator, total = np.random.default_rng(0), np.zeros(len(p))
    for _ in range(BAGS):
        drawn = generator.integers(0, len(p), len(p))
        total += IsotonicRegression(out_of_bounds="clip").fit(p[drawn], y[drawn]).predict(p)
    return total / BAGS


def timed(make: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and the outcome of one call."""
    begun = time.perf_counter()
    found = make()
    return time.perf_counter() - begun, found


def row(what: str, mine: Callable[[], Any], theirs: Callable[[], Any]) -> str:
    """Return one row of the table."""
    mine(), theirs()  # imports
    pairs = [(timed(mine), timed(theirs)) for _ in range(RUNS)]
    ratios = [other[0] / one[0] for one, other in pairs]
    left, right = (statistics.median(side[0] for side in sides) for sides in zip(*pairs, strict=True))
    apart = max(float(np.abs(one[1] - other[1]).max()) for one, other in pairs)
    return (
        f"| {what} | {left:.3f} s | {right:.3f} s | {statistics.median(ratios):.1f} | {min(ratios):.1f} to "
        f"{max(ratios):.1f} | {apart:.1g} |"
    )


def compare() -> str:
    """Return the rows of the table."""
    small, large = data(ROWS), data(MANY)
    return "\n".join([
        row(f"isotonic, {BAGS:,} bags of {ROWS:,} rows", lambda: ours("isotonic_bagged", *small, bags=BAGS),
            lambda: bagged(*small)),
        row(f"isotonic, {MANY:,} rows", lambda: ours("isotonic", *large, interpolate="linear"),
            lambda: isotonic(*large)),
    ])


if __name__ == "__main__":
    sys.stdout.write("\n".join((*HEADER, compare())) + "\n")
