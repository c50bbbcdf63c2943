"""Figures and formulas as images of WeasyPrint, which draws any SVG, but node by node and letter by letter.

They are paths and lines of text alone, so a path becomes one piece of the page's stream, and a text is set as a whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalpipe.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[["_Pen", list[float]], str]

COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
NUMBER = re.compile(r"-?\d*\.?\d+")
ROUND = 0.5523
"""How far the handles of a quarter of a circle reach, in radii."""

CAPS, JOINS = {"round": 1}, {"round": 1}
SHARES = {"middle": 0.5, "end": 1.0}
"""How much of a text's width lies before its anchor."""


class Picture:
    """An SVG of paths and texts as WeasyPrint wants its images: it tells its size and draws itself."""

    def __init__(self, svg: str, fonts: Any) -> None:
        """Read the SVG; ``fonts`` is WeasyPrint's font configuration."""
        from xml.etree import ElementTree as ET

        tree = ET.fromstring(svg)  # noqa: S314 - written by our own figures
        *_, wide, high = map(float, tree.attrib["viewBox"].split())
        self.size, self.fonts = (wide, high), fonts
        self.look = {"font-family": "sans-serif", "font-size": "13"} | tree.attrib
        self.nodes = [(node.tag.rpartition("}")[2], node.attrib, node.text or "") for node in tree]

    def get_intrinsic_size(self, _resolution: float, _font_size: float) -> tuple[float, float, float]:
        """Return width and height in pixels, and their ratio."""
        return *self.size, self.size[0] / self.size[1]

    def draw(self, stream: Any, wide: float, high: float, style: Any) -> None:
        """Draw on the stream of a page, as wide and high as said."""
        with stream.stacked():
            stream.transform(a=wide / self.size[0], d=high / self.size[1])
            for tag, attributes, text in self.nodes:
                if tag == "title":
                    continue
                with stream.stacked():
                    if tag == "path":
                        self._path(stream, attributes, style)
                    elif tag == "text":
                        self._text(stream, attributes, text)
                    else:
                        raise InternalError.of("undrawn-element", f"a figure has an element <{tag}> that no PDF draws")

    @staticmethod
    def _path(stream: Any, attributes: dict[str, str], style: Any) -> None:
        fill, line = attributes.get("fill", "black"), attributes.get("stroke", "none")
        if fill != "none":
            _ink(stream, fill, attributes.get("fill-opacity", "1"), style, stroke=False)
        if line != "none":
            _ink(stream, line, attributes.get("stroke-opacity", "1"), style, stroke=True)
            stream.set_line_width(float(attributes.get("stroke-width", "1")))
            stream.set_dash([float(part) for part in NUMBER.findall(attributes.get("stroke-dasharray", ""))], 0)
            stream.set_line_cap(CAPS.get(attributes.get("stroke-linecap", ""), 0))
            stream.set_line_join(JOINS.get(attributes.get("stroke-linejoin", ""), 0))
        stream.stream.append(operators(attributes["d"]))
        if fill != "none" and line != "none":
            stream.fill_and_stroke()
        elif line != "none":
            stream.stroke()
        else:
            stream.fill()

    def _text(self, stream: Any, attributes: dict[str, str], text: str) -> None:
        from weasyprint.draw.text import draw_first_line
        from weasyprint.matrix import Matrix
        from weasyprint.svg.text import TextBox
        from weasyprint.text.line_break import create_layout, line_size

        style = self._style(int(attributes.get("font-weight", "400")))
        layout = create_layout(text, style, None, None, 0)
        wide, _ = line_size(layout.get_first_line()[0], style)
        x = float(attributes["x"]) - wide * SHARES.get(attributes.get("text-anchor", ""), 0.0)
        _ink(stream, attributes.get("fill", "black"), "1", style, stroke=False)
        stream.begin_text()
        draw_first_line(stream, TextBox(layout, style), "none", "none", Matrix(d=-1, e=x, f=float(attributes["y"])))
        stream.end_text()

    def _style(self, weight: int) -> Any:
        from weasyprint.css.properties import INITIAL_VALUES
        from weasyprint.svg.text import Style

        style = Style(INITIAL_VALUES)
        style.font_config = self.fonts
        style["font_family"] = [family.strip(" '") for family in self.look["font-family"].split(",")]
        style["font_size"], style["font_weight"] = float(self.look["font-size"]), weight
        return style


def _ink(stream: Any, colour: str, opacity: str, style: Any, *, stroke: bool) -> None:
    """Set a colour, of which "currentColor" is that of the text around."""
    from tinycss2.color5 import parse_color

    stream.set_color(style["color"] if colour == "currentColor" else parse_color(colour), stroke)
    stream.set_alpha(float(opacity), stroke)


def operators(d: str) -> bytes:
    """Write the commands of a path of our figures, or of a formula, as operators of PDF."""
    pen, written = _Pen(), list[str]()
    for letter, given in COMMAND.findall(d):
        written.append(COMMANDS[letter](pen, [float(value) for value in NUMBER.findall(given)]))
    return "\n".join(written).encode("ascii")


class _Pen:
    """Where a path has come to, and where its piece began."""

    def __init__(self) -> None:
        self.x = self.y = 0.0
        self.begun = 0.0, 0.0

    def move(self, given: list[float]) -> str:
        self.x, self.y = self.begun = given[0], given[1]
        return f"{self.x:g} {self.y:g} m"

    def to(self, x: float, y: float) -> str:
        self.x, self.y = x, y
        return f"{x:g} {y:g} l"

    def curve(self, *points: float) -> str:
        """Draw a cubic curve, of two handles and its end."""
        self.x, self.y = points[4:]
        return " ".join(f"{value:g}" for value in points) + " c"

    def quadratic(self, given: list[float]) -> str:
        """Draw a curve of one handle, of which two thirds of the way to it make those of a cubic one."""
        across, down, x, y = given
        return self.curve(self.x + (across - self.x) * 2 / 3, self.y + (down - self.y) * 2 / 3,
                          x + (across - x) * 2 / 3, y + (down - y) * 2 / 3, x, y)

    def half_circle(self, given: list[float]) -> str:
        """Draw half a circle to a point at the same height, below it when rightwards and above it when leftwards."""
        radius, end = given[0], self.x + given[5]
        side = radius if given[5] > 0 else -radius
        middle, handle = (self.x + end) / 2, ROUND * side
        y = self.y
        return "\n".join((
            self.curve(self.x, y + handle, middle - handle, y + side, middle, y + side),
            self.curve(middle + handle, y + side, end, y + handle, end, y)))

    def close(self, _: list[float]) -> str:
        self.x, self.y = self.begun
        return "h"


COMMANDS: dict[str, Command] = {
    "M": _Pen.move, "L": lambda pen, to: pen.to(to[0], to[1]), "H": lambda pen, to: pen.to(to[0], pen.y),
    "V": lambda pen, to: pen.to(pen.x, to[0]), "h": lambda pen, by: pen.to(pen.x + by[0], pen.y),
    "v": lambda pen, by: pen.to(pen.x, pen.y + by[0]), "a": _Pen.half_circle, "z": _Pen.close,
    "Q": _Pen.quadratic, "C": lambda pen, to: pen.curve(*to),
}
"""What each command of a path draws; there are no others in our figures."""
