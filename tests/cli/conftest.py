"""A small evaluation in a folder of its own, and the command line: within this process, and as users start it."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import evalpipe
from conftest import Shared
from evalpipe.cli import main

Command = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
datasets: {test: {path: test.csv}}
calibration: {smoother: logistic}
models:
  a: {probability: pa}
metrics: [accuracy, brier, roc_auc]
intervals: {replicates: 100}
report: {formats: [html]}
"""


def write_small(folder: Path) -> None:
    """Write a small spec and its data."""
    generator = np.random.default_rng(0)
    y = generator.random(80) < 0.4
    p = np.clip(generator.normal(0.3 + 0.3 * y, 0.2), 0, 1)
    pl.DataFrame({"y": np.where(y, "yes", "no"), "pa": p}).write_csv(folder / "test.csv")
    (folder / "small.yaml").write_text(SPEC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small spec and its data, and work in it."""
    monkeypatch.chdir(tmp_path)
    write_small(tmp_path)
    return tmp_path


@pytest.fixture
def out(shared: Shared, folder: Path) -> Path:
    """Return the output folder of the small spec, which has run, with its ledger beside it."""

    def run(top: Path) -> None:
        top.mkdir()
        write_small(top)
        evalpipe.run(top / "small.yaml", out=top / "out")

    shutil.copytree(shared("cli-small", run), folder, dirs_exist_ok=True)
    return folder / "out"


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command line within this process, in the folder: the exit code and what is told."""
    assert Path.cwd() == folder

    def run(*arguments: str, input: str | bytes = "") -> subprocess.CompletedProcess[str]:  # noqa: A002 - as of subprocess
        given = input.encode() if isinstance(input, str) else input
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(arguments, ended.value.code, told.out, told.err)

    return run


@pytest.fixture
def process(folder: Path) -> Command:
    """Return the command line as users start it, for what a process of its own can get wrong."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "evalpipe", *arguments]
        return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]

    return run
