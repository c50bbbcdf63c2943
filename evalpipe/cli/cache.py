"""`evalpipe cache`: what the parts of files came to, kept beside an output folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalpipe.streams.cache import Cache, cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.streams.cache import CacheEntry


def list_cache(folder: str, form: str) -> None:
    """Print the entries of an output folder's cache; those that its last complete run did not use are marked."""
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
    """Return the line on how many parts a dataset has, how many the cache has, and ``why`` the others are read."""
    part_text = f"{dataset}: {parts:,} part{'' if parts == 1 else 's'}"
    reason_text = f" ({why})" if why else ""
    if not cached:
        return f"{part_text} to read{reason_text}"
    return f"{part_text}, all in the cache" if cached == parts else (
        f"{part_text}: {cached:,} in the cache, {parts - cached:,} to read{reason_text}")


def _counted(entries: Sequence[CacheEntry] | Iterable[CacheEntry]) -> str:
    """Return the number and the total size of some entries as text."""
    sizes = [entry.bytes for entry in entries]
    return f"{len(sizes):,} {'entry' if len(sizes) == 1 else 'entries'} of {sum(sizes):,} bytes"
