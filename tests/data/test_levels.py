"""Levels of the outcome in data: matched by value, however they are stored, and never in two ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe import evaluate
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.errors import DataError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

TRUTH = [1, 0, 1, 1, 0, 0]
STORED: dict[str, Any] = {
    "whole numbers": TRUTH,
    "floats": [float(y) for y in TRUTH],
    "true and false": [bool(y) for y in TRUTH],
    "texts 1": [str(y) for y in TRUTH],
    "texts 1.0": [f"{y}.0" for y in TRUTH],
    "texts +1": ["+1" if y else "-0" for y in TRUTH],
    "texts True": [str(bool(y)) for y in TRUTH],
    "texts TRUE": [str(bool(y)).upper() for y in TRUTH],
}
CHANCES = [0.9, 0.4, 0.6, 0.3, 0.2, 0.1]


def document(folder: Path, outcome: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", **outcome},
        "datasets": {"test": {"path": str(folder / "a.csv")}}, "models": {"m": {"probability": "p"}},
    } | changes


def samples(source: dict[str, Any]) -> tuple[Sample, ...]:
    spec = load(source)
    return read(plan(spec, look(sources(spec))))


@pytest.mark.parametrize("values", STORED.values(), ids=STORED)
@pytest.mark.parametrize(("event", "levels"), [
    (1, ("1", "0")), (1.0, ("1", "0")), (True, ("true", "false")), ("1", ("1", "0")), ("true", ("true", "false")),
])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_event_is_found_however_it_is_stored(
    ending: str, event: Any, levels: tuple[str, str], values: Any, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"y": values, "p": CHANCES, "said": values})
    frame.write_csv(tmp_path / "a.csv") if ending == "csv" else frame.write_parquet(tmp_path / "a.parquet")
    source = document(tmp_path, {"event": event}, datasets={"test": {"path": str(tmp_path / f"a.{ending}")}},
                      models={"m": {"probability": "p"}, "k": {"prediction": "said"}})
    for outcome in (source["outcome"], source["outcome"] | {"levels": [not event, event] if event is True else [0, 1]}):
        if "levels" in outcome and levels[0] == "true" and event is not True:
            continue
        (found,) = samples(source | {"outcome": outcome})
        assert found.levels == levels
        assert found.summary.events == 3
        assert found.models["k"].predicted is not None
        assert (found.models["k"].predicted == found.truth).all()


def test_levels_of_several_datasets_are_the_same_however_they_are_stored(tmp_path: Path) -> None:
    for name, values in (("a", STORED["texts True"]), ("b", STORED["texts 1.0"]), ("c", STORED["whole numbers"])):
        pl.DataFrame({"y": values, "p": CHANCES}).with_columns(
            pl.col("p") / (1 + len(name) + ord(name))).write_csv(tmp_path / f"{name}.csv")
    datasets = {name: {"path": str(tmp_path / f"{name}.csv")} for name in "ab"}
    datasets["c"] = {"path": str(tmp_path / "c.csv"), "role": "reference"}
    found = samples(document(tmp_path, {"event": 1}, datasets=datasets))
    assert [(sample.levels, sample.summary.events) for sample in found] == [(("1", "0"), 3)] * 3


def test_the_same_value_in_two_ways_is_an_error_that_names_both(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,p\n1,0.9\n0,0.1\n1.0,0.8\n0,0.2\n")
    said = f"""\
error[level-written-twice]: the outcome column 'y' of dataset 'test' holds '1' and '1.0', which are the same value
 --> {tmp_path / "a.csv"}
  |
  | row 3: '1.0'
  = named at the spec, outcome.column
  = help: write it in one way, or list both under outcome.levels if they are different levels"""
    for outcome in ({"event": 1}, {"event": "1.0"}, {"event": 1, "levels": [1, 0]}):
        with pytest.raises(DataError) as caught:
            samples(document(tmp_path, outcome))
        assert str(caught.value) == said


def test_levels_of_the_same_value_that_are_declared_apart_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,said\n1.1,1.10\n1.10,1.10\n2.0,2.0\n")
    (found,) = samples(document(tmp_path, {"levels": ["1.1", "1.10", "2.0"]}, task="multiclass",
                                models={"m": {"prediction": "said"}}))
    assert found.truth.tolist() == [0, 1, 2]


def test_codes_that_begin_with_a_nought_are_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,p\n01,0.9\n1,0.1\n01,0.8\n")
    (found,) = samples(document(tmp_path, {"event": "01"}))
    assert (found.levels, found.summary.events) == (("01", "1"), 2)


def test_floats_of_a_label_are_the_labels() -> None:
    truth = ["102.0", "120", "7"] * 4
    table = np.tile(np.eye(3), (4, 1))
    results = evaluate(truth, probabilities=table, task="multiclass", levels=[102, 120, 7.0], metrics=["accuracy"],
                       intervals={"method": "none"})
    assert results.estimates["value"].to_list() == [1.0]


def test_plus_and_minus_one_are_never_exchanged() -> None:
    truth = np.where(TRUTH, "+1", "-1")
    results = evaluate(truth, CHANCES, event=1, metrics=["roc_auc"], intervals={"method": "none"})
    assert results.datasets[0].levels[0].level == "1"
    assert [(level.level, level.rows) for level in results.datasets[0].levels] == [("1", 3), ("-1", 3)]
    with pytest.raises(DataError) as caught:
        evaluate(np.where(TRUTH, "-1", "0"), CHANCES, event=1, intervals={"method": "none"})
    assert "did you mean" not in str(caught.value)
