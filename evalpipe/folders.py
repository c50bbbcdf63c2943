"""Output folders on the disk: exchanged in one step, and rid of what runs that were killed left beside them."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_CHANCE = "[a-z0-9_]{8}"
"""What `tempfile` puts behind the beginning of a name."""


def exchanged(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; False where the system cannot, and nothing was done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    return rename is not None and rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0


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
