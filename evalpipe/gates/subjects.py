"""What a gate is on: one number for each dataset, model, variant, slice and class in its scope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.gates.verdict import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.gates.tables import Tables
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate, Scalar, Slice


@dataclass(frozen=True, slots=True)
class Subject:
    """A number that a gate is on: what it is, where it was taken, and what was ``seen``."""

    dataset: str
    model: str
    variant: str
    slice: Slice | None
    metric: str | None
    desirability: str | None
    params: Mapping[str, Scalar]
    average: str | None
    class_: str | None
    seen: Seen


def subjects(plan: Plan, gate: GatePlan, tables: Tables) -> Iterator[Subject]:
    """Yield the numbers that a gate is on, in the order of the results."""
    found = tables.desired(gate.desirability) if gate.desirability is not None else _measured(plan, gate, tables)
    return (subject for subject in found if _in_scope(gate, subject))


def _measured(plan: Plan, gate: GatePlan, tables: Tables) -> Iterator[Subject]:
    for row in tables.results.rows:
        of_measure = any(_is(entry, plan, row) for entry in gate.entries)
        if of_measure and gate.class_ in (None, row.class_) and _in_slice(gate, row.slice):
            yield tables.measured(row)


def _is(entry: MetricPlan, plan: Plan, row: Estimate) -> bool:
    """Tell whether an estimate is of a measure with these options and this average."""
    if (row.metric, row.average) != (entry.metric.name, entry.average):
        return False
    if row.class_ is None:
        return row.params == entry.shown
    own = entry.of_class[plan.outcome.levels.index(row.class_)]
    return row.params == {name: value for name, value in own.items() if not isinstance(value, tuple)}


def _in_slice(gate: GatePlan, labels: Mapping[str, Any] | None) -> bool:
    """Tell whether all rows (None), or a slice, is what a gate is on."""
    if gate.slice is not None:
        return labels == gate.slice
    if gate.slices is None or labels is None:
        return gate.slices is None and labels is None
    return gate.slices == ("all",) or set(labels) == set(gate.slices)


def _in_scope(gate: GatePlan, subject: Subject) -> bool:
    if gate.against == "baseline" and subject.model == gate.baseline:
        return False
    return (
        gate.dataset in (None, subject.dataset) and gate.model in (None, subject.model)
        and gate.variant in ("all", subject.variant)
    )
