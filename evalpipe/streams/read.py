"""Step 3 for datasets too large for memory: sum their parts up, merge the sums, and return samples of cells.

The summary of such a dataset, its files, rows, levels and slices, and problems with these come from the sums.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base.heap import trim
from evalpipe.base.levels import find_level
from evalpipe.data.outcome_checks import COUNTED, COUNTS, sums_to
from evalpipe.data.prediction_files import left_out_warning, none_complete
from evalpipe.data.rows import no_rows_problem, none_meets_where
from evalpipe.data.sample import Contents, Sample
from evalpipe.data.slices import MISSING, interval_labels, ordered, too_many_levels_message
from evalpipe.data.summary import absent_levels, one_cluster, unknown_conditions
from evalpipe.errors import DataError, Place, Problem
from evalpipe.plan.memory import threads_of, workers_of
from evalpipe.plan.plan import GROUPS
from evalpipe.results import DatasetSummary, InputFile, LevelCount, Warned
from evalpipe.statistics.grid import UNITS
from evalpipe.streams.cache import Cache, CacheEntry, cache_key, reasons_in_words, request_sha256, why_read
from evalpipe.streams.row_ids import compared_ids
from evalpipe.streams.samples import Samples
from evalpipe.streams.tables import File, Tables, are_grouped, cluster_count, parts_of, stamp, table_layout
from evalpipe.streams.tally import Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.data.sample import SharedRows
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import ColumnPlan, SlicingPlan
    from evalpipe.streams.row_ids import Identities
    from evalpipe.streams.tables import Labels, Part, Workers
    from evalpipe.streams.work import Work


UNITS_MOST = (2**63 - 1) // UNITS
"""The most observations of a cell whose distances from its end can be totalled in a 64-bit integer."""


def dataset_summary(plan: Plan, dataset: DatasetPlan, tables: Tables, levels: tuple[str, ...]) -> DatasetSummary:
    """Return the counts of rows, levels and clusters."""
    rows, used, incomplete = count_rows(tables, "read"), count_rows(tables, "used"), tables.rows.get("incomplete", 0)
    lacking = {model: count for model in plan.models if (count := tables.rows.get(f"lacking {model}", 0))}
    counts = [LevelCount(level=level, rows=tables.levels.get(level, (0, 0))[0],
                         weight=float(tables.levels.get(level, (0, 0))[1])) for level in levels]
    total = math.fsum(count.weight for count in counts)
    clusters: dict[str, Any] = {}
    if tables.keys is not None:
        error = 1 / math.sqrt(GROUPS - 1) if are_grouped(tables.keys) else None  # where the number is an estimate
        clusters = {"clusters": cluster_count(tables.keys), "clusters_error": error}
    return DatasetSummary(
        name=dataset.name, role=dataset.role, trained_on=dataset.trained_on, where=dataset.where, rows=rows,
        excluded_where=rows - tables.rows.get("kept", 0), unknown_where=tables.rows.get("unknown where", 0),
        excluded_zero_weight=tables.rows.get("kept", 0) - incomplete - used, excluded_incomplete=incomplete,
        lacking_predictions=lacking, n=used if plan.weight is None else round(total),
        events=counts[0].rows if plan.weight is None else round(counts[0].weight), total_weight=total,
        prevalence=counts[0].weight / total if total else None, levels=counts, **clusters)


def count_rows(tables: Tables, what: str) -> int:
    """Return how many rows of all files were read or used; ``what`` is "read" or "used"."""
    return sum(count for name, count in tables.rows.items() if name.startswith(f"{what} "))


def input_files_of(dataset: DatasetPlan, rows: Mapping[str, int], sha256: Sequence[str]) -> tuple[InputFile, ...]:
    """Return the files of a dataset; ``rows`` counts rows under names such as "read 0" and "used 0", by file."""
    columns = list(dict.fromkeys((*dataset.columns, *dataset.table.where_columns)))
    return tuple(
        InputFile(dataset=dataset.name, role=dataset.role, path=shown, sha256=digest,
                  rows=rows.get(f"read {number}", 0), used_rows=rows.get(f"used {number}", 0), columns=columns,
                  query_sha256=dataset.table.named.query_sha256)
        for number, ((_, shown), digest) in enumerate(zip(dataset.table.files, sha256, strict=True)))


def reference_sample(plan: Plan, ids: Identities, levels: tuple[str, ...], sha256: Sequence[str]) -> Sample:
    """Return a sample without rows for a reference dataset, with a summary that counts its rows."""
    dataset, rows = ids.dataset, ids.rows
    assert dataset.role == "reference"  # noqa: S101
    read, used = (sum(count for name, count in rows.items() if name.startswith(what)) for what in ("read ", "used "))
    has_outcome = plan.outcome.column in dataset.columns
    events = sum(count for value, count in ids.outcomes.items() if find_level(value, levels) == levels[0])
    counts = [LevelCount(level=level, rows=count, weight=float(count)) for level, count in zip(
        levels, (events, ids.outcomes.total() - events), strict=True)] if has_outcome else []
    summary = DatasetSummary(
        name=dataset.name, role="reference", trained_on=dataset.trained_on, where=dataset.where, rows=read,
        excluded_where=read - used, unknown_where=rows["unknown where"], excluded_zero_weight=0, n=used,
        events=events if has_outcome else 0, total_weight=float(used), levels=counts,
        prevalence=events / ids.outcomes.total() if ids.outcomes else None)
    warnings = unknown_conditions(dataset.name, {"where": rows["unknown where"]})
    return Sample(dataset.name, "reference", plan.task, levels, np.zeros(0, bool), None, None, summary,
                  input_files_of(dataset, rows, sha256), warnings=warnings)


def unknown_condition_counts(dataset: DatasetPlan, tables: Tables) -> dict[str, int]:
    """Return the number of rows that lack a value which a condition needs, by the condition's key, in spec order."""
    return {condition.key: tables.rows.get(f"unknown {condition.key}", 0) for condition in dataset.conditions}


