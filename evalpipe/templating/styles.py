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
    """Yield the faults of a style sheet in the order of its lines: markup, values that load, invalid CSS."""
    import tinycss2

    if "</" in text or "<!--" in text:
        first = min(index for index in (text.find("</"), text.find("<!--")) if index >= 0)
        line = text[:first].count("\n") + 1
        yield line, "a style sheet holds no markup", "remove the tag"
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    yield from sorted(_loading_faults(rules), key=lambda fault: fault[0] or 0)


def hiding_problems(text: str, card_names: Collection[str]) -> Iterator[Fault]:
    """Yield the rules of a theme that could hide, cover or push away what evalpipe writes.

    ``card_names`` are the classes and ids of evalpipe's elements. Selectors with another class or id may set the
    properties ANYWHERE and HIDING, all others ANYWHERE alone.
    """
    for rule in _style_rules(text):
        if rule.type == "qualified-rule":
            is_new_element = all(subject - {*card_names} for subject in _subjects(rule.prelude))
            yield from _problems_of(_declarations(rule), ANYWHERE | HIDING if is_new_element else ANYWHERE)
        elif rule.lower_at_keyword == "page" and rule.content is not None:
            for part in _declarations(rule):
                is_box = part.type == "at-rule" and part.lower_at_keyword in PAPER_BOXES
                declarations, allowed = (_declarations(part), OF_PAPER_BOXES) if is_box else ([part], OF_PAPER)
                yield from _problems_of(declarations, allowed)
        else:
            yield (rule.source_line, f"'@{rule.at_keyword}' is refused in a theme: it could hide what evalpipe writes",
                   "write plain rules, in '@media' and '@supports' too, or '@page' for the margins of paper")


def _problems_of(parts: Iterable[Any], allowed: Collection[str]) -> Iterator[Fault]:
    """Yield a fault for each declaration whose property or value is not ``allowed``, and for each nested rule."""
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
    """Return the classes and ids of elements for which a theme sets one of these properties."""
    return frozenset(
        name for rule in _style_rules(text) if rule.type == "qualified-rule"
        and any(part.type == "declaration" and part.lower_name in properties for part in _declarations(rule))
        for subject in _subjects(rule.prelude) for name in subject)


def selector_names(text: str) -> frozenset[str]:
    """Return all classes and ids that the selectors of a sheet name."""
    return frozenset(name for rule in _style_rules(text) if rule.type == "qualified-rule"
                     for compound in _compounds(rule.prelude) for name in compound)


def _style_rules(text: str) -> Iterator[Any]:
    """Yield the rules of a sheet, and those within ``@media`` and ``@supports`` in place of these."""
    import tinycss2

    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    while rules:
        rule = rules.pop(0)
        if rule.type == "at-rule" and rule.lower_at_keyword in CONDITIONAL_RULES and rule.content is not None:
            rules = [*tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), *rules]
        elif rule.type in ("qualified-rule", "at-rule"):
            yield rule


def _declarations(rule: Any) -> list[Any]:
    """Return the declarations and rules in the block of a rule."""
    import tinycss2

    parts: list[Any] = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
    return parts


def _subjects(prelude: Iterable[Any]) -> Iterator[frozenset[str]]:
    """Yield for each selector of a rule the classes and ids of its last compound, the elements that it styles."""
    for selector in _split_at(prelude, lambda node: node == ","):
        *_, last = _compounds(selector)
        yield last


def _compounds(selector: list[Any]) -> Iterator[frozenset[str]]:
    """Yield the classes and ids of each compound of a selector, such as ``.a`` and ``p.b`` in ``.a > p.b``.

    What stands in brackets, as in ``:not(.a)``, is left out.
    """
    for compound in _split_at(selector, lambda node: node.type == "whitespace" or node in (">", "+", "~", ",")):
        yield frozenset(node.value for previous, node in zip([None, *compound], compound, strict=False)
                        if node.type == "hash" or (node.type == "ident" and previous == "."))


def _split_at(nodes: Iterable[Any], is_border: Callable[[Any], bool]) -> list[list[Any]]:
    """Split component values at those for which ``is_border`` is true; empty parts are left out."""
    parts: list[list[Any]] = [[]]
    for node in nodes:
        if is_border(node):
            parts.append([])
        else:
            parts[-1].append(node)
    return [part for part in parts if part] or [[]]


def _hides_nothing(name: str, value: Iterable[Any]) -> bool:
    """Tell whether the lengths in a property's value are too small to push or print anything over other text."""
    largest = inf
    if name in SPACING | LETTER_SPACING:
        largest = LARGEST_SPACING if name in SPACING else LARGEST_LETTER_SPACING
    for node in value:
        if node.type not in ("number", "dimension"):
            # How long these are, other elements of the page decide.
            is_relative = node.type == "percentage" or (node.type == "function" and node.lower_name not in SHADES)
            if largest < inf and is_relative:
                return False
            continue
        unit = node.lower_unit if node.type == "dimension" else "px"
        if largest < inf and unit not in PIXELS:
            return False
        if not 0 <= node.value * PIXELS.get(unit, 0.0) <= largest:
            return False
        if name == "line-height" and (node.type != "number" or node.value < LEAST_LINE):
            return False
    return True


def loads_resource(value: str) -> bool:
    """Tell whether the CSS in an attribute would load anything from outside its page."""
    import tinycss2

    return any(_fetched_address(node) not in (None, "#")
               for node in _with_nested(tinycss2.parse_component_value_list(value)))


def _loading_faults(rules: Iterable[Any]) -> Iterator[Fault]:
    """Yield a fault for each rule or value that loads something, and for invalid CSS."""
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
    """Yield component values and all those nested in blocks and functions."""
    for node in nodes:
        yield node
        yield from _with_nested(getattr(node, "content", None) or getattr(node, "arguments", None) or ())


def _fetched_address(node: Any) -> str | None:
    """Return the address that a CSS value would fetch: "#" within the page, "" if unknown; None for nothing."""
    if node.type == "url":
        return "#" if node.value.startswith("#") else str(node.value)
    if node.type == "function" and node.lower_name in LOADING:
        texts = [part.value for part in node.arguments if part.type == "string"]
        is_within_page = node.lower_name == "url" and bool(texts) and all(text.startswith("#") for text in texts)
        return "#" if is_within_page else ""
    return None
