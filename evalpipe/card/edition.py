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
    given: Templates | None = None
    """Templates in place of those that the results hold."""
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
        """The templates of others that the page and the PDF are made with; without any, evalpipe's own are."""
        from evalpipe.card.custom_templates import held_templates

        return held_templates(self.results) if self.given is None else self.given

    def drawn(self, figures: Figures) -> list[tuple[int, Drawing]]:
        """Return the figures of a block with their numbers in the card; those of the same block are drawn once.

        Formats ask in the order of the page, so the first one numbers the figures for all.
        """
        # The block is kept beside its drawings: its identity is its own only as long as it lives.
        known = self._drawn.get(id(figures))
        if known is None:
            known = figures, [(next(self._numbers), drawing) for drawing in figures.draw()]
            self._drawn[id(figures)] = known
        return known[1]

    def addresses(self, drawing: Drawing) -> list[str]:
        """Return the addresses of a figure's images, one for each of its sheets."""
        return [f"{FIGURE_SCHEME}{drawing.key}/{place}" for place in range(len(drawing.images))]

    def formula(self, key: str, svg: str) -> str:
        """Keep a formula as an image of its own and return its address."""
        address = f"{FORMULA_SCHEME}{key}"
        self._formulas[address] = svg
        return address

    def images(self) -> dict[str, str]:
        """Return the figures and formulas of the pages written so far as images for WeasyPrint, by address."""
        from evalpipe.card.figures.svg import placed_by_the_left

        drawings = [drawing for _, numbered in self._drawn.values() for _, drawing in numbered]
        return {address: placed_by_the_left(image) for drawing in drawings
                for address, image in zip(self.addresses(drawing), drawing.images, strict=True)} | self._formulas
