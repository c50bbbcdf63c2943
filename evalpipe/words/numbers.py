"""How numbers are written: one convention on the card, in findings, in the reasons of gates and in the terminal.

- A number with an interval has as many decimals as the interval supports: half its width has one significant digit, or
  two where the first is 1, as in 0.56 (0.50–0.62) and 0.149 (0.135–0.163). Numbers side by side in a row of a table
  share the most decimals that one of them needs. Numbers below each other in a column of one measure, or of measures
  from −1 to 1, share those that most of its intervals support.
- There are more decimals where a value that is not 0 or 1 would read as 0 or 1, a limit below 0 as 0, or a limit as
  what it is judged against, such as 0 for a difference or the limit of a gate; at most `MOST_DECIMALS`.
- The limits of an interval have an en dash between them, or "to" where one of them has a sign, as in −0.01 to 0.02.
- A number without an interval has three significant digits, a share of rows is in per cent with one decimal, and so is
  a confidence level, without needless zeros.
- A prevalence or a threshold is written one way wherever it stands, beside an interval too: as it is up to
  `GIVEN_DIGITS` digits, such as one that the spec gives, and with three where it has more.
- Exact values are in the tooltips of the HTML, in `estimates.csv` and in `results.json`.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MINUS = "−"
MOST_DECIMALS = 6
USUAL_DIGITS = 3
"""The significant digits of a number without an interval."""

SIGNIFICANT = 10
"""The most digits of a number that is shown as it was written: further ones are noise, as in 0.1 + 0.2."""

GIVEN_DIGITS = 6
"""The most digits of a prevalence or a threshold that is shown as it is."""


def fixed(value: float, decimals: int) -> str:
    """Return a number as text with a fixed number of decimals; a value that rounds to zero has no sign."""
    text = f"{value:,.{decimals}f}"
    if text.startswith("-") and not text.strip("-0.,"):
        text = text[1:]
    return text.replace("-", MINUS)


def count(value: float) -> str:
    """Return a number of rows as text; a total of weights that is no integer has one decimal."""
    return fixed(value, 0 if float(value).is_integer() else 1)


def percent(part: float, whole: float) -> str:
    """Return ``part`` over ``whole`` in per cent with one decimal; a dash where ``whole`` is zero."""
    return f"{fixed(100 * part / whole, 1)}%" if whole else "–"


def whole_percent(part: float, whole: float) -> str:
    """Return ``part`` over ``whole`` in whole per cents, "<1%" for what rounds to none; a dash if ``whole`` is zero."""
    if not whole:
        return "–"
    text = f"{fixed(100 * part / whole, 0)}%"
    return "<1%" if part and text == "0%" else text


def floored_percent(share: float) -> str:
    """Return a share in per cent, rounded down to one decimal, so that a share below 1 never reads as 100%."""
    return f"{math.floor(share * 1000 + 1e-9) / 10:g}%"


def given_percent(share: float) -> str:
    """Return a share of the spec in per cent, with all its digits."""
    return f"{plain(share * 100)}%"


def exact(value: float) -> str:
    """Return the shortest decimal text that reads back as the same number; huge and tiny numbers have an exponent."""
    # Decimal writes 0.00001 in full, where Python would write 1e-05.
    text = format(Decimal(repr(float(value))), "f") if 1e-6 <= abs(value) < 1e15 or value == 0 else repr(float(value))
    return (text.removesuffix(".0")).replace("-", MINUS)


def plain(value: float) -> str:
    """Return a number of the spec, such as a limit, as text, rounded to `SIGNIFICANT` digits against float noise."""
    return exact(float(f"{value:.{SIGNIFICANT}g}"))


def given(value: float) -> str:
    """Return a prevalence or threshold as text: exact up to `GIVEN_DIGITS` digits, else with three digits."""
    short = plain(float(f"{value:.{GIVEN_DIGITS}g}"))
    return short if math.isclose(value, float(short.replace(MINUS, "-")), rel_tol=1e-12) else number(value)


def decimals(
    value: float, lower: float | None = None, upper: float | None = None, apart: Collection[float] = ()
) -> int:
    """Return how many decimals to show for a value, by its interval or, without an interval, by its size.

    ``apart`` are numbers that limits are compared with, such as 0: no limit may read as any of them unless it equals
    it.
    """
    limits = [] if lower is None or upper is None else [lower, upper]
    if lower is None or upper is None or lower == upper:
        digits_of_value = significant(value, USUAL_DIGITS)
        usual = max(digits_of_value, USUAL_DIGITS) if abs(value) < 10 else digits_of_value
    else:
        half = float(f"{(upper - lower) / 2:.{SIGNIFICANT}g}")
        usual = significant(half, 1 if half >= 2 * 10.0 ** _first_digit_power(half) else 2)
    pairs = [(abs(value), (0, 1)), *((limit, (0, *apart) if limit < 0 else apart) for limit in limits)]
    usual = min(usual, MOST_DECIMALS)
    sufficient = (places for places in range(usual, MOST_DECIMALS + 1)
              if not any(_reads_as_another(number, others, places) for number, others in pairs))
    return next(sufficient, usual)


def significant(value: float, digits: int) -> int:
    """Return the number of decimals that show ``digits`` significant digits of a value; 0 for a large value."""
    return max(digits - 1 - _first_digit_power(value), 0)


def _reads_as_another(value: float, others: Collection[float], places: int) -> bool:
    """Tell whether a value, at so many decimal ``places``, reads as one of ``others`` that it does not equal."""
    return any(round(value, places) == round(other, places) and not math.isclose(value, other, rel_tol=1e-9)
               for other in others)


def _first_digit_power(value: float) -> int:
    """Return the power of ten of a number's first digit: 2 for 250, -1 for 0.3."""
    return math.floor(math.log10(abs(value))) if value else 0


