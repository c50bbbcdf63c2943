"""The card as a PDF/A: the same page, laid out for A4, which carries the results, the estimates and the spec.

What WeasyPrint leaves out of its structure is added: which cells head which, and bookmarks that differ.
"""

from __future__ import annotations

import ctypes.util
import io
import logging
import os
import re
import sys
import tempfile
import warnings
import zlib
from collections import Counter, defaultdict
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.base.folders import TemporaryFolder
from evalpipe.base.formats import USUAL_VARIANT
from evalpipe.card.assets import FACES, FALLBACKS, SCHEME, font_file
from evalpipe.card.edition import attached_files, drawing_programs
from evalpipe.card.html import write_page
from evalpipe.errors import InternalError, UsageError
from evalpipe.version import VERSION
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.card.edition import Edition
    from evalpipe.results import Results


TAG = re.compile(r"<(/?)(text|path)\b")
PREFIX = "pdf-"
"""What the names of elements begin with that `register_elements` adds."""

LEFT_OF_IT = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The share of a text that stands left of its anchor."""

COMMAND, NUMBER = re.compile(r"([A-Za-z])([^A-Za-z]*)"), re.compile(r"-?[\d.]+")
VALUES = {"M": 2, "L": 2, "H": 1, "V": 1, "Q": 4, "Z": 0}
"""How many numbers each command of a path has that `path_operators` translates."""


def with_pdf_elements(svg: str) -> str:
    """Return an evalpipe SVG with its texts and paths renamed to elements that WeasyPrint draws by this file."""
    return TAG.sub(rf"<\1{PREFIX}\2", svg)


def register_elements() -> None:
    """Register with WeasyPrint the elements ``pdf-text`` and ``pdf-path``; those of SVG are drawn as before."""
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


def complete_structure(pdf: Any) -> None:
    """Complete the structure of a PDF, a document of pydyf, just before it is written.

    The head cells of tables say what they head and each cell names those over and beside it, a cell that heads several
    columns or a group of rows too; a file is listed once; bookmarks of the same title are told apart; resources that
    are named and empty are left out, as validators stop at their names.
    """
    import pydyf

    dictionaries = [part for part in pdf.objects if isinstance(part, dict)]
    tables = [part for part in dictionaries if part.get("Type") == "/StructElem" and part["S"] == "/Table"]
    heads = [head for table in tables for head in _TableStructure(pdf).set_headers(table)]
    if heads:  # an index of them, which other cells name by their ids
        entries = sorted(((head["ID"], head.reference) for head in heads), key=lambda entry: entry[0].data)
        tree = pydyf.Dictionary({"Names": pydyf.Array(part for entry in entries for part in entry)})
        pdf.add_object(tree)
        _object_at(pdf, pdf.catalog["StructTreeRoot"])["IDTree"] = tree.reference
    for part in dictionaries:
        for name in [name for name in ("Pattern", "Shading") if name in part and not part[name]]:
            del part[name]
    if "AF" in pdf.catalog:
        pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    if "Outlines" in pdf.catalog:
        _make_titles_unique(list(_bookmarks(pdf, _object_at(pdf, pdf.catalog["Outlines"]))))


def _object_at(pdf: Any, reference: bytes) -> Any:
    """Return the object of a PDF that a reference such as ``b"12 0 R"`` names."""
    return pdf.objects[int(reference.split()[0])]


def _child_elements(pdf: Any, parent: Any) -> Iterator[Any]:
    """Yield the structure elements within an element, without its content on the page."""
    for child in parent["K"]:
        if isinstance(child, bytes) and "S" in (element := _object_at(pdf, child)):
            yield element


@dataclass
class _TableStructure:
    """A table as it is read, row by row: how far cells reach down, and which heads are over each column."""

    pdf: Any
    below: dict[int, int] = field(default_factory=dict)
    over: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    group: list[Any] = field(default_factory=list)
    heads: list[Any] = field(default_factory=list)

    def set_headers(self, table: Any) -> list[Any]:
        """Set the scope of the head cells and the heads of the other cells of a table; return the head cells."""
        for part in _child_elements(self.pdf, table):
            self.group = []
            for row in _child_elements(self.pdf, part) if part["S"] in {"/THead", "/TBody", "/TFoot"} else ():
                self._read_row([cell for cell in _child_elements(self.pdf, row) if cell["S"] in {"/TH", "/TD"}],
                               in_head=part["S"] == "/THead")
        return self.heads

    def _read_row(self, cells: Sequence[Any], *, in_head: bool) -> None:
        """Set the scope of the head cells of a row, and for its other cells the ids of their heads."""
        import pydyf

        placed, row_heads = list(self._cells_with_columns(cells)), list[Any]()
        for cell, columns in placed:
            if cell["S"] == "/TH":
                over = in_head or len(placed) == 1
                cell["A"]["Scope"] = "/Column" if over else "/Row"
                self.heads.append(cell)
                if not over:
                    row_heads.append(cell["ID"])
                elif in_head:
                    for column in columns:
                        self.over[column].append(cell["ID"])
                else:
                    self.group = [cell["ID"]]
        for cell, columns in placed:
            if cell["S"] == "/TD":
                names = [*self.group, *row_heads, *(name for column in columns for name in self.over[column])]
                cell["A"].pop("Headers", None)
                if names:
                    cell["A"]["Headers"] = pydyf.Array(dict.fromkeys(names))

    def _cells_with_columns(self, cells: Sequence[Any]) -> Iterator[tuple[Any, range]]:
        """Yield each cell of a row with the columns it covers, past those that cells from rows above cover."""
        column, above, self.below = 0, self.below, {}
        for cell in cells:
            while above.get(column, 0):
                column += 1
            columns = range(column, column + cell["A"].get("ColSpan", 1))
            self.below |= dict.fromkeys(columns, cell["A"].get("RowSpan", 1) - 1)
            yield cell, columns
            column = columns.stop
        self.below |= {spanned: rows - 1 for spanned, rows in above.items() if rows}


def _bookmarks(pdf: Any, parent: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each bookmark below ``parent`` with the titles above it, the nearest first."""
    reference = parent.get("First")
    while reference is not None:
        bookmark = _object_at(pdf, reference)
        yield bookmark, above
        yield from _bookmarks(pdf, bookmark, (bookmark["Title"].string, *above))
        reference = bookmark.get("Next")


