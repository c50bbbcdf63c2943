"""What a page of a card says: its words and numbers, each with the place on the page where it stands."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from evalpipe.card.sign_off import HASH
from evalpipe.card.summary import EVIDENCE
from evalpipe.words.numbers import MINUS

HEADINGS = ("h1", "h2", "h3")


class TextOnPage(NamedTuple):
    """Words or a number of a page, under which heading and in which row and column they stand."""

    heading: str
    row: str
    column: str
    text: str

    @property
    def place(self) -> str:
        """Heading, row and column in words, those that have a name: "Results on evaluation, ROC AUC, Random forest"."""
        return ", ".join(filter(None, (self.heading, self.row, self.column))) or "the head of the page"


class ShownNumber(NamedTuple):
    """A number of a page: as it is shown, and its exact digits."""

    where: TextOnPage
    exact: str

    @property
    def is_rounded(self) -> bool:
        """Whether the text is the exact value rounded; true of a text that is no plain number."""
        shown = self.where.text.replace(",", "").replace(MINUS, "-")
        if not re.fullmatch(r"-?\d+(\.\d+)?", shown):
            return True
        half_a_unit = 0.5 * 10.0 ** -len(shown.partition(".")[2])
        return abs(float(shown) - float(self.exact.replace(MINUS, "-"))) <= half_a_unit * (1 + 1e-6)


class _WordGatherer(HTMLParser):
    """Gathers the words of a page and what its attributes say; drawings count by their words alone."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[TextOnPage] = []
        self.numbers: list[ShownNumber] = []
        self.evidence: str | None = None
        self.signatures: str | None = None
        self._heading = self._row = self._column = self._tag = self._style = ""
        self._exact: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the words that follow stand, and keep those in the attributes of the tag."""
        attributes = dict(attrs)
        self._remember_place(tag, attributes)
        if tag == "data":
            self._exact = attributes.get("value")
        self._style = attributes.get("class") or ""
        if self._style == EVIDENCE and self.evidence is None:
            self.evidence = attributes.get("title")
        for name in ("title", "alt", "aria-label", "data-label", "content", "value"):
            self._keep(attributes.get(name) or "")

    def _remember_place(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Remember the heading, row and column of the words that follow this tag."""
        if tag in ("style", "script"):
            self._tag = tag
        elif tag in HEADINGS:
            self._heading, self._row, self._column, self._tag = "", "", "", "heading"
        elif tag == "tr":
            self._row = self._column = ""
        elif tag == "th" and attributes.get("scope") == "row":
            self._tag = "row"
        elif tag == "td":
            self._column = attributes.get("data-label") or ""
        elif tag in ("table", "p"):
            self._row = self._column = ""

    def handle_endtag(self, tag: str) -> None:
        self._style = ""
        if tag in ("style", "script", "th", *HEADINGS):
            self._tag = ""
        elif tag == "data":
            self._exact = None

    def handle_data(self, data: str) -> None:
        """Keep a text; also as a number, a heading, the name of a row or a hash, by the tag that it is in."""
        text = " ".join(data.split())
        if not text or self._tag in ("style", "script"):
            return
        if self._tag == "heading":
            self._heading = f"{self._heading} {text}".strip()
        elif self._tag == "row":
            self._row = self._row or text  # what follows it is its definition
        if self._style == HASH:
            self.signatures = text
        self._keep(text)
        if self._exact is not None:
            self.numbers.append(ShownNumber(self.texts[-1], self._exact))

    def _keep(self, text: str) -> None:
        if text:
            self.texts.append(TextOnPage(self._heading, self._row, self._column, text))


class PageText(NamedTuple):
    """What a page says in order, the numbers in it, and the sha256 of the evidence and the signatures that it names."""

    texts: list[TextOnPage]
    numbers: list[ShownNumber]
    evidence: str | None
    signatures: str | None


def page_text(html: str) -> PageText:
    """Parse a card's HTML: its words, its numbers, and the hashes of evidence and signatures that it shows."""
    reader = _WordGatherer()
    reader.feed(html)
    reader.close()
    return PageText(reader.texts, reader.numbers, reader.evidence, reader.signatures)
