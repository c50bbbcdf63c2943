"""What a card is made of: sections of blocks, blocks of pieces of text, all of them frozen values.

How a section is written. The ``card.py`` of a chapter has a function ``sections(results) -> Iterator[Section]``,
which yields nothing where the results hold nothing for it. Contents, order and figure numbers follow from the part of
the card that a section is in, then from the order of the chapters; the HTML from `templates/blocks.html`, which has a
macro of the name of each class below. So a section is written in words and numbers alone::

    def sections(results: Results) -> Iterator[Section]:
        if results.thresholds:
            rows = tuple(Row((row.model, shown(row))) for row in results.thresholds)
            columns = (Column("Model"), Column("Threshold", "num"))
            yield Section("thresholds", "Thresholds", (
                Text(("All are in ", Code("results.json"), "."), "lead"),
                Table(f"Thresholds{with_limits(results, rows)}", columns, rows), Figures(partial(sweeps, results))),
                part="decisions")

A text or a cell of a table is a string, a `Number` or another piece, or a tuple of pieces, which are joined as they
are; an `Aside` puts a space before itself. Markup is escaped by the templates. A style is a class of `card.css`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

from evalpipe.card.palette import model_look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalpipe.card.figures.svg import Drawing


@dataclass(frozen=True, slots=True)
class Explored:
    """A model in the table of an explorer: its key in the data, its label and its look (ink, colour, marker)."""

    key: str
    label: str
    look: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ModelBoxes:
    """Boxes that show or hide the models of each look; only where the page runs its script.

    ``models`` are the inks, each with the labels of its models.
    """

    models: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Explorer:
    """Sliders, a table of the models at their setting, and the ``data`` they work on, as JSON; nothing on paper.

    ``groups`` are the sets of rows to choose from; ``columns`` the keys and heads of the measures.
    """

    data: str
    groups: tuple[str, ...]
    models: tuple[Explored, ...]
    counts: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    description: str


@dataclass(frozen=True, slots=True)
class Number:
    """A value as it is shown: ``value``, its ``interval``, what to ``note`` about it, and its ``exact`` digits.

    Without exact digits the value is words that say why there is no number. ``letter`` points to a remark under the
    table.
    """

    value: str
    interval: str | None = None
    note: str | None = None
    exact: str | None = None
    letter: str = ""

    @property
    def text(self) -> str:
        """The number on one line, such as ``0.785 (0.776–0.793)``."""
        return f"{self.value} ({self.interval})" if self.interval else self.value


@dataclass(frozen=True, slots=True)
class Aside:
    """Words beside others, in a style of their own such as "options" or "definition"; a space stands before them."""

    text: Cell
    style: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Words on a further line of their own."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: Cell
    style: str = ""


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Words that are stressed."""

    text: Cell


@dataclass(frozen=True, slots=True)
class Code:
    """A name or a text of the machine; ``title`` is the whole of one that is shortened."""

    text: str
    title: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cite:
    """A reference to the literature."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a section, a heading or a row of the card, by its anchor; ``name`` is what a screen reader says."""

    text: str
    anchor: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """A link that leaves the card, to an address of the web or of mail; nothing is loaded from it."""

    text: Cell
    address: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word with the sign that stands before it, coloured by its style."""

    text: str
    sign: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Styled:
    """A cell in a style of its own."""

    text: Cell
    style: str


Piece = str | Number | Aside | Line | Strong | Emphasis | Code | Cite | Link | ExternalLink | Verdict | Styled
Cell = Piece | tuple[Piece, ...]


def plain(cell: Cell) -> str:
    """Return the words of a text or a cell as a reader sees them, without styles."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, tuple):
        return "".join(map(plain, cell))
    if isinstance(cell, Number):
        return " ".join(filter(None, (f"{cell.value}{cell.letter}", cell.interval and f"({cell.interval})", cell.note)))
    if isinstance(cell, Verdict):
        return f"{cell.sign} {cell.text}"
    return f"{' ' if isinstance(cell, Aside | Line) else ''}{plain(cell.text)}"


def numbers_in(cell: Cell | tuple[Cell, ...]) -> Iterator[Number]:
    """Yield the numbers of a cell, styled or not, or of several cells."""
    if isinstance(cell, Number):
        yield cell
    elif isinstance(cell, Styled):
        yield from numbers_in(cell.text)
    elif isinstance(cell, tuple):
        for piece in cell:
            yield from numbers_in(piece)


