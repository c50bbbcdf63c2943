"""Points on curves: where a model operates, and the thresholds that the spec marks, each with its number beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.card.figures.context import column
from evalpipe.card.figures.panel import DOTS
from evalpipe.card.figures.scales import LINE, width
from evalpipe.results.curves.calibration import GainTable
from evalpipe.results.curves.events import Marks
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.card.figures.canvas import Series
    from evalpipe.card.figures.context import Context, Operating
    from evalpipe.card.figures.labels import Box
    from evalpipe.card.figures.panel import Panel

    Over = Callable[[Panel, Series, Sequence[Box]], Sequence[Box]]

NEAR = 30
"""Pixels within which the same threshold is written once."""

GROUPED = " Points: all rows down to each cut of the gain table."

MARKED = " Small marks: the thresholds that the spec marks, with their numbers where there is room."


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where a threshold lies on a curve: names of the rates across and up, as operating points and marks have them.

    ``said`` are the names in words; ``side`` is where a label has the most room: below (1) or above (-1) the curve, and
    to the right (1) or to the left (-1). A curve that is ``falling`` leaves room above and to the right of a point.
    """

    across: str
    up: str
    said: tuple[str, str]
    side: tuple[int, int]
    falling: bool = False

    def operating(self, at: Operating) -> tuple[float | None, float | None]:
        """Return the place of an operating point."""
        return getattr(at, self.across), getattr(at, self.up)

    def marks(self, curve: Marks) -> tuple[list[float], list[float]]:
        """Return the places of marked thresholds."""
        return column(getattr(curve.points, self.across)), column(getattr(curve.points, self.up))


def marks_of(context: Context) -> dict[str, Marks]:
    """Return the marked thresholds of each model that has some."""
    return {series.name: curve for series, curve in context.curves(Marks)}


def operating_points(context: Context, at: Coordinates) -> Over:
    """Return what marks where a model operates, with its threshold where there is room."""
    written: list[tuple[Panel, str, float, float]] = []

    def over(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
        point = context.operating(series.name)
        x, y = (None, None) if point is None else at.operating(point)
        if point is None or x is None or y is None:
            return ()
        panel.marks([x], [y], series.ink, series.marker, size=5.5, kind="ring")
        left, top = panel.across(x), panel.down(y)
        ring = left - 8, top - 8, left + 8, top + 8
        if point.mark is None or any(
                other is panel and mark == point.mark and math.dist((left, top), place) < NEAR
                for other, mark, *place in written):
            return (ring,)
        written.append((panel, point.mark, left, top))
        wide, after = width(point.mark), left + 11 + width(point.mark) < panel.left + panel.width
        start = left + 11 if after else left - 11 - wide
        above = after and at.falling and top - 6 - LINE > panel.top
        base = top - 6 if above else min(top + 16, panel.base - 4)
        panel.sheet.write(start, base, point.mark, series.ink)
        return ring, (start, base - LINE + 3, start + wide, base + 3)

    return over


def marked_points(context: Context, at: Coordinates) -> Over:
    """Return what draws a model's marked thresholds, each with its number where there is room for it."""
    curves = marks_of(context)

    def over(panel: Panel, series: Series, taken: Sequence[Box]) -> Sequence[Box]:
        if series.name not in curves:
            return ()
        curve, point = curves[series.name], context.operating(series.name)
        cuts, (x, y) = column(curve.points.threshold), at.marks(curve)
        boxes: list[Box] = []
        panel.marks(x, y, series.ink, series.marker, size=3.6)
        panel.record_values(f"{series.label}, marked", **{"Threshold": cuts, panel.x.name: x, panel.y.name: y})
        for cut, a, b in zip(cuts, x, y, strict=True):
            text = numbers.given(cut)
            if a == a and b == b and (point is None or point.mark != text):  # noqa: PLR0124 - NaN differs from itself
                boxes += _label(panel, (a, b), text, series.ink, at.side, [*taken, *boxes])
        return boxes

    return over


def group_points(context: Context, height: Literal["cumulative_captured", "cumulative_lift"]) -> Over | None:
    """Return what draws the groups of a model's gain table at a ``height``; None where the spec asks for no groups."""
    if (context.results.spec.get("curves") or {}).get("groups") is None:
        return None
    tables = {series.name: curve.points for series, curve in context.curves(GainTable)}

    def over(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
        if series.name in tables:
            points = tables[series.name]
            x, y = column(points.cumulative_population), column(getattr(points, height))
            panel.marks(x, y, series.ink, series.marker, size=3.6)
            columns = {"Group": column(points.group), panel.x.name: x, panel.y.name: y}
            panel.record_values(f"{series.label}, groups", **columns)
        return ()

    return over


def _label(
    panel: Panel, at: tuple[float, float], text: str, ink: str, side: tuple[int, int], taken: Sequence[Box]
) -> Sequence[Box]:
    """Write a label beside a point, on the first of its four sides that is free; none where none is."""
    x, y, wide = panel.across(at[0]), panel.down(at[1]), width(text)
    down, right = side
    for a, b in ((right, down), (right, -down), (-right, down), (-right, -down)):
        left, base = (x + 6 if a > 0 else x - 6 - wide), (y + 14 if b > 0 else y - 5)
        box = left, base - LINE + 4, left + wide, base + 3
        within = (box[0] >= panel.left and box[2] <= panel.left + panel.width and box[1] >= panel.top
                  and box[3] <= panel.base)
        if within and not any(_meet(box, other) for other in taken):
            panel.sheet.write(left, base, text, ink)
            return (box,)
    return ()


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def together(*draws: Over) -> Over:
    """Return what draws one after the other, each with the boxes that those before took."""

    def over(panel: Panel, series: Series, taken: Sequence[Box]) -> Sequence[Box]:
        boxes: list[Box] = []
        for draw in draws:
            boxes += draw(panel, series, [*taken, *boxes])
        return boxes

    return over


def said(curve: Marks | None, at: Coordinates) -> str:
    """Say where the marked thresholds of a model lie; nothing where it has none."""
    if curve is None:
        return ""
    x, y = at.marks(curve)
    points = (
        f"at marked threshold {numbers.given(cut)} {at.said[0]} {_number(a)} and {at.said[1]} {_number(b)}"
        for cut, a, b in zip(column(curve.points.threshold), x, y, strict=True))
    return "; ".join(points)


def _number(value: float) -> str:
    return "undefined" if value != value else numbers.number(value)  # noqa: PLR0124 - NaN differs from itself


def rules(panel: Panel, context: Context, series: Series) -> list[float]:
    """Draw a line at each marked threshold of a model, in a panel over thresholds; return these thresholds."""
    curve = marks_of(context).get(series.name)
    cuts = [] if curve is None else column(curve.points.threshold)
    for cut in cuts:
        panel.rule("muted", x=cut, dash=DOTS)
    return cuts
