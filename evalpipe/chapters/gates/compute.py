"""The verdict of every gate of a spec on every number that it is on, from the tables of results alone.

Gates `on: sequence` are judged by what their nights come to together: `Sequences` gathers their evidence.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalpipe.base.digests import json_sha256
from evalpipe.card.wording import capital, names_of
from evalpipe.chapters.gates.compute_evidence import SIDES, data_of, evidence_row, exact, sides
from evalpipe.chapters.gates.compute_numbers import (
    EarlierRun,
    NoEarlier,
    Numbers,
    Observed,
    change,
    is_on,
    limit_text,
    subject_of,
    verdict,
    written,
)
from evalpipe.chapters.gates.compute_sequence import (
    ENOUGH,
    RECENT,
    NightEvidence,
    Nights,
    agreement,
    evidence,
    gathered,
    last,
    recent,
    threshold,
)
from evalpipe.chapters.gates.plan import GateLimits, gates_plan, least_night, sequence_plan
from evalpipe.errors import DataError, Problem
from evalpipe.results import Gate, GateSequence, Warned
from evalpipe.words import numbers
from evalpipe.words.spelling import joined, quoted, some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.compute_numbers import Word
    from evalpipe.chapters.gates.compute_sequence import Agreement
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import Subject
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import DatasetSummary, Estimate, GateEvidence, Results


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
    if not plan.part(gates_plan):
        return results
    numbers, names = Numbers(results), names_of(results)
    sequences = Sequences.of(plan, results, numbers, nights)
    verdicts: list[Gate | Problem] = []
    for index, gate in enumerate(plan.part(gates_plan)):
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
    run = next((run for index, run in earlier.items() if plan.part(gates_plan)[index].against == "last"), None)
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
        if isinstance(observed, NoEarlier) and case.gate.earlier is not None and not case.gate.rule.optional:
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
    state = case.sequences.state(case.number, subject) if gate.rule.on == "sequence" else None
    word: Literal["pass", "fail", "indeterminate", "skipped"]
    if isinstance(observed, NoEarlier):
        word, reason, observed = "skipped", f"{name} was not compared: {observed.why}.", Observed(None)
    else:
        word, predicate = (
            verdict(GateLimits.of(gate.rule.limit), gate.rule.on, observed, gate.rule.undefined) if state is None
            else sequence_verdict(gate, observed, state))
        reason = f"{name}{_less(case) if observed.signed else ''}{predicate}"
    return Gate(
        **dict(subject), gate=case.number, name=gate.rule.name, on=gate.rule.on, limit=gate.rule.limit,
        observed=observed.value, lower=observed.lower, upper=observed.upper, level=observed.level,
        method=observed.method, against=gate.reference, reference=observed.reference,
        against_sha256=case.earlier.sha256 if isinstance(case.earlier, EarlierRun) else None,
        against_as_of=case.earlier.results.as_of if isinstance(case.earlier, EarlierRun) else None,
        sequence=state, verdict=word, severity=gate.rule.severity, reason=reason,
    )


def _less(case: _Case) -> str:
    """Say what the judged change is from."""
    if case.gate.against == "baseline":
        return f" minus that of {case.names.model(case.gate.baseline or '')}"
    run = "the reference" if case.gate.against == "last" else "the earlier run"
    if isinstance(case.earlier, EarlierRun) and case.earlier.results.as_of is not None:
        run = f"{run} as of {case.earlier.results.as_of}"
    return f" minus that of {run} (two independent samples)"


if TYPE_CHECKING:
    Night = Mapping[str, Any]

VALUES = ("value", "error", "rows", "support")
"""What of a night's record its value is, and what that rests on."""

KEPT = ("data_sha256", "against", "kept", *VALUES)
"""What of a night's record is counted."""


