"""Checks of a page that custom templates made: it shows all evidence, and it loads and runs nothing.

What evalpipe writes on its own page stands on such a page too, and visibly.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.templating.files import PAGE, STYLES, in_file_order, problem_at
from evalpipe.templating.styles import HIDING, SIZES, hiding_problems, loads_resource, style_problems, styled_names
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

TITLES = frozenset({"h1", "nav", "script", "style"})
"""What in these parts is not evidence: a template may have another title, and other ways about the page."""

WORDS_SHOWN = 8
"""The words that a message shows of those that are missing."""

Tag = tuple[str, tuple[tuple[str, str], ...]]
Path = tuple[Tag, ...]


@dataclass(slots=True)
class PageWords:
    """The words of a page, each with the elements around it that could hide it, and the names of its elements.

    ``evidence`` are the words that no template may leave out, ``names`` the classes and ids of all elements,
    ``box_names`` those of elements that are no pictures.
    ``unbalanced`` is the first tag that does not end the element that is open.
    """

    words: list[tuple[str, Path]] = field(default_factory=list)
    evidence: list[tuple[str, Path]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    box_names: set[str] = field(default_factory=set)
    unbalanced: str | None = None


def read_words(page: str, styled: Collection[str]) -> PageWords:
    """Read the words of a page; elements with a class or id in ``styled`` count as able to hide their words."""
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
        self._after_wbr = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element and collect its class and id; if it could hide words, it joins their path."""
        values = tuple(sorted((name, value or "") for name, value in attrs))
        names = {word for name, value in values if name in ("class", "id") for word in value.split()}
        self.page.names |= names
        if tag not in ("svg", "img"):
            self.page.box_names |= names
        self._after_wbr = tag == "wbr"
        if tag in VOID_ELEMENTS:
            return
        hides_nothing = (tag in PLAIN_ELEMENTS and PLAIN_ATTRIBUTES.issuperset(dict(values))
                         and names.isdisjoint(self._styled))
        _, path, is_evidence = self._open[-1]
        self._open.append((tag, path if hides_nothing else (*path, (tag, values)),
                           (is_evidence or tag in EVIDENCE_PARTS) and tag not in TITLES))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element and all within it; ``unbalanced`` is the first tag that closes another element."""
        self._after_wbr = False
        if tag in VOID_ELEMENTS:
            return
        if self._open[-1][0] != tag:
            self.page.unbalanced = self.page.unbalanced or tag
        if any(name == tag for name, _, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Keep the words; parts of a word on both sides of a ``<wbr>`` are joined."""
        words, (_, path, is_evidence) = data.split(), self._open[-1]
        if self._after_wbr and words and not data[0].isspace() and self.page.words:
            first = words.pop(0)
            for word_list in (self.page.words, *([self.page.evidence] if is_evidence else [])):
                word_list[-1] = (word_list[-1][0] + first, path)
        self._after_wbr = False
        self.page.words += [(word, path) for word in words]
        if is_evidence:
            self.page.evidence += [(word, path) for word in words]


def check_evidence(templates: Templates, page: str, plain_page: str, card_names: Collection[str]) -> None:
    """Raise UsageError where a page of custom templates hides words of ``plain_page``, evalpipe's own page.

    Every word of the evidence must stand on the page, in its order, within no element that could hide it.
    ``card_names`` are the classes and ids that evalpipe's sheets style.
    """
    problems = in_file_order(templates, _evidence_problems(templates, page, plain_page, card_names))
    if problems:
        raise UsageError(*problems)


def _evidence_problems(
    templates: Templates, page: str, plain_page: str, card_names: Collection[str]
) -> Iterator[Problem]:
    """Yield problems where a theme could hide evidence, tags are unbalanced, or words of the evidence are missing."""
    theme = templates.texts.get(STYLES, "")
    card_names = {*card_names, *read_words(plain_page, ()).names}
    for line, message, hint in hiding_problems(theme, card_names):
        yield problem_at(templates, STYLES, line, message, hint)
    styled = {*card_names, *styled_names(theme, HIDING)}
    on_page = read_words(page, styled)
    name = PAGE if PAGE in templates.texts else next(iter(templates.texts))
    for sized_name in sorted(styled_names(theme, SIZES) & on_page.box_names):
        message = f"an element {quoted(sized_name)} that is no picture has a height in {STYLES}"
        hint = "leave the height out: what does not fit would be printed over evidence"
        yield problem_at(templates, name, None, message, hint)
    if on_page.unbalanced is not None:
        message = f"</{on_page.unbalanced}> ends another element than the one that is open"
        yield problem_at(templates, name, None, message, "close elements in their order")
    missing = first_missing(read_words(plain_page, styled).evidence, on_page.words)
    if missing is not None:
        message = f"the page lacks or hides what evalpipe writes: {quoted(missing)}"
        yield problem_at(templates, name, None, message, KEEP)


