"""Where output goes: the folder of a run with its cache, and the standard output, which may be closed, full or gone."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from evalpipe.errors import UsageError
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.streams.cache import CacheEntry


UNHEARD = "standard-output"
"""The code of the problem that the standard output takes no more; it cannot be told there."""

_LOST = {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG}


def output_folder(
    out: str | None, name: str, day: str | None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the output folder of a spec: ``out`` with ``${date}`` replaced by ``day``, else reports/``name``.

    Raises UsageError for a reference that cannot be replaced.
    """
    from evalpipe.spec.overrides import dated_path

    return Path("reports") / name if out is None else Path(dated_path(out, day, environment, "--out"))


class _WithoutReader(io.TextIOWrapper):
    """A text stream that discards what is written once its reader has gone, as in ``| head -1``."""

    def write(self, text: str, /) -> int:
        """Write text, or discard it where the reader has gone."""
        try:
            return super().write(text)
        except BrokenPipeError:
            _redirect_to_devnull(self)
            return len(text)

    def flush(self) -> None:
        """Write the buffer, or discard it where the reader has gone."""
        try:
            super().flush()
        except BrokenPipeError:
            _redirect_to_devnull(self)


def replace_streams() -> None:
    """Replace stdout and stderr by streams that survive a lost reader, also where they were closed, as by ``>&-``."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - never closed
        elif stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _WithoutReader(
                stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering,
                write_through=stream.write_through))


def is_lost_stream(error: OSError) -> bool:
    """Tell whether an error says that a stream, not a named file, is closed, full or without a reader."""
    return error.filename is None and error.errno in _LOST


def silence() -> None:
    """Redirect streams that cannot be flushed to the null device, so that the flush at exit changes no exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _redirect_to_devnull(stream)


def _redirect_to_devnull(stream: TextIO) -> None:
    """Have the file descriptor of a stream write to the null device from now on."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell_person(text: str) -> None:
    """Print a message on stderr, or nothing where stderr cannot be written."""
    with suppress(OSError):
        click.echo(text, err=True)


@contextmanager
def printing(completed: str | None = None) -> Iterator[None]:
    """Run a block that prints, then flush stdout; raises UsageError where it is full or closed.

    ``completed`` says what was done before, and is a note of the error.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not is_lost_stream(error):
            raise
        silence()
        raise full_output_error(error, completed) from None


def full_output_error(error: OSError, completed: str | None = None) -> UsageError:
    """Return the UsageError for a standard output that is full or closed; ``completed`` says what was done before."""
    notes = () if completed is None else (completed,)
    hint = "free space, or send the output elsewhere"
    message = f"cannot write to the standard output: {error.strerror or error}"
    return UsageError.of(UNHEARD, message, hint=hint, notes=notes)


def write_file(path: Path, text: str) -> None:
    """Write a text file at once, by renaming a temporary one; raises UsageError where it cannot be written."""
    from evalpipe.base.folders import TemporaryFolder
    from evalpipe.runs.folder import refuse_to_replace

    refuse_to_replace(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with TemporaryFolder(".new-", path.parent) as temporary:
            complete_file = Path(temporary) / "whole"
            complete_file.write_text(text, encoding="utf-8")
            complete_file.replace(path)
    except OSError as error:
        hint = "name a file in a folder that can be written"
        raise UsageError.of("output-file", f"cannot write '{path}': {error.strerror or error}", hint) from None


def list_cache(folder: str, form: str) -> None:
    """Print the entries of an output folder's cache; those that its last complete run did not use are marked."""
    from evalpipe.streams.cache import Cache, cache_folder

    cache = Cache(cache_folder(Path(folder)))
    used = cache.used()
    entries = sorted(cache.entries.values(), key=lambda entry: (entry.dataset, entry.file, entry.first, entry.key))
    if form == "json":
        documents = [{
            "key": entry.key, "dataset": entry.dataset, "file": entry.file, "file_sha256": entry.sha256,
            "first_row": entry.first, "rows": entry.rows, "bytes": entry.bytes,
            "used": None if used is None else entry.key in used} for entry in entries]
        click.echo(json.dumps({"folder": str(cache.folder), "entries": documents}, indent=1, ensure_ascii=False))
        return
    for entry in entries:
        unused = "" if used is None or entry.key in used else "  not used by the last whole run"
        rows = "all rows" if entry.rows is None else f"{entry.rows:,} rows from row {entry.first + 1:,}"
        click.echo(f"{entry.key[:12]}  {entry.bytes:>12,} bytes  {entry.dataset}: {entry.file}, {rows}{unused}")
    click.echo(f"{cache.folder}: {_counted(entries)}")


def collect_cache(folder: str) -> None:
    """Remove the entries of an output folder's cache that its last complete run did not use, with the folder locked."""
    from evalpipe.runs.record import locked_output
    from evalpipe.streams.cache import Cache, cache_folder

    path = cache_folder(Path(folder))
    if not path.is_dir():
        click.echo(f"{path}: there is no cache")
        return
    with locked_output(folder):
        cache = Cache(path)
        removed = cache.collect()
    if cache.used() is None:
        click.echo(f"{path}: no run has read all its parts yet, so all entries are kept")
        return
    removed_keys = {entry.key for entry in removed}
    kept_entries = [entry for entry in cache.entries.values() if entry.key not in removed_keys]
    click.echo(f"{path}: removed {_counted(removed)}; {_counted(kept_entries)} left")


def parts_line(dataset: str, parts: int, cached: int, why: str) -> str:
    """Return the line "data: 5 parts: 2 in the cache, 3 to read (new files)"; ``why`` is the reason in brackets."""
    part_text = f"{dataset}: {counted(parts, 'part')}"
    reason_text = f" ({why})" if why else ""
    if not cached:
        return f"{part_text} to read{reason_text}"
    return f"{part_text}, all in the cache" if cached == parts else (
        f"{part_text}: {cached:,} in the cache, {parts - cached:,} to read{reason_text}")


def _counted(entries: Iterable[CacheEntry]) -> str:
    """Return the number and the total size of some entries as text."""
    sizes = [entry.bytes for entry in entries]
    return f"{counted(len(sizes), 'entry')} of {sum(sizes):,} bytes"
