"""Style sheets that others write for the card: valid, loading nothing, and hiding nothing that evalpipe writes."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

LOADING = frozenset({
    "url", "src", "image", "image-set", "-webkit-image-set", "cross-fade", "-webkit-cross-fade", "element", "paint",
})
"""Functions of CSS whose values may be fetched."""

LOADING_RULES = frozenset({"import", "font-face", "namespace", "charset", "document"})

CONDITIONAL_RULES = frozenset({"media", "supports"})
"""Rules that hold others, which are checked as if they always held."""

SPACING = frozenset({
    "margin", "margin-top", "margin-right", "margin-bottom", "margin-left", "padding", "padding-top", "padding-right",
    "padding-bottom", "padding-left", "border", "border-top", "border-right", "border-bottom", "border-left",
    "border-width", "border-top-width", "border-right-width", "border-bottom-width", "border-left-width",
    "border-radius", "gap", "row-gap", "column-gap",
})
"""Properties whose lengths are from 0 to LARGEST_SPACING."""

LETTER_SPACING = frozenset({"letter-spacing", "word-spacing"})
"""Properties whose lengths are from 0 to LARGEST_LETTER_SPACING."""

ANYWHERE = SPACING | LETTER_SPACING | {
    "font-family", "font-style", "font-weight", "font-variant", "text-align", "border-style", "border-color",
    "border-top-style", "border-right-style", "border-bottom-style", "border-left-style", "border-top-color",
    "border-right-color", "border-bottom-color", "border-left-color", "border-collapse", "list-style-type",
    "break-before", "break-after", "break-inside", "page-break-before", "page-break-after", "page-break-inside",
    "hyphens", "orphans", "widows",
}
"""Properties that a theme may set of any element, for they hide nothing."""

SIZES = frozenset({"height", "max-height"})
"""Properties that a theme may set of pictures that its templates add."""

HIDING = SIZES | {
    "color", "background", "background-color", "display", "font-size", "line-height", "text-transform",
    "text-decoration", "white-space", "vertical-align", "width", "min-width", "max-width", "align-items",
    "justify-content", "flex", "flex-direction", "flex-wrap", "fill", "stroke", "stroke-width", "opacity",
}
"""Properties that a theme may set of elements that its templates add, in which no evidence may stand."""

OF_PAPER = SPACING & {"margin", "margin-top", "margin-right", "margin-bottom", "margin-left"}
"""Properties of ``@page``."""

PAPER_BOXES = frozenset({"top-center", "bottom-center"})
"""The boxes in the margins of paper that evalpipe leaves empty."""

OF_PAPER_BOXES = frozenset({"content", "color", "font-family", "font-style", "font-weight", "text-align"})
"""Their properties."""

SHADES = frozenset({"var", "rgb", "rgba", "hsl", "hsla"})
"""Functions of CSS that give a colour; a theme sets no variable, so that those of evalpipe are colours too."""

PIXELS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "mm": 96 / 25.4,
          "cm": 96 / 2.54, "in": 96.0}
"""Pixels of a unit, of letters as large as those of the card."""

LARGEST_SPACING = 96.0
"""Pixels of a margin, a padding or a border: an inch. More would push what evalpipe writes off the page."""

LARGEST_LETTER_SPACING = 4.0
"""Pixels between letters and words beyond the usual."""

LEAST_LINE = 1.0
"""The least height of a line, in letters: lower ones would print text over other text."""

Fault = tuple[int | None, str, str]
"""The line, what is wrong, and the way out."""

NOTHING_LOADED = "a card loads nothing: draw it as SVG in the template, or leave it out"


def style_problems(text: str) -> Iterator[Fault]:
    """Yield what is wrong with a style sheet, in the order of its lines."""
    import tinycss2

    if "</" in text or "<!--" in text:
        line = text[: min(place for place in (text.find("</"), text.find("<!--")) if place >= 0)].count("\n") + 1
        yield line, "a style sheet holds no markup", "remove the tag"
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    yield from sorted(_loading_faults(rules), key=lambda fault: fault[0] or 0)


def hiding_problems(text: str, card_names: Collection[str]) -> Iterator[Fault]:
    """Yield what in a theme could hide, cover or push away what evalpipe writes.

    ``card_names`` are the classes and ids of evalpipe's elements. Elements without another class or id may have the
    properties ANYWHERE, the others those of HIDING too.
    """
    for rule in _style_rules(text):
        if rule.type == "qualified-rule":
            new = all(subject - {*card_names} for subject in _subjects(rule.prelude))
            yield from _problems_of(_declarations(rule), ANYWHERE | HIDING if new else ANYWHERE)
        elif rule.lower_at_keyword == "page" and rule.content is not None:
            for part in _declarations(rule):
                box = part.type == "at-rule" and part.lower_at_keyword in PAPER_BOXES
                yield from _problems_of(_declarations(part) if box else [part], OF_PAPER_BOXES if box else OF_PAPER)
        else:
            yield (rule.source_line, f"'@{rule.at_keyword}' is refused in a theme: it could hide what evalpipe writes",
                   "write plain rules, in '@media' and '@supports' too, or '@page' for the margins of paper")


def _problems_of(parts: Iterable[Any], allowed: Collection[str]) -> Iterator[Fault]:
    """Yield the declarations that are not of the properties ``allowed``, and whatever is no declaration."""
    for part in parts:
        if part.type != "declaration":
            yield part.source_line, "rules within rules are refused in a theme", "write each by itself"
        elif part.lower_name not in allowed:
            hint = NEW_ELEMENTS if part.lower_name in HIDING else ALLOWED
            yield part.source_line, f"{quoted(part.name)} could hide what evalpipe writes", hint
        elif not _hides_nothing(part.lower_name, part.value):
            yield part.source_line, f"this {quoted(part.name)} could hide what evalpipe writes", MODEST


NEW_ELEMENTS = "set it for elements that your templates add, by a class of their own, such as .house"
ALLOWED = "a theme sets fonts, margins, paddings, borders and breaks; `report.theme` sets the colour of the card"
MODEST = (f"lengths of margins, paddings and borders are from 0 to an inch, of spaces between letters to "
          f"{LARGEST_LETTER_SPACING:g} pixels, with a unit that is absolute or of letters; a line is at least "
          f"{LEAST_LINE:g} high")


def styled_names(text: str, properties: Collection[str]) -> frozenset[str]:
    """Return the classes and ids of elements of which a theme sets one of these properties."""
    return frozenset(
        name for rule in _style_rules(text) if rule.type == "qualified-rule"
        and any(part.type == "declaration" and part.lower_name in properties for part in _declarations(rule))
        for subject in _subjects(rule.prelude) for name in subject)


def selector_names(text: str) -> frozenset[str]:
    """Return all classes and ids that the selectors of a sheet name."""
    return frozenset(name for rule in _style_rules(text) if rule.type == "qualified-rule"
                     for compound in _compounds(rule.prelude) for name in compound)


def _style_rules(text: str) -> Iterator[Any]:
    """Yield the rules of a sheet, those within conditions too, and rules of other kinds as they are."""
    import tinycss2

    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    while rules:
        rule = rules.pop(0)
        if rule.type == "at-rule" and rule.lower_at_keyword in CONDITIONAL_RULES and rule.content is not None:
            rules = [*tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), *rules]
        elif rule.type in ("qualified-rule", "at-rule"):
            yield rule


def _declarations(rule: Any) -> list[Any]:
    import tinycss2

    parts: list[Any] = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
    return parts


def _subjects(prelude: Iterable[Any]) -> Iterator[frozenset[str]]:
    """Yield the classes and ids of the elements that each selector of a rule is for: those of its last compound."""
    for selector in _split_at(prelude, lambda node: node == ","):
        *_, last = _compounds(selector)
        yield last


def _compounds(selector: list[Any]) -> Iterator[frozenset[str]]:
    """Yield the classes and ids of each compound of a selector, such as ``.a`` and ``p.b`` in ``.a > p.b``.

    What stands in brackets, as in ``:not(.a)``, is left out.
    """
    for compound in _split_at(selector, lambda node: node.type == "whitespace" or node in (">", "+", "~", ",")):
        yield frozenset(node.value for before, node in zip([None, *compound], compound, strict=False)
                        if node.type == "hash" or (node.type == "ident" and before == "."))


def _split_at(nodes: Iterable[Any], ends: Callable[[Any], bool]) -> list[list[Any]]:
    """Return component values in the parts between those that end one; empty parts are left out."""
    parts: list[list[Any]] = [[]]
    for node in nodes:
        if ends(node):
            parts.append([])
        else:
            parts[-1].append(node)
    return [part for part in parts if part] or [[]]


def _hides_nothing(name: str, value: Iterable[Any]) -> bool:
    """Tell whether the lengths of a value push nothing off the page and print nothing over other text."""
    most = LARGEST_SPACING if name in SPACING else LARGEST_LETTER_SPACING if name in LETTER_SPACING else inf
    for node in value:
        if node.type not in ("number", "dimension"):
            relative = node.type == "percentage" or (node.type == "function" and node.lower_name not in SHADES)
            if most < inf and relative:
                return False
            continue
        unit = node.lower_unit if node.type == "dimension" else "px"
        if most < inf and unit not in PIXELS:
            return False
        if not 0 <= node.value * PIXELS.get(unit, 0.0) <= most:
            return False
        if name == "line-height" and (node.type != "number" or node.value < LEAST_LINE):
            return False
    return True


def loads(value: str) -> bool:
    """Tell whether the value of an attribute that is CSS names anything but a part of its own page."""
    import tinycss2

    return any(_fetched_address(node) not in (None, "#")
               for node in _with_nested(tinycss2.parse_component_value_list(value)))


def _loading_faults(rules: Iterable[Any]) -> Iterator[Fault]:
    """Yield rules and values that load something, and whatever is not valid CSS."""
    import tinycss2

    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in LOADING_RULES:
            yield rule.source_line, f"'@{rule.lower_at_keyword}' is refused in a style sheet of a card", NOTHING_LOADED
        parts = [*getattr(rule, "prelude", ()), *(getattr(rule, "content", None) or ())]
        for node in _with_nested([rule] if rule.type == "error" else parts):
            if node.type == "error":
                yield node.source_line, f"this is not valid CSS: {node.message.rstrip('.')}", "correct it"
            elif _fetched_address(node) is not None:
                yield node.source_line, "a style sheet may load nothing, whatever its address", NOTHING_LOADED
        if rule.type == "qualified-rule":
            for part in tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True):
                if part.type == "error":
                    yield part.source_line, "this is no declaration", "write it as 'property: value;'"


def _with_nested(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield all component values, those in blocks and functions too."""
    for node in nodes:
        yield node
        yield from _with_nested(getattr(node, "content", None) or getattr(node, "arguments", None) or ())


def _fetched_address(node: Any) -> str | None:
    """Return what a value would fetch: "#" for a part of its page, an address or "" elsewhere, None for nothing."""
    if node.type == "url":
        return "#" if node.value.startswith("#") else str(node.value)
    if node.type == "function" and node.lower_name in LOADING:
        inside = [part.value for part in node.arguments if part.type == "string"]
        return "#" if node.lower_name == "url" and all(text.startswith("#") for text in inside) and inside else ""
    return None
