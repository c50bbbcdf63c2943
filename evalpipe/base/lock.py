"""A lock that one process holds at a time, as a file that is gone once nobody holds it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalpipe.base.folders import LITTER

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file ``path``, whose folder must exist, locked; raises BlockingIOError where another process holds it.

    The file is removed before it is let go of, so none is left behind; that of a process which was killed is taken
    over. Where the system has no flock, nothing is locked.
    """
    file = None
    while os.name == "posix" and file is None:
        file = _taken(path)
    if file is not None:
        LITTER.add(path)
    try:
        yield
    finally:
        if file is not None:
            path.unlink(missing_ok=True)
            LITTER.discard(path)
            file.close()


def _taken(path: Path) -> io.TextIOWrapper | None:
    """Return the file, locked; None where its holder removed it meanwhile, so that its lock guards nothing."""
    import fcntl

    # A link is not followed: what it leads to is no lock, and may be anything.
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644), "r+")
    # Its holder may remove the file between the opening and the locking; then this is a file without a name.
    try:
        # Not waited for: a second run is told at once that another one writes to its folder.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
    except FileNotFoundError:
        pass
    except BlockingIOError as error:
        file.close()
        raise BlockingIOError(error.errno, "another run is writing to it") from None
    file.close()
    return None
