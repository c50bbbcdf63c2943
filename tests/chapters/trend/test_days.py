"""The axis of days: few ticks that do not meet, for any span."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from evalpipe.card.figures.axes import day_axis

LAST = date(2027, 1, 4)


@pytest.mark.parametrize(("nights", "labels"), [
    (1, ["4 Jan 2027"]),
    (4, ["1 Jan 2027", "2 Jan", "3 Jan", "4 Jan"]),
    (30, ["7 Dec 2026", "21 Dec", "4 Jan 2027"]),
    (90, ["Nov 2026", "Dec", "Jan 2027"]),
    (365, ["Apr 2026", "Jul", "Oct", "Jan 2027"]),
    (3650, ["Jan 2019", "Jan 2022", "Jan 2025"]),
])
def test_ticks_are_at_whole_days_months_or_years(nights: int, labels: list[str]) -> None:
    axis = day_axis([LAST - timedelta(days=back) for back in range(nights)])
    assert [label for _, label in axis.ticks] == labels
    assert all(axis.low < place < axis.high for place, _ in axis.ticks)
