"""What a run says of how to read datasets part by part, and the counts of parts that it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class PartsProgress(Protocol):
    """A listener to the progress of reading parts."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Announce how many parts a dataset has, how many of these the cache has, and why the others are read."""

    def part_read(self) -> None:
        """Count a part as read."""


class Silent:
    """Progress that is not reported."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Do nothing, for progress is not reported."""

    def part_read(self) -> None:
        """Do nothing, for progress is not reported."""


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
