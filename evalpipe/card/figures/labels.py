"""Labels of lines and of points on them: the thresholds that the spec marks, and where a model operates.

Each label stands where it meets no other line, or at the end of a thin line to its own. Where lines lie so close that
no way to one is free, the thin line crosses others and ends in a dot. Numbers of a family of lines stand on them.
Labels without any place are left to the caption, those of models to a key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Literal

from evalpipe.card.figures.axes import LINE, width
from evalpipe.card.figures.cells import CELL, Box, CellGrid, LabelSize, Point, grid_of, points_along, size_in_cells
from evalpipe.card.figures.context import column
from evalpipe.card.figures.panel import DOTS, model_key
from evalpipe.card.figures.svg import KeyEntry, number
from evalpipe.results.curves.calibration import GainTable
from evalpipe.results.curves.events import Marks
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.card.figures.context import Context, Operating
    from evalpipe.card.figures.panel import Estimated, Panel, RowPanel
    from evalpipe.card.figures.svg import Series


ROOMS = (12, 7, 4, 2)
"""Cells that other lines are to be away from a label, the most first; where the last is too much it has a leader."""

CLOSEST, FARTHEST = 4.5, 7.0
"""Pixels between the middle of a mark and its label."""

RINGS = (4, 8, 12, 18, 26, 40, 90)
"""Cells from its line within which a label with a leader is looked for, the nearest first."""

STEP = 2
"""Of so many cells across, and down, the first is tried for a label with a leader."""

ANCHORS, MOST_LEADERS = 6, 60
"""Points of a line that a leader is tried to, and leaders of a ring that are tried, the shortest first."""

POINT = LabelSize(1, 1)
DOT, AT_END, FRAME = 3.0, 7.0, 6.0
"""Pixels of the dot at the end of a leader that crosses other lines, about its end where another line may pass, and
from the frame of the panel, along which no leader runs."""


@dataclass(frozen=True, slots=True)
class LineLabel:
    """A line that asks for a label: its text, its look, and its points; ``scattered`` ones have no line.

    No marker stands beside the label: it would look like a point of the line.
    """

    text: str
    ink: str
    x: Sequence[float]
    y: Sequence[float]
    kind: str = "line"
    dash: str = ""
    scattered: bool = False


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """A box for a label, and the ends of a ``leader`` to its line where it does not stand beside it.

    A leader that ``crosses`` other lines ends in a dot.
    """

    box: Box
    leader: tuple[Point, Point] | None = None
    crosses: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """The points of a line in pixels, the cells that they are in, and whether they are marks and no line."""

    points: list[Point]
    cells: int
    scattered: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a panel has room for labels: its cells, the boxes that labels keep out of, and those of names so far."""

    grid: CellGrid
    occupied: Sequence[Box] = ()
    names: list[Box] = field(default_factory=list)

    def fitting(self, size: LabelSize) -> int:
        """Return the cells, as bits, where the upper left corner of a label keeps it clear of all boxes."""
        occupied, names = self.grid.cells_of_boxes(self.occupied), self.grid.cells_of_boxes(self.names)
        return self.grid.inside(size) & ~self.grid.near(occupied, size, 0) & ~self.grid.near(names, size, 1)

    def trace(self, panel: Panel, label: LineLabel) -> Trace:
        """Return the pixels of a labelled line or of its points within the panel, and the cells they are in."""
        pixels = panel.pixels(panel.visible(list(zip(label.x, label.y, strict=True))))
        scattered = label.scattered or len(pixels) == 1
        along = pixels if scattered else points_along(pixels)
        return Trace(along, self.grid.cells_of_points(along), scattered)

    def place(
        self, line: Trace, rivals: int, crossed: int, size: tuple[float, float], *, may_cross: bool = False,
    ) -> LabelPlace | None:
        """Return a place for a label beside its ``line``, or joined to it by a thin leader; None without room.

        ``size`` is in pixels. The label keeps off the cells of the ``rivals``. A leader does not pass those that
        are ``crossed``, unless it ``may_cross`` them and has no other way. Both are cells as bits of an int.
        """
        in_cells = size_in_cells(*size)
        fits = self.fitting(in_cells)
        corner = self._beside(line, fits, rivals, in_cells)
        if corner is not None:
            return LabelPlace((*corner, corner[0] + size[0], corner[1] + size[1]))
        free = fits & ~self.grid.near(line.cells | rivals, in_cells, 1)
        return self._place_with_leader(line, free, crossed, size, may_cross=may_cross)

    def _beside(self, line: Trace, fits: int, rivals: int, size: LabelSize) -> Point | None:
        """Return the left upper corner for a label at its line, as far from the rivals as can be; None without.

        Of several corners it is the one furthest right. ``fits`` are the cells at which the label is clear of all
        boxes.
        """
        grid, from_line = self.grid, 1 if line.scattered else 0
        places = fits & grid.near(line.cells, size, from_line + 1) & ~grid.near(line.cells, size, from_line)
        # The name of a mark is to be nearer to it than to any other; a name at a line may have another beyond its line.
        for room in () if not places else ROOMS[:-1] if line.scattered else ROOMS:
            free = places & ~grid.near(rivals, size, room)
            corners = (corner for corner in grid.corners(free)
                       if not line.scattered or self._is_at_mark(corner, line.points, size))
            corner = next(corners, None)
            if corner is not None:
                return corner
        return None

    @staticmethod
    def _is_at_mark(corner: Point, marks: Sequence[Point], size: LabelSize) -> bool:
        """Tell whether a label that begins at a ``corner`` is near enough to a mark, and far enough from all."""
        box = (*corner, corner[0] + CELL * size[0], corner[1] + CELL * size[1])
        return CLOSEST <= min(math.dist(mark, _nearest_of(box, mark)) for mark in marks) <= FARTHEST

    def _place_with_leader(
        self, line: Trace, free: int, crossed: int, size: tuple[float, float], *, may_cross: bool,
    ) -> LabelPlace | None:
        """Return the place for a label with the shortest leader to a line; None without any.

        ``free`` are the cells for its corner. The leader ends where the line is far from the lines ``crossed``.
        """
        anchors, grid, in_cells = self._anchors(line, crossed), self.grid, size_in_cells(*size)
        barrier = grid.near(crossed | grid.cells_of_boxes(self.names), POINT, 1)
        at_anchors, left = grid.cells_of_points(anchors), free & grid.every(STEP)
        shortest: LabelPlace | None = None
        for reach in RINGS if anchors else ():
            ring = left & grid.near(at_anchors, in_cells, reach)
            left &= ~ring
            boxes = [(x, y, x + size[0], y + size[1]) for x, y in grid.corners(ring)]
            leaders = sorted((math.dist(start, anchor), start, anchor, box) for box in boxes for anchor in anchors
                             for start in [_nearest_of((box[0], box[1] + 2, box[2], box[3] - 1), anchor)])
            for _, start, anchor, box in leaders[:MOST_LEADERS]:
                crosses = self._crosses(barrier, start, anchor)
                if not crosses:
                    return LabelPlace(box, (start, anchor))
                shortest = shortest or LabelPlace(box, (start, anchor), crosses)
        return shortest if may_cross else None

    def _anchors(self, line: Trace, crossed: int) -> list[Point]:
        """Return points of a line where a leader may end: far from the lines ``crossed``, and off the frame."""
        grid = self.grid
        right, foot = grid.left + CELL * grid.columns - FRAME, grid.top + CELL * grid.rows - FRAME
        inside = [(x, y) for x, y in line.points if grid.left + FRAME < x < right and grid.top + FRAME < y < foot]
        inside, far = inside or line.points, list[Point]()
        for room in ROOMS:
            crowded = grid.near(crossed, POINT, room)
            far = [point for point, is_near in zip(inside, grid.among(crowded, inside), strict=True) if not is_near]
            if far:
                break
        far = far or inside
        return far[:: max(1, len(far) // ANCHORS)]

    def _crosses(self, barrier: int, start: Point, end: Point) -> bool:
        """Tell whether a leader passes a cell of a ``barrier`` on its way, other than near its ``end``."""
        length = math.dist(start, end)
        steps = max(0, int((length - AT_END) / CELL)) + 1 if length else 0
        parts = (min(1.0, k * CELL / length) for k in range(steps))
        (a, b), (c, d) = start, end
        return any(self.grid.among(barrier, ((a + (c - a) * part, b + (d - b) * part) for part in parts)))


def _nearest_of(box: Box, point: Point) -> Point:
    return min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])


