"""The parts in which a dataset's files are read, and the interfaces of workers and of progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from evalpipe.base.digests import file_sha256
from evalpipe.errors import DataError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.streams.tables import Tables


ROWS = 5_000_000
"""The most rows of a part: a run that is stopped loses the work on no more of each."""


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows of a file: ``file`` is its number in the dataset, ``first`` the first row, counted from 0.

    ``rows`` is the number of rows; None for all that follow.
    """

    dataset: str
    file: int
    first: int
    rows: int | None


def parts_of(dataset: DatasetPlan) -> tuple[Part, ...]:
    """Return the parts of a dataset, file by file; only Parquet and Arrow files have several: others are read whole."""
    from evalpipe.data.formats import rows

    table = dataset.table
    parts: list[Part] = []
    for number, (path, _) in enumerate(table.files):
        count = rows(path, table.format, table.named.csv) if table.format in ("parquet", "ipc") else None
        if count is None:
            parts.append(Part(dataset.name, number, 0, None))
        else:
            parts += [Part(dataset.name, number, first, min(ROWS, count - first))
                      for first in range(0, max(count, 1), ROWS)]
    return tuple(parts)


class Stamp(NamedTuple):
    """The size of a file in bytes, and when it was last changed, in nanoseconds."""

    size: int
    changed: int


def stamp(path: Path, shown: str, place: Place | None = None) -> Stamp:
    """Return size and time of last change of a file; raises DataError where it is no longer there."""
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    return Stamp(state.st_size, state.st_mtime_ns)


def digest(path: Path, before: Stamp, shown: str, place: Place | None = None) -> str:
    """Return the sha256 of a file's bytes; raises DataError where its stamp is not the one ``before``."""
    try:
        sha256 = file_sha256(path)
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    check_unchanged(path, before, shown, place)
    return sha256


def check_unchanged(path: Path, before: Stamp, shown: str, place: Place | None = None) -> None:
    """Raise DataError where the stamp of a file is not the one ``before``; messages have the path ``shown``."""
    after = stamp(path, shown, place)
    if after != before:
        sizes = f"from {before.size:,} to {after.size:,} bytes" if after.size != before.size else "at the same size"
        raise DataError(Problem(
            "file-changed", f"{shown} changed while it was read, {sizes}", place,
            "run again when nothing writes to it; what was summed up of other files is kept"))


class File(NamedTuple):
    """A file of a dataset, the path shown for it, its stamp before it was read, and the place in the spec."""

    path: Path
    shown: str
    stamp: Stamp
    place: Place | None


class Summed(NamedTuple):
    """The tables of a part, the same encoded (empty where not requested), and the number of bytes ``sent`` for them."""

    tables: Tables
    encoded: bytes
    sent: int = 0


class Workers(Protocol):
    """Workers that read files: threads of this process, or processes of a cluster."""

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in their order, with ``encoded`` as bytes too; raises DataError."""


class PartsProgress(Protocol):
    """A listener to the progress of reading parts."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Announce how many parts a dataset has, how many of these the cache has, and why the others are read."""

    def part_read(self) -> None:
        """Count a part as read."""


class Silent:
    """Progress that is not reported."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Say nothing."""

    def part_read(self) -> None:
        """Say nothing."""


@dataclass
class Work:
    """How to read parts, and counts of them: folder of the ``cache``, listener to ``progress``, text of the ``spec``.

    ``scratch`` is the folder for files of this run alone, which the next run clears; None for the system's folder.
    ``read`` and ``cached`` count the parts read from files and from the cache so far; ``used`` are the cache keys of
    both; ``sent`` counts the bytes of tables that other processes sent.
    """

    cache: Path | None = None
    progress: PartsProgress = field(default_factory=Silent)
    spec: str = ""
    scratch: Path | None = None
    read: int = 0
    cached: int = 0
    sent: int = 0
    used: list[str] = field(default_factory=list)
