"""How the parts of datasets are summed up: where their tables are kept, by whom they are summed up, and who is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from evalpipe.errors import Place
    from evalpipe.streams.parts import Part
    from evalpipe.streams.stamps import Stamp
    from evalpipe.streams.tables import Tables


class File(NamedTuple):
    """A file of a dataset, the path shown for it, its stamp before it was read, and the place that names it."""

    path: Path
    shown: str
    stamp: Stamp
    place: Place | None


class Summed(NamedTuple):
    """The tables of a part, the same as bytes, empty where these are not asked for, and the bytes that were sent."""

    tables: Tables
    encoded: bytes
    sent: int = 0


class Workers(Protocol):
    """Those who read files: threads of this process, or processes of a cluster."""

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in their order, as bytes too where these are asked for; raises DataError."""


class PartsProgress(Protocol):
    """Who is told how the reading of parts goes on."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Announce how many parts a dataset has, how many of these the cache has, and why the others are read."""

    def part_read(self) -> None:
        """Count a part as read."""


class Silent:
    """Tells nobody."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Say nothing."""

    def part_read(self) -> None:
        """Say nothing."""


@dataclass
class Work:
    """The folder of the ``cache``, None without one; the ``progress`` that is told; the ``spec`` as tasks carry it.

    ``scratch`` is the folder for files of this run alone, which the next run clears; None for that of the system.
    ``read`` and ``cached`` count the parts that were read and those that the cache had, once they are; ``used`` are the
    keys of both in the cache; ``sent`` are the bytes of tables that other processes sent.
    """

    cache: Path | None = None
    progress: PartsProgress = field(default_factory=Silent)
    spec: str = ""
    scratch: Path | None = None
    read: int = 0
    cached: int = 0
    sent: int = 0
    used: list[str] = field(default_factory=list)