def label_lines(
    panel: Panel, models: Sequence[LineLabel], others: Sequence[LineLabel] = (), occupied: Sequence[Box] = (),
    unnamed: Sequence[LineLabel] = (),
) -> list[KeyEntry]:
    """Write each label beside its line, or joined to it by a thin line; return key entries of models without room.

    The ``models`` are either all labelled or all in the key, so that a reader looks in one place. Each of the
    ``others`` is by itself, and left to the caption where it has no room. ``occupied`` are boxes that labels keep
    out of, ``unnamed`` lines that they keep off too.
    """
    panel.names += [
        KeyEntry(label.text, label.ink, "mark" if label.scattered else label.kind, dash=label.dash)
        for label in (*models, *others)]
    layout = Layout(grid_of(panel), occupied)
    traces = [layout.trace(panel, label) for label in (*models, *others, *unnamed)]
    entries = list[KeyEntry]()
    for start, labels in ((0, models), *((len(models) + k, (other,)) for k, other in enumerate(others))):
        places, written = list[LabelPlace](), len(layout.names)
        for index, label in enumerate(labels, start):
            place = layout.place(traces[index], _others(traces, index),
                                 _others(traces[: len(models)], index), (width(label.text), LINE), may_cross=True)
            if place is None:
                break
            places.append(place)
            layout.names.append(place.box)
        if len(places) == len(labels):
            for label, place in zip(labels, places, strict=True):
                _write_label(panel, label, place)
            continue
        del layout.names[written:]
        if labels is models:
            entries += [KeyEntry(label.text, label.ink, label.kind, dash=label.dash) for label in models]
    return entries


