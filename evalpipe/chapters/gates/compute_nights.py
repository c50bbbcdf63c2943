"""What the nights of gates `on: sequence` come to together: their evidence, and the verdict that it allows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from evalpipe import numbers
from evalpipe.chapters.gates.compute_bets import of_a_value
from evalpipe.chapters.gates.compute_evidence import SIDES, data_sha256, evidence_row, sides
from evalpipe.chapters.gates.compute_scope import is_on
from evalpipe.chapters.gates.compute_sequence import last, threshold
from evalpipe.chapters.gates.compute_verdict import limit_text, written
from evalpipe.chapters.gates.plan import GateLimits
from evalpipe.digests import json_sha256
from evalpipe.results import GateSequence, Warned
from evalpipe.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.chapters.gates.compute_bets import NightEvidence
    from evalpipe.chapters.gates.compute_numbers import Numbers
    from evalpipe.chapters.gates.compute_verdict import Observed, Word
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import Subject
    from evalpipe.plan.plan import Plan
    from evalpipe.results import GateEvidence, Results

    Night = Mapping[str, Any]


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
        return threshold(self.plan.sequence_level, self.alarms)

    def state(self, number: int, subject: Subject) -> GateSequence:
        """Return what the nights of a gate, by its number from 1, come to for a number that it is on."""
        rows = [row for row in self.evidence if row.gate == number and row.key == subject.key]
        nights = [self._nights(row) for row in rows]
        counted = [[night for night in of_side if any(night["against"])] for of_side, _ in nights]
        days = sorted({night["as_of"] for of_side in counted for night in of_side if night["as_of"] is not None})
        return GateSequence(
            evidence=max(last([night["against"] for night in of_side], self.needed) for of_side in counted),
            kept=min(last([night["kept"] for night in of_side], self.needed) for of_side in counted),
            threshold=self.needed, level=self.plan.sequence_level, alarms=self.alarms, basis=rows[0].basis,
            nights=max(map(len, counted)), since=days[0] if days else None,
            same_data=sorted({day for _, same in nights for day in same}),
            nights_sha256=_nights_sha256(rows, self.earlier),
        )

    def _nights(self, row: GateEvidence) -> tuple[list[Night], list[str]]:
        """Return the nights of a sequence with this one, each of other data, and the days whose data were there."""
        tonight = {"as_of": self.plan.as_of, "data_sha256": row.data_sha256, "against": row.against, "kept": row.kept}
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


def _by_sequence(evidence: Sequence[GateEvidence], nights: Iterable[Night]) -> dict[str, list[Night]]:
    """Return earlier nights by their sequence, in the order of days: those of the gates that have ``evidence``."""
    families = {row.family for row in evidence}
    earlier: dict[str, list[Night]] = defaultdict(list)
    for night in nights:
        if night["family"] in families:
            earlier[night["sequence"]].append(night)
    return earlier


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
    """Yield the evidence of this night: exact as step 4 has it, asymptotic of values and their intervals."""
    exact = {(row.gate, row.key): row for row in results.evidence}
    for number, gate in enumerate(plan.gates, 1):
        for subject in observed.subjects if gate.on == "sequence" else ():
            if is_on(plan, gate, subject) and (number, subject.key) in exact:
                yield from (row for row in results.evidence if (row.gate, row.key) == (number, subject.key))
            elif is_on(plan, gate, subject):
                yield from _asymptotic(gate, number, subject, results, observed)


def _asymptotic(
    gate: GatePlan, number: int, subject: Subject, results: Results, observed: Numbers
) -> Iterator[GateEvidence]:
    judged = observed.judged(gate, subject)
    where = next((dataset.where for dataset in results.datasets if dataset.name == subject.dataset), None)
    data = data_sha256([file for file in results.inputs if file.dataset == subject.dataset], where)
    for side, limit in sides(gate):
        yield evidence_row(gate, number, subject, side, "asymptotic", _of_interval(judged, limit, SIDES[side]), data)


def _of_interval(observed: Observed, limit: float, side: int) -> NightEvidence | None:
    """Return the evidence of a value whose standard error its interval tells: by the end that is nearer to the limit.

    None where there is no interval, or none that can be relied on.
    """
    if observed.value is None or observed.status != "ok" or observed.interval is None or observed.level is None:
        return None
    lower, upper = observed.interval
    reach = upper - observed.value if observed.value < limit else observed.value - lower
    if not reach > 0:
        return None
    error = reach / NormalDist().inv_cdf((1 + observed.level) / 2)
    return of_a_value(observed.value, error, limit, side)


def sequence_verdict(gate: GatePlan, observed: Observed, state: GateSequence) -> tuple[Word, str]:
    """Return the verdict and what is to be said of the number: a predicate that goes right behind its name."""
    limits = GateLimits.of(gate.limit)
    said = f" is not given: {observed.reason}." if observed.value is None else f": {written(observed, limits)}."
    if not state.nights:
        return "indeterminate", f"{said} No night has evidence yet, so these nights do not decide."
    beyond, within = _beyond(limits, observed), _within(limits, observed)
    whole = f"{said} The evidence{_kind(state)} of {_counted(state)} that it is"
    needed = numbers.evidence(state.threshold)
    if state.evidence >= state.threshold:
        return "fail", f"{whole} {beyond} is {numbers.evidence(state.evidence)}; the gate fails at {needed}."
    if state.kept >= state.threshold:
        return "pass", f"{whole} {within} is {numbers.evidence(state.kept)}; the gate passes at {needed}."
    return "indeterminate", (
        f"{whole} {beyond} is {numbers.evidence(state.evidence)}, and that it is {within} is "
        f"{numbers.evidence(state.kept)}; either decides at {needed}, so these nights do not decide.")


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
