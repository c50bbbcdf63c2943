"""Labels of lines and of points on them: the thresholds that the spec marks, and where a model operates.

Each label stands where it meets no other line, or at the end of a thin line to its own. Where lines lie so close that
no way to one is free, the thin line crosses others and ends in a dot. Labels without any place are left to the
caption, those of models to a key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from evalpipe.card.figures.axes import LINE, width, wrap
from evalpipe.card.figures.context import column
from evalpipe.card.figures.panel import DOTS, model_key
from evalpipe.card.figures.svg import KeyEntry, number
from evalpipe.results.curves.calibration import GainTable
from evalpipe.results.curves.events import Marks
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalpipe.card.figures.context import Context, Operating
    from evalpipe.card.figures.panel import Estimated, Panel, RowPanel
    from evalpipe.card.figures.svg import Series


CELL, CLEAR = 4.0, 2.0
"""Pixels: between points of a line, and around a label."""

ROOMS = (20.0, 12.0, 7.0)
"""Pixels that other lines are to be away from a label; the first is enough, less than the last is none."""

TRIES = 40
"""Places along a line that are tried."""


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


Box = tuple[float, float, float, float]
Cells = dict[int, int]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """A box for a label, and the ends of a ``leader`` to its line where it does not stand beside it.

    A leader that ``crosses`` other lines ends in a dot.
    """

    box: Box
    leader: tuple[Point, Point] | None = None
    crosses: bool = False


def label_lines(
    panel: Panel, models: Sequence[LineLabel], others: Sequence[LineLabel] = (), occupied: Sequence[Box] = (),
    unnamed: Sequence[LineLabel] = (),
) -> list[KeyEntry]:
    """Write each label beside its line, or with a thin line to it; return entries of a key for models without room.

    The ``models`` are either all labelled or all in the key, so that a reader looks in one place. Each of the
    ``others`` is by itself, and left to the caption where it has no room. ``occupied`` are boxes that labels keep out
    of, ``unnamed`` lines that they keep off too.
    """
    traces = [_points_along(panel, label) for label in (*models, *others, *unnamed)]
    boxes, entries = list(occupied), list[KeyEntry]()
    for start, labels in ((0, models), *((len(models) + k, (other,)) for k, other in enumerate(others))):
        places = _label_places(panel, labels, traces, start, boxes, len(models))
        if places is None:
            if labels is models:
                entries += [KeyEntry(label.text, label.ink, label.kind, dash=label.dash) for label in models]
            continue
        boxes += [place.box for place in places]
        for label, place in zip(labels, places, strict=True):
            _write_label(panel, label, place)
    return entries


def name_marks(
    panels: Sequence[Panel], marks: Sequence[Sequence[LineLabel]], lines: Sequence[Sequence[LineLabel]],
) -> list[str]:
    """Write the name of each mark once, in the panel where it is nearest to its mark; return the names without room.

    Of each panel ``marks`` are those with a name, ``lines`` what else is drawn in it.
    """
    traces = [[_points_along(plot, label) for label in (*named, *other)]
              for plot, named, other in zip(panels, marks, lines, strict=True)]
    boxes, without_room = [list[Box]() for _ in panels], list[str]()
    for text in dict.fromkeys(label.text for named in marks for label in named):
        places: list[tuple[float, int, LineLabel, LabelPlace]] = []
        for k, named in enumerate(marks):
            index = next((i for i, label in enumerate(named) if label.text == text), None)
            rivals = [point for i, trace in enumerate(traces[k]) if i != index for point in trace]
            place = None if index is None else _place_in(panels[k], traces[k][index], rivals, boxes[k], width(text))
            if place is not None and index is not None:
                places.append((0.0 if place.leader is None else math.dist(*place.leader), k, named[index], place))
        if not places:
            without_room.append(text)
            continue
        _, k, label, place = min(places, key=lambda entry: entry[:2])
        _write_label(panels[k], label, place)
        boxes[k].append(place.box)
    return without_room


def _place_in(
    panel: Panel, line: Sequence[Point], rivals: Sequence[Point], boxes: Sequence[Box], label_width: float,
) -> LabelPlace | None:
    """Return a place for a label beside its ``line``, or with a leader that crosses no rivals; None where none is."""
    return _free_place(panel, line, rivals, boxes, label_width) or _place_with_leader(
        panel, line, (rivals, rivals), boxes, label_width)


def name_rows(
    plot: RowPanel, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]],
) -> list[KeyEntry]:
    """Write each model's name beside one of its values in rows, or in lines with a thin line to one.

    ``values`` has for each row a value of every model, None where it is missing. Returns a key where one has no room,
    but of a single model, which the caption names.
    """
    if plot.name_models(models, values):
        return []
    framed, marks, boxes = plot.panel, list[list[Point]](), list[Box]()
    for index, _ in enumerate(models):
        marks.append([])
        for k, row in enumerate(values):
            value = row[index] if row else None
            if value is not None:
                y = framed.top + plot.height(k, index, len(models))
                ends = [framed.across(end) for end in value if end is not None]
                marks[-1].append((framed.across(value[0]), y))
                boxes.append((min(ends) - MARK, y - MARK, max(ends) + MARK, y + MARK))
    places: list[tuple[list[str], LabelPlace]] = []
    for index, model in enumerate(models):
        lines = wrap(model.label, NAME_SHARE * framed.width)
        rivals = [mark for other, points in enumerate(marks) if other != index for mark in points]
        size = max(map(width, lines)), LINE * len(lines)
        occupied = [*boxes, *(place.box for _, place in places)]
        place = _place_with_leader(framed, marks[index], (rivals, rivals), occupied, *size, may_cross=True)
        if place is None:
            return model_key(models) if len(models) > 1 else []
        places.append((lines, place))
    for model, (lines, place) in zip(models, places, strict=True):
        _write_label(framed, LineLabel("", model.ink, (), ()), place)
        for number_of_line, line in enumerate(lines, 1):
            framed.sheet.write(place.box[0], place.box[1] + LINE * number_of_line - 3.5, line, model.ink)
    return []


MARK, NAME_SHARE = 4.0, 0.6
"""Half the pixels of a mark in a row, and the share of its panel that a line of a name takes at most."""


def _write_label(panel: Panel, label: LineLabel, place: LabelPlace) -> None:
    """Write a label at its place, with its leader, if any."""
    left, top, *_ = place.box
    if place.leader is not None:
        (a, b), (c, d) = place.leader
        panel.sheet.path(f"M{number(a)},{number(b)}L{number(c)},{number(d)}", "thin", "muted")
        if place.crosses:
            panel.sheet.marker(c, d, "o", label.ink, DOT)
    if label.text:
        panel.sheet.write(left, top + LINE - 3.5, label.text, label.ink)


def label_ends(panel: Panel, lines: Sequence[LineLabel], occupied: Sequence[Box] = ()) -> list[KeyEntry]:
    """Write the label of each line above it, all at the end of the panel where the lines are further apart.

    Returns the entries of a key where there is no room for all. ``occupied`` are boxes that labels keep out of.
    """
    traces = [_points_along(panel, label) for label in lines]
    widest = max(width(label.text) for label in lines)
    places = []
    for left in (panel.left + 4, panel.left + panel.width - 4 - widest):
        tops = [min((y for x, y in trace if left <= x <= left + widest), default=math.nan) for trace in traces]
        # A line at the top of the panel has its label below it.
        feet = [top - 3 if top - LINE > panel.top else top + LINE - 1 for top in tops]
        boxes = [(left, foot - LINE + 3, left + widest, foot + 1) for foot in feet]
        least_gap = min((b - a for a, b in pairwise(sorted(feet))), default=LINE)
        if least_gap > LINE - 2 and not any(_nearly_overlap(box, other) for box in boxes for other in occupied):
            places.append((least_gap, left, feet))
    if not places:
        return [KeyEntry(label.text, label.ink, label.kind, dash=label.dash) for label in lines]
    _, left, feet = max(places)
    for label, foot in zip(lines, feet, strict=True):
        panel.sheet.write(left, foot, label.text, label.ink)
    return []


def label_rules(panel: Panel, cuts: Sequence[float], lines: Sequence[LineLabel]) -> list[Box]:
    """Write each threshold of ``cuts`` beside its vertical rule: at the foot, the head or the middle, where no line is.

    Returns the boxes of these numbers. A number that would leave the panel is not written.
    """
    cells = _occupied_cells(point for line in lines for point in _points_along(panel, line))
    feet = panel.base - 4, panel.top + LINE, (panel.top + panel.base + LINE) / 2
    boxes: list[Box] = []
    for text, left in ((numbers.given(cut), panel.across(cut) + 3) for cut in cuts):
        right = left + width(text)
        if right < panel.left + panel.width:
            foot = next((y for y in feet if not _is_occupied_near(cells, (left, y - LINE + 3, right, y + 2), 0)),
                        feet[0])
            panel.sheet.write(left, foot, text, "muted")
            boxes.append((left - 2, foot - LINE, right + 2, foot + 4))
    return boxes


def _label_places(
    panel: Panel, labels: Sequence[LineLabel], traces: Sequence[Sequence[tuple[float, float]]], start: int,
    occupied: Sequence[Box], models: int,
) -> list[LabelPlace] | None:
    """Return a place for each label, whose lines are ``traces`` from index ``start`` on; None where one has no room.

    The first ``models`` traces are lines that no leader crosses.
    """
    places: list[LabelPlace] = []
    for trace_index, label in enumerate(labels, start):
        label_width = width(label.text)
        rivals, crossed = ([point for k, trace in enumerate(traces[:end]) if k != trace_index for point in trace]
                           for end in (None, models))
        boxes, line = [*occupied, *(place.box for place in places)], traces[trace_index]
        chosen = _free_place(panel, line, rivals, boxes, label_width) or (
            _place_with_leader(panel, line, (rivals, crossed), boxes, label_width, may_cross=True))
        if chosen is None:
            return None
        places.append(chosen)
    return places


def _points_along(panel: Panel, label: LineLabel) -> list[tuple[float, float]]:
    """Return points along a line, in pixels, at most `CELL` apart, as far as the line is in the panel."""
    points = panel.visible(list(zip(label.x, label.y, strict=True)))
    pixels = [(panel.across(x), panel.down(y)) for x, y in points if not (math.isnan(x) or math.isnan(y))]
    if label.scattered:
        return pixels
    dense: list[tuple[float, float]] = pixels[:1]
    for (a, b), (c, d) in pairwise(pixels):
        steps = max(1, math.ceil(math.hypot(c - a, d - b) / CELL))
        dense += [(a + (c - a) * k / steps, b + (d - b) * k / steps) for k in range(1, steps + 1)]
    return dense


def _occupied_cells(points: Iterable[tuple[float, float]]) -> Cells:
    """Return the cells of the sheet that contain a point: for each row of cells an integer whose bits are columns."""
    cells: Cells = {}
    for x, y in points:
        row = int(y / CELL)
        cells[row] = cells.get(row, 0) | 1 << int(x / CELL)
    return cells


def _is_occupied_near(cells: Cells, box: Box, room: float) -> bool:
    """Tell whether any occupied cell lies within ``room`` pixels of a box."""
    bits = _bits_between(box[0] - room, box[2] + room)
    return bool(_columns_between(cells, box[1] - room, box[3] + room) & bits)


def _bits_between(left: float, right: float) -> int:
    """Return the bits of the columns of cells from ``left`` to ``right``, in pixels."""
    first, last = max(0, int(left / CELL)), int(right / CELL)
    return ((1 << (last - first + 1)) - 1) << first


def _columns_between(cells: Cells, top: float, bottom: float) -> int:
    """Return the bits of the columns that are occupied in any row of cells from ``top`` to ``bottom``, in pixels."""
    occupied = 0
    for row in range(max(0, int(top / CELL)), int(bottom / CELL) + 1):
        occupied |= cells.get(row, 0)
    return occupied


def _free_place(
    panel: Panel, line: Sequence[tuple[float, float]], rivals: Sequence[tuple[float, float]], boxes: Sequence[Box],
    label_width: float,
) -> LabelPlace | None:
    """Return the place for a label beside its ``line``, inside the panel, farthest from the ``rivals``; None without.

    ``label_width`` are the pixels of the label; ``boxes`` are taken already.
    """
    own_cells, rival_cells = _occupied_cells(line), _occupied_cells(rivals)
    best: LabelPlace | None = None
    freest = 0.0
    for x, y in line[:: max(1, len(line) // TRIES)]:
        for box in _candidate_boxes(x, y, label_width):
            if box[0] < panel.left + 2 or box[2] > panel.left + panel.width - 1 or box[1] < panel.top or (
                    box[3] > panel.base):
                continue
            if any(_nearly_overlap(box, other) for other in boxes) or _is_occupied_near(own_cells, box, 0):
                continue
            free = next((room for room in ROOMS if not _is_occupied_near(rival_cells, box, room)), 0.0)
            if free > freest:
                best, freest = LabelPlace(box), free
        if freest == ROOMS[0]:
            break
    return best


STEPS = (14.0, 8.0)
"""Pixels between the places across and down that are tried for a label with a leader."""

ANCHORS, MOST_LEADERS = 6, 300
"""Points of a line that a leader is tried to, and leaders that are tried, the shortest first."""

DOT = 3.0
"""Pixels of the dot at the end of a leader that crosses other lines."""

AT_END = 7.0
"""Pixels about the end of a leader within which another line may pass."""


def _place_with_leader(
    panel: Panel, line: Sequence[Point], rivals: tuple[Sequence[Point], Sequence[Point]], boxes: Sequence[Box],
    label_width: float, label_height: float = LINE, *, may_cross: bool = False,
) -> LabelPlace | None:
    """Return the free place in the panel with the shortest leader to a ``line``, where it is farthest from the rivals.

    ``rivals`` are the points of all other lines, and of those that no leader crosses; where each would, the shortest
    does if it ``may_cross``. None where there is no place.
    """
    rival_cells, all_cells = _occupied_cells(rivals[1]), _occupied_cells([*line, *rivals[0]])
    thinned = line[:: max(1, len(line) // TRIES)]
    far = next((points for points in ([p for p in thinned if not _is_occupied_near(rival_cells, (*p, *p), room)]
                                      for room in (*ROOMS, CLEAR)) if points), thinned)
    anchors = far[:: max(1, len(far) // ANCHORS)]
    leaders = sorted(
        (math.dist(start, anchor), start, anchor, box) for box in
        _free_boxes(panel, all_cells, boxes, (label_width, label_height))
        for anchor in anchors
        for start in [(min(max(anchor[0], box[0]), box[2]), min(max(anchor[1], box[1] + 2), box[3] - 1))])
    free = next((leader for leader in leaders[:MOST_LEADERS] if not _crosses(rival_cells, leader[1], leader[2])), None)
    chosen = free or (leaders[0] if leaders and may_cross else None)
    return None if chosen is None else LabelPlace(chosen[3], leader=chosen[1:3], crosses=free is None)


def _free_boxes(panel: Panel, cells: Cells, boxes: Sequence[Box], size: tuple[float, float]) -> Iterator[Box]:
    """Yield the boxes of a ``size`` in a panel that are clear of lines, whose cells are given, and of other ``boxes``.

    The size is the width and the height of a label.
    """
    label_width, label_height = size
    tops = [panel.top + 2 + STEPS[1] * row for row in range(int((panel.height - label_height - 4) // STEPS[1]) + 1)]
    rows = [(top, _columns_between(cells, top - CLEAR, top + label_height + CLEAR)) for top in tops]
    for column_index in range(int((panel.width - label_width - 6) // STEPS[0]) + 1):
        left = panel.left + 3 + STEPS[0] * column_index
        bits = _bits_between(left - CLEAR, left + label_width + CLEAR)
        for top, occupied in rows:
            box = left, top, left + label_width, top + label_height
            if not occupied & bits and not any(_nearly_overlap(box, other) for other in boxes):
                yield box


def _crosses(cells: Cells, start: Point, end: Point) -> bool:
    """Tell whether a leader passes an occupied cell on its way, other than near its ``end``."""
    length = math.dist(start, end)
    for k in range(max(0, int((length - AT_END) / CELL)) + 1 if length else 0):
        part = min(1.0, k * CELL / length)
        x, y = start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
        if _is_occupied_near(cells, (x, y, x, y), CLEAR):  # points of a line may be a cell apart
            return True
    return False


def _candidate_boxes(x: float, y: float, label_width: float) -> tuple[Box, ...]:
    """Return the boxes to try for a label, ``label_width`` pixels, at the point (x, y) of its line."""
    corners = ((x + 6, y - LINE - 3), (x - label_width - 6, y - LINE - 3), (x + 6, y + 3), (x - label_width - 6, y + 3),
               (x - label_width / 2, y - LINE - 5), (x - label_width / 2, y + 5))
    return tuple((left, top, left + label_width, top + LINE) for left, top in corners)


def _nearly_overlap(a: Box, b: Box) -> bool:
    """Tell whether two boxes overlap, or are less than `CLEAR` pixels apart."""
    return a[0] < b[2] + CLEAR and b[0] < a[2] + CLEAR and a[1] < b[3] + CLEAR and b[1] < a[3] + CLEAR


if TYPE_CHECKING:
    Over = Callable[[Panel, Series, Sequence[Box]], Sequence[Box]]

NEAR = 30
"""Pixels within which the same threshold is written once."""

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


def operating_points(context: Context, at: Coordinates) -> Over:
    """Return a function that marks a model's operating point, with its threshold where there is room."""
    marks_so_far: list[tuple[Panel, str, float, float]] = []

    def over(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
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
                for other, mark, *place in marks_so_far):
            return (ring,)
        marks_so_far.append((panel, point.mark, left, top))
        text_width, is_right = width(point.mark), left + 11 + width(point.mark) < panel.left + panel.width
        start = left + 11 if is_right else left - 11 - text_width
        is_above = is_right and at.falling and top - 6 - LINE > panel.top
        foot = top - 6 if is_above else min(top + 16, panel.base - 4)
        panel.sheet.write(start, foot, point.mark, series.ink)
        return ring, (start, foot - LINE + 3, start + text_width, foot + 3)

    return over


