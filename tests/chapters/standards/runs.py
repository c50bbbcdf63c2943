"""Runs that answer some items of standards."""

from __future__ import annotations

from typing import Any

import polars as pl

import evalpipe
from evalpipe.results import Results

FRAME = pl.DataFrame({
    "y": [n % 3 % 2 for n in range(90)], "p": [(n % 7 + 1) / 9 for n in range(90)],
    "q": [(n % 5 + 1) / 7 for n in range(90)], "sex": ["mf"[n % 2] for n in range(90)],
})
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "told", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"test": {"path": "memory"}}, "models": {"a": {"probability": "p"}}, "metrics": ["roc_auc", "accuracy"],
    "intervals": {"replicates": 100, "bands": False}, "report": {"formats": []},
}


def run(standards: Any, out: Any = None, **keys: Any) -> Results:
    """Return the results of a run with these standards."""
    return evalpipe.run(SPEC | {"standards": standards} | keys, frames={"test": FRAME}, out=out)
