"""The numbers of a run, by what they are of, and those of an earlier run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.records import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.records import Status
    from evalpipe.results import Comparison, Estimate, Individual, Overall, Results
    from evalpipe.words.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Observed:
    """A number of a run: a value, or a difference from ``reference``."""

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
        pairs = [*((Subject.of(row), self._observed_estimate(row)) for row in results.rows), *(
            (Subject(metric=None, desirability=goal, dataset=row.dataset, model=row.model, variant=row.variant),
             Observed(value, row.lower, row.upper, row.level, "percentile", row.status, row.reason))
            for goal, value, row in judged)]
        self.subjects = [subject for subject, _ in pairs]
        self.observed = {subject.key: observed for subject, observed in pairs}

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
            Subject.of(row).key: row
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
