"""One declared figure of a dataset, for tests that look at no other: drawing them all takes a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.context import context_of, figures

if TYPE_CHECKING:
    from evalpipe.card.figures import Drawing
    from evalpipe.results import Results


def of_figure(results: Results, dataset: str, name: str) -> tuple[Drawing, ...]:
    """Draw the figures declared by this name, none where the results lack their numbers."""
    declared = [figure for figure in figures() if figure.name == name]
    assert declared, f"no figure is declared as {name!r}"
    drawn = [drawing for figure in declared for drawing in figure.draw(context_of(results, dataset))]
    return tuple(drawing for drawing in drawn if drawing is not None)
