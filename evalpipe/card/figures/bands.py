"""Bands about the curves of several models: which of them can be read in one panel, and what is said of the others.

A second band that lies mostly over the first makes a colour that belongs to no model, so it is left out.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card import wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Series

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
        if all(_share_over(band, bands[other]) <= HEAVY for other in names):
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


def _share_over(band: Band, other: Band) -> float:
    """Return the share of the area of a band that lies over another one, as far as both reach; 0 where neither does."""
    first, second = _ascending(band), _ascending(other)
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


def _ascending(band: Band) -> Edges:
    """Return the places of a band from left to right, and its limits there."""
    edges = band.x, band.low, band.high
    return edges if not band.x or band.x[0] <= band.x[-1] else (band.x[::-1], band.low[::-1], band.high[::-1])


def _limits_at(edges: Edges, x: float) -> tuple[float, float]:
    """Return the limits of a band at ``x``, on straight lines between its points."""
    xs, lows, highs = edges
    k = min(max(bisect_left(xs, x), 1), len(xs) - 1)
    part = (x - xs[k - 1]) / (xs[k] - xs[k - 1]) if xs[k] > xs[k - 1] else 1.0
    return lows[k - 1] + part * (lows[k] - lows[k - 1]), highs[k - 1] + part * (highs[k] - highs[k - 1])