def _make_titles_unique(bookmarks: Sequence[tuple[Any, tuple[str, ...]]]) -> None:
    """Put the titles above before bookmark titles that occur twice, and number those that are still the same."""
    titles = [bookmark["Title"].string for bookmark, _ in bookmarks]
    for height in range(max((len(above) for _, above in bookmarks), default=0)):
        times = Counter(titles)
        titles = [f"{above[height]}: {title}" if times[title] > 1 and len(above) > height else title
                  for title, (_, above) in zip(titles, bookmarks, strict=True)]
    times, numbered = Counter(titles), Counter[str]()
    for title, (bookmark, _) in zip(titles, bookmarks, strict=True):
        numbered[title] += 1
        bookmark["Title"].string = f"{title} ({numbered[title]})" if times[title] > 1 else title


if TYPE_CHECKING:
    File = tuple[bytes, str]

ROW_LIMIT = 300
"""Rows of a table in the PDF; long tables are slow to lay out and nobody reads them on paper."""

EPOCH = 946_684_800
"""The date of the fonts in the PDF, and of the files in it where the card is about no day: 2000-01-01, a constant, for
equal results give equal bytes."""

ISOLATED = re.compile("\N{FIRST STRONG ISOLATE}[^\N{POP DIRECTIONAL ISOLATE}]{,40}\N{POP DIRECTIONAL ISOLATE}")
"""A name that runs from right to left and is short enough for one line."""

DRAWING = ("weasyprint", "pydyf", "fonttools", "matplotlib")
"""The libraries of Python that decide the bytes of a PDF."""


def document(edition: Edition) -> bytes:
    """Render the card as PDF. Raises UsageError when a library of the operating system is missing."""
    results = edition.results
    with _own_temporary_folder(), _pinned_clock(), warnings.catch_warnings():
        # WeasyPrint leaves its own colour profile open until it is collected.
        warnings.simplefilter("ignore", ResourceWarning)

        def finish(_: Any, pdf: Any) -> None:  # WeasyPrint calls it before it writes
            complete_structure(pdf)
            _freeze_objects(pdf)

        laid_out = layout(edition)
        laid_out.metadata.generator = ", ".join(f"{name} {version}" for name, version in _drawing_versions().items())
        with letters_without_font() as letters:
            content = laid_out.write_pdf(attachments=list(_attachments(edition, load_weasyprint())),
                                         pdf_variant=_pdf_variant(results), pdf_tags=True,
                                         pdf_identifier=results.spec_sha256.encode("ascii", "replace")[:16],
                                         finisher=finish)
        edition.letters_without_font = letters
        return bytes(content)


