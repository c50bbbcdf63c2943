"""A spec like `configs/slices.yaml`, of rows in many groups: how large does the card of so many slices become?"""

from __future__ import annotations

import json
from pathlib import Path

GROUPS, TIMES = 200, 10


def write(folder: Path, passengers: Path) -> Path:
    """Write the spec and its data, the ``passengers`` of the Titanic `TIMES` times over; return its path."""
    import polars as pl

    rows = pl.concat([pl.read_parquet(passengers)] * TIMES).with_row_index("row")
    group = pl.format("group {}", pl.col("row") % GROUPS + 1).alias("group")
    folder.mkdir(parents=True, exist_ok=True)
    rows.with_columns(group, pl.col("row").cast(pl.String).alias("passenger")).write_parquet(folder / "groups.parquet")
    spec = {
        "evalpipe": 1, "name": "many_groups", "seed": 1912, "task": "binary",
        "outcome": {"column": "survived", "event": "yes", "levels": ["no", "yes"]},
        "datasets": {"evaluation": {"path": "groups.parquet"}},
        "models": {name: {"probability": name} for name in ("logistic_regression", "random_forest")},
        "metrics": ["brier", "roc_auc", "accuracy", "sensitivity", "specificity", "precision"],
        "slices": ["group"], "slice_rules": {"min_rows": 30, "max_levels": GROUPS, "reference": "overall"},
        "compare": {"baseline": "logistic_regression", "margins": {"brier": 0.01, "accuracy": 0.02}},
        "intervals": {"replicates": 100},
    }
    path = folder / "many_groups.yaml"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return path
