"""The numbers of a run that gates can be on, by what each is of, and the differences of two of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.chapters.gates.compute_verdict import Observed
from evalpipe.chapters.gates.records import Subject
from evalpipe.intervals.contrasts import recovered_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.records import Measured
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.results import Comparison, Estimate, Individual, Overall, Results


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
