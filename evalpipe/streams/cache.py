"""What parts were summed up to, kept beside the output folder, so that a later run need not read them again.

The name of an entry is the sha256 of all that its tables depend on: the bytes of the file, the rows of the part, what
the plan asks of them, and the versions that compute. Entries are therefore never out of date, only unused.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.streams.codec import DamagedError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.streams.tables import Tables

FOLDER = ".evalpipe-cache"
"""The folder of all caches, beside the output folders; each has one of its own there, of its name."""

SUFFIX = ".tables"
LAST = "last-run.json"
TEMPORARY = ".new-"
"""How files and folders begin that are there only while a run writes."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What an entry is of: its ``key``, the file as it is shown, with its sha256, its stamp, and the rows of the part.

    ``asked`` is the sha256 of what was asked of them; ``bytes`` is the size of the entry.
    """

    key: str
    dataset: str
    file: str
    sha256: str
    size: int
    changed: int
    first: int
    rows: int | None
    asked: str
    bytes: int = 0


def cache_folder(out: Path) -> Path:
    """Return the folder of the cache of an output folder."""
    whole = out.absolute()
    return whole.parent / FOLDER / whole.name


class Cache:
    """The entries in a folder, which need not exist."""

    def __init__(self, folder: Path) -> None:
        """Look at the entries that are there."""
        self.folder = folder
        self.entries = {entry.key: entry for path in sorted(folder.glob(f"*{SUFFIX}")) if (entry := _entry(path))}

    def get(self, key: str) -> Tables | None:
        """Return the tables of an entry; None where it cannot be read, or is damaged: then it is removed."""
        path = self.folder / f"{key}{SUFFIX}"
        try:
            return decode(path.read_bytes().partition(b"\n")[2])
        except OSError:
            return None
        except DamagedError:
            with suppress(OSError):  # it is replaced when its part is read, and what hinders that is told then
                path.unlink()
            return None

    def put(self, entry: CacheEntry, tables: bytes) -> None:
        """Add an entry, whole or not at all; raises UsageError where it cannot be written."""
        about = {name: value for name, value in asdict(entry).items() if name != "bytes"}
        with self._written():
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(self.folder / f"{entry.key}{SUFFIX}", json.dumps(about).encode() + b"\n" + tables)

    def finish(self, used: list[str]) -> None:
        """Note which entries a run used that has read all its parts."""
        with self._written():
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(self.folder / LAST, (json.dumps(sorted(used), indent=1) + "\n").encode())

    def used(self) -> frozenset[str] | None:
        """Return the keys that the last whole run used; None before there is one."""
        try:
            return frozenset(json.loads((self.folder / LAST).read_text("utf-8")))
        except (OSError, ValueError):
            return None

    def collect(self) -> list[CacheEntry]:
        """Remove what the last whole run did not use, and what killed runs left; return the entries removed.

        Raises UsageError where they cannot be removed.
        """
        used = self.used()
        unused = [] if used is None else [entry for entry in self.entries.values() if entry.key not in used]
        with self._written():
            sweep(self.folder)
            for entry in unused:
                (self.folder / f"{entry.key}{SUFFIX}").unlink(missing_ok=True)
        return unused

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"cannot write to the cache '{self.folder}': {error.strerror or error}"
            hint = "free space or allow writing there, or run with --no-cache; the earlier output is unchanged"
            raise UsageError.of("cache-folder", message, hint) from None


def sweep(folder: Path) -> None:
    """Remove what killed runs left in a folder of a cache, to whose output folder no other run writes."""
    for left in folder.glob(f"{TEMPORARY}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            with suppress(OSError):  # what hinders it also hinders the run, which says so where it matters
                left.unlink()


def _entry(path: Path) -> CacheEntry | None:
    """Return what an entry is of; None where its first line does not say so."""
    try:
        with path.open("rb") as file:
            entry = CacheEntry(**json.loads(file.readline()))
        return replace(entry, key=path.name.removesuffix(SUFFIX), bytes=path.stat().st_size)
    except (OSError, ValueError, TypeError):
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file under another name, and give it its own when it is whole."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