def _others(traces: Sequence[Trace], index: int) -> int:
    cells = 0
    for k, trace in enumerate(traces):
        cells |= trace.cells if k != index else 0
    return cells


def name_marks(
    panels: Sequence[Panel], marks: Sequence[Sequence[LineLabel]], lines: Sequence[Sequence[LineLabel]],
) -> list[str]:
    """Write the name of each mark once, in the panel where it is nearest to its mark; return the names without room.

    Of each panel ``marks`` are those with a name, ``lines`` what else is drawn in it.
    """
    layouts, without_room = [Layout(grid_of(plot)) for plot in panels], list[str]()
    traces = [[layout.trace(plot, label) for label in (*named, *other)]
              for layout, plot, named, other in zip(layouts, panels, marks, lines, strict=True)]
    for text in dict.fromkeys(label.text for named in marks for label in named):
        places: list[tuple[float, int, LineLabel, LabelPlace]] = []
        for k, (layout, named) in enumerate(zip(layouts, marks, strict=True)):
            index = next((i for i, label in enumerate(named) if label.text == text), None)
            if index is None:
                continue
            rivals = _others(traces[k], index)
            place = layout.place(traces[k][index], rivals, rivals, (width(text), LINE))
            if place is not None:
                places.append((0.0 if place.leader is None else math.dist(*place.leader), k, named[index], place))
        if not places:
            without_room.append(text)
            continue
        _, k, label, place = min(places, key=lambda entry: entry[:2])
        _write_label(panels[k], label, place)
        layouts[k].names.append(place.box)
    return without_room


def name_rows(
    plot: RowPanel, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]],
) -> list[KeyEntry]:
    """Write each model's name beside one of its values in rows; return a key where one has no room in its row.

    ``values`` has for each row a value of every model, None where it is missing. A single model, which the caption
    names, has no key.
    """
    return [] if plot.name_models(models, values) or len(models) == 1 else model_key(models)


def _write_label(panel: Panel, label: LineLabel, place: LabelPlace) -> None:
    left, top, *_ = place.box
    if place.leader is not None:
        (a, b), (c, d) = place.leader
        panel.sheet.path(f"M{round(a)},{round(b)}L{number(c)},{number(d)}", "thin", "muted")
        if place.crosses:
            panel.sheet.marker(c, d, "o", label.ink, DOT)
    if label.text:
        panel.sheet.write(round(left), round(top + LINE - 3.5), label.text, label.ink)


ON_LINE = 12.0
"""Pixels of the height of a label that stands on its line."""


