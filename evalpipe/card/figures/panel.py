"""Panels of figures: two axes on a sheet and what is drawn between them, or rows with a label at the left of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from evalpipe.card.figures.axes import LINE, Axis, width, wrap
from evalpipe.card.figures.svg import KeyEntry, PointSeries, Sheet, number, outline
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalpipe.card.figures.svg import Series
    from evalpipe.results import Estimate


Place: TypeAlias = tuple[float, float]

NEAR = 0.25
"""Pixels that a place which is left out may lie off the line that is drawn."""


def bends(places: Sequence[Place]) -> list[Place]:
    """Return the places of a line in pixels without those that lie near the straight lines between the others.

    From each place that is kept, a line is extended as long as it passes near all places since: their directions, each
    give or take `NEAR`, narrow a cone that the next place must be in, farther away (Reumann & Witkam 1974).
    """
    kept = list(places[:1])
    last, base, low, high, far = None, 0.0, -math.pi, math.pi, 0.0
    for place in places[1:]:
        if place == (last or kept[-1]):
            continue
        angle, distance = _direction_and_distance(kept[-1], place)
        turn = math.remainder(angle - base, math.tau)
        if last is not None and (distance < far or not low <= turn <= high):
            kept.append(last)
            last = None
            angle, distance = _direction_and_distance(kept[-1], place)
        if last is None:
            base, turn, low, high = angle, 0.0, -math.pi, math.pi
        half = math.asin(min(1.0, NEAR / distance))
        last, low, high, far = place, max(low, turn - half), min(high, turn + half), distance
    return kept if last is None else [*kept, last]


def _direction_and_distance(start: Place, place: Place) -> tuple[float, float]:
    across, down = place[0] - start[0], place[1] - start[1]
    return math.atan2(down, across), math.hypot(across, down)


Values = "Sequence[float]"
DOTS, DASHES = "1 3", "5 3"
"""Dashes of lines to compare with, such as chance, and of chosen values, such as a threshold."""

TICK_GAP, TICK_DROP = 7, 18
"""Pixels between an axis and the numbers of its ticks, and down to the base line of those beneath."""


@dataclass
class Panel:
    """A rectangle of a sheet in pixels, with the axes that numbers are placed by."""

    sheet: Sheet
    x: Axis
    y: Axis
    left: float
    top: float
    width: float
    height: float

    @property
    def base(self) -> float:
        """The pixels from the top of the sheet to the lower edge."""
        return self.top + self.height

    def across(self, value: float) -> float:
        """Return where a value of the horizontal axis lies on the sheet."""
        return self.left + self.x.part(value) * self.width

    def down(self, value: float) -> float:
        """Return where a value of the vertical axis lies on the sheet."""
        return self.base - self.y.part(value) * self.height

    def line(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "", kind: str = "line",
             dash: str = "", steps: bool = False) -> None:
        """Draw a line through points, broken where one is missing; as ``steps``, each height holds up to the next."""
        points = _stepped(x, y) if steps else list(zip(x, y, strict=True))
        path = self._path_through(self.visible(points))
        if path:
            self.sheet.path(path, kind, ink, dash)
        self.record(name, x, y)

    def lines(self, lines: Iterable[tuple[Sequence[float], Sequence[float]]], ink: str, kind: str = "thin") -> None:
        """Draw several lines that are no data of their own, all in one path."""
        path = "".join(self._path_through(self.visible(list(zip(x, y, strict=True)))) for x, y in lines)
        if path:
            self.sheet.path(path, kind, ink)

    def record(self, name: str, x: Sequence[float], y: Sequence[float], **more: Sequence[float]) -> None:
        """Keep points for the table of the figure; those without a name are no data."""
        if name:
            columns = {self.x.name or "x": x, self.y.name or "y": y, **more}
            self.sheet.points.append(PointSeries(name, {key: list(values) for key, values in columns.items()}))

    def record_values(self, name: str, **columns: Sequence[float]) -> None:
        """Keep numbers under names of their own for the table of the figure."""
        self.sheet.points.append(PointSeries(name, {key: list(values) for key, values in columns.items()}))

    def record_days(self, name: str, days: Sequence[str], **columns: Sequence[float]) -> None:
        """Keep numbers of days for the table of the figure."""
        numbers_of = {key: list(values) for key, values in columns.items()}
        self.sheet.points.append(PointSeries(name, {"day": list(days), **numbers_of}))

    def _path_through(self, points: Iterable[tuple[float, float]]) -> str:
        """Write the path through points; those that would change no pixel are left out."""
        runs: list[list[tuple[float, float]]] = [[]]
        for x, y in points:
            if math.isnan(x) or math.isnan(y):
                runs.append([])
            else:
                place = round(self.across(self._within(x, self.x)), 1), round(self.down(self._within(y, self.y)), 1)
                runs[-1].append(place)
        paths = filter(lambda path: len(path) > 1, map(bends, runs))
        return "".join("M" + "L".join(f"{number(a)},{number(b)}" for a, b in path) for path in paths)

    def visible(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return the points of a line, cut where it leaves the vertical axis; NaN stands where it is away."""
        low, high = sorted((self.y.low, self.y.high))
        if all(low <= y <= high for _, y in points):
            return list(points)
        kept: list[tuple[float, float]] = []
        before: tuple[float, float] | None = None
        for x, y in points:
            inside = low <= y <= high
            if before is not None and inside != (low <= before[1] <= high) and not math.isnan(y + before[1]):
                edge = low if min(y, before[1]) < low else high
                kept.append((before[0] + (x - before[0]) * (edge - before[1]) / (y - before[1]), edge))
            kept.append((x, y) if inside else (math.nan, math.nan))
            before = x, y
        return kept

    @staticmethod
    def _within(value: float, axis: Axis) -> float:
        """Hold a value that lies beyond an axis at its end."""
        return min(max(value, min(axis.low, axis.high)), max(axis.low, axis.high))

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str,
             kind: str = "band") -> None:
        """Fill between two lines, where both are known."""
        runs: list[list[tuple[float, float, float]]] = [[]]
        for point in zip(x, low, high, strict=True):
            if any(map(math.isnan, point)):
                runs.append([])
            else:
                runs[-1].append(point)
        around = ([(a, h) for a, _, h in run] + [(a, lo) for a, lo, _ in reversed(run)] for run in runs if len(run) > 1)
        path = "".join(f"{self._path_through(edge)}z" for edge in around)
        if path:
            self.sheet.path(path, kind, ink)

    def marks(self, x: Sequence[float], y: Sequence[float], ink: str, marker: str = "o", *, name: str = "",
              size: float | Sequence[float] = 4.0, kind: str = "mark") -> None:
        """Draw a marker at each point, all in one path; ``size`` is one or one for each point."""
        sizes = [size] * len(x) if isinstance(size, int | float) else size
        path = "".join(
            outline(self.across(a), self.down(b), marker, s) for a, b, s in zip(x, y, sizes, strict=True)
            if not (math.isnan(a) or math.isnan(b)))
        if path:
            self.sheet.path(path, kind, ink)
        self.record(name, x, y)

    def dots(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "") -> None:
        """Draw many small points, all in one path; those beyond the axes are left out."""
        path = "".join(f"M{number(self.across(a))},{number(self.down(b))}h.01" for a, b in zip(x, y, strict=True))
        if path:
            self.sheet.path(path, "dots", ink)
        self.record(name, x, y)

    def ranges(self, at: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str, *,
               upright: bool = True, kind: str = "range") -> None:
        """Draw an interval at each place, all in one path; upright ones are along the vertical axis."""
        path = "".join(
            f"M{number(self.across(a))},{number(self.down(self._within(lo, self.y)))}"
            f"V{number(self.down(self._within(hi, self.y)))}" if upright else
            f"M{number(self.across(self._within(lo, self.x)))},{number(self.down(a))}"
            f"H{number(self.across(self._within(hi, self.x)))}"
            for a, lo, hi in zip(at, low, high, strict=True) if not any(map(math.isnan, (a, lo, hi))))
        if path:
            self.sheet.path(path, kind, ink)

    def ticks(self, at: Sequence[float], lengths: Sequence[float], ink: str, *, above: bool) -> None:
        """Draw strokes of so many pixels inwards from the upper or the lower edge, all in one path, one to a place."""
        longest: dict[str, float] = {}
        for value, length in zip(at, lengths, strict=True):
            if length and self.x.low <= value <= self.x.high:
                across = number(self.across(value))
                longest[across] = max(length, longest.get(across, 0.0))
        edge, side = (self.top, 1) if above else (self.base, -1)
        path = "".join(f"M{across},{number(edge)}v{number(side * length)}" for across, length in longest.items())
        if path:
            self.sheet.path(path, "thin", ink)

    def bars(self, edges: Sequence[float], heights: Sequence[float], ink: str, *, name: str = "", kind: str = "fill",
             bases: Sequence[float] | None = None, gap: float = 0.6) -> None:
        """Draw bars between edges, from 0 or from their ``bases``, all in one path."""
        bottoms, path = bases or [0.0] * len(heights), ""
        for left, right, height, bottom in zip(edges, edges[1:], heights, bottoms, strict=False):
            if height:
                a, b = self.across(left) + gap / 2, self.across(right) - gap / 2
                y = self.down(self._within(bottom + height, self.y))
                path += f"M{number(a)},{number(self.down(bottom))}V{number(y)}H{number(b)}V{number(self.down(bottom))}z"
        if path:
            self.sheet.path(path, kind, ink)
        self.record(name, edges[: len(heights)], heights)

    def hang(self, edges: Sequence[float], lengths: Sequence[float], tops: Sequence[float], ink: str) -> None:
        """Draw bars that hang from their tops, each between two edges of its own, all in one path."""
        path = ""
        for place, (length, top) in enumerate(zip(lengths, tops, strict=True)):
            a, b = self.across(edges[2 * place]), self.across(edges[2 * place + 1])
            path += f"M{number(a)},{number(self.down(top))}V{number(self.down(top + length))}H{number(b)}"
            path += f"V{number(self.down(top))}z"
        self.sheet.path(path, "light", ink)

    def rule(self, ink: str, *, x: float | None = None, y: float | None = None, dash: str = "",
             kind: str = "thin") -> None:
        """Draw a line across the whole panel at a value of either axis."""
        if x is not None and self.x.low <= x <= self.x.high:
            self.sheet.path(f"M{number(self.across(x))},{number(self.top)}V{number(self.base)}", kind, ink, dash)
        if y is not None and min(self.y.low, self.y.high) <= y <= max(self.y.low, self.y.high):
            self.sheet.path(f"M{number(self.left)},{number(self.down(y))}H{number(self.left + self.width)}", kind, ink,
                            dash)

    def span(self, low: float, high: float, ink: str = "muted", kind: str = "band") -> None:
        """Shade the panel between two values of the horizontal axis."""
        a, b = (self.across(self._within(value, self.x)) for value in (low, high))
        self.sheet.path(f"M{number(a)},{number(self.top)}H{number(b)}V{number(self.base)}H{number(a)}z", kind, ink)

    def box(self, left: float, right: float, below: float, above: float, ink: str) -> None:
        """Shade a rectangle between values of both axes, as far as the panel reaches."""
        a, b = (self.across(self._within(value, self.x)) for value in (left, right))
        c, d = (self.down(self._within(value, self.y)) for value in (below, above))
        self.sheet.path(f"M{number(a)},{number(c)}H{number(b)}V{number(d)}H{number(a)}z", "band", ink)

    def write(self, x: float, y: float, text: str, ink: str = "ink", anchor: str = "") -> None:
        """Write at values of the axes, in the middle of a line's height."""
        self.sheet.write(self.across(x), self.down(y) + 4.5, text, ink, anchor)

    def keep_axes(self) -> None:
        """Keep the axes with the sheet, so that values can be read off it; not where ticks are other than numbers."""
        if all(text == numbers.plain(value) for axis in (self.x, self.y) for value, text in axis.ticks):
            place = (round(pixels, 1) for pixels in (self.left, self.top, self.width, self.height))
            self.sheet.axes.append((*place, self.x.low, self.x.high, self.y.low, self.y.high, self.x.name))

    def frame(self, *, across: bool = True, up: bool = True) -> None:
        """Draw the grid at the ticks, the axes and the numbers: of those ``across`` and ``up``."""
        self.keep_axes()
        xs = [self.across(value) for value, _ in self.x.ticks]
        ys = [self.down(value) for value, _ in self.y.ticks]
        grid = "".join(f"M{number(x)},{number(self.top)}V{number(self.base)}" for x in xs)
        grid += "".join(f"M{number(self.left)},{number(y)}H{number(self.left + self.width)}" for y in ys)
        if grid:
            self.sheet.path(grid, "thin", "grid")
        if across:
            reached = -math.inf
            for x, (_, text) in zip(xs, self.x.ticks, strict=True):
                half = width(text) / 2
                middle = min(max(x, half), self.sheet.width - half)
                if middle - half > reached + 4:  # a number that would meet the one before is left out
                    self.sheet.write(middle, self.base + TICK_DROP - 2, text, "muted", "middle")
                    reached = middle + half
        if up:
            for y, (_, text) in zip(ys, self.y.ticks, strict=True):
                self.sheet.write(self.left - TICK_GAP, y + 4.5, text, "muted", "end")


