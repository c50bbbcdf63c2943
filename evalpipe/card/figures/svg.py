"""Figures as SVG: how each model is drawn in all of them, the sheet that is drawn on, and a finished figure.

The SVG has few elements and is 330 pixels wide, so that its text has one size on every page and phone.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from evalpipe.card.figures.axes import LINE, SIZE, width, wrap
from evalpipe.card.palette import MARKERS, MODELS, OUTLINES, STROKES, attributes, colour_index
from evalpipe.card.wording import number_word
from evalpipe.words.spelling import isolated, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.card.figures.axes import Axis


MOST_WORDS = 25
"""The words of a caption: the title of a figure, and what it says."""

MOST_SAID = 3
"""Clauses of a caption that say the same of several models, or of several groups."""

BETWEEN = re.compile(r"(?<=[;.]) ")
"""Where one clause of a sentence ends and the next begins."""

IN_NOTES = "Its notes say what it shows."
"""What stands in place of a clause that is longer than a caption, as a name without end makes it."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """What a figure says, in clauses of which the first matters most; none ends with a full stop.

    ``about`` is what there is a clause of for each, such as "model", empty where those left out are not counted;
    ``at_length`` are the same clauses as the notes of the figure have them, where these say more.
    """

    short: tuple[str, ...]
    about: str = "model"
    at_length: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All clauses as a sentence for the notes; at most `MOST_SAID` where ``about`` names their subject."""
        return joined_clauses(self.at_length or self.short, self.about)

    def fitting(self, room: int) -> str:
        """Return the clauses that fit in ``room`` words as one sentence, with the number of those left out."""
        if not self.short or room <= 0:
            return ""
        if not self.about and len(self.whole.split()) <= room:
            return self.whole
        for count in range(min(len(self.short), MOST_SAID), -1, -1):
            more = _and_more(len(self.short) - count, self.about) if count else ""
            text = f"{'; '.join(self.short[:count or 1])}{more}."
            if len(text.split()) <= room:
                return text
        # The name before the colon is cut.
        name, colon, words = self.short[0].partition(": ")
        left = room - len(words.split())
        if colon and left >= 1:
            return f"{' '.join(name.split()[:left])}…: {words}."
        return IN_NOTES if len(IN_NOTES.split()) <= room else ""


def split_into_clauses(sentence: str) -> Clauses:
    """Split a finding into clauses at semicolons and full stops; its long form is the whole text."""
    return Clauses(tuple(clause.rstrip(";.") for clause in BETWEEN.split(sentence) if clause), "", (sentence,))


def joined_clauses(clauses: Sequence[str], about: str = "model") -> str:
    """Join clauses by semicolons to one sentence: the first `MOST_SAID` of them, and the number of the others.

    ``about`` is the noun for what each clause is on, such as "model"; without one all clauses are joined.
    """
    most = MOST_SAID if about else len(clauses)
    text = "; ".join(clauses[:most]).removesuffix(".")
    return f"{text}{_and_more(len(clauses) - most, about)}." if clauses else ""


def _and_more(number: int, about: str) -> str:
    """Return the end of a sentence on what is left out, such as "; and two more models"; empty without any."""
    if number <= 0 or not about:
        return ""
    return f"; and {number_word(number)} more {about if number == 1 else plural(about)}"


MOST_POINTS, LEAST_POINTS = 48, 6
"""Rows of the table behind a figure, and the fewest of each series in it."""


@dataclass(frozen=True, slots=True)
class Series:
    """How one model is drawn in every figure: its ink, its marker, and its stroke where it shares a panel."""

    name: str
    label: str
    ink: str
    marker: str
    dash: str = ""


