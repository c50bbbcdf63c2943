"""Output folders on the disk: exchanged in one step, and rid of what runs that were killed left beside them."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_CHANCE = "[a-z0-9_]{8}"
"""What `tempfile` puts behind the beginning of a name."""

LITTER: set[Path] = set()
"""The temporary folders and the locks that this process has now."""


def exchanged(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; False where the system cannot, and nothing was done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    return rename is not None and rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0


def settle(folder: Path) -> None:
    """Return once all that is in a folder is on the disk, so that a power failure cannot take it back.

    Where the system cannot say so of a folder, as Windows cannot, its files alone are waited for. Raises OSError where
    they cannot be written.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            _flush(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    if os.name == "posix":
        for path in [*sorted(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()), folder]:
            settle_names(path)


def settle_names(folder: Path) -> None:
    """Return once the names of what lies directly in a folder are on the disk, where the system can say so."""
    if os.name == "posix":
        _flush(folder, os.O_RDONLY | os.O_DIRECTORY)


def _flush(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def left_beside(out: Path) -> Iterator[Path]:
    """Yield the temporary folders of runs to the folder ``out``, beside it and in it; of a live run too.

    Names are matched whole: `.a.new-b.new-12345678` is of the folder `a.new-b`, and not of `a`.
    """
    beside = re.compile(rf"\.{re.escape(out.name)}\.(new|try)-{_CHANCE}")
    yield from [path for path in out.parent.iterdir() if beside.fullmatch(path.name)]
    if out.is_dir():
        yield from [path for path in out.iterdir() if re.fullmatch(rf"\.new-{_CHANCE}", path.name)]


def sweep(out: Path) -> None:
    """Remove the temporary folders of runs to the folder ``out``, which this process holds: all others are dead."""
    for path in left_beside(out):
        remove(path)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, or a link to one without that; what cannot be removed stays."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A folder for a while, in ``place`` or where the system has such; also gone after `remove_litter`."""

    def __init__(self, prefix: str, place: Path | None = None) -> None:
        """Make the folder; raises OSError where that cannot be."""
        super().__init__(prefix=prefix, dir=place, ignore_cleanup_errors=True)
        LITTER.add(Path(self.name))

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        LITTER.discard(Path(self.name))


def remove_litter() -> None:
    """Remove the `LITTER` of a process that a signal ends, which may be in the middle of anything."""
    for path in tuple(LITTER):
        if path.is_dir():
            remove(path)
        else:
            path.unlink(missing_ok=True)
