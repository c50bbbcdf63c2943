"""A small run with slices, gates, a variant, an estimate that is not defined, and all that people may state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import evalpipe
from conftest import Shared
from evalpipe.words.card_fields import FIELDS

SPEC = """\
evalpipe: 1
name: small
title: Two models of a < b & "c"
task: binary
as_of: 2026-11-22
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
datasets:
  test: {path: test.csv}
models:
  a: {probability: pa, label: "First \\"model\\" & more"}
  b: {probability: pb}
metrics: [accuracy, precision, brier, roc_auc, calibration_slope]
slices: [side]
recalibrate: {fit_on: {folds: 2}, methods: [logistic]}
compare: {baseline: a}
gates:
  - {metric: accuracy, min: 0.01, model: a}
  - {metric: accuracy, max: 0.01, model: a, severity: warn}
  - {metric: accuracy, min: 0.99, model: a, name: near to right}
  - {metric: roc_auc, min: 0.85, model: a}
intervals: {replicates: 100}
report: {formats: []}
"""
STATED = {key: f"Stated of {key}: <é> & so on." for key in FIELDS} | {
    "design": 'It ranks with {{ value("roc_auc", model="a") }}.'}


def rows() -> pl.DataFrame:
    """Return the rows of the small run."""
    generator = np.random.default_rng(0)
    y, side = generator.random(80) < 0.4, generator.random(80) < 0.5
    p = np.clip(generator.normal(0.3 + 0.3 * y, 0.2), 0.01, 0.99)
    return pl.DataFrame({"y": np.where(y, "yes", "no"), "pa": p, "pb": 0.1 + p / 4, "side": np.where(side, "l", "r")})


def text_of(dataset: str = "{path: test.csv}") -> str:
    """Return the spec of the small run, with its dataset."""
    card = "".join(f"  {key}: '{text}'\n" for key, text in STATED.items())
    return f"{SPEC.replace('{path: test.csv}', dataset)}card:\n{card}  limits: [One limit., Another.]\n"


@pytest.fixture(scope="session")
def small(shared: Shared) -> Path:
    """Return the output folder of the small run."""

    def fill(home: Path) -> None:
        home.mkdir()
        rows().write_csv(home / "test.csv")
        (home / "small.yaml").write_text(text_of(), encoding="utf-8")
        evalpipe.run(home / "small.yaml", out=home / "report")

    return shared("exports-small", fill) / "report"
