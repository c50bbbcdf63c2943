"""The records of gates, and what they come to together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from evalpipe.records import Record, Scalar, Slice

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["pass", "indeterminate", "warn", "fail"]
Kind = Literal["pass", "skipped", "indeterminate", "warn", "fail"]
FailOn = Literal["fail", "warn", "indeterminate", "never"]

ORDER: tuple[Verdict, ...] = ("pass", "indeterminate", "warn", "fail")
"""The verdicts, from the best to the worst."""


class Subject(Record):
    """What a gate is on: one number of a dataset, a model, a variant of it, a slice and a class."""

    metric: str | None
    """The measure; null where desirability is judged."""
    desirability: str | None = None
    """overall, or the name of a goal; null where a measure is judged."""
    params: dict[str, Scalar] = Field(default_factory=dict)
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")
    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other numbers, in whatever order its options and the labels of its slice stand."""
        labels = None if self.slice is None else tuple(sorted(self.slice.items()))
        options = tuple(sorted(self.params.items()))
        return (self.metric, self.desirability, options, self.average, self.class_, self.dataset, self.model,
                self.variant, labels)


class Gate(Subject):
    """The verdict of one gate on one number: of a dataset, a model, a variant of it, a slice and a class."""

    gate: int
    """The number of the gate in the spec, from 1."""
    name: str | None = None
    """What the spec calls it."""
    on: Literal["interval", "value", "lower", "upper"]
    """What must keep the limit: the whole interval, or that number alone."""
    limit: dict[str, float]
    """The limits by their keys in the spec: min and max of the value; max_increase, max_decrease, min_increase and
    min_decrease of the value minus its reference."""
    observed: float | None
    """The value or, for a change, the value minus its reference; null where there is none."""
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """How the interval was made; recovered: from the intervals of two runs taken as independent (Zou & Donner 2008)."""
    against: str | None = None
    """The baseline's model; `last`, the reference of the output folder; or the results of an earlier run as the spec
    names them; null where the value itself is judged."""
    against_sha256: str | None = None
    """Of the results of an earlier run: the hash of the file."""
    against_as_of: str | None = None
    """Of the results of an earlier run: the day that they are about; null where they state none."""
    reference: float | None = None
    """The value that the observed difference is from."""
    verdict: Literal["pass", "fail", "indeterminate", "skipped"]
    severity: Literal["fail", "warn"]
    reason: str
    """Why, in one sentence."""

    @property
    def outcome(self) -> Verdict:
        """The verdict with its severity: a failed gate of severity warn is a warning; a skipped one is held."""
        if self.verdict == "fail":
            return self.severity
        return "indeterminate" if self.verdict == "indeterminate" else "pass"

    @property
    def kind(self) -> Kind:
        """The outcome, or that the gate was skipped."""
        return "skipped" if self.verdict == "skipped" else self.outcome


def worst(gates: Iterable[Gate]) -> Verdict:
    """Return the worst outcome of gates; "pass" where there is none."""
    return max((gate.outcome for gate in gates), key=ORDER.index, default="pass")


def holds(gates: Iterable[Gate], fail_on: FailOn) -> bool:
    """Tell whether no outcome is as bad as ``fail_on`` or worse."""
    return fail_on == "never" or ORDER.index(worst(gates)) < ORDER.index(fail_on)