def slice_labels(
    plan: Plan, dataset: DatasetPlan, slicing: SlicingPlan, number: int, tables: Tables
) -> tuple[Labels, ...]:
    """Return the labels of each slice of a slicing, in order; raises DataError where there are too many.

    ``number`` is the slicing's position in the plan.
    """
    if slicing.condition is not None:
        return (((slicing.title, "true"),),)
    groups = next(groups for (slicing_index, _), groups in tables.counts.items() if slicing_index == number)
    occurring = {group.labels for group in groups if group.labels is not None}
    by_column = [_column_labels(plan, dataset, column, {dict(labels)[column.column] for labels in occurring})
                 for column in slicing.columns]
    combined = (tuple(zip((column.column for column in slicing.columns), labels_by_column, strict=True))
                for labels_by_column in product(*by_column))
    return tuple(combination for combination in combined if len(by_column) == 1 or combination in occurring)


def _column_labels(plan: Plan, dataset: DatasetPlan, column: ColumnPlan, occurring: set[str]) -> tuple[str, ...]:
    """Return the slices of a column in order, missing values last: its intervals, or the levels that occur."""
    missing = (MISSING,) if MISSING in occurring else ()
    if column.cuts:
        return (*interval_labels(column.cuts), *missing)
    levels = ordered(occurring - {MISSING})
    if len(levels) > plan.slices.max_levels:
        message, hint = too_many_levels_message(plan, dataset.table.named.called, column, levels)
        raise DataError(Problem("too-many-levels", message, plan.places.place(*dataset.table.named.loc), hint))
    return (*levels, *missing)


def not_compared_warning(plan: Plan, sample: Sample, other: Sample) -> Warned:
    """Return the warning that the rows of two datasets were not compared; raises DataError where they share a file."""
    paths = {file.sha256: file.path for file in other.files}
    shared_path = next((file.path for file in sample.files if file.sha256 in paths), None)
    if shared_path is not None:
        message = f"dataset '{sample.dataset}' and dataset '{other.dataset}' hold the same file, {shared_path}"
        place = plan.places.place("datasets", sample.dataset)
        raise DataError(Problem("shared-rows", message, place, "nothing may be fitted and judged on one row"))
    return Warned.of("rows-not-compared", dataset=sample.dataset, other=other.dataset)


