"""Reading a file of each format: its columns, its rows, and the reason why it cannot be read.

What libraries write to the standard error is kept from users, who get an error of evalpipe instead.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evalpipe.base.lazy_polars import pl
from evalpipe.data import delimited
from evalpipe.data.values import Unreadable
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evalpipe.plan.sources import CsvPlan, Format


STDERR = 2


class _StderrRedirection:
    """Redirects the standard error to a file from the first of several concurrent blocks until the last one ends."""

    def __init__(self) -> None:
        """Begin without a redirection; ``original`` and ``caught`` are file descriptors, -1 where none is open."""
        self.lock = threading.Lock()
        self.blocks = 0
        self.raised = False
        self.original = -1
        self.caught = -1

    def begin(self) -> None:
        """Redirect the standard error to a temporary file, or count the block if it is redirected already.

        Raises OSError where there is no standard error.
        """
        with self.lock:
            if not self.blocks:
                self.original = os.dup(STDERR)
                with tempfile.TemporaryFile() as file:
                    self.caught = os.dup(file.fileno())
                with contextlib.suppress(OSError, ValueError):
                    sys.stderr.flush()
                os.dup2(self.caught, STDERR)
                self.raised = False
            self.blocks += 1

    def end(self, *, raised: bool) -> None:
        """Restore the standard error after the last block, and write what was caught unless a block raised."""
        with self.lock:
            self.blocks -= 1
            self.raised |= raised
            if self.blocks:
                return
            os.dup2(self.original, STDERR)
            with os.fdopen(self.caught, "rb") as caught, os.fdopen(self.original, "wb", 0) as original:
                caught.seek(0)
                with contextlib.suppress(OSError):
                    original.write(b"" if self.raised else caught.read())


_redirection = _StderrRedirection()


@contextlib.contextmanager
def captured_stderr() -> Iterator[None]:
    """Catch what native code writes to the standard error during the block, in any thread.

    It is written after the block, or dropped where the block raises. polars prints the panics of its threads there,
    with their stacks, before it raises them. Without a standard error the block runs as it is. Concurrent blocks share
    one redirection, until the last ends; each for itself could restore the file of another.
    """
    try:
        _redirection.begin()
    except OSError:
        yield
        return
    raised = True
    try:
        yield
        raised = False
    finally:
        _redirection.end(raised=raised)


def restore_stderr() -> None:
    """Restore the standard error while blocks of `quiet` run, for a process that writes and ends within them."""
    if _redirection.blocks:
        os.dup2(_redirection.original, STDERR)


Result = TypeVar("Result")

BLOCK = 1 << 23
"""The bytes of a text file that are read at once where rows are counted, batch by batch."""

TEXT = ("csv", "tsv", "ndjson")
"""Formats that are text."""

SEPARATORS: dict[Format, str] = {"csv": ",", "tsv": "\t"}
"""The separator of cells in each format, unless the spec declares another."""


def schema(path: Path, form: Format, csv: CsvPlan) -> dict[str, pl.DataType]:
    """Return the types of a file's columns by name; in separated text all are text.

    Raises Unreadable.
    """
    delimited.refuse_bomb(path)
    if form in SEPARATORS:
        return dict.fromkeys(delimited.header(path, separator(form, csv), csv.encoding), pl.String())
    if form == "ndjson":
        # The whole file tells the types: a key may be a whole number in all lines but the last.
        return _read_with(path, form, csv, lambda source: dict(
            pl.scan_ndjson(source, infer_schema_length=None).collect_schema()))
    return _read_with(path, form, csv, lambda source: dict(_scan(form, source).collect_schema()))


def _scan(form: Format, source: Path | io.BytesIO) -> pl.LazyFrame:
    """Return a lazy frame of a file in a binary format; a name that looks like a glob is taken literally."""
    if form == "parquet":
        return pl.scan_parquet(source, glob=False, hive_partitioning=False)
    return pl.scan_ipc(source, glob=False)


def separator(form: Format, csv: CsvPlan) -> str:
    """Return the separator of a file's cells."""
    return csv.separator or SEPARATORS[form]


def rows(path: Path, form: Format, csv: CsvPlan) -> int | None:
    """Return the number of rows of a file as cheaply as its format allows; None where it cannot be read."""
    def counted(source: Path | io.BytesIO) -> int:
        if form in SEPARATORS:
            lazy = pl.scan_csv(source, separator=separator(form, csv), infer_schema=False)
        else:
            lazy = pl.scan_ndjson(source) if form == "ndjson" else _scan(form, source)
        return int(lazy.select(pl.len()).collect().item())

    try:
        if form in SEPARATORS and (csv.encoding is not None or delimited.is_gzip(path)):
            return delimited.rows(path, csv.encoding)  # polars would hold the whole text
        return _read_with(path, form, csv, counted)
    except Unreadable:
        return None


