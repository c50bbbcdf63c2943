"""What a gate is on: one number for each dataset, model, variant, slice and class in its scope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.gates.verdict import Seen
from evalpipe.levels import level_text
from evalpipe.plan import levels
from evalpipe.plan.measures import entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.gates.tables import Tables
    from evalpipe.plan import MetricPlan, Plan
    from evalpipe.results import Estimate, Scalar, Slice
    from evalpipe.spec.gates import GateRule


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


def subjects(plan: Plan, gate: GateRule, tables: Tables) -> Iterator[Subject]:
    """Yield the numbers that a gate is on, in the order of the results."""
    found = tables.desired(gate.desirability) if gate.desirability is not None else _measured(plan, gate, tables)
    return (one for one in found if _in_scope(plan, gate, one))


def _measured(plan: Plan, gate: GateRule, tables: Tables) -> Iterator[Subject]:
    assert gate.metric is not None  # noqa: S101 - the spec's checks see to it
    asked = tuple(entries(plan.spec, gate.metric))
    wanted = None if gate.class_ is None else level_text(gate.class_)
    for row in tables.results.rows:
        of_measure = any(_is(entry, plan, row) for entry in asked)
        if of_measure and wanted in (None, row.class_) and _in_slice(gate, row.slice):
            yield tables.measured(row)


def _is(entry: MetricPlan, plan: Plan, row: Estimate) -> bool:
    """Tell whether an estimate is of a measure with these options and this average."""
    if (row.metric, row.average) != (entry.metric.name, entry.average):
        return False
    if row.class_ is None:
        return row.params == entry.shown
    own = entry.of_class[levels(plan.spec).index(row.class_)]
    return row.params == {name: value for name, value in own.items() if not isinstance(value, tuple)}


def _in_slice(gate: GateRule, labels: Mapping[str, Any] | None) -> bool:
    """Tell whether all rows (None), or a slice, is what a gate is on."""
    if gate.slice is not None:
        return labels == {column: level_text(level) for column, level in gate.slice.items()}
    if gate.slices is None or labels is None:
        return gate.slices is None and labels is None
    names = (gate.slices,) if isinstance(gate.slices, str) else gate.slices
    return names == ("all",) or set(labels) == set(names)


def _in_scope(plan: Plan, gate: GateRule, one: Subject) -> bool:
    compare = plan.spec.compare
    if gate.against == "baseline" and compare is not None and one.model == compare.baseline:
        return False
    return (
        gate.dataset in (None, one.dataset) and gate.model in (None, one.model) and gate.variant in ("all", one.variant)
    )
