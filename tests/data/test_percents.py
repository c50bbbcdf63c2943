"""Probabilities that are written in percent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError, SpecError
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved
from streams.streaming import numbers, rows, run

KEYS: dict[str, Any] = {"metrics": ["accuracy", "brier"], "intervals": {"method": "none"}}
PERCENT: dict[str, Any] = {"p": {"probability": "p", "scale": "percent"}}
PLAIN: dict[str, Any] = {"p": {"probability": "p"}}
LEVELS = ["a", "b", "c"]


def computed(path: Path, mode: str, models: dict[str, Any]) -> str:
    return numbers(run(path, mode, models=models, **KEYS)).replace('"scale": "percent"', '"scale": null')


@pytest.mark.parametrize("mode", ["exact", "grid"])
@pytest.mark.parametrize(
    ("ending", "written"), [("csv", "{}"), ("csv", " {} % "), ("ndjson", "{}%"), ("parquet", "{}%")])
def test_percents_are_the_probabilities_that_they_say(tmp_path: Path, mode: str, ending: str, written: str) -> None:
    # 1.1 / 100 is not the double 0.011, on which thresholds and ties depend.
    frame = rows(1000).select("y", tenths=pl.Series([at * 7 % 1000 / 10 for at in range(1000)]))
    plain = frame.with_columns(p=pl.Series([float(f"{round(tenths * 10)}e-3") for tenths in frame["tenths"]]))
    texts = [written.format(tenths) for tenths in frame["tenths"]]
    percent = frame.with_columns(p=pl.Series(texts) if written != "{}" else pl.col("tenths"))
    paths = [tmp_path / f"{name}.{ending}" for name in ("plain", "percent")]
    for path, table in zip(paths, (plain, percent), strict=True):
        {"csv": table.write_csv, "ndjson": table.write_ndjson, "parquet": table.write_parquet}[ending](path)
    assert computed(paths[1], mode, PERCENT) == computed(paths[0], mode, PLAIN)


def test_percents_of_all_levels(tmp_path: Path) -> None:
    part = pl.int_range(60, eager=True)
    shares = {level: (part * (place + 3) % 7 + 1) for place, level in enumerate(LEVELS)}
    total = shares["a"] + shares["b"] + shares["c"]
    chances = {f"p_{level}": (share / total).round(3) for level, share in shares.items()}
    truth = [LEVELS[at % 3] for at in range(60)]
    found = []
    for scale, columns in ((None, chances), ("percent", {name: p * 100 for name, p in chances.items()})):
        pl.DataFrame({"y": truth, **columns}).write_parquet(tmp_path / "d.parquet")
        model: dict[str, Any] = {"probabilities": "p_{level}"} | ({} if scale is None else {"scale": scale})
        results = evalpipe.run({
            "evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
            "datasets": {"d": {"path": str(tmp_path / "d.parquet")}}, "models": {"m": model},
            "metrics": ["brier", "log_loss"], "intervals": {"method": "none"}, "report": {"formats": []}})
        found.append([row.value for row in results.rows])
    assert found[0] == found[1]


def told(path: Path, cells: list[str], models: dict[str, Any]) -> tuple[str, str | None]:
    pl.DataFrame({"y": [0, 1, 1][: len(cells)], "p": cells}).write_csv(path)
    with pytest.raises((DataError, SpecError)) as caught:
        run(path, models=models, **KEYS)
    (problem,) = caught.value.problems
    return problem.message, problem.hint


def test_what_is_no_percent_is_told(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    assert told(path, ["25%", "120%", "3"], PERCENT) == (
        "1 value of column 'p' is not a percent from 0 to 100", "give the model's probability in percent")
    assert told(path, ["25.1%", "12%", "3%"], PLAIN) == (
        "3 values of column 'p' are not numbers", "add 'scale: percent' to the model, or write 0.5 instead of 50 %")
    assert told(path, ["37,7 %", "12%", "3,25%"], PERCENT)[1] == (
        "add 'scale: percent' to the model and csv: {decimal: \",\"} to the dataset, or write 0.5 instead of 50 %")
    assert told(path, ["25.1", "12", "3"], PLAIN)[1] == "they look like percents: add 'scale: percent' to the model"
    assert told(path, ["25.1", "12", "3"], PERCENT | {"q": {"probability": "p"}}) == (
        "the column 'p' is in percent for the model 'p', and is not for the model 'q'",
        "say the same of both, or give each a column of its own")


def test_the_key_stands_in_no_spec_that_does_not_have_it() -> None:
    spec = {"evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
            "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probabilities": "p_{level}"}}}
    (model,) = resolved(load(spec))["models"].values()  # type: ignore[attr-defined]
    assert not {"scale", "encoding"} & set(model)
