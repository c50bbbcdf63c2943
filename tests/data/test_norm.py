"""The value of a linear model, divided by the norm of its weights: the signed distance from its boundary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from data.test_lists import numbers
from evalpipe.card import markdown
from evalpipe.card.edition import Edition
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved
from streams.streaming import rows, run

NORM = 3.7
KEYS: dict[str, Any] = {"metrics": ["roc_auc", "log_loss", "accuracy"]}


def model(score: str, **keys: Any) -> dict[str, Any]:
    return {"m": {"score": score, "scale": "margin"} | keys}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with a linear model's value, and with the distance that numpy divides it to."""
    frame = rows(600).select("y", value="odds").with_columns(row=pl.int_range(600))
    frame = frame.with_columns(distance=pl.Series(frame["value"].to_numpy() / NORM))
    frame.write_parquet(tmp_path / "d.parquet")
    return tmp_path / "d.parquet"


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_the_score_is_the_distance(path: Path, mode: str) -> None:
    divided = run(path, mode, models=model("value", norm=NORM), **KEYS)
    assert numbers(divided) == numbers(run(path, mode, models=model("distance"), **KEYS))
    assert numbers(divided) != numbers(run(path, mode, models=model("value"), **KEYS))


def test_thresholds_that_are_chosen_are_distances(path: Path) -> None:
    keys = KEYS | {"threshold": {"maximize": "j_index", "on": {"folds": 5}}, "curves": {"marks": [0.4, 0.6]},
                   "recalibrate": {"fit_on": {"folds": 5}, "methods": ["platt"]}}
    divided = run(path, "exact", models=model("value", norm=NORM), **keys)
    assert numbers(divided) == numbers(run(path, "exact", models=model("distance"), **keys))


def test_a_stated_threshold_is_a_probability_of_the_distance(path: Path) -> None:
    results = run(path, "exact", models=model("value", norm=NORM, threshold=0.6), **KEYS)
    distances = pl.read_parquet(path)
    predicted = distances["distance"] >= np.log(0.6 / 0.4)
    assert results.rows[2].value == (predicted == (distances["y"] == 1)).mean()


def test_new_predictions_are_divided_too(path: Path) -> None:
    keys = KEYS | {"recalibrate": {"fit_on": {"folds": 5}, "methods": ["platt"]}}
    frame = pl.read_parquet(path)
    told = [evalpipe.recalibrate(run(path, "exact", models=models, **keys), "m+platt", frame)["m+platt"]
            for models in (model("value", norm=NORM), model("distance"))]
    assert told[0].to_list() == told[1].to_list()


def test_the_card_gives_the_norm(path: Path) -> None:
    card = markdown.document(Edition(run(path, "exact", models=model("value", norm=NORM), **KEYS))).decode()
    assert "3.7, by which the score is divided" in card


def test_the_key_stands_in_no_spec_that_does_not_have_it(path: Path) -> None:
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
            "datasets": {"d": {"path": str(path)}}, "models": model("value")}
    assert "norm" not in json.dumps(resolved(load(spec)))
