"""Which numbers of a run a gate is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import Subject
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


def is_on(plan: Plan, gate: GatePlan, subject: Subject) -> bool:
    """Tell whether a gate is on a number."""
    if gate.against == "baseline" and subject.model == gate.baseline:
        return False
    return (
        gate.dataset in (None, subject.dataset) and gate.model in (None, subject.model)
        and gate.variant in ("all", subject.variant) and gate.class_ in (None, subject.class_)
        and gate.desirability == subject.desirability and _in_slice(gate, subject)
        and (subject.metric is None or any(_is_measure(plan, entry, subject) for entry in gate.entries))
    )


def _in_slice(gate: GatePlan, subject: Subject) -> bool:
    """Tell whether a gate is on all rows, or on the slice, that a number is of."""
    if gate.slice is not None:
        return subject.slice == gate.slice
    if gate.slices is None or subject.slice is None:
        return gate.slices is None and subject.slice is None
    return gate.slices == ("all",) or set(subject.slice) == set(gate.slices)


def _is_measure(plan: Plan, entry: MetricPlan, subject: Subject) -> bool:
    """Tell whether a number is of a measure with these options and this average."""
    class_ = subject.class_
    if (subject.metric, subject.average) != (entry.metric.name, entry.average):
        return False
    options = entry.shown if class_ is None else entry.shown_of(plan.outcome.levels.index(class_))
    return subject.params == options
