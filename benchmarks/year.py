"""A year of nightly runs in which something changes: who sees it, on which night, and what the ledger costs.

    python benchmarks/year.py noise    more noise in the log odds from night 200: the figures of docs/trend.md
    python benchmarks/year.py fall     a sensitivity that falls by 0.1 on night 201: the figures of docs/sequence.md
    python benchmarks/year.py early    values that fall on night 80: what each gate says on nights 79 to 95
    python benchmarks/year.py fall --nights 30 --changed 20 --folder DIR    a quick look, whose output stays

Each night is a real run of its own rows into a folder of its own. Of each judge, a gate or the control limits of the
trend, the first night is printed on which it saw the change; what it saw before is false. Nights are counted from 1.
`write_year` alone writes the data and the spec, for whoever runs the nights otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import yaml
from click.testing import CliRunner

import evalpipe
from evalpipe.chapters.trend.card import trend_figures
from evalpipe.cli.ledger import history
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import estimates_of, nights
from evalpipe.ledger.store import Ledger

if TYPE_CHECKING:
    from evalpipe.results import Results

FIRST = date(2026, 1, 1)
NIGHTS = 365
LIMITS = "control limits"
"""What the trend is called among the judges; gates go by their names."""


class Change(NamedTuple):
    """What changes in a year: the spec, the rows of so many nights, and the first night of the change."""

    spec: Mapping[str, Any]
    rows: Callable[[int, int], Iterator[pl.DataFrame]]
    changed: int


class Year(NamedTuple):
    """What a year came to: seconds, bytes, the nights on which each judge saw something, what gates said each night."""

    seconds: dict[str, float]
    ledger_bytes: int
    alarms: dict[str, list[int]]
    said: dict[str, list[str]]
    last: Results


def noisy_nights(count: int, changed: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of nights, about 300 each, whose log odds have more noise from one night on."""
    generator = np.random.default_rng(364)
    for number in range(1, count + 1):
        rows, noise = int(generator.integers(150, 450)), 2.0 if number >= changed else 0.5
        logit = generator.normal(0, 2, rows)
        truth = generator.random(rows) < 1 / (1 + np.exp(-logit))
        yield pl.DataFrame({
            "y": truth.astype(int), "p": 1 / (1 + np.exp(-logit - generator.normal(0, noise, rows)))})


