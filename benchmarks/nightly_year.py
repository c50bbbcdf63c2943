"""A year of nightly runs with a fall on night 201: what each gate told and when, the ledger, and `evalpipe history`.

    python benchmarks/nightly_year.py FOLDER              writes data for each night, runs them all, and prints
    python benchmarks/nightly_year.py FOLDER --nights 30  a quick look

`write_year` alone writes the data and the spec, for whoever runs the nights otherwise.
"""

from __future__ import annotations

import argparse
import datetime as dt
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

import evalpipe
from evalpipe.results import Gate

FIRST = dt.date(2026, 1, 1)
NIGHTS, CHANGED, ROWS = 365, 200, 600
"""Nights, the first of those after the fall counted from 0, and rows of each, of which about a half are events."""
SENSITIVITY, FALL = 0.76, 0.1
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "nightly", "task": "binary", "outcome": {"column": "truth", "event": 1},
    "datasets": {"night": {"path": "data/${date}.parquet"}}, "models": {"model": {"prediction": "predicted"}},
    "metrics": ["sensitivity", "accuracy"], "report": {"formats": []}, "intervals": {"replicates": 100},
    "gates": [
        {"name": "interval", "metric": "sensitivity", "min": 0.75},
        {"name": "sequence", "metric": "sensitivity", "min": 0.75, "on": "sequence"},
    ],
}


def day(number: int) -> dt.date:
    """Return the day of a night, from 0."""
    return FIRST + dt.timedelta(number)


def night(number: int, *, changed: int = CHANGED, fall: float = FALL) -> pl.DataFrame:
    """Return the rows of a night, the same each time: truth, prediction, and a probability that agrees with it."""
    rng = np.random.default_rng([17, number])
    truth = rng.random(ROWS) < 0.5
    sensitivity = SENSITIVITY - fall * (number >= changed)
    predicted = np.where(truth, rng.random(ROWS) < sensitivity, rng.random(ROWS) < 0.2)
    probability = (rng.random(ROWS) + predicted) / 2
    return pl.DataFrame(
        {"truth": truth.astype(int), "predicted": predicted.astype(int), "probability": probability.round(4)})


def write_year(folder: Path, nights: int = NIGHTS, **changes: Any) -> Path:
    """Write the data of each night and the spec, with other keys where given, and return its path."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for number in range(nights):
        night(number).write_parquet(folder / "data" / f"{day(number)}.parquet")
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(SPEC | changes, sort_keys=False), encoding="utf-8")
    return spec


def run_year(spec: Path, nights: int) -> list[list[Gate]]:
    """Run the nights in their order, each to a folder of its own, and return their verdicts."""
    out = spec.parent / "reports"
    return [evalpipe.run(spec, out=out / f"nightly-{day(number)}", as_of=day(number)).gates for number in range(nights)]


def told(verdicts: list[list[Gate]], place: int) -> str:
    """Say on which nights a gate failed falsely, and after how many it told of the fall."""
    failed = [number for number, gates in enumerate(verdicts) if gates[place].verdict == "fail"]
    early, late = [number for number in failed if number < CHANGED], [n for n in failed if n >= CHANGED]
    caught = "never" if not late else f"on night {late[0] + 1} ({day(late[0])}), {late[0] - CHANGED + 1} after the fall"
    return f"gate {verdicts[0][place].name}: failed falsely on {len(early)} nights; told of the fall {caught}"


def main() -> None:
    """Run a year and print what came of it."""
    parser = argparse.ArgumentParser(description="A year of nightly runs.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nights", type=int, default=NIGHTS)
    asked = parser.parse_args()
    spec = write_year(asked.folder, asked.nights)
    began = time.perf_counter()
    verdicts = run_year(spec, asked.nights)
    print(f"{asked.nights} nights in {time.perf_counter() - began:.0f} s")
    for place in range(len(verdicts[0])):
        print(told(verdicts, place))
    ledger = spec.parent / "reports" / "ledger.sqlite"
    print(f"ledger: {ledger.stat().st_size / 1e6:.1f} MB")
    began = time.perf_counter()
    folder = ledger.parent / f"nightly-{day(asked.nights - 1)}"
    command = [sys.executable, "-m", "evalpipe", "history", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - evalpipe itself
    print(f"history: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
