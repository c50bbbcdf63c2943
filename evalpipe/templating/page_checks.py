"""The finished page of templates that others write: evidence stays in sight, and it loads and runs nothing.

What evalpipe writes on its own page stands on theirs too, and visibly.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.templating.files import PAGE, STYLES, in_file_order, problem_at
from evalpipe.templating.styles import HIDING, SIZES, hiding_problems, loads, style_problems, styled_names
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
    problems = in_file_order(templates, _evidence_problems(templates, page, plain_page, card_names))
    if problems:
        raise UsageError(*problems)


def _evidence_problems(
    templates: Templates, page: str, plain_page: str, card_names: Collection[str]
) -> Iterator[Problem]:
    theme = templates.texts.get(STYLES, "")
    card_names = {*card_names, *read_words(plain_page, ()).names}
    for line, message, hint in hiding_problems(theme, card_names):
        yield problem_at(templates, STYLES, line, message, hint)
    styled = {*card_names, *styled_names(theme, HIDING)}
    shown = read_words(page, styled)
    name = PAGE if PAGE in templates.texts else next(iter(templates.texts))
    for sized in sorted(styled_names(theme, SIZES) & shown.box_names):
        message = f"an element {quoted(sized)} that is no picture has a height in {STYLES}"
        hint = "leave the height out: what does not fit would be printed over evidence"
        yield problem_at(templates, name, None, message, hint)
    if shown.unbalanced is not None:
        yield problem_at(templates, name, None, f"</{shown.unbalanced}> ends another element than the one that is open",
                         "close elements in their order")
    missing = first_missing(read_words(plain_page, styled).evidence, shown.words)
    if missing is not None:
        message = f"the page lacks or hides what evalpipe writes: {quoted(missing)}"
        yield problem_at(templates, name, None, message, KEEP)


KEEP = "keep {{ super() }} in each block, outside of elements that could hide it; docs/theming.md says which these are"


def first_missing(evidence: list[tuple[str, Path]], shown: list[tuple[str, Path]]) -> str | None:
    """Return the first words of the evidence that a page does not show in their order; None where it shows all."""
    place = 0
    for at, (word, path) in enumerate(evidence):
        while place < len(shown) and not (shown[place][0] == word and _hidden_by_nothing_else(shown[place][1], path)):
            place += 1
        if place == len(shown):
            return " ".join(word for word, _ in evidence[at : at + WORDS_SHOWN])
        place += 1
    return None


def _hidden_by_nothing_else(path: Path, allowed: Path) -> bool:
    """Tell whether the elements around a word are, in order, among those that evalpipe puts around it."""
    if path == allowed:
        return True
    rest = iter(allowed)
    return all(tag in rest for tag in path)


REFUSED = frozenset({
    "animate", "animatemotion", "animatetransform", "applet", "audio", "base", "embed", "fencedframe", "form", "frame",
    "frameset", "iframe", "link", "object", "portal", "set", "source", "track", "video",
})
"""Elements that load, send or change addresses."""

ADDRESSES = frozenset({
    "action", "archive", "attributionsrc", "background", "classid", "codebase", "data", "dynsrc", "formaction", "href",
    "imagesrcset", "longdesc", "lowsrc", "manifest", "ping", "poster", "profile", "src", "srcdoc", "srcset", "usemap",
    "xlink:href",
})
"""Attributes that hold an address."""

STYLED = frozenset({
    "clip-path", "cursor", "fill", "filter", "marker", "marker-end", "marker-mid", "marker-start", "mask", "stroke",
})
"""Attributes of SVG whose values are CSS."""

LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]*")
HEAD = frozenset({"html", "head", "meta", "title"})
"""What may stand before the policy."""

LINKING = ("a", "area")
LINKS = "a link goes to #…, https:, http: or mailto:"
LOADS_NOTHING = "a card loads nothing; a picture may stand in the page itself, as data:image/png;base64,…"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a page may hold: its own styles and scripts, and its policy.

    ``kept`` are markup that it must hold, each with what that is and how a template writes it.
    On paper, without a policy, figures and formulas are at addresses that begin with one of ``schemes``, and elements
    have styles ``inline``, as in a picture.
    """

    styles: frozenset[str]
    scripts: frozenset[str]
    policy: str | None
    kept: tuple[tuple[str, str, str], ...] = ()
    schemes: tuple[str, ...] = ()
    inline: bool = False


def has_pictures(templates: Templates) -> bool:
    """Tell whether templates have pictures that stand in the page itself."""
    return any("data:image/" in text for text in templates.pages.values())


def check_page(templates: Templates, page: str, allowed: Allowed) -> None:
    """Raise UsageError with everything in the page that a browser would load or run, or that takes its policy away."""
    reader = _read_page(page, allowed)
    if allowed.policy is not None and not reader.policies:
        reader.faults.append(("", "the page has no content security policy",
                              f'begin it with {{% extends "evalpipe/{PAGE}" %}}'))
    reader.faults += [("", f"the page lacks {what}", f"keep it: {how}")
                      for markup, what, how in allowed.kept if markup not in page]
    problems = in_file_order(templates, _problems_of_page(templates, dict.fromkeys(reader.faults)))
    if problems:
        raise UsageError(*problems)