def label_on_lines(panel: Panel, lines: Sequence[LineLabel], marks: Sequence[LineLabel] = ()) -> list[Box]:
    """Write the label of each line on it, as heights stand on the contours of a map, where others are far from it.

    Returns the boxes of these labels, which keep off ``marks`` too. A line without room has none.
    """
    layout, written = Layout(grid_of(panel, ON_LINE / 2 + 1)), list[LineLabel]()
    traces = [layout.trace(panel, line) for line in (*lines, *marks)]
    for index, line in enumerate(lines):
        across, down = width(line.text) + 4, ON_LINE
        size, rivals = size_in_cells(across, down), _others(traces, index)
        fits = layout.fitting(size)
        for room in (*ROOMS, 0):
            free = fits & ~layout.grid.near(rivals, size, room)
            starts = [(x - across / 2, y - down / 2) for x, y in traces[index].points]
            corners = list(compress(starts, layout.grid.among(free, starts)))
            if corners:
                left, top = corners[len(corners) // 2]
                layout.names.append((left, top, left + across, top + down))
                written.append(line)
                break
    gaps = "".join(f"M{round(a)},{round((b + d) / 2)}H{round(c)}" for a, b, c, d in layout.names)
    panel.sheet.path(gaps, "gap", "paper")
    for line, (left, _, _, foot) in zip(written, layout.names, strict=True):
        panel.sheet.write(round(left + 2), round(foot - 1.5), line.text, line.ink)
    return layout.names


def label_rules(panel: Panel, cuts: Sequence[float]) -> None:
    """Write each threshold of ``cuts`` above its vertical rule, as far as it meets no other nor the name of the axis.

    The caption has them all.
    """
    end = width(panel.y.name) + 4
    for text, x in ((numbers.given(cut), panel.across(cut)) for cut in cuts):
        half = width(text) / 2
        if x - half >= end and x + half <= panel.sheet.width:
            panel.sheet.write(x, panel.top - 5, text, "muted", "middle")
            end = x + half + 4


if TYPE_CHECKING:
    Over = Callable[[Panel, Series, Sequence[Box]], Sequence[Box]]

NEAR, DISC, RING = 30, 6, 9
"""Pixels within which the same threshold is written once, and from the middle of a disc and of a ring to its number."""

GROUPED = " Points: all rows down to each cut of the gain table."

MARKED = " Small marks: the thresholds that the spec marks, with their numbers where there is room."


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where a threshold lies on a curve: names of the rates across and up, as operating points and marks have them.

    ``words`` are the names in words; ``side`` is where a label has the most room: below (1) or above (-1) the curve,
    and to the right (1) or to the left (-1). A curve that is ``falling`` leaves room above and to the right of a point.
    """

    across: str
    up: str
    words: tuple[str, str]
    side: tuple[int, int]
    falling: bool = False

    def operating(self, at: Operating) -> tuple[float | None, float | None]:
        """Return the x and y coordinates of an operating point."""
        return getattr(at, self.across), getattr(at, self.up)

    def marks(self, curve: Marks) -> tuple[list[float], list[float]]:
        """Return the x and y coordinates of marked thresholds."""
        return column(getattr(curve.points, self.across)), column(getattr(curve.points, self.up))


def marks_of(context: Context) -> dict[str, Marks]:
    """Return the marked thresholds of each model that has any, by model."""
    return {series.name: curve for series, curve in context.curves(Marks)}


def operating_point_layer(context: Context, at: Coordinates) -> Over:
    """Return a layer of a figure: a function that rings a model's operating point and writes its threshold."""
    marks_so_far: list[tuple[Panel, str, Point]] = []

    def over(panel: Panel, series: Series, occupied: Sequence[Box]) -> Sequence[Box]:
        """Draw a ring at the model's operating point, and its threshold; return the boxes that both take."""
        point = context.operating(series.name)
        x, y = (None, None) if point is None else at.operating(point)
        if point is None or x is None or y is None:
            return ()
        panel.marks([x], [y], series.ink, series.marker, size=5.5, kind="ring")
        left, top = panel.across(x), panel.down(y)
        ring = left - 8, top - 8, left + 8, top + 8
        if point.mark is None or any(
                other is panel and mark == point.mark and math.dist((left, top), place) < NEAR
                for other, mark, place in marks_so_far):
            return (ring,)
        marks_so_far.append((panel, point.mark, (left, top)))
        side = (-1, 1) if at.falling else at.side
        return ring, *write_beside_point(panel, (x, y), point.mark, series.ink, side, occupied, RING)

    return over


def marked_points(context: Context, at: Coordinates) -> Over:
    """Return a layer of a figure: a function that draws a model's marked thresholds, numbered where they fit."""
    curves = marks_of(context)

    def over(panel: Panel, series: Series, occupied: Sequence[Box]) -> Sequence[Box]:
        """Draw a mark at each marked threshold, and its number where there is room; return the boxes of numbers."""
        if series.name not in curves:
            return ()
        curve, point = curves[series.name], context.operating(series.name)
        cuts, (x, y) = column(curve.points.threshold), at.marks(curve)
        boxes: list[Box] = []
        panel.marks(x, y, series.ink, series.marker, size=3.6)
        panel.record_values(f"{series.label}, marked", **{"Threshold": cuts, panel.x.name: x, panel.y.name: y})
        for cut, a, b in zip(cuts, x, y, strict=True):
            text = numbers.given(cut)
            if not (math.isnan(a) or math.isnan(b)) and (point is None or point.mark != text):
                boxes += write_beside_point(panel, (a, b), text, series.ink, at.side, [*occupied, *boxes])
        return boxes

    return over


def gain_group_layer(context: Context, height: Literal["cumulative_captured", "cumulative_lift"]) -> Over | None:
    """Return a layer that marks the groups of a model's gain table at this ``height``; None without groups."""
    if (context.results.spec.get("curves") or {}).get("groups") is None:
        return None
    tables = {series.name: curve.points for series, curve in context.curves(GainTable)}

    def over(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
        """Draw a mark at each group of the model's gain table."""
        if series.name in tables:
            points = tables[series.name]
            x, y = column(points.cumulative_population), column(getattr(points, height))
            panel.marks(x, y, series.ink, series.marker, size=3.6)
            columns = {"Group": column(points.group), panel.x.name: x, panel.y.name: y}
            panel.record_values(f"{series.label}, groups", **columns)
        return ()

    return over


def write_beside_point(
    panel: Panel, at: Point, text: str, ink: str, side: tuple[int, int], occupied: Sequence[Box], gap: int = DISC,
) -> Sequence[Box]:
    """Write a label beside the point ``at``, on the first of four sides that is free; return its box, if it fits.

    ``side`` is the first to try: (1 below or -1 above, 1 right or -1 left). ``gap`` are the pixels from point to
    label.
    """
    x, y, text_width = panel.across(at[0]), panel.down(at[1]), width(text)
    down, right = side
    for to_right, to_below in ((right, down), (right, -down), (-right, down), (-right, -down)):
        left, foot = (x + gap if to_right > 0 else x - gap - text_width), (y + gap + 8 if to_below > 0 else y - gap + 1)
        box = left, foot - LINE + 4, left + text_width, foot + 3
        is_inside = (box[0] >= panel.left and box[2] <= panel.left + panel.width and box[1] >= panel.top
                  and box[3] <= panel.base)
        if is_inside and not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                              for other in occupied):
            panel.sheet.write(left, foot, text, ink)
            return (box,)
    return ()


def boxes_along(panel: Panel, x: Sequence[float], y: Sequence[float]) -> list[Box]:
    """Return small boxes along a line, in pixels, for labels to keep clear of it."""
    points = panel.pixels(panel.visible(list(zip(x, y, strict=True))))
    return [(a - 1, b - 1, a + 1, b + 1) for a, b in points_along(points)]


def combined_layer(*draws: Over) -> Over:
    """Return a layer that draws several ``draws`` in turn, each told the boxes that those before it occupy."""

    def over(panel: Panel, series: Series, occupied: Sequence[Box]) -> Sequence[Box]:
        """Draw everything in turn; return all boxes that are taken."""
        boxes: list[Box] = []
        for draw in draws:
            boxes += draw(panel, series, [*occupied, *boxes])
        return boxes

    return over


def marked_rates(curve: Marks | None, at: Coordinates) -> str:
    """Return in words the two rates of a curve at each marked threshold of a model; empty where it has none."""
    if curve is None:
        return ""
    parts, (across, up) = [], at.words
    for cut, x, y in zip(column(curve.points.threshold), *at.marks(curve), strict=True):
        parts.append(f"at marked threshold {numbers.given(cut)} {across} {_number_or_undefined(x)} and {up} "
                     f"{_number_or_undefined(y)}")
    return "; ".join(parts)


def _number_or_undefined(value: float) -> str:
    """Return a number as text, or "undefined" for NaN."""
    return "undefined" if math.isnan(value) else numbers.number(value)


def draw_marked_rules(panel: Panel, context: Context, series: Series) -> list[float]:
    """Draw a vertical line at each marked threshold of a model; return the thresholds.

    The horizontal axis of the panel is the threshold.
    """
    curve = marks_of(context).get(series.name)
    cuts = [] if curve is None else column(curve.points.threshold)
    for cut in cuts:
        panel.rule("muted", x=cut, dash=DOTS)
    return cuts
