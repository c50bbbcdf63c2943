"""What small and repeated jobs need: the first `evaluate` of a process, titanic's card, many slices, a year of nights.

    python benchmarks/starts.py               prints the table, in about ten minutes
    python benchmarks/starts.py --nights 50   a quick look, with fewer nights and slices

The first row is a floor: a process that imports the libraries which every job needs, and does nothing else.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from processes import Spent, figures, spent, typical

RUNS, NIGHTS, GROUPS = 5, 1_000, 5_000
TITANIC = Path(__file__).parents[1] / "configs" / "titanic.yaml"
LIBRARIES = "import numpy, polars, pydantic, scipy.special"
EVALUATE = """
import numpy as np, evalpipe
generator = np.random.default_rng(1)
p = generator.random(1000)
evalpipe.evaluate((generator.random(1000) < p).astype(int), p, event=1)
"""
HEADER = ("| job | wall | processor | peak memory |", "|---|---|---|---|")
NIGHTLY: dict[str, Any] = {
    "evalpipe": 1, "name": "claims", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"tonight": {"path": "data/${date}.parquet"}}, "models": {"model": {"probability": "p"}},
    "metrics": ["roc_auc", "brier", "sensitivity"], "intervals": {"replicates": 500},
    "trend": {"metrics": ["roc_auc", "sensitivity"]}, "report": {"formats": ["html", "junit"]},
    "gates": [{"name": "Finds events", "metric": "sensitivity", "min": 0.6, "on": "sequence"},
              {"name": "No fall", "metric": "roc_auc", "max_decrease": 0.08, "against": "last"}],
}


def rows_of_events(rows: int, seed: int) -> pl.DataFrame:
    """Return the outcomes and probabilities of rows."""
    generator = np.random.default_rng(seed)
    log_odds = generator.normal(-1.6, 2, rows)
    p = 1 / (1 + np.exp(-log_odds))
    return pl.DataFrame({"y": (generator.random(rows) < p).astype(int), "p": p})


def command(spec: Path, out: Path) -> list[str]:
    """Return the command that runs a spec."""
    return [sys.executable, "-m", "evalpipe", "run", str(spec), "--out", str(out), "--no-progress"]


def processes(folder: Path, groups: int) -> dict[str, tuple[list[str], int]]:
    """Return the command of each job that is a process, and how often it runs; writes what they read to a folder."""
    spec = yaml.safe_load(TITANIC.read_text(encoding="utf-8"))
    for dataset in spec["datasets"].values():
        dataset["path"] = str(TITANIC.parent / dataset["path"])
    jobs = {"the libraries alone": ([sys.executable, "-c", LIBRARIES], RUNS),
            "first `evaluate`, 1,000 rows": ([sys.executable, "-c", EVALUATE], RUNS)}
    for name, formats in {"no card": [], "card as HTML": ["html"], "card as HTML and PDF": ["html", "pdf"]}.items():
        path = folder / f"titanic-{'-'.join(formats)}.yaml"
        path.write_text(yaml.safe_dump(spec | {"report": {"formats": formats}}), encoding="utf-8")
        jobs[f"titanic, {name}"] = command(path, folder / path.stem), RUNS
    rows_of_events(200 * groups, 2).with_columns(group=pl.arange(0, 200 * groups, eager=True) % groups).write_parquet(
        folder / "groups.parquet")
    sliced = {key: value for key, value in NIGHTLY.items() if key not in ("trend", "gates")} | {
        "datasets": {"groups": {"path": "groups.parquet"}}, "slices": ["group"],
        "slice_rules": {"max_levels": max(groups, 2)}, "report": {"formats": ["html"]}}
    (folder / "groups.yaml").write_text(yaml.safe_dump(sliced), encoding="utf-8")
    jobs[f"{groups:,} slices of 200 rows, three measures, card"] = command(folder / "groups.yaml", folder / "groups"), 1
    return jobs


def nights(folder: Path, count: int) -> list[list[str]]:
    """Run the nights of a ledger in one process; return the rows of the second to eleventh, and of the last ten."""
    import evalpipe

    (folder / "data").mkdir()
    spec = folder / "nights.yaml"
    spec.write_text(yaml.safe_dump(NIGHTLY), encoding="utf-8")
    needed: list[Spent] = []
    for number in range(count):
        day = date(2024, 1, 1) + timedelta(number)
        rows_of_events(600, number).write_parquet(folder / "data" / f"{day}.parquet")
        wall, processor = time.perf_counter(), time.process_time()
        evalpipe.run(spec, out=folder / "reports" / f"claims-{day}", as_of=day)
        needed.append(Spent(time.perf_counter() - wall, time.process_time() - processor, 0))
    return [[name, *figures(typical(some))[:2], ""] for name, some in (
        ("nights 2 to 11 of a ledger, 600 rows", needed[1:11]), (f"its last ten nights, of {count:,}", needed[-10:]))]


def table(count: int = NIGHTS) -> list[str]:
    """Return the table of all jobs, in Markdown; fewer nights have fewer slices too."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        jobs = processes(folder, GROUPS * count // NIGHTS)
        runs: dict[str, list[Spent]] = {name: [] for name in jobs}
        for turn in range(RUNS):
            for name, (line, times) in jobs.items():
                runs[name] += [spent(line)[0]] if turn < times else []
        rows = [[name, *figures(typical(some))] for name, some in runs.items()]
        rows += nights(folder, count)
    return [*HEADER, *(f"| {' | '.join(row)} |" for row in rows)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure small and repeated jobs.")
    parser.add_argument("--nights", type=int, default=NIGHTS, help="the nights of the ledger")
    print("\n".join(table(parser.parse_args().nights)))
