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
    """Print the entries of the cache of an output folder, and which of them its last whole run used."""
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
    """Remove from the cache of an output folder what its last whole run did not use; no run may be writing to it."""
    from evalpipe.runs.record import held

    path = cache_folder(Path(folder))
    if not path.is_dir():
        click.echo(f"{path}: there is no cache")
        return
    with held(folder):
        cache = Cache(path)
        removed = cache.collect()
    if cache.used() is None:
        click.echo(f"{path}: no run has read all its parts yet, so all entries are kept")
        return
    keys = {entry.key for entry in removed}
    left = [entry for entry in cache.entries.values() if entry.key not in keys]
    click.echo(f"{path}: removed {_counted(removed)}; {_counted(left)} left")


def parts_line(dataset: str, parts: int, cached: int, why: str) -> str:
    """Say in how many parts a dataset is read, how many of these the cache has, and why the others are read."""
    counted = f"{dataset}: {parts:,} part{'' if parts == 1 else 's'}"
    because = f" ({why})" if why else ""
    if not cached:
        return f"{counted} to read{because}"
    return f"{counted}, all in the cache" if cached == parts else (
        f"{counted}: {cached:,} in the cache, {parts - cached:,} to read{because}")


def _counted(entries: Sequence[CacheEntry] | Iterable[CacheEntry]) -> str:
    sizes = [entry.bytes for entry in entries]
    return f"{len(sizes):,} {'entry' if len(sizes) == 1 else 'entries'} of {sum(sizes):,} bytes"
