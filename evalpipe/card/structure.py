"""What WeasyPrint leaves out of the structure of a PDF: which cells head which, and bookmarks that differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def mend(pdf: Any) -> None:
    """Complete the structure of a document of pydyf, as it is about to be written.

    The head cells of tables say what they head and each cell names those over and beside it, a cell that heads several
    columns or a group of rows too; a file is listed once; bookmarks of the same title are told apart; resources that
    are named and empty are left out, as validators stop at their names.
    """
    dictionaries = [part for part in pdf.objects if isinstance(part, dict)]
    tables = [part for part in dictionaries if part.get("Type") == "/StructElem" and part["S"] == "/Table"]
    heads = [head for table in tables for head in _Table(pdf).read(table)]
    if heads:
        _list_by_id(pdf, heads)
    for part in dictionaries:
        for name in [name for name in ("Pattern", "Shading") if name in part and not part[name]]:
            del part[name]
    if "AF" in pdf.catalog:
        pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    if "Outlines" in pdf.catalog:
        _tell_apart(list(_bookmarks(pdf, _object(pdf, pdf.catalog["Outlines"]))))


def _object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]


def _elements(pdf: Any, parent: Any) -> Iterator[Any]:
    """Yield the elements within an element; what it has on its page is left out."""
    for child in parent["K"]:
        if isinstance(child, bytes) and "S" in (element := _object(pdf, child)):
            yield element


@dataclass
class _Table:
    """A table as it is read, row by row: how far cells reach down, and which heads are over each column."""

    pdf: Any
    below: dict[int, int] = field(default_factory=dict)
    over: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    group: list[Any] = field(default_factory=list)
    heads: list[Any] = field(default_factory=list)

    def read(self, table: Any) -> list[Any]:
        """Set what the cells of the table head, or are headed by, and return the head cells."""
        for part in _elements(self.pdf, table):
            self.group = []
            for row in _elements(self.pdf, part) if part["S"] in {"/THead", "/TBody", "/TFoot"} else ():
                self._row([cell for cell in _elements(self.pdf, row) if cell["S"] in {"/TH", "/TD"}],
                          in_head=part["S"] == "/THead")
        return self.heads

    def _row(self, cells: Sequence[Any], *, in_head: bool) -> None:
        import pydyf

        placed, beside = list(self._placed(cells)), list[Any]()
        for cell, columns in placed:
            if cell["S"] == "/TH":
                over = in_head or len(placed) == 1
                cell["A"]["Scope"] = "/Column" if over else "/Row"
                self.heads.append(cell)
                if not over:
                    beside.append(cell["ID"])
                elif in_head:
                    for column in columns:
                        self.over[column].append(cell["ID"])
                else:
                    self.group = [cell["ID"]]
        for cell, columns in placed:
            if cell["S"] == "/TD":
                names = [*self.group, *beside, *(name for column in columns for name in self.over[column])]
                cell["A"].pop("Headers", None)
                if names:
                    cell["A"]["Headers"] = pydyf.Array(dict.fromkeys(names))

    def _placed(self, cells: Sequence[Any]) -> Iterator[tuple[Any, range]]:
        """Yield the cells of a row with their columns, beside the cells that reach down from rows above."""
        column, above, self.below = 0, self.below, {}
        for cell in cells:
            while above.get(column, 0):
                column += 1
            columns = range(column, column + cell["A"].get("ColSpan", 1))
            self.below |= dict.fromkeys(columns, cell["A"].get("RowSpan", 1) - 1)
            yield cell, columns
            column = columns.stop
        self.below |= {place: rows - 1 for place, rows in above.items() if rows}


def _list_by_id(pdf: Any, heads: Sequence[Any]) -> None:
    """List the elements that others name, as a PDF asks for."""
    import pydyf

    names = sorted(((head["ID"], head.reference) for head in heads), key=lambda pair: pair[0].data)
    tree = pydyf.Dictionary({"Names": pydyf.Array(part for pair in names for part in pair)})
    pdf.add_object(tree)
    _object(pdf, pdf.catalog["StructTreeRoot"])["IDTree"] = tree.reference


def _bookmarks(pdf: Any, parent: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each bookmark with the titles above it, the nearest first."""
    at = parent.get("First")
    while at is not None:
        bookmark = _object(pdf, at)
        yield bookmark, above
        yield from _bookmarks(pdf, bookmark, (bookmark["Title"].string, *above))
        at = bookmark.get("Next")


def _tell_apart(bookmarks: Sequence[tuple[Any, tuple[str, ...]]]) -> None:
    """Put the title above before titles that several bookmarks have, and a number behind what is still the same."""
    titles = [bookmark["Title"].string for bookmark, _ in bookmarks]
    for height in range(max((len(above) for _, above in bookmarks), default=0)):
        times = Counter(titles)
        titles = [f"{above[height]}: {title}" if times[title] > 1 and len(above) > height else title
                  for title, (_, above) in zip(titles, bookmarks, strict=True)]
    times, taken = Counter(titles), Counter[str]()
    for title, (bookmark, _) in zip(titles, bookmarks, strict=True):
        taken[title] += 1
        bookmark["Title"].string = f"{title} ({taken[title]})" if times[title] > 1 else title
