"""Step 3 for datasets too large for memory: sum their parts up, merge the sums, and return samples of cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.sample import Contents, Sample
from evalpipe.data.summary import absent_levels, one_cluster, unknown_conditions
from evalpipe.plan.memory import workers_of
from evalpipe.streams import dataset_summary
from evalpipe.streams.cache import Cache, CacheEntry, key_of, reasons, request_sha256, why_read
from evalpipe.streams.parts import File, parts_of, stamp
from evalpipe.streams.row_ids import compared_ids
from evalpipe.streams.samples import Samples
from evalpipe.streams.tables import Tables, table_layout
from evalpipe.streams.tally import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.data.sample import SharedRows
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import Part, Work, Workers


def files_of(plan: Plan, dataset: DatasetPlan) -> list[File]:
    """Return the files of a dataset with their stamps before they are read; raises DataError."""
    place = plan.places.place(*dataset.table.named.loc)
    return [File(path, shown, stamp(path, shown, place), place) for path, shown in dataset.table.files]


def merged(
    plan: Plan, dataset: DatasetPlan, files: list[File], work: Work, workers: Workers
) -> tuple[Tables, list[str]]:
    """Return the merged tables of a dataset's parts, from the cache where it has them, and its files' sha256.

    Raises DataError, and UsageError where the cache cannot be written.
    """
    contents, tables = dataset.table.contents, Tables(table_layout(plan))
    sha256_of_files = list(contents or workers.digests(files))
    # Rows of a query have a sha256 whatever their order, so it does not say which of them a part holds.
    cache = None if work.cache is None or contents else Cache(work.cache)
    request = request_sha256(plan, dataset, tables.layout)
    unread: list[tuple[Part, File]] = []
    keys: list[str] = []
    why: list[str] = []
    cached_before = work.cached
    for part in parts_of(dataset):
        file = files[part.file]
        key = key_of(sha256_of_files[part.file], file.shown, part, request)
        cached_tables = None if cache is None else cache.get(key)
        if cached_tables is not None:
            work.cached += 1
            work.used.append(key)
            tables.merge(cached_tables.of_file(part.file))
            continue
        unread.append((part, file))
        keys.append(key)
        why += [] if cache is None else [why_read(cache, part, file.shown, sha256_of_files[part.file], key)]
    cached = work.cached - cached_before
    work.progress.expect_parts(dataset.name, cached + len(unread), cached, reasons(why))
    # Closed at once where this ends early: parts that were begun are then left, here or on a cluster.
    with closing(workers.tables(unread, encoded=cache is not None)) as summed_up:
        for (part, file), key, summed in zip(unread, keys, summed_up, strict=True):  # in the order of the parts
            if cache is not None:
                sha256 = sha256_of_files[part.file]
                stored = part.dataset, file.shown, sha256, *file.stamp, part.first, part.rows, request
                cache.put(CacheEntry(key, *stored), summed.encoded)
                work.used.append(key)
            work.read += 1
            work.sent += summed.sent
            work.progress.part_read()
            tables.merge(summed.tables.of_file(part.file))
    return tables, sha256_of_files


@dataclass(frozen=True)
class _ReadDataset:
    """A dataset that was read: the tables of its rows (empty for a reference dataset), and its files' sha256."""

    dataset: DatasetPlan
    tables: Tables
    sha256: list[str]


def read_streamed(plan: Plan, work: Work) -> tuple[Sample, ...]:
    """Return a sample of cells for each dataset, in the plan's order; raises DataError."""
    files = {dataset.name: files_of(plan, dataset) for dataset in plan.datasets}
    connected: AbstractContextManager[Workers] = nullcontext(Threads(plan, workers_of(plan)))
    if plan.dask is not None:
        from evalpipe.streams.dask_workers import dask_workers

        connected = dask_workers(plan, work.spec, workers_of(plan))
    datasets: list[_ReadDataset] = []
    with connected as workers:
        for dataset in plan.datasets:
            dataset_files = files[dataset.name]
            if dataset.role == "reference":  # whose rows are compared and not counted
                sha256_of_files = list(dataset.table.contents or workers.digests(dataset_files))
                datasets.append(_ReadDataset(dataset, Tables(table_layout(plan)), sha256_of_files))
            else:
                datasets.append(_ReadDataset(dataset, *merged(plan, dataset, dataset_files, work, workers)))
    if work.cache is not None:
        Cache(work.cache).finish(work.used)
    predicted = [read for read in datasets if read.dataset.role != "reference"]
    levels = dataset_summary.settled_levels(plan, [(read.dataset, read.tables) for read in predicted])
    samples = {read.dataset.name: _sample_of_cells(plan, read, levels) for read in predicted}
    shared: dict[str, tuple[SharedRows, ...]] = {}
    with compared_ids(plan, files, work.scratch) as ids:
        for read in datasets:
            if read.dataset.role == "evaluate" and ids:
                shared[read.dataset.name] = tuple(
                    row for other in ids.values() if other.dataset.role != "evaluate"
                    for row in ids[read.dataset.name].shared_contents(other))
            if read.dataset.role == "reference":
                samples[read.dataset.name] = dataset_summary.reference_sample(
                    plan, ids[read.dataset.name], levels, read.sha256)
    ordered = [samples[dataset.name] for dataset in plan.datasets]
    return tuple(replace(_with_comparisons(plan, sample, ordered), contents=Contents(
        shared=shared.get(sample.dataset, ()))) for sample in ordered)


def _with_comparisons(plan: Plan, sample: Sample, samples: Sequence[Sample]) -> Sample:
    """Return a sample that states with which datasets its rows were compared by id, or warns that they were not.

    Raises DataError where rows were not compared, and two datasets share a file.
    """
    others = [other for other in samples if other.role != "evaluate"] if sample.role == "evaluate" else []
    if plan.id is not None:
        columns = {other.dataset: [plan.id] for other in others}
        return replace(sample, summary=sample.summary.model_copy(update={"compared": columns}))
    warnings = tuple(dataset_summary.not_compared(plan, sample, other) for other in others)
    return replace(sample, warnings=(*sample.warnings, *warnings))


def _sample_of_cells(plan: Plan, read: _ReadDataset, levels: tuple[str, ...]) -> Sample:
    """Return the sample of cells of a dataset with predictions, with its summary and warnings."""
    dataset, tables = read.dataset, read.tables
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    is_evaluated = dataset.role == "evaluate"
    labels = tuple(dataset_summary.slice_labels(plan, dataset, slicing, number, tables)
                   for number, slicing in enumerate(plan.slices.slicings if is_evaluated else ()))
    summary = dataset_summary.summary(dataset, tables, levels, counted=plan.weight is not None)
    warnings = (*unknown_conditions(dataset.name, dataset_summary.unknown_condition_counts(dataset, tables)),
                *(absent_levels(summary, plan.task) if is_evaluated else ()))
    warnings += one_cluster(dataset.name, tables.keys) if is_evaluated else ()
    empty = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   dataset_summary.input_files_of(dataset, tables.rows, read.sha256), warnings=warnings)
    return Samples(plan, tables, empty, labels).sample()
