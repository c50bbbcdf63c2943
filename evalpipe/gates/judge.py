"""Every gate of a spec on every number that it is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.errors import DataError, Problem
from evalpipe.gates.earlier import FIRST
from evalpipe.gates.reference import Earlier, Nothing
from evalpipe.gates.subjects import Subject, subjects
from evalpipe.gates.tables import Tables, changed
from evalpipe.gates.verdict import Bounds, Seen, verdict
from evalpipe.report.names import names_of
from evalpipe.results import Gate as Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.plan.plan import Plan
    from evalpipe.report.names import Names
    from evalpipe.results import Results


@dataclass(frozen=True)
class _Court:
    """What all gates are judged by."""

    plan: Plan
    tables: Tables
    earlier: Mapping[int, Tables]
    sources: Mapping[int, Earlier | Nothing]
    names: Names


def judged(plan: Plan, results: Results, earlier: Mapping[int, Earlier | Nothing]) -> Results:
    """Return the results with the verdicts of the spec's gates: one for each number that a gate is on.

    ``earlier`` are the results of earlier runs by the number of the gate, from `look_back`. Raises DataError where one
    of them lacks a number, unless the gate says that this is optional.
    """
    before = {number: Tables(found.results) for number, found in earlier.items() if isinstance(found, Earlier)}
    court = _Court(plan, Tables(results), before, earlier, names_of(results))
    rows = [row for number, gate in enumerate(plan.gates) for row in _rows(court, number, gate)]
    return results.model_copy(update={"gates": rows}) if plan.gates else results


def _rows(court: _Court, number: int, gate: GatePlan) -> Iterator[Row]:
    problems: list[Problem] = []
    found = list(subjects(court.plan, gate, court.tables))
    if not found:
        problems.append(_nothing(court, number))
    for subject in found:
        seen = _seen(court, number, gate, subject)
        if isinstance(seen, Nothing) and gate.earlier is not None and not gate.optional:
            place = court.plan.places.place("gates", number, "against")
            problems.append(Problem("not-in-results", seen.why, place, FIRST))
        yield _row(court, number, gate, subject, seen)
    if problems:
        raise DataError(*problems)


def _seen(court: _Court, number: int, gate: GatePlan, subject: Subject) -> Seen | Nothing:
    """Return the number that is judged; nothing where there is no earlier one to compare it with."""
    if gate.against is None:
        return subject.seen
    if gate.against == "baseline":
        return court.tables.compared(subject)
    source = court.sources[number]
    if isinstance(source, Nothing):
        return source
    found = court.earlier[number].same(subject)
    if found is None:
        run = source.path if gate.against == "last" else f"the earlier run at {source.path}"
        return Nothing(f"{run} has no {_measure(court.names, subject)} {_where(court.names, subject)}")
    return changed(subject.seen, found)


def _nothing(court: _Court, number: int) -> Problem:
    message = f"gate {number + 1} is on no number of this run, so nothing can be said of it"
    place = court.plan.places.place("gates", number)
    return Problem("nothing-to-judge", message, place, "check what it is on, or remove it")


def _measure(names: Names, subject: Subject) -> str:
    if subject.metric is None:
        goal = str(subject.desirability)
        return "overall desirability" if goal == "overall" else f"desirability of {goal}"
    return names.measure(subject.metric, subject.params, subject.average, subject.class_)


def _where(names: Names, subject: Subject) -> str:
    inside = "" if subject.slice is None else f", {names.slice(subject.slice)}"
    return f"of {names.model(subject.model, subject.variant)} on {subject.dataset}{inside}"


def _row(court: _Court, number: int, gate: GatePlan, subject: Subject, seen: Seen | Nothing) -> Row:
    source = court.sources.get(number)
    said, reason = _judged(court, gate, subject, seen)
    observed = Seen(None) if isinstance(seen, Nothing) else seen
    return Row(
        metric=subject.metric, desirability=subject.desirability, params=dict(subject.params), average=subject.average,
        class_=subject.class_, dataset=subject.dataset, model=subject.model, variant=subject.variant,
        slice=subject.slice, gate=number + 1, name=gate.name, on=gate.on, limit=gate.limit, observed=observed.value,
        lower=observed.lower, upper=observed.upper, level=observed.level, method=observed.method,
        against=gate.reference, against_sha256=source.sha256 if isinstance(source, Earlier) else None,
        reference=observed.reference, verdict=said, severity=gate.severity, reason=reason,
    )


def _judged(court: _Court, gate: GatePlan, subject: Subject, seen: Seen | Nothing) -> tuple[Any, str]:
    """Return the verdict and the sentences of why."""
    name = _measure(court.names, subject)
    name = name[:1].upper() + name[1:]
    if isinstance(seen, Nothing):
        return "skipped", f"{name} was not compared: {seen.why}."
    said, predicate = verdict(Bounds(*gate.bounds), gate.on, seen, gate.undefined)
    return said, f"{name}{_less(court, gate) if seen.signed else ''}{predicate}"


def _less(court: _Court, gate: GatePlan) -> str:
    """Say what the judged change is from."""
    if gate.against == "baseline":
        return f" minus that of {court.names.model(gate.baseline or '')}"
    run = "the reference" if gate.against == "last" else "the earlier run"
    return f" minus that of {run} (two independent samples)"
