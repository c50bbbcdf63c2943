"""Panels of figures: two axes on a sheet and what is drawn between them, or rows with a label at the left of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from evalpipe.card.figures.axes import LINE, Axis, width, wrap
from evalpipe.card.figures.svg import KeyEntry, PanelContent, PanelPart, PointSeries, Sheet, number, outline
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalpipe.card.figures.svg import Series
    from evalpipe.results import Estimate


Pixel: TypeAlias = tuple[float, float]

NEAR = 0.25
"""Pixels that a point which is left out may lie off the line that is drawn."""


def without_flat_points(points: Sequence[Pixel]) -> list[Pixel]:
    """Return the points of a line, in pixels, without those near the straight lines between the others, to save bytes.

    From each point that is kept, a line is extended as long as it passes near all points since: their directions, each
    give or take `NEAR`, narrow a cone that the next point must be in, farther away (Reumann & Witkam 1974).
    """
    kept = list(points[:1])
    pending, base_angle, low, high, farthest = None, 0.0, -math.pi, math.pi, 0.0
    for point in points[1:]:
        if point == (pending or kept[-1]):
            continue
        angle, distance = _direction_and_distance(kept[-1], point)
        turn = math.remainder(angle - base_angle, math.tau)
        if pending is not None and (distance < farthest or not low <= turn <= high):
            kept.append(pending)
            pending = None
            angle, distance = _direction_and_distance(kept[-1], point)
        if pending is None:
            base_angle, turn, low, high = angle, 0.0, -math.pi, math.pi
        half_width = math.asin(min(1.0, NEAR / distance))
        pending, low, high, farthest = point, max(low, turn - half_width), min(high, turn + half_width), distance
    return kept if pending is None else [*kept, pending]


def _direction_and_distance(start: Pixel, end: Pixel) -> tuple[float, float]:
    """Return the angle in radians and the length in pixels of the line from ``start`` to ``end``."""
    across, down = end[0] - start[0], end[1] - start[1]
    return math.atan2(down, across), math.hypot(across, down)


Values = "Sequence[float]"
DOTS, DASHES = "1 3", "5 3"
"""Dashes of lines to compare with, such as chance, and of chosen values, such as a threshold."""

TICK_GAP, TICK_DROP = 7, 18
"""Pixels between an axis and the numbers of its ticks, and down to the base line of those beneath."""


Method = TypeVar("Method", bound="Callable[..., None]")


def kept(method: Method) -> Method:
    """Have a panel keep what this method of it draws, for whoever draws it otherwise than as SVG."""
    names = list(signature(method).parameters)[1:]

    @wraps(method)
    def draw(self: Panel, *values: Any, **named: Any) -> None:
        self.keep(method.__name__, **{**dict(zip(names, values, strict=False)), **named})
        method(self, *values, **named)

    return cast("Method", draw)


@dataclass(eq=False)
class Panel(PanelContent):
    """A rectangle of a sheet in pixels, with the axes that numbers are placed by, and what was drawn in it."""

    sheet: Sheet = field(kw_only=True)

    def __post_init__(self) -> None:
        """Have the sheet keep what is drawn in the panel."""
        self.sheet.panels.append(self)

    def keep(self, method: str, **arguments: Any) -> None:
        """Keep what was drawn otherwise than by a method of the panel: ``method`` is one of those who draw it again."""
        self.parts.append(PanelPart(method, arguments))

    @property
    def base(self) -> float:
        """The y coordinate of the panel's lower edge, in pixels from the top of the sheet."""
        return self.top + self.height

    def across(self, value: float) -> float:
        """Return the x coordinate on the sheet, in pixels, of a value of the horizontal axis."""
        return self.left + self.x.part(value) * self.width

    def down(self, value: float) -> float:
        """Return the y coordinate on the sheet, in pixels from its top, of a value of the vertical axis."""
        return self.base - self.y.part(value) * self.height

    def pixels(self, points: Iterable[tuple[float, float]]) -> list[Pixel]:
        """Return where points of both axes lie on the sheet, in pixels; without those that are NaN."""
        left, base, width, height = self.left, self.base, self.width, self.height
        (x_low, x_range), (y_low, y_range) = ((axis.low, axis.high - axis.low) for axis in (self.x, self.y))
        return [(left + (x - x_low) / x_range * width, base - (y - y_low) / y_range * height) for x, y in points
                if x == x and y == y]  # noqa: PLR0124 - NaN differs from itself

    @kept
    def line(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "", kind: str = "line",
             dash: str = "", steps: bool = False) -> None:
        """Draw a line through points, broken at NaN; as ``steps``, each height continues up to the next point.

        With a ``name`` the points are in the figure's table. ``ink`` and ``kind`` are as in `Sheet.path`.
        """
        points = step_corners(x, y) if steps else list(zip(x, y, strict=True))
        path = self._path_through(self.visible(points))
        self.sheet.path(path, kind, ink, dash)
        self.record(name, x, y)

    @kept
    def lines(self, lines: Iterable[tuple[Sequence[float], Sequence[float]]], ink: str, kind: str = "thin") -> None:
        """Draw several lines, (x, y) each, in one path; the table of the figure has none of them."""
        path = "".join(self._path_through(self.visible(list(zip(x, y, strict=True)))) for x, y in lines)
        self.sheet.path(path, kind, ink)

    def record(self, name: str, x: Sequence[float], y: Sequence[float], **more: Sequence[float]) -> None:
        """Add points to the table of the figure, with ``more`` columns by name; nothing for an empty ``name``."""
        if name:
            self.record_values(name, **{self.x.name or "x": x, self.y.name or "y": y, **more})

    def record_values(self, name: str, /, **columns: Sequence[float]) -> None:
        """Add a series to the table of the figure, with its columns by name."""
        self.sheet.points.append(PointSeries(name, {key: list(values) for key, values in columns.items()}))

    def record_days(self, name: str, days: Sequence[str], **columns: Sequence[float]) -> None:
        """Add a series by day to the table of the figure, with its columns by name."""
        numbers_of = {key: list(values) for key, values in columns.items()}
        self.sheet.points.append(PointSeries(name, {"day": list(days), **numbers_of}))

    def _path_through(self, points: Iterable[tuple[float, float]]) -> str:
        """Return the SVG path through points, broken at NaN; points that would change no pixel are left out."""
        runs: list[list[tuple[float, float]]] = [[]]
        (left, right), (low, high) = (sorted((axis.low, axis.high)) for axis in (self.x, self.y))
        for x, y in points:
            if math.isnan(x) or math.isnan(y):
                runs.append([])
            else:
                is_inside = left <= x <= right and low <= y <= high
                runs[-1].append((x, y) if is_inside else (min(max(x, left), right), min(max(y, low), high)))
        pixels = ([(round(x, 1), round(y, 1)) for x, y in self.pixels(run)] for run in runs)
        paths = filter(lambda path: len(path) > 1, map(without_flat_points, pixels))
        return "".join("M" + "L".join(f"{number(a)},{number(b)}" for a, b in path) for path in paths)

    def visible(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return the points of a line, cut where it leaves the range of the vertical axis; NaN marks each gap."""
        low, high = sorted((self.y.low, self.y.high))
        heights = [y for _, y in points]
        if not heights or (low <= min(heights) and max(heights) <= high and not math.isnan(sum(heights))):
            return list(points)
        kept: list[tuple[float, float]] = []
        previous: tuple[float, float] | None = None
        for x, y in points:
            inside = low <= y <= high
            was_inside = previous is not None and low <= previous[1] <= high
            if previous is not None and inside != was_inside and not math.isnan(y + previous[1]):
                edge = low if min(y, previous[1]) < low else high
                kept.append((previous[0] + (x - previous[0]) * (edge - previous[1]) / (y - previous[1]), edge))
            kept.append((x, y) if inside else (math.nan, math.nan))
            previous = x, y
        return kept

    @staticmethod
    def _within(value: float, axis: Axis) -> float:
        """Return a value, or the nearest end of the axis where it lies beyond."""
        return min(max(value, min(axis.low, axis.high)), max(axis.low, axis.high))

    @kept
    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str,
             kind: str = "band") -> None:
        """Fill between two lines over ``x``, from ``low`` to ``high``, with gaps where a value is NaN."""
        runs: list[list[tuple[float, float, float]]] = [[]]
        for point in zip(x, low, high, strict=True):
            if any(map(math.isnan, point)):
                runs.append([])
            else:
                runs[-1].append(point)
        edges = ([(a, h) for a, _, h in run] + [(a, lo) for a, lo, _ in reversed(run)] for run in runs if len(run) > 1)
        path = "".join(f"{self._path_through(outline)}z" for outline in edges)
        self.sheet.path(path, kind, ink)

    @kept
    def marks(self, x: Sequence[float], y: Sequence[float], ink: str, marker: str = "o", *, name: str = "",
              size: float | Sequence[float] = 4.0, kind: str = "mark") -> None:
        """Draw a marker at each point, all in one path; ``size`` is one for all, or a sequence of one for each.

        With a ``name`` the points are in the figure's table. ``ink`` and ``kind`` are as in `Sheet.path`.
        """
        sizes = [size] * len(x) if isinstance(size, int | float) else size
        path = "".join(
            outline(self.across(a), self.down(b), marker, s) for a, b, s in zip(x, y, sizes, strict=True)
            if not (math.isnan(a) or math.isnan(b)))
        self.sheet.path(path, kind, ink)
        self.record(name, x, y)

    @kept
    def dots(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "") -> None:
        """Draw many small points, all in one path; those beyond the axes are left out."""
        path = "".join(f"M{number(self.across(a))},{number(self.down(b))}h.01" for a, b in zip(x, y, strict=True))
        self.sheet.path(path, "dots", ink)
        self.record(name, x, y)

    @kept
    def ranges(self, at: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str, *,
               upright: bool = True, kind: str = "range") -> None:
        """Draw an interval from ``low`` to ``high`` at each value of ``at``; vertical ones if ``upright``."""
        path = "".join(
            f"M{number(self.across(a))},{number(self.down(self._within(lo, self.y)))}"
            f"V{number(self.down(self._within(hi, self.y)))}" if upright else
            f"M{number(self.across(self._within(lo, self.x)))},{number(self.down(a))}"
            f"H{number(self.across(self._within(hi, self.x)))}"
            for a, lo, hi in zip(at, low, high, strict=True) if not any(map(math.isnan, (a, lo, hi))))
        self.sheet.path(path, kind, ink)

    @kept
    def ticks(self, at: Sequence[float], lengths: Sequence[float], ink: str, *, above: bool) -> None:
        """Draw strokes inwards from the upper or lower edge at values ``at``; the longest of several on a pixel."""
        longest: dict[str, float] = {}
        for value, length in zip(at, lengths, strict=True):
            if length and self.x.low <= value <= self.x.high:
                across = number(self.across(value))
                longest[across] = max(length, longest.get(across, 0.0))
        start, direction = (self.top, 1) if above else (self.base, -1)
        path = "".join(f"M{across},{number(start)}v{number(direction * length)}" for across, length in longest.items())
        self.sheet.path(path, "thin", ink)

    @kept
    def bars(self, edges: Sequence[float], heights: Sequence[float], ink: str, *, name: str = "", kind: str = "fill",
             bases: Sequence[float] | None = None, gap: float = 0.6) -> None:
        """Draw bars [k] between ``edges`` [k + 1], from 0 or from their ``bases``, all in one path."""
        bottoms, path = bases or [0.0] * len(heights), ""
        for left, right, height, bottom in zip(edges, edges[1:], heights, bottoms, strict=False):
            if height:
                a, b = self.across(left) + gap / 2, self.across(right) - gap / 2
                y = self.down(self._within(bottom + height, self.y))
                path += f"M{number(a)},{number(self.down(bottom))}V{number(y)}H{number(b)}V{number(self.down(bottom))}z"
        self.sheet.path(path, kind, ink)
        self.record(name, edges[: len(heights)], heights)

    @kept
    def hang(self, edges: Sequence[float], lengths: Sequence[float], tops: Sequence[float], ink: str) -> None:
        """Draw bars [k] of ``lengths`` down from their ``tops``, each between two of the ``edges`` [2k]."""
        path = ""
        for index, (length, top) in enumerate(zip(lengths, tops, strict=True)):
            a, b = self.across(edges[2 * index]), self.across(edges[2 * index + 1])
            path += f"M{number(a)},{number(self.down(top))}V{number(self.down(top + length))}H{number(b)}"
            path += f"V{number(self.down(top))}z"
        self.sheet.path(path, "light", ink)

    @kept
    def rule(self, ink: str, *, x: float | None = None, y: float | None = None, dash: str = "",
             kind: str = "thin") -> None:
        """Draw a line across the panel at a value of either axis; none where the value is beyond the axis."""
        if x is not None and self.x.low <= x <= self.x.high:
            self.sheet.path(f"M{number(self.across(x))},{number(self.top)}V{number(self.base)}", kind, ink, dash)
        if y is not None and min(self.y.low, self.y.high) <= y <= max(self.y.low, self.y.high):
            self.sheet.path(f"M{number(self.left)},{number(self.down(y))}H{number(self.left + self.width)}", kind, ink,
                            dash)

    @kept
    def span(self, low: float, high: float, ink: str = "muted", kind: str = "band") -> None:
        """Shade the panel between two values of the horizontal axis."""
        a, b = (self.across(self._within(value, self.x)) for value in (low, high))
        self.sheet.path(f"M{number(a)},{number(self.top)}H{number(b)}V{number(self.base)}H{number(a)}z", kind, ink)

    @kept
    def box(self, left: float, right: float, below: float, above: float, ink: str) -> None:
        """Shade a rectangle between values of both axes, cut at the edges of the panel."""
        a, b = (self.across(self._within(value, self.x)) for value in (left, right))
        c, d = (self.down(self._within(value, self.y)) for value in (below, above))
        self.sheet.path(f"M{number(a)},{number(c)}H{number(b)}V{number(d)}H{number(a)}z", "band", ink)

    @kept
    def write(self, x: float, y: float, text: str, ink: str = "ink", anchor: str = "") -> None:
        """Write a text at the values ``x`` and ``y`` of the axes, vertically centred."""
        self.sheet.write(self.across(x), self.down(y) + 4.5, text, ink, anchor)

    def frame(self, *, across: bool = True, up: bool = True) -> None:
        """Draw the grid at the ticks, and the numbers of the horizontal (``across``) and the vertical axis (``up``)."""
        if all(text == numbers.plain(value) for axis in (self.x, self.y) for value, text in axis.ticks):
            # For reading values off the panel.
            rectangle = (round(pixels, 1) for pixels in (self.left, self.top, self.width, self.height))
            self.sheet.axes.append((*rectangle, self.x.low, self.x.high, self.y.low, self.y.high, self.x.name))
        xs = [self.across(value) for value, _ in self.x.ticks]
        ys = [self.down(value) for value, _ in self.y.ticks]
        grid = "".join(f"M{number(x)},{number(self.top)}V{number(self.base)}" for x in xs)
        grid += "".join(f"M{number(self.left)},{number(y)}H{number(self.left + self.width)}" for y in ys)
        self.sheet.path(grid, "thin", "grid")
        if across:
            end_of_last = -math.inf
            for x, (_, text) in zip(xs, self.x.ticks, strict=True):
                half_width = width(text) / 2
                middle = min(max(x, half_width), self.sheet.width - half_width)
                if middle - half_width > end_of_last + 4:  # a number that would meet the one before is left out
                    self.sheet.write(middle, self.base + TICK_DROP - 2, text, "muted", "middle")
                    end_of_last = middle + half_width
        if up:
            for y, (_, text) in zip(ys, self.y.ticks, strict=True):
                self.sheet.write(self.left - TICK_GAP, y + 4.5, text, "muted", "end")


def step_corners(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a line of steps: each height continues up to the next x."""
    points: list[tuple[float, float]] = []
    for a, b in zip(x, y, strict=True):
        points += [(a, points[-1][1]), (a, b)] if points else [(a, b)]
    return points


def panel(
    sheet: Sheet, x: Axis, y: Axis, height: float | None = None, *, left: float = 0.0, room: float | None = None,
    title: str = "", ink: str = "ink", margin: float | None = None, last: bool = True, first: bool = True,
) -> Panel:
    """Draw the frame of a panel below all that is on the sheet; without a ``height`` it is square.

    It takes ``room`` pixels from ``left``, of which ``margin`` are for the numbers at its side. The name of the
    vertical axis stands above it, the name of the horizontal axis beneath it where it is the ``last`` of its column;
    only the ``first`` panel of a row has numbers at its side.
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
    margin = margin if margin is not None else tick_label_width(y)
    panel_width = room - margin - 8
    drawn = Panel(x, y, left + margin, sheet.bottom + 5, panel_width, panel_width if height is None else height,
                  sheet=sheet)
    drawn.title = title
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
    name: Callable[[Panel, int, set[str]], Sequence[KeyEntry]],
) -> list[Sheet]:
    """Draw panels beneath each other over a shared horizontal axis, on at most ``most`` sheets.

    ``axes`` are the vertical axes, one for each panel. ``draw(panel, index)`` draws in a panel. ``name(panel,
    index, named)`` then writes the names that are not yet in ``named``, the names on its sheet, adds them to it,
    and returns key entries of names without room.
    """
    margin, sheets, per_sheet = max(map(tick_label_width, axes)), list[Sheet](), math.ceil(len(axes) / most)
    for first in range(0, len(axes), per_sheet):
        sheets.append(sheet := Sheet())
        indices, named, unnamed = range(first, min(first + per_sheet, len(axes))), set[str](), list[KeyEntry]()
        for index in indices:
            drawn = panel(sheet, x, axes[index], height, margin=margin, last=index == indices[-1])
            draw(drawn, index)
            unnamed += name(drawn, index, named)
        sheet.key(unnamed)
    return sheets


def tick_label_width(y: Axis) -> float:
    """Return the width in pixels of the numbers at the side of a vertical axis, with the gap to the axis."""
    return max((width(text) for _, text in y.ticks), default=0.0) + TICK_GAP + 2


def grid(sheet: Sheet, axes: Sequence[tuple[Axis, Axis]], titles: Sequence[tuple[str, str]], *, columns: int = 2,
         height: float | None = None, apart: float = 12.0) -> list[Panel]:
    """Draw panels side by side, each under its title, (text, ink), in rows as high as their highest panel."""
    panels: list[Panel] = []
    room = (sheet.width - apart * (columns - 1)) / columns
    margin = max(tick_label_width(y) for _, y in axes)
    for start in range(0, len(axes), columns):
        top, lowest = sheet.bottom, 0.0
        lines = max(len(wrap(text, room)) for text, _ in titles[start : start + columns]) if titles else 0
        for index in range(start, min(start + columns, len(axes))):
            text, ink = titles[index] if titles else ("", "ink")
            sheet.bottom = top + LINE * (lines - len(wrap(text, room)) if text else 0)
            left = (index - start) * (room + apart)
            panels.append(panel(sheet, *axes[index], height, left=left, room=room, title=text, ink=ink, margin=margin))
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
    """Return (value, lower, upper) of an estimate; None where it has no value."""
    return None if estimate is None or estimate.value is None else (estimate.value, estimate.lower, estimate.upper)


@dataclass(frozen=True, slots=True)
class RowLabel:
    """The label of a row; a ``heading`` has the whole width and no marks, ``indent`` are pixels."""

    text: str
    heading: bool = False
    indent: int = 0
    ink: str = "ink"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class RowPanel:
    """The panel of some rows, whose vertical axis is in pixels, and the middle of each row.

    ``apart`` are the pixels between the marks of two models in the first row, which has room for their names.
    """

    panel: Panel
    middles: list[float]
    apart: float = APART

    def estimates(self, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]],
                  names: Sequence[str] = ()) -> None:
        """Draw the values of each model in each row, one below the other, with their intervals.

        ``values`` has for each row a value of every model, None where it is missing; ``names`` are the names of rows.
        """
        for model_index, model in enumerate(models):
            of_model = [(self.height(k, model_index, len(models)), row[model_index], name) for k, (row, name) in
                        enumerate(zip(values, names or [""] * len(values), strict=True))
                        if row and row[model_index] is not None]
            heights = [y for y, *_ in of_model]
            drawn = [estimated for _, estimated, _ in of_model if estimated is not None]
            low, high = ([math.nan if e[end] is None else float(e[end] or 0) for e in drawn] for end in (1, 2))
            self.panel.ranges(heights, low, high, model.ink, upright=False)
            self.panel.marks([e[0] for e in drawn], heights, model.ink, model.marker)
            for (*_, name), e, lower, upper in zip(of_model, drawn, low, high, strict=True):
                title = f"{name}, {model.label}" if name else model.label
                self.panel.record_values(title, value=[e[0]], lower=[lower], upper=[upper])

    def height(self, row_index: int, model_index: int, models: int) -> float:
        """Return the y of a model's mark in a row that ``models`` share, in pixels from the top of the panel."""
        apart = APART if row_index else self.apart
        return self.middles[row_index] + (model_index - (models - 1) / 2) * apart

    def name_models(self, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]]) -> bool:
        """Write each model's name beside its value in the first row with room; tell whether there is one for each."""
        self.panel.names += model_key(models)
        spans = [[(min(ends), max(ends)) if (ends := [self.panel.across(end) for end in value or () if end is not None])
                  else None for value in row] for row in values]
        places: list[tuple[int, float]] = []
        for model_index, model in enumerate(models):
            texts = ((k, x) for k, row in enumerate(spans) if k == 0 or k not in {row_index for row_index, _ in places}
                     for x in self._text_lefts(row, model_index, width(model.label), first=k == 0))
            place = next(texts, None)
            if place is None:
                return False
            places.append(place)
        for model_index, (model, (k, x)) in enumerate(zip(models, places, strict=True)):
            y = self.panel.top + self.height(k, model_index, len(models))
            self.panel.sheet.write(x, y + 4.5, model.label, model.ink)
        return True

    def _text_lefts(
        self, row: Sequence[Pixel | None], model_index: int, text_width: float, *, first: bool
    ) -> Iterator[float]:
        """Yield where a text of ``text_width`` pixels may begin beside a model's interval in a row.

        ``row`` are the ends of the intervals in pixels; in the ``first`` row those of other models are far enough.
        """
        span = row[model_index] if row else None
        others = [] if first else [other for k, other in enumerate(row) if other is not None and k != model_index]
        for left in () if span is None else (span[1] + 8, span[0] - 8 - text_width):
            is_inside = self.panel.left + 2 < left and left + text_width < self.panel.left + self.panel.width
            if is_inside and all(other[1] + 4 < left or left + text_width < other[0] - 4 for other in others):
                yield left