KEEP = "keep {{ super() }} in each block, outside of elements that could hide it; docs/theming.md says which these are"


def first_missing(evidence: list[tuple[str, Path]], shown: list[tuple[str, Path]]) -> str | None:
    """Return the first words of the evidence that are not shown, in their order, on a page; None where all are."""
    index = 0
    for start, (word, path) in enumerate(evidence):
        while index < len(shown):
            shown_word, around = shown[index]
            remaining = iter(path)  # the elements around a word are some of evalpipe's own, in their order
            if shown_word == word and (around == path or all(tag in remaining for tag in around)):
                break
            index += 1
        if index == len(shown):
            return " ".join(word for word, _ in evidence[start : start + WORDS_SHOWN])
        index += 1
    return None


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
    """What a page may contain: its own styles and scripts, and its policy.

    ``required`` are (markup, its description, how a template keeps it) that it must contain.
    On paper, without a policy, figures and formulas are at addresses that begin with one of ``schemes``, and elements
    have styles ``inline``, as in a picture.
    """

    styles: frozenset[str]
    scripts: frozenset[str]
    policy: str | None
    required: tuple[tuple[str, str, str], ...] = ()
    schemes: tuple[str, ...] = ()
    inline: bool = False


def has_pictures(templates: Templates) -> bool:
    """Tell whether templates contain pictures as ``data:`` addresses."""
    return any("data:image/" in text for text in templates.pages.values())


def check_page(templates: Templates, page: str, allowed: Allowed) -> None:
    """Raise UsageError with everything in a page that loads or runs something, or replaces its policy."""
    reader = _read_page(page, allowed)
    if allowed.policy is not None and not reader.policies:
        reader.faults.append(("", "the page has no content security policy",
                              f'begin it with {{% extends "evalpipe/{PAGE}" %}}'))
    reader.faults += [("", f"the page lacks {what}", f"keep it: {how}")
                      for markup, what, how in allowed.required if markup not in page]
    problems = in_file_order(templates, _problems_of_page(templates, dict.fromkeys(reader.faults)))
    if problems:
        raise UsageError(*problems)


def _problems_of_page(templates: Templates, faults: dict[tuple[str, str, str], None]) -> Iterator[Problem]:
    """Yield a problem for each fault, (tag, message, hint), at the first line of a template that has the tag."""
    for tag, message, hint in faults:
        start = re.match(r"<[^\s>]+", tag)
        name, line = _first_line_of(templates, tag) or (start and _first_line_of(templates, start[0])) or (PAGE, None)
        file = name if name in templates.texts else next(iter(templates.texts))
        yield problem_at(templates, file, line, message, hint)


def _first_line_of(templates: Templates, text: str) -> tuple[str, int] | None:
    """Return the name of the first template that contains a text, and the line; None where none does."""
    for name, template in templates.pages.items():
        index = template.lower().find(text.lower()) if text else -1
        if index >= 0:
            return name, template[:index].count("\n") + 1
    return None


def _read_page(page: str, allowed: Allowed) -> _PageReader:
    reader = _PageReader(allowed)
    reader.feed(page)
    reader.close()
    return reader


