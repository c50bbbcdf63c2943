"""The verdict of every gate of a spec on every number that it judges, from the tables of results alone.

Gates `on: sequence` are judged by the evidence of all nights together, which `Sequences` collects.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalpipe.base.records import Subject
from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.compute_sequence import (
    ENOUGH,
    RECENT,
    SIDES,
    NightEvidence,
    Nights,
    agreement,
    data_of,
    evidence,
    evidence_after_last,
    evidence_row,
    exact_evidence,
    group_nights,
    recent_evidence,
    sides,
    threshold,
)
from evalpipe.chapters.gates.compute_verdict import change, judged_number, verdict
from evalpipe.chapters.gates.plan import gates_plan, judges_number, least_night, sequence_plan
from evalpipe.chapters.gates.records import GateLimits, GateReason
from evalpipe.chapters.labels.plan import counts_settled_alone
from evalpipe.errors import DataError, Problem
from evalpipe.results import Gate, GateSequence, Warned
from evalpipe.results.observed import EarlierRun, NoEarlier, Numbers, Observed
from evalpipe.results.sequences import nights_by_sequence, nights_sha256
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.compute_sequence import Agreement
    from evalpipe.chapters.gates.compute_verdict import Word
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import DatasetSummary, Estimate, GateEvidence, Results

    Night = Mapping[str, Any]

FIRST = "run once without this gate, or add 'optional: true' to it, which skips it until there is something to compare"
"""The hint where there is no earlier run to compare with."""

VALUE_FIELDS = ("value", "error", "rows", "support")
"""The fields of a night's record that hold its value, standard error and numbers of rows."""

NIGHT_FIELDS = ("data_sha256", "against", "kept", *VALUE_FIELDS)
"""The fields of a night's record that its evidence is computed from."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A gate, by its ``number`` in the spec from 1, with all that its verdicts need.

    ``numbers`` are those of this run; ``earlier`` is the earlier run that it compares with, None of any other gate.
    """

    plan: Plan
    number: int
    gate: GatePlan
    numbers: Numbers
    earlier: EarlierRun | NoEarlier | None
    names: Names
    sequences: Sequences


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the exact evidence of this nightly run on gates `on: sequence`, as field of the results."""
    return {"evidence": list(exact_evidence(plan, evaluated))}


def judged(
    plan: Plan, results: Results, earlier: Mapping[int, EarlierRun | NoEarlier],
    nights: Sequence[Mapping[str, Any]] = (),
) -> Results:
    """Return the results with the verdicts of the spec's gates: one for each number that a gate judges.

    ``earlier`` are the runs that gates compare with, by the number of the gate from 0; ``nights`` the records of
    evidence that earlier nightly runs left in the ledger, in the order of days. Raises DataError with every gate that
    matches no number, and every number that an earlier run lacks, unless the gate is optional.
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
    warnings = [*results.warnings, *sequences.warnings(), *_same_data_warnings(plan, results, earlier)]
    return results.model_copy(
        update={"gates": verdicts, "evidence": list(sequences.evidence), "warnings": warnings})


def _same_data_warnings(
    plan: Plan, results: Results, earlier: Mapping[int, EarlierRun | NoEarlier]
) -> Iterator[Warned]:
    """Yield a warning for each dataset with the same rows as in the reference of gates `against: last`."""
    run = next((run for index, run in earlier.items() if plan.part(gates_plan)[index].against == "last"), None)
    if not isinstance(run, EarlierRun) or run.results.as_of is None or plan.as_of is None:
        return
    for dataset in (dataset.name for dataset in results.datasets if dataset.role == "evaluate"):
        if data_of(results, dataset) is not None and data_of(results, dataset) == data_of(run.results, dataset):
            yield Warned.of("same-data", case="reference", dataset=dataset, as_of=run.results.as_of)


