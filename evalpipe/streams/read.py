"""Step 3 for datasets that are never held: sum their parts up, merge the sums, and return them as samples of cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.sample import Sample
from evalpipe.data.summary import absent_levels, one_cluster, unknown_conditions
from evalpipe.plan.all_at_once import workers_of
from evalpipe.streams import described
from evalpipe.streams.asked import asked
from evalpipe.streams.cache import Cache
from evalpipe.streams.identities import compared
from evalpipe.streams.local import Threads
from evalpipe.streams.merged import files_of, merged
from evalpipe.streams.samples import Samples
from evalpipe.streams.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.work import File, Work, Workers


@dataclass(frozen=True)
class _Read:
    """What was read of a dataset: the tables of its rows, none of a reference dataset, and the sha256 of its files."""

    dataset: DatasetPlan
    tables: Tables
    sha256: list[str]


def read_streamed(plan: Plan, work: Work) -> tuple[Sample, ...]:
    """Return a sample of cells for each dataset, in the plan's order; raises DataError."""
    files = {dataset.name: files_of(plan, dataset) for dataset in plan.datasets}
    with _workers(plan, work) as workers:
        parts = [_read(plan, dataset, files[dataset.name], work, workers) for dataset in plan.datasets]
    if work.cache is not None:
        Cache(work.cache).finish(work.used)
    predicted = [part for part in parts if part.dataset.role != "reference"]
    levels = described.levels(plan, [(part.dataset, part.tables) for part in predicted])
    samples = {part.dataset.name: _sample(plan, part, levels) for part in predicted}
    with compared(plan, files, work.scratch) as ids:
        for part in parts:
            if part.dataset.role == "reference":
                samples[part.dataset.name] = described.reference(plan, ids[part.dataset.name], levels, part.sha256)
    ordered = [samples[dataset.name] for dataset in plan.datasets]
    return tuple(_alone(plan, sample, ordered) for sample in ordered)


def _read(plan: Plan, dataset: DatasetPlan, files: list[File], work: Work, workers: Workers) -> _Read:
    """Read the rows of a dataset; of a reference dataset, whose rows are only compared, nothing but the sha256."""
    if dataset.role == "reference":
        return _Read(dataset, Tables(asked(plan)), list(dataset.table.contents or workers.digests(files)))
    return _Read(dataset, *merged(plan, dataset, files, work, workers))


def _alone(plan: Plan, sample: Sample, samples: Sequence[Sample]) -> Sample:
    """Say with which datasets the rows to evaluate were compared: by their id, or not at all.

    Raises DataError where they were not, and a file is also in the dataset to calibrate on.
    """
    others = [other for other in samples if other.role != "evaluate"] if sample.role == "evaluate" else []
    if plan.id is not None:
        by = {other.dataset: [plan.id] for other in others}
        return replace(sample, summary=sample.summary.model_copy(update={"compared": by}))
    warnings = tuple(described.not_compared(plan, sample, other) for other in others)
    return replace(sample, warnings=(*sample.warnings, *warnings))


def _workers(plan: Plan, work: Work) -> AbstractContextManager[Workers]:
    """Return those who read the files of a plan."""
    if plan.dask is None:
        return nullcontext(Threads(plan, workers_of(plan)))
    from evalpipe.streams.dask_backend import dask_workers

    return dask_workers(plan, work.spec, workers_of(plan))


def _sample(plan: Plan, part: _Read, levels: tuple[str, ...]) -> Sample:
    dataset, tables = part.dataset, part.tables
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    evaluated = dataset.role == "evaluate"
    labels = tuple(described.labels(plan, dataset, slicing, number, tables)
                   for number, slicing in enumerate(plan.slices.slicings if evaluated else ()))
    summary = described.summary(dataset, tables, levels, whole=plan.weight is not None)
    warnings = (*unknown_conditions(dataset.name, described.unknown(dataset, tables)),
                *(absent_levels(summary, plan.task) if evaluated else ()))
    warnings += one_cluster(dataset.name, tables.keys) if evaluated else ()
    whole = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   described.files(dataset, tables.rows, part.sha256), warnings=warnings)
    return Samples(plan, tables, whole, labels).sample()
