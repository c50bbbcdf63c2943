"""Curves of models in one panel, or where they are many in a panel for each, the others grey behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DOTS, grid, panel
from evalpipe.card.figures.sheet import KeyEntry, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.card.figures.canvas import Series
    from evalpipe.card.figures.labels import Box
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.scales import Axis

MOST = 3
"""Models in one panel; of more, each has a panel of its own."""

PER_SHEET = 4
"""Panels of models on a sheet, two side by side."""


@dataclass(frozen=True, slots=True)
class ModelCurve:
    """A model's curve: its places, as ``steps`` or not."""

    series: Series
    x: Sequence[float]
    y: Sequence[float]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A line to compare with, such as chance, and what it is called."""

    text: str
    x: Sequence[float]
    y: Sequence[float]
    dash: str = DOTS


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of one panel, and their narrow form where there are several; ``height`` is None of square panels."""

    x: Axis
    y: Axis
    narrow: tuple[Axis, Axis]
    height: float | None = None
    small: float | None = None


def draw_curves(
    frame: Frame, curves: Sequence[ModelCurve], references: Sequence[Reference] = (), *,
    under: Callable[[Panel, Series], None] | None = None,
    over: Callable[[Panel, Series], Sequence[Box]] | None = None,
) -> list[Sheet]:
    """Draw curves with references behind them; ``under`` and ``over`` draw what else belongs to a model.

    ``over`` returns the boxes that labels keep out of.
    """
    if len(curves) > MOST:
        return _facets(frame, curves, references, under, over)
    sheet = Sheet()
    drawn = panel(sheet, frame.x, frame.y, frame.height)
    for reference in references:
        drawn.line(reference.x, reference.y, "muted", kind="thin", dash=reference.dash)
    for curve in curves if under else ():
        under(drawn, curve.series)  # type: ignore[misc]
    taken: list[Box] = []
    for curve in curves:
        drawn.line(curve.x, curve.y, curve.series.ink, name=curve.series.label, steps=curve.steps)
        taken += over(drawn, curve.series) if over else ()
    models = [LineLabel(c.series.label, c.series.ink, c.x, c.y, c.series.marker) for c in curves]
    others = [LineLabel(r.text, "muted", r.x, r.y, kind="thin", dash=r.dash) for r in references]
    sheet.key(label_lines(drawn, models, others, taken))
    return [sheet]


def _facets(
    frame: Frame, curves: Sequence[ModelCurve], references: Sequence[Reference],
    under: Callable[[Panel, Series], None] | None, over: Callable[[Panel, Series], Sequence[Box]] | None,
) -> list[Sheet]:
    """Draw each model in a panel of its own, two side by side, with all others grey behind it."""
    sheets = []
    for start in range(0, len(curves), PER_SHEET):
        sheet, part = Sheet(), curves[start : start + PER_SHEET]
        panels = grid(sheet, [frame.narrow] * len(part), [(c.series.label, "ink") for c in part], height=frame.small)
        for drawn, curve in zip(panels, part, strict=True):
            for reference in references:
                drawn.line(reference.x, reference.y, "muted", kind="thin", dash=reference.dash)
            drawn.lines([(c.x, c.y) for c in curves if c is not curve], "pale")
            if under:
                under(drawn, curve.series)
            drawn.line(curve.x, curve.y, curve.series.ink, name=curve.series.label)
            if over:
                over(drawn, curve.series)
        sheet.key([KeyEntry(r.text, "muted", "thin", dash=r.dash) for r in references]
                  + [KeyEntry("Other models", "pale", "thin")])
        sheets.append(sheet)
    return sheets
