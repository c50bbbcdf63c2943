"""The verdict on one number: whether it, or all of its interval, keeps a limit; in words, too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.gates.plan import ROUNDING
from evalpipe.words.numbers import MOST_DECIMALS, decimals, fixed, plain, ranged, signed

if TYPE_CHECKING:
    from evalpipe.chapters.gates.plan import GateLimits
    from evalpipe.results import Status

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
