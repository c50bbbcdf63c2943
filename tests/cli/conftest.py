"""A small evaluation in a folder of its own, and the command line as users start it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
datasets:
  test: {path: test.csv}
models:
  a: {probability: pa}
metrics: [accuracy, brier, roc_auc]
intervals: {replicates: 100}
report: {formats: [html]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    y = generator.random(80) < 0.4
    p = np.clip(generator.normal(0.3 + 0.3 * y, 0.2), 0, 1)
    pl.DataFrame({"y": np.where(y, "yes", "no"), "pa": p}).write_csv(tmp_path / "test.csv")
    (tmp_path / "small.yaml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Command:
    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "evalpipe", *arguments]
        return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]

    return run
