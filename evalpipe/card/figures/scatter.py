"""Scatters of rows with a smooth line: how one is drawn, and what its caption says of points and line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.card.figures.context import column, known, path_of
from evalpipe.card.figures.panel import DASHES, DOTS, panel
from evalpipe.card.figures.sheet import KeyEntry, Sheet
from evalpipe.results.curves.residuals import ObservedNotes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.canvas import Series
    from evalpipe.card.figures.scales import Axis
    from evalpipe.results.curves import Column
    from evalpipe.results.curves.declare import CurveOf

Straight = Literal["No residual", "Observed = predicted", "Expected"]
"""The dotted line that rows are held to: zero, the diagonal, or what is expected along the smooth line."""

FEW = 5
"""Points of a line up to which each is marked."""


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """What one panel of a scatter holds: the rows of a model and the smooth line through them."""

    series: Series
    rows: CurveOf[Any, Any, Any]
    smooth: CurveOf[Any, Any, Any] | None

    @property
    def fitted(self) -> tuple[float, float] | None:
        """The slope and the intercept of the least-squares line of what was observed, where there is one."""
        notes = self.rows.notes
        if not isinstance(notes, ObservedNotes) or notes.slope is None or notes.intercept is None:
            return None
        return notes.slope, notes.intercept

    @property
    def paths(self) -> Iterator[tuple[Column, Column]]:
        """What is drawn, across and up: the rows, and the line where there is one."""
        yield self.rows.points.path
        if self.smooth is not None:
            yield self.smooth.points.path


def which(panels: Sequence[ScatterPanel], across: str = "prediction") -> str:
    """Say what a point is; where not all rows are drawn, along what they are spread."""
    if any(panel.rows.notes.points_of is not None for panel in panels):
        return f"Each point is a row; of many rows, a part is drawn, spread evenly by {across}."
    return "Each point is a row."


def smooth_line(panels: Sequence[ScatterPanel]) -> str:
    """Say what the line is."""
    smoothed = [panel.smooth.notes.smoothed for panel in panels if panel.smooth is not None]
    spline, means = "a smoothing spline through all rows", "the mean at each distinct prediction"
    return f"The line is {means if not any(smoothed) else spline if all(smoothed) else f'{spline}, or {means}'}."


def cloud(panel_of: ScatterPanel, axes: tuple[Axis, Axis], straight: Straight) -> Sheet:
    """Draw the rows of a model as points, with the smooth line and the one that rows are held to."""
    sheet, series = Sheet(), panel_of.series
    alike = axes[0].low == axes[1].low and axes[0].high == axes[1].high
    drawn = panel(sheet, *axes, None if alike else 220, title=series.label)
    drawn.dots(*path_of(panel_of.rows.points), "pale", name=f"{series.label}, rows")
    if straight == "No residual":
        drawn.rule("ink", y=0, dash=DOTS)
    elif straight == "Observed = predicted":
        ends = (max(axes[0].low, axes[1].low), min(axes[0].high, axes[1].high))
        drawn.line(ends, ends, "ink", kind="thin", dash=DOTS)
    entries = [KeyEntry("Row", "pale", "mark", "o")]
    if panel_of.smooth is not None:
        at, line = path_of(panel_of.smooth.points)
        drawn.line(at, line, series.ink, name=f"{series.label}, smooth line")
        if straight == "Expected":
            drawn.line(at, column(panel_of.smooth.points.expected), "ink", kind="thin", dash=DOTS,
                       name=f"{series.label}, expected")
        if len(at) < FEW:
            drawn.marks(at, line, series.ink, series.marker)
        entries.append(KeyEntry("Smooth line", series.ink))
    if panel_of.fitted is not None:
        slope, intercept = panel_of.fitted
        reach = [end(known(panel_of.rows.points.path[0])) for end in (min, max)]
        drawn.line(reach, [intercept + slope * end for end in reach], series.ink, dash=DASHES,
                   name=f"{series.label}, least-squares line")
        entries.append(KeyEntry("Least-squares line", series.ink, dash=DASHES))
    sheet.key([*entries, KeyEntry(straight, "ink", "thin", dash=DOTS)])
    return sheet
