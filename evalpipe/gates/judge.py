"""Every gate of a spec on every number that it is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.errors import DataError, Problem
from evalpipe.gates.earlier import FIRST
from evalpipe.gates.subjects import Subject, subjects
from evalpipe.gates.tables import Tables, changed
from evalpipe.gates.verdict import Bounds, Seen, verdict
from evalpipe.report.names import names_of
from evalpipe.results import Gate as Row
from evalpipe.spec.gates import Earlier as Named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.gates.earlier import Earlier
    from evalpipe.plan import Plan
    from evalpipe.report.names import Names
    from evalpipe.results import Results
    from evalpipe.spec.gates import Gate


@dataclass(frozen=True)
class _Court:
    """What all gates are judged by."""

    plan: Plan
    tables: Tables
    earlier: Mapping[int, Tables]
    sources: Mapping[int, Earlier]
    names: Names


def judged(plan: Plan, results: Results, earlier: Mapping[int, Earlier]) -> Results:
    """Return the results with the verdicts of the spec's gates: one for each number that a gate is on.

    ``earlier`` are the results of earlier runs by the number of the gate, from `look_back`. Raises DataError where one
    of them lacks a number, unless the gate says that this is optional.
    """
    gates = plan.spec.gates or ()
    before = {number: Tables(source.results) for number, source in earlier.items()}
    court = _Court(plan, Tables(results), before, earlier, names_of(results))
    rows = [row for number, gate in enumerate(gates) for row in _rows(court, number, gate)]
    return results.model_copy(update={"gates": rows}) if gates else results


def _rows(court: _Court, number: int, gate: Gate) -> Iterator[Row]:
    problems: list[Problem] = []
    found = list(subjects(court.plan, gate, court.tables))
    if not found:
        problems.append(_nothing(court, number))
    for subject in found:
        seen = _seen(court, number, gate, subject)
        if seen is None and isinstance(gate.against, Named) and not gate.optional:
            problems.append(_lacking(court, number, gate.against.results, subject))
        yield _row(court, number, gate, subject, seen)
    if problems:
        raise DataError(*problems)


def _seen(court: _Court, number: int, gate: Gate, subject: Subject) -> Seen | None:
    """Return the number that is judged; None where the earlier run does not have it."""
    if gate.against is None:
        return subject.seen
    if gate.against == "baseline":
        return court.tables.compared(subject)
    found = court.earlier[number].same(subject) if number in court.earlier else None
    return None if found is None else changed(subject.seen, found)


def _nothing(court: _Court, number: int) -> Problem:
    message = f"gate {number + 1} is on no number of this run, so nothing can be said of it"
    place = court.plan.spec.origin.place("gates", number)
    return Problem("nothing-to-judge", message, place, "check what it is on, or remove it")


def _lacking(court: _Court, number: int, path: str, subject: Subject) -> Problem:
    message = f"the earlier run at {path} has no {_measure(court.names, subject)} {_where(court.names, subject)}"
    return Problem("not-in-results", message, court.plan.spec.origin.place("gates", number, "against"), FIRST)


def _measure(names: Names, subject: Subject) -> str:
    if subject.metric is None:
        goal = str(subject.desirability)
        return "overall desirability" if goal == "overall" else f"desirability of {goal}"
    return names.measure(subject.metric, subject.params, subject.average, subject.class_)


def _where(names: Names, subject: Subject) -> str:
    inside = "" if subject.slice is None else f", {names.slice(subject.slice)}"
    return f"of {names.model(subject.model, subject.variant)} on {subject.dataset}{inside}"


def _row(court: _Court, number: int, gate: Gate, subject: Subject, seen: Seen | None) -> Row:
    source = court.sources.get(number)
    said, reason = _judged(court, gate, subject, seen)
    observed = seen or Seen(None)
    return Row(
        metric=subject.metric, desirability=subject.desirability, params=dict(subject.params), average=subject.average,
        class_=subject.class_, dataset=subject.dataset, model=subject.model, variant=subject.variant,
        slice=subject.slice, gate=number + 1, name=gate.name, on=gate.on, limit=gate.limit, observed=observed.value,
        lower=observed.lower, upper=observed.upper, level=observed.level, method=observed.method,
        against=_against(court, gate), against_sha256=None if source is None else source.sha256,
        reference=observed.reference,
        verdict=said, severity=gate.severity, reason=reason,
    )


def _against(court: _Court, gate: Gate) -> str | None:
    """Name what a change is from: the baseline's model, or the path of an earlier run."""
    if isinstance(gate.against, Named):
        return gate.against.results
    compare = court.plan.spec.compare
    return None if gate.against is None or compare is None else compare.baseline


def _judged(court: _Court, gate: Gate, subject: Subject, seen: Seen | None) -> tuple[Any, str]:
    """Return the verdict and the sentence of why."""
    name = _measure(court.names, subject)
    name = name[:1].upper() + name[1:]
    if seen is None:
        return "skipped", f"{name} has nothing to be compared with: no earlier run holds it"
    of = "the earlier run (two independent samples)" if isinstance(gate.against, Named) else (
        court.names.model(_against(court, gate) or ""))
    less = f" minus that of {of}" if seen.signed else ""
    said, predicate = verdict(Bounds(*gate.bounds), gate.on, seen, gate.undefined)
    return said, f"{name}{less}{predicate}"
