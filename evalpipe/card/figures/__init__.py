"""Figures of the card as inline SVG, drawn from the curves and estimates that `Results` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.context import context_of, figures
from evalpipe.card.figures.formula import formula_size, formula_svg
from evalpipe.card.figures.svg import Drawing

if TYPE_CHECKING:
    from evalpipe.card.page import Part
    from evalpipe.results import Results

__all__ = ["Drawing", "drawings", "formula_size", "formula_svg"]


def drawings(results: Results, dataset: str, part: Part | None = None) -> tuple[Drawing, ...]:
    """Draw the figures of a dataset whose numbers the results have, in order; of one ``part`` of the card or of all."""
    context = context_of(results, dataset)
    selected = (figure for figure in figures() if part is None or figure.part == part)
    return tuple(drawing for figure in selected for drawing in figure.draw(context) if drawing is not None)
