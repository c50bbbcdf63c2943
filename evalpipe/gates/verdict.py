"""The verdict on one number: whether it, or all of its interval, keeps a limit; in words, too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.numbers import MOST_DECIMALS, decimals, exact, fixed, signed

if TYPE_CHECKING:
    from evalpipe.results import Status

Said = Literal["pass", "fail", "indeterminate", "skipped"]
On = Literal["interval", "value", "lower", "upper"]
Undefined = Literal["fail", "indeterminate", "pass"]

COUNTED: dict[Undefined, str] = {
    "fail": "This counts as failed.", "indeterminate": "This leaves the gate inconclusive.",
    "pass": "This counts as held.",
}
"""What an undefined number comes to, by the verdict that the gate gives it."""

ROUNDING = 1e-12
"""A number this close to a limit, beside the numbers it was computed from, has reached it."""


@dataclass(frozen=True, slots=True)
class Seen:
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
    def scale(self) -> float:
        """The size of the numbers that it was computed from."""
        return max(abs(self.value or 0.0), abs(self.reference or 0.0), abs((self.value or 0) + (self.reference or 0)))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and the highest number that keep a limit; infinite where there is none."""

    low: float
    high: float

    def side(self, number: float, scale: float) -> int:
        """Return -1 where a number is below the bounds, 1 above them, and 0 where it keeps them or reaches one."""
        slack = ROUNDING * max(scale, abs(number))
        return (number > self.high + slack) - (number < self.low - slack)

    @property
    def finite(self) -> list[float]:
        """The limits that there are."""
        return [limit for limit in (self.low, self.high) if math.isfinite(limit)]


def verdict(bounds: Bounds, on: On, seen: Seen, undefined: Undefined = "fail") -> tuple[Said, str]:
    """Return the verdict and what is to be said of the number: a predicate that goes right behind its name.

    ``undefined`` is the verdict on a number that is undefined, or whose interval cannot be relied on; with "pass", the
    value of the latter is judged. Without any interval the value is judged, whatever ``on`` says.
    """
    if seen.value is None:
        return _absent(seen, undefined)
    if on == "value":
        return _single(bounds, seen, "value", seen.value)
    if seen.status != "ok":
        return _unreliable(bounds, seen, undefined)
    if seen.lower is None or seen.upper is None:
        why = f"There is no interval ({seen.reason or 'none was made'}), so the value alone is judged"
        return _single(bounds, seen, "value", seen.value, f"{why}: it")
    if on == "interval":
        return _whole(bounds, seen, seen.lower, seen.upper)
    return _single(bounds, seen, f"{on} limit", seen.lower if on == "lower" else seen.upper)


def _absent(seen: Seen, undefined: Undefined) -> tuple[Said, str]:
    """Judge a number that does not exist: one that the slice has too few rows for is left open."""
    if seen.status != "undefined":
        return "indeterminate", f" is not given: {seen.reason}. {COUNTED['indeterminate']}"
    why = str(seen.reason)
    return undefined, f" is {'' if why.startswith('undefined ') else 'undefined: '}{why}. {COUNTED[undefined]}"


def _unreliable(bounds: Bounds, seen: Seen, undefined: Undefined) -> tuple[Said, str]:
    """Judge a number whose interval says nothing of its uncertainty."""
    assert seen.value is not None  # noqa: S101 - known to the caller
    known = seen.lower is not None and seen.upper is not None
    why = f"Its interval cannot be relied on: {seen.reason}" if known else f"It has no interval: {seen.reason}"
    if undefined == "pass":
        return _single(bounds, seen, "value", seen.value, f"{why}. So the value alone is judged: it")
    return undefined, f": {_written(seen, bounds)}. {why}. {COUNTED[undefined]}"


def _single(bounds: Bounds, seen: Seen, name: str, number: float, subject: str | None = None) -> tuple[Said, str]:
    """Judge one number alone, called ``name``; ``subject`` is what the second sentence begins with."""
    side = bounds.side(number, seen.scale)
    held = " and ".join(
        f"{word} {_limit(limit, seen)}"
        for word, limit in (("at least", bounds.low), ("at most", bounds.high)) if math.isfinite(limit)
    )
    said = held if side == 0 else f"below {_limit(bounds.low, seen)}" if side < 0 else (
        f"above {_limit(bounds.high, seen)}")
    subject = subject or f"The {name}"
    return "fail" if side else "pass", f": {_written(seen, bounds, number)}. {subject} is {said}."


def _whole(bounds: Bounds, seen: Seen, lower: float, upper: float) -> tuple[Said, str]:
    """Judge a whole interval."""
    first, last = bounds.side(lower, seen.scale), bounds.side(upper, seen.scale)
    written = f": {_written(seen, bounds, lower, upper)}."
    low, high = (_limit(limit, seen) for limit in (bounds.low, bounds.high))
    if first == last == 0:
        both = len(bounds.finite) == 2
        one = f"above {low}" if math.isfinite(bounds.low) else f"below {high}"
        where = f"between {low} and {high}" if both else one
        touches = any(math.isclose(x, limit, rel_tol=ROUNDING) for x in (lower, upper) for limit in bounds.finite)
        return "pass", f"{written} The whole interval is {'at or ' if touches and not both else ''}{where}."
    if first == last:
        return "fail", f"{written} The whole interval is {'below ' + low if first < 0 else 'above ' + high}."
    missed = [*([low] if first < 0 else []), *([high] if last > 0 else [])]
    return "indeterminate", f"{written} The interval includes {' and '.join(missed)}, so these data do not decide."


def _limit(limit: float, seen: Seen) -> str:
    text = exact(limit)
    return f"+{text}" if seen.signed and limit > 0 else text


def _written(seen: Seen, bounds: Bounds, *judged: float) -> str:
    """Write a number with its interval as the card does, with as many decimals as tell what is judged from a limit."""
    assert seen.value is not None  # noqa: S101 - known to the caller
    width = None if seen.lower is None or seen.upper is None else seen.upper - seen.lower
    whole = seen.whole and all(float(x).is_integer() for x in (seen.value, seen.lower or 0, seen.upper or 0))
    digits = 0 if whole else decimals(seen.value, width)
    while digits < MOST_DECIMALS and any(_alike(x, limit, digits) for x in judged for limit in bounds.finite):
        digits += 1
    write = signed if seen.signed else fixed
    value = write(seen.value, digits)
    if seen.lower is None or seen.upper is None:
        return value
    return f"{value} ({write(seen.lower, digits)} to {write(seen.upper, digits)})"


def _alike(number: float, limit: float, digits: int) -> bool:
    """Tell whether two different numbers look the same."""
    return round(number, digits) == round(limit, digits) and not math.isclose(number, limit, rel_tol=ROUNDING)
