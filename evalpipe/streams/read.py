"""Step 3 for datasets that are never held: sum their parts up, merge the sums, and return them as samples of cells."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.sample import Sample
from evalpipe.data.summary import absent_levels, unknown_conditions
from evalpipe.streams import described
from evalpipe.streams.asked import asked
from evalpipe.streams.parts import parts_of
from evalpipe.streams.samples import Samples
from evalpipe.streams.summarise import summarise
from evalpipe.streams.tables import Tables

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan


def read_streamed(plan: Plan) -> tuple[Sample, ...]:
    """Return a sample of cells for each dataset, in the plan's order; raises DataError."""
    return tuple(_sample(plan, dataset) for dataset in plan.datasets)


def _sample(plan: Plan, dataset: DatasetPlan) -> Sample:
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    tables = _merged(plan, dataset)
    levels = described.levels(plan, dataset, tables)
    sliced = plan.slices.slicings if dataset.role == "evaluate" else ()
    labels = tuple(described.labels(plan, dataset, slicing, number, tables) for number, slicing in enumerate(sliced))
    summary = described.summary(dataset, tables, levels, whole=plan.weight is not None)
    unknown = described.unknown(dataset, tables)
    warnings = (*unknown_conditions(dataset.name, unknown), *absent_levels(summary, plan.task))
    sha256 = [_digest(path) for path, _ in dataset.table.files]
    whole = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   described.files(dataset, tables, sha256), warnings=warnings)
    return Samples(plan, tables, whole, labels).sample()


def _merged(plan: Plan, dataset: DatasetPlan) -> Tables:
    """Sum up all parts of a dataset, several at a time, and merge the sums in the order of the parts."""
    wanted, parts = asked(plan), parts_of(dataset)
    merged = Tables(wanted)
    with ThreadPoolExecutor(_workers(plan)) as pool:
        for tables in pool.map(lambda part: summarise(plan, part, wanted), parts):
            merged.merge(tables)
    return merged


def _workers(plan: Plan) -> int:
    return os.cpu_count() or 1 if plan.workers == "auto" else plan.workers


def _digest(path: os.PathLike[str]) -> str:
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.file_digest(file, "sha256").hexdigest()
