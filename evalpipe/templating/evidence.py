"""Evidence stays in sight: what evalpipe writes on its page stands on that of other templates too, and visibly."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.templating.files import PAGE, STYLES, named, placed
from evalpipe.templating.styles import HIDING, SIZES, hiding_problems, styled_names
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalpipe.errors import Problem
    from evalpipe.templating.files import Templates

VOID_ELEMENTS = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements without content, which no tag ends."""

PLAIN_ELEMENTS = frozenset({
    "html", "body", "main", "header", "footer", "section", "article", "aside", "nav", "div", "p", "span", "h1", "h2",
    "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr",
    "th", "td", "figure", "figcaption", "blockquote", "pre", "code", "b", "strong", "i", "em", "cite", "a",
})
"""Elements that show what stands in them."""

PLAIN_ATTRIBUTES = frozenset({"class", "id", "lang", "title", "href", "colspan", "rowspan", "scope"})
"""Attributes that hide nothing."""

EVIDENCE_PARTS = frozenset({"header", "main"})
"""The parts of evalpipe's page whose words no template may leave out."""

TITLES = frozenset({"h1", "script", "style"})
"""What in these parts is not evidence: a template may have another title."""

WORDS_SHOWN = 8
"""The words that a message shows of those that are missing."""

Tag = tuple[str, tuple[tuple[str, str], ...]]
Path = tuple[Tag, ...]


@dataclass(slots=True)
class PageWords:
    """What a page says: its words with the elements around them that could hide them, and what its elements are called.

    ``names`` are the classes and ids of all elements, ``box_names`` those of elements that are no pictures.
    ``unbalanced`` is the first tag that does not end the element that is open.
    """

    words: list[tuple[str, Path]] = field(default_factory=list)
    evidence: list[tuple[str, Path]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    box_names: set[str] = field(default_factory=set)
    unbalanced: str | None = None


def read_words(page: str, styled: Collection[str]) -> PageWords:
    """Read the words of a page; elements with one of the classes or ids ``styled`` could hide what stands in them."""
    reader = _WordReader(styled)
    reader.feed(page)
    reader.close()
    return reader.page


class _WordReader(HTMLParser):
    """Reads a page and keeps the elements that are open: each with its path and whether its words are evidence."""

    def __init__(self, styled: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.page = PageWords()
        self._styled = frozenset(styled)
        self._open: list[tuple[str, Path, bool]] = [("", (), False)]
        self._joins = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = tuple(sorted((name, value or "") for name, value in attrs))
        names = {word for name, value in values if name in ("class", "id") for word in value.split()}
        self.page.names |= names
        if tag not in ("svg", "img"):
            self.page.box_names |= names
        self._joins = tag == "wbr"
        if tag in VOID_ELEMENTS:
            return
        plain = tag in PLAIN_ELEMENTS and PLAIN_ATTRIBUTES.issuperset(dict(values)) and names.isdisjoint(self._styled)
        _, path, evidence = self._open[-1]
        self._open.append((tag, path if plain else (*path, (tag, values)),
                           (evidence or tag in EVIDENCE_PARTS) and tag not in TITLES))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._joins = False
        if tag in VOID_ELEMENTS:
            return
        if self._open[-1][0] != tag:
            self.page.unbalanced = self.page.unbalanced or tag
        if any(name == tag for name, _, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Keep the words; one that a ``<wbr>`` parts is one word."""
        words, (_, path, evidence) = data.split(), self._open[-1]
        if self._joins and words and not data[0].isspace() and self.page.words:
            first = words.pop(0)
            for kept in (self.page.words, *([self.page.evidence] if evidence else [])):
                kept[-1] = (kept[-1][0] + first, path)
        self._joins = False
        self.page.words += [(word, path) for word in words]
        if evidence:
            self.page.evidence += [(word, path) for word in words]


def check_evidence(templates: Templates, page: str, plain_page: str, card_names: Collection[str]) -> None:
    """Raise UsageError where a page of templates, or its theme, hides what ``plain_page``, evalpipe's own, says.

    Every word of the evidence must stand on the page, in its order, within no element that could hide it.
    ``card_names`` are the classes and ids that evalpipe's sheets style.
    """
    problems = named(templates, _problems(templates, page, plain_page, card_names))
    if problems:
        raise UsageError(*problems)


def _problems(templates: Templates, page: str, plain_page: str, card_names: Collection[str]) -> Iterator[Problem]:
    theme = templates.texts.get(STYLES, "")
    card_names = {*card_names, *read_words(plain_page, ()).names}
    for line, message, hint in hiding_problems(theme, card_names):
        yield placed(templates, STYLES, line, message, hint)
    styled = {*card_names, *styled_names(theme, HIDING)}
    shown = read_words(page, styled)
    name = PAGE if PAGE in templates.texts else next(iter(templates.texts))
    for sized in sorted(styled_names(theme, SIZES) & shown.box_names):
        yield placed(templates, name, None, f"an element {quoted(sized)} that is no picture has a height in {STYLES}",
                     "leave the height out: what does not fit would be printed over evidence")
    if shown.unbalanced is not None:
        yield placed(templates, name, None, f"</{shown.unbalanced}> ends another element than the one that is open",
                     "close elements in their order")
    missing = first_missing(read_words(plain_page, styled).evidence, shown.words)
    if missing is not None:
        yield placed(templates, name, None, f"the page lacks or hides what evalpipe writes: {quoted(missing)}", KEEP)


KEEP = "keep {{ super() }} in each block, outside of elements that could hide it; docs/theming.md says which these are"


def first_missing(evidence: list[tuple[str, Path]], shown: list[tuple[str, Path]]) -> str | None:
    """Return the first words of the evidence that a page does not show in their order; None where it shows all."""
    place = 0
    for at, (word, path) in enumerate(evidence):
        while place < len(shown) and not (shown[place][0] == word and _within(shown[place][1], path)):
            place += 1
        if place == len(shown):
            return " ".join(word for word, _ in evidence[at : at + WORDS_SHOWN])
        place += 1
    return None


def _within(path: Path, allowed: Path) -> bool:
    """Tell whether nothing stands around a word that could hide it but what evalpipe itself puts there, in order."""
    if path == allowed:
        return True
    rest = iter(allowed)
    return all(tag in rest for tag in path)
