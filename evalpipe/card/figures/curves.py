"""Curves of models in one panel, or where they are many in a panel for each, the others grey behind it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.labels import LineLabel, boxes_along, label_lines
from evalpipe.card.figures.panel import DOTS, grid, panel
from evalpipe.card.figures.svg import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.card.figures.axes import Axis
    from evalpipe.card.figures.cells import Box
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Series


MOST = 3
"""Models in one panel; of more, each has a panel of its own."""

PER_SHEET = 4
"""Panels of models on a sheet, two side by side."""


@dataclass(frozen=True, slots=True)
class ModelCurve:
    """A model's curve: its coordinates, drawn as ``steps`` or as a line."""

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


@dataclass(frozen=True, slots=True)
class CurveLayers:
    """What a figure draws beside curves: ``behind`` once in each panel, ``over`` for a model's curve.

    ``alone`` is drawn under a curve that has its panel for itself. It and ``over``, which is given the boxes that are
    taken, return those that labels keep out of. ``bands`` are those of the curves by model.
    """

    behind: Callable[[Panel], None] | None = None
    alone: Callable[[Panel, Series], Sequence[Box]] | None = None
    bands: Mapping[str, Band] = field(default_factory=dict)
    over: Callable[[Panel, Series, Sequence[Box]], Sequence[Box]] | None = None

    def below(self, panel: Panel, series: Series) -> Sequence[Box]:
        """Draw the layer and the band under the curve of a model alone in its panel; return the boxes it takes."""
        occupied = self.alone(panel, series) if self.alone is not None else ()
        if series.name in self.bands:
            self.bands[series.name].draw(panel, series.ink)
        return occupied

    def above(self, panel: Panel, series: Series, occupied: Sequence[Box] = ()) -> Sequence[Box]:
        """Draw what belongs over a model's curve, clear of ``occupied`` boxes; return the boxes that it takes."""
        return () if self.over is None else self.over(panel, series, occupied)


PLAIN = CurveLayers()


def shared_sentence(models: Sequence[Series], layers: CurveLayers = PLAIN, *, apart: bool = False) -> str:
    """Return the caption's sentence on bands left out of a shared panel, or on models drawn in grey, if any."""
    if len(models) > MOST or (apart and len(models) > 1):
        return " Grey: the other models."
    return "" if apart else left_out_sentence(models, layers.bands)


def draw_curves(
    frame: Frame, curves: Sequence[ModelCurve], references: Sequence[Reference] = (), layers: CurveLayers = PLAIN, *,
    apart: bool = False,
) -> list[Sheet]:
    """Draw curves with reference lines behind them, and the ``layers`` of the figure; return the sheets.

    All models are in one panel. Where they are many, or ``apart``, each has a panel with the others grey behind it.
    In a shared panel each has a stroke of its own, and of bands that lie over each other only the first is drawn. A
    single model is named by the title of its panel.
    """
    if len(curves) > MOST:
        return _panel_sheets(frame, curves, references, layers)
    labels = [LineLabel(r.text, "muted", r.x, r.y, kind="thin", dash=r.dash) for r in references]
    sheets = []
    for curve in curves if apart or len(curves) == 1 else ():
        sheets.append(sheet := Sheet())
        drawn = panel(sheet, frame.x, frame.y, frame.height, title=curve.series.label)
        _draw_background(drawn, references, layers)
        occupied = _draw_over_others(drawn, curve, curves, layers)
        curve_label = LineLabel(curve.series.label, curve.series.ink, curve.x, curve.y)
        sheet.key(label_lines(drawn, [], labels, occupied, [curve_label]))
    if sheets:
        return sheets
    sheet = Sheet()
    drawn = panel(sheet, frame.x, frame.y, frame.height)
    _draw_background(drawn, references, layers)
    inks = {curve.series.name: curve.series.ink for curve in curves}
    boxes: list[Box] = []
    for name in readable({name: layers.bands[name] for name in inks if name in layers.bands}):
        layers.bands[name].draw(drawn, inks[name])
    lines = [box for curve in curves for box in boxes_along(drawn, curve.x, curve.y)] if layers.over else []
    for curve in curves:
        drawn.line(curve.x, curve.y, curve.series.ink, name=curve.series.label, steps=curve.steps,
                   dash=curve.series.dash)
    for curve in curves:
        boxes += layers.above(drawn, curve.series, [*boxes, *lines])
    models = [LineLabel(c.series.label, c.series.ink, c.x, c.y, dash=c.series.dash) for c in curves]
    sheet.key(label_lines(drawn, models, labels, boxes))
    return [sheet]


