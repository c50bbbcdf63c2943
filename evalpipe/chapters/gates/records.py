"""The records of gates, and what they come to together."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from pydantic import Field

from evalpipe.base.records import Record, SparseRecord, Subject
from evalpipe.words.sentences import DEPRECATED, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Verdict = Literal["pass", "inconclusive", "warn", "fail"]
RunVerdict = Literal["none", "pass", "inconclusive", "warn", "fail"]
"""That of a whole run: none where nothing is judged."""
Kind = Literal["pass", "skipped", "inconclusive", "warn", "fail"]
FailOn = Literal["fail", "warn", "inconclusive", "never"]

ORDER: tuple[Verdict, ...] = ("pass", "inconclusive", "warn", "fail")
"""The verdicts, from the best to the worst."""


ROUNDING = 1e-12
"""A number this close to a limit, beside the numbers it was computed from, has reached it."""

LOWEST = {"min": 1, "min_increase": 1, "max_decrease": -1}
"""The keys of a gate that set the lowest number allowed, each with the sign of that number."""

HIGHEST = {"max": 1, "max_increase": 1, "min_decrease": -1}
"""The keys of a gate that set the highest number allowed, each with the sign of that number."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The lowest and the highest that a value, or its change, may be; infinite where there is no limit."""

    low: float
    high: float

    @classmethod
    def of(cls, limit: Mapping[str, float]) -> GateLimits:
        """Return the lowest and the highest number that a gate allows, from its limits by their keys in the spec."""
        low = [sign * limit[key] for key, sign in LOWEST.items() if key in limit]
        high = [sign * limit[key] for key, sign in HIGHEST.items() if key in limit]
        return cls(max(low, default=-math.inf), min(high, default=math.inf))

    def side(self, number: float, scale: float) -> int:
        """Return -1 where a number is below the limits, 1 above them, and 0 where it keeps them or reaches one.

        ``scale`` is the size of the numbers that it was computed from, whose rounding is allowed for.
        """
        slack = ROUNDING * max(scale, abs(number))
        return (number > self.high + slack) - (number < self.low - slack)

    @property
    def finite(self) -> list[float]:
        """The limits that are set, without infinite ones."""
        return [limit for limit in (self.low, self.high) if math.isfinite(limit)]


def size(value: float | None, reference: float | None) -> float:
    """Return the size of the numbers behind a value, or its difference from a reference; rounding is relative to it."""
    value, reference = value or 0.0, reference or 0.0
    return max(abs(value), abs(reference), abs(value + reference))


class GateEvidence(Subject):
    """The evidence of this night on one limit of a gate `on: sequence`, which the ledger keeps."""

    absent: ClassVar[tuple[str, ...]] = ("check", "former")

    gate: int
    """The number of the gate in the spec, from 1."""
    side: Literal["low", "high"]
    """Whether the limit is the lowest or the highest that is allowed."""
    sequence: str
    """What the nights of one sequence have in common: the sha256 of what is judged, where, and of the limit."""
    family: str
    """The same without the dataset, the model and the slice."""
    basis: Literal["exact", "asymptotic"]
    """exact: bets on independent rows. asymptotic: bets on the value, as if it had a normal distribution."""
    data_sha256: str | None
    """Of the rows of the dataset: the files and the condition `where`; null for data held in memory."""
    against: list[float]
    """Of exact evidence, the logarithms of the e-values against the limit, one for each size of a bet; all 0 tell
    nothing. That of an asymptotic one is made of several nights, by their values."""
    kept: list[float]
    """Those for the limit, of the same bets."""
    value: float | None = None
    """The number that is judged; null where there is none."""
    error: float | None = None
    """Its standard error, by half of its interval; null where it has none that can be relied on."""
    rows: int = 0
    """The rows of the number."""
    support: float = 0.0
    """Of these, the rows of the rarer outcome; at most as many as there are clusters or, under weights, as many of
    equal weight."""
    former: str | None = None
    """The sequence under the former name of the model, or of the baseline, whose nights go on in this one; absent where
    neither has one."""


