"""What a plan says of the keys under `curves`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from engine.runs import people
from evalpipe.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("curves", "lines"), [
    ("{marks: [0.9, 0.1], residuals: true, groups: 20, relations: {measures: [accuracy, f1]}}",
     {"marked on curves: thresholds 0.1, 0.9", "gain tables of 20 groups", "residuals of the probabilities",
      "relations between accuracy, f1"}),
    ("{residuals: {kinds: [pearson], figures: [half_normal], against: [age], order: who}}",
     {"residuals of the probabilities", "pearson residuals", "figure of pearson residuals: half_normal",
      "residuals against age", "residuals in the order of who"}),
])
def test_a_plan_says_what_curves_show_beside_themselves(tmp_path: Path, curves: str, lines: set[str]) -> None:
    people(50).write_parquet(tmp_path / "d.parquet")
    spec = tmp_path / "x.yaml"
    spec.write_text(
        "evalpipe: 1\nname: x\ntask: binary\noutcome: {column: y, event: 1}\ndatasets: {d: {path: d.parquet}}\n"
        f"models: {{p: {{probability: p}}}}\ncurves: {curves}\n")
    assert lines <= set(CliRunner().invoke(app, ["plan", str(spec)]).output.splitlines())
