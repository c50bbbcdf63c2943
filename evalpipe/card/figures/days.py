"""The axis of days: ticks at days, at the first of months or of years, as many as there is room for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from evalpipe.card.figures.scales import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""The months as they are written beside ticks, in every locale."""

MOST = 4
"""Ticks of an axis, about."""

DAYS, MONTH = 45, 30.44
"""Days up to which ticks are at days, and the mean length of a month."""

STEPS_OF_DAYS, STEPS_OF_MONTHS = (1, 2, 5, 7, 14), (1, 2, 3, 6)


def day_axis(days: Sequence[date]) -> Axis:
    """Return the axis from the first to the last of days, by their ordinals, with some room at both ends."""
    first, last = min(days), max(days)
    room = max(0.5, 0.02 * (last - first).days)
    ticks = tuple((float(day.toordinal()), text) for day, text in _ticks(first, last))
    return Axis("", first.toordinal() - room, last.toordinal() + room, ticks)


def _ticks(first: date, last: date) -> list[tuple[date, str]]:
    """Return the days that have ticks, with their labels: a year stands where it is another than before."""
    span = (last - first).days
    if span <= DAYS:
        step = next((step for step in STEPS_OF_DAYS if span / step <= MOST), STEPS_OF_DAYS[-1])
        days = [last - timedelta(days=back) for back in range(span // step * step, -1, -step)]
        return _labelled(days, [f"{day.day} {MONTHS[day.month - 1]}" for day in days])
    months = span / MONTH
    step = next((step for step in STEPS_OF_MONTHS if months / step <= MOST), 12)
    while months / step > MOST:
        step += 12
    starts = [date(year, month, 1) for year in range(first.year, last.year + 1) for month in range(1, 13)
              if (12 * year + month - 1) % step == 0]
    days = [day for day in starts if first <= day <= last]
    return _labelled(days, [MONTHS[day.month - 1] for day in days])


def _labelled(days: Sequence[date], labels: Sequence[str]) -> list[tuple[date, str]]:
    """Return days with their labels, and the year with the first of each."""
    years = [None, *(day.year for day in days)]
    return [(day, label if day.year == before else f"{label} {day.year}")
            for day, label, before in zip(days, labels, years, strict=False)]