@dataclass(frozen=True)
class Sequences:
    """The evidence of this night on each limit of gates `on: sequence`, and that of earlier nights.

    ``evidence`` is in the order of the gates; ``earlier`` are the nights of each sequence in the order of days;
    ``alarms`` is the number of limits that are judged, or were on a night before.
    """

    plan: Plan
    evidence: tuple[GateEvidence, ...]
    earlier: Mapping[str, Sequence[Night]]
    alarms: int

    @classmethod
    def of(cls, plan: Plan, results: Results, observed: Numbers, nights: Sequence[Night]) -> Sequences:
        """Gather them of the exact evidence in results and, where there is none, of the values and their intervals.

        ``nights`` is the evidence of earlier nights as the ledger has it, in the order of days.
        """
        evidence = tuple(_tonight(plan, results, observed))
        earlier = _by_sequence(evidence, nights)
        return cls(plan, evidence, earlier, len({*earlier, *(row.sequence for row in evidence)}))

    @property
    def needed(self) -> float:
        """The evidence at which a verdict is given."""
        return threshold(self.plan.part(sequence_plan).level, self.alarms)

    def state(self, number: int, subject: Subject) -> GateSequence:
        """Return what the nights of a gate, by its number from 1, come to for a number that it is on."""
        rows = [row for row in self.evidence if row.gate == number and row.key == subject.key]
        sides_ = [_Side.of(self.plan, row, *self._nights(row)) for row in rows]
        days = sorted({day for side in sides_ for day in side.days if day is not None})
        together, rule = sides_[0].agreement, self.plan.part(sequence_plan)
        return GateSequence(
            evidence=max(last(side.logs.against, self.needed) for side in sides_),
            kept=min(last(side.logs.kept, self.needed) for side in sides_),
            recent=max(float(recent(side.logs.against, self.needed)) for side in sides_),
            threshold=self.needed, level=rule.level, alarms=self.alarms, basis=rows[0].basis,
            nights=max(len(side.days) for side in sides_), waiting=max(side.waiting for side in sides_),
            since=days[0] if days else None, same_data=sorted({day for side in sides_ for day in side.same_data}),
            spread=together and together.spread, autocorrelation=together and together.autocorrelation,
            between_nights=rule.between_nights,
            nights_sha256=_nights_sha256(rows, self.earlier),
        )

    def _nights(self, row: GateEvidence) -> tuple[list[Night], list[str]]:
        """Return the nights of a sequence with this one, each of other data, and the days whose data were there."""
        tonight = {"as_of": self.plan.as_of, **row.model_dump(include=set(KEPT))}
        known: set[str] = set()
        nights: list[Night] = []
        same: list[str] = []
        for night in (*self.earlier.get(row.sequence, ()), tonight):
            data = night["data_sha256"]
            if data is not None and data in known:
                same.append(str(night["as_of"]))
            else:
                nights.append(night)
            known |= {data} - {None}
        return nights, same

    def warnings(self) -> Iterator[Warned]:
        """Warn of this night where its data are those of an earlier one."""
        for dataset in dict.fromkeys(row.dataset for row in self.evidence):
            if any(str(self.plan.as_of) in self._nights(row)[1] for row in self.evidence if row.dataset == dataset):
                message = (f"the rows of {dataset} are those of an earlier night, so gates 'on: sequence' do not count "
                           f"{self.plan.as_of}")
                yield Warned(code="same-data", message=message)


@dataclass(frozen=True)
class _Side:
    """The nights of one limit, each of other data: their evidence, in the order of days, and how they go together.

    ``days`` are those with evidence, the last ``waiting`` of which have too few rows to count yet; ``same_data`` those
    that are not counted.
    """

    logs: NightEvidence
    days: list[str | None]
    waiting: int
    same_data: list[str]
    agreement: Agreement | None

    @classmethod
    def of(cls, plan: Plan, row: GateEvidence, nights: Sequence[Night], same_data: list[str]) -> _Side:
        """Put the nights of one limit together, of which the record of this night is one."""
        values = Nights(*(np.array([night[key] for night in nights], float) for key in VALUES))
        if row.basis == "exact":
            logs = NightEvidence(*(np.array([night[key] for night in nights]) for key in ("against", "kept")))
            known = np.asarray(logs.against.any(axis=-1))
        else:
            gate = plan.part(gates_plan)[row.gate - 1]
            groups = gathered(values, least_night(gate.entries))
            between = plan.part(sequence_plan).between_nights
            logs = evidence(groups, dict(sides(gate))[row.side], SIDES[row.side], between=between)
            known = np.isfinite(values.values)
        counted = np.asarray(logs.against.any(axis=-1))
        days = [night["as_of"] for night, tells in zip(nights, known, strict=True) if tells]
        waiting = int(known[1 + max(np.flatnonzero(counted), default=-1) :].sum())
        return cls(NightEvidence(logs.against[counted], logs.kept[counted]), days, waiting, same_data,
                   agreement(values))


