"""What is told of a dataset that was summed up: its files, rows, levels and slices, and what is wrong with these."""

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
from evalpipe.plan.drawing import GROUPS
from evalpipe.results import DatasetSummary, InputFile, LevelCount, Warned
from evalpipe.statistics.grid import UNITS
from evalpipe.streams.tables import are_grouped, clusters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.chapters.slices.plan import ColumnPlan, SlicingPlan
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.row_ids import Identities
    from evalpipe.streams.tables import Labels, Tables

UNITS_MOST = (2**63 - 1) // UNITS
"""The most observations of a cell whose places in it can be totalled as a whole number of 64 bits."""


def summary(dataset: DatasetPlan, tables: Tables, levels: tuple[str, ...], *, whole: bool) -> DatasetSummary:
    """Return the counts of rows; ``whole`` says that weights count observations."""
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
        excluded_zero_weight=tables.rows.get("kept", 0) - used, n=round(total) if whole else used,
        events=round(counts[0].weight) if whole else counts[0].rows, total_weight=total,
        prevalence=counts[0].weight / total if total else None, levels=counts, **clusters)


def rows_of(tables: Tables, what: str) -> int:
    """Return how many rows of all files were "read", or "used"."""
    return sum(count for name, count in tables.rows.items() if name.startswith(f"{what} "))


def input_files_of(dataset: DatasetPlan, rows: Mapping[str, int], sha256: Sequence[str]) -> tuple[InputFile, ...]:
    """Return the files that were read, with the ``rows`` that were "read" and "used" of each, by its number."""
    columns = list(dict.fromkeys((*dataset.columns, *dataset.table.where_columns)))
    return tuple(
        InputFile(dataset=dataset.name, role=dataset.role, path=shown, sha256=digest,
                  rows=rows.get(f"read {number}", 0), used_rows=rows.get(f"used {number}", 0), columns=columns,
                  query_sha256=dataset.table.named.query_sha256)
        for number, ((_, shown), digest) in enumerate(zip(dataset.table.files, sha256, strict=True)))


def reference_sample(plan: Plan, ids: Identities, levels: tuple[str, ...], sha256: Sequence[str]) -> Sample:
    """Return a reference dataset without rows, which its summary counts."""
    dataset, rows = ids.dataset, ids.rows
    assert dataset.role == "reference"  # noqa: S101
    read, used = (sum(count for name, count in rows.items() if name.startswith(what)) for what in ("read ", "used "))
    there = plan.outcome.column in dataset.columns
    events = sum(count for value, count in ids.outcomes.items() if find_level(value, levels) == levels[0])
    counts = [LevelCount(level=level, rows=count, weight=float(count)) for level, count in zip(
        levels, (events, ids.outcomes.total() - events), strict=True)] if there else []
    summary = DatasetSummary(
        name=dataset.name, role="reference", trained_on=dataset.trained_on, where=dataset.where, rows=read,
        excluded_where=read - used, unknown_where=rows["unknown where"], excluded_zero_weight=0, n=used,
        events=events if there else 0, total_weight=float(used), levels=counts,
        prevalence=events / ids.outcomes.total() if ids.outcomes else None)
    warnings = unknown_conditions(dataset.name, {"where": rows["unknown where"]})
    return Sample(dataset.name, "reference", plan.task, levels, np.zeros(0, bool), None, None, summary,
                  input_files_of(dataset, rows, sha256), warnings=warnings)


def unknown_condition_counts(dataset: DatasetPlan, tables: Tables) -> dict[str, int]:
    """Return how many rows lack a value that a condition needs, by the condition, in the order of the spec."""
    return {condition.key: tables.rows.get(f"unknown {condition.key}", 0) for condition in dataset.conditions}


def slice_labels(
    plan: Plan, dataset: DatasetPlan, slicing: SlicingPlan, number: int, tables: Tables
) -> tuple[Labels, ...]:
    """Return the labels of the slices of a slicing in their order; raises DataError where there are too many."""
    if slicing.condition is not None:
        return (((slicing.title, "true"),),)
    groups = next(counted for (place, _), counted in tables.counts.items() if place == number)
    occurring = {group.labels for group in groups if group.labels is not None}
    by_column = [_column_labels(plan, dataset, named, {dict(labels)[named.column] for labels in occurring})
                 for named in slicing.columns]
    combined = (tuple(zip((named.column for named in slicing.columns), chosen, strict=True))
                for chosen in product(*by_column))
    return tuple(combination for combination in combined if len(by_column) == 1 or combination in occurring)


