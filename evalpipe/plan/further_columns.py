"""Which columns checks look at that the spec does not name: of evaluated rows, and of rows to compare them with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

MOST_COLUMNS, MOST_CELLS = 50, 2_000_000
"""The most further columns of a dataset, and the most of their cells; beyond these the last columns are left out."""

MOST_SHARED = 12
"""The most columns by which the contents of rows are compared with those of another dataset."""

NESTED = ("List", "Array", "Struct", "Binary", "Object")
"""Beginnings of the names of types whose values are no single ones."""


def with_further_columns(plan: Plan) -> Plan:
    """Return the plan with the further columns of each dataset; none of queries, or where the memory is limited.

    Rows that are never held have only columns to compare with other datasets by, and no more than are read anyway.
    """
    shared = _shared_columns(plan)
    if plan.streaming.streamed:
        read = min((len(dataset.columns) for dataset in plan.datasets if dataset.role == "evaluate"), default=1)
        datasets = tuple(replace(dataset, shared=shared[:read - 1]) for dataset in plan.datasets)
        return replace(plan, datasets=datasets)
    if plan.memory is not None:
        return plan
    return replace(plan, datasets=tuple(_with_further(dataset, shared) for dataset in plan.datasets))


def _with_further(dataset: DatasetPlan, shared: tuple[str, ...]) -> DatasetPlan:
    """Return a dataset whose rows are held with its further columns, those to compare with others by first."""
    named = {*dataset.columns, *dataset.table.where_columns}
    others = [column for column in _single_valued(dataset) if column not in {*shared, *named}]
    wanted = [column for column in shared if column not in dataset.columns]
    wanted += others if dataset.role == "evaluate" and dataset.table.format != "query" else []
    most = min(MOST_COLUMNS, MOST_CELLS // max(1, dataset.table.rows or MOST_CELLS))
    further = tuple(wanted[:most])
    compared = tuple(column for column in shared if column in {*dataset.columns, *further})
    return replace(dataset, further=further, shared=compared, unseen=len(wanted) - len(further))


def _shared_columns(plan: Plan) -> tuple[str, ...]:
    """Return the columns that all datasets have and that are no ids, numbers with a fraction first.

    None where nothing is compared by id, for then rows are compared by their contents anyway.
    """
    roles = {dataset.role for dataset in plan.datasets}
    if plan.id is None or "evaluate" not in roles or roles == {"evaluate"} or any(
            dataset.table.format == "query" for dataset in plan.datasets):
        return ()
    first, *others = plan.datasets
    common = [column for column in _single_valued(first) if column not in (plan.id, plan.cluster) and all(
        column in _single_valued(other) for other in others)]
    common.sort(key=lambda column: not first.table.columns[column].startswith("Float"))
    return tuple(common[:MOST_SHARED])


def _single_valued(dataset: DatasetPlan) -> list[str]:
    """Return the columns of a dataset's file that hold single values."""
    return [column for column, kind in dataset.table.columns.items()
            if not kind.startswith(NESTED) and column not in dataset.table.unreadable]
