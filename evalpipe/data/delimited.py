"""Separated text (csv, tsv): its header, and a check that each row has the right number of cells.

polars fills short rows with nulls and fails on others with unclear errors, so rows are checked here first, in one pass
over the bytes.
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

from evalpipe.data.values import Unreadable
from evalpipe.words.spelling import counted, first_repeated

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


def empty_file() -> Unreadable:
    """Return the error of a file without a byte, or without a name of a column."""
    return Unreadable("empty-file", "it is empty: not even the columns are there",
                      "write it again: it was not written to the end")


def header(path: Path, separator: str, encoding: str | None = None) -> list[str]:
    """Return the column names in the first line of a file, in UTF-8 or the ``encoding``; raises Unreadable."""
    head = next(_utf8_chunks(path, _HEAD, encoding), b"")
    if not head.removeprefix(codecs.BOM_UTF8).strip():
        raise empty_file()
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
    """Raise Unreadable for a header that is blank, separated by another character, or names a column twice."""
    if not names:
        raise Unreadable("no-header", "its first line is blank", "the first line must hold the names of the columns", 1)
    other = next((mark for mark in ";\t,|" if mark != separator and mark in names[0]), None)
    if len(names) == 1 and other is not None:
        hint = f"declare csv: {{separator: {json.dumps(other)}}}"
        reason = f"its columns are separated by {_SEPARATOR_NAMES[other]}, not by {_SEPARATOR_NAMES[separator]}"
        raise Unreadable("wrong-separator", reason, hint, 1)
    repeated = first_repeated(filter(None, names))
    if repeated is not None:
        raise Unreadable("duplicate-column", f"two of its columns are called '{repeated}'", "rename one of them", 1)


def likely_separator(path: Path, usual: str, encoding: str | None = None) -> str:
    """Return the likely separator: the one that gives the first lines the most cells, the same number in each.

    ``usual`` where there is none. Raises Unreadable.
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
    """Return the likely encoding of a file: ascii, utf-8, utf-16 or cp1252; None for none of them.

    Nearly any bytes are text of cp1252, so a person has to look at its letters. Raises Unreadable.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_ascii = is_utf8 = is_cp1252 = True
    for chunk in _utf8_chunks(path, CHUNK):
        if is_ascii and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        is_ascii &= chunk.isascii()
        is_cp1252 &= _UNDEFINED.search(chunk) is None
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            is_utf8 = False
    return "ascii" if is_ascii else "utf-8" if is_utf8 else "cp1252" if is_cp1252 else None


def check(path: Path, separator: str, width: int, encoding: str | None = None) -> frozenset[int]:
    """Check that every row has ``width`` cells and is UTF-8 text; return the 0-based row numbers of blank lines.

    Raises Unreadable.
    """
    return check_blocks(path, separator, width, encoding)[0]


def check_blocks(path: Path, separator: str, width: int, encoding: str | None = None) -> tuple[frozenset[int], bool]:
    """Return the 0-based row numbers of blank lines, and whether the file can be cut into blocks of whole rows.

    It can where each quote opens or closes a cell; one inside a cell that is not quoted does neither. Raises Unreadable
    for a row that has not ``width`` cells, or is no UTF-8 text.
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
        complete, line_break, rest = (rest + chunk).rpartition(b"\n")
        shape.feed(complete + line_break)
    if rest:
        shape.feed(rest + b"\n")
    if shape.is_ragged or shape.is_inside_quotes:
        _raise_ragged_rows(path, separator, width, encoding)
    # In a file of one column a blank line is an empty cell.
    return frozenset(shape.blank) if width > 1 else frozenset(), not (shape.is_ragged or shape.is_inside_quotes)


def rows(path: Path, encoding: str | None = None) -> int | None:
    """Return the number of rows below the header, blank lines among them, reading the text in chunks.

    None where a quote is not closed. Raises Unreadable.
    """
    count, is_inside_quotes, last = -1, False, b""
    for chunk in _utf8_chunks(path, CHUNK, encoding):
        last = chunk[-1:]
        if not is_inside_quotes and b'"' not in chunk:
            count += chunk.count(b"\n")
            continue
        codes = np.frombuffer(chunk, dtype=np.uint8)
        is_quoted = np.logical_xor.accumulate(codes == _QUOTE) ^ is_inside_quotes  # each quote turns it over
        count += int(((codes == _BREAK) & ~is_quoted).sum())
        is_inside_quotes = bool(is_quoted[-1])
    return None if is_inside_quotes else count + (last not in (b"", b"\n"))


def utf8_bytes(path: Path, encoding: str) -> bytes:
    """Return the whole text of a file, in UTF-8; raises Unreadable."""
    return b"".join(_utf8_chunks(path, CHUNK, encoding))


def blocks(path: Path, size: int, encoding: str | None = None) -> Iterator[bytes]:
    """Yield a file, without its header, in blocks of complete rows of about ``size`` bytes; raises Unreadable."""
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
    """Yield a file in blocks of complete lines of about ``size`` bytes; raises Unreadable."""
    rest = b""
    for chunk in _utf8_chunks(path, size):
        complete, line_break, rest = (rest + chunk).rpartition(b"\n")
        if line_break:
            yield complete + line_break
    if rest:
        yield rest