def _column_labels(plan: Plan, dataset: DatasetPlan, named: ColumnPlan, occurring: set[str]) -> tuple[str, ...]:
    missing = (MISSING,) if MISSING in occurring else ()
    if named.cuts:
        return (*intervals(named.cuts), *missing)
    levels = ordered(occurring - {MISSING})
    if len(levels) > plan.slices.max_levels:
        message, hint = too_many(plan, dataset.table.named.called, named, levels)
        raise DataError(Problem("too-many-levels", message, plan.places.place(*dataset.table.named.loc), hint))
    return (*levels, *missing)


def not_compared(plan: Plan, sample: Sample, other: Sample) -> Warned:
    """Say that the rows of two datasets were not compared; raises DataError where they hold the same file."""
    known = {file.sha256: file.path for file in other.files}
    same = next((file.path for file in sample.files if file.sha256 in known), None)
    if same is not None:
        message = f"dataset '{sample.dataset}' and dataset '{other.dataset}' hold the same file, {same}"
        place = plan.places.place("datasets", sample.dataset)
        raise DataError(Problem("shared-rows", message, place, "nothing may be fitted and judged on one row"))
    return Warned.of("rows-not-compared", dataset=sample.dataset, other=other.dataset)


def settled_levels(plan: Plan, datasets: Sequence[tuple[DatasetPlan, Tables]]) -> tuple[str, ...]:
    """Return the event and the other level of all datasets.

    Raises DataError where nothing is left of one, where weights are too large to count, or where levels differ.
    """
    event = plan.outcome.levels[0] if plan.outcome.levels else str(plan.outcome.event)
    first: dict[str, str] = {}
    for dataset, tables in datasets:
        problem = _nothing_left(plan, dataset, tables) or _too_many_observations(plan, dataset, tables)
        if problem is None and len(plan.outcome.levels) < 2:
            problem = _other_level(plan, dataset, tables, event, first)
        if problem is not None:
            raise DataError(problem)
    if len(plan.outcome.levels) == 2:
        return plan.outcome.levels
    return event, next(iter(first), f"not {event}")


def _other_level(
    plan: Plan, dataset: DatasetPlan, tables: Tables, event: str, first: dict[str, str]
) -> Problem | None:
    """Note the level beside the event with the dataset that has it ``first``, or tell that there are several."""
    # A part whose rows are all events knows the other level by no other name.
    others = [level for level, (rows, _) in tables.levels.items() if level != event and rows]
    if len(others) > 1:
        listed = ", ".join(f"'{level}'" for level in sorted(others))
        message = f"the outcome of {dataset.table.named.called} has several levels beside the event '{event}': {listed}"
        hint = ("declare the two under outcome.levels to find the rows that have another, or leave those out with "
                "'where'")
        return Problem("too-many-levels", message, plan.places.place(*dataset.table.named.loc), hint)
    for level in others:
        if first and find_level(level, list(first)) is None:
            other, named = next(iter(first.items()))
            message = (f"the outcome has the level '{level}' in dataset '{dataset.name}' but '{other}' in dataset "
                       f"'{named}'")
            hint = "a binary outcome has the same two levels in all datasets; write them alike"
            return Problem("levels-differ", message, _place_of_files(dataset), hint)
        if not first:
            first[level] = dataset.name
    return None


def _nothing_left(plan: Plan, dataset: DatasetPlan, tables: Tables) -> Problem | None:
    """Tell why no row counts, as it is told of rows that are held; None where one does."""
    called, at = dataset.table.named.called, _place_of_files(dataset)
    if rows_of(tables, "used"):
        return None
    if not rows_of(tables, "read"):
        return no_rows_problem(called, dataset.table.named, plan, at)
    if tables.rows.get("kept", 0) and plan.weight is not None:
        message = f"all weights of dataset '{dataset.name}' are 0 (column '{plan.weight.column}')"
        return Problem("weights-all-zero", message, at, "at least one row must count", notes=_weights_named_at(plan))
    where = next(condition for condition in dataset.conditions if condition.key == "where")
    return none_meets_where(called, plan.places.place(*where.loc), rows_of(tables, "read"),
                            tables.rows.get("unknown where", 0))


def _too_many_observations(plan: Plan, dataset: DatasetPlan, tables: Tables) -> Problem | None:
    """Tell that there are more observations than whole numbers are summed for without an error; None where not."""
    total = sum(weight for _, weight in tables.levels.values())
    column = "" if plan.weight is None else plan.weight.column
    if total > COUNTED:
        place = _place_of_files(dataset)
        return Problem("frequency-weight", sums_to(column, total), place, COUNTS, notes=_weights_named_at(plan))
    if total <= UNITS_MOST:
        return None
    for name in tables.asked.models:
        cells = np.zeros(tables.asked.grid.size, np.int64)
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
    """Return the file, or the path of several as the spec gives it."""
    files = dataset.table.files
    return Place(files[0][1] if len(files) == 1 else dataset.table.named.path)
