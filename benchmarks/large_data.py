"""Large test data in Parquet: any number of rows, in little memory, and the same rows whatever files they lie in.

    python benchmarks/large_data.py --rows 5_000_000 --out DIR --models 2 --slices 4

Rows are made in blocks of `BLOCK`, each from random numbers that its own index and the seed give, so that neither the
number of files nor the size of row groups changes a value. A column takes its numbers from a stream of its own: rows
keep their outcome when weights, ids or another model are asked for; slices and clusters do change it, by their effects.
The same arguments give the same bytes with the same versions of numpy and polars on the same kind of processor.

| column | what it holds |
|---|---|
| `id` | with `--ids`: the number of the row, from 0 |
| `outcome` | binary: 1 for the event, else 0. multiclass: `level_1`, `level_2`, … regression: a number |
| `model_a`, `model_b`, … | binary: the probability of the event. regression: the prediction |
| `model_a_level_1`, … | multiclass: the probability of each level; they sum to 1 but for rounding |
| `weight` | with `--weights`: whole numbers from 1 (`frequency`), or numbers about 1 (`importance`) |
| `season`, `region`, `channel` | with `--slices 4,3`: a column of 4 slices and one of 3, which shift the outcome |
| `cluster` | with `--clusters K`: a number from 0 to K - 1; the rows of a cluster have an effect in common |

A model knows the logit (or the mean) that the outcome was drawn from up to noise, and the log odds of each further
model are noisier and nearer to their mean. With `--hive` each slice of the first column is a folder, as in
`season=season_1/`, and that column is in the path alone. With `--shuffle-files` the same rows come in another order:
other blocks in each file, other rows first in each block.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

BLOCK = 65_536
"""Rows that are made at once."""

STREAMS = ("signal", "outcome", "models", "weight", "slices", "clusters", "order")
"""What random numbers are for; each has a stream of its own."""

SLICED = ("season", "region", "channel")
SPREAD, OF_CLUSTER, OF_SLICE = 1.2, 0.4, 0.5
"""Standard deviations of what the log odds are made of: of the signal, and of clusters; largest effect of a slice."""

MEAN, UNIT, NOISE = 50.0, 10.0, 8.0
"""The mean of a number, what one unit of the log odds is in it, and the standard deviation of the rest."""

Task = Literal["binary", "multiclass", "regression"]
Weights = Literal["frequency", "importance", "none"]
Compression = Literal["zstd", "snappy", "uncompressed"]


@dataclass(frozen=True)
class Recipe:
    """What rows are made of; the files that they lie in are no part of it."""

    rows: int
    task: Task = "binary"
    models: int = 2
    weights: Weights = "none"
    slices: tuple[int, ...] = ()
    clusters: int = 0
    levels: int = 3
    ids: bool = False
    event_rate: float = 0.3
    decimals: int | None = None
    seed: int = 1
    shuffled: bool = False


def stream(recipe: Recipe, block: int, purpose: str, index: int = 0) -> np.random.Generator:
    """Return the random numbers of a block that are for one purpose, of the column of an index."""
    counter = [0, STREAMS.index(purpose), index, 0]
    return np.random.Generator(np.random.Philox(key=[recipe.seed, block], counter=counter))


def block_rows(recipe: Recipe, block: int) -> int:
    """Return the number of rows in a block; the last may have fewer."""
    return min(BLOCK, recipe.rows - block * BLOCK)


@lru_cache(maxsize=2)
def block_frame(recipe: Recipe, block: int) -> pl.DataFrame:
    """Return the rows of a block, in the order in which files have them."""
    count = block_rows(recipe, block)
    groups = slice_codes(recipe, block, count)
    cluster = stream(recipe, block, "clusters").integers(0, recipe.clusters, count) if recipe.clusters else None
    columns: dict[str, Any] = {"id": np.arange(count) + block * BLOCK} if recipe.ids else {}
    effect = sum((effects(size)[codes] for size, codes in zip(recipe.slices, groups, strict=True)), np.zeros(count))
    if cluster is not None:
        effect += cluster_effects(recipe)[cluster]
    columns |= PREDICTED[recipe.task](recipe, block, effect)
    if recipe.weights != "none":
        columns["weight"] = case_weights(recipe, block, count)
    for name, size, codes in zip(SLICED, recipe.slices, groups, strict=False):
        columns[name] = names(name, size).gather(codes)
    if cluster is not None:
        columns["cluster"] = cluster
    frame = pl.DataFrame(columns)
    return frame[stream(recipe, block, "order").permutation(count)] if recipe.shuffled else frame


def slice_codes(recipe: Recipe, block: int, count: int) -> list[np.ndarray]:
    """Return, for each sliced column, the number of the slice of each row; the first slices are the larger ones."""
    return [
        np.floor(size * stream(recipe, block, "slices", k).random(count) ** 1.25).astype(np.int64)
        for k, size in enumerate(recipe.slices)
    ]


def effects(size: int) -> np.ndarray:
    """Return what the slices of a column add to the log odds [size], evenly from the lowest to the highest."""
    return np.linspace(-OF_SLICE, OF_SLICE, size)


@lru_cache(maxsize=1)
def cluster_effects(recipe: Recipe) -> np.ndarray:
    """Return what each cluster adds to the log odds [clusters]."""
    return OF_CLUSTER * stream(recipe, 0, "clusters", 1).standard_normal(recipe.clusters)


def names(column: str, size: int) -> pl.Series:
    """Return the names of the slices of a column, or of the levels of an outcome."""
    return pl.Series([f"{column}_{k:0{len(str(size))}d}" for k in range(1, size + 1)])


def case_weights(recipe: Recipe, block: int, count: int) -> np.ndarray:
    """Return case weights [count]: whole numbers from 1, or positive numbers about 1."""
    random = stream(recipe, block, "weight")
    return 1 + random.poisson(0.5, count) if recipe.weights == "frequency" else random.gamma(4.0, 0.25, count)


def signal(recipe: Recipe, block: int, effect: np.ndarray, index: int = 0) -> np.ndarray:
    """Return what the outcome depends on, in log odds above their intercept [rows]."""
    return SPREAD * stream(recipe, block, "signal", index).standard_normal(len(effect)) + effect


def seen(recipe: Recipe, block: int, truth: np.ndarray, model: int, index: int = 0) -> np.ndarray:
    """Return what a model makes of log odds above their intercept: nearer to it, and with noise."""
    noise = stream(recipe, block, "models", model * recipe.levels + index).standard_normal(len(truth))
    return max(0.4, 1 - 0.2 * model) * truth + (0.3 + 0.4 * model) * noise


def model_names(recipe: Recipe) -> list[str]:
    """Return the names of the models."""
    return [f"model_{chr(ord('a') + k)}" for k in range(recipe.models)]


def rounded(recipe: Recipe, values: np.ndarray) -> np.ndarray:
    """Return predictions as they are written."""
    return values if recipe.decimals is None else np.round(values, recipe.decimals)


def binary(recipe: Recipe, block: int, effect: np.ndarray) -> dict[str, Any]:
    """Return the outcome, drawn with its true probability, and the probabilities that models give."""
    truth, base = signal(recipe, block, effect), intercept(recipe)
    drawn = stream(recipe, block, "outcome").random(len(truth)) < expit(base + truth)
    predicted = {
        name: rounded(recipe, expit(base + seen(recipe, block, truth, k))) for k, name in enumerate(model_names(recipe))
    }
    return {"outcome": drawn.astype(np.int8)} | predicted


def multiclass(recipe: Recipe, block: int, effect: np.ndarray) -> dict[str, Any]:
    """Return the outcome, drawn with the true probabilities of its levels, and those that models give to each."""
    base = np.linspace(0.0, -1.0, recipe.levels)[:, None]
    steps = np.linspace(-1.0, 1.0, recipe.levels)
    truth = np.stack([signal(recipe, block, step * effect, level) for level, step in enumerate(steps)])
    reached = np.cumsum(softmax(base + truth), axis=0)[:-1] < stream(recipe, block, "outcome").random(len(effect))
    levels = names("level", recipe.levels)
    columns: dict[str, Any] = {"outcome": levels.gather(reached.sum(0))}
    for k, name in enumerate(model_names(recipe)):
        logits = np.stack([seen(recipe, block, row, k, level) for level, row in enumerate(truth)])
        shares = softmax(base + logits)
        columns |= {f"{name}_{level}": rounded(recipe, share) for level, share in zip(levels, shares, strict=True)}
    return columns


def regression(recipe: Recipe, block: int, effect: np.ndarray) -> dict[str, Any]:
    """Return the outcome, a number, and the predictions of it."""
    truth = signal(recipe, block, effect)
    noise = stream(recipe, block, "outcome").standard_normal(len(truth))
    predicted = {
        name: rounded(recipe, MEAN + UNIT * seen(recipe, block, truth, k)) for k, name in enumerate(model_names(recipe))
    }
    return {"outcome": MEAN + UNIT * truth + NOISE * noise} | predicted


PREDICTED = {"binary": binary, "multiclass": multiclass, "regression": regression}


def expit(x: np.ndarray) -> np.ndarray:
    """Return probabilities of log odds."""
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    """Return probabilities of levels, along the first axis."""
    exp = np.exp(x - x.max(axis=0))
    return exp / exp.sum(axis=0)


@lru_cache(maxsize=1)
def intercept(recipe: Recipe) -> float:
    """Return the log odds at which events are as common as the recipe says: the mean over the signal, by bisection."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(64)
    spread = float(np.hypot(SPREAD, OF_CLUSTER if recipe.clusters else 0.0))
    above = np.zeros(1)
    below_one = np.ones(1)
    for size in recipe.slices:
        edges = (np.arange(size + 1) / size) ** (1 / 1.25)
        above = np.add.outer(above, effects(size)).ravel()
        below_one = np.multiply.outer(below_one, np.diff(edges)).ravel()
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        rate = below_one @ expit(middle + above[:, None] + spread * nodes) @ shares / shares.sum()
        low, high = (middle, high) if rate < recipe.event_rate else (low, middle)
    return round(middle, 9)


