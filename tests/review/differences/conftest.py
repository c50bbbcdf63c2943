"""Two runs of one small spec on the same rows, with other predictions, another limit of a gate and another seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.results import Results
from evalpipe.review.differences.records import Run, read_run

SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
id: row
datasets: {test: {path: FILE}}
models: {a: {probability: p, label: Forest}}
metrics: [accuracy, brier, roc_auc, {metric: f_beta, beta: 2}]
slices: [region]
intervals: {replicates: 100}
gates:
  - {metric: roc_auc, min: 0.83, on: value}
  - {metric: brier, max: 0.2}
report: {formats: [], rows: parquet}
"""


class Pair(NamedTuple):
    """Two runs, and the folder that theirs are in."""

    folder: Path
    a: Run
    b: Run


def rows(folder: Path) -> None:
    """Write the rows of both runs."""
    generator = np.random.default_rng(0)
    y = generator.random(300) < 0.4
    p = np.clip(generator.normal(0.3 + 0.3 * y, 0.2), 0.01, 0.99).round(6)
    q = np.clip(p + generator.normal(0, 0.12, 300), 0.01, 0.99).round(6)
    region = np.where(generator.random(300) < 0.5, "north", "south")
    base = {"row": [f"r{i}" for i in range(300)], "y": np.where(y, "yes", "no"), "region": region}
    pl.DataFrame({**base, "p": p}).write_csv(folder / "monday.csv")
    pl.DataFrame({**base, "p": q}).write_csv(folder / "tuesday.csv")


def write_runs(folder: Path) -> None:
    """Run the spec on the rows of both days."""
    folder.mkdir()
    rows(folder)
    for day, spec in (("monday", SPEC), ("tuesday", SPEC.replace("max: 0.2", "max: 0.21"))):
        (folder / f"{day}.yaml").write_text(spec.replace("FILE", f"{day}.csv"))
        evalpipe.run(folder / f"{day}.yaml", out=folder / day)


@pytest.fixture(scope="session")
def days(shared: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Return the folder with the two runs, which no test changes."""
    return shared("differences", write_runs)


@pytest.fixture
def pair(days: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Return the two runs, read from within their folder."""
    monkeypatch.chdir(days)
    return Pair(days, read_run("monday"), read_run("tuesday"))


@pytest.fixture(scope="session")
def results(days: Path) -> Results:
    """Return the results of the first run, with the sentences of findings as they are, whatever a test changes."""
    found = Results.read(days / "monday")
    return found.model_copy(update={"finding_rows": found.findings})


def alone(results: Results, source: str = "a") -> Run:
    """Return results that no folder holds as a run."""
    return Run(source, results)