def most_decimals(values: Iterable[tuple[float | None, float | None, float | None]]) -> int:
    """Return the largest number of decimals that any (value, lower, upper) needs, to show them alike.

    Where some have limits, those without are ignored, as their digits are no more certain.
    """
    defined = [(value, lower, upper) for value, lower, upper in values if value is not None]
    limited = [decimals(*row) for row in defined if row[1] is not None and row[2] is not None]
    return max(limited or [decimals(value) for value, _, _ in defined], default=0)


def column_decimals(values: Iterable[tuple[float | None, float | None, float | None]]) -> int:
    """Return the decimals that (value, lower, upper) of a column share: those that most of the intervals support.

    There are more where a value would read as 0 or 1 and is not. Intervals without width say nothing.
    """
    defined = [(value, lower, upper) for value, lower, upper in values if value is not None]
    limited = [decimals(*row) for row in defined if row[1] is not None and row[2] is not None and row[1] != row[2]]
    needed = sorted(limited or [decimals(value) for value, _, _ in defined])
    usual = needed[len(needed) // 2] if needed else 0
    sufficient = (places for places in range(usual, MOST_DECIMALS + 1)
                  if not any(_reads_as_another(abs(value), (0, 1), places) for value, _, _ in defined))
    return next(sufficient, usual)


def number(value: float, least: int = 0) -> str:
    """Return a number without an interval as text, with at least ``least`` decimals."""
    return fixed(value, max(decimals(value), least))


def ranged(low: str, high: str) -> str:
    """Join two numbers, as text, to a range: "0.50–0.62", or "−0.01 to 0.02" where one of them has a sign."""
    return f"{low}{' to ' if {low[:1], high[:1]} & {MINUS, '+'} else '–'}{high}"


def interval(
    value: float, lower: float, upper: float, *, whole: bool = False, least: int = 0, apart: Collection[float] = (),
    places: int | None = None,
) -> tuple[str, str]:
    """Return a number and its interval as texts, such as ``("0.56", "0.50–0.62")``.

    With ``whole`` there are no decimals where all three are integers; otherwise there are ``places`` or, where these
    are None, at least ``least``, and so many that no limit reads as one of the numbers ``apart``.
    """
    are_whole = whole and all(float(x).is_integer() for x in (value, lower, upper))
    usual = max(decimals(value, lower, upper, apart), least) if places is None else places
    digits = 0 if are_whole else usual
    return fixed(value, digits), ranged(fixed(lower, digits), fixed(upper, digits))


def with_limits(
    value: float, lower: float | None, upper: float | None, *, least: int = 0, apart: Collection[float] = ()
) -> str:
    """Return a number with its interval, if any, as text, "0.56 (0.50–0.62)", with ``least`` decimals or more.

    No limit reads as one of the numbers ``apart``.
    """
    if lower is None or upper is None:
        return number(value, least)
    shown, limits = interval(value, lower, upper, least=least, apart=apart)
    return f"{shown} ({limits})"


def signed(value: float, decimals: int) -> str:
    """Return a difference with its sign, such as ``+0.0123``; a difference that rounds to zero has none."""
    text = fixed(value, decimals)
    return f"+{text}" if value > 0 and text.strip("0.,") else text


def signed_interval(
    value: float, lower: float | None, upper: float | None, least: int = 0, apart: Collection[float] = (0,)
) -> tuple[str, str | None]:
    """Return a difference and its interval, if any, such as ``("+0.012", "−0.002 to +0.027")``.

    There are ``least`` decimals or more, and no limit reads as one of the numbers ``apart``.
    """
    digits = max(decimals(value, lower, upper, apart), least)
    if lower is None or upper is None:
        return signed(value, digits), None
    return signed(value, digits), ranged(signed(lower, digits), signed(upper, digits))


def signed_with_limits(value: float, lower: float | None, upper: float | None) -> str:
    """Return a difference with its interval, if any, as text: "+0.012 (−0.002 to +0.027)"."""
    shown, limits = signed_interval(value, lower, upper)
    return shown if limits is None else f"{shown} ({limits})"


def p_value(value: float | None) -> str:
    """Return a p-value with three decimals, four next to 0.05; a dash for None."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else fixed(value, 4 if fixed(value, 3) == "0.050" else 3)


def bounds(low: float | None, high: float | None) -> str:
    """Return the range of a measure in words, such as "0 or more"; None is an open end."""
    if low is None and high is None:
        return "unbounded"
    if high is None or low is None:
        return f"{plain(low)} or more" if low is not None else f"{plain(high or 0.0)} or less"
    return f"{plain(low)} to {plain(high)}"


def evidence(value: float) -> str:
    """Return an e-value as text with two digits."""
    if value >= 99.5:  # with two digits it would be written 1e+02
        return f"{value:,.0f}"
    return f"{value:.2g}" if value >= 0.01 else "below 0.01"


BYTES = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "KB": 1e3}
"""The units of memory and files."""


def bytes_text(number: float) -> str:
    """Return a number of bytes as text in a suitable unit, with two digits."""
    unit = next((name for name, size in BYTES.items() if number >= size), "KB")
    in_units = number / BYTES[unit]
    return f"{in_units:.2g} {unit}" if in_units < 99.5 else f"{in_units:.0f} {unit}"
