"""Formulas: LaTeX set by matplotlib's mathtext as SVG outlines."""

from __future__ import annotations

import io
from functools import cache

from evalpipe.card.figures.canvas import METADATA, inline, style

POINTS = 11
FRACTION, DISPLAYED = r"\frac", r"\dfrac"


@cache
def formula_svg(latex: str, key: str) -> str | None:
    r"""Set a formula such as ``\frac{TP}{TP+FN}``; None where mathtext cannot. The LaTeX is the alternative text."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with style(key, **{"svg.fonttype": "path", "mathtext.fontset": "cm", "text.parse_math": True}):
        figure = Figure(figsize=(0.01, 0.01))
        figure.text(0, 0, f"${latex.replace(FRACTION, DISPLAYED)}$", fontsize=POINTS, color="black")
        stream = io.StringIO()
        try:
            FigureCanvasSVG(figure).print_figure(
                stream, format="svg", bbox_inches="tight", pad_inches=0.02, metadata=dict.fromkeys(METADATA)
            )
        except ValueError:
            return None
    return _sized(inline(stream.getvalue(), key, latex))


def _sized(svg: str) -> str:
    """Give a formula its natural size in em, so that it stands beside text of any size."""
    width, height = svg.split('viewBox="', 1)[1].split('"', 1)[0].split()[2:]
    size = f"width: {float(width) / POINTS:.3f}em; height: {float(height) / POINTS:.3f}em"
    return svg.replace("<svg ", f'<svg class="formula" style="{size}" ', 1)
