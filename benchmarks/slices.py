"""What slices cost: 20 slices of 2 models under 20 measures, 2,000 replicates of 100,000 rows, against no slices.

python benchmarks/slices.py            prints the table
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

ROWS, REPLICATES, RUNS = 100_000, 2_000, 3
COLUMNS, LEVELS = 4, 5
MEASURES = (
    "accuracy", "balanced_accuracy", "sensitivity", "specificity", "precision", "npv_sample", "f1", "kappa", "mcc",
    "j_index", "detection_prevalence", "false_positive_rate", "brier", "log_loss", "roc_auc", "average_precision", "ks",
    "tjur_r2", "brier_skill", "mcfadden_r2",
)
HEADER = (
    "| rows | slices | models | measures | replicates | sliced | not sliced | ratio | range |",
    "|---|---|---|---|---|---|---|---|---|",
)


def frame() -> Any:
    """Return outcomes, the probabilities of two models and four columns of five levels."""
    import polars as pl

    generator = np.random.default_rng(ROWS)
    y = generator.random(ROWS) < 0.3
    spreads = {"a": 0.2, "b": 0.25}
    models = {name: np.clip(generator.normal(0.35 + 0.2 * y, spread), 0, 1) for name, spread in spreads.items()}
    columns = {f"column_{k}": generator.integers(0, LEVELS, ROWS).astype(str) for k in range(COLUMNS)}
    return pl.DataFrame({"y": y, **models, **columns})


def seconds(table: Any, *, sliced: bool) -> float:
    """Return the seconds of a whole run without files."""
    import evalpipe

    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "slices", "task": "binary", "outcome": {"column": "y", "event": True},
        "datasets": {"data": {"path": "memory"}}, "models": {"a": {"probability": "a"}, "b": {"probability": "b"}},
        "metrics": list(MEASURES), "intervals": {"replicates": REPLICATES}, "report": {"formats": []},
    }
    spec |= {"slices": [f"column_{k}" for k in range(COLUMNS)]} if sliced else {}
    begun = time.perf_counter()
    evalpipe.run(spec, frames={"data": table})
    return time.perf_counter() - begun


def compare() -> str:
    """Return the row of the table."""
    table = frame()
    seconds(table[:2000], sliced=True)  # imports
    pairs = [(seconds(table, sliced=True), seconds(table, sliced=False)) for _ in range(RUNS)]
    ratios = [with_slices / without for with_slices, without in pairs]
    left, right = (statistics.median(side) for side in zip(*pairs, strict=True))
    return (
        f"| {ROWS:,} | {COLUMNS * LEVELS} | 2 | {len(MEASURES)} | {REPLICATES:,} | {left:.1f} s | {right:.1f} s | "
        f"{statistics.median(ratios):.1f} | {min(ratios):.1f} to {max(ratios):.1f} |"
    )


if __name__ == "__main__":
    sys.stdout.write("\n".join((*HEADER, compare())) + "\n")
