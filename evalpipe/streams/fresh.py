"""Which parts the cache has, and why the others must be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.streams.asked import asked
from evalpipe.streams.cache import Cache
from evalpipe.streams.keys import asked_sha256, key_of
from evalpipe.streams.parts import parts_of
from evalpipe.streams.stamps import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.cache import CacheEntry
    from evalpipe.streams.parts import Part

NEW, CHANGED, OTHERWISE, DAMAGED = "new", "changed", "asked otherwise", "damaged"
"""Why a part is read although there is a cache."""

_WHY = {
    NEW: "not read before", CHANGED: "of files that have changed", DAMAGED: "damaged in the cache",
    OTHERWISE: "last summed up for another spec or version",
}


@dataclass(frozen=True, slots=True)
class PartState:
    """A part of a file, and why it is read; None where the cache has its tables."""

    file: str
    first: int
    rows: int | None
    why: str | None


def reasons(why: list[str]) -> str:
    """Say why parts are read, and for how many each reason holds where there are several."""
    counts = Counter(why)
    return ", ".join(words if len(counts) == 1 else f"{counts[reason]:,} {words}"
                     for reason, words in _WHY.items() if counts[reason])


def why_read(cache: Cache, part: Part, shown: str, sha256: str, key: str) -> str:
    """Tell why a part whose tables the cache lacks is read."""
    entries = cache.entries.values()
    if key in cache.entries:
        return DAMAGED
    if any((entry.sha256, entry.first, entry.rows) == (sha256, part.first, part.rows) for entry in entries):
        return OTHERWISE
    return CHANGED if any((entry.dataset, entry.file) == (part.dataset, shown) for entry in entries) else NEW


def fresh_parts(plan: Plan, folder: Path) -> dict[str, list[PartState]]:
    """Return the parts of each dataset with predictions, and which of them the cache in a folder has.

    A file is taken for the one that was read where its size and the time of its last change are those of then.
    """
    cache, wanted = Cache(folder), asked(plan)
    known = {(entry.dataset, entry.file, entry.size, entry.changed): entry for entry in cache.entries.values()}
    return {dataset.name: list(_states(cache, known, dataset, asked_sha256(plan, dataset, wanted)))
            for dataset in plan.datasets if dataset.role != "reference"}


def _states(
    cache: Cache, known: dict[tuple[str, str, int, int], CacheEntry], dataset: DatasetPlan, what: str
) -> Iterator[PartState]:
    for part in parts_of(dataset):
        path, shown = dataset.table.files[part.file]
        entry = known.get((dataset.name, shown, *stamp(path, shown)))
        sha256 = "" if entry is None else entry.sha256
        key = key_of(sha256, shown, part, what)
        has = entry is not None and key in cache.entries
        yield PartState(shown, part.first, part.rows, None if has else why_read(cache, part, shown, sha256, key))
