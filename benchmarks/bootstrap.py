"""Bootstrap intervals of twelve measures: evalpipe against a loop over scikit-learn, on the same rows.

    python benchmarks/bootstrap.py            prints the table

Our side is one whole call of `evalpipe.evaluate`, with its checks, point values and results, and all replicates; theirs
is a loop that draws rows and calls scikit-learn, without the fixed costs, timed over fewer replicates and extrapolated.
Both run in turn in a process of their own for each number of rows; the figure that counts is the ratio. The limits of
both are compared in units of their Monte-Carlo error, so that what is fast is also the same.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from typing import Any

import numpy as np

NAMES = (
    "accuracy", "balanced_accuracy", "sensitivity", "specificity", "precision", "f1", "kappa", "mcc", "brier",
    "log_loss", "roc_auc", "average_precision",
)
SIZES = {6_107: (5_000, 100, 5), 100_000: (2_000, 100, 3), 1_000_000: (2_000, 60, 1)}
"""Rows: our replicates, theirs, and how often both are measured in turn."""

HEADER = (
    "| rows | replicates | evalpipe | scikit-learn loop | ratio | range | limits apart: median, largest | our memory |",
    "|---|---|---|---|---|---|---|---|",
)


def data(n: int) -> tuple[Any, Any]:
    """Return outcomes [n], three in ten events, and probabilities [n]."""
    generator = np.random.default_rng(n)
    y = generator.random(n) < 0.3
    return y, np.clip(generator.normal(0.35 + 0.2 * y, 0.2), 0, 1)


def ours(y: Any, p: Any, replicates: int) -> tuple[float, Any]:
    """Return seconds and results of one call."""
    import evalpipe

    intervals = {"method": "percentile", "replicates": replicates, "bands": False}
    begun = time.perf_counter()
    results = evalpipe.evaluate(y, p, event=True, metrics=NAMES, intervals=intervals)
    return time.perf_counter() - begun, results


def theirs(y: Any, p: Any, replicates: int) -> tuple[float, Any]:
    """Return seconds and the replicates [B, measures] of the loop."""
    from sklearn import metrics as sk

    peers = (
        (sk.accuracy_score, False), (sk.balanced_accuracy_score, False), (sk.recall_score, False),
        (lambda y, d: sk.recall_score(y, d, pos_label=0), False), (sk.precision_score, False), (sk.f1_score, False),
        (sk.cohen_kappa_score, False), (sk.matthews_corrcoef, False), (sk.brier_score_loss, True),
        (sk.log_loss, True), (sk.roc_auc_score, True), (sk.average_precision_score, True),
    )
    generator, found = np.random.default_rng(0), []
    begun = time.perf_counter()
    for _ in range(replicates):
        drawn = generator.integers(0, len(y), len(y))
        truth, score = y[drawn], p[drawn]
        found.append([peer(truth, score if soft else score >= 0.5) for peer, soft in peers])
    return time.perf_counter() - begun, np.array(found)


def apart(results: Any, drawn: Any) -> list[float]:
    """Return how far both limits of each measure lie from the loop's, in standard errors of both simulations."""
    from evalpipe.intervals import monte_carlo_error, percentile_limits

    found = []
    for i, row in enumerate(results.rows):
        limits, noise = percentile_limits(drawn[:, i], 0.95), monte_carlo_error(drawn[:, i], 0.95)
        if limits is None or noise is None:
            raise ValueError("the loop has no limits")
        error = float(np.hypot(noise, row.monte_carlo_error))
        found += [abs(row.lower - limits[0]) / error, abs(row.upper - limits[1]) / error]
    return found


def compare(n: int) -> str:
    """Return one row of the table."""
    replicates, few, runs = SIZES[n]
    y, p = data(n)
    ours(*data(1000), 100)  # imports
    mine = [ours(y, p, replicates) for _ in range(runs)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    loops = [theirs(y, p, few) for _ in range(runs)]
    ratios = [loop[0] / few * replicates / one[0] for one, loop in zip(mine, loops, strict=True)]
    left, right = (statistics.median(side[0] for side in both) for both in (mine, loops))
    gaps = apart(mine[0][1], np.concatenate([loop[1] for loop in loops[:1]]))
    cells = (
        f"{n:,}", f"{replicates:,}", f"{left:.2f} s", f"{right / few * replicates:,.0f} s",
        f"{statistics.median(ratios):,.0f}", f"{min(ratios):,.0f} to {max(ratios):,.0f}",
        f"{statistics.median(gaps):.1f}, {max(gaps):.1f}", f"{memory:,.0f} MB",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    import subprocess

    sys.stdout.write("\n".join(HEADER) + "\n")
    sys.stdout.flush()
    for n in SIZES:
        subprocess.run([sys.executable, __file__, str(n)], check=True)  # noqa: S603 - this file


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(compare(int(sys.argv[1])) + "\n")
    else:
        main()
