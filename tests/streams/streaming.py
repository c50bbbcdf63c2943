"""Runs on files that are read part by part, and on the same rows held, for the tests of streaming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import evalpipe
from engine.runs import people, with_line
from evalpipe.results import Results

MEASURES = ["accuracy", "sensitivity", "precision", "f1", "kappa", "mcc", "brier", "log_loss", "roc_auc",
            "average_precision", "ks", "ece", "gini"]
MODELS = {"p": {"probability": "p"}, "q": {"probability": "q"}}

SPEC = """\
evalpipe: 1
name: x
task: binary
datasets: {d: {path: d}}
outcome: {column: y, event: 1}
models: {p: {probability: p}}
metrics: [accuracy, log_loss]
threshold: 0.5
engine: {mode: grid}
intervals: {method: none}
report: {formats: []}
"""
"""A spec of files in the folder `d` beside it, which are read part by part."""


def rows(n: int = 4000, seed: int = 3) -> pl.DataFrame:
    """Return n rows with two models' probabilities of many digits, log odds of the first, days, times and slices."""
    frame = people(n, seed=seed, digits=15)
    p = frame["p"].to_numpy()
    day = pl.date(2025, 11, 20) + pl.duration(days=pl.col("who") % 150)
    return frame.with_columns(
        odds=pl.Series(np.log(p) - np.log1p(-p)), label=(pl.col("q") >= 0.4).cast(pl.Int64),
        day=pl.when(pl.col("who") % 7 > 0).then(day),
        at=(day.cast(pl.Datetime("us")) + pl.duration(minutes=1400)).dt.replace_time_zone("Europe/Berlin"))


def write(frame: pl.DataFrame, folder: Path, sizes: list[int], row_group: int | None = None) -> Path:
    """Write rows into Parquet files of these numbers of rows each, the last of all that are left; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    first = 0
    for number, size in enumerate([*sizes, max(1, frame.height - sum(sizes))]):
        part = frame.slice(first, size)
        part.write_parquet(folder / f"part-{number:05}.parquet", row_group_size=row_group)
        first += size
    return folder


def run(path: Path, mode: str = "grid", **keys: Any) -> Results:
    """Run a spec of these keys on the files at a path."""
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": str(path)}},
        "outcome": {"column": "y", "event": 1}, "models": MODELS, "metrics": MEASURES,
        "engine": {"mode": mode}, "report": {"formats": []}, "intervals": {"replicates": 200},
    }
    raw = any("score" in model and "scale" not in model for model in {**spec, **keys}["models"].values())
    merged = {**spec, **({} if raw else {"threshold": 0.5}), **keys}
    return evalpipe.run({key: value for key, value in with_line(merged).items() if value is not None})


def numbers(results: Results) -> str:
    """Return all that was computed, without what names files."""
    held = json.loads(results.to_json())
    for name in ("inputs", "spec", "spec_sha256"):
        held.pop(name)
    return json.dumps(held)
