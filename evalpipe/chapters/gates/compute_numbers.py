"""The numbers of a run that gates can be on, which of them a gate is on, and the verdict on one number.

A verdict says whether a number, or all of its interval, keeps a limit; in words, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from evalpipe.base.digests import bytes_sha256
from evalpipe.chapters.gates.plan import ROUNDING
from evalpipe.chapters.gates.records import Subject
from evalpipe.intervals.contrasts import recovered_limits
from evalpipe.words.numbers import MOST_DECIMALS, decimals, fixed, plain, ranged, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.records import Measured
    from evalpipe.chapters.gates.plan import GateLimits, GatePlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Comparison, Estimate, Individual, Overall, Results, Status


class Numbers:
    """The estimates of a run and the desirability of its models.

    ``subjects`` say what each number is of, in the order of the results; ``observed`` are the numbers by their keys.
    """

    def __init__(self, results: Results) -> None:
        """Put the tables of results in order."""
        self._results = results
        self._expressions = {metric.name: (metric.expression, metric.measures) for metric in results.metrics}
        self._counts = {metric.name for metric in results.metrics if metric.is_whole}
        pairs = [*((subject_of(row), self._estimated(row)) for row in results.rows), *self._desired()]
        self.subjects = [subject for subject, _ in pairs]
        self.observed = {subject.key: observed for subject, observed in pairs}

    def judged(self, gate: GatePlan, subject: Subject) -> Observed:
        """Return the number that a gate judges which is against no earlier run."""
        return self.less_baseline(subject) if gate.against == "baseline" else self.observed[subject.key]

    def less_baseline(self, subject: Subject) -> Observed:
        """Return the number of a subject of this run less that of the baseline's model, on the same rows."""
        row = self._differences.get(subject.key)
        if row is None:
            own = self.observed[subject.key]
            return Observed(None, status=own.status, reason=own.reason, signed=True)
        baseline = self.observed.get(subject.model_copy(update={"model": row.baseline}).key)
        return Observed(
            row.difference, row.lower, row.upper, row.level, row.method, row.status, row.reason,
            None if baseline is None else baseline.value, signed=True, whole=row.metric in self._counts,
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

    def _estimated(self, row: Estimate) -> Observed:
        reason = row.reason
        if row.value is not None and row.lower is None and reason is None:
            reason = self._results.intervals.methods.get(row.metric, "").partition(": ")[2] or None
        return Observed(row.value, row.lower, row.upper, row.level, row.method, row.status, reason,
                        whole=row.metric in self._counts)

    def _desired(self) -> Iterator[tuple[Subject, Observed]]:
        """Yield the desirability of every model: overall, and in each goal."""
        table = self._results.desirability
        rows: list[tuple[str, float | None, Overall | Individual]] = [
            *(("overall", row.value, row) for row in table.overall),
            *((row.goal, row.desirability, row) for row in table.individual),
        ]
        for goal, value, row in rows:
            subject = Subject(metric=None, desirability=goal, dataset=row.dataset, model=row.model, variant=row.variant)
            yield subject, Observed(value, row.lower, row.upper, row.level, "percentile", row.status, row.reason)


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
        """Its numbers that gates can be on."""
        return Numbers(self.results)

    def observed(self, subject: Subject) -> Observed | None:
        """Return its number of a subject, whose model it may have under a former name; None where it has none."""
        there = {self.names.get(model.name): model.name for model in self.results.models}
        known = subject.model_copy(update={"model": there.get(subject.model, subject.model)})
        return self.numbers.observed.get(known.key)


@dataclass(frozen=True, slots=True)
class NoEarlier:
    """There is no earlier run, or no number in it, to compare with; ``why`` is the end of a sentence."""

    why: str


def subject_of(row: Measured) -> Subject:
    """Return what a row of the tables of measures is of."""
    return Subject(
        metric=row.metric, params=row.params, average=row.average, class_=row.class_, dataset=row.dataset,
        model=row.model, variant=row.variant, slice=row.slice,
    )


def change(now: Observed, then: Observed) -> Observed:
    """Return a number less that of an earlier run, taken as independent, with limits recovered from theirs."""
    if now.value is None or then.value is None:
        run, number = ("this run", now) if now.value is None else ("the earlier run", then)
        return Observed(None, status=number.status, reason=f"in {run}, {number.reason}", signed=True)
    difference = Observed(now.value - then.value, reference=then.value, signed=True, whole=now.whole)
    if now.interval is None or then.interval is None:
        run, number = ("this run", now) if now.interval is None else ("the earlier run", then)
        return replace(difference, status=number.status, reason=f"{run} has none: {number.reason or 'none was made'}")
    if now.level != then.level:
        reason = f"the two runs have intervals of different levels, {now.level:g} and {then.level:g}"
        return replace(difference, reason=reason)
    lower, upper = recovered_limits((now.value, *now.interval), (then.value, *then.interval))
    weaker = then if now.status == "ok" != then.status else now
    return replace(difference, lower=lower, upper=upper, level=now.level, method="recovered", status=weaker.status,
                   reason=weaker.reason)


def is_on(plan: Plan, gate: GatePlan, subject: Subject) -> bool:
    """Tell whether a gate is on a number."""
    if gate.against == "baseline" and subject.model == gate.baseline:
        return False
    return (
        gate.rule.dataset in (None, subject.dataset) and gate.rule.model in (None, subject.model)
        and gate.rule.variant in ("all", subject.variant) and gate.class_ in (None, subject.class_)
        and gate.rule.desirability == subject.desirability and _in_slice(gate, subject)
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


Word = Literal["pass", "fail", "indeterminate"]
On = Literal["interval", "value", "lower", "upper", "sequence"]

COUNTED: dict[Word, str] = {
    "fail": "This counts as failed.", "indeterminate": "This leaves the gate inconclusive.",
    "pass": "This counts as passed.",
}
"""What an undefined number comes to, by the verdict that the gate gives it."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The number that is judged: a value, or a difference from ``reference``, whose sign is then shown.

    ``whole`` leaves out its decimals where all of them are zero.
    """

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    method: str = "none"
    status: Status = "ok"
    reason: str | None = None
    reference: float | None = None
    signed: bool = False
    whole: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its limits; None where it has no interval."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    @property
    def scale(self) -> float:
        """The size of the numbers that it was computed from."""
        value, reference = self.value or 0.0, self.reference or 0.0
        return max(abs(value), abs(reference), abs(value + reference))


def verdict(limits: GateLimits, on: On, observed: Observed, undefined: Word = "fail") -> tuple[Word, str]:
    """Return the verdict and what is to be said of the number: a predicate that goes right behind its name.

    ``undefined`` is the verdict on a number that is undefined, or whose interval cannot be relied on; with "pass", the
    value of the latter is judged. Without any interval the value is judged, whatever ``on`` says.
    """
    if observed.value is None:
        return _absent(observed, undefined)
    if on == "value":
        return _one_number(limits, observed, observed.value)
    if observed.status != "ok":
        return _unreliable(limits, observed, observed.value, undefined)
    if observed.interval is None:
        why = f"There is no interval ({observed.reason or 'none was made'}), so the value alone is judged"
        return _one_number(limits, observed, observed.value, f"{why}: it")
    lower, upper = observed.interval
    if on == "interval":
        return _whole_interval(limits, observed, lower, upper)
    return _one_number(limits, observed, lower if on == "lower" else upper, f"The {on} limit")


def _absent(observed: Observed, undefined: Word) -> tuple[Word, str]:
    """Judge a number that does not exist: one that the slice has too few rows for is left open."""
    if observed.status != "undefined":
        return "indeterminate", f" is not given: {observed.reason}. {COUNTED['indeterminate']}"
    why = str(observed.reason)
    return undefined, f" is {'' if why.startswith('undefined ') else 'undefined: '}{why}. {COUNTED[undefined]}"


def _unreliable(limits: GateLimits, observed: Observed, value: float, undefined: Word) -> tuple[Word, str]:
    """Judge a number whose interval says nothing of its uncertainty."""
    lacking = "It has no interval" if observed.interval is None else "Its interval cannot be relied on"
    why = f"{lacking}: {observed.reason}"
    if undefined == "pass":
        return _one_number(limits, observed, value, f"{why}. So the value alone is judged: it")
    return undefined, f": {written(observed, limits)}. {why}. {COUNTED[undefined]}"


def _one_number(
    limits: GateLimits, observed: Observed, number: float, subject: str = "The value"
) -> tuple[Word, str]:
    """Judge one number alone; ``subject`` is what the sentence about it begins with."""
    side = limits.side(number, observed.scale)
    low, high = limit_text(limits.low, observed), limit_text(limits.high, observed)
    kept = (("at least", limits.low, low), ("at most", limits.high, high))
    where = {
        -1: f"below {low}", 1: f"above {high}",
        0: " and ".join(f"{words} {text}" for words, limit, text in kept if math.isfinite(limit)),
    }[side]
    return "fail" if side else "pass", f": {written(observed, limits, number)}. {subject} is {where}."


def _whole_interval(limits: GateLimits, observed: Observed, lower: float, upper: float) -> tuple[Word, str]:
    """Judge a whole interval."""
    first, last = limits.side(lower, observed.scale), limits.side(upper, observed.scale)
    low, high = limit_text(limits.low, observed), limit_text(limits.high, observed)
    said = f": {written(observed, limits, lower, upper)}."
    if first == last == 0:
        return "pass", f"{said} The whole interval is {_within(limits, (lower, upper), low, high)}."
    if first == last:
        return "fail", f"{said} The whole interval is {f'below {low}' if first < 0 else f'above {high}'}."
    missed = " and ".join(limit for limit, beyond in ((low, first < 0), (high, last > 0)) if beyond)
    return "indeterminate", f"{said} The interval includes {missed}, so these data do not decide."


def _within(limits: GateLimits, interval: tuple[float, float], low: str, high: str) -> str:
    """Say where an interval lies that keeps the limits, which are written as ``low`` and ``high``."""
    if len(limits.finite) == 2:
        return f"between {low} and {high}"
    touches = any(math.isclose(end, limit, rel_tol=ROUNDING) for end in interval for limit in limits.finite)
    return f"{'at or ' if touches else ''}{f'above {low}' if math.isfinite(limits.low) else f'below {high}'}"


def limit_text(limit: float, observed: Observed) -> str:
    """Write a limit, of a change with its sign."""
    return f"{'+' if observed.signed and limit > 0 else ''}{plain(limit)}"


def written(observed: Observed, limits: GateLimits, *judged: float) -> str:
    """Write a number with its interval as the card does, with as many decimals as tell what is judged from a limit."""
    numbers = [observed.value or 0.0, *(observed.interval or ())]
    whole = observed.whole and all(float(number).is_integer() for number in numbers)
    digits = 0 if whole else decimals(*numbers)
    while digits < MOST_DECIMALS and any(_alike(number, limit, digits) for number in judged for limit in limits.finite):
        digits += 1
    value, *interval = (signed(number, digits) if observed.signed else fixed(number, digits) for number in numbers)
    return f"{value} ({ranged(*interval)})" if interval else value


def _alike(number: float, limit: float, digits: int) -> bool:
    """Tell whether two different numbers look the same."""
    return round(number, digits) == round(limit, digits) and not math.isclose(number, limit, rel_tol=ROUNDING)