@contextmanager
def letters_without_font() -> Iterator[list[str]]:
    """Collect in a list the letters that WeasyPrint, within the block, finds in no font; each stands in it once."""
    letters: list[str] = []

    class Collect(logging.Handler):
        """Keeps the letter of each warning on a missing glyph."""

        def emit(self, record: logging.LogRecord) -> None:
            """Collect the letter of a warning on a missing glyph."""
            if str(record.msg).startswith(".notdef") and isinstance(record.args, tuple) and record.args:
                letter = str(record.args[0])
                if letter not in letters:
                    letters.append(letter)

    logger, handler = logging.getLogger("weasyprint"), Collect()
    logger.addHandler(handler)
    try:
        yield letters
    finally:
        logger.removeHandler(handler)


def layout(edition: Edition) -> Any:
    """Lay the card out in pages and return WeasyPrint's document; raises UsageError where a library is missing."""
    weasyprint = load_weasyprint()
    from weasyprint.text.fonts import FontConfiguration

    register_elements()
    page = with_unbroken_names(write_page(edition, ROW_LIMIT, linked=True).decode("utf-8"))
    pictures = {address: (with_pdf_elements(svg).encode(), "image/svg+xml")
                for address, svg in edition.images().items()}
    fetcher, fonts = _own_files_fetcher(pictures), FontConfiguration()
    with _pinned_clock():
        laid_out = weasyprint.HTML(string=page, base_url=SCHEME, url_fetcher=fetcher, media_type="print").render(
            font_config=fonts, pdf_variant=_pdf_variant(edition.results), pdf_tags=True)
    # WeasyPrint itself goes on without what it cannot fetch.
    if fetcher.refused:
        raise InternalError.of(
            "outside-resource", f"the card asked for {fetcher.refused[0]}, which is not part of evalpipe",
            hint="this is a fault of the card's templates; nothing was fetched",
        )
    return laid_out


def with_unbroken_names(page: str) -> str:
    """Return a page with no-break spaces in right-to-left names, so that each stays on one line.

    On the second line of a name WeasyPrint no longer isolates it, and the numbers beside it change places.
    """
    return ISOLATED.sub(lambda name: name[0].replace(" ", "\N{NO-BREAK SPACE}"), page)


def load_weasyprint() -> Any:
    """Import the maker of PDFs; raises UsageError when a library of the operating system is missing."""
    try:
        with redirect_stdout(io.StringIO()), _libraries_by_full_name():  # a missing library is a banner on its output
            import weasyprint
    except OSError as error:
        raise UsageError.of(
            "missing-library", "the PDF cannot be made: the system library Pango is missing",
            hint="install it (Debian, Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0), "
            "or leave pdf out of report.formats",
            notes=(str(error).splitlines()[0],) if str(error) else (),
        ) from None
    return weasyprint


@contextmanager
def _libraries_by_full_name() -> Iterator[None]:
    """Have libraries of the system be opened by names such as ``libpango-1.0.so.0`` alone, on Linux.

    WeasyPrint asks for each under names of other systems first, and Python looks for these by running compilers.
    """
    find = ctypes.util.find_library
    if sys.platform == "linux":
        ctypes.util.find_library = lambda name: None  # noqa: ARG005
    try:
        yield
    finally:
        ctypes.util.find_library = find


def _drawing_versions() -> dict[str, str]:
    """Return the versions of all programs that the bytes of a PDF depend on; raises UsageError where one is missing."""
    load_weasyprint()
    from weasyprint.text.ffi import harfbuzz, pango

    number, parts = pango.pango_version(), [0, 0, 0]
    for index in range(3):  # HarfBuzz only tells whether it is at least some version
        while harfbuzz.hb_version_atleast(*(part + (index == k) for k, part in enumerate(parts))):
            parts[index] += 1
    return {"evalpipe": VERSION, **{name: metadata.version(name) for name in DRAWING},
            "pango": f"{number // 10_000}.{number // 100 % 100}.{number % 100}",
            "harfbuzz": ".".join(map(str, parts)), "zlib": zlib.ZLIB_RUNTIME_VERSION}


def version_difference(pdf: bytes) -> str | None:
    """Return why a PDF drawn here could have other bytes: versions that differ; None where all are equal."""
    try:
        versions_here = _drawing_versions()
    except UsageError as error:
        return error.problems[0].message
    versions_of_pdf = drawing_programs(pdf)
    if not versions_here.keys() <= versions_of_pdf.keys():
        return "it does not say which versions drew it"
    changed = [f"{name} was {versions_of_pdf[name]} and is {version}" for name, version in versions_here.items()
               if versions_of_pdf[name] != version]
    return f"drawn by another version ({joined(changed, 'and')}), as it says itself" if changed else None


