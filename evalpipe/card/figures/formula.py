"""Formulas: LaTeX set by matplotlib's mathtext as one outline each."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


FRACTION, DISPLAYED = r"\frac", r"\dfrac"
UNITS = 100
"""Units of the drawing in one em: its coordinates are whole numbers."""

PAD = 4
"""Units around a formula."""

COMMANDS = {1: ("M", 1), 2: ("L", 1), 3: ("Q", 2), 4: ("C", 3), 79: ("z", 1)}
"""The commands of matplotlib's paths: that of SVG, and how many vertices it takes."""


@cache
def formula_svg(latex: str, key: str) -> str | None:
    r"""Set a formula such as ``\frac{TP}{TP+FN}``; None where mathtext cannot. The LaTeX is the alternative text."""
    from matplotlib import rc_context
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    with rc_context({"text.usetex": False, "text.parse_math": True}):
        try:
            path = TextPath((0, 0), f"${latex.replace(FRACTION, DISPLAYED)}$", size=UNITS,
                            prop=FontProperties(family="DejaVu Sans", math_fontfamily="cm"))
        except ValueError:
            return None
    drawn = path.vertices[path.codes != path.CLOSEPOLY]
    (left, low), (right, high) = drawn.min(axis=0), drawn.max(axis=0)
    wide, tall = (round(high - low) + 2 * PAD for low, high in ((left, right), (low, high)))
    outline = "".join(_commands(path, left - PAD, high + PAD))
    size = f"width: {wide / UNITS:g}em; height: {tall / UNITS:g}em"
    return (f'<svg class="formula" style="{size}" viewBox="0 0 {wide} {tall}" role="img" '
            f'aria-labelledby="{key}-title"><title id="{key}-title">{escape(latex)}</title>'
            f'<path fill="currentColor" d="{outline}"/></svg>')


def formula_size(svg: str) -> str:
    """Return the width and the height of a formula that is set, as its style says them."""
    return svg.split('style="', 1)[1].split('"', 1)[0]


def _commands(path: Any, left: float, top: float) -> Iterator[str]:
    """Yield the commands of a path, its corner moved to the origin and its vertical axis turned downwards."""
    codes, vertices = list(map(int, path.codes)), [(float(x), float(y)) for x, y in path.vertices]
    place = 0
    while place < len(codes):
        command, many = COMMANDS[codes[place]]
        points = vertices[place : place + many]
        yield command if command == "z" else command + " ".join(f"{x - left:.0f} {top - y:.0f}" for x, y in points)
        place += many