def _verdicts(case: _Case) -> Iterator[Gate | Problem]:
    """Yield the verdict of a gate on each number that it judges, in the order of the results, or a Problem.

    A check is judged after all else, by its outcome: `evalpipe.findings`.
    """
    rule = case.gate.rule
    if rule.check is not None:
        yield Gate(metric=None, check=rule.check, dataset="", model="", gate=case.number, name=rule.name, on="check",
                   limit={}, observed=None, lower=None, upper=None, level=None, method="none", verdict="inconclusive",
                   severity=rule.severity, reason=GateReason(code="check-clear"))
        return
    subjects = [subject for subject in case.numbers.subjects if judges_number(case.plan, case.gate, subject)]
    place = case.plan.places.place
    if not subjects:
        message = f"gate {case.number} matches no number of this run, so it cannot be judged"
        yield Problem("nothing-to-judge", message, place("gates", case.number - 1), "check what it is on, or remove it")
    for subject in subjects:
        observed = _observed(case, subject)
        if isinstance(observed, NoEarlier) and case.gate.earlier is not None and not case.gate.rule.optional:
            yield Problem("not-in-results", observed.why, place("gates", case.number - 1, "against"), FIRST)
        else:
            yield _gate_row(case, subject, observed)


def _observed(case: _Case, subject: Subject) -> Observed | NoEarlier:
    """Return the value or the difference that is judged; or why there is no earlier number to compare with."""
    earlier, names = case.earlier, case.names
    if earlier is None:
        return judged_number(case.gate, subject, case.numbers)
    if isinstance(earlier, NoEarlier):
        return earlier
    is_last = case.gate.against == "last"
    run_words = {"path": None if is_last else earlier.path, "as_of": earlier.results.as_of if is_last else None}
    earlier_number = earlier.observed(subject)
    if earlier_number is not None and case.numbers.same_expression(earlier.numbers, subject.metric):
        return change(case.numbers.observed[subject.key], earlier_number)
    if earlier_number is not None:
        return NoEarlier(sentence("other-expression", **run_words, measure=names.subject(subject)))
    models = [model.name for model in earlier.results.models]
    datasets = [dataset.name for dataset in earlier.results.datasets if dataset.role == "evaluate"]
    for kind, name, earlier_names in (("model", subject.model, models), ("dataset", subject.dataset, datasets)):
        if name not in earlier_names and name not in earlier.names.values():
            return NoEarlier(sentence("not-in-earlier-run", case=kind, **run_words, name=name, known=earlier_names))
    return NoEarlier(sentence(
        "not-in-earlier-run", case="number", **run_words, measure=names.subject(subject), scope=names.scope(subject)))


def _gate_row(case: _Case, subject: Subject, observed: Observed | NoEarlier) -> Gate:
    """Return the verdict on a number, with its reason, as a row of the results."""
    gate, earlier = case.gate, case.earlier
    against_sha256, against_as_of = (
        (earlier.sha256, earlier.results.as_of) if isinstance(earlier, EarlierRun) else (None, None))
    sequence = case.sequences.state(case.number, subject) if gate.rule.on == "sequence" else None
    gate_verdict: Literal["pass", "fail", "inconclusive", "skipped"]
    if isinstance(observed, NoEarlier):
        gate_verdict, reason = "skipped", GateReason(code="not-compared", because=observed.why)
        observed = Observed(None)
    else:
        gate_verdict, reason = (
            verdict(GateLimits.of(gate.rule.limit), gate.rule.on, observed, gate.rule.undefined) if sequence is None
            else sequence_verdict(gate, observed, sequence))
    return Gate(
        **dict(subject), gate=case.number, name=gate.rule.name, on=gate.rule.on, limit=gate.rule.limit,
        observed=observed.value, lower=observed.lower, upper=observed.upper, level=observed.level,
        method=observed.method, against=gate.reference, reference=observed.reference,
        against_sha256=against_sha256, against_as_of=against_as_of,
        sequence=sequence, verdict=gate_verdict, severity=gate.rule.severity, reason=reason,
    )


