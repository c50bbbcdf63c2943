"""A year of nightly runs, with drift from one day on: when a gate and control limits see it, and what the ledger costs.

    python benchmarks/year.py [--nights 365] [--drift 200] [--rows 300] [--fall 1.5]

Each night is a real run of its own rows into a folder of its own. From the night of the drift the log odds of the model
have so much more noise. The night that first sees it is printed for a gate `against: last` by the value, one by the
interval, and the control limits of the trend; alarms before are false.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from click.testing import CliRunner

import evalpipe
from evalpipe.chapters.trend.figures import trend_figures
from evalpipe.cli.history import history
from evalpipe.ledger.nights import estimates_of, nights
from evalpipe.ledger.place import LedgerPlace
from evalpipe.ledger.store import Ledger

if TYPE_CHECKING:
    from evalpipe.results import Results

FIRST = date(2026, 1, 1)
SEED = 364
GATE = {"metric": "roc_auc", "max_decrease": 0.02, "against": "last"}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "churn", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"nights": {"path": "memory"}}, "models": {"model": {"probability": "p"}}, "metrics": ["roc_auc"],
    "gates": [GATE | {"on": "value", "name": "value"}, GATE | {"on": "interval", "name": "interval"}],
    "trend": {"metrics": ["roc_auc"]}, "report": {"formats": []}, "intervals": {"replicates": 100, "bands": False},
}


class Year(NamedTuple):
    """What a year came to: seconds, bytes, and of each judge the nights, from 1, on which it saw something."""

    seconds: dict[str, float]
    ledger_bytes: int
    alarms: dict[str, list[int]]
    last: Results


def rows_of(generator: np.random.Generator, rows: int, noise: float) -> pl.DataFrame:
    """Return the rows of a night, whose log odds are those of the event with noise."""
    logit = generator.normal(0, 2, rows)
    truth = generator.random(rows) < 1 / (1 + np.exp(-logit))
    return pl.DataFrame({"y": truth.astype(int), "p": 1 / (1 + np.exp(-logit - generator.normal(0, noise, rows)))})


def year(folder: Path, count: int, drift: int, rows: int, fall: float) -> Year:
    """Run so many nights, of which those from ``drift`` on have ``fall`` more noise in their log odds."""
    generator, begun = np.random.default_rng(SEED), time.perf_counter()
    alarms: dict[str, list[int]] = {"gate by value": [], "gate by interval": [], "control limits": []}
    for night in range(1, count + 1):
        size = int(generator.integers(rows // 2, rows * 3 // 2))
        frame = rows_of(generator, size, 0.5 + (fall if night >= drift else 0))
        day = FIRST + timedelta(days=night - 1)
        results = evalpipe.run(SPEC, out=folder / f"churn-{day}", frames={"nights": frame}, as_of=day)
        verdicts = {gate.name: gate.verdict for gate in results.gates}
        for name in ("value", "interval"):
            alarms[f"gate by {name}"] += [night] if verdicts[name] == "fail" else []
        alarms["control limits"] += [night] if results.trend.lines[0].position == "below" else []
    seconds = {"runs": time.perf_counter() - begun, **_reading(folder, results)}
    return Year(seconds, (folder / "ledger.sqlite").stat().st_size, alarms, results)


def _reading(folder: Path, results: Results) -> dict[str, float]:
    """Return the seconds that it takes to list the nights, to read those of a trend, and to draw it."""
    begun = time.perf_counter()
    printed = CliRunner().invoke(history, [str(folder), "--last", "365"])
    listed = time.perf_counter()
    if printed.exit_code:
        raise RuntimeError(printed.output)
    ledger = Ledger.read(LedgerPlace.of(str(folder / "ledger.sqlite")))
    estimates_of(ledger, [run["run"] for run in nights(ledger, "churn")], ["roc_auc"])
    read = time.perf_counter()
    list(trend_figures(results))
    return {"history": listed - begun, "reading the nights": read - listed, "figure": time.perf_counter() - read}


def main() -> None:
    """Run a year and print what it came to."""
    parser = argparse.ArgumentParser()
    for name, default in (("nights", 365), ("drift", 200), ("rows", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--fall", type=float, default=1.5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = year(Path(folder), given.nights, given.drift, given.rows, given.fall)
    lines = [f"{given.nights} nights of about {given.rows} rows, drift from night {given.drift}"]
    lines += [f"{name}: {seconds:.2f} s" for name, seconds in done.seconds.items()]
    lines.append(f"ledger: {done.ledger_bytes / 1e6:.2f} MB")
    for name, seen in done.alarms.items():
        after = [night for night in seen if night >= given.drift]
        first = after[0] if after else "none"
        lines.append(f"{name}: first seen on night {first}, {len(seen) - len(after)} alarms before")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
