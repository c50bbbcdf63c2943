"""The verdict of every gate of a spec on every number that it is on, from the tables of results alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.card.wording import capital, names_of
from evalpipe.chapters.gates.compute_evidence import data_of, exact
from evalpipe.chapters.gates.compute_nights import Sequences, sequence_verdict
from evalpipe.chapters.gates.compute_numbers import EarlierRun, NoEarlier, Numbers, change
from evalpipe.chapters.gates.compute_scope import is_on
from evalpipe.chapters.gates.compute_verdict import Observed, verdict
from evalpipe.chapters.gates.plan import GateLimits
from evalpipe.errors import DataError, Problem
from evalpipe.results import Gate, Warned
from evalpipe.words.spelling import quoted, some_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import Subject
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Results

FIRST = "run once without this gate, or add 'optional: true' to it, which skips it until there is something to compare"
"""The way out where there is no earlier run to compare with."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A gate, by its ``number`` in the spec from 1, with the ``numbers`` of the run and the run that it is against."""

    plan: Plan
    number: int
    gate: GatePlan
    numbers: Numbers
    earlier: EarlierRun | NoEarlier | None
    names: Names
    sequences: Sequences


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the evidence of this night on gates `on: sequence`, as far as it is exact."""
    return {"evidence": list(exact(plan, evaluated))}


def judged(
    plan: Plan, results: Results, earlier: Mapping[int, EarlierRun | NoEarlier],
    nights: Sequence[Mapping[str, Any]] = (),
) -> Results:
    """Return the results with the verdicts of the spec's gates: one for each number that a gate is on.

    ``earlier`` are the results of earlier runs by the number of the gate from 0, as `look_back` returns them;
    ``nights`` the evidence of earlier nights, as `evalpipe.ledger.nights.evidence_before` returns it. Raises
    DataError with every gate that is on no number, and every number that an earlier run lacks, unless the gate says
    that this is optional.
    """
    if not plan.gates:
        return results
    numbers, names = Numbers(results), names_of(results)
    sequences = Sequences.of(plan, results, numbers, nights)
    verdicts: list[Gate | Problem] = []
    for index, gate in enumerate(plan.gates):
        run = earlier[index] if gate.against in ("last", "results") else None
        verdicts += _verdicts(_Case(plan, index + 1, gate, numbers, run, names, sequences))
    problems = [problem for problem in verdicts if isinstance(problem, Problem)]
    if problems:
        raise DataError(*problems)
    warnings = [*results.warnings, *sequences.warnings(), *_same_data(plan, results, earlier)]
    return results.model_copy(
        update={"gates": verdicts, "evidence": list(sequences.evidence), "warnings": warnings})


def _same_data(
    plan: Plan, results: Results, earlier: Mapping[int, EarlierRun | NoEarlier]
) -> Iterator[Warned]:
    """Warn of datasets whose rows are those of the earlier night that gates `against: last` are held to."""
    run = next((run for index, run in earlier.items() if plan.gates[index].against == "last"), None)
    if not isinstance(run, EarlierRun) or run.results.as_of is None or plan.as_of is None:
        return
    for dataset in (dataset.name for dataset in results.datasets if dataset.role == "evaluate"):
        if data_of(results, dataset) is not None and data_of(results, dataset) == data_of(run.results, dataset):
            message = (f"the rows of {dataset} are those of {run.results.as_of}, so gates 'against: last' compare rows "
                       "with themselves")
            yield Warned(code="same-data", message=message)


def _verdicts(case: _Case) -> Iterator[Gate | Problem]:
    """Yield the verdict of a gate on each number that it is on, in the order of the results."""
    subjects = [subject for subject in case.numbers.subjects if is_on(case.plan, case.gate, subject)]
    place = case.plan.places.place
    if not subjects:
        message = f"gate {case.number} matches no number of this run, so it cannot be judged"
        yield Problem("nothing-to-judge", message, place("gates", case.number - 1), "check what it is on, or remove it")
    for subject in subjects:
        observed = _observed(case, subject)
        if isinstance(observed, NoEarlier) and case.gate.earlier is not None and not case.gate.optional:
            yield Problem("not-in-results", observed.why, place("gates", case.number - 1, "against"), FIRST)
        else:
            yield _row(case, subject, observed)


def _observed(case: _Case, subject: Subject) -> Observed | NoEarlier:
    """Return the number that is judged; or why there is no earlier one to compare it with."""
    if case.earlier is None:
        return case.numbers.judged(case.gate, subject)
    now = case.numbers.observed[subject.key]
    if isinstance(case.earlier, NoEarlier):
        return case.earlier
    then, run = case.earlier.observed(subject), _run(case, case.earlier)
    if then is not None and not case.numbers.same_expression(case.earlier.numbers, subject.metric):
        return NoEarlier(f"in {run}, {case.names.subject(subject)} is another expression")
    if then is not None:
        return change(now, then)
    return NoEarlier(f"{run} has no {_lacking(case, case.earlier, subject)}")


def _run(case: _Case, earlier: EarlierRun) -> str:
    """Name an earlier run."""
    if case.gate.against == "last":
        day = earlier.results.as_of
        return "the earlier run" if day is None else f"the earlier run as of {day}"
    return f"the earlier run at {earlier.path}"


def _lacking(case: _Case, earlier: EarlierRun, subject: Subject) -> str:
    """Say what an earlier run lacks for a number to be compared: its model, its dataset or the number itself."""
    models = [model.name for model in earlier.results.models]
    datasets = [dataset.name for dataset in earlier.results.datasets if dataset.role == "evaluate"]
    for kind, name, names in (("model", subject.model, models), ("dataset", subject.dataset, datasets)):
        if name not in names and name not in earlier.names.values():
            return f"{kind} {quoted(name)}; it has {some_of(names)}"
    return f"{case.names.subject(subject)} of {case.names.scope(subject)}"


def _row(case: _Case, subject: Subject, observed: Observed | NoEarlier) -> Gate:
    """Judge a number, and write it as a row of the results."""
    gate, name = case.gate, capital(case.names.subject(subject))
    state = case.sequences.state(case.number, subject) if gate.on == "sequence" else None
    word: Literal["pass", "fail", "indeterminate", "skipped"]
    if isinstance(observed, NoEarlier):
        word, reason, observed = "skipped", f"{name} was not compared: {observed.why}.", Observed(None)
    else:
        word, predicate = (
            verdict(GateLimits.of(gate.limit), gate.on, observed, gate.undefined) if state is None
            else sequence_verdict(gate, observed, state))
        reason = f"{name}{_less(case) if observed.signed else ''}{predicate}"
    return Gate(
        **dict(subject), gate=case.number, name=gate.name, on=gate.on, limit=dict(gate.limit), observed=observed.value,
        lower=observed.lower, upper=observed.upper, level=observed.level, method=observed.method,
        against=gate.reference, reference=observed.reference,
        against_sha256=case.earlier.sha256 if isinstance(case.earlier, EarlierRun) else None,
        against_as_of=case.earlier.results.as_of if isinstance(case.earlier, EarlierRun) else None,
        sequence=state, verdict=word, severity=gate.severity, reason=reason,
    )


def _less(case: _Case) -> str:
    """Say what the judged change is from."""
    if case.gate.against == "baseline":
        return f" minus that of {case.names.model(case.gate.baseline or '')}"
    run = "the reference" if case.gate.against == "last" else "the earlier run"
    if isinstance(case.earlier, EarlierRun) and case.earlier.results.as_of is not None:
        run = f"{run} as of {case.earlier.results.as_of}"
    return f" minus that of {run} (two independent samples)"
