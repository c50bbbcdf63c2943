"""Bootstrap intervals of eleven measures: evalpipe against a loop over scikit-learn.

    python benchmarks/bootstrap.py            prints the table and writes benchmarks/RESULTS.md

Both sides score the same random rows and draw the same kind of resample in one process; the figure that counts is the
ratio of their times a replicate, the median of five runs in turn. Absolute times depend on the machine.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import metrics as sk

from evalpipe.intervals import Design, replicate_weights
from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary

NAMES = (
    "accuracy", "balanced_accuracy", "sensitivity", "precision", "f1", "kappa", "mcc", "brier", "log_loss", "roc_auc",
    "average_precision",
)
PEERS = (
    sk.accuracy_score, sk.balanced_accuracy_score, sk.recall_score, sk.precision_score, sk.f1_score,
    sk.cohen_kappa_score, sk.matthews_corrcoef, sk.brier_score_loss, sk.log_loss, sk.roc_auc_score,
    sk.average_precision_score,
)
PROBABILISTIC = {sk.brier_score_loss, sk.log_loss, sk.roc_auc_score, sk.average_precision_score}
SIZES = {1_000: (400, 20), 6_107: (400, 10), 100_000: (40, 3)}
RUNS = 5


def ours(y: Any, p: Any, replicates: int) -> float:
    """Return seconds a replicate."""
    begun = time.perf_counter()
    rows = Rows(y, p >= 0.5, p)
    wanted = [(registry[name], registry[name].options().model_dump()) for name in NAMES]
    for batch in replicate_weights(Design(len(y)), replicates, 0, "benchmark"):
        summary = Summary(rows, batch)
        for metric, options in wanted:
            summary.value(metric, options)
    return (time.perf_counter() - begun) / replicates


def theirs(y: Any, p: Any, replicates: int) -> float:
    """Return seconds a replicate."""
    generator = np.random.default_rng(0)
    begun = time.perf_counter()
    for _ in range(replicates):
        drawn = generator.integers(0, len(y), len(y))
        truth, score = y[drawn], p[drawn]
        for peer in PEERS:
            peer(truth, score if peer in PROBABILISTIC else score >= 0.5)
    return (time.perf_counter() - begun) / replicates


def compare(n: int, few: tuple[int, int]) -> str:
    """Return one row of the table."""
    generator = np.random.default_rng(n)
    y = generator.random(n) < 0.3
    p = np.clip(generator.normal(0.35 + 0.2 * y, 0.2), 0, 1)
    pairs = [(ours(y, p, few[0]), theirs(y, p, few[1])) for _ in range(RUNS)]
    ratios = [right / left for left, right in pairs]
    left, right = (statistics.median(times) * 1000 for times in zip(*pairs, strict=True))
    spread = f"{min(ratios):.0f} to {max(ratios):.0f}"
    return f"| {n:,} | {left:.3f} ms | {right:.1f} ms | {statistics.median(ratios):.0f} | {spread} |"


def main() -> None:
    """Print the table and write it beside this file."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scikit-learn"))
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` on {platform.machine()}, Python {platform.python_version()}, {versions}.",
        "",
        "## Bootstrap of eleven measures, one replicate",
        "",
        "| rows | evalpipe | loop over scikit-learn | median ratio | range of five runs |",
        "|---|---|---|---|---|",
        *(compare(n, few) for n, few in SIZES.items()),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    Path(__file__).with_name("RESULTS.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
