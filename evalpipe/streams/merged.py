"""The merged tables of the parts of a dataset: those that the cache has are not read again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalpipe.streams.asked import asked
from evalpipe.streams.cache import Cache, CacheEntry
from evalpipe.streams.fresh import reasons, why_read
from evalpipe.streams.keys import asked_sha256, key_of
from evalpipe.streams.parts import parts_of
from evalpipe.streams.stamps import stamp
from evalpipe.streams.tables import Tables
from evalpipe.streams.work import File

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import Part
    from evalpipe.streams.work import Work, Workers


@dataclass
class _Parts:
    """The parts of a dataset that are still to be read, with their keys, and why."""

    parts: list[tuple[Part, File]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


def files_of(plan: Plan, dataset: DatasetPlan) -> list[File]:
    """Return the files of a dataset as they are before they are read; raises DataError."""
    place = plan.places.place(*dataset.table.named.loc)
    return [File(path, shown, stamp(path, shown, place), place) for path, shown in dataset.table.files]


def merged(
    plan: Plan, dataset: DatasetPlan, files: list[File], work: Work, workers: Workers
) -> tuple[Tables, list[str]]:
    """Return the tables of all rows of a dataset, and the sha256 of its files; raises DataError."""
    contents, tables = dataset.table.contents, Tables(asked(plan))
    sha256 = list(contents or workers.digests(files))
    # The sha256 of rows tells nothing of their order, so it does not say which of them a part holds.
    cache = None if work.cache is None or contents else Cache(work.cache)
    what = asked_sha256(plan, dataset, tables.asked)
    lacking, before = _Parts(), work.cached
    for part in parts_of(dataset):
        key = key_of(sha256[part.file], files[part.file].shown, part, what)
        kept = None if cache is None else cache.get(key)
        if kept is not None:
            work.cached += 1
            work.used.append(key)
            tables.merge(kept.of_file(part.file))
            continue
        lacking.parts.append((part, files[part.file]))
        lacking.keys.append(key)
        lacking.why += [] if cache is None else [
            why_read(cache, part, files[part.file].shown, sha256[part.file], key)]
    cached = work.cached - before
    work.progress.expect_parts(dataset.name, cached + len(lacking.parts), cached, reasons(lacking.why))
    _read(tables, lacking, work, workers, cache, sha256, what)
    return tables, sha256


def _read(
    tables: Tables, lacking: _Parts, work: Work, workers: Workers, cache: Cache | None, sha256: list[str], what: str
) -> None:
    """Read the parts that the cache lacks, keep their tables, and merge them in the order of the parts."""
    # Closed at once where this ends early: parts that were begun are then left, here or on a cluster.
    with closing(workers.tables(lacking.parts, encoded=cache is not None)) as summed_up:
        for (part, file), key, summed in zip(lacking.parts, lacking.keys, summed_up, strict=True):
            if cache is not None:
                stored = part.dataset, file.shown, sha256[part.file], *file.stamp, part.first, part.rows, what
                cache.put(CacheEntry(key, *stored), summed.encoded)
                work.used.append(key)
            work.read += 1
            work.sent += summed.sent
            work.progress.part_read()
            tables.merge(summed.tables.of_file(part.file))