def read(
    path: Path, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str], *, first: int = 0,
    count: int | None = None,
) -> tuple[pl.DataFrame, frozenset[int]]:
    """Return ``columns`` of a file, and the 0-based numbers of rows that are blank lines; raises Unreadable.

    Columns of csv and tsv come as text, in which a missing value is null; ``text`` names those to be read as text
    from ndjson too. Of binary formats ``count`` rows are read, from ``first`` on.
    """
    wanted = list(dict.fromkeys(columns))
    if form in SEPARATORS:
        names = delimited.header(path, separator(form, csv), csv.encoding)
        blank_rows = delimited.check(path, separator(form, csv), len(names), csv.encoding)
        indices = [names.index(name) for name in wanted]
        frame = _read_with(path, form, csv, lambda source: pl.read_csv(
            source, separator=separator(form, csv), infer_schema=False, columns=sorted(indices)))
        frame = frame.rename(dict(zip(frame.columns, (names[index] for index in sorted(indices)), strict=True)))
        return _with_nulls(frame, csv), blank_rows
    if form == "ndjson":
        overrides = dict.fromkeys(text, pl.String())
        frame = _read_with(path, form, csv, lambda source: pl.scan_ndjson(
            source, infer_schema_length=None, schema_overrides=overrides).select(wanted).collect())
    elif form == "parquet":
        frame = _read_parquet(path, csv, wanted, first, count)
    else:
        frame = _read_with(
            path, form, csv, lambda source: _scan(form, source).slice(first, count).select(wanted).collect())
    return frame.select(wanted), frozenset()


def _read_parquet(path: Path, csv: CsvPlan, wanted: list[str], first: int, count: int | None) -> pl.DataFrame:
    """Read rows of a Parquet file; raises Unreadable with the first rows and the column that are damaged."""
    def read_part(names: list[str], first: int, count: int | None) -> pl.DataFrame:
        return _read_with(path, "parquet", csv, lambda source: _scan(
            "parquet", source).select(names).slice(first, count).collect())

    def is_damaged(names: list[str], first: int, count: int) -> bool:
        try:
            read_part(names, first, count)
        except Unreadable:
            return True
        return False

    try:
        return read_part(wanted, first, count)
    except Unreadable as fault:
        total = rows(path, "parquet", csv)
        if fault.code != "corrupt-file" or total is None:
            raise
        low, high = first, total if count is None else min(total, first + count)
        while high - low > 1:  # halves are read until the first row is left that cannot be
            middle = (low + high) // 2
            low, high = (low, middle) if is_damaged(wanted, low, middle - low) else (middle, high)
        columns = [name for name in wanted if is_damaged([name], low, 1)]
        damaged_part = f"from row {low + 1:,} of {total:,} on, in {listed(columns, 'and')}" if columns else ""
        raise Unreadable(fault.code, f"{fault.reason}{damaged_part and f', {damaged_part}'}", fault.hint) from None


def batches(
    path: Path, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, frozenset[int]]]:
    """Yield ``columns`` of a text file in batches, each with the 0-based numbers of its rows that are blank lines.

    ``text`` names columns of ndjson to be read as text; others have types inferred from all rows. Raises Unreadable.
    """
    wanted, first_row = list(dict.fromkeys(columns)), 0
    if form == "ndjson":
        types = {name: kind for name, kind in schema(path, form, csv).items() if name in wanted}
        types |= {name: pl.String() for name in text if name in wanted}
        for block in delimited.lines(path, BLOCK):
            frame = _with_readable_errors(path, form, csv, partial(pl.read_ndjson, io.BytesIO(block), schema=types))
            yield frame.select(wanted), frozenset()
        return
    sign = separator(form, csv)
    names = delimited.header(path, sign, csv.encoding)
    blank_rows, can_be_cut = delimited.check_blocks(path, sign, len(names), csv.encoding)
    if not can_be_cut:
        yield read(path, form, csv, columns, text)
        return
    indices = sorted(names.index(name) for name in wanted)
    header = sign.join(f"c{index}" for index in range(len(names))).encode() + b"\n"
    for block in delimited.blocks(path, BLOCK, csv.encoding):
        frame = _with_readable_errors(path, form, csv, partial(
            pl.read_csv, io.BytesIO(header + block), separator=sign, infer_schema=False, columns=indices))
        frame = frame.rename(dict(zip(frame.columns, (names[index] for index in indices), strict=True)))
        end_row = first_row + frame.height
        blank = frozenset(row - first_row for row in blank_rows if first_row <= row < end_row)
        yield _with_nulls(frame.select(wanted), csv), blank
        first_row = end_row


