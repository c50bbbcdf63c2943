"""Separated text (csv, tsv): its header and its shape.

The parser of the data layer fills short lines with nothing and breaks on others with little to say, so the shape is
checked here first, in one pass over the bytes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.problems import Unreadable, counted
from evalpipe.words.spelling import first_repeated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


CHUNK = 1 << 24
_HEAD = 1 << 20
_SNIFFED = 50
_QUOTE, _BREAK, _RETURN = ord('"'), ord("\n"), ord("\r")
LONGEST_LINE = 64_000_000
"""The bytes that a line of text may have, decompressed."""

MOST_UNPACKED, MOST_RATIO = 1_000_000_000, 100
"""A file that unpacks to more bytes than both, and so many times its size, is refused: tables do not, bombs do."""

_DECLARE = "declare its {encoding}, or save the file as UTF-8"
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""The bytes that are no character of Windows' cp1252."""

_SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


def header(path: Path, separator: str, encoding: str | None = None) -> list[str]:
    """Return the names in the first line of a file, in UTF-8 or the ``encoding``; raises Unreadable."""
    head = next(_utf8_chunks(path, _HEAD, encoding), b"")
    if not head.removeprefix(codecs.BOM_UTF8).strip():
        raise Unreadable("empty-file", "it is empty: not even the columns are there", "was it written to the end?")
    if len(head) >= _HEAD and b"\n" not in head:
        reason = f"its first line has more than {_HEAD:,} bytes"
        raise Unreadable("too-large", reason, "leave out columns that the spec does not name")
    # Before it is decoded, which would only say that line 1 is not UTF-8.
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("not-utf8", "it is UTF-16 text", _DECLARE.format(encoding="'encoding: utf-16'"))
    if b"\n" not in head and b"\r" in head:
        raise Unreadable("corrupt-file", "its lines end with a carriage return alone", "save it with line feeds")
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except UnicodeDecodeError as error:
        raise _not_utf8(head.count(b"\n", 0, error.start) + 1) from None
    except csv.Error as error:
        raise Unreadable("corrupt-file", f"its first line holds no column names: {error}") from None
    _check_names(names, separator)
    return names


def _check_names(names: list[str], separator: str) -> None:
    """Refuse a header that is blank, separated in another way, or names a column twice; raises Unreadable."""
    if not names:
        raise Unreadable("no-header", "its first line is blank", "the first line must hold the names of the columns", 1)
    other = next((mark for mark in ";\t,|" if mark != separator and mark in names[0]), None)
    if len(names) == 1 and other is not None:
        hint = f"declare csv: {{separator: {json.dumps(other)}}}"
        reason = f"its columns are separated by {_SEPARATOR_NAMES[other]}, not by {_SEPARATOR_NAMES[separator]}"
        raise Unreadable("wrong-separator", reason, hint, 1)
    again = first_repeated(filter(None, names))
    if again is not None:
        raise Unreadable("duplicate-column", f"two of its columns are called '{again}'", "rename one of them", 1)


def likeliest(path: Path, usual: str, encoding: str | None = None) -> str:
    """Return what seems to separate cells: the mark by which the first lines have the most, each as many as the others.

    ``usual`` where no mark does. Raises Unreadable.
    """
    head = next(_utf8_chunks(path, _HEAD, encoding), b"")
    text = head.decode("utf-8-sig", errors="replace")
    lines = io.StringIO(text, newline="").readlines()[:_SNIFFED]
    widths: dict[str, int] = {}
    for mark in dict.fromkeys((usual, *_SEPARATOR_NAMES)):
        try:
            cells = {len(row) for row in list(csv.reader(lines, delimiter=mark))[:_SNIFFED - 1] if row}
        except csv.Error:
            continue
        widths[mark] = cells.pop() if len(cells) == 1 else 0
    return max(widths, key=lambda mark: widths[mark]) if widths and max(widths.values()) > 1 else usual


