"""Axes of figures and the room that text needs: scales from numbers or days to pixels, round ticks, widths of words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


SIZE, LINE = 13, 16
"""Pixels: the text of figures, and from one of its lines to the next."""

ADVANCES = (
    200, 289, 426, 497, 497, 824, 609, 249, 303, 303, 418, 497, 249, 311, 249, 350, 497, 497, 497, 497, 497, 497, 497,
    497, 497, 497, 249, 249, 497, 497, 497, 425, 847, 543, 588, 571, 615, 527, 494, 617, 652, 263, 479, 579, 486, 727,
    647, 664, 566, 664, 569, 534, 536, 645, 515, 786, 513, 476, 539, 303, 350, 303, 497, 500, 542, 504, 553, 456, 555,
    496, 292, 504, 544, 246, 247, 495, 255, 829, 547, 542, 555, 555, 347, 419, 338, 544, 467, 719, 446, 467, 425, 303,
    241, 303, 497,
)
"""Widths of the letters from the space to the tilde in Source Sans 3, in thousandths of the size."""

KNOWN = {chr(code): advance for code, advance in enumerate(ADVANCES, ord(" "))} | {"−": 497}
"""The letters whose widths are known."""

OTHER, WIDE = 560, 1000
"""Widths of other letters, and of those of East Asia."""

MOST_LINES = 4
"""Lines of a label in a figure; the table behind the figure has the whole."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNIT = (0, 0.2, 0.4, 0.6, 0.8, 1)
HALVES = (0, 0.5, 1)
"""Ticks of a proportion on a wide and on a narrow panel."""


def width(text: str) -> float:
    """Return the width of a text in pixels, with some room since bold letters are wider."""
    return sum(KNOWN.get(letter, WIDE if ord(letter) > 0x2E80 else OTHER) for letter in text) * SIZE / 1000 * 1.04


def wrap(text: str, room: float) -> list[str]:
    """Return a text as lines of at most ``room`` pixels; a word that is wider is broken too.

    Lines beyond `MOST_LINES` are cut, with an ellipsis.
    """
    lines, line = list[str](), ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer) <= room:
            line = longer
            continue
        lines += [line] if line else []
        *parts, line = _broken_word(word, room)
        lines += parts
    lines.append(line)
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1][:-1]}…"]


def _broken_word(word: str, room: float) -> list[str]:
    """Return a word as parts of at most ``room`` pixels, each of one letter or more."""
    parts, start, pixels = list[str](), 0, 0.0
    for index, letter in enumerate(word):
        pixels += width(letter)
        if pixels > room and index > start:
            parts.append(word[start:index])
            start, pixels = index, width(letter)
    return [*parts, word[start:]]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows: its name, its ends, and its ticks with their labels."""

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()

    def part(self, value: float) -> float:
        """Return the position of a value along the axis: 0 at its low end, 1 at its high end."""
        return (value - self.low) / (self.high - self.low)


def unit_axis(name: str, ticks: Sequence[float] = UNIT, top: float = 1.0) -> Axis:
    """Return the axis of a proportion, from 0 to ``top`` with a little room at both ends."""
    return Axis(name, -0.015, top + 0.015, tuple((tick, numbers.plain(tick)) for tick in ticks if tick <= top))


def number_axis(name: str, values: Iterable[float], *, most: int = 5, room: float = 0.04, zero: bool = False) -> Axis:
    """Return an axis that includes all values but NaN, with about ``most`` round ticks.

    ``room`` is the share of the range that is added at each end. With ``zero`` it includes 0 too, and has no room
    beyond it where 0 is its end.
    """
    present = [value for value in values if not math.isnan(value)] or [0.0, 1.0]
    low, high = min(present), max(present)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if zero and low == high:
        return Axis(name, 0.0, 1.0, ticks_between(0.0, 1.0, most))
    margin = room * (high - low) or (0.0 if high > low else abs(high) / 2 or 0.5)
    ends = (low if zero and low == 0 else low - margin, high if zero and high == 0 else high + margin)
    return Axis(name, *ends, ticks_between(*ends, most))


def ticks_between(low: float, high: float, most: int = 5) -> tuple[tuple[float, str], ...]:
    """Return about ``most`` round numbers from ``low`` to ``high``, each with its label."""
    exact_step = (high - low) / most
    power = 10.0 ** math.floor(math.log10(exact_step))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= exact_step * 0.999)
    multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    largest = max(abs(low), abs(high))
    return tuple((k * step, tick(float(f"{k * step:.10g}"), largest)) for k in multiples)


def tick(value: float, largest: float) -> str:
    """Return the label of a tick; a multiple of a power of ten where the ``largest`` number is very large or small."""
    power = 0 if not largest or 1e-2 <= largest < 1e6 else math.floor(math.log10(largest))
    power -= power % 3 if power > 0 else 0
    text = f"{value / 10.0**power:,.6g}".replace("-", numbers.MINUS)
    return f"{text}×10{str(power).translate(RAISED)}" if power and value else text


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""The months as they are written beside ticks, in every locale."""

MOST = 4
"""Ticks of an axis, about."""

DAYS, MONTH = 45, 30.44
"""Days up to which ticks are at days, and the mean length of a month."""

STEPS_OF_DAYS, STEPS_OF_MONTHS = (1, 2, 5, 7, 14), (1, 2, 3, 6)


def day_axis(days: Sequence[date]) -> Axis:
    """Return an axis from the first day to the last, in ordinals of days, with some room at both ends."""
    first, last = min(days), max(days)
    room = max(0.5, 0.02 * (last - first).days)
    ticks = tuple((float(day.toordinal()), text) for day, text in _day_ticks(first, last))
    return Axis("", first.toordinal() - room, last.toordinal() + room, ticks)


def _day_ticks(first: date, last: date) -> list[tuple[date, str]]:
    """Return the days with ticks and their labels, which name the year where it changes."""
    span = (last - first).days
    if span <= DAYS:
        step = next((step for step in STEPS_OF_DAYS if span / step <= MOST), STEPS_OF_DAYS[-1])
        days = [last - timedelta(days=back) for back in range(span // step * step, -1, -step)]
        return _with_years(days, [f"{day.day} {MONTHS[day.month - 1]}" for day in days])
    months = span / MONTH
    step = next((step for step in STEPS_OF_MONTHS if months / step <= MOST), 12)
    while months / step > MOST:
        step += 12
    starts = [date(year, month, 1) for year in range(first.year, last.year + 1) for month in range(1, 13)
              if (12 * year + month - 1) % step == 0]
    days = [day for day in starts if first <= day <= last]
    return _with_years(days, [MONTHS[day.month - 1] for day in days])


def _with_years(days: Sequence[date], labels: Sequence[str]) -> list[tuple[date, str]]:
    """Return days with their labels, the year added to the first label of each year."""
    years = [None, *(day.year for day in days)]
    return [(day, label if day.year == year_before else f"{label} {day.year}")
            for day, label, year_before in zip(days, labels, years, strict=False)]
