"""How much memory a run takes: estimates, from measured runs, that keep it within what the spec allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""The bytes of each unit."""

PROGRAM = 220 * 10**6
"""Bytes that the program takes, with the tables of two models and their replicates, whatever the rows are."""

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


def held_bytes(datasets: list[DatasetPlan]) -> float:
    """Return what it takes to hold all rows of datasets; those whose rows are not known count nothing."""
    return PROGRAM + HELD * sum((dataset.table.rows or 0) * len(dataset.columns) for dataset in datasets)


def program_bytes(plan: Plan) -> int:
    """Return what the program takes to read part by part, without the rows."""
    return PROGRAM + (0 if plan.cluster is None else CLUSTERED * len(plan.models))


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