class GateSequence(Record):
    """What the nights of a gate `on: sequence` come to together."""

    evidence: float
    """The evidence that the limit is missed: an e-value; of two limits the larger."""
    kept: float
    """The evidence that the limit is kept; of two limits the smaller."""
    threshold: float
    """The evidence that fails the gate, or lets it pass: the number of alarms over the level."""
    level: float
    """The probability that any gate `on: sequence` of the spec ever fails though all keep their limits, at most."""
    alarms: int
    """The limits of gates `on: sequence` that are judged, each model, dataset and slice counted."""
    basis: Literal["exact", "asymptotic"]
    """Whether the level holds exactly, or as far as the value has a normal distribution."""
    recent: float | None
    """The evidence of the last 30 nights that the limit is missed, from the night on where it is largest; of two
    limits the larger. A gate passes only where it is small. Some results of `schema_version` 1 lack it: null."""
    nights: int
    """The nights with evidence, this one included."""
    waiting: int
    """The latest of them, of too few rows to count before others join them."""
    spread: float | None = None
    """How far values of successive nights differ, squared and beside what their standard errors explain: 1 where
    rows explain it; null of too few nights."""
    autocorrelation: float | None = None
    """The correlation of the values of successive nights; null of too few nights."""
    between_nights: bool = False
    """Whether evidence allows for nights that differ by more than their rows explain."""
    since: str | None
    """The first of them."""
    same_data: list[str] = Field(default_factory=list)
    """Days that are not counted, as an earlier day has the same data."""
    nights_sha256: str
    """Of the evidence of the earlier nights, as the ledger had it."""


Judged = Literal["value", "lower", "upper", "interval"]
"""What of a number a gate judges."""

Position = Literal["within", "below", "above", "includes"]
"""Where that is: within the limits, below or above them, or on both sides of one."""


class GateReason(SparseRecord):
    """Why a verdict is what it is; the sentence is made of this and of the numbers of the gate."""

    absent: ClassVar[tuple[str, ...]] = ("because", "bound", "text")

    code: str
    """What was judged and where it is, such as value-below or interval-includes. undefined: the number is. absent: the
    slice has too few rows for it. unreliable: its interval is. not-compared: there is no earlier number. Of gates
    `on: sequence`: no-nights, few-rows-in-nights, nights-missed, nights-kept, recent-nights-missed, nights-undecided.
    Of checks: check- and the outcome, such as check-fails. text: results of `schema_version` 1."""
    because: Sentence | None = None
    """Why there is no number, no interval, or none that can be relied on."""
    bound: float | None = None
    """The rows of the rarer outcome that evidence needs, or the most evidence of recent nights against a pass."""
    text: str | None = None
    """The sentence of results of `schema_version` 1."""


class Gate(Subject):
    """The verdict of one gate on one number: of a dataset, a model, a variant of it, a slice and a class."""

    gate: int
    """The number of the gate in the spec, from 1."""
    name: str | None = None
    """What the spec calls it."""
    on: Literal["interval", "value", "lower", "upper", "sequence", "check"]
    """What must keep the limit: the whole interval, that number alone, or the nights of a sequence together; check:
    there is no limit, and the outcome of a check is judged."""
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
    sequence: GateSequence | None = None
    """The evidence of the nights of a gate `on: sequence`."""
    verdict: Literal["pass", "fail", "inconclusive", "skipped"]
    severity: Literal["fail", "warn"]
    reason: GateReason
    """Why."""

    @property
    def limits(self) -> GateLimits:
        """The lowest and the highest number that the gate allows; infinite where it sets none."""
        return GateLimits.of(self.limit)

    @property
    def scale(self) -> float:
        """The size of the numbers that the observed one was computed from; its rounding error is relative to it."""
        return size(self.observed, self.reference)

    @property
    def outcome(self) -> Verdict:
        """The verdict with its severity: "warn" for a failed gate of severity warn, "pass" for a skipped one."""
        if self.verdict == "fail":
            return self.severity
        return "inconclusive" if self.verdict == "inconclusive" else "pass"

    @property
    def kind(self) -> Kind:
        """The outcome, or "skipped" where the gate was skipped."""
        return "skipped" if self.verdict == "skipped" else self.outcome


def current_word(fail_on: str) -> FailOn:
    """Return a value of the option `fail_on`; a word of earlier versions is replaced, with a FutureWarning."""
    if fail_on in DEPRECATED:
        warnings.warn(str(DEPRECATED[fail_on]), FutureWarning, stacklevel=3)
        fail_on = DEPRECATED[fail_on].new
    return cast("FailOn", fail_on)


def worst(gates: Iterable[Gate]) -> Verdict:
    """Return the worst outcome of gates; "pass" where there is none."""
    return max((gate.outcome for gate in gates), key=ORDER.index, default="pass")


def holds(gates: Iterable[Gate], fail_on: FailOn) -> bool:
    """Tell whether no outcome is as bad as ``fail_on`` or worse."""
    return fail_on == "never" or ORDER.index(worst(gates)) < ORDER.index(fail_on)


class GatesFields(Record):
    """What the results hold of it."""

    gates: list[Gate] = Field(default_factory=list)
    evidence: list[GateEvidence] = Field(default_factory=list)
    """The evidence of this night on the limits of gates `on: sequence`."""