class _PageReader(HTMLParser):
    """Reads a page and collects its faults: (tag, message, hint)."""

    def __init__(self, allowed: Allowed) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = allowed
        self.faults: list[tuple[str, str, str]] = []
        self.policies = 0
        self._in_head = True
        self._element = ""
        self._text: list[str] = []

    def fault(self, message: str, hint: str) -> None:
        """Add a fault at the tag that is being read."""
        self.faults.append((self.get_starttag_text() or "", message, hint))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add the faults of a tag and its attributes, and begin to keep the text of a script or style."""
        values = {name: value or "" for name, value in attrs}
        if tag in REFUSED:
            self.fault(f"the element <{tag}> is refused", LOADS_NOTHING)
        if tag == "meta" and "http-equiv" in values:
            self.check_meta(values)
        self._in_head = self._in_head and tag in HEAD
        if tag == "img" and "alt" not in values:
            self.fault("a picture needs its words", 'add alt="…": what it shows, or nothing between the quotes')
        for name, value in attrs if tag not in REFUSED else ():  # all of them: a browser takes the first of a name
            self.check_attribute(tag, name, value or "")
        if tag in ("script", "style"):
            self._element = "data" if tag == "script" and values.get("type") == "application/json" else tag
            self._text = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def check_meta(self, values: dict[str, str]) -> None:
        """Add a fault for a ``<meta http-equiv>`` that is not the page's policy, once, at the beginning of the head."""
        is_policy = values["http-equiv"].lower() == "content-security-policy"
        is_own_policy = is_policy and values.get("content") == self.allowed.policy
        if not is_own_policy or not self._in_head or self.policies:
            self.fault("<meta http-equiv> is refused but for the policy of the page, once, at its head", "remove it")
        self.policies += is_own_policy and self._in_head

    def check_attribute(self, tag: str, name: str, value: str) -> None:
        """Add a fault for an attribute that runs code, styles or loads something."""
        if name.startswith("on"):
            self.fault(f"the attribute {quoted(name)} is refused: it runs code", "remove it")
        elif name == "style" and not self.allowed.inline:
            self.fault("the attribute 'style' is refused by the policy of the page",
                       "give it a class, and its style in theme.css")
        elif name in STYLED or name == "style":
            if loads_resource(value):
                self.fault(f"the attribute {quoted(name)} loads something", LOADS_NOTHING)
        elif name in ADDRESSES and not self.stays_in_page(tag, name, value.strip()):
            hint = LINKS if tag in LINKING else LOADS_NOTHING
            self.fault(f"the address {quoted(value[:60])} is refused in '{name}' of <{tag}>", hint)

    def stays_in_page(self, tag: str, name: str, value: str) -> bool:
        """Tell whether an address loads nothing: a link, a part of the page, or an embedded picture."""
        if tag in LINKING and name == "href":
            return LINK.match(value) is not None
        if tag == "img" and name == "src" and PICTURE.fullmatch(value):
            return not self.loads_as_picture(value)
        return value.startswith(("#", *self.allowed.schemes)) and name in ("href", "xlink:href", "src", "usemap")

    def handle_comment(self, data: str) -> None:
        """Add a fault for a comment: browsers end it in other places than this reader."""
        self.faults.append((f"<!--{data}", "comments of HTML are refused", "write {# … #}, which no page shows"))

    def parse_html_declaration(self, i: int) -> int:
        """Add a fault for ``<![``, a comment to browsers, which versions of Python read differently."""
        text, end, _ = self.rawdata[i:].partition(">")
        if not text.startswith("<!["):
            return super().parse_html_declaration(i)
        self.faults.append((text, "'<![' is refused", "remove it"))
        return i + len(text + end)

    def handle_pi(self, data: str) -> None:
        """Add a fault for a processing instruction, which browsers take for a comment."""
        self.faults.append((f"<?{data}", "'<?' is refused", "remove it"))

    def loads_as_picture(self, value: str) -> bool:
        """Tell whether a picture in SVG, as ``data:`` address, would load or run something itself."""
        head, _, content = value.partition(",")
        if "svg" not in head:
            return False
        try:
            picture = b64decode(content).decode(errors="replace")
        except ValueError:
            return True
        return bool(_read_page(picture, Allowed(frozenset(), frozenset(), None, inline=True)).faults)

    def handle_data(self, data: str) -> None:
        """Keep the text of a script or style; any other text but a title ends the head."""
        if self._element:
            self._text.append(data)
        elif data.strip() and self.lasttag != "title":
            self._in_head = False

    def handle_endtag(self, tag: str) -> None:
        """At the end of a script or style, add a fault where it is not evalpipe's and not allowed."""
        if tag not in ("script", "style"):
            return
        text, name = "".join(self._text), self._element
        self._element = ""
        own_texts = self.allowed.scripts if name == "script" else self.allowed.styles
        is_refused = name != "style" or not self.allowed.inline or any(style_problems(text))
        if name in ("script", "style") and text not in own_texts and is_refused:
            hint = "a card runs evalpipe's own scripts alone" if name == "script" else "put the styles into theme.css"
            self.fault(f"a <{name}> of a template is refused by the policy of the page", hint)