def _row_end(part: bytes, *, first: bool = False) -> int:
    """Return the end of the last complete row, or the ``first``, in bytes that begin with a row; 0 where none ends."""
    if b'"' not in part:
        return (part.find(b"\n") if first else part.rfind(b"\n")) + 1
    codes = np.frombuffer(part, dtype=np.uint8)
    # A line break ends a row unless it stands between two quotes.
    ends = np.flatnonzero((codes == _BREAK) & ~np.logical_xor.accumulate(codes == _QUOTE))
    return int(ends[0 if first else -1]) + 1 if len(ends) else 0


class _RecordShape:
    """Counts the cells of each row; ``is_ragged`` tells that some row has too many or too few, or seems to.

    Every quote is taken to open or close a cell, which a cell such as 5" contradicts: so such files are parsed again.
    """

    def __init__(self, separator: str, width: int) -> None:
        """Begin before the first row; ``width`` is the number of cells that a row should have."""
        self.separator, self.width = ord(separator), width
        self.is_inside_quotes = self.is_ragged = False
        self.blank: list[int] = []
        self._separators, self._record_begin, self._fed, self._records = 0, 0, 0, 0

    def feed(self, part: bytes) -> None:
        """Count the cells of the rows in ``part``, which ends with a line break; the last row may go on."""
        codes = np.frombuffer(part, dtype=np.uint8)
        is_mark = (codes == self.separator) | (codes == _BREAK)
        is_quote = codes == _QUOTE
        if self.is_inside_quotes or is_quote.any():
            # Each quote turns "inside a quoted cell" over; breaks and separators there belong to the cell.
            is_quoted = np.logical_xor.accumulate(is_quote) ^ self.is_inside_quotes
            is_mark &= ~is_quoted
            self.is_inside_quotes = bool(is_quoted[-1]) if len(is_quoted) else self.is_inside_quotes
        mark_positions = np.flatnonzero(is_mark)
        break_indices = np.flatnonzero(codes[mark_positions] == _BREAK)
        if len(break_indices):
            # Marks between two breaks are separators; the first row may have begun in an earlier part.
            separators = np.diff(break_indices, prepend=-1) - 1
            separators[0] += self._separators
            break_positions = mark_positions[break_indices]
            length = np.diff(break_positions, prepend=self._record_begin - self._fed - 1) - 1
            # The line break of Windows leaves a carriage return in a blank line.
            is_blank = (length == 0) | ((length == 1) & (codes[break_positions - 1] == _RETURN))
            self.is_ragged |= bool(((separators != self.width - 1) & ~is_blank).any())
            self.blank += (np.flatnonzero(is_blank) + self._records - 1).tolist()
            self._records += len(break_indices)
            self._separators = len(mark_positions) - int(break_indices[-1]) - 1
            self._record_begin = self._fed + int(mark_positions[break_indices[-1]]) + 1
        else:
            self._separators += len(mark_positions)
        self._fed += len(codes)


def _raise_ragged_rows(path: Path, separator: str, width: int, encoding: str | None) -> None:
    """Parse the file again, and raise Unreadable for rows with too many or too few cells, or an unclosed quote."""
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


def is_gzip(path: Path) -> bool:
    """Tell whether a file is gzip data, by its name."""
    return path.name.lower().endswith(".gz")


def _open(path: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(path) if is_gzip(path) else path.open("rb")


def refuse_bomb(path: Path) -> None:
    """Raise Unreadable for a compressed file that unpacks to far more bytes than tables do, before it is loaded."""
    most = max(MOST_UNPACKED, MOST_RATIO * path.stat().st_size) if is_gzip(path) else None
    if most is None or path.stat().st_size * 1032 < most:  # DEFLATE cannot do better
        return
    unpacked = 0
    for chunk in _utf8_chunks(path, _HEAD):
        unpacked += len(chunk)
        if unpacked > most:
            reason = f"it unpacks to more than {most:,} bytes, {MOST_RATIO} times its size"
            raise Unreadable("too-large", reason, "if you trust it, unpack it, or write it as Parquet")


def _utf8_chunks(path: Path, size: int, encoding: str | None = None) -> Iterator[bytes]:
    """Yield chunks of a file's bytes, decompressed, and converted from its ``encoding`` into UTF-8.

    Raises Unreadable, also for lines that are too long.
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
    """Yield chunks of text in an encoding as UTF-8; raises Unreadable for bytes that are no character of it."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read_bytes, lines = 0, 1
    for chunk in chain(chunks, [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
            recoded = text.encode()
        except UnicodeDecodeError as error:
            # The decoder keeps the first bytes of a character that two chunks share.
            position = read_bytes - (len(error.object) - len(chunk)) + error.start
            line = lines + error.object[:error.start].decode(error.encoding, "replace").count("\n")
            code = f"0x{error.object[error.start:error.end].hex()}"
            reason = f"in line {line:,} its byte {position + 1:,}, {code}, is no character of {encoding}"
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
        read_bytes, lines = read_bytes + len(chunk), lines + text.count("\n")
        if recoded:
            yield recoded


def _not_utf8(line: int) -> Unreadable:
    """Return the error of a line, by its number, that is not UTF-8."""
    hint = _DECLARE.format(encoding="encoding, as in 'encoding: cp1252'")
    return Unreadable("not-utf8", f"line {line} is not UTF-8 text", hint, line)
