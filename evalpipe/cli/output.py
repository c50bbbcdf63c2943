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
    """Return the output folder of a spec: ``out``, in which ``${date}`` is its day, or that of its name.

    Raises UsageError for a reference that cannot be replaced.
    """
    from evalpipe.spec.overrides import dated_path

    return Path("reports") / name if out is None else Path(dated_path(out, day, environment, "--out"))


class _WithoutReader(io.TextIOWrapper):
    """A stream that leads nowhere once its reader has gone, as in ``| head -1``, who has read enough."""

    def write(self, text: str, /) -> int:
        """Write text."""
        try:
            return super().write(text)
        except BrokenPipeError:
            _lead_nowhere(self)
            return len(text)

    def flush(self) -> None:
        """Write what is held back."""
        try:
            super().flush()
        except BrokenPipeError:
            _lead_nowhere(self)


def opened() -> None:
    """Give a process streams that need no reader, also where it was started without them, as by ``>&-``."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - never closed
        elif stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _WithoutReader(
                stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering,
                write_through=stream.write_through))


def lost(error: OSError) -> bool:
    """Tell whether an error is of a stream that takes no more, not of a file with a name."""
    return error.filename is None and error.errno in _LOST


def silence() -> None:
    """Send what the streams do not take nowhere, so that Python's flush at exit changes no exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _lead_nowhere(stream)


def _lead_nowhere(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell_person(text: str) -> None:
    """Print a message on stderr; where that takes no more, the exit code alone says what happened."""
    with suppress(OSError):
        click.echo(text, err=True)


@contextmanager
def printing(written: str | None = None) -> Iterator[None]:
    """Print a result. Raises UsageError where the standard output takes no more; ``written`` says what is complete."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not lost(error):
            raise
        silence()
        raise full(error, written) from None


def full(error: OSError, written: str | None = None) -> UsageError:
    """Return the error of a standard output that takes no more."""
    notes = () if written is None else (written,)
    hint = "free space, or send the output elsewhere"
    message = f"cannot write to the standard output: {error.strerror or error}"
    return UsageError.of(UNHEARD, message, hint=hint, notes=notes)


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises UsageError where it cannot be written."""
    from evalpipe.base.folders import TemporaryFolder
    from evalpipe.runs.folder import refuse_to_replace

    refuse_to_replace(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with TemporaryFolder(".new-", path.parent) as fresh:
            whole = Path(fresh) / "whole"
            whole.write_text(text, encoding="utf-8")
            whole.replace(path)
    except OSError as error:
        hint = "name a file in a folder that can be written"
        raise UsageError.of("output-file", f"cannot write '{path}': {error.strerror or error}", hint) from None
