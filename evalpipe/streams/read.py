"""Step 3 for datasets that are never held: sum their parts up, merge the sums, and return them as samples of cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.sample import Sample
from evalpipe.data.summary import absent_levels, one_cluster, unknown_conditions
from evalpipe.plan.memory import workers_of
from evalpipe.streams import dataset_summary
from evalpipe.streams.cache import Cache, CacheEntry, asked_sha256, key_of, reasons, why_read
from evalpipe.streams.parts import File, parts_of, stamp
from evalpipe.streams.row_ids import compared
from evalpipe.streams.samples import Samples
from evalpipe.streams.tables import Tables, asked
from evalpipe.streams.tally import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import Part, Work, Workers


@dataclass
class _Parts:
    """The parts of a dataset that are still to be read, with their keys, and why."""

    parts: list[tuple[Part, File]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


def files_of(plan: Plan, dataset: DatasetPlan) -> list[File]:
    """Return the files of a dataset as they are before they are read; raises DataError."""
    place = plan.places.place(*dataset.table.named.loc)
    return [File(path, shown, stamp(path, shown, place), place) for path, shown in dataset.table.files]


def merged(
    plan: Plan, dataset: DatasetPlan, files: list[File], work: Work, workers: Workers
) -> tuple[Tables, list[str]]:
    """Return the tables of all rows of a dataset, and the sha256 of its files; raises DataError."""
    contents, tables = dataset.table.contents, Tables(asked(plan))
    sha256 = list(contents or workers.digests(files))
    # The sha256 of rows tells nothing of their order, so it does not say which of them a part holds.
    cache = None if work.cache is None or contents else Cache(work.cache)
    what = asked_sha256(plan, dataset, tables.asked)
    lacking, before = _Parts(), work.cached
    for part in parts_of(dataset):
        key = key_of(sha256[part.file], files[part.file].shown, part, what)
        kept = None if cache is None else cache.get(key)
        if kept is not None:
            work.cached += 1
            work.used.append(key)
            tables.merge(kept.of_file(part.file))
            continue
        lacking.parts.append((part, files[part.file]))
        lacking.keys.append(key)
        lacking.why += [] if cache is None else [
            why_read(cache, part, files[part.file].shown, sha256[part.file], key)]
    cached = work.cached - before
    work.progress.expect_parts(dataset.name, cached + len(lacking.parts), cached, reasons(lacking.why))
    _read_parts(tables, lacking, work, workers, cache, sha256, what)
    return tables, sha256


def _read_parts(
    tables: Tables, lacking: _Parts, work: Work, workers: Workers, cache: Cache | None, sha256: list[str], what: str
) -> None:
    """Read the parts that the cache lacks, keep their tables, and merge them in the order of the parts."""
    # Closed at once where this ends early: parts that were begun are then left, here or on a cluster.
    with closing(workers.tables(lacking.parts, encoded=cache is not None)) as summed_up:
        for (part, file), key, summed in zip(lacking.parts, lacking.keys, summed_up, strict=True):
            if cache is not None:
                stored = part.dataset, file.shown, sha256[part.file], *file.stamp, part.first, part.rows, what
                cache.put(CacheEntry(key, *stored), summed.encoded)
                work.used.append(key)
            work.read += 1
            work.sent += summed.sent
            work.progress.part_read()
            tables.merge(summed.tables.of_file(part.file))


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
    levels = dataset_summary.levels(plan, [(part.dataset, part.tables) for part in predicted])
    samples = {part.dataset.name: _sample(plan, part, levels) for part in predicted}
    with compared(plan, files, work.scratch) as ids:
        for part in parts:
            if part.dataset.role == "reference":
                samples[part.dataset.name] = dataset_summary.reference(
                    plan, ids[part.dataset.name], levels, part.sha256)
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
    warnings = tuple(dataset_summary.not_compared(plan, sample, other) for other in others)
    return replace(sample, warnings=(*sample.warnings, *warnings))


def _workers(plan: Plan, work: Work) -> AbstractContextManager[Workers]:
    """Return those who read the files of a plan."""
    if plan.dask is None:
        return nullcontext(Threads(plan, workers_of(plan)))
    from evalpipe.streams.dask_workers import dask_workers

    return dask_workers(plan, work.spec, workers_of(plan))


def _sample(plan: Plan, part: _Read, levels: tuple[str, ...]) -> Sample:
    dataset, tables = part.dataset, part.tables
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    evaluated = dataset.role == "evaluate"
    labels = tuple(dataset_summary.labels(plan, dataset, slicing, number, tables)
                   for number, slicing in enumerate(plan.slices.slicings if evaluated else ()))
    summary = dataset_summary.summary(dataset, tables, levels, whole=plan.weight is not None)
    warnings = (*unknown_conditions(dataset.name, dataset_summary.unknown(dataset, tables)),
                *(absent_levels(summary, plan.task) if evaluated else ()))
    warnings += one_cluster(dataset.name, tables.keys) if evaluated else ()
    whole = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   dataset_summary.files(dataset, tables.rows, part.sha256), warnings=warnings)
    return Samples(plan, tables, whole, labels).sample()