def rows(
    sheet: Sheet, labels: Sequence[RowLabel], axis: Axis, many: int = 1, right_margin: float = 0.0, *,
    named: bool = False,
) -> RowPanel:
    """Draw the frame of a panel of rows with their labels; each is high enough for its label and ``many`` marks.

    ``right_margin`` are pixels that are left free at the right; with ``named`` the first row has room for names.
    """
    room = min(SHARE * sheet.width, max((width(label.text) + label.indent for label in labels if not label.heading),
                                        default=0.0))
    label_lines = [wrap(label.text, sheet.width if label.heading else room - label.indent) for label in labels]
    apart = [LINE if index == 0 and named else APART for index in range(len(labels))]
    heights = [LINE * len(lines) + 8 if label.heading else max(LINE * len(lines), gap * many) + ROOM
               for label, lines, gap in zip(labels, label_lines, apart, strict=True)]
    left = room + 12
    panel = Panel(axis, Axis("", sum(heights), 0), left, sheet.bottom + 4, sheet.width - left - 8 - right_margin,
                  sum(heights), sheet=sheet)
    panel.frame()
    middles, top, lines_between = [], 0.0, ""
    for label, lines, height in zip(labels, label_lines, heights, strict=True):
        middle = panel.top + top + height / 2 + (2 if label.heading else 0)
        for line_index, line in enumerate(lines):
            sheet.write(label.indent, middle + 4.5 + (line_index - (len(lines) - 1) / 2) * LINE, line, label.ink,
                        kind="bold" if label.heading or label.bold else "text")
        middles.append(top + height / 2)
        panel.rows.append((middles[-1], label.text))
        top += height
        lines_between += f"M0,{number(panel.top + top)}H{number(sheet.width)}"
    sheet.path(lines_between, "thin", "grid")
    sheet.bottom = panel.base + TICK_DROP + 2
    _write_axis_name(panel, 0.0, sheet.width)
    return RowPanel(panel, middles, apart[0] if apart else APART)