def _draw_background(drawn: Panel, references: Sequence[Reference], layers: CurveLayers) -> None:
    if layers.behind is not None:
        layers.behind(drawn)
    for reference in references:
        drawn.line(reference.x, reference.y, "muted", kind="thin", dash=reference.dash)


def _draw_over_others(
    drawn: Panel, curve: ModelCurve, curves: Sequence[ModelCurve], layers: CurveLayers
) -> Sequence[Box]:
    """Draw a model's curve with all others grey behind it; return the boxes that labels keep out of."""
    drawn.lines([(c.x, c.y) for c in curves if c is not curve], "pale")
    boxes = layers.below(drawn, curve.series)
    drawn.line(curve.x, curve.y, curve.series.ink, name=curve.series.label, steps=curve.steps)
    line = boxes_along(drawn, curve.x, curve.y) if layers.over else []
    return [*boxes, *layers.above(drawn, curve.series, [*boxes, *line])]


def _panel_sheets(
    frame: Frame, curves: Sequence[ModelCurve], references: Sequence[Reference], layers: CurveLayers
) -> list[Sheet]:
    """Draw each model in a panel of its own, two side by side, with all others grey behind it."""
    sheets = []
    for start in range(0, len(curves), PER_SHEET):
        sheet, part = Sheet(), curves[start : start + PER_SHEET]
        panels = grid(sheet, [frame.narrow] * len(part), [(c.series.label, "ink") for c in part], height=frame.small)
        for drawn, curve in zip(panels, part, strict=True):
            _draw_background(drawn, references, layers)
            _draw_over_others(drawn, curve, curves, layers)
        sheets.append(sheet)
    return sheets


HEAVY = 0.5
"""The share of a band that may lie over another one."""

PLACES = 64
"""Places along the horizontal axis at which two bands are compared."""


@dataclass(frozen=True, slots=True)
class Band:
    """The limits along a curve, and ``whole``, the wider limits (lower, upper) for the curve as a whole, if any."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    whole: tuple[Sequence[float], Sequence[float]] | None = None

    def draw(self, panel: Panel, ink: str) -> None:
        """Shade the band: light for the curve as a whole, darker for each point alone."""
        if self.whole is not None:
            panel.band(self.x, *self.whole, ink, "faint")
        panel.band(self.x, self.low, self.high, ink)


def readable(bands: Mapping[str, Band]) -> list[str]:
    """Return the models whose bands are drawn in one panel: the first, and each that lies mostly off those before."""
    names: list[str] = []
    for name, band in bands.items():
        if all(_overlap_share(band, bands[other]) <= HEAVY for other in names):
            names.append(name)
    return names


def left_out_sentence(models: Sequence[Series], bands: Mapping[str, Band]) -> str:
    """Return the sentence of a caption on bands that are not drawn where ``models`` share a panel; empty without."""
    of_models = {model.name: bands[model.name] for model in models if model.name in bands}
    labels, drawn = {model.name: model.label for model in models}, readable(of_models)
    hidden = [labels[name] for name in of_models if name not in drawn]
    if not hidden:
        return ""
    shown = wording.joined([labels[name] for name in drawn])
    return f" The band is that of {shown}; that of {wording.joined(hidden)} would lie over it."


def _overlap_share(band: Band, other: Band) -> float:
    """Return the share of the area of a band that lies over another one, as far as both reach; 0 where neither does."""
    first, second = _left_to_right(band), _left_to_right(other)
    if not first[0] or not second[0]:
        return 0.0
    low, high = max(first[0][0], second[0][0]), min(first[0][-1], second[0][-1])
    area = over = 0.0
    for place in range(PLACES + 1) if high > low else ():
        x = low + (high - low) * place / PLACES
        (a, b), (c, d) = _limits_at(first, x), _limits_at(second, x)
        if not math.isnan(a + b + c + d):
            area += b - a
            over += max(0.0, min(b, d) - max(a, c))
    return over / area if area else 0.0


Edges = tuple[Sequence[float], Sequence[float], Sequence[float]]


def _left_to_right(band: Band) -> Edges:
    """Return (x, lower, upper) of a band as lists from left to right."""
    edges = band.x, band.low, band.high
    return edges if not band.x or band.x[0] <= band.x[-1] else (band.x[::-1], band.low[::-1], band.high[::-1])


def _limits_at(edges: Edges, x: float) -> tuple[float, float]:
    """Return the limits of a band at ``x``, on straight lines between its points."""
    xs, lows, highs = edges
    k = min(max(bisect_left(xs, x), 1), len(xs) - 1)
    part = (x - xs[k - 1]) / (xs[k] - xs[k - 1]) if xs[k] > xs[k - 1] else 1.0
    return lows[k - 1] + part * (lows[k] - lows[k - 1]), highs[k - 1] + part * (highs[k] - highs[k - 1])
