"""The output folder of one small run, with a page, a text and a file of rows; tests copy what they change."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import evalpipe

if TYPE_CHECKING:
    from conftest import Shared

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "metrics": ["brier",
     "roc_auc"],
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "slices": ["g"],
    "slice_rules": {"min_rows": 1}, "gates": [{"metric": "brier", "max": 0.5}], "intervals": {"method": "none"},
    "report": {"formats": ["html", "markdown"], "rows": "csv"}, "ledger": False,
}


@pytest.fixture(scope="session")
def small_run(shared: Shared) -> Path:
    """Return the folder of the run."""
    people = pl.DataFrame({
        "y": [1, 0] * 20, "p": [(7 * place % 40) / 40 for place in range(40)], "g": ["a", "a", "b", "b"] * 10})
    return shared("small-run", lambda out: evalpipe.run(SPEC, frames={"d": people}, out=out))


@pytest.fixture
def folder(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, named from the working folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_run, "out")
    return Path("out")
