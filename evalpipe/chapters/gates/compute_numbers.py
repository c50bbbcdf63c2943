"""The numbers of a run that gates can be on, which of them a gate is on, and the verdict on one number.

A verdict says whether a number, or all of its interval, keeps a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.records import Subject
from evalpipe.chapters.gates.records import GateReason, size
from evalpipe.intervals.contrasts import recovered_limits
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.records import Measured
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import GateLimits, Judged, Position
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Comparison, Estimate, Individual, Overall, Results, Status
    from evalpipe.words.sentences import Sentence


class Numbers:
    """The estimates of a run and the desirability of its models.

    ``subjects`` say what each number is of, in the order of the results; ``observed`` are the numbers by their keys.
    """

    def __init__(self, results: Results) -> None:
        """Index the estimates and desirabilities of a run by measure, class, dataset, model, variant and slice."""
        self._results = results
        self._expressions = {metric.name: (metric.expression, metric.measures) for metric in results.metrics}
        table = results.desirability
        judged: list[tuple[str, float | None, Overall | Individual]] = [
            *(("overall", row.value, row) for row in table.overall),
            *((row.goal, row.desirability, row) for row in table.individual),
        ]
        pairs = [*((subject_of(row), self._observed_estimate(row)) for row in results.rows), *(
            (Subject(metric=None, desirability=goal, dataset=row.dataset, model=row.model, variant=row.variant),
             Observed(value, row.lower, row.upper, row.level, "percentile", row.status, row.reason))
            for goal, value, row in judged)]
        self.subjects = [subject for subject, _ in pairs]
        self.observed = {subject.key: observed for subject, observed in pairs}

    def judged(self, gate: GatePlan, subject: Subject) -> Observed:
        """Return the number that a gate judges in this run: the value, or the difference from the baseline."""
        return self.less_baseline(subject) if gate.against == "baseline" else self.observed[subject.key]

    def less_baseline(self, subject: Subject) -> Observed:
        """Return a model's number less the baseline's on the same rows, as the results compare them."""
        row = self._differences.get(subject.key)
        if row is None:  # there is no number to compare, as in a slice of too few rows
            current = self.observed[subject.key]
            return Observed(None, status=current.status, reason=current.reason)
        baseline = self.observed.get(subject.model_copy(update={"model": row.baseline}).key)
        return Observed(
            row.difference, row.lower, row.upper, row.level, row.method, row.status, row.reason,
            None if baseline is None else baseline.value,
        )

    def same_expression(self, other: Numbers, measure: str | None) -> bool:
        """Tell whether a measure is no expression, or the same one in both runs."""
        return measure is None or self._expressions.get(measure) == other._expressions.get(measure)

    @cached_property
    def _differences(self) -> dict[tuple[object, ...], Comparison]:
        """The differences from the baseline's model; not those from another dataset, or of variants."""
        return {
            subject_of(row).key: row
            for row in self._results.comparisons
            if row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        }

    def _observed_estimate(self, row: Estimate) -> Observed:
        """Return the number of an estimate, with the reason of its method where it has no interval."""
        reason = row.reason
        if row.value is not None and row.lower is None and reason is None:
            reason = next((chosen.reason for chosen in self._results.intervals.methods.get(row.metric, ())), None)
        return Observed(row.value, row.lower, row.upper, row.level, row.method, row.status, reason)


@dataclass(frozen=True)
class EarlierRun:
    """The results of an earlier run, as read from the file that is shown as ``path``.

    ``names`` say what those of its models that have been renamed since are called now.
    """

    results: Results
    path: str
    content: bytes
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return bytes_sha256(self.content)

    @cached_property
    def numbers(self) -> Numbers:
        """The numbers of the earlier run that gates can compare with."""
        return Numbers(self.results)

    def observed(self, subject: Subject) -> Observed | None:
        """Return the run's number of a subject, also under a former name of its model; None where it has none."""
        former_names = {self.names.get(model.name): model.name for model in self.results.models}
        former_subject = subject.model_copy(update={"model": former_names.get(subject.model, subject.model)})
        return self.numbers.observed.get(former_subject.key)


@dataclass(frozen=True, slots=True)
class NoEarlier:
    """Stands for a number of an earlier run that cannot be compared with, and says why."""

    why: Sentence


def subject_of(row: Measured) -> Subject:
    """Return what a row of measures is about: measure, class, dataset, model, variant and slice."""
    return Subject(
        metric=row.metric, params=row.params, average=row.average, class_=row.class_, dataset=row.dataset,
        model=row.model, variant=row.variant, slice=row.slice,
    )