ROWS_TALLEST = 950.0
"""Pixels of the rows of a sheet: with its caption it fits a page."""


def rows_by_model(
    names: Sequence[str], models: Sequence[Series], values: Sequence[Sequence[Estimated | None]], axis: Axis,
    under: Callable[[RowPanel, int, Sequence[float]], None] | None = None,
) -> list[Sheet]:
    """Draw the values of many models on sheets: for each of ``names`` a heading and a row for each model.

    ``values`` has for each name a value of every model. ``under`` draws what belongs beneath the values of a name, by
    its index and the middles of its rows.
    """
    sheets, per_name = list[Sheet](), len(models) + 1
    per_sheet = max(1, int(ROWS_TALLEST / (per_name * (LINE + ROOM) + 8)))
    for start in range(0, len(names), per_sheet):
        sheets.append(sheet := Sheet())
        part = range(start, min(start + per_sheet, len(names)))
        labels = [label for k in part for label in (
            RowLabel(names[k], heading=True), *(RowLabel(model.label, indent=8) for model in models))]
        plot = rows(sheet, labels, axis)
        for place, k in enumerate(part):
            middles = plot.middles[place * per_name + 1 : (place + 1) * per_name]
            if under is not None:
                under(plot, k, middles)
            for model, value, y in zip(models, values[k], middles, strict=True):
                if value is not None:
                    RowPanel(plot.panel, [y]).estimates([model], [[value]], [names[k]])
    return sheets


def model_key(models: Sequence[Series]) -> list[KeyEntry]:
    """Return the key of models as marks with intervals."""
    return [KeyEntry(model.label, model.ink, "range", model.marker) for model in models]