def _stepped(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a line of steps: each height holds up to the next place."""
    points: list[tuple[float, float]] = []
    for a, b in zip(x, y, strict=True):
        points += [(a, points[-1][1]), (a, b)] if points else [(a, b)]
    return points


def panel(
    sheet: Sheet, x: Axis, y: Axis, height: float | None = None, *, left: float = 0.0, room: float | None = None,
    title: str = "", ink: str = "ink", margin: float | None = None, last: bool = True, first: bool = True,
) -> Panel:
    """Draw the frame of a panel below what is on the sheet; without a ``height`` it is square.

    It takes ``room`` pixels from ``left``. The name of the vertical axis stands above it, that of the horizontal one
    beneath it where it is the ``last`` of its column; only the ``first`` of a row has numbers at its side.
    """
    room = sheet.width - left if room is None else room
    if title:
        sheet.bottom += 8 if sheet.bottom else 0
        sheet.heading(title, ink, left, room)
    if y.name and first:
        for line in wrap(y.name, room):
            sheet.bottom += LINE
            sheet.write(left, sheet.bottom - 4, line, "muted")
    elif y.name and left:
        sheet.bottom += LINE
    margin = margin if margin is not None else side(y)
    wide = room - margin - 8
    drawn = Panel(sheet, x, y, left + margin, sheet.bottom + 5, wide, wide if height is None else height)
    drawn.frame(across=last, up=first)
    sheet.bottom = drawn.base + (TICK_DROP + 2 if last else 4)
    if last and x.name:
        _write_axis_name(drawn, left, room)
    return drawn


def _write_axis_name(drawn: Panel, left: float, room: float) -> None:
    """Write the name of the horizontal axis beneath its middle, as far as there is room from ``left``."""
    sheet = drawn.sheet
    for line in wrap(drawn.x.name, room) if drawn.x.name else ():
        sheet.bottom += LINE - 1
        middle = min(drawn.left + drawn.width / 2, left + room - width(line) / 2)
        sheet.write(middle, sheet.bottom, line, "muted", "middle")
    sheet.bottom += 3


def columns(
    x: Axis, axes: Sequence[Axis], height: float, most: int, draw: Callable[[Panel, int], object],
    key: Callable[[range], Sequence[KeyEntry]],
) -> list[Sheet]:
    """Draw panels beneath one another over one axis, in ``most`` sheets or fewer, each with its key.

    ``axes`` are the vertical ones; ``draw`` draws the panel of a number from 0, ``key`` makes that of some panels.
    """
    margin, sheets, high = max(map(side, axes)), list[Sheet](), math.ceil(len(axes) / most)
    for first in range(0, len(axes), high):
        sheets.append(sheet := Sheet())
        places = range(first, min(first + high, len(axes)))
        for place in places:
            draw(panel(sheet, x, axes[place], height, margin=margin, last=place == places[-1]), place)
        sheet.key(key(places))
    return sheets


def side(y: Axis) -> float:
    """Return the pixels that the numbers of a vertical axis need."""
    return max((width(text) for _, text in y.ticks), default=0.0) + TICK_GAP + 2


def grid(sheet: Sheet, axes: Sequence[tuple[Axis, Axis]], titles: Sequence[tuple[str, str]], *, columns: int = 2,
         height: float | None = None, apart: float = 12.0) -> list[Panel]:
    """Draw the frames of panels side by side, each under its title in its ink, each row as high as its highest."""
    panels: list[Panel] = []
    room = (sheet.width - apart * (columns - 1)) / columns
    margin = max(side(y) for _, y in axes)
    for start in range(0, len(axes), columns):
        top, lowest = sheet.bottom, 0.0
        lines = max(len(wrap(text, room)) for text, _ in titles[start : start + columns]) if titles else 0
        for place in range(start, min(start + columns, len(axes))):
            text, ink = titles[place] if titles else ("", "ink")
            sheet.bottom = top + LINE * (lines - len(wrap(text, room)) if text else 0)
            left = (place - start) * (room + apart)
            panels.append(panel(sheet, *axes[place], height, left=left, room=room, title=text, ink=ink, margin=margin))
            lowest = max(lowest, sheet.bottom)
        sheet.bottom = lowest
    return panels


APART = 10.0
"""Pixels between the marks of two models in a row."""

ROOM = 3.0
"""Pixels that a row is higher than its label or its marks."""

SHARE = 0.42
"""The most of the width that labels take."""

Estimated = tuple[float, float | None, float | None]
"""A value with its limits, None where it has none."""


def estimated(estimate: Estimate | None) -> Estimated | None:
    """Return the value of an estimate with its limits; None where there is no value."""
    return None if estimate is None or estimate.value is None else (estimate.value, estimate.lower, estimate.upper)


@dataclass(frozen=True, slots=True)
class RowLabel:
    """The label of a row; a ``heading`` has the whole width and no marks, ``indent`` are pixels."""

    text: str
    heading: bool = False
    indent: int = 0
    ink: str = "ink"


@dataclass(frozen=True, slots=True)
class RowPanel:
    """The panel of some rows, whose vertical axis is in pixels, and the middle of each row."""

    panel: Panel
    middles: list[float]

    def estimates(self, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]],
                  names: Sequence[str] = ()) -> None:
        """Draw the values of each model in each row, one below the other, with their intervals.

        ``values`` are for each row those of every model, None where one has none; ``names`` are those of the rows.
        """
        for place, model in enumerate(models):
            shift = (place - (len(models) - 1) / 2) * APART
            of_model = [(y + shift, row[place], name) for y, row, name in zip(
                self.middles, values, names or [""] * len(values), strict=True) if row and row[place] is not None]
            at = [y for y, *_ in of_model]
            known = [estimated for _, estimated, _ in of_model if estimated is not None]
            low, high = ([math.nan if e[side] is None else float(e[side] or 0) for e in known] for side in (1, 2))
            self.panel.ranges(at, low, high, model.ink, upright=False)
            self.panel.marks([e[0] for e in known], at, model.ink, model.marker)
            for (*_, name), e, lower, upper in zip(of_model, known, low, high, strict=True):
                title = f"{name}, {model.label}" if name else model.label
                self.panel.record_values(title, value=[e[0]], lower=[lower], upper=[upper])


def rows(sheet: Sheet, labels: Sequence[RowLabel], axis: Axis, many: int = 1, right_margin: float = 0.0) -> RowPanel:
    """Draw the frame of rows with their labels, each high enough for its label and ``many`` marks.

    ``right_margin`` are pixels that are left free at the right.
    """
    room = min(SHARE * sheet.width, max((width(label.text) + label.indent for label in labels if not label.heading),
                                        default=0.0))
    label_lines = [wrap(label.text, sheet.width if label.heading else room - label.indent) for label in labels]
    heights = [LINE * len(lines) + 8 if label.heading else max(LINE * len(lines), APART * many) + ROOM
               for label, lines in zip(labels, label_lines, strict=True)]
    left = room + 12
    panel = Panel(sheet, axis, Axis("", sum(heights), 0), left, sheet.bottom + 4, sheet.width - left - 8 - right_margin,
                  sum(heights))
    panel.frame()
    middles, top, lines_between = [], 0.0, ""
    for label, lines, height in zip(labels, label_lines, heights, strict=True):
        middle = panel.top + top + height / 2 + (2 if label.heading else 0)
        for place, line in enumerate(lines):
            sheet.write(label.indent, middle + 4.5 + (place - (len(lines) - 1) / 2) * LINE, line, label.ink,
                        kind="bold" if label.heading else "text")
        middles.append(top + height / 2)
        top += height
        lines_between += f"M0,{number(panel.top + top)}H{number(sheet.width)}"
    sheet.path(lines_between, "thin", "grid")
    sheet.bottom = panel.base + TICK_DROP + 2
    _write_axis_name(panel, 0.0, sheet.width)
    return RowPanel(panel, middles)


def model_key(models: Sequence[Series]) -> list[KeyEntry]:
    """Return the key of models as marks with intervals."""
    return [KeyEntry(model.label, model.ink, "range", model.marker) for model in models]
