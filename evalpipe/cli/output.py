"""Where output goes: the folder of a run, and the standard output, which may be closed, full or gone."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

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
    """Flush stdout after the block; raises UsageError where it is full or closed, with ``completed`` as a note."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not is_lost_stream(error):
            raise
        silence()
        raise full(error, completed) from None


def full(error: OSError, completed: str | None = None) -> UsageError:
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
