"""What all formats of a card share: its sections, and its figures, which are drawn once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.contents import Card
    from evalpipe.card.figures.svg import Drawing
    from evalpipe.card.page import Figures
    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature
    from evalpipe.templating.files import Templates

FIGURE_SCHEME, FORMULA_SCHEME = "figure:", "formula:"
"""What the addresses of figures and of formulas begin with, where a page only points to them."""


@dataclass
class Edition:
    """The card of some results and of those who signed them, on its way into one or more formats."""

    results: Results
    signatures: tuple[Signature, ...] = ()
    custom_templates: Templates | None = None
    """Templates in place of those that the results hold."""
    letters_without_font: list[str] = field(default_factory=list)
    """The letters that the PDF, once it is made, shows boxes for."""
    _drawn: dict[int, tuple[Figures, list[tuple[int, Drawing]]]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _formulas: dict[str, str] = field(default_factory=dict)

    @cached_property
    def card(self) -> Card:
        """The card in sections of blocks, its figures not yet drawn."""
        from evalpipe.card.contents import card_of

        return card_of(self.results, self.signatures, self.templates)

    @cached_property
    def templates(self) -> Templates:
        """The custom templates of the page and the PDF; where empty, these are made with evalpipe's own."""
        from evalpipe.card.custom_templates import templates_in_results

        return templates_in_results(self.results) if self.custom_templates is None else self.custom_templates

    def drawn(self, figures: Figures) -> list[tuple[int, Drawing]]:
        """Return (number in the card, drawing) of the figures of a block, which are drawn on the first call alone.

        Every format calls in the order of the page, so the first format numbers the figures for all.
        """
        # The block is kept with its drawings, as its id may be that of another object once it is deleted.
        numbered = self._drawn.get(id(figures))
        if numbered is None:
            numbered = figures, [(next(self._numbers), drawing) for drawing in figures.draw()]
            self._drawn[id(figures)] = numbered
        return numbered[1]

    def figures_drawn(self) -> list[tuple[int, Drawing]]:
        """Return (number in the card, drawing) of all figures drawn so far, by number."""
        drawn = [pair for _, numbered in self._drawn.values() for pair in numbered]
        return sorted(drawn, key=lambda pair: pair[0])

    def addresses(self, drawing: Drawing) -> list[str]:
        """Return the addresses of a figure's images, one for each of its sheets."""
        return [f"{FIGURE_SCHEME}{drawing.key}/{sheet_index}" for sheet_index in range(len(drawing.images))]

    def formula(self, key: str, svg: str) -> str:
        """Keep the SVG of a formula as an image, and return the address of the image."""
        address = f"{FORMULA_SCHEME}{key}"
        self._formulas[address] = svg
        return address

    def images(self) -> dict[str, str]:
        """Return the SVG of all figures and formulas of the pages written so far, for WeasyPrint, by address."""
        drawings = [drawing for _, numbered in self._drawn.values() for _, drawing in numbered]
        return {address: image for drawing in drawings
                for address, image in zip(self.addresses(drawing), drawing.images, strict=True)} | self._formulas