def marked_points(context: Context, at: Coordinates) -> Over:
    """Return a function that draws a model's marked thresholds, each with its number where there is room."""
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


def group_points(context: Context, height: Literal["cumulative_captured", "cumulative_lift"]) -> Over | None:
    """Return a function that draws the groups of a model's gain table at the ``height``; None without groups."""
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
    panel: Panel, at: tuple[float, float], text: str, ink: str, side: tuple[int, int], occupied: Sequence[Box]
) -> Sequence[Box]:
    """Write a label beside the point ``at``, on its first free side from ``side`` on; return its box, if it fits."""
    x, y, text_width = panel.across(at[0]), panel.down(at[1]), width(text)
    down, right = side
    for to_right, to_below in ((right, down), (right, -down), (-right, down), (-right, -down)):
        left, foot = (x + 6 if to_right > 0 else x - 6 - text_width), (y + 14 if to_below > 0 else y - 5)
        box = left, foot - LINE + 4, left + text_width, foot + 3
        is_inside = (box[0] >= panel.left and box[2] <= panel.left + panel.width and box[1] >= panel.top
                  and box[3] <= panel.base)
        if is_inside and not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                              for other in occupied):
            panel.sheet.write(left, foot, text, ink)
            return (box,)
    return ()


def draw_in_turn(*draws: Over) -> Over:
    """Return a function that calls ``draws`` in turn, each with the boxes that were occupied before, to keep clear."""

    def over(panel: Panel, series: Series, occupied: Sequence[Box]) -> Sequence[Box]:
        """Draw everything in turn; return all boxes that are taken."""
        boxes: list[Box] = []
        for draw in draws:
            boxes += draw(panel, series, [*occupied, *boxes])
        return boxes

    return over


def marked_rates(curve: Marks | None, at: Coordinates) -> str:
    """Return the coordinates of a model's marked thresholds in words; empty where it has none."""
    if curve is None:
        return ""
    parts, (across, up) = [], at.words
    for cut, x, y in zip(column(curve.points.threshold), *at.marks(curve), strict=True):
        parts.append(f"at marked threshold {numbers.given(cut)} {across} {_number_or_undefined(x)} and {up} "
                     f"{_number_or_undefined(y)}")
    return "; ".join(parts)


def _number_or_undefined(value: float) -> str:
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
