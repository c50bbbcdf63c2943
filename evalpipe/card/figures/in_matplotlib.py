"""The figures of the card in matplotlib, for papers, slides and notebooks: the same numbers, drawn by its own means.

A panel of a figure becomes matplotlib's `Axes`. A strip beneath a panel, as of the probabilities under a reliability
diagram, becomes an inset of it, so that whoever goes on with the `Axes` has one for each panel.
"""

from __future__ import annotations

import io
import sys
from copy import copy
from dataclasses import fields, is_dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.card.figures.svg import KeyEntry
from evalpipe.card.palette import KINDS, inks
from evalpipe.errors import UsageError
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.card.figures.svg import Drawing, PanelContent, Sheet
    from evalpipe.results import Results

COLUMN = 85.0
"""Millimetres of a column of a journal, in which a text has `POINTS`; in a wider figure all is larger."""

POINTS, POINTS_PER_PIXEL = 7.5, 0.6
"""The size of text in points, and what a pixel of the card's figures is in points, both in a column of a journal."""

INCH = 25.4
"""Millimetres of an inch."""

LETTER, LABEL = 6.0, 24
"""Pixels of the card's figures that a letter takes, about, by which names of axes are broken into lines; the letters of
a line of a row's label."""

BOTH_COLUMNS, NAMES, LINE, SQUARE = 150.0, 0.35, 0.16, 0.8
"""Millimetres from which on two sheets stand side by side; inches for the names of an axis and of a panel, and of a
line of text; the height of a square panel, as a share of the width that it and its numbers take."""

STRIP = 0.4
"""The height of a panel, as a share of that of the panel above it, up to which it is a strip of that."""

FORMATS, DPI = ("pdf", "svg", "png"), 300
"""The formats of the files, and dots per inch of a PNG."""

WITHOUT_DATE: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": "evalpipe"}, "svg": {"Date": None, "Creator": "evalpipe"}, "png": {}}
"""What a file says of itself."""

ANCHORS = {"": "left", "middle": "center", "end": "right"}


def drawings_of(results: Results, last: str = "") -> dict[str, Drawing]:
    """Return the figures of a card by name, as "roc", of the second dataset "roc@2"; those up to ``last`` if any."""
    from evalpipe.card.edition import Edition

    named: dict[str, Drawing] = {}
    for drawing in (drawing for block in _blocks(Edition(results).card, set()) for drawing in block.draw()):
        dataset, dash, name = drawing.key.partition("-")
        is_of_dataset = bool(dash) and dataset[:1] == "d" and dataset[1:].isdigit()
        key = drawing.key if not is_of_dataset else name if dataset == "d1" else f"{name}@{dataset[1:]}"
        if drawing.sheets:
            named.setdefault(key, drawing)
        if last in named:
            break
    return named


