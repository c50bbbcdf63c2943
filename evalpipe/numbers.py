"""How numbers are written: enough digits for their uncertainty, a true minus sign, commas between thousands."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MINUS = "−"
MOST_DECIMALS = 6
USUAL_DECIMALS = 3
SIGNIFICANT = 10
"""The most digits of a number that is shown as it was written: further ones are noise, as in 0.1 + 0.2."""


def fixed(value: float, decimals: int) -> str:
    """Write a number with a fixed number of decimals; a value that rounds to zero has no sign."""
    text = f"{value:,.{decimals}f}"
    if text.startswith("-") and not text.strip("-0.,"):
        text = text[1:]
    return text.replace("-", MINUS)


def count(value: float) -> str:
    """Write a number of rows, or a total of weights with one decimal where it is not whole."""
    return fixed(value, 0 if float(value).is_integer() else 1)


def percent(part: float, whole: float) -> str:
    """Write a share in per cent with one decimal; a dash where the whole is zero."""
    return f"{fixed(100 * part / whole, 1)}%" if whole else "–"


def exact(value: float) -> str:
    """Write the shortest decimal text that reads back as the same number; huge and tiny ones with an exponent."""
    # Decimal writes 0.00001 in full, where Python would write 1e-05.
    text = format(Decimal(repr(float(value))), "f") if 1e-6 <= abs(value) < 1e15 or value == 0 else repr(float(value))
    return (text.removesuffix(".0")).replace("-", MINUS)


def plain(value: float) -> str:
    """Write a number that the spec or a rule gives, such as a threshold or a limit, without the noise of arithmetic."""
    return exact(float(f"{value:.{SIGNIFICANT}g}"))


def decimals(value: float, width: float | None) -> int:
    """Choose the decimals of a number: two digits of its interval's width, or three of the number itself.

    They are never so few that a value shows as 0 or 1 without being it, unless the most do not tell it either.
    """
    least = USUAL_DECIMALS if abs(value) < 10 else 0
    # A width of 0.012 has magnitude -2, and its two digits end at the third decimal.
    wanted = 1 - _magnitude(width) if width else 2 - _magnitude(value)
    usual = min(max(wanted, least), MOST_DECIMALS)
    if value in {0, 1, -1}:
        return usual
    enough = (places for places in range(usual, MOST_DECIMALS + 1) if abs(round(value, places)) not in {0, 1})
    return next(enough, usual)


def _magnitude(value: float) -> int:
    """Return the power of ten of a number's first digit: 2 of 250, -1 of 0.3."""
    return math.floor(math.log10(abs(value))) if value else 0


def most_decimals(values: Iterable[tuple[float | None, float | None, float | None]]) -> int:
    """Return the decimals that numbers side by side share: the most that one of them needs, each with its limits.

    Without limits of its own a number has no say where another has some: its digits would be no more certain.
    """
    defined = [(value, lower, upper) for value, lower, upper in values if value is not None]
    limited = [decimals(x, upper - lower) for x, lower, upper in defined if lower is not None and upper is not None]
    return max(limited or [decimals(value, None) for value, _, _ in defined], default=0)


def number(value: float, least: int = 0) -> str:
    """Write a number that has no interval, with at least ``least`` decimals."""
    return fixed(value, max(decimals(value, None), least))


def interval(value: float, lower: float, upper: float, *, whole: bool = False, least: int = 0) -> tuple[str, str]:
    """Write a number and its interval, such as ``("0.785", "0.776 to 0.793")``.

    ``whole`` leaves out the decimals where all of them are zero; otherwise there are at least ``least``.
    """
    counts = whole and all(float(x).is_integer() for x in (value, lower, upper))
    digits = 0 if counts else max(decimals(value, upper - lower), least)
    return fixed(value, digits), f"{fixed(lower, digits)} to {fixed(upper, digits)}"


def signed(value: float, decimals: int) -> str:
    """Write a difference with its sign, such as ``+0.0123``; one that rounds to zero has none."""
    text = fixed(value, decimals)
    return f"+{text}" if value > 0 and text.strip("0.,") else text


def signed_interval(value: float, lower: float | None, upper: float | None, least: int = 0) -> tuple[str, str | None]:
    """Write a difference and its interval, such as ``("+0.0123", "−0.0020 to +0.0266")``; ``least`` is as above."""
    if lower is None or upper is None:
        return signed(value, max(decimals(value, None), least)), None
    digits = max(decimals(value, upper - lower), least)
    return signed(value, digits), f"{signed(lower, digits)} to {signed(upper, digits)}"


def p_value(value: float | None) -> str:
    """Write a p-value with three digits; a dash where there is none."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else fixed(value, 3)


def bounds(low: float | None, high: float | None) -> str:
    """Write a range of possible values; an end that does not exist is called unbounded."""
    if low is None and high is None:
        return "unbounded"
    if high is None or low is None:
        return f"from {plain(low)}, unbounded" if low is not None else f"unbounded, to {plain(high or 0.0)}"
    return f"{plain(low)} to {plain(high)}"
