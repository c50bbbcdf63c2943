"""Whether two files of a run say the same but for the last digits of their numbers."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ALIKE = 1e-12
"""How far apart two numbers may be and still be the same: as a part of the larger one, or of 1 where both are below."""


def apart_in_results(there: bytes, here: bytes) -> float:
    """Return how far apart the numbers of two results are at most, infinity where anything else differs.

    The sha256 of the row-level file is left out: that file is compared by itself.
    """
    try:
        documents = [json.loads(content) for content in (there, here)]
    except (ValueError, RecursionError):
        return math.inf
    for document in documents:
        if isinstance(document, dict) and isinstance(document.get("row_file"), dict):
            document["row_file"]["sha256"] = None
    return _apart(*documents)


def _apart(there: object, here: object) -> float:
    if isinstance(there, dict) and isinstance(here, dict):
        return max((_apart(there[key], here[key]) for key in here), default=0.0) if [*there] == [*here] else math.inf
    if isinstance(there, list) and isinstance(here, list):
        return max(map(_apart, there, here), default=0.0) if len(there) == len(here) else math.inf
    if isinstance(there, float) and isinstance(here, float):
        return 0.0 if there == here else abs(there - here) / max(1.0, abs(there), abs(here))
    return 0.0 if type(there) is type(here) and there == here else math.inf


def apart_in_rows(there: Path, here: Path) -> float:
    """Return how far apart the numbers of two row-level files are at most, infinity where anything else differs."""
    import numpy as np
    import polars as pl

    try:
        files = [pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, infer_schema_length=None)
                 for file in (there, here)]
    except (pl.exceptions.PolarsError, OSError):
        return math.inf
    if files[0].schema != files[1].schema or files[0].height != files[1].height:
        return math.inf
    largest = 0.0
    for name, kind in files[0].schema.items():
        left, right = (file[name] for file in files)
        if left.equals(right, null_equal=True):
            continue
        if not kind.is_float() or not left.is_null().equals(right.is_null()):
            return math.inf
        a, b = (values.drop_nulls().to_numpy() for values in (left, right))
        with np.errstate(invalid="ignore"):
            apart = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(1.0, np.maximum(np.abs(a), np.abs(b))))
        largest = max(largest, math.inf if np.isnan(apart).any() else float(apart.max(initial=0.0)))
    return largest