def spans(recipe: Recipe, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield the blocks, each with its first row and the row after its last, of the rows from ``first`` to ``last``."""
    blocks = np.arange(-(-recipe.rows // BLOCK))
    if recipe.shuffled:
        blocks = stream(recipe, len(blocks), "order").permutation(len(blocks))
    begin = 0
    for block in blocks.tolist():
        end = begin + block_rows(recipe, block)
        if begin < last and end > first:
            yield block, max(first - begin, 0), min(last, end) - begin
        begin = end


def frames(recipe: Recipe, first: int, last: int, folder: str | None = None) -> Iterator[pl.DataFrame]:
    """Yield the rows from ``first`` to ``last``, block by block; of one slice of the first column if it is a folder."""
    for block, begin, end in spans(recipe, first, last):
        frame = block_frame(recipe, block)[begin:end]
        column = SLICED[0]
        yield frame if folder is None else frame.filter(pl.col(column) == folder).drop(column)


def regrouped(parts: Iterator[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """Yield the same rows in frames of ``size``; the last may have fewer."""
    waiting: list[pl.DataFrame] = []
    for part in parts:
        waiting.append(part)
        while sum(map(len, waiting)) >= size:
            whole = pl.concat(waiting)
            yield whole[:size].rechunk()
            waiting = [whole[size:]]
    if any(map(len, waiting)):
        yield pl.concat(waiting).rechunk()


def write_file(path: Path, parts: Iterator[pl.DataFrame], schema: pl.Schema, group: int, how: Compression) -> None:
    """Write rows to one Parquet file, a row group at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return regrouped(parts, group)

    register_io_source(source, schema=schema).sink_parquet(path, row_group_size=group, compression=how)


def write(
    recipe: Recipe, out: Path, *, files: int = 1, row_group: int = 1_000_000, hive: bool = False,
    compression: Compression = "zstd",
) -> list[Path]:
    """Write the rows of a recipe into a folder, and return the paths of the files in the order of their names.

    ``files`` divides the rows evenly; with ``hive`` each slice of the first column has as many, in a folder of its own.
    """
    folders = list(names(SLICED[0], recipe.slices[0])) if hive else [None]
    paths = []
    for folder in folders:
        schema = next(frames(recipe, 0, 1, folder)).schema
        for k in range(files):
            name = f"part-{k:0{len(str(files - 1))}d}.parquet"
            path = out / name if folder is None else out / f"{SLICED[0]}={folder}" / name
            first, last = recipe.rows * k // files, recipe.rows * (k + 1) // files
            write_file(path, frames(recipe, first, last, folder), schema, row_group, compression)
            paths.append(path)
    return paths


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parsed = argparse.ArgumentParser(description="Write large test data in Parquet.")
    add = partial(parsed.add_argument)
    add("--rows", type=int, required=True, help="the number of rows, such as 5_000_000")
    add("--out", type=Path, required=True, help="the folder to write to")
    add("--files", type=int, default=1, help="the number of files, in each folder (default: 1)")
    add("--row-group", type=int, default=1_000_000, help="rows in a row group (default: 1,000,000)")
    add("--task", choices=get_args(Task), default="binary", help="what is predicted (default: binary)")
    add("--models", type=int, default=2, help="the number of models, at most 26 (default: 2)")
    add("--weights", choices=get_args(Weights), default="none", help="the kind of case weights (default: none)")
    add("--slices", type=sizes, default=(), help="the number of slices of each sliced column: 4, or 4,3")
    add("--clusters", type=int, default=0, help="the number of clusters")
    add("--levels", type=int, default=3, help="the number of levels of a multiclass outcome (default: 3)")
    add("--ids", action="store_true", help="write the number of each row")
    add("--event-rate", type=float, default=0.3, help="the share of events: 0.001 for rare ones (default: 0.3)")
    add("--decimals", type=int, help="round predictions to so many decimals")
    add("--hive", action="store_true", help="write a folder for each slice of the first column")
    add("--shuffle-files", action="store_true", help="write the same rows in another order")
    add("--compression", choices=get_args(Compression), default="zstd", help="of the files (default: zstd)")
    add("--seed", type=int, default=1, help="another seed gives other rows (default: 1)")
    return parsed


def sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of sliced columns that a text lists."""
    return tuple(int(size) for size in text.split(","))


def faults(given: argparse.Namespace) -> Iterator[str]:
    """Yield what is wrong with the arguments."""
    least = {"rows": 1, "files": 1, "row_group": 1, "levels": 2, "clusters": 0}
    for name, low in least.items():
        if getattr(given, name) < low:
            yield f"--{name.replace('_', '-')} must be at least {low}"
    if not 1 <= given.models <= 26:
        yield "--models must be from 1 to 26"
    if len(given.slices) > len(SLICED) or any(size < 1 for size in given.slices):
        yield f"--slices takes at most {len(SLICED)} numbers of slices, each at least 1"
    if given.hive and not given.slices:
        yield "--hive needs --slices: its folders are the slices of the first column"
    if not 0 < given.event_rate < 1:
        yield "--event-rate must be between 0 and 1"
    if given.decimals is not None and not 1 <= given.decimals <= 15:
        yield "--decimals must be from 1 to 15"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what the command line asks for, and print where."""
    parsed = parser()
    given = parsed.parse_args(arguments)
    for fault in faults(given):
        parsed.error(fault)
    recipe = Recipe(
        rows=given.rows, task=given.task, models=given.models, weights=given.weights, slices=given.slices,
        clusters=given.clusters, levels=given.levels, ids=given.ids, event_rate=given.event_rate,
        decimals=given.decimals, seed=given.seed, shuffled=given.shuffle_files,
    )
    paths = write(
        recipe, given.out, files=given.files, row_group=given.row_group, hive=given.hive, compression=given.compression)
    size = sum(path.stat().st_size for path in paths)
    sys.stdout.write(f"{given.rows:,} rows, {len(paths)} files, {size / 1e9:.3f} GB: {given.out}\n")


if __name__ == "__main__":
    main()