def _with_nulls(frame: pl.DataFrame, csv: CsvPlan) -> pl.DataFrame:
    """Replace texts that are declared to mean a missing value by null."""
    return frame.with_columns(
        column.set(column.str.strip_chars().is_in(list(texts)), None)
        for column in frame if (texts := csv.nulls(column.name)))


def _read_with(path: Path, form: Format, csv: CsvPlan, action: Callable[[Path | io.BytesIO], Result]) -> Result:
    """Run ``action`` on the file and turn whatever it raises into Unreadable."""
    def on_file() -> Result:
        if form in SEPARATORS and csv.encoding is not None:
            return action(io.BytesIO(delimited.utf8_bytes(path, csv.encoding)))
        # polars expands a glob in the path of a file of text; a name that looks like one is opened here.
        has_glob_name = form in TEXT and re.search(r"[*?\[]", str(path))
        return action(io.BytesIO(path.read_bytes()) if has_glob_name else path)

    return _with_readable_errors(path, form, csv, on_file)


def _with_readable_errors(path: Path, form: Format, csv: CsvPlan, action: Callable[[], Result]) -> Result:
    """Run ``action``, which reads the file, and turn whatever it raises into Unreadable."""
    try:
        # polars prints the panics of its readers of binary formats before it raises them.
        with captured_stderr() if form in ("parquet", "ipc") else nullcontext():
            return action()
    except OSError as error:
        if "(os error 22)" in str(error):  # polars' word for a file that does not begin as its format does
            raise _unreadable(path, form, csv, "its first bytes do not match the format") from None
        reason = error.strerror or str(error)
        raise Unreadable("unreadable-file", _lower_first(reason)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError, OverflowError) as error:
        raise _unreadable(path, form, csv, first_sentence(error)) from None


def _unreadable(path: Path, form: Format, csv: CsvPlan, reason: str) -> Unreadable:
    """Return the error of a file that a library refused for a ``reason``, with a hint for its format."""
    reason = reason.replace(str(path), path.name)
    if path.stat().st_size == 0:
        return delimited.empty_file()
    if form == "ndjson":
        what = "a key has values of different types" if "supertype" in reason else reason
        hint = "write each key with values of one type, in every line"
        return _bad_line(path) or Unreadable("corrupt-file", what, hint)
    if form == "parquet":
        reason = reason.removeprefix("parquet: ").removeprefix("File out of specification: ")
        return Unreadable(
            "corrupt-file", f"it is not a whole Parquet file: {_lower_first(reason)}", "write or copy it again")
    if form == "ipc":
        hint = "write or copy it again, in the IPC file format (Feather version 2)"
        return Unreadable("corrupt-file", f"it is not a whole Arrow IPC file: {_lower_first(reason)}", hint)
    sign = separator(form, csv)
    names = delimited.header(path, sign, csv.encoding)
    delimited.check(path, sign, len(names), csv.encoding)  # says which row, if it can
    if "malformed" in reason:
        reason = "a quote stands inside a cell that is not quoted"
    return Unreadable("corrupt-file", reason, "quote each cell that holds a quote, a separator or a line break")


def _bad_line(path: Path) -> Unreadable | None:
    """Return the error of the first line of a ndjson file that is not a JSON object; None where all are."""
    hint = """each line must hold one JSON object, such as {"id": 1, "p": 0.25}"""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                value = json.loads(line, parse_constant=_refuse_constant) if line.strip() else {}
            except UnicodeDecodeError:
                return Unreadable("not-utf8", f"line {number} is not UTF-8 text", "save it as UTF-8", number)
            except RecursionError:
                return Unreadable("corrupt-file", f"line {number} is nested too deeply", hint, number)
            except ValueError as error:
                reason = getattr(error, "msg", None) or str(error)
                return Unreadable("corrupt-file", f"line {number} is not JSON: {_lower_first(reason)}", hint, number)
            if not isinstance(value, dict):
                return Unreadable("corrupt-file", f"line {number} is JSON but not an object", hint, number)
    return None


def _refuse_constant(constant: str) -> None:
    """Raise ValueError: Python's JSON parser passes NaN and Infinity here, which JSON does not have."""
    raise ValueError(f"{constant} is not a JSON number")


def first_sentence(error: BaseException) -> str:
    """Return the first sentence of a polars error, without its full stop."""
    first = re.split(r"\n\s*\n|\. |\n", str(error).strip(), maxsplit=1)[0]
    return first.rstrip(".") or type(error).__name__


def _lower_first(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