__all__ = [
    "Aside", "Block", "BlockGroup", "Bullets", "Cell", "Cite", "Code", "Column", "Dot", "DotPlot", "Emphasis",
    "ExternalLink", "Facts", "Figures", "Fold", "Formula", "Group", "Head", "Heading", "Line", "Link", "Number", "Part",
    "Piece", "Preformatted", "ReaderQuestion", "Row", "RowAnchor", "Section", "Strong", "Styled", "Table", "TableCell",
    "Text", "Verdict", "numbers_in", "plain",
]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with its head; ``shown`` leaves it out where it says nothing.

    Columns side by side with the same ``over`` share this head above their own.
    """

    head: str
    align: Literal["text", "num"] = "text"
    style: str = ""
    shown: bool = True
    over: str = ""


@dataclass(frozen=True, slots=True)
class RowAnchor:
    """The id of a row that links go to, and the numbers that it shows: see `tables.py`."""

    id: str
    numbers: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, with a cell for each column, shown or not; the last of a shorter row fills the rest."""

    cells: tuple[Cell, ...]
    style: str = ""
    anchor: RowAnchor | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A heading over the rows that follow, up to the next one."""

    heading: Cell


@dataclass(frozen=True, slots=True)
class Head:
    """A head cell as the template writes it."""

    text: str
    style: str
    scope: str = "col"
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell as the template writes it: how many columns it takes, and whether it heads its row."""

    content: Cell
    head: str
    style: str
    heads: bool
    columns: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows from which on a table is folded on a page; a PDF has them in the section of its annex at ``anchor``."""

    rows: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table. One cell of each row heads it: the first, or that of the column ``heading``.

    ``label`` names the table for a screen reader where the caption is too long. A ``stacked`` table shows its cells
    one below the other on a phone; any other scrolls sideways. Beyond ``most`` rows, and beyond the limit of the PDF,
    the file ``rest`` is pointed to. ``remarks`` are those that letters in the cells point to. The rows after those of
    ``fold`` are not shown at once.
    """

    caption: Cell
    columns: tuple[Column, ...]
    rows: tuple[Row | Group, ...]
    style: str = "compact"
    stacked: bool = False
    label: str = ""
    heading: int = 0
    foot: tuple[Row, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()
    most: int | None = None
    rest: str = "results.json"
    fold: Fold | None = None

    @property
    def at_once(self) -> Table:
        """The table without the rows that are folded."""
        return self if self.folded is None else self._part(self.rows[: self._folded_from])

    @property
    def folded(self) -> Table | None:
        """The table of the rows that are folded; None without any."""
        if self.fold is None or self.whole <= self.fold.rows:
            return None
        rest = self._part(self.rows[self._folded_from :])
        return replace(rest, caption=f"{plain(self.caption)}: further rows", label=f"{self.region}, further rows")

    def _part(self, rows: tuple[Row | Group, ...]) -> Table:
        """Return the table of some of its rows, with the remarks that these point to."""
        letters = {number.letter for row in rows if isinstance(row, Row) for number in numbers_in(row.cells)}
        return replace(self, rows=rows, fold=None, remarks=tuple(
            (letter, remark) for letter, remark in self.remarks if letter in letters))

    @property
    def _folded_from(self) -> int:
        """The index of the first row that is folded."""
        indices = [index for index, row in enumerate(self.rows) if isinstance(row, Row)]
        return indices[self.fold.rows] if self.fold is not None else len(self.rows)

    @property
    def region(self) -> str:
        """The name of the scrolling region, for screen readers: the label, or else the caption."""
        return self.label or plain(self.caption)

    @property
    def shown(self) -> tuple[int, ...]:
        """The indices of the columns that are shown."""
        return tuple(index for index, column in enumerate(self.columns) if column.shown)

    @property
    def heads(self) -> tuple[tuple[Head, ...], ...]:
        """The head rows of the table: one, or two where columns share a heading above theirs."""
        columns = [self.columns[index] for index in self.shown]
        if not any(column.over for column in columns):
            return (tuple(Head(column.head, _css_classes(column)) for column in columns),)
        upper: list[Head] = []
        for shared_head, columns_below in groupby(columns, key=lambda column: column.over):
            group = list(columns_below)
            upper += [Head(shared_head, _css_classes(group[0]), "colgroup", columns=len(group))] if shared_head else [
                Head(column.head, _css_classes(column), rows=2) for column in group]
        return tuple(upper), tuple(Head(column.head, _css_classes(column)) for column in columns if column.over)

    @property
    def whole(self) -> int:
        """The number of all rows, headings of groups not counted."""
        return sum(isinstance(row, Row) for row in self.rows)

    def kept(self, limit: int | None) -> int:
        """Return how many rows are shown in a format with at most ``limit`` rows a table; None for no limit."""
        return min(maximum for maximum in (self.whole, self.most, limit) if maximum is not None)

    def bodies(self, limit: int | None) -> Iterator[tuple[Group | None, tuple[Row, ...]]]:
        """Yield each group heading with the rows under it, ``limit`` rows in all; None for rows without a heading."""
        rows_left, heading, rows = self.kept(limit), None, list[Row]()
        is_cut = rows_left < self.whole
        for row in self.rows:
            if is_cut and not rows_left:
                break
            if isinstance(row, Group):
                if rows or heading is not None:
                    yield heading, tuple(rows)
                heading, rows = row, []
            else:
                rows.append(row)
                rows_left -= 1
        if rows or heading is not None:
            yield heading, tuple(rows)

    def line(self, row: Row) -> Iterator[TableCell]:
        """Yield the cells of a row in the shown columns; the last of a shorter row spans the rest of them."""
        indices = [index for index in self.shown if index < len(row.cells)]
        for index in indices:
            column, cell = self.columns[index], row.cells[index]
            span = len(self.shown) - len(indices) + 1 if index == indices[-1] else 1
            content_style = cell.style if isinstance(cell, Styled) else ""
            style = " ".join(filter(None, (_css_classes(column) if span == 1 else column.style, content_style)))
            yield TableCell(cell, column.head, style, index == self.heading, span)


def _css_classes(column: Column) -> str:
    """Return the CSS classes of a column's cells."""
    return " ".join(filter(None, ("num" if column.align == "num" else "", column.style)))


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: Cell
    style: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section, with the anchor that links go to."""

    text: Cell
    level: Literal[3, 4] = 3
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms and what they are, in words or in blocks: "facts" beside each other, "rules" one below the other.

    On paper rules stand in rows of two; long ones have rows of their own, which pages may split.
    """

    entries: tuple[tuple[str, Cell | tuple[Block, ...]], ...]
    style: Literal["facts", "rules"] = "facts"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of words or of blocks; with a ``start``, its items are numbered from there on."""

    items: tuple[Cell | tuple[Block, ...], ...]
    style: str = ""
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Preformatted:
    """A command or a file, letter by letter."""

    text: str
    style: Literal["command", "spec"] = "command"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX; set as a drawing where that is possible. ``key`` keeps the ids of drawings apart."""

    key: str
    latex: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures side by side, drawn when the page is made; ``above`` stands over them, ``instead`` where there is none.

    Figures are heavy: ``draw`` imports what draws them.
    """

    draw: Callable[[], Iterable[Drawing]]
    above: tuple[Block, ...] = ()
    instead: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """Blocks that belong together, laid out by their style; a ``label`` makes them a note of that name."""

    blocks: tuple[Block, ...]
    style: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A line of a dot plot; ``at``, ``low`` and ``high`` are places across it, in per cent of its width."""

    label: str
    at: float
    low: float | None
    high: float | None
    text: Cell
    model: int

    @property
    def look(self) -> tuple[str, str, str]:
        """The ink of the model, its colour on light paper, and the outline of its marker."""
        return model_look(self.model)


@dataclass(frozen=True, slots=True)
class DotPlot:
    """Estimates of one measure as dots with their intervals; ``limits`` are lines across, as are ``ticks``."""

    title: str
    dots: tuple[Dot, ...]
    limits: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line over nights, the last one marked; None breaks it. ``points`` are (x in per cent, y in `HIGH` pixels)."""

    label: str
    points: tuple[tuple[float, float] | None, ...]
    band: tuple[float, float] | None
    text: Cell
    model: int

    HIGH: ClassVar[float] = 24.0
    """Pixels from the top of the line's room to the bottom."""

    @property
    def look(self) -> tuple[str, str, str]:
        """The ink of the model, its colour on light paper, and the outline of its marker."""
        return model_look(self.model)

    @property
    def segments(self) -> tuple[tuple[float, float, float, float], ...]:
        """The straight parts of the line, each as (x, y, x, y) of its ends."""
        return tuple((*start, *end) for start, end in pairwise(self.points) if start is not None and end is not None)


@dataclass(frozen=True, slots=True)
class Sparklines:
    """Measures over nights as lines without axes; a ``band`` is from one height to another."""

    title: str
    lines: tuple[Sparkline, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar: its ``kind``, for its colour, the ``count`` that it stands for, and what that is called."""

    kind: Literal["found", "missed", "alarms", "left", "none"]
    count: int
    words: str


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A bar across the whole width, cut in parts; ``ink`` is that of its model, whose name the sliders know it by."""

    label: str
    model: str
    ink: str
    parts: tuple[BarPart, ...]

    @property
    def placed(self) -> tuple[tuple[BarPart, float, float], ...]:
        """The parts of the bar as (part, start, width), both in per cent of the bar."""
        counts = [part.count for part in self.parts]
        per_count = 100 / sum(counts)
        return tuple((part, round(sum(counts[:index]) * per_count, 2), round(part.count * per_count, 2))
                     for index, part in enumerate(self.parts))


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Bars one below the other; ``events`` is what events are called in the caption, for the sliders to write it."""

    title: str
    caption: str
    bars: tuple[StackedBar, ...]
    events: str
    more: str = ""


Part = Literal[
    "use", "requirements", "results", "groups", "calibration", "comparison", "decisions", "data", "model", "risks",
    "monitoring", "findings", "changes", "sign_off", "appendix",
]
"""The parts of the card, in their order."""

Block = (Text | Heading | Table | Facts | Bullets | Preformatted | Formula | Figures | BlockGroup | DotPlot
         | Sparklines | StackedBars | Explorer | ModelBoxes)


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question that readers come with, and the anchor of the section that answers it."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the card, with its entry in the contents, in a part of the card (`card/contents.py`).

    A section of the appendix is folded on a screen; a link into it opens it. One on ``paper`` is in the PDF alone.
    One that answers a ``question`` has its anchor too.
    """

    anchor: str
    title: Cell
    blocks: tuple[Block, ...]
    style: str = ""
    part: Part = "results"
    paper: bool = False
    question: ReaderQuestion | None = None