def _by_sequence(evidence: Sequence[GateEvidence], nights: Iterable[Night]) -> dict[str, list[Night]]:
    """Return earlier nights by their sequence, in the order of days: those of the gates that have ``evidence``.

    Nights under a former name go on in the sequence under the new one, in place of those of another model there.
    """
    families = {row.family for row in evidence}
    now: dict[str, str] = {row.former: row.sequence for row in evidence if row.former is not None}
    earlier: dict[str, list[Night]] = defaultdict(list)
    for _, of_day in ((day, list(rows)) for day, rows in groupby(sorted(nights, key=_day, reverse=True), _day)):
        taken = {now[night["sequence"]] for night in of_day if night["sequence"] in now}
        for night in reversed(of_day):
            there = str(night["sequence"])
            if there in now or (night["family"] in families and there not in taken):
                kept = {key: item for key, item in night.items() if key != "former"}
                earlier[now.get(there, there)].append(kept)
        now |= {night["former"]: now.get(night["sequence"], night["sequence"])
                for night in of_day if night.get("former") is not None}
    return {sequence: rows[::-1] for sequence, rows in earlier.items()}


def _day(night: Night) -> str:
    return str(night["as_of"])


def _nights_sha256(rows: Iterable[GateEvidence], earlier: Mapping[str, Sequence[Night]]) -> str:
    """Return the hash of the earlier nights of the sequences of some evidence."""
    return json_sha256([earlier.get(row.sequence, ()) for row in rows])


def changed_sequences(results: Results, nights: Sequence[Night]) -> list[int]:
    """Return the gates, by their numbers in the spec, that were judged by other earlier nights than these.

    ``nights`` is the evidence of earlier nights as the ledger has it now, in the order of days.
    """
    earlier = _by_sequence(results.evidence, nights)
    rows_of: dict[tuple[object, ...], list[GateEvidence]] = defaultdict(list)
    for row in results.evidence:
        rows_of[row.gate, row.key].append(row)
    changed = {gate.gate for gate in results.gates if gate.sequence is not None
               and gate.sequence.nights_sha256 != _nights_sha256(rows_of[gate.gate, gate.key], earlier)}
    return sorted(changed)


def _tonight(plan: Plan, results: Results, observed: Numbers) -> Iterator[GateEvidence]:
    """Yield the evidence of this night: exact as step 4 has it; of the others, what groups of nights are made of."""
    known: dict[tuple[object, ...], list[GateEvidence]] = defaultdict(list)
    for row in results.evidence:
        known[row.gate, row.key].append(row)
    for number, gate in enumerate(plan.part(gates_plan), 1):
        for subject in observed.subjects if gate.rule.on == "sequence" else ():
            if is_on(plan, gate, subject):
                rows = known[number, subject.key] or _asymptotic(plan, number, subject, results)
                value = _value(gate, subject, results, observed)
                yield from (row.model_copy(update=value) for row in rows)


def _asymptotic(plan: Plan, number: int, subject: Subject, results: Results) -> Iterator[GateEvidence]:
    gate, data = plan.part(gates_plan)[number - 1], data_of(results, subject.dataset)
    for side, _ in sides(gate):
        yield evidence_row(gate, number, subject, side, "asymptotic", None, data, plan.renamed)


def _value(gate: GatePlan, subject: Subject, results: Results, observed: Numbers) -> dict[str, float | int | None]:
    """Return the number that is judged, its standard error by half of its interval, and what it rests on."""
    judged = observed.judged(gate, subject)
    error = None
    if judged.status == "ok" and judged.interval is not None and judged.level is not None:
        lower, upper = judged.interval
        error = (upper - lower) / 2 / NormalDist().inv_cdf((1 + judged.level) / 2)
    row = next(row for row in results.rows if subject_of(row).key == subject.key)
    dataset = next(dataset for dataset in results.datasets if dataset.name == subject.dataset)
    return {"value": judged.value, "error": error or None, "rows": row.n, "support": _support(gate, row, dataset)}