def _own_files_fetcher(files: Mapping[str, File]) -> Any:
    """Return a fetcher for WeasyPrint that opens ``files``, packaged fonts and data inside the page, nothing else."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class OwnFilesOnly(URLFetcher):  # type: ignore[misc]
        """Refuses every address but those of ``files``, of fonts and ``data:``; remembers what it refused."""

        def __init__(self) -> None:
            super().__init__(allowed_protocols=("data",))
            self.refused: list[str] = []

        def fetch(self, url: str, headers: Any = None) -> Any:
            """Return the response for an address; raises ValueError for one that is refused."""
            if url.startswith("data:"):
                return super().fetch(url, headers)
            name = url.removeprefix(SCHEME)
            if url in files or name in {file for _, _, file in (*FACES, *FALLBACKS)}:
                content, kind = files[url] if url in files else (_font(name), "font/ttf")
                return URLFetcherResponse(url, content, {"Content-Type": kind})
            self.refused.append(url)
            raise ValueError(f"refused: {url}")

    return OwnFilesOnly()


@cache
def _font(name: str) -> bytes:
    """Return the TrueType file of a font, unpacked where it is WOFF2: that takes as long as laying out a page."""
    if not name.endswith(".woff2"):
        return font_of_matplotlib(name).read_bytes()
    from fontTools.ttLib import woff2

    unpacked = io.BytesIO()
    woff2.decompress(io.BytesIO(font_file(name)), unpacked)
    return unpacked.getvalue()


def font_of_matplotlib(name: str) -> Path:
    """Return the file of a font that matplotlib carries; raises UsageError where matplotlib is missing."""
    from importlib.util import find_spec

    # Found without being imported, which takes longer than all that is done with it.
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        raise UsageError.of("missing-library", "the PDF cannot be made: matplotlib, which has its fonts, is missing",
                            hint="install evalpipe again")
    return Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / name


def _pdf_variant(results: Results) -> str:
    """Return the PDF variant that the spec requests, or the usual one where the results name none."""
    return str(results.spec.get("report", {}).get("pdf_variant", USUAL_VARIANT))


def _attachments(edition: Edition, weasyprint: Any) -> Iterator[Any]:
    """Yield the attachments of a PDF for WeasyPrint, dated by the day of the card, or `EPOCH` without one."""
    epoch, as_of = datetime.fromtimestamp(EPOCH, UTC), edition.results.as_of
    date = epoch if as_of is None else datetime.fromisoformat(as_of).replace(tzinfo=UTC)
    for file in attached_files(edition):
        address = f"{SCHEME}{file.name}"
        yield weasyprint.Attachment(url=address, url_fetcher=_own_files_fetcher({address: (file.content, file.kind)}),
                                    name=file.name, created=date, modified=date, description=file.description,
                                    relationship=file.relationship)


def _freeze_objects(pdf: Any) -> None:
    """Compute the bytes of each object of a PDF once: pydyf reads them for the file and for its identifier."""
    import pydyf

    class Packed(pydyf.Object):  # type: ignore[misc]
        """An object that is written, and compressed, already."""

        def __init__(self, part: Any) -> None:
            super().__init__()
            self.number, self._compressible = part.number, part.compressible
            if isinstance(part, pydyf.Stream) and part.compress:
                # At zlib's usual level: pydyf's takes three times as long for 2 % fewer bytes.
                content = pydyf.Stream(part.stream).data.partition(b"stream\n")[2].removesuffix(b"\nendstream")
                part = pydyf.Stream([zlib.compress(content)], part.extra | {"Filter": "/FlateDecode"})
            self._data = bytes(part.data)

        @property
        def data(self) -> Any:
            return self._data

        @property
        def compressible(self) -> Any:
            return self._compressible

    pdf.objects[:] = [part if part.free == "f" else Packed(part) for part in pdf.objects]


@contextmanager
def _own_temporary_folder() -> Iterator[None]:
    """Have WeasyPrint write temporary files to a folder that is deleted even when a signal ends the command."""
    with TemporaryFolder("evalpipe-pdf-") as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield
        finally:
            tempfile.tempdir = before


@contextmanager
def _pinned_clock() -> Iterator[None]:
    """Set the variable that makers of PDF and fonts read instead of the clock, and put it back."""
    name = "SOURCE_DATE_EPOCH"
    before = os.environ.get(name)
    os.environ[name] = str(EPOCH)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
