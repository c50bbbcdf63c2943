"""Style sheets that others write for the card: valid, and loading nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LOADING = frozenset({
    "url", "src", "image", "image-set", "-webkit-image-set", "cross-fade", "-webkit-cross-fade", "element", "paint",
})
"""Functions of CSS whose values may be fetched."""

LOADING_RULES = frozenset({"import", "font-face", "namespace", "charset", "document"})

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
    yield from sorted(_faults(rules), key=lambda fault: fault[0] or 0)


def loads(value: str) -> bool:
    """Tell whether the value of an attribute that is CSS names anything but a part of its own page."""
    import tinycss2

    return any(_address(node) not in (None, "#") for node in _walk(tinycss2.parse_component_value_list(value)))


def _faults(rules: Iterable[Any]) -> Iterator[Fault]:
    import tinycss2

    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in LOADING_RULES:
            yield rule.source_line, f"'@{rule.lower_at_keyword}' is refused in a style sheet of a card", NOTHING_LOADED
        parts = [*getattr(rule, "prelude", ()), *(getattr(rule, "content", None) or ())]
        for node in _walk([rule] if rule.type == "error" else parts):
            if node.type == "error":
                yield node.source_line, f"this is not valid CSS: {node.message.rstrip('.')}", "correct it"
            elif _address(node) is not None:
                yield node.source_line, "a style sheet may load nothing, whatever its address", NOTHING_LOADED
        if rule.type == "qualified-rule":
            for part in tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True):
                if part.type == "error":
                    yield part.source_line, "this is no declaration", "write it as 'property: value;'"


def _walk(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield all component values, those in blocks and functions too."""
    for node in nodes:
        yield node
        yield from _walk(getattr(node, "content", None) or getattr(node, "arguments", None) or ())


def _address(node: Any) -> str | None:
    """Return what a value would fetch: "#" for a part of its page, an address or "" elsewhere, None for nothing."""
    if node.type == "url":
        return "#" if node.value.startswith("#") else str(node.value)
    if node.type == "function" and node.lower_name in LOADING:
        inside = [part.value for part in node.arguments if part.type == "string"]
        return "#" if node.lower_name == "url" and all(text.startswith("#") for text in inside) and inside else ""
    return None
