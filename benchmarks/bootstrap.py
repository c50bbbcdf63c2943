"""Bootstrap intervals of twelve measures: evalpipe against a loop over scikit-learn, on the same rows.

    python benchmarks/bootstrap.py            prints the table

Our side is one whole call of `evalpipe.evaluate`, with its checks, point values and results, and all replicates; theirs
is a loop that draws rows and calls scikit-learn, without the fixed costs, timed over fewer replicates and extrapolated.
Both run in turn in a process of their own for each number of rows; the figure that counts is the ratio. A call with the
bands of all curves stands against the same loop, which has none. So that what is fast is also the same, the limits are
compared in units of their Monte-Carlo error: with those of the loop's replicates, and with those of as many replicates
of ours that draw every row and keep every score (`engine.mode: exact`).
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
SIZES = {6_107: (5_000, 100, 5), 100_000: (2_000, 100, 3), 1_000_000: (2_000, 100, 1)}
"""Rows: our replicates, theirs, and how often both are measured in turn."""

HEADER = (
    "| rows | replicates | evalpipe | loop | ratio | range | bands | ratio | range | memory | apart, loop | rows |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
)


def data(n: int) -> tuple[Any, Any]:
    """Return outcomes [n], three in ten events, and probabilities [n]."""
    generator = np.random.default_rng(n)
    y = generator.random(n) < 0.3
    return y, np.clip(generator.normal(0.35 + 0.2 * y, 0.2), 0, 1)


def ours(y: Any, p: Any, replicates: int, mode: str = "auto", *, bands: bool = False) -> tuple[float, Any]:
    """Return seconds and the rows of the results of one call; with the bands of all curves, if asked for."""
    import evalpipe

    intervals = {"method": "percentile", "replicates": replicates, "bands": bands}
    clipped = {"metric": "log_loss", "epsilon": float(np.finfo(float).eps)}  # as theirs does
    metrics = [clipped if name == "log_loss" else name for name in NAMES]
    begun = time.perf_counter()
    results = evalpipe.evaluate(y, p, event=True, metrics=metrics, intervals=intervals, engine={"mode": mode})
    return time.perf_counter() - begun, results.rows


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


def from_loop(rows: Any, drawn: Any) -> list[float]:
    """Return how far both limits of each measure lie from the loop's, in standard errors of both simulations.

    Too few replicates to tell the error of their own quantiles: that of the quantile of normal values is taken, whose
    standard deviation is that of our replicates, of which the interval is 3.92 wide.
    """
    tail = 0.025
    normal = statistics.NormalDist()
    width = 2 * normal.inv_cdf(1 - tail)
    scale = (tail * (1 - tail) / len(drawn)) ** 0.5 / normal.pdf(width / 2)
    found = []
    for row, values in zip(rows, drawn.T, strict=True):
        error = float(np.hypot(row.monte_carlo_error, scale * (row.upper - row.lower) / width))
        low, high = np.quantile(values, [tail, 1 - tail])
        found += [abs(row.lower - low) / error, abs(row.upper - high) / error]
    return found


def from_rows(rows: Any, others: Any) -> list[float]:
    """Return how far both limits of each measure lie from others of ours, in standard errors of both simulations."""
    found = []
    for row, other in zip(rows, others, strict=True):
        error = float(np.hypot(row.monte_carlo_error, other.monte_carlo_error))
        found += [abs(row.lower - other.lower) / error, abs(row.upper - other.upper) / error]
    return found


def compare(n: int) -> str:
    """Return one row of the table."""
    replicates, few, runs = SIZES[n]
    y, p = data(n)
    ours(*data(1000), 100)  # imports
    mine = [ours(y, p, replicates) for _ in range(runs)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    banded = [ours(y, p, replicates, bands=True)[0] for _ in range(runs)]
    loops = [theirs(y, p, few) for _ in range(runs)]
    seconds = [loop[0] / few * replicates for loop in loops]
    cells = (
        f"{n:,}", f"{replicates:,}", f"{statistics.median(run[0] for run in mine):.2f} s",
        f"{statistics.median(seconds):,.0f} s", *ratios(seconds, [run[0] for run in mine]),
        f"{statistics.median(banded):.2f} s", *ratios(seconds, banded), f"{memory:,.0f} MB",
        gaps(from_loop(mine[0][1], loops[0][1])), gaps(from_rows(mine[0][1], ours(y, p, replicates, "exact")[1])),
    )
    return f"| {' | '.join(cells)} |"


def ratios(theirs: list[float], ours: list[float]) -> tuple[str, str]:
    """Write the median and the range of the ratios of seconds, those of the loop to ours."""
    shares = [loop / run for loop, run in zip(theirs, ours, strict=True)]
    return f"{statistics.median(shares):,.0f}", f"{min(shares):,.0f} to {max(shares):,.0f}"


def gaps(found: list[float]) -> str:
    """Write the median and the largest."""
    return f"{statistics.median(found):.1f}, {max(found):.1f}"


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