@dataclass(frozen=True)
class Sequences:
    """The evidence of this night and of earlier nights on each limit of gates `on: sequence`.

    ``evidence`` is in the order of the gates; ``earlier`` are the nights of each sequence in the order of days;
    ``alarms`` is the number of limits that are judged, or were on an earlier night.
    """

    plan: Plan
    evidence: tuple[GateEvidence, ...]
    earlier: Mapping[str, Sequence[Night]]
    alarms: int

    @classmethod
    def of(cls, plan: Plan, results: Results, observed: Numbers, nights: Sequence[Night]) -> Sequences:
        """Collect the evidence of this night and of earlier ``nights``, which are in the order of days.

        ``observed`` are the numbers of this night that gates judge.
        """
        evidence = tuple(_evidence_of_tonight(plan, results, observed))
        earlier = nights_by_sequence(evidence, nights)
        alarms = len({*earlier, *(row.sequence for row in evidence)})
        return cls(plan, evidence, earlier, alarms)

    @property
    def needed(self) -> float:
        """The e-value at which a gate fails or passes, so that all limits together keep the level."""
        return threshold(self.plan.part(sequence_plan).level, self.alarms)

    def state(self, number: int, subject: Subject) -> GateSequence:
        """Return the evidence of all nights together on one number, for a gate by its number from 1."""
        rows = [row for row in self.evidence if row.gate == number and row.key == subject.key]
        limits = [_LimitEvidence.of(self.plan, row, *self._nights_of_sequence(row)) for row in rows]
        days = sorted({day for limit in limits for day in limit.days if day is not None})
        between, rule = limits[0].agreement, self.plan.part(sequence_plan)  # of the values, so the same for each limit
        after_last = [
            evidence_after_last(np.stack([limit.logs.against, limit.logs.kept]), self.needed) for limit in limits]
        # A gate fails by the limit that is missed most clearly, and passes once every limit is clearly kept.
        return GateSequence(
            evidence=max(float(against) for against, _ in after_last), kept=min(float(kept) for _, kept in after_last),
            recent=max(float(recent_evidence(limit.logs.against, self.needed)) for limit in limits),
            threshold=self.needed, level=rule.level, alarms=self.alarms, basis=rows[0].basis,
            nights=max(len(limit.days) for limit in limits), waiting=max(limit.waiting for limit in limits),
            since=days[0] if days else None, same_data=sorted({day for limit in limits for day in limit.same_data}),
            spread=between and between.spread, autocorrelation=between and between.autocorrelation,
            between_nights=rule.between_nights,
            nights_sha256=nights_sha256(rows, self.earlier),
        )

    def _nights_of_sequence(self, row: GateEvidence) -> tuple[list[Night], list[str]]:
        """Return the nights of a sequence, this one the last, and the days left out because they repeat data."""
        tonight = {"as_of": self.plan.as_of, **row.model_dump(include=set(NIGHT_FIELDS))}
        earlier_data: set[str] = set()
        nights: list[Night] = []
        repeated_days: list[str] = []
        for night in (*self.earlier.get(row.sequence, ()), tonight):
            data = night["data_sha256"]
            if data is not None and data in earlier_data:
                repeated_days.append(str(night["as_of"]))
            else:
                nights.append(night)
            earlier_data |= {data} - {None}
        return nights, repeated_days

    def warnings(self) -> Iterator[Warned]:
        """Yield a warning for each dataset of this night with the same rows as on an earlier night."""
        for dataset in dict.fromkeys(row.dataset for row in self.evidence):
            repeated_days = (self._nights_of_sequence(row)[1] for row in self.evidence if row.dataset == dataset)
            if any(str(self.plan.as_of) in days for days in repeated_days):
                yield Warned.of("same-data", case="night", dataset=dataset, as_of=self.plan.as_of)


@dataclass(frozen=True)
class _LimitEvidence:
    """The evidence of all nights on one limit, in the order of days.

    ``days`` are the nights that have evidence, or a value for it; the last ``waiting`` of them have too few rows to
    count yet. ``same_data`` are the days left out because their data are those of an earlier day.
    """

    logs: NightEvidence
    days: list[str | None]
    waiting: int
    same_data: list[str]
    agreement: Agreement | None

    @classmethod
    def of(cls, plan: Plan, row: GateEvidence, nights: Sequence[Night], same_data: list[str]) -> _LimitEvidence:
        """Compute the evidence of all ``nights`` on one limit, which this night's record ``row`` names."""
        values = Nights(*(np.array([night[key] for night in nights], float) for key in VALUE_FIELDS))
        if row.basis == "exact":
            logs = NightEvidence(*(np.array([night[key] for night in nights]) for key in ("against", "kept")))
            is_measured = np.asarray(logs.against.any(axis=-1))
        else:
            gate = plan.part(gates_plan)[row.gate - 1]
            groups = group_nights(values, least_night(gate.entries))
            between_nights = plan.part(sequence_plan).between_nights
            logs = evidence(groups, dict(sides(gate))[row.side], SIDES[row.side], between=between_nights)
            is_measured = np.isfinite(values.values)
        is_counted = np.asarray(logs.against.any(axis=-1))  # log e-values of 0 are no evidence
        days = [night["as_of"] for night, measured in zip(nights, is_measured, strict=True) if measured]
        last_counted = max(np.flatnonzero(is_counted), default=-1)
        waiting = int(is_measured[last_counted + 1 :].sum())
        return cls(NightEvidence(logs.against[is_counted], logs.kept[is_counted]), days, waiting, same_data,
                   agreement(values))