def _support(gate: GatePlan, row: Estimate, dataset: DatasetSummary) -> float:
    """Return the rows of the rarer outcome, at most as many as there are clusters or rows of equal weight."""
    share = 1.0
    if all(entry.metric.interval != "proportion" for entry in gate.entries) and row.n:
        total = sum(level.rows for level in dataset.levels)
        share = min(level.rows / total for level in dataset.levels)
        share = share if row.events is None else min(row.events, row.n - row.events) / row.n
    whole = dataset.clusters or dataset.n_effective or dataset.n
    return row.n * share * min(1.0, whole / dataset.n)


def sequence_verdict(gate: GatePlan, observed: Observed, state: GateSequence) -> tuple[Word, str]:
    """Return the verdict and what is to be said of the number: a predicate that goes right behind its name."""
    limits = GateLimits.of(gate.rule.limit)
    said = f" is not given: {observed.reason}." if observed.value is None else f": {written(observed, limits)}."
    if not state.nights:
        return "indeterminate", f"{said} No night has evidence yet, so these nights do not decide."
    if state.waiting == state.nights:
        return "indeterminate", f"{said} {_too_few(gate, state)}"
    beyond, within = _beyond(limits, observed), _within(limits, observed)
    whole = f"{said} The evidence{_kind(state)} of {_counted(state)} that it is"
    needed = numbers.evidence(state.threshold)
    if state.evidence >= state.threshold:
        return "fail", f"{whole} {beyond} is {numbers.evidence(state.evidence)}; the gate fails at {needed}."
    if state.kept >= state.threshold and state.recent <= RECENT:
        return "pass", f"{whole} {within} is {numbers.evidence(state.kept)}; the gate passes at {needed}."
    if state.kept >= state.threshold:
        return "indeterminate", (
            f"{whole} {within} is {numbers.evidence(state.kept)}, but that of recent nights that it is {beyond} is "
            f"{numbers.evidence(state.recent)}; the gate passes while that is at most {numbers.plain(RECENT)}.")
    return "indeterminate", (
        f"{whole} {beyond} is {numbers.evidence(state.evidence)}, and that it is {within} is "
        f"{numbers.evidence(state.kept)}; either decides at {needed}, so these nights do not decide.")


def _too_few(gate: GatePlan, state: GateSequence) -> str:
    """Say that nights have too few rows yet."""
    few = "1 night has" if state.nights == 1 else f"{state.nights:,} nights have"
    needed = f"that takes {numbers.plain(max(ENOUGH, least_night(gate.entries)))} of the rarer outcome and an interval"
    return f"{few} too few rows for evidence: {needed}, so these nights do not decide."


def _kind(state: GateSequence) -> str:
    return " (asymptotic)" if state.basis == "asymptotic" else ""


def _counted(state: GateSequence) -> str:
    """Say how many nights there are, and which are not counted."""
    nights = "1 night" if state.nights == 1 else f"{state.nights:,} nights"
    since = "" if state.since is None or state.nights == 1 else f" since {state.since}"
    same = f" (without {joined(state.same_data, 'and')}, of the same data as earlier days)" if state.same_data else ""
    return f"{nights}{since}{same}"


def _beyond(limits: GateLimits, observed: Observed) -> str:
    """Say where a number is that misses its limits."""
    low, high = limit_text(limits.low, observed), limit_text(limits.high, observed)
    words = {limits.low: f"below {low}", limits.high: f"above {high}"}
    return " or ".join(words[limit] for limit in limits.finite)


def _within(limits: GateLimits, observed: Observed) -> str:
    """Say where a number is that keeps its limits."""
    low, high = limit_text(limits.low, observed), limit_text(limits.high, observed)
    words = {limits.low: f"at least {low}", limits.high: f"at most {high}"}
    return " and ".join(words[limit] for limit in limits.finite)
