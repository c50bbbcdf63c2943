"""How much memory a run takes: estimates, from measured runs, that keep it within what the spec allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""The bytes of each unit."""

PROGRAM, USUAL = 220 * 10**6, 2000
"""Bytes that the program takes, with the tables of two models and so many replicates, whatever the rows are."""

BANDS, LIMITS = 3600, 80 * 10**6
"""Bytes that a replicate of a model's curves takes, 424 numbers; and to compute limits of more replicates than that."""

CLUSTERED = 25 * 10**6
"""Bytes that the clusters of rows that are read part by part take for each model, in parts and in replicates."""

HELD = 100
"""Bytes that each value of a column takes where all rows are held, at the highest point of a run."""

READ = 60
"""Bytes that each value takes of the rows that are read at once and counted."""

TEXT = 60 * 10**6
"""Bytes that a block of a file of text takes at least, whatever the batch: it is cut by bytes and not by rows."""

BINARY = ("parquet", "ipc", "query")
"""Formats that are read by ranges of rows."""

BATCH, FEWEST = 500_000, 10_000
"""The rows of a part that are read at once, and the fewest for which reading part by part is not too slow."""


def bytes_of(text: str) -> int:
    """Return the bytes that a text such as "2GB" or "1.5 GiB" means."""
    unit = next(name for name in UNITS if text.endswith(name))
    return int(float(text.removesuffix(unit)) * UNITS[unit])


def written(number: float) -> str:
    """Write so many bytes in the unit that suits them, to two digits."""
    unit = next((name for name in ("TB", "GB", "MB") if number >= UNITS[name]), "KB")
    return f"{number / UNITS[unit]:.2g} {unit}" if number < 100 * UNITS[unit] else f"{number / UNITS[unit]:.0f} {unit}"


def replicate_bytes(plan: Plan) -> int:
    """Return what a replicate takes: of each measure and curve of all rows, for each dataset, model and variant.

    Slices are not counted, as how many there are is not known before data are read.
    """
    drawn = sum(plan.draws(entry) for entry in plan.entries)
    models = len(plan.models) * (1 + len(plan.recalibrate.methods))
    evaluated = sum(dataset.role == "evaluate" for dataset in plan.datasets)
    binary = plan.task == "binary"
    bands = BANDS if plan.banded and binary else 0
    numbers = 8 * drawn * (1 if binary else max(1, len(plan.outcome.levels)))
    return evaluated * models * (numbers + bands)


def replicates_bytes(plan: Plan) -> int:
    """Return what the replicates of a plan take that are more than the `USUAL` ones, which the program has."""
    return LIMITS + replicate_bytes(plan) * (plan.replicates - USUAL) if plan.replicates > USUAL else 0


def replicates_within(plan: Plan, memory: int) -> int:
    """Return how many replicates can be kept in so much memory, without the rows."""
    return max(0, memory - PROGRAM - LIMITS) // max(1, replicate_bytes(plan)) + USUAL


def held_bytes(datasets: list[DatasetPlan]) -> float:
    """Return what it takes to hold all rows of datasets; those whose rows are not known count nothing."""
    return PROGRAM + HELD * sum((dataset.table.rows or 0) * len(dataset.columns) for dataset in datasets)


def program_bytes(plan: Plan) -> int:
    """Return what the program takes to read part by part, without the rows."""
    return PROGRAM + replicates_bytes(plan) + (0 if plan.cluster is None else CLUSTERED * len(plan.models))


def batch_bytes(plan: Plan, datasets: list[DatasetPlan], batch: int, workers: int) -> float:
    """Return what it takes to count so many rows at once in each of some workers."""
    read = READ * batch * max((len(dataset.columns) for dataset in datasets), default=1)
    text = any(dataset.table.format not in BINARY for dataset in datasets)
    return program_bytes(plan) + workers * max(read, TEXT if text else 0)


def batch_within(plan: Plan, datasets: list[DatasetPlan], workers: int) -> int | None:
    """Return how many rows may be read at once; None where even the fewest take more than the plan allows."""
    if plan.memory is None:
        return BATCH
    if batch_bytes(plan, datasets, FEWEST, workers) > plan.memory:
        return None
    of_row = READ * workers * max((len(dataset.columns) for dataset in datasets), default=1)
    return int(min(BATCH, (plan.memory - program_bytes(plan)) / of_row))
