"""Files while they are read: their sha256, and whether they stayed as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.digests import file_sha256
from evalpipe.errors import DataError, Place, Problem

if TYPE_CHECKING:
    from pathlib import Path


class Stamp(NamedTuple):
    """The size of a file in bytes, and when it was last changed, in nanoseconds."""

    size: int
    changed: int


def stamp(path: Path, shown: str, place: Place | None = None) -> Stamp:
    """Return the stamp of a file; raises DataError where it is no longer there."""
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    return Stamp(state.st_size, state.st_mtime_ns)


def digest(path: Path, before: Stamp, shown: str, place: Place | None = None) -> str:
    """Return the sha256 of a file's bytes; raises DataError where it is not as it was ``before``."""
    try:
        sha256 = file_sha256(path)
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    unchanged(path, before, shown, place)
    return sha256


def unchanged(path: Path, before: Stamp, shown: str, place: Place | None = None) -> None:
    """Raise DataError where a file is not as it was ``before``."""
    after = stamp(path, shown, place)
    if after != before:
        sizes = f"from {before.size:,} to {after.size:,} bytes" if after.size != before.size else "at the same size"
        raise DataError(Problem(
            "file-changed", f"{shown} changed while it was read, {sizes}", place,
            "run again when nothing writes to it; what was summed up of other files is kept"))