def settled_levels(plan: Plan, datasets: Sequence[tuple[DatasetPlan, Tables]]) -> tuple[str, ...]:
    """Return the event and the other level of the outcome, the same in all datasets.

    Raises DataError where no row of a dataset is left, weights are too large to count, or levels differ.
    """
    event = plan.outcome.levels[0] if plan.outcome.levels else str(plan.outcome.event)
    dataset_of_level: dict[str, str] = {}
    for dataset, tables in datasets:
        problem = _nothing_left(plan, dataset, tables) or _too_many_observations(plan, dataset, tables)
        if problem is None and len(plan.outcome.levels) < 2:
            problem = _other_level(plan, dataset, tables, event, dataset_of_level)
        if problem is not None:
            raise DataError(problem)
    if len(plan.outcome.levels) == 2:
        return plan.outcome.levels
    return event, next(iter(dataset_of_level), f"not {event}")


def _other_level(
    plan: Plan, dataset: DatasetPlan, tables: Tables, event: str, dataset_of_level: dict[str, str]
) -> Problem | None:
    """Store the level that is not the event, with its dataset, in ``dataset_of_level`` if that is empty.

    Return the problem of a dataset with several such levels, or with another than an earlier dataset; else None.
    """
    # A part whose rows are all events has a level of no rows beside it, under a name that stands for any.
    others = [level for level, (rows, _) in tables.levels.items() if level != event and rows]
    if len(others) > 1:
        listed = ", ".join(f"'{level}'" for level in sorted(others))
        message = f"the outcome of {dataset.table.named.called} has several levels beside the event '{event}': {listed}"
        hint = ("declare the two under outcome.levels to find the rows that have another, or leave those out with "
                "'where'")
        return Problem("too-many-levels", message, plan.places.place(*dataset.table.named.loc), hint)
    for level in others:
        if dataset_of_level and find_level(level, list(dataset_of_level)) is None:
            other, other_dataset = next(iter(dataset_of_level.items()))
            message = (f"the outcome has the level '{level}' in dataset '{dataset.name}' but '{other}' in dataset "
                       f"'{other_dataset}'")
            hint = "a binary outcome has the same two levels in all datasets; write them alike"
            return Problem("levels-differ", message, _place_of_files(dataset), hint)
        if not dataset_of_level:
            dataset_of_level[level] = dataset.name
    return None


def _nothing_left(plan: Plan, dataset: DatasetPlan, tables: Tables) -> Problem | None:
    """Return the problem that no row of a dataset counts, worded as for rows in memory; None where one does."""
    called, place = dataset.table.named.called, _place_of_files(dataset)
    if count_rows(tables, "used"):
        return None
    if not count_rows(tables, "read"):
        return no_rows_problem(called, dataset.table.named, plan.places, place)
    kept = tables.rows.get("kept", 0)
    if kept and kept == tables.rows.get("incomplete", 0):
        return none_complete(plan, dataset.name)
    if kept and plan.weight is not None:
        message = f"all weights of dataset '{dataset.name}' are 0 (column '{plan.weight.column}')"
        return Problem("weights-all-zero", message, place, "at least one row must count", notes=_weights_named_at(plan))
    where = next(condition for condition in dataset.conditions if condition.key == "where")
    return none_meets_where(called, plan.places.place(*where.loc), count_rows(tables, "read"),
                            tables.rows.get("unknown where", 0))


def _too_many_observations(plan: Plan, dataset: DatasetPlan, tables: Tables) -> Problem | None:
    """Return the problem of more observations than can be counted exactly; None where there are not so many."""
    total = sum(weight for _, weight in tables.levels.values())
    column = "" if plan.weight is None else plan.weight.column
    if total > COUNTED:
        place = _place_of_files(dataset)
        return Problem("frequency-weight", sums_to(column, total), place, COUNTS, notes=_weights_named_at(plan))
    if total <= UNITS_MOST:
        return None
    for name in tables.layout.models:
        cells = np.zeros(tables.layout.grid.size, np.int64)
        for group in tables.counts[0, name].values():
            cells[group.cells] += group.counts
        if cells.max() > UNITS_MOST:
            message = (f"{cells.max():,} observations of {dataset.table.named.called} have nearly one probability of "
                       f"model '{name}', more than the {UNITS_MOST:,} that are counted exactly")
            hint = "divide the weights by a common factor, or set engine.mode to exact"
            return Problem("too-many-alike", message, _place_of_files(dataset), hint)
    return None


def _weights_named_at(plan: Plan) -> tuple[str, ...]:
    """Return the note that says where the spec names the weight column."""
    return (f"named at {plan.places.place('weight', 'column') or 'the spec, weight.column'}",)