@dataclass(frozen=True, slots=True)
class PointSeries:
    """Points that a figure draws, for the table behind it: the name of their series, and their columns by name."""

    name: str
    columns: dict[str, list[float] | list[str]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure.

    ``in_short`` is what it says beneath it, ``finding`` the same at length, ``caption`` how to read it, ``alt`` the
    alternative text; ``svgs`` are its sheets for the screen, ``images`` those for print; ``points`` are what it draws.
    """

    key: str
    title: str
    in_short: str
    finding: str
    caption: str
    alt: str
    svgs: tuple[str, ...]
    images: tuple[str, ...]
    points: tuple[PointSeries, ...] = ()
    sheets: tuple[Sheet, ...] = field(default=(), compare=False)

    @property
    def said(self) -> str:
        """The finding in short, beneath the figure; custom templates know it by this name."""
        return self.in_short

    @property
    def reading(self) -> str:
        """The text below the figure: the caption, after the finding at length where it says more than in short."""
        return self.caption if self.in_short == self.finding else f"{self.finding} {self.caption}"

    @property
    def svg(self) -> str:
        """All sheets of the figure, for the screen."""
        return "".join(self.svgs)


@dataclass(frozen=True, slots=True)
class PointTable:
    """Points of a figure as a table: its heads, its rows as text, and how many points are ``left_out``."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int

    @property
    def by_series(self) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
        """Pairs (name, rows) of each series, in order; a row begins with the name."""
        return tuple((name, tuple(rows)) for name, rows in groupby(self.rows, key=lambda row: row[0]))


def data_tables(drawing: Drawing) -> list[PointTable]:
    """Return the points of a figure as tables, one for each set of columns, with long series thinned evenly."""
    groups: dict[tuple[str, ...], list[PointSeries]] = {}
    for series in drawing.points:
        groups.setdefault(tuple(series.columns), []).append(series)
    tables = []
    for columns, members in groups.items():
        most = max(LEAST_POINTS, MOST_POINTS // len(members))
        rows: list[tuple[str, ...]] = []
        left_out = 0
        for member in members:
            points = list(zip(*member.columns.values(), strict=True))
            if len(points) > most:
                left_out += len(points) - most
                points = [points[round(k * (len(points) - 1) / (most - 1))] for k in range(most)]
            rows += [(member.name, *(
                value if isinstance(value, str) else "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−")
                for value in point)) for point in points]
        tables.append(PointTable(("Series", *columns), tuple(rows), left_out))
    return tables


def series_of(models: Sequence[tuple[str, str]]) -> tuple[Series, ...]:
    """Return how models, pairs (name, label), are drawn: the ink, marker and stroke of each, by its place.

    Where they are more than the inks, all have the first: figures then give each a row or a panel.
    """
    places = [colour_index(index, len(models)) for index in range(len(models))]
    return tuple(Series(name, label, f"m{place}", MARKERS[place], STROKES[place])
                 for place, (name, label) in zip(places, models, strict=True))


def more_models_than_inks(models: Sequence[object]) -> bool:
    """Tell whether there are more models than inks, so that each gets a row or a panel of its own."""
    return len(models) > len(MODELS)


Pair = TypeVar("Pair")

WIDTH = 330
"""Pixels; a figure of several sheets stands in as many columns as there is room for, on a phone in one."""

FONTS = "'Source Sans 3', 'DejaVu Sans', sans-serif"
STACKED = 3
"""Panels that stand one below the other; more continue on a sheet beside it, so that no figure outgrows a page."""

SWATCH, GAP = 22, 14
"""Pixels of a sample in the key, and between two of its entries."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a figure: what is drawn, in which way and ink, and where."""

    tag: str
    kind: str
    ink: str
    attributes: str
    text: str = ""

    def to_svg(self, *, printed: bool) -> str:
        """Return the element as SVG, with a class for the screen, or ``printed`` with the colours of light paper."""
        style = (" ".join(f'{name}="{value}"' for name, value in attributes(self.kind, self.ink).items()) if printed
                else f'class="{self.kind} {self.ink}"')
        inside = f">{escape(self.text, quote=False)}</{self.tag}>" if self.text else "/>"
        return f"<{self.tag} {style} {self.attributes}{inside}"


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """An entry of the key: what is drawn like this, and what it is called.

    ``kind`` is the way it is drawn, "mark" with a ``marker``; ``dash`` are the lengths of strokes and gaps.
    """

    text: str
    ink: str
    kind: str = "line"
    marker: str = ""
    dash: str = ""


def number(value: float) -> str:
    """Return a coordinate as SVG text with at most one decimal, without needless digits."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.", "-.") if value else "0"


@dataclass(frozen=True, slots=True)
class PanelPart:
    """What a panel was told to draw, in the numbers of its axes: the name of its method, and its arguments by name."""

    method: str
    arguments: dict[str, Any]


@dataclass(slots=True, eq=False)
class PanelContent:
    """A panel without its place on a sheet, for whoever draws it otherwise than as SVG: its axes, and its parts.

    ``left``, ``top``, ``width`` and ``height`` are in pixels, ``rows`` are the heights and the labels of its rows,
    ``names`` the lines that asked for a label.
    """

    x: Axis
    y: Axis
    left: float
    top: float
    width: float
    height: float
    title: str = ""
    parts: list[PanelPart] = field(default_factory=list)
    rows: list[tuple[float, str]] = field(default_factory=list)
    names: list[KeyEntry] = field(default_factory=list)


@dataclass
class Sheet:
    """One SVG that grows downwards: what is drawn on it, how far it reaches, and the points drawn."""

    width: float = WIDTH
    bottom: float = 0.0
    nodes: list[Element] = field(default_factory=list)
    points: list[PointSeries] = field(default_factory=list)
    axes: list[tuple[float | str, ...]] = field(default_factory=list)
    """Of each panel its left, top, width and height, the ends of both axes, and the name of the horizontal one."""
    panels: list[PanelContent] = field(default_factory=list)
    entries: list[KeyEntry] = field(default_factory=list)
    """The panels on the sheet, and the entries of its key."""

    def path(self, d: str, kind: str, ink: str, dash: str = "") -> None:
        """Draw a path, if it has any commands ``d`` of SVG; ``kind`` is a way to draw, such as "line" or "band"."""
        if d:
            self.nodes.append(Element("path", kind, ink, f'd="{d}"' + (f' stroke-dasharray="{dash}"' if dash else "")))

    def write(self, x: float, y: float, text: str, ink: str = "ink", anchor: str = "", kind: str = "text") -> None:
        """Write one line of text, its base line at ``y``."""
        position = f'x="{number(x)}" y="{number(y)}"' + (f' text-anchor="{anchor}"' if anchor else "")
        self.nodes.append(Element("text", kind, ink, position, isolated(text)))

    def marker(self, x: float, y: float, marker: str, ink: str, size: float = 4.5, kind: str = "mark") -> None:
        """Draw one marker, its centre at (x, y)."""
        self.path(outline(x, y, marker, size), kind, ink)

    def heading(self, text: str, ink: str = "ink", left: float = 0.0, room: float | None = None) -> None:
        """Write a heading below all that is drawn, from ``left``, in lines of at most ``room`` pixels."""
        for line in wrap(text, self.width - left if room is None else room):
            self.bottom += LINE
            self.write(left, self.bottom - 4, line, ink, kind="bold")

    def key(self, entries: Iterable[KeyEntry]) -> None:
        """Write a key (legend) below all that is drawn, its entries side by side as far as they fit."""
        left, has_line = 0.0, False
        for entry in entries:
            self.entries.append(entry)
            lines = wrap(entry.text, self.width - SWATCH - 6)
            entry_width = SWATCH + 6 + max(map(width, lines))
            if not has_line or left + entry_width > self.width:
                self.bottom += LINE + 3
                left, has_line = 0.0, True
            self._draw_sample(entry, left, self.bottom - 4)
            for line_index, line in enumerate(lines):
                self.bottom += LINE if line_index else 0
                self.write(left + SWATCH + 6, self.bottom, line)
            left += entry_width + GAP if len(lines) == 1 else self.width
        self.bottom += 4

    def _draw_sample(self, entry: KeyEntry, left: float, y: float) -> None:
        """Draw the sample of an entry of the key, from ``left``, about the height ``y``."""
        if entry.kind in {"band", "faint", "fill", "light", "solid"}:
            self.path(f"M{number(left)},{number(y - 5)}h{SWATCH}v10h-{SWATCH}z", entry.kind, entry.ink)
        elif entry.kind not in {"mark", "ring", "hollow"}:
            self.path(f"M{number(left)},{number(y)}h{SWATCH}", entry.kind, entry.ink, entry.dash)
        if entry.marker:
            kind = entry.kind if entry.kind in {"ring", "hollow"} else "mark"
            self.marker(left + SWATCH / 2, y, entry.marker, entry.ink, kind=kind)

    def svg(self, *, printed: bool = False) -> str:
        """Return the SVG of the sheet, for the screen with classes, or ``printed`` with its own colours."""
        height = number(self.bottom + 3)
        short = [[float(f"{part:.6g}") if isinstance(part, float) else part for part in panel] for panel in self.axes]
        axes = f' data-axes="{escape(json.dumps(short, separators=(",", ":")))}"' if self.axes else ""
        svg_attributes = (f'xmlns="http://www.w3.org/2000/svg" font-family="{FONTS}" font-size="{SIZE}"' if printed
                             else f'class="chart" aria-hidden="true"{axes}')
        inside = "".join(node.to_svg(printed=printed) for node in self.nodes)
        width = number(self.width)
        return f'<svg {svg_attributes} width="{width}" height="{height}" viewBox="0 0 {width} {height}">{inside}</svg>'


def stacks(pairs: Sequence[Pair]) -> list[Sequence[Pair]]:
    """Divide the items that get a panel each among sheets, at most `STACKED` on each, as evenly as possible."""
    sheet_count = -(-len(pairs) // STACKED)
    per_sheet = -(-len(pairs) // max(sheet_count, 1))
    return [pairs[start : start + per_sheet] for start in range(0, len(pairs), per_sheet)]


def outline(x: float, y: float, marker: str, size: float) -> str:
    """Return the SVG path of a marker with its centre at (x, y)."""
    commands = []
    for command, coordinates in re.findall(r"([A-Za-z])([^A-Za-z]*)", OUTLINES[marker]):
        values = [float(value) for value in re.findall(r"-?\d*\.?\d+", coordinates)]
        if command in "ML":
            values = [values[0] * size + x, values[1] * size + y]
        elif command == "H":
            values = [values[0] * size + x]
        elif command == "a":
            values = [values[0] * size, values[1] * size, *values[2:5], values[5] * size, values[6] * size]
        else:
            values = [value * size for value in values]
        commands.append(command + " ".join(map(number, values)))
    return "".join(commands)


def drawing(key: str, title: str, texts: tuple[str | Clauses, str, str], sheets: Sequence[Sheet]) -> Drawing:
    """Return the finished figure from its sheets; ``texts`` are its finding, caption and alternative text."""
    finding, caption, alt = texts
    clauses = split_into_clauses(finding) if isinstance(finding, str) else finding
    return Drawing(
        key, title, clauses.fitting(MOST_WORDS - len(title.split())), clauses.whole, caption, alt,
        tuple(sheet.svg() for sheet in sheets),
        tuple(sheet.svg(printed=True) for sheet in sheets), tuple(points for s in sheets for points in s.points),
        tuple(sheets),
    )
