"""What desirability costs: D of 20 models from 2,000 replicates of 100,000 rows, against the same run without goals.

python benchmarks/desirability.py            prints the table
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

ROWS, MODELS, REPLICATES, RUNS = 100_000, 20, 2_000, 3
MEASURES = ("roc_auc", "brier", "log_loss", "accuracy", "sensitivity", "specificity", "precision", "f1")
GOALS: list[dict[str, Any]] = [
    {"metric": "brier", "minimize": {"low": 0.0, "high": 0.25}},
    {"metric": "roc_auc", "maximize": {"low": 0.5, "high": 1.0}},
    {"metric": "specificity", "box": {"low": 0.8, "high": 1.0}},
    {"metric": "sensitivity", "maximize": {"low": 0.2, "high": 1.0, "scale": 2}, "weight": 2},
    {"characteristic": "features", "minimize": {"low": 1, "high": 30}},
]
HEADER = (
    "| rows | models | measures | goals | replicates | with desirability | without | ratio | range |",
    "|---|---|---|---|---|---|---|---|---|",
)


def frame() -> Any:
    """Return outcomes and the probabilities of the models, from good to poor."""
    import polars as pl

    generator = np.random.default_rng(ROWS)
    y = generator.random(ROWS) < 0.3
    spreads = np.linspace(0.15, 0.3, MODELS)
    models = {f"m{i}": np.clip(generator.normal(0.3 + 0.25 * y, spread), 0, 1) for i, spread in enumerate(spreads)}
    return pl.DataFrame({"y": y, **models})


def seconds(table: Any, *, judged: bool) -> float:
    """Return the seconds of a whole run without files."""
    import evalpipe

    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "desirability", "task": "binary", "outcome": {"column": "y", "event": True},
        "datasets": {"data": {"path": "memory"}},
        "models": {f"m{i}": {"probability": f"m{i}", "characteristics": {"features": 1 + i}} for i in range(MODELS)},
        "metrics": list(MEASURES), "intervals": {"replicates": REPLICATES}, "report": {"formats": []},
    }
    spec |= {"desirability": GOALS} if judged else {}
    begun = time.perf_counter()
    evalpipe.run(spec, frames={"data": table})
    return time.perf_counter() - begun


def compare() -> str:
    """Return the row of the table."""
    table = frame()
    seconds(table[:2000], judged=True)  # imports
    pairs = [(seconds(table, judged=True), seconds(table, judged=False)) for _ in range(RUNS)]
    ratios = [judged / plain for judged, plain in pairs]
    left, right = (statistics.median(side) for side in zip(*pairs, strict=True))
    return (
        f"| {ROWS:,} | {MODELS} | {len(MEASURES)} | {len(GOALS)} | {REPLICATES:,} | {left:.1f} s | {right:.1f} s | "
        f"{statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |"
    )


if __name__ == "__main__":
    sys.stdout.write("\n".join((*HEADER, compare())) + "\n")