def worse_nights(count: int, changed: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of nights, 300 each, whose probabilities have much more noise from one night on."""
    for number in range(1, count + 1):
        generator = np.random.default_rng([18, number])
        logit = generator.normal(-0.5, 1.5, 300)
        truth = generator.random(300) < 1 / (1 + np.exp(-logit))
        seen = logit + (generator.normal(0, 2.5, 300) if number >= changed else 0.0)
        yield pl.DataFrame({"truth": truth.astype(int), "probability": 1 / (1 + np.exp(-seen))})


def falling_nights(count: int, changed: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of nights, 600 each, about half of them events, whose sensitivity falls by 0.1 on one night."""
    for number in range(1, count + 1):
        generator = np.random.default_rng([17, number - 1])
        truth = generator.random(600) < 0.5
        found = np.where(truth, generator.random(600) < 0.76 - 0.1 * (number >= changed), generator.random(600) < 0.2)
        chance = (generator.random(600) + found) / 2
        yield pl.DataFrame({"truth": truth.astype(int), "predicted": found.astype(int), "probability": chance.round(4)})


_NIGHTLY = {"evalpipe": 1, "task": "binary", "report": {"formats": []}}
_AGAINST = {"metric": "roc_auc", "max_decrease": 0.02, "against": "last"}
_LIMIT = {"metric": "sensitivity", "min": 0.75}
CHANGES = {
    "noise": Change(_NIGHTLY | {
        "name": "churn", "outcome": {"column": "y", "event": 1},
        "datasets": {"nights": {"path": "data/${date}.parquet"}}, "models": {"model": {"probability": "p"}},
        "metrics": ["roc_auc"], "trend": {"metrics": ["roc_auc"]},
        "gates": [_AGAINST | {"on": "value", "name": "value"}, _AGAINST | {"on": "interval", "name": "interval"}],
        "intervals": {"replicates": 100, "bands": False},
    }, noisy_nights, 200),
    "fall": Change(_NIGHTLY | {
        "name": "nightly", "outcome": {"column": "truth", "event": 1},
        "datasets": {"night": {"path": "data/${date}.parquet"}}, "models": {"model": {"prediction": "predicted"}},
        "metrics": ["sensitivity", "accuracy"], "intervals": {"replicates": 100},
        "gates": [_LIMIT | {"name": "interval"}, _LIMIT | {"name": "sequence", "on": "sequence"}],
    }, falling_nights, 201),
    "early": Change(_NIGHTLY | {
        "name": "early", "outcome": {"column": "truth", "event": 1},
        "datasets": {"night": {"path": "data/${date}.parquet"}}, "models": {"model": {"probability": "probability"}},
        "metrics": ["roc_auc"], "intervals": {"replicates": 100, "bands": False},
        "gates": [{"name": measure, "metric": measure, limit: number, "on": "sequence"} for measure, limit, number in (
            ("sensitivity", "min", 0.48), ("accuracy", "min", 0.68), ("brier", "max", 0.205), ("log_loss", "max", 0.6),
            ("roc_auc", "min", 0.75), ("calibration_slope", "min", 0.7))],
    }, worse_nights, 80),
}
SHOWN = range(79, 96)
"""The nights of which it is told what each gate of `early` says."""


def day(number: int) -> date:
    """Return the day of a night, from 1."""
    return FIRST + timedelta(number - 1)


def write_year(folder: Path, change: Change, count: int = NIGHTS, changed: int | None = None) -> Path:
    """Write the data of each night and the spec, and return its path."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(change.rows(count, changed or change.changed), 1):
        frame.write_parquet(folder / "data" / f"{day(number)}.parquet")
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(dict(change.spec), sort_keys=False), encoding="utf-8")
    return spec


def run_year(spec: Path, count: int = NIGHTS) -> Year:
    """Run the nights in their order, each to a folder of its own."""
    begun, alarms, said = time.perf_counter(), dict[str, list[int]](), dict[str, list[str]]()
    reports, name = spec.parent / "reports", evalpipe.load(spec, as_of=FIRST).name
    for number in range(1, count + 1):
        results = evalpipe.run(spec, out=reports / f"{name}-{day(number)}", as_of=day(number))
        for judge, saw in _judged(results):
            alarms.setdefault(judge, []).extend([number] if saw else [])
        for gate in results.gates:
            said.setdefault(gate.name or "", []).append(gate.verdict)
    seconds = {"runs": time.perf_counter() - begun, **_reading(reports, results)}
    return Year(seconds, (reports / "ledger.sqlite").stat().st_size, alarms, said, results)


def _judged(results: Results) -> Iterator[tuple[str, bool]]:
    """Yield each judge, and whether it sees something."""
    yield from ((f"gate {gate.name}", gate.verdict == "fail") for gate in results.gates)
    yield from ((LIMITS, line.position == "below") for line in results.trend.lines)


def _reading(reports: Path, results: Results) -> dict[str, float]:
    """Return the seconds that it takes to list the nights, to read those of a trend, and to draw it."""
    begun = time.perf_counter()
    printed = CliRunner().invoke(history, [str(reports), "--last", str(NIGHTS)])
    listed = time.perf_counter()
    if printed.exit_code:
        raise RuntimeError(printed.output)
    ledger = Ledger.read(LedgerPlace.of(str(reports / "ledger.sqlite")))
    estimates_of(ledger, [run["run"] for run in nights(ledger, results.name)], [results.rows[0].metric])
    read = time.perf_counter()
    list(trend_figures(results))
    return {"history": listed - begun, "reading the nights": read - listed, "figure": time.perf_counter() - read}


def told(done: Year, changed: int) -> Iterator[str]:
    """Yield a line for each thing that was measured."""
    yield from (f"{name}: {seconds:.2f} s" for name, seconds in done.seconds.items())
    yield f"ledger: {done.ledger_bytes / 1e6:.2f} MB"
    for judge, seen in done.alarms.items():
        after = [number for number in seen if number >= changed]
        first = f"first saw it on night {after[0]} ({day(after[0])})" if after else "never saw it"
        yield f"{judge}: {first}; alarms before: {len(seen) - len(after)}"
    for gate, verdicts in done.said.items():
        shown = [verdicts[number - 1] for number in SHOWN if changed in SHOWN and number <= len(verdicts)]
        yield from [f"gate {gate}, from night {SHOWN[0]} on: {', '.join(shown)}"] if shown else []


def main() -> None:
    """Run a year and print what it came to."""
    parser = argparse.ArgumentParser(description="A year of nightly runs in which something changes.")
    parser.add_argument("change", choices=CHANGES)
    parser.add_argument("--nights", type=int, default=NIGHTS)
    parser.add_argument("--changed", type=int, help="the first night of the change")
    parser.add_argument("--folder", type=Path, help="where data and output go; by default a temporary folder")
    asked = parser.parse_args()
    change = CHANGES[asked.change]
    changed = asked.changed or change.changed
    with tempfile.TemporaryDirectory() as temporary:
        spec = write_year(asked.folder or Path(temporary), change, asked.nights, changed)
        lines = [f"{asked.nights} nights, changed from night {changed}", *told(run_year(spec, asked.nights), changed)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