def change(current: Observed, earlier: Observed) -> Observed:
    """Return the difference of a number from that of an earlier run, as of independent samples.

    Its limits are recovered from those of both; it has none, and a reason, where one of them has none.
    """
    if current.value is None or earlier.value is None:
        which, number = ("this", current) if current.value is None else ("earlier", earlier)
        return Observed(None, status=number.status, reason=sentence(
            "undefined-in-run", case=which, because=number.reason))
    difference = Observed(current.value - earlier.value, reference=earlier.value)
    if current.interval is None or earlier.interval is None:
        which, number = ("this", current) if current.interval is None else ("earlier", earlier)
        return replace(difference, status=number.status, reason=sentence(
            "no-interval-in-run", case=which, because=number.reason))
    if current.level != earlier.level:
        return replace(difference, reason=sentence("levels-differ", level=current.level, earlier_level=earlier.level))
    lower, upper = recovered_limits((current.value, *current.interval), (earlier.value, *earlier.interval))
    weaker = earlier if current.status == "ok" != earlier.status else current
    return replace(difference, lower=lower, upper=upper, level=current.level, method="recovered", status=weaker.status,
                   reason=weaker.reason)


def judges_number(plan: Plan, gate: GatePlan, subject: Subject) -> bool:
    """Tell whether a gate judges the number of a subject: its measure, class, dataset, model, variant and slice."""
    if gate.against == "baseline" and subject.model == gate.baseline:
        return False
    return (
        gate.rule.dataset in (None, subject.dataset) and gate.rule.model in (None, subject.model)
        and gate.rule.variant in ("all", subject.variant) and gate.class_ in (None, subject.class_)
        and gate.rule.desirability == subject.desirability and _in_slice(gate, subject)
        and (subject.metric is None or any(_is_measure(plan, entry, subject) for entry in gate.entries))
    )


def _in_slice(gate: GatePlan, subject: Subject) -> bool:
    """Tell whether the slices that a gate judges, or all rows, include the slice of a number."""
    if gate.slice is not None:
        return subject.slice == gate.slice
    if gate.slices is None or subject.slice is None:
        return gate.slices is None and subject.slice is None
    return gate.slices == ("all",) or set(subject.slice) == set(gate.slices)


def _is_measure(plan: Plan, entry: MetricPlan, subject: Subject) -> bool:
    """Tell whether a number measures what an entry of a gate does: same metric, options and average."""
    class_ = subject.class_
    if (subject.metric, subject.average) != (entry.metric.name, entry.average):
        return False
    options = entry.shown if class_ is None else entry.shown_of(plan.outcome.levels.index(class_))
    return subject.params == options


Word = Literal["pass", "fail", "inconclusive"]
On = Literal["interval", "value", "lower", "upper", "sequence"]
POSITIONS: tuple[Position, Position, Position] = ("below", "within", "above")


@dataclass(frozen=True, slots=True)
class Observed:
    """The number that is judged: a value, or a difference from ``reference``."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    method: str = "none"
    status: Status = "ok"
    reason: Sentence | None = None
    reference: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its limits; None where it has no interval."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    @property
    def scale(self) -> float:
        """The size of the numbers that it was computed from, which its rounding error is relative to."""
        return size(self.value, self.reference)


def verdict(limits: GateLimits, on: On, observed: Observed, undefined: Word = "fail") -> tuple[Word, GateReason]:
    """Return the verdict on a number, and why.

    ``undefined`` is the verdict on a number that is undefined, or whose interval cannot be relied on; with "pass", the
    value of the latter is judged. Without any interval the value is judged, whatever ``on`` says. A number that a slice
    has too few rows for is inconclusive.
    """
    because, interval = observed.reason, observed.interval
    if observed.value is None:
        word, code = (undefined, "undefined") if observed.status == "undefined" else ("inconclusive", "absent")
        return word, GateReason(code=code, because=because)
    if on != "value" and observed.status != "ok" and undefined != "pass":
        return undefined, GateReason(code="unreliable", because=because)
    if on == "value" or observed.status != "ok" or interval is None:
        # A reason says why the value is judged instead of the interval.
        side = limits.side(observed.value, observed.scale)
        return _verdict_by_side("value", side, None if on == "value" else because)
    if on in ("lower", "upper"):
        return _verdict_by_side(on, limits.side(interval[0] if on == "lower" else interval[1], observed.scale))
    lower_side, upper_side = (limits.side(end, observed.scale) for end in interval)
    if lower_side != upper_side:
        return "inconclusive", GateReason(code="interval-includes")
    return _verdict_by_side("interval", lower_side)


def _verdict_by_side(judged: Judged, side: int, because: Sentence | None = None) -> tuple[Word, GateReason]:
    """Return "pass" for a ``side`` of 0 and "fail" for -1, below the limits, or 1, above them, with the reason.

    The reason names what was ``judged``, such as "interval", and where it lies.
    """
    return "fail" if side else "pass", GateReason(code=f"{judged}-{POSITIONS[side + 1]}", because=because)
