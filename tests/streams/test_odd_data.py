"""Data as programs write them: rows that are read part by part are read, or refused, as rows that are held are."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evalpipe.errors import DataError
from few_by_day import few_by_day
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

P, PLACE = pl.col("p"), pl.int_range(pl.len())
WORDS = pl.when(pl.col("y") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))
YES = {"outcome": {"column": "y", "event": "yes"}}
COUNTS = {"weight": {"column": "w", "kind": "frequency"}}
ODDS = {"models": {"m": {"score": "odds", "scale": "logit"}}}
DAY = pl.lit(dt.date(2026, 1, 1)) + pl.duration(days=PLACE % 3)


def in_one(value: object, name: str = "p") -> dict[str, pl.Expr]:
    return {name: pl.when(PLACE == 7).then(pl.lit(value)).otherwise(pl.col(name))}


# What all files are changed to, what the second is, and the keys of the spec.
DATA: dict[str, tuple[dict[str, pl.Expr], dict[str, pl.Expr], dict[str, Any]]] = {
    "NaN": ({}, in_one(float("nan")), {}),
    "infinite": ({}, in_one(float("inf")), {}),
    "null": ({}, in_one(None), {}),
    "NaN log odds": ({}, in_one(float("nan"), "odds"), ODDS),
    "infinite log odds": ({}, in_one(float("-inf"), "odds"), ODDS),
    "far log odds": ({"odds": pl.col("odds") * 1e307}, {}, ODDS),
    "0 and 1": ({"p": pl.when(PLACE % 3 == 0).then(0.0).when(PLACE % 3 == 1).then(1.0).otherwise(P)}, {}, {}),
    "tiny": ({"p": P * 5e-320}, {}, {"metrics": ["brier", "roc_auc"]}),
    "next to 1": ({"p": 1 - P * 1e-15}, {}, {"metrics": ["brier", "roc_auc"]}),
    "constant": ({"p": pl.lit(0.3)}, {}, {}),
    "one class": ({"y": pl.lit(0)}, {}, {}),
    "one class in a file": ({}, {"y": pl.lit(1)}, {}),
    "integers of two widths": ({}, {"y": pl.col("y").cast(pl.Int8)}, {}),
    "integers and floats": ({}, {"y": pl.col("y").cast(pl.Float64)}, {}),
    "integers and texts": ({}, {"y": pl.col("y").cast(pl.String)}, {}),
    "true and false": ({"y": pl.col("y").cast(pl.Boolean)}, {}, {"outcome": {"column": "y", "event": True}}),
    "categories": ({"y": WORDS.cast(pl.Categorical)}, {}, YES),
    "enums of two orders": ({"y": WORDS.cast(pl.Enum(["no", "yes"]))},
                            {"y": pl.col("y").cast(pl.String).cast(pl.Enum(["yes", "no"]))}, YES),
    "decimals": ({"p": P.cast(pl.Decimal(18, 12))}, {}, {}),
    "floats of 32 bits": ({}, {"p": P.cast(pl.Float32)}, {}),
    "texts for scores": ({"p": P.cast(pl.String)}, {}, {}),
    "days": ({"s": DAY}, {}, {"slices": ["s"]}),
    "days and times": ({"s": DAY}, {"s": DAY.cast(pl.Datetime("us"))}, {"slices": ["s"]}),
    "slices of nothing": ({}, {"s": pl.lit(None)}, {"slices": ["s", ["s", "h"]]}),
    "slices of numbers": ({"s": PLACE % 3}, {"s": (PLACE % 3).cast(pl.Float64)}, {"slices": ["s"]}),
    "ages of nothing": ({"age": pl.when(PLACE % 9 > 0).then(pl.col("age"))}, {},
                        {"slices": [{"column": "age", "cuts": [30, 50]}]}),
    "weights of 0": ({"w": PLACE % 3}, {"w": pl.lit(0)}, COUNTS),
    "weights below 0": ({"w": pl.lit(1)}, {"w": -(PLACE % 2)}, COUNTS),
    "weights that are no counts": ({"w": pl.lit(1.0)}, {"w": pl.lit(1.5)}, COUNTS),
    "weights of a byte": ({"w": pl.lit(200, pl.UInt8)}, {"w": pl.lit(3.0)}, COUNTS | {"slices": ["s"]}),
}


def outcome(path: Path, mode: str, keys: dict[str, Any]) -> Any:
    """Return the code and the message of the error, or the rows of the results."""
    try:
        return run(path, mode, **{"intervals": {"method": "none"}} | keys)
    except DataError as error:
        return [(problem.code, problem.message) for problem in error.problems]


USUAL = {
    "NaN", "0 and 1", "one class", "integers and texts", "enums of two orders", "days and times", "slices of nothing",
    "weights of 0", "weights of a byte"}
"""What every run looks at; all by night."""


@pytest.mark.parametrize("data", few_by_day(DATA, USUAL))
def test_data_are_read_or_refused_as_those_that_are_held(tmp_path: Path, data: str) -> None:
    everywhere, second, keys = DATA[data]
    path = write(rows(600).with_columns(**everywhere).with_columns(w=everywhere.get("w", pl.lit(1))),
                 tmp_path / "späce d [1]", [200, 0, 200], row_group=64)
    file = path / "part-00002.parquet"
    pl.read_parquet(file.read_bytes()).with_columns(**second).select(pl.all().reverse()).write_parquet(file)
    streamed, held = (outcome(path, mode, keys) for mode in ("grid", "exact"))
    if isinstance(held, list):
        assert streamed == held
        return
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        assert (row.metric, row.model, row.slice, row.n, row.events, row.status, row.reason) == (
            exact.metric, exact.model, exact.slice, exact.n, exact.events, exact.status, exact.reason)
        if exact.value is None:
            assert row.value is None
            continue
        # Sums of 600 rows in another order differ in their last digits; a bound may be reached, but for those.
        bound = 0.0 if row.error_bound is None else row.error_bound
        assert abs(row.value - exact.value) <= bound + max(1e-12 * abs(exact.value), 1e-300)
    # What a cell does not tell from 0 is called otherwise; see test_faults.py.
    told = [[warning.message for warning in results.warnings if warning.code != "clipped"]
            for results in (streamed, held)]
    assert told[0] == told[1]


def test_a_file_whose_path_looks_like_a_glob_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(rows(600), tmp_path / "d [1]", [])
    expected = [row.value for row in run(path, intervals={"method": "none"}).rows]
    monkeypatch.setattr(type(path), "read_bytes", None)
    rows(600).write_ipc(tmp_path / "d [1]" / "one.arrow")
    for name in ("part-00000.parquet", "one.arrow"):
        results = run(path / name, intervals={"method": "none"})
        assert [row.value for row in results.rows] == expected