def _evidence_of_tonight(plan: Plan, results: Results, observed: Numbers) -> Iterator[GateEvidence]:
    """Yield the records of tonight's evidence: the exact ones of the results or, where there are none, asymptotic ones.

    Both get the value that is judged, its standard error and its rows.
    """
    exact_rows: dict[tuple[object, ...], list[GateEvidence]] = defaultdict(list)
    for row in results.evidence:
        exact_rows[row.gate, row.key].append(row)
    for number, gate in enumerate(plan.part(gates_plan), 1):
        for subject in observed.subjects if gate.rule.on == "sequence" else ():
            if judges_number(plan, gate, subject):
                data = data_of(results, subject.dataset)
                rows = exact_rows[number, subject.key] or [
                    evidence_row(gate, number, subject, side, "asymptotic", None, data, plan.renamed)
                    for side, _ in sides(gate)]
                value = _value_fields(plan, gate, subject, results, observed)
                yield from (row.model_copy(update=value) for row in rows)


def _value_fields(
    plan: Plan, gate: GatePlan, subject: Subject, results: Results, observed: Numbers
) -> dict[str, float | int | None]:
    """Return the fields of evidence on the value judged: value, standard error, rows, and rows of the rarer outcome.

    Where outcomes come late and judges label rows, they are of settled rows with an outcome alone.
    """
    judged = judged_number(gate, subject, observed)
    value, error, interval = judged.value, None, judged.interval
    settled = next((row for row in results.label_worth if Subject.of(row).key == subject.key), None)
    if settled is not None and counts_settled_alone(plan):
        value = settled.alone
        interval = None if settled.lower is None or settled.upper is None else (settled.lower, settled.upper)
    if judged.status == "ok" and interval is not None and judged.level is not None:
        lower, upper = interval
        error = (upper - lower) / 2 / NormalDist().inv_cdf((1 + judged.level) / 2)
    row = next(row for row in results.rows if Subject.of(row).key == subject.key)
    dataset = next(dataset for dataset in results.datasets if dataset.name == subject.dataset)
    return {"value": value, "error": error or None, "rows": row.n, "support": _support(gate, row, dataset)}


def _support(gate: GatePlan, row: Estimate, dataset: DatasetSummary) -> float:
    """Return how many independent rows of the rarer outcome a number rests on; of proportions and scores all count.

    Under clusters, or weights that differ, fewer rows are independent than there are.
    """
    share = 1.0
    if all(entry.metric.interval != "proportion" for entry in gate.entries) and row.n:
        if row.events is None:
            total = sum(level.rows for level in dataset.levels)
            share = min((level.rows / total for level in dataset.levels), default=1.0)
        else:
            share = min(row.events, row.n - row.events) / row.n
    independent = dataset.clusters or dataset.n_effective or dataset.n
    return row.n * share * min(1.0, independent / dataset.n)


def sequence_verdict(gate: GatePlan, observed: Observed, state: GateSequence) -> tuple[Word, GateReason]:
    """Return the verdict by the evidence of all nights, and why.

    ``state.evidence`` is the evidence that the limit is missed, and fails the gate at the threshold; ``state.kept`` is
    the evidence that it is kept, and passes it, unless ``state.recent``, the evidence of a miss in the newest nights
    alone, says otherwise. Nights ``waiting`` have too few rows to add any.
    """
    because = observed.reason if observed.value is None else None
    if not state.nights:
        return "inconclusive", GateReason(code="no-nights", because=because)
    if state.waiting == state.nights:
        support = max(ENOUGH, least_night(gate.entries))
        return "inconclusive", GateReason(code="few-rows-in-nights", because=because, bound=support)
    if state.evidence >= state.threshold:
        return "fail", GateReason(code="nights-missed", because=because)
    if state.kept >= state.threshold and (state.recent or 0.0) <= RECENT:
        return "pass", GateReason(code="nights-kept", because=because)
    if state.kept >= state.threshold:
        return "inconclusive", GateReason(code="recent-nights-missed", because=because, bound=RECENT)
    return "inconclusive", GateReason(code="nights-undecided", because=because)