def _place_of_files(dataset: DatasetPlan) -> Place:
    """Return the place of a dataset's only file; of several files, their path as the spec has it."""
    files = dataset.table.files
    return Place(files[0][1] if len(files) == 1 else dataset.table.named.path)


def files_of(plan: Plan, dataset: DatasetPlan) -> list[File]:
    """Return the files of a dataset with their stamps before they are read; raises DataError."""
    place = plan.places.place(*dataset.table.named.loc)
    return [File(path, shown, stamp(path, shown, place), place) for path, shown in dataset.table.files]


def merged_tables(
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
        key = cache_key(sha256_of_files[part.file], file.shown, part, request)
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
    work.progress.expect_parts(dataset.name, cached + len(unread), cached, reasons_in_words(why))
    # Closed at once where this ends early: parts that were begun are then left, here or on a cluster.
    with closing(workers.tables(unread, encoded=cache is not None)) as summed_up:
        for (part, file), key in zip(unread, keys, strict=True):
            summed = next(summed_up)  # in the order of the parts
            if cache is not None:
                sha256 = sha256_of_files[part.file]
                stored = part.dataset, file.shown, sha256, *file.stamp, part.first, part.rows, request
                cache.put(CacheEntry(key, *stored), summed.encoded)
                work.used.append(key)
            work.read += 1
            work.sent += summed.sent
            work.progress.part_read()
            tables.merge(summed.tables.of_file(part.file))
            del summed  # before the next part is waited for
            trim()
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
    connected: AbstractContextManager[Workers] = nullcontext(Threads(plan, threads_of(plan)))
    if plan.dask is not None:
        from evalpipe.streams import task

        connected = task.dask_workers(plan, work.spec, workers_of(plan))
    datasets: list[_ReadDataset] = []
    with connected as workers:
        for dataset in plan.datasets:
            dataset_files = files[dataset.name]
            if dataset.role == "reference":  # whose rows are compared and not counted
                sha256_of_files = list(dataset.table.contents or workers.digests(dataset_files))
                datasets.append(_ReadDataset(dataset, Tables(table_layout(plan)), sha256_of_files))
            else:
                datasets.append(_ReadDataset(dataset, *merged_tables(plan, dataset, dataset_files, work, workers)))
    if work.cache is not None:
        Cache(work.cache).finish(work.used)
    predicted = [read for read in datasets if read.dataset.role != "reference"]
    levels = settled_levels(plan, [(read.dataset, read.tables) for read in predicted])
    samples = {read.dataset.name: _sample_of_cells(plan, read, levels) for read in predicted}
    trim()
    shared: dict[str, tuple[SharedRows, ...]] = {}
    with compared_ids(plan, files, work.scratch) as ids:
        for read in datasets:
            if read.dataset.role == "evaluate" and ids:
                shared[read.dataset.name] = tuple(
                    row for other in ids.values() if other.dataset.role != "evaluate"
                    for row in ids[read.dataset.name].shared_contents(other))
            if read.dataset.role == "reference":
                samples[read.dataset.name] = reference_sample(
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
    warnings = tuple(not_compared_warning(plan, sample, other) for other in others)
    return replace(sample, warnings=(*sample.warnings, *warnings))


def _sample_of_cells(plan: Plan, read: _ReadDataset, levels: tuple[str, ...]) -> Sample:
    """Return the sample of cells of a dataset with predictions, with its summary and warnings."""
    dataset, tables = read.dataset, read.tables
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    is_evaluated = dataset.role == "evaluate"
    labels = tuple(slice_labels(plan, dataset, slicing, number, tables)
                   for number, slicing in enumerate(plan.slices.slicings if is_evaluated else ()))
    summary = dataset_summary(plan, dataset, tables, levels)
    warnings = (*unknown_conditions(dataset.name, unknown_condition_counts(dataset, tables)),
                *(absent_levels(summary, plan.task) if is_evaluated else ()))
    warnings += one_cluster(dataset.name, tables.keys) if is_evaluated else ()
    if summary.excluded_incomplete:
        warnings += (left_out_warning(dataset.name, summary.excluded_incomplete, summary.rows - summary.excluded_where,
                                      summary.lacking_predictions),)
    empty = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   input_files_of(dataset, tables.rows, read.sha256), warnings=warnings)
    return Samples(plan, tables, empty, labels).sample()