def likely_encoding(path: Path) -> str | None:
    """Return what a file seems to be encoded in: ascii, utf-8, utf-16 or cp1252; None for none of them.

    Nearly any bytes are text of cp1252, so a person has to look at its letters. Raises Unreadable.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    plain = utf8 = windows = True
    for chunk in _utf8_chunks(path, CHUNK):
        if plain and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        plain &= chunk.isascii()
        windows &= _UNDEFINED.search(chunk) is None
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            utf8 = False
    return "ascii" if plain else "utf-8" if utf8 else "cp1252" if windows else None


def check(path: Path, separator: str, width: int, encoding: str | None = None) -> frozenset[int]:
    """Check that every row has ``width`` cells and is UTF-8 text; return the 0-based places of blank lines.

    Raises Unreadable.
    """
    return checked(path, separator, width, encoding)[0]


def checked(path: Path, separator: str, width: int, encoding: str | None = None) -> tuple[frozenset[int], bool]:
    """Check a file as `check` does; also tell whether each quote opens or closes a cell, so that it can be cut.

    A quote inside a cell that is not quoted does neither. Raises Unreadable.
    """
    shape = _RecordShape(separator, width)
    decoder = codecs.getincrementaldecoder("utf-8")()
    rest, lines = b"", 0
    for chunk in _utf8_chunks(path, CHUNK, encoding):
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            # The decoder keeps the first bytes of a character that two chunks share; they are not of this chunk.
            before = len(error.object) - len(chunk)
            raise _not_utf8(lines + chunk.count(b"\n", 0, max(0, error.start - before)) + 1) from None
        lines += chunk.count(b"\n")
        # Only whole lines are counted; what follows the last break waits for the next chunk.
        whole, mark, rest = (rest + chunk).rpartition(b"\n")
        shape.feed(whole + mark)
    if rest:
        shape.feed(rest + b"\n")
    if shape.odd or shape.inside:
        _raise_ragged_rows(path, separator, width, encoding)
    # In a file of one column a blank line is an empty cell.
    return frozenset(shape.blank) if width > 1 else frozenset(), not (shape.odd or shape.inside)


def rows(path: Path, encoding: str | None = None) -> int | None:
    """Return the number of rows below the header, blank lines among them, without holding the text.

    None where a quote is not closed. Raises Unreadable.
    """
    count, inside, last = -1, False, b""
    for chunk in _utf8_chunks(path, CHUNK, encoding):
        last = chunk[-1:]
        if not inside and b'"' not in chunk:
            count += chunk.count(b"\n")
            continue
        codes = np.frombuffer(chunk, dtype=np.uint8)
        within = np.logical_xor.accumulate(codes == _QUOTE) ^ inside
        count += int(((codes == _BREAK) & ~within).sum())
        inside = bool(within[-1])
    return None if inside else count + (last not in (b"", b"\n"))


def as_utf8(path: Path, encoding: str) -> bytes:
    """Return the whole text of a file, in UTF-8; raises Unreadable."""
    return b"".join(_utf8_chunks(path, CHUNK, encoding))


def blocks(path: Path, size: int, encoding: str | None = None) -> Iterator[bytes]:
    """Yield the rows of a file that can be cut, about so many bytes of whole rows at a time; raises Unreadable."""
    rest, header = b"", True
    for chunk in _utf8_chunks(path, size, encoding):
        rest += chunk
        end = _row_end(rest)
        if end and header:
            rest, header = rest[_row_end(rest, first=True):], False
            end = _row_end(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest and not header:
        yield rest


def lines(path: Path, size: int) -> Iterator[bytes]:
    """Yield the lines of a file, about so many bytes of whole lines at a time; raises Unreadable."""
    rest = b""
    for chunk in _utf8_chunks(path, size):
        whole, mark, rest = (rest + chunk).rpartition(b"\n")
        if mark:
            yield whole + mark
    if rest:
        yield rest


def _row_end(part: bytes, *, first: bool = False) -> int:
    """Return where the last whole row ends in bytes that begin with a row, or the first; 0 where none does."""
    if b'"' not in part:
        return (part.find(b"\n") if first else part.rfind(b"\n")) + 1
    codes = np.frombuffer(part, dtype=np.uint8)
    ends = np.flatnonzero((codes == _BREAK) & ~np.logical_xor.accumulate(codes == _QUOTE))
    return int(ends[0 if first else -1]) + 1 if len(ends) else 0


class _RecordShape:
    """Counts the cells of each record; ``odd`` tells that one has too many or too few.

    A quote opens and closes wherever it stands, which a cell such as 5" contradicts: what seems odd is looked at again.
    """

    def __init__(self, separator: str, width: int) -> None:
        self.separator, self.width = ord(separator), width
        self.inside = self.odd = False
        self.blank: list[int] = []
        self._cells, self._begin, self._seen, self._records = 0, 0, 0, 0

    def feed(self, part: bytes) -> None:
        """Count the records of ``part``, which ends with a line break."""
        codes = np.frombuffer(part, dtype=np.uint8)
        marks = (codes == self.separator) | (codes == _BREAK)
        quotes = codes == _QUOTE
        if self.inside or quotes.any():
            # Each quote turns "inside a quoted cell" over; breaks and separators there belong to the cell.
            within = np.logical_xor.accumulate(quotes) ^ self.inside
            marks &= ~within
            self.inside = bool(within[-1]) if len(within) else self.inside
        places = np.flatnonzero(marks)
        ends = np.flatnonzero(codes[places] == _BREAK)
        if len(ends):
            separators = np.diff(ends, prepend=-1) - 1
            separators[0] += self._cells
            stops = places[ends]
            length = np.diff(stops, prepend=self._begin - self._seen - 1) - 1
            blank = (length == 0) | ((length == 1) & (codes[stops - 1] == _RETURN))
            self.odd |= bool(((separators != self.width - 1) & ~blank).any())
            self.blank += (np.flatnonzero(blank) + self._records - 1).tolist()
            self._records += len(ends)
            self._cells = len(places) - int(ends[-1]) - 1
            self._begin = self._seen + int(places[ends[-1]]) + 1
        else:
            self._cells += len(places)
        self._seen += len(codes)


def _raise_ragged_rows(path: Path, separator: str, width: int, encoding: str | None) -> None:
    """Find the rows with too many or too few cells, or the quote that is not closed; raises Unreadable."""
    rows: list[tuple[int, str]] = []
    number = 0
    text = io.TextIOWrapper(_open(path), encoding=encoding or "utf-8-sig", newline="")
    try:
        for number, cells in enumerate(csv.reader(text, delimiter=separator, strict=True)):
            # A blank line is no row; `check` has its place.
            if cells and len(cells) != width:
                rows.append((number, counted(len(cells), "cell")))
    except csv.Error:
        reason = f"in row {number + 1} a quote is not closed, or stands inside a cell"
        raise Unreadable("corrupt-file", reason, 'quote the whole cell, and write " inside it as ""') from None
    finally:
        text.close()
    if rows:
        have = f"{counted(len(rows), 'row')} {'has' if len(rows) == 1 else 'have'}"
        reason = f"{have} more or fewer cells than the {width} columns of the header"
        raise Unreadable("ragged-file", reason, "quote each cell that holds a separator or a line break", None, rows)


def compressed(path: Path) -> bool:
    """Tell whether a file is gzip data, by its name."""
    return path.name.lower().endswith(".gz")


def _open(path: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(path) if compressed(path) else path.open("rb")


def refuse_bomb(path: Path) -> None:
    """Refuse a compressed file that unpacks to far more than tables do, before anything holds it; raises Unreadable."""
    most = max(MOST_UNPACKED, MOST_RATIO * path.stat().st_size) if compressed(path) else None
    if most is None or path.stat().st_size * 1032 < most:  # DEFLATE cannot do better
        return
    unpacked = 0
    for chunk in _utf8_chunks(path, _HEAD):
        unpacked += len(chunk)
        if unpacked > most:
            reason = f"it unpacks to more than {most:,} bytes, {MOST_RATIO} times its size"
            raise Unreadable("too-large", reason, "if you trust it, unpack it, or write it as Parquet")


def _utf8_chunks(path: Path, size: int, encoding: str | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed and from its ``encoding`` into UTF-8.

    Raises Unreadable, for lines that are too long too.
    """
    line = 0
    try:
        with _open(path) as file:
            plain = iter(lambda: file.read(size), b"")
            for chunk in plain if encoding is None else _as_utf8_chunks(plain, encoding):
                end = chunk.rfind(b"\n")
                line = line + len(chunk) if end < 0 else len(chunk) - end - 1
                if line > LONGEST_LINE:
                    reason = f"a line has more than {LONGEST_LINE:,} bytes"
                    raise Unreadable("too-large", reason, "is it a table? Each row stands on a line of its own")
                yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        ended = isinstance(error, EOFError)
        reason = "its gzip data end too early" if ended else "it is not gzip data, or damaged"
        raise Unreadable("corrupt-file", reason, "write or copy it again") from None
    except OSError as error:
        raise Unreadable("unreadable-file", (error.strerror or str(error)).lower()) from None


