"""The summary of a dataset read part by part: its files, rows, levels and slices, and problems with these."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base.levels import find_level
from evalpipe.data.outcome_checks import COUNTED, COUNTS, sums_to
from evalpipe.data.rows import no_rows_problem, none_meets_where
from evalpipe.data.sample import Sample
from evalpipe.data.slices import MISSING, intervals, ordered, too_many
from evalpipe.data.summary import unknown_conditions
from evalpipe.errors import DataError, Place, Problem
from evalpipe.plan.plan import GROUPS
from evalpipe.results import DatasetSummary, InputFile, LevelCount, Warned
from evalpipe.statistics.grid import UNITS
from evalpipe.streams.tables import are_grouped, clusters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import ColumnPlan, SlicingPlan
    from evalpipe.streams.row_ids import Identities
    from evalpipe.streams.tables import Labels, Tables

UNITS_MOST = (2**63 - 1) // UNITS
"""The most observations of a cell whose distances from its end can be totalled in a 64-bit integer."""


def summary(dataset: DatasetPlan, tables: Tables, levels: tuple[str, ...], *, counted: bool) -> DatasetSummary:
    """Return the counts of rows, levels and clusters; ``counted`` says that weights count observations."""
    rows, used = rows_of(tables, "read"), rows_of(tables, "used")
    counts = [LevelCount(level=level, rows=tables.levels.get(level, (0, 0))[0],
                         weight=float(tables.levels.get(level, (0, 0))[1])) for level in levels]
    total = math.fsum(count.weight for count in counts)
    clusters: dict[str, Any] = {}
    if tables.keys is not None:
        error = 1 / math.sqrt(GROUPS - 1) if are_grouped(tables.keys) else None  # where the number is an estimate
        clusters = {"clusters": clusters_of(tables.keys), "clusters_error": error}
    return DatasetSummary(
        name=dataset.name, role=dataset.role, trained_on=dataset.trained_on, where=dataset.where, rows=rows,
        excluded_where=rows - tables.rows.get("kept", 0), unknown_where=tables.rows.get("unknown where", 0),
        excluded_zero_weight=tables.rows.get("kept", 0) - used, n=round(total) if counted else used,
        events=round(counts[0].weight) if counted else counts[0].rows, total_weight=total,
        prevalence=counts[0].weight / total if total else None, levels=counts, **clusters)


def rows_of(tables: Tables, what: str) -> int:
    """Return how many rows of all files were "read", or "used", whichever ``what`` is."""
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
        return (*intervals(column.cuts), *missing)
    levels = ordered(occurring - {MISSING})
    if len(levels) > plan.slices.max_levels:
        message, hint = too_many(plan, dataset.table.named.called, column, levels)
        raise DataError(Problem("too-many-levels", message, plan.places.place(*dataset.table.named.loc), hint))
    return (*levels, *missing)


def not_compared(plan: Plan, sample: Sample, other: Sample) -> Warned:
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
    """Put the level beside the event, with its dataset, into an empty ``dataset_of_level``; return a problem."""
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
    if rows_of(tables, "used"):
        return None
    if not rows_of(tables, "read"):
        return no_rows_problem(called, dataset.table.named, plan, place)
    if tables.rows.get("kept", 0) and plan.weight is not None:
        message = f"all weights of dataset '{dataset.name}' are 0 (column '{plan.weight.column}')"
        return Problem("weights-all-zero", message, place, "at least one row must count", notes=_weights_named_at(plan))
    where = next(condition for condition in dataset.conditions if condition.key == "where")
    return none_meets_where(called, plan.places.place(*where.loc), rows_of(tables, "read"),
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
    return (f"named at {plan.places.place('weight', 'column') or 'the spec, weight.column'}",)


def _place_of_files(dataset: DatasetPlan) -> Place:
    """Return the place of a dataset's only file; of several files, their path as the spec has it."""
    files = dataset.table.files
    return Place(files[0][1] if len(files) == 1 else dataset.table.named.path)
