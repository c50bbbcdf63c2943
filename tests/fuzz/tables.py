"""Mutations of a table: its cells, its columns, their types."""

from __future__ import annotations

import datetime as dt
import decimal
import random
from typing import Any

import polars as pl

from fuzz.values import NUMBERS, TEXTS

Table = dict[str, list[Any]]

TYPES: tuple[Any, ...] = (
    pl.Int8,
    pl.Int64,
    pl.UInt64,
    pl.Float32,
    pl.Float64,
    pl.String,
    pl.Boolean,
    pl.Date,
    pl.Datetime("us", "Europe/Paris"),
    pl.Duration,
    pl.Time,
    pl.Categorical,
    pl.Decimal(20, 6),
    pl.Binary,
    pl.Null,
    pl.Int128,
)
"""Types that a column may be cast to."""


def cells(table: Table, rng: random.Random) -> None:
    """Put hostile values into some cells of a column, or change its numbers together."""
    if not table:
        return
    name = rng.choice(sorted(table))
    values = table[name]
    numeric = any(isinstance(value, int | float) for value in values)
    hostile = rng.choice([None, rng.choice(NUMBERS), rng.choice(NUMBERS)] if numeric else [None, rng.choice(TEXTS)])
    if numeric and rng.random() < 0.15:
        hostile = rng.choice(TEXTS)
    share = rng.choice([0.01, 0.05, 0.5, 1.0])
    table[name] = [hostile if rng.random() < share else value for value in values]
    if values and share < 0.05:
        table[name][rng.randrange(len(values))] = hostile


def scaled(table: Table, rng: random.Random) -> None:
    """Multiply, shift, round or tie the numbers of a column, or of all of one type."""
    names = [name for name, values in table.items() if any(isinstance(value, float) for value in values)]
    factor = rng.choice([1e308, 1e154, 1e100, 1e-100, 1e-154, 1e-308, -1.0, 0.0, 100.0, 1e-9, 1e15])
    for name in rng.sample(names, k=rng.choice([1, len(names)])) if names else []:
        table[name] = [value * factor if isinstance(value, int | float) else value for value in table[name]]


def rows(table: Table, rng: random.Random) -> None:
    """Keep few rows, none, one twice, or rows of one value in a column."""
    n = len(next(iter(table.values()), []))
    if not n:
        return
    name = rng.choice(sorted(table))
    same = [i for i in range(n) if table[name][i] == table[name][0]]
    kept = rng.choice(
        [[], [0], [0, 1], list(range(5)), same, [*range(n), 0], rng.sample(range(n), k=n), [*range(n)] * 2]
    )
    for column, values in table.items():
        table[column] = [values[i] for i in kept if i < n]


def columns(table: Table, rng: random.Random) -> None:
    """Drop, copy, rename, reorder, or flatten a column."""
    if not table:
        return
    name, other = rng.choice(sorted(table)), rng.choice(sorted(table))
    change = rng.randrange(7)
    if change == 0:
        del table[name]
    elif change == 1:
        table[
            rng.choice([name + " ", name.upper(), name + "_duplicated_0", "", "é" + name, "row", "*", name[:-1]])
        ] = table.pop(name)
    elif change == 2:
        table[name] = list(table[other])
    elif change == 3:
        table[name] = [next(iter(table[name]), None)] * len(table[name])
    elif change == 4:
        table[name] = [None] * len(table[name])
    elif change == 5:
        moved = {column: table.pop(column) for column in rng.sample(sorted(table), k=len(table))}
        table.update(moved)
    else:
        table[name + "2"] = list(table[name])


def frame(table: Table, rng: random.Random, *, typed: bool) -> pl.DataFrame:
    """Make a frame; ``typed``: with a column of a strange type."""
    series = {name: pl.Series(name, values, strict=False) for name, values in table.items()}
    if typed and series:
        name = rng.choice(sorted(series))
        series[name] = _retyped(series[name], rng).rename(name)
    return pl.DataFrame(list(series.values()))


def _retyped(values: pl.Series, rng: random.Random) -> pl.Series:
    change = rng.randrange(4)
    if change == 0:
        made: list[Any] = [
            [[value] for value in values], [{"a": value} for value in values],
            [dt.date(2026, 1, 1) + dt.timedelta(days=i) for i in range(len(values))],
            [dt.datetime(2026, 1, 1, tzinfo=dt.UTC) for _ in values], [b"\xff\xfe" for _ in values],
            [decimal.Decimal(i).scaleb(-3) for i in range(len(values))], [i % 2 == 0 for i in range(len(values))],
            [dt.timedelta(seconds=i) for i in range(len(values))],
        ]  # fmt: skip
        return pl.Series(rng.choice(made))
    try:
        return values.cast(rng.choice(TYPES), strict=False)
    except pl.exceptions.PolarsError:
        return values.cast(pl.String)


def mutate(table: Table, rng: random.Random) -> None:
    """Change a table once."""
    rng.choices([cells, scaled, rows, columns], [6, 2, 1, 2])[0](table, rng)
