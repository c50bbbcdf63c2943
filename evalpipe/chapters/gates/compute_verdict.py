"""The number that a gate judges, its change from that of an earlier run, and the verdict on it.

A verdict says whether a number, or all of its interval, keeps a limit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.gates.records import GateReason, size
from evalpipe.intervals.contrasts import recovered_limits
from evalpipe.results.observed import Observed
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.base.records import Subject
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.chapters.gates.records import GateLimits, Judged, Position
    from evalpipe.results.observed import Numbers
    from evalpipe.words.sentences import Sentence


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


def judged_number(gate: GatePlan, subject: Subject, numbers: Numbers) -> Observed:
    """Return the number of a run that a gate judges: the value, or the difference from the baseline."""
    return numbers.less_baseline(subject) if gate.against == "baseline" else numbers.observed[subject.key]


Word = Literal["pass", "fail", "inconclusive"]
On = Literal["interval", "value", "lower", "upper", "sequence"]
POSITIONS: tuple[Position, Position, Position] = ("below", "within", "above")


def verdict(limits: GateLimits, on: On, observed: Observed, undefined: Word = "fail") -> tuple[Word, GateReason]:
    """Return the verdict on a number, and why.

    ``undefined`` is the verdict on a number that is undefined, or whose interval cannot be relied on; with "pass", the
    value of the latter is judged. Without any interval the value is judged, whatever ``on`` says. A number that a slice
    has too few rows for is inconclusive.
    """
    because, interval, scale = observed.reason, observed.interval, size(observed.value, observed.reference)
    if observed.value is None:
        word, code = (undefined, "undefined") if observed.status == "undefined" else ("inconclusive", "absent")
        return word, GateReason(code=code, because=because)
    if on != "value" and observed.status != "ok" and undefined != "pass":
        return undefined, GateReason(code="unreliable", because=because)
    if on == "value" or observed.status != "ok" or interval is None:
        # A reason says why the value is judged instead of the interval.
        side = limits.side(observed.value, scale)
        return _verdict_by_side("value", side, None if on == "value" else because)
    if on in ("lower", "upper"):
        return _verdict_by_side(on, limits.side(interval[0] if on == "lower" else interval[1], scale))
    lower_side, upper_side = (limits.side(end, scale) for end in interval)
    if lower_side != upper_side:
        return "inconclusive", GateReason(code="interval-includes")
    return _verdict_by_side("interval", lower_side)


def _verdict_by_side(judged: Judged, side: int, because: Sentence | None = None) -> tuple[Word, GateReason]:
    """Return "pass" for a ``side`` of 0 and "fail" for -1, below the limits, or 1, above them, with the reason.

    The reason names what was ``judged``, such as "interval", and where it lies.
    """
    return "fail" if side else "pass", GateReason(code=f"{judged}-{POSITIONS[side + 1]}", because=because)
