"""The paper that figures are drawn on: sizes, colours, legend, and SVG text that is the same on every machine."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.card.palette import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, LEFT, RIGHT, TOP = 4.4, 0.62, 0.14, 0.12
PANEL_HEIGHT, FOOT, KEY_ROW = 3.1, 0.5, 0.2
"""Inches: the figure's width and margins, the panel, the room for the x axis and for a row of the key."""

TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
"""The ticks of a proportion."""

INK, MUTED, GRID = "#1b2733", "#5a6672", "#dde2e7"
Dash = Literal["solid", "none"] | tuple[float, tuple[float, ...]]
"""A style of lines: its name, or where it begins and the lengths of strokes and gaps, in widths of the line."""

DASHES: tuple[Dash, ...] = (
    "solid", (0, (5, 2)), (0, (1.2, 1.4)), (0, (7, 2, 1.5, 2)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
)
DOTTED, CHOSEN = (0, (1, 2)), (0, (4, 2))
"""Dashes of lines to compare with, such as chance, and of the threshold in use."""

MARKERS = ("o", "s", "^", "D", "v", "P")
FONTS = "'Source Sans 3', 'DejaVu Sans', sans-serif"

METADATA = ("Date", "Creator", "Format", "Type")
"""What matplotlib would write about the making of a figure; left out."""

# Text stays text, in the fonts of the page, and is never read as a formula: names of models may hold a dollar sign.
STYLE: dict[str, object] = {
    "svg.fonttype": "none", "font.family": ["DejaVu Sans"], "font.size": 9, "text.parse_math": False,
    "text.color": INK, "axes.edgecolor": MUTED, "axes.labelcolor": INK, "axes.linewidth": 0.7, "axes.grid": True,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "axes.unicode_minus": True,
    "grid.color": GRID, "grid.linewidth": 0.6, "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK,
    "ytick.labelcolor": INK, "lines.linewidth": 1.6, "hatch.linewidth": 0.5, "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True, slots=True)
class Series:
    """How one model is drawn in every figure."""

    name: str
    label: str
    colour: str
    dash: Dash
    marker: str

    @property
    def short(self) -> str:
        """The label, cut where a key has no more room."""
        return clip(self.label, 27)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure: its title, how to read it, what it says (the alternative text), and the SVG."""

    key: str
    title: str
    caption: str
    alt: str
    svg: str

    @property
    def image(self) -> str:
        """The SVG as a document of its own."""
        return self.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A row of the key: what is drawn like this, and what it is called."""

    text: str
    colour: str
    dash: Dash = "solid"
    marker: str = ""
    width: float = 1.6


def series_of(models: Sequence[tuple[str, str]]) -> tuple[Series, ...]:
    """Give every model, as (name, label), its colour, dashes and marker by its place in the spec."""
    return tuple(
        Series(name, label, COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)])
        for i, (name, label) in enumerate(models)
    )


def clip(text: str, length: int) -> str:
    """Cut a text that is too long, with an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


@contextmanager
def style(key: str, **changes: object) -> Iterator[None]:
    """Draw with our own settings, whatever the user's matplotlibrc says, and restore the user's afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # Names may hold letters that the measuring font lacks; the page's fonts will show them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        # Without a salt the ids inside an SVG are drawn at random, and no two cards have the same bytes.
        settings: dict[Any, Any] = {**STYLE, "svg.hashsalt": key, **changes}
        mpl.rcParams.update(settings)
        yield


