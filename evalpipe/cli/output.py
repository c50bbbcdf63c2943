"""Where output goes: the folder of a run, and the standard output, which may be closed, full or gone."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

UNHEARD = "standard-output"
"""The code of the problem that the standard output takes no more; it cannot be told there."""

_LOST = {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG}


def output_folder(
    out: str | None, name: str, day: str | None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the output folder of a spec: ``out``, in which ``${date}`` is its day, or that of its name.

    Raises UsageError for a reference that cannot be replaced.
    """
    from evalpipe.spec.day import dated_path

    return Path("reports") / name if out is None else Path(dated_path(out, day, environment, "--out"))


def opened() -> None:
    """Give a process that was started without its streams, as by ``>&-``, streams that lead nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - never closed


def lost(error: OSError) -> bool:
    """Tell whether an error is of a stream that takes no more, not of a file with a name."""
    return error.filename is None and error.errno in _LOST


def silence() -> None:
    """Send what is still to be printed nowhere, so that the flush at exit does not complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def printing(written: str | None = None) -> Iterator[None]:
    """Print a result; a reader that has gone, as in ``| head -1``, has read enough.

    ``written`` says what is complete all the same. Raises UsageError where the standard output takes no more.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not lost(error):
            raise
        silence()
        if error.errno != errno.EPIPE:
            raise full(error, written) from None


def full(error: OSError, written: str | None = None) -> UsageError:
    """Return the error of a standard output that takes no more."""
    notes = () if written is None else (written,)
    hint = "free space, or send the output elsewhere"
    message = f"cannot write to the standard output: {error.strerror or error}"
    return UsageError.of(UNHEARD, message, hint=hint, notes=notes)


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises UsageError where it cannot be written."""
    from tempfile import TemporaryDirectory

    from evalpipe.ownership import refuse_file_of_run

    refuse_file_of_run(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with TemporaryDirectory(dir=path.parent, prefix=".new-") as fresh:
            whole = Path(fresh) / "whole"
            whole.write_text(text, encoding="utf-8")
            whole.replace(path)
    except OSError as error:
        hint = "name a file in a folder that can be written"
        raise UsageError.of("output-file", f"cannot write '{path}': {error.strerror or error}", hint) from None