def _problems_of_page(templates: Templates, faults: dict[tuple[str, str, str], None]) -> Iterator[Problem]:
    """Yield the problems of a page, each at the line of the template that has the tag, as far as it can be found."""
    for tag, message, hint in faults:
        start = re.match(r"<[^\s>]+", tag)
        name, line = _first_place_of(templates, tag) or (start and _first_place_of(templates, start[0])) or (PAGE, None)
        file = name if name in templates.texts else next(iter(templates.texts))
        yield problem_at(templates, file, line, message, hint)


def _first_place_of(templates: Templates, text: str) -> tuple[str, int] | None:
    """Return the template that first has a text, and the line."""
    for name, template in templates.pages.items():
        at = template.lower().find(text.lower()) if text else -1
        if at >= 0:
            return name, template[:at].count("\n") + 1
    return None


def _read_page(page: str, allowed: Allowed) -> _PageReader:
    reader = _PageReader(allowed)
    reader.feed(page)
    reader.close()
    return reader


class _PageReader(HTMLParser):
    """Reads a page and keeps its faults: the tag, what is wrong, the way out."""

    def __init__(self, allowed: Allowed) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = allowed
        self.faults: list[tuple[str, str, str]] = []
        self.policies = 0
        self._in_head = True
        self._element = ""
        self._text: list[str] = []

    def fault(self, message: str, hint: str) -> None:
        self.faults.append((self.get_starttag_text() or "", message, hint))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in REFUSED:
            self.fault(f"the element <{tag}> is refused", LOADS_NOTHING)
        if tag == "meta" and "http-equiv" in values:
            self.meta(values)
        self._in_head = self._in_head and tag in HEAD
        if tag == "img" and "alt" not in values:
            self.fault("a picture needs its words", 'add alt="…": what it shows, or nothing between the quotes')
        for name, value in attrs if tag not in REFUSED else ():  # all of them: a browser takes the first of a name
            self.attribute(tag, name, value or "")
        if tag in ("script", "style"):
            self._element = "data" if tag == "script" and values.get("type") == "application/json" else tag
            self._text = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def meta(self, values: dict[str, str]) -> None:
        """Let the policy of the page through where a browser heeds it: once, in the head, before all else."""
        policy = values["http-equiv"].lower() == "content-security-policy"
        ours = policy and values.get("content") == self.allowed.policy
        if not ours or not self._in_head or self.policies:
            self.fault("<meta http-equiv> is refused but for the policy of the page, once, at its head", "remove it")
        self.policies += ours and self._in_head

    def attribute(self, tag: str, name: str, value: str) -> None:
        """Check one attribute."""
        if name.startswith("on"):
            self.fault(f"the attribute {quoted(name)} is refused: it runs code", "remove it")
        elif name == "style" and not self.allowed.inline:
            self.fault("the attribute 'style' is refused by the policy of the page",
                       "give it a class, and its style in theme.css")
        elif name in STYLED or name == "style":
            if loads(value):
                self.fault(f"the attribute {quoted(name)} loads something", LOADS_NOTHING)
        elif name in ADDRESSES and not self.stays_in_page(tag, name, value.strip()):
            hint = LINKS if tag in LINKING else LOADS_NOTHING
            self.fault(f"the address {quoted(value[:60])} is refused in '{name}' of <{tag}>", hint)

    def stays_in_page(self, tag: str, name: str, value: str) -> bool:
        """Tell whether an address is followed only when a reader asks for it, or stays in the page."""
        if tag in LINKING and name == "href":
            return LINK.match(value) is not None
        if tag == "img" and name == "src" and PICTURE.fullmatch(value):
            return not self.loads_as_picture(value)
        return value.startswith(("#", *self.allowed.schemes)) and name in ("href", "xlink:href", "src", "usemap")

    def handle_comment(self, data: str) -> None:
        """Refuse what browsers end in other places than this reader does."""
        self.faults.append((f"<!--{data}", "comments of HTML are refused", "write {# … #}, which no page shows"))

    def parse_html_declaration(self, i: int) -> int:
        """Refuse ``<![``, which browsers take for a comment, and versions of Python for one thing or another."""
        text, end, _ = self.rawdata[i:].partition(">")
        if not text.startswith("<!["):
            return super().parse_html_declaration(i)
        self.faults.append((text, "'<![' is refused", "remove it"))
        return i + len(text + end)

    def handle_pi(self, data: str) -> None:
        """Refuse instructions to programs, which browsers take for comments."""
        self.faults.append((f"<?{data}", "'<?' is refused", "remove it"))

    def loads_as_picture(self, value: str) -> bool:
        """Tell whether a picture in SVG would itself load something, or run it."""
        head, _, content = value.partition(",")
        if "svg" not in head:
            return False
        try:
            picture = b64decode(content).decode(errors="replace")
        except ValueError:
            return True
        return bool(_read_page(picture, Allowed(frozenset(), frozenset(), None, inline=True)).faults)

    def handle_data(self, data: str) -> None:
        if self._element:
            self._text.append(data)
        elif data.strip() and self.lasttag != "title":
            self._in_head = False

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("script", "style"):
            return
        text, within = "".join(self._text), self._element
        self._element = ""
        known = self.allowed.scripts if within == "script" else self.allowed.styles
        loading = within != "style" or not self.allowed.inline or any(style_problems(text))
        if within in ("script", "style") and text not in known and loading:
            hint = "a card runs evalpipe's own scripts alone" if within == "script" else "put the styles into theme.css"
            self.fault(f"a <{within}> of a template is refused by the policy of the page", hint)