def _as_utf8_chunks(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield bytes of text in an encoding as UTF-8; raises Unreadable for the first that are no character of it."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read, lines = 0, 1
    for chunk in chain(chunks, [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
            recoded = text.encode()
        except UnicodeDecodeError as error:
            # The decoder keeps the first bytes of a character that two chunks share.
            place = read - (len(error.object) - len(chunk)) + error.start
            line = lines + error.object[:error.start].decode(error.encoding, "replace").count("\n")
            what = f"0x{error.object[error.start:error.end].hex()}"
            reason = f"in line {line:,} its byte {place + 1:,}, {what}, is no character of {encoding}"
            hint = "declare another 'encoding', or save the file as UTF-8"
            raise Unreadable("wrong-encoding", reason, hint, line) from None
        except UnicodeEncodeError:
            raise Unreadable("wrong-encoding", f"it holds half a character of {encoding}",
                             "save the file as UTF-8") from None
        except UnicodeError:  # of Python's decoders of utf-16 and utf-32, which has no place
            name = codecs.lookup(encoding).name
            reason = f"it does not begin with the byte order mark of {name}"
            hint = f"declare 'encoding: {name}-le' or '{name}-be', or save the file as UTF-8"
            raise Unreadable("wrong-encoding", reason, hint) from None
        read, lines = read + len(chunk), lines + text.count("\n")
        if recoded:
            yield recoded


def _not_utf8(line: int) -> Unreadable:
    hint = _DECLARE.format(encoding="encoding, as in 'encoding: cp1252'")
    return Unreadable("not-utf8", f"line {line} is not UTF-8 text", hint, line)
