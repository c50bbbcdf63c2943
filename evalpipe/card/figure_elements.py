"""Texts and paths of figures and formulas as the PDF draws them, in place of WeasyPrint's elements of SVG.

WeasyPrint lays a text of an SVG out letter by letter from the left, so that Arabic runs backwards and unjoined. It
converts each coordinate of a path by itself, which takes five times as long.
"""

from __future__ import annotations

import re
from math import inf
from typing import Any

TAG = re.compile(r"<(/?)(text|path)\b")
PREFIX = "pdf-"
"""What the names of elements begin with that `draw_elements` adds."""

LEFT_OF_IT = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The share of a text that stands left of its anchor."""

COMMAND, NUMBER = re.compile(r"([A-Za-z])([^A-Za-z]*)"), re.compile(r"-?[\d.]+")
VALUES = {"M": 2, "L": 2, "H": 1, "V": 1, "Q": 4, "Z": 0}
"""How many numbers each command of a path has that `path_operators` translates."""


def with_pdf_elements(svg: str) -> str:
    """Return the SVG of a figure or formula of evalpipe's own with the elements that `draw_elements` adds."""
    return TAG.sub(rf"<\1{PREFIX}\2", svg)


def draw_elements() -> None:
    """Teach WeasyPrint to draw two more elements; those of SVG are drawn as before."""
    from weasyprint.svg import TAGS

    TAGS.update({f"{PREFIX}text": _draw_text, f"{PREFIX}path": _draw_path})


def _draw_text(svg: Any, node: Any, font_size: float) -> None:
    """Draw the text of an element as a whole at (``x``, ``y``), as far to the left as its ``text-anchor`` says."""
    from weasyprint.css.properties import INITIAL_VALUES
    from weasyprint.draw.text import draw_emojis, draw_first_line
    from weasyprint.matrix import Matrix
    from weasyprint.svg.text import Style, TextBox
    from weasyprint.text.line_break import split_first_line

    style = Style(INITIAL_VALUES)
    style.font_config = svg.font_config
    style["font_family"] = [name.strip("' ") for name in node.get("font-family").split(",")]
    style["font_weight"] = int(node.get("font-weight", 400))
    style["font_size"] = font_size
    layout, _, _, width, _, _ = split_first_line(node.text, style, svg.context, inf, 0)
    left = float(node.get("x")) - width * LEFT_OF_IT[node.get("text-anchor", "start")]
    base_line = float(node.get("y"))
    svg.stream.push_state()
    fill, stroke = svg.set_graphical_state(node, font_size)
    svg.stream.begin_text()
    layout.reactivate(style)
    svg.fill_stroke(fill, stroke, text=True)
    emojis = draw_first_line(svg.stream, TextBox(layout, style), "none", "none", Matrix(d=-1, e=left, f=base_line))
    svg.stream.end_text()
    svg.stream.pop_state()
    draw_emojis(svg.stream, style, left, base_line, emojis)


def _draw_path(svg: Any, node: Any, font_size: float) -> None:
    """Draw the path ``d`` of an element; one with arcs is left to WeasyPrint."""
    from weasyprint.svg.path import path

    fill, stroke = svg.set_graphical_state(node, font_size)
    operators = path_operators(node.get("d"))
    if operators is None:
        path(svg, node, font_size)
        node.vertices.clear()
    else:
        svg.stream.stream.append(operators.encode("ascii"))
    svg.fill_stroke(fill, stroke)


def path_operators(d: str) -> str | None:
    """Return the operators of PDF for the commands of an SVG path; None where it has others than those of `VALUES`.

    A quadratic curve from P over Q to R is the cubic one over P + 2/3 (Q - P) and R + 2/3 (Q - R).
    """
    x = y = left = top = 0.0
    operators: list[str] = []
    for letter, text in COMMAND.findall(d):
        command, values = letter.upper(), [float(value) for value in NUMBER.findall(text)]
        count = VALUES.get(command)
        if count is None:
            return None
        if command == "Z":
            operators.append("h")
            x, y = left, top
        for start in range(0, len(values), count or 1):
            numbers = values[start : start + count]
            if letter.islower():
                numbers = [value + (y if command == "V" or k % 2 else x) for k, value in enumerate(numbers)]
            if command == "Q":
                a, b, end_x, end_y = numbers
                cubic = (x + (a - x) * 2 / 3, y + (b - y) * 2 / 3, end_x + (a - end_x) * 2 / 3,
                         end_y + (b - end_y) * 2 / 3, end_x, end_y)
                operators.append(" ".join(f"{value:.2f}" for value in cubic) + " c")
                x, y = end_x, end_y
                continue
            x, y = {"H": (numbers[0], y), "V": (x, numbers[0])}.get(command, (numbers[0], numbers[-1]))
            if command == "M" and start == 0:
                left, top = x, y
            operators.append(f"{x:.2f} {y:.2f} {'m' if command == 'M' and start == 0 else 'l'}")
    return "\n".join(operators)
