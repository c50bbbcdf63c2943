"""A metric is declared in one place, and everything else knows it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from pydantic import Field

import evalpipe
from evalpipe.cli.app import app
from evalpipe.metrics import metric, ratio, registry


def declare_toy() -> None:
    @metric(needs="labels", direction="maximize", range=(0, 1), undefined="no toys", ref="Toymaker (2026)",
            aliases=("toy",))
    def toy_score(tp: Any, fp: Any, *, strictness: Annotated[float, Field(ge=1)] = 2.0) -> Any:
        r"""Share of predicted toys that play, where breakage counts more, $\frac{TP}{TP+s\,FP}$."""
        return ratio(tp, tp + strictness * fp)


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Path]:
    declare_toy()
    generator = np.random.default_rng(0)
    y = generator.random(200) < 0.5
    p = np.clip(0.3 + 0.4 * y + generator.normal(0, 0.2, 200), 0, 1)
    pl.DataFrame({"y": y, "p": p}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "toy.yaml").write_text(
        "evalpipe: 1\nname: toy\ntask: binary\noutcome: {column: y, event: true}\ndatasets: {a: {path: a.parquet}}\n"
        "models: {m: {probability: p}}\nmetrics: [{metric: toy, strictness: 3}]\nintervals: {replicates: 200}\n"
        "report: {formats: [html]}\n"
    )
    yield tmp_path / "toy.yaml"
    registry.remove("toy_score")


def test_a_declared_metric_is_known_everywhere(spec: Path, root: Path) -> None:
    def command(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        return done.output

    assert "toy_score" in command("schema")
    assert "toy_score" in command("metrics")
    assert "Toymaker (2026)" in command("metrics", "toy")
    assert "toy_score(strictness=3.0)" in command("plan", str(spec))
    builder_spec = importlib.util.spec_from_file_location("docs_build", root / "docs" / "build.py")
    assert builder_spec is not None
    assert builder_spec.loader is not None
    builder = importlib.util.module_from_spec(builder_spec)
    builder_spec.loader.exec_module(builder)
    assert "### toy_score" in builder.metrics_page()

    out = spec.parent / "out"
    command("run", str(spec), "--out", str(out))
    estimate = json.loads((out / "results.json").read_text())["estimates"][0]
    assert (estimate["metric"], estimate["params"]) == ("toy_score", {"strictness": 3.0})
    assert estimate["method"] == "percentile"
    assert 0 < estimate["lower"] < estimate["value"] < estimate["upper"] < 1
    card = (out / "card.html").read_text()
    assert "Toy score" in card
    assert "Toymaker (2026)" in card


def test_its_options_are_checked(spec: Path) -> None:
    with pytest.raises(evalpipe.errors.SpecError, match=r"strictness"):
        evalpipe.load(spec, ["metrics=[{metric: toy_score, strictness: 0}]"])


def test_it_is_gone_afterwards() -> None:
    assert "toy_score" not in registry
