"""Measures against the day, a panel for each, with intervals as bars and control limits as bands."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import day_axis, number_axis
from evalpipe.card.figures.context import or_nan
from evalpipe.card.figures.panel import columns
from evalpipe.card.figures.svg import KeyEntry, drawing, series_of
from evalpipe.chapters.trend.words import by_measure, limits_of, measure_of, model_of, nights_said, outside, tonight_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.axes import Axis
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.trend.records import TrendLine
    from evalpipe.results import Results

ABREAST, HIGH = 3, 2
"""Sheets of a figure, side by side where there is room, and panels on each; further measures have a figure more."""

HEIGHT = 190.0
"""Pixels of a panel."""

DENSE = 60
"""Nights from which on markers are left out but for those that matter."""

APART = 0.22
"""Days between the bars of two models on the same night, where nights are few."""


def trend_figures(results: Results) -> Iterator[Drawing]:
    """Draw every measure of the trend against the day, the models together."""
    measures = by_measure(results.trend.lines)
    for start in range(0, len(measures), ABREAST * HIGH):
        yield _drawing(results, measures[start : start + ABREAST * HIGH], start)


def _drawing(results: Results, measures: Sequence[Sequence[TrendLine]], start: int) -> Drawing:
    days = _days(results)
    sheets = columns(
        day_axis(days), [_value_axis(results, lines) for lines in measures], HEIGHT, ABREAST,
        lambda drawn, place: _lines(drawn, results, measures[place], days),
        lambda places: _key(results, [line for place in places for line in measures[place]]))
    said = [sentence for lines in measures for sentence in _said(results, lines)]
    title = "Trend"
    alt = f"{title} over {len(days)} nights, {days[0]} to {days[-1]}. {' '.join(said)}"
    return drawing(f"trend-{start}", title, (" ".join(said[:2]), _caption(results, measures), alt), sheets)


def _days(results: Results) -> list[date]:
    """Return the days of the nights that are shown, tonight the last."""
    shown = results.trend.nights[len(results.trend.nights) - results.trend.shown :]
    return [*(date.fromisoformat(night.as_of) for night in shown), date.fromisoformat(results.as_of or "")]


def _lines(drawn: Panel, results: Results, lines: Sequence[TrendLine], days: Sequence[date]) -> None:
    """Draw the limits of each model, then its intervals, then its values, and tonight above all."""
    dense = len(days) > DENSE
    places = [float(day.toordinal()) for day in days]
    pairs = _of_models(results, lines)
    for series, line in pairs:
        if line.limit_lower:
            drawn.band(places, _column(line.limit_lower, days), _column(line.limit_upper, days), series.ink, "faint")
            drawn.rule(series.ink, y=line.centre, dash="5 3")
    for number, (series, line) in enumerate(pairs):
        moved = [place + (0.0 if dense else APART * (number - (len(pairs) - 1) / 2)) for place in places]
        low, high = _column(line.lower, days), _column(line.upper, days)
        drawn.ranges(moved, low, high, series.ink, kind="hair" if dense else "range")
        value = _column(line.value, days)
        drawn.marks(moved[:-1], value[:-1], series.ink, series.marker, size=1 if dense else 3,
                    kind="solid" if dense else "mark")
        beyond = [place for place in range(len(days) - 1) if outside(line, place - len(days))]
        drawn.marks([moved[place] for place in beyond], [value[place] for place in beyond], series.ink, series.marker,
                    size=2.2 if dense else 3.5, kind="hollow")
        drawn.marks(moved[-1:], value[-1:], series.ink, series.marker, size=6,
                    kind="ring" if line.position in ("above", "below") else "mark")
        texts = [day.isoformat() for day in days]
        drawn.record_days(f"{measure_of(results, line)}, {series.label}", texts, value=value, lower=low, upper=high)


def _column(values: Sequence[float | None], days: Sequence[date]) -> list[float]:
    """Return the last values, one for each day that is shown."""
    return [or_nan(value) for value in values[-len(days) :]]


def _of_models(results: Results, lines: Sequence[TrendLine]) -> list[tuple[Series, TrendLine]]:
    known = {line.model: line for line in lines}
    models = series_of([(model.name, model.label) for model in results.models])
    return [(series, known[series.name]) for series in models if series.name in known]


def _key(results: Results, lines: Sequence[TrendLine]) -> list[KeyEntry]:
    """Return the key: each model, its limits and its centre."""
    entries = [KeyEntry(series.label, series.ink, "range", series.marker) for series, _ in _of_models(results, lines)]
    if any(line.limit_lower for line in lines):
        entries += [KeyEntry("Control limits", "muted", "band"), KeyEntry("Centre", "muted", "thin", dash="5 3")]
    return entries


def _value_axis(results: Results, lines: Sequence[TrendLine]) -> Axis:
    """Return the axis of a measure, named with the side on which it is better."""
    direction = next(metric.direction for metric in results.metrics if metric.name == lines[0].metric)
    ends = {"maximize": " (higher is better)", "minimize": " (lower is better)"}
    count = results.trend.shown + 1
    drawn = [line_values[-count:] for line in lines for line_values in (
        line.value, line.lower, line.upper, line.limit_lower, line.limit_upper)]
    values = [or_nan(value) for column in drawn for value in column]
    return number_axis(f"{measure_of(results, lines[0])}{ends.get(direction, '')}", values, most=4, room=0.06)


def _caption(results: Results, measures: Sequence[Sequence[TrendLine]]) -> str:
    """Say how to read the figure."""
    level = wording.level(results.intervals.level)
    limited = any(line.limit_lower for lines in measures for line in lines)
    limits = (f" The band is from {numbers.plain(results.trend.sigma or 0.0)} standard errors below the centre to as "
              "many above it, for a night of that size; an empty marker is a night beyond it.") if limited else ""
    return (f"Each measure by the day that a night is about; bars are its {level} intervals. The large marker is "
            f"{results.as_of}, which this card is about.{limits}")


def _said(results: Results, lines: Sequence[TrendLine]) -> Iterator[str]:
    """Say of each model where tonight lies, and how many earlier nights were beyond the limits."""
    for line in lines:
        text = f"{measure_of(results, line)}, {model_of(results, line)}: {tonight_of(line)}"
        if line.position is None:
            yield f"{text}; no control limits, {nights_said(line.counted)}."
            continue
        beyond = sum(outside(line, place) for place in range(len(line.value) - 1))
        earlier = nights_said(beyond) if beyond else "no earlier night"
        yield f"{text}, {line.position} the control limits of {limits_of(line)}; {earlier} beyond theirs."