def _blocks(part: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the blocks of figures within a part of the card, in order."""
    from evalpipe.card.page import Figures

    if isinstance(part, Figures):
        yield part
    if isinstance(part, list | tuple):
        for item in part:
            yield from _blocks(item, seen)
    elif is_dataclass(part) and id(part) not in seen:
        seen.add(id(part))
        for entry in fields(part):
            yield from _blocks(getattr(part, entry.name), seen)


def _drawing_named(results: Results, name: str, models: Sequence[str] | None, dataset: str | None) -> Drawing:
    """Return a figure by its name; raises UsageError for a model, a dataset or a figure that there is not."""
    known = [model.name for model in results.models]
    for model in models or ():
        if model not in known:
            raise unknown_name("model", model, known)
    datasets = [summary.name for summary in results.datasets]
    if dataset is not None and dataset not in datasets:
        raise unknown_name("dataset", dataset, datasets)
    key = name if dataset in (None, datasets[0]) else f"{name}@{datasets.index(dataset) + 1}"
    named = drawings_of(results, key)
    if key not in named:
        raise unknown_name("figure", key, list(named))
    drawing = named[key] if models is None else _of_models(named[key], results, models)
    if not drawing.sheets:
        raise UsageError.of("no-panels", f"the figure {quoted(name)} has nothing of these models", "name other models")
    return drawing


def _of_models(drawing: Drawing, results: Results, models: Sequence[str]) -> Drawing:
    """Return a figure without the panels and the parts that are of other models; colours stay those of the card."""
    others = {model.label for model in results.models if model.name not in models}
    sheets = []
    for sheet in drawing.sheets:
        entries = [*sheet.entries, *(name for panel in sheet.panels for name in panel.names)]
        inks_of_others = {entry.ink for entry in entries if entry.text in others}
        panels, is_of_others = [], False
        for panel in sheet.panels:
            is_of_others = panel.title in others or (is_of_others and not panel.title)  # a strip has no title
            if not is_of_others:
                panels.append(copy(panel))
                panels[-1].parts = [part for part in panel.parts if part.arguments.get("ink") not in inks_of_others]
                panels[-1].names = [name for name in panel.names if name.text not in others]
        if panels:
            kept = [entry for entry in sheet.entries if entry.text not in others]
            sheets.append(replace(sheet, panels=panels, entries=kept))
    return replace(drawing, sheets=tuple(sheets))


def unknown_name(kind: str, name: str, names: Sequence[str]) -> UsageError:
    """Return the error of a name that these results do not have."""
    near = closest(name, names)
    hint = f"did you mean {quoted(near)}? There " if near else "there "
    return UsageError.of(f"unknown-{kind}", f"these results have no {kind} {quoted(name)}",
                         f"{hint}{'is' if len(names) == 1 else 'are'} {listed(sorted(names), 'and') or 'none'}")


def plot(
    results: Results, name: str, models: Sequence[str] | None = None, dataset: str | None = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> Any:
    """Draw a figure; see `evalpipe.Results.plot`."""
    drawing = _drawing_named(results, name, models, dataset)
    panels = panels_of(drawing)
    if ax is None:
        # Who works with pyplot has the figure among the others, so that notebooks show it.
        pyplot = sys.modules.get("matplotlib.pyplot")
        drawn = _axes_of(drawing, COLUMN, pyplot and pyplot.figure)[1]
        return drawn if len(panels) > 1 else drawn[0]
    axes: list[Any] = list(ax) if isinstance(ax, list | tuple | np.ndarray) else [ax]
    if len(axes) != len(panels):
        raise UsageError.of(
            "wrong-axes", f"the figure {quoted(name)} has {len(panels)} panels, but ax holds {len(axes)}",
            f"give a list of {len(panels)} Axes, or choose one of the models with models=[…]")
    for sheet in drawing.sheets:
        for panel in (panel for row in _rows_of(sheet) for panel in row):
            _draw_panel(axes.pop(0), *panel, sheet, 1.0)
    return ax


def figure_file(drawing: Drawing, form: str, width: float) -> bytes:
    """Return a figure of the card as a file for print, ``width`` millimetres wide: "pdf", "svg" or "png".

    Its fonts are embedded, and the same results and versions give the same bytes: it has no date.
    """
    import matplotlib as mpl

    content = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"pdf.fonttype": 42, "svg.hashsalt": "evalpipe"})
        figure = _axes_of(drawing, width)[0]
        figure.savefig(content, format=form, dpi=DPI, metadata=WITHOUT_DATE[form])
    return content.getvalue()


Panel = tuple["PanelContent", "list[PanelContent]"]
"""A panel, and the strips beneath it."""


def panels_of(drawing: Drawing) -> list[Panel]:
    """Return the panels of all sheets of a figure, each with its strips."""
    return [panel for sheet in drawing.sheets for row in _rows_of(sheet) for panel in row]


def _rows_of(sheet: Sheet) -> list[list[Panel]]:
    """Return the panels of a sheet, each with its strips, in the rows in which they stand there."""
    panels: list[Panel] = []
    for content in sheet.panels:
        above = next((panel for panel in reversed(panels) if panel[0].x is content.x and panel[0].top < content.top
                      and panel[0].left == content.left and content.height <= STRIP * panel[0].height), None)
        if above is None:
            panels.append((content, []))
        else:
            above[1].append(content)
    tops = sorted({round(content.top) for content, _ in panels})
    return [[panel for panel in panels if round(panel[0].top) == top] for top in tops]


def _axes_of(drawing: Drawing, width: float, make: Any = None) -> tuple[Figure, np.ndarray]:
    """Return a new figure of matplotlib, ``width`` millimetres wide, and its axes [panels].

    Panels stand as on the card's sheets, of which two stand side by side where there is room. ``make`` makes a figure.
    """
    from matplotlib.figure import Figure

    columns = 1 if len(drawing.sheets) == 1 or width < BOTH_COLUMNS else 2
    scale, column = width / columns / COLUMN, width / columns / INCH
    heights = [[_height(row, column, scale) for row in _rows_of(sheet)] for sheet in drawing.sheets]
    totals = [sum(of_sheet) for of_sheet in heights]
    by_row = [max(totals[first : first + columns]) for first in range(0, len(totals), columns)]
    figure = (make or Figure)(figsize=(width / INCH, sum(by_row)), layout="constrained")
    parts = figure.add_gridspec(len(by_row), columns, height_ratios=by_row)
    axes = []
    for index, (sheet, of_sheet) in enumerate(zip(drawing.sheets, heights, strict=True)):
        rows = _rows_of(sheet)
        cells = parts[divmod(index, columns)].subgridspec(len(rows), max(map(len, rows)), height_ratios=of_sheet)
        for number, row in enumerate(rows):
            for place, panel in enumerate(row):
                axes.append(figure.add_subplot(cells[number, :] if len(row) == 1 else cells[number, place]))
                _draw_panel(axes[-1], *panel, sheet, scale)
    return figure, np.array(axes)


def _height(row: Sequence[Panel], width: float, scale: float) -> float:
    """Return the height in inches of a row of panels in a part of a figure that is ``width`` inches wide."""
    drawn = max(sum(part.height for part in (content, *strips)) / content.width for content, strips in row)
    lines = max(len(content.x.name) * LETTER // content.width + (len(content.names) if content.rows else 0)
                for content, _ in row)
    return width / len(row) * SQUARE * drawn + (NAMES + LINE * lines) * scale


def _draw_panel(axes: Axes, content: PanelContent, strips: Sequence[PanelContent], sheet: Sheet, scale: float) -> None:
    """Draw a panel of a sheet into axes, and its strips into insets beneath them."""
    pen = _Pen(axes, content, scale)
    pen.draw()
    below = 0.0
    for strip in strips:
        share = strip.height / content.height
        below -= share + 0.06
        _Pen(axes.inset_axes((0.0, below, 1.0, share)), strip, scale).draw()
    if strips:
        axes.set_xticklabels([])
        axes.set_xlabel("")
    pen.legend([*content.names, *sheet.entries])


class _Pen:
    """Draws what a panel was told to draw, part by part, by the method of the same name."""

    def __init__(self, axes: Axes, content: PanelContent, scale: float) -> None:
        """Draw into axes; text and lines are ``scale`` times as large as in a column of a journal."""
        self.axes, self.content, self.scale = axes, content, scale

    def draw(self) -> None:
        """Draw the axes and all parts of the panel."""
        axes, content, size = self.axes, self.content, POINTS * self.scale
        axes.set_xlim(content.x.low, content.x.high)
        axes.set_ylim(content.y.low, content.y.high)
        axes.set_xticks([value for value, _ in content.x.ticks], [text for _, text in content.x.ticks])
        heights = [(y, fill(text, LABEL)) for y, text in content.rows] or list(content.y.ticks)
        axes.set_yticks([value for value, _ in heights], [text for _, text in heights])
        axes.tick_params(labelsize=size, length=0, colors=inks()["muted"][0])
        axes.grid(color=inks()["grid"][0], linewidth=0.6 * self.scale)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set_visible(False)
        if content.x.name:
            axes.set_xlabel(fill(content.x.name, int(content.width / LETTER)), fontsize=size)
        if content.y.name:
            axes.set_ylabel(fill(content.y.name, int(content.height / LETTER)), fontsize=size)
        if content.title:
            axes.set_title(content.title, fontsize=size, loc="left", fontweight="bold")
        for part in content.parts:
            getattr(self, part.method)(**part.arguments)

    def _width(self, kind: str) -> float:
        return float(KINDS[kind].get("stroke-width", 1)) * POINTS_PER_PIXEL * self.scale

    @staticmethod
    def _alpha(kind: str) -> float:
        return float(KINDS[kind].get("fill-opacity", KINDS[kind].get("stroke-opacity", 1)))

    def _stroke(self, ink: str, kind: str, dash: str = "") -> dict[str, Any]:
        """Return how a line is drawn: its colour, width, opacity and dashes."""
        width = self._width(kind)
        lengths = [float(length) * POINTS_PER_PIXEL * self.scale / width for length in dash.split()]
        return {"color": inks()[ink][0], "linewidth": width, "alpha": self._alpha(kind),
                "linestyle": (0, lengths) if lengths else "-"}

    def line(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "", kind: str = "line",
             dash: str = "", steps: bool = False) -> None:
        """Draw a line, as `Panel.line` does."""
        self.axes.plot(x, y, drawstyle="steps-post" if steps else "default", gid=name or None,
                       **self._stroke(ink, kind, dash))

    def lines(self, lines: Sequence[tuple[Sequence[float], Sequence[float]]], ink: str, kind: str = "thin") -> None:
        """Draw several lines, as `Panel.lines` does."""
        for x, y in lines:
            self.line(x, y, ink, kind=kind)

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str,
             kind: str = "band") -> None:
        """Fill between two lines, as `Panel.band` does."""
        self.axes.fill_between(x, low, high, color=inks()[ink][0], alpha=self._alpha(kind), linewidth=0)

    def marks(self, x: Sequence[float], y: Sequence[float], ink: str, marker: str = "o", *, name: str = "",
              size: float | Sequence[float] = 4.0, kind: str = "mark") -> None:
        """Draw markers, as `Panel.marks` does."""
        colour, paper = inks()[ink][0], inks()["paper"][0]
        is_open = kind in ("ring", "hollow")
        diameters = 2 * np.asarray(size, float) * POINTS_PER_PIXEL * self.scale
        self.axes.scatter(
            x, y, s=diameters**2, marker=marker, gid=name or None, zorder=3, linewidths=self._width(kind),
            facecolors=paper if is_open else colour, edgecolors=colour if is_open else paper)

    def dots(self, x: Sequence[float], y: Sequence[float], ink: str, *, name: str = "") -> None:
        """Draw many small points, as `Panel.dots` does."""
        self.axes.scatter(x, y, s=self._width("dots")**2, color=inks()[ink][0], alpha=self._alpha("dots"),
                          linewidths=0, gid=name or None)

    def ranges(self, at: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str, *,
               upright: bool = True, kind: str = "range") -> None:
        """Draw intervals, as `Panel.ranges` does."""
        (self.axes.vlines if upright else self.axes.hlines)(
            at, low, high, colors=inks()[ink][0], linewidth=self._width(kind), alpha=self._alpha(kind))

    def ticks(self, at: Sequence[float], lengths: Sequence[float], ink: str, *, above: bool) -> None:
        """Draw strokes from an edge inwards, as `Panel.ticks` does."""
        shares = np.asarray(lengths, float) / self.content.height
        start, ends = (1.0, 1 - shares) if above else (0.0, shares)
        self.axes.vlines(at, start, ends, colors=inks()[ink][0], linewidth=self._width("thin"),
                         transform=self.axes.get_xaxis_transform())

    def bars(self, edges: Sequence[float], heights: Sequence[float], ink: str, *, name: str = "", kind: str = "fill",
             bases: Sequence[float] | None = None, gap: float = 0.6) -> None:
        """Draw bars between edges, as `Panel.bars` does."""
        del gap
        ends = np.asarray(edges, float)[: len(heights) + 1]
        self.axes.bar(ends[:-1], heights, np.diff(ends), bottom=bases or 0.0, align="edge", color=inks()[ink][0],
                      alpha=self._alpha(kind), linewidth=0, gid=name or None)

    def hang(self, edges: Sequence[float], lengths: Sequence[float], tops: Sequence[float], ink: str) -> None:
        """Draw bars from their tops, as `Panel.hang` does."""
        left, right = np.asarray(edges, float)[::2], np.asarray(edges, float)[1::2]
        self.axes.bar(left, lengths, right - left, bottom=tops, align="edge", color=inks()[ink][0],
                      alpha=self._alpha("light"), linewidth=0)

    def rule(self, ink: str, *, x: float | None = None, y: float | None = None, dash: str = "",
             kind: str = "thin") -> None:
        """Draw a line across the panel, as `Panel.rule` does."""
        for draw, value in ((self.axes.axvline, x), (self.axes.axhline, y)):
            if value is not None:
                draw(value, **self._stroke(ink, kind, dash))

    def span(self, low: float, high: float, ink: str = "muted", kind: str = "band") -> None:
        """Shade between two values of the horizontal axis, as `Panel.span` does."""
        self.axes.axvspan(low, high, color=inks()[ink][0], alpha=self._alpha(kind), linewidth=0)

    def box(self, left: float, right: float, below: float, above: float, ink: str) -> None:
        """Shade a rectangle, as `Panel.box` does."""
        self.axes.fill([left, right, right, left], [below, below, above, above], color=inks()[ink][0],
                       alpha=self._alpha("band"), linewidth=0)

    def row_bar(self, y: float, low: float, high: float, half: float, ink: str, kind: str) -> None:
        """Draw a bar along a row, from ``low`` to ``high``, ``half`` as high on either side of its middle."""
        self.axes.barh(y, high - low, 2 * half, left=low, color=inks()[ink][0], alpha=self._alpha(kind), linewidth=0)

    def stroke(self, x: float, y: float, half: float, ink: str, kind: str) -> None:
        """Draw a stroke across a row at ``x``, ``half`` as long on either side of its middle."""
        self.axes.vlines(x, y - half, y + half, colors=inks()[ink][0], linewidth=self._width(kind))

    def write(self, x: float, y: float, text: str, ink: str = "ink", anchor: str = "") -> None:
        """Write a text, as `Panel.write` does."""
        self.axes.text(x, y, text, color=inks()[ink][0], ha=ANCHORS[anchor], va="center",
                       fontsize=POINTS * self.scale, clip_on=False)

    def legend(self, entries: Sequence[KeyEntry]) -> None:
        """Add a legend of what the card labels on its lines, and of its key."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = []
        markers = {part.arguments["ink"]: part.arguments.get("marker", "o") for part in self.content.parts
                   if part.method == "marks"}
        for entry in {entry.text: entry for entry in entries}.values():
            if entry.kind in ("band", "faint", "fill", "light", "solid"):
                handles.append(Patch(color=inks()[entry.ink][0], alpha=self._alpha(entry.kind), label=entry.text))
                continue
            has_line = entry.kind not in ("mark", "ring", "hollow")
            stroke = self._stroke(entry.ink, entry.kind if has_line else "line", entry.dash)
            stroke |= {} if has_line else {"linestyle": "none"}
            marker = entry.marker or ("" if has_line else markers.get(entry.ink, "o"))
            handles.append(Line2D([], [], marker=marker, markersize=5 * self.scale, label=entry.text, **stroke))
        if handles:
            above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1)}
            self.axes.legend(handles=handles, fontsize=POINTS * self.scale, edgecolor="none", framealpha=0.8,
                             **(above if self.content.rows else {}))
