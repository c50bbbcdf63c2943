"""Figures of the card as inline SVG, drawn from the curves and estimates that `Results` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.canvas import Drawing
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.declare import figures
from evalpipe.card.figures.formula import formula_svg

if TYPE_CHECKING:
    from evalpipe.results import Results

__all__ = ["Drawing", "drawings", "formula_svg"]


def drawings(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Draw every declared figure of a dataset for which the results hold the numbers, in the order of their places."""
    context = context_of(results, dataset)
    return tuple(drawing for figure in figures() for drawing in figure.draw(context) if drawing is not None)