def paper(
    key_rows: int, heights: Sequence[float] = (PANEL_HEIGHT,), left: float = LEFT, gap: float = 0.16
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of the given heights in inches, stacked ``gap`` apart, and room for a key beneath."""
    from matplotlib.figure import Figure

    total = TOP + sum(heights) + gap * (len(heights) - 1) + FOOT + KEY_ROW * key_rows
    figure = Figure(figsize=(WIDTH, total))
    axes, top = [], total - TOP
    for height in heights:
        box = (left / WIDTH, (top - height) / total, (WIDTH - left - RIGHT) / WIDTH, height / total)
        axes.append(figure.add_axes(box))
        top -= height + gap
    return figure, axes


def add_key(figure: Figure, entries: Sequence[KeyEntry], left: float = LEFT) -> None:
    """Write the key into the room that `paper` left beneath the panels."""
    from matplotlib.lines import Line2D

    total = figure.get_size_inches()[1]
    for row, entry in enumerate(entries):
        y = (KEY_ROW * (len(entries) - row) - KEY_ROW / 2) / total
        figure.add_artist(
            Line2D(
                (left / WIDTH, (left + 0.36) / WIDTH), (y, y), color=entry.colour, linestyle=entry.dash,
                linewidth=entry.width, solid_capstyle="butt", marker=entry.marker, markersize=4.5, markevery=[0],
            )
        )
        figure.text((left + 0.45) / WIDTH, y, entry.text, va="center_baseline", fontsize=8.5)


def unit_axes(axes: Axes, x: str, y: str) -> None:
    """Set up a panel whose coordinates are proportions."""
    axes.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.03), xticks=TICKS, yticks=TICKS, xlabel=x, ylabel=y)


def diagonal(axes: Axes) -> None:
    """Draw the dotted line on which both coordinates agree."""
    axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)


def label_stack(panels: Sequence[Axes], name: str, *, shared: bool = True) -> None:
    """Name the x axis beneath the lowest of stacked panels; where they share it, the others have no numbers."""
    for axes in panels[:-1] if shared else ():
        axes.set_xticklabels(())
    panels[-1].set_xlabel(name)


def name_inside(axes: Axes, series: Series) -> None:
    """Write the name of a model at the top of its panel, where the y axis leaves room for it."""
    axes.set_title(clip(series.label, 56), fontsize=8.5, loc="left", x=0.02, y=1.0, pad=-8)


def to_svg(figure: Figure, key: str, title: str, description: str) -> str:
    """Write a figure as an SVG element to stand inside HTML, with its alternative text."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    FigureCanvasSVG(figure).print_figure(stream, format="svg", metadata=dict.fromkeys(METADATA))
    return inline(stream.getvalue(), key, title, description)


def inline(document: str, key: str, title: str, description: str = "") -> str:
    """Turn an SVG document into an element that can share a page with others: own ids, no metadata, no style sheet."""
    body = document[document.index("<svg") : document.rindex("</svg>")]
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href", "href")
    opening, rest = body.split(">", 1)
    # Ids are of the whole page: those that nothing refers to go, the others get the key of the figure.
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", rest))
    rest = re.sub(r' id="([^"]*)"', lambda m: f' id="{key}-{m[1]}"' if m[1] in used else "", rest)
    rest = re.sub(r"(url\(|href=\")#", rf"\1#{key}-", rest)
    rest = re.sub(r'style="([^"]*)"', lambda m: _attributes(m[1]), rest)
    rest = re.sub(r"<defs>\s*</defs>|\n\s*", "", rest.replace('\n"', '"'))
    size = re.search(r'viewBox="([^"]*)"', opening)
    view = size.group(1) if size else ""
    named = f'<title id="{key}-title">{escape(title)}</title>'
    named += f"<desc>{escape(description)}</desc>" if description else ""
    return (
        f'<svg viewBox="{view}" role="img" aria-labelledby="{key}-title" stroke-linejoin="round" '
        f'font-family="{FONTS}">{named}{rest}</svg>'
    )


def _attributes(declarations: str) -> str:
    """Turn the declarations of a style attribute into attributes of their own; fonts come from the whole figure."""
    pairs = [part.split(":", 1) for part in declarations.split(";") if ":" in part]
    attributes = {name.strip(): value.strip() for name, value in pairs}
    if "font" in attributes:
        attributes["font-size"] = next(word for word in attributes.pop("font").split() if word.endswith("px"))
    attributes.pop("font-family", None)
    return " ".join(f'{name}="{value}"' for name, value in attributes.items())
