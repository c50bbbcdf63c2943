"""A lock that one process holds at a time, as a file that is gone once nobody holds it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import io
    from pathlib import Path
    from types import TracebackType


class Lock:
    """Holds the file ``path`` locked. Entering raises BlockingIOError where another process holds it.

    The file is removed before it is let go of, so none is left behind; that of a process which was killed is taken
    over. Where the system has no flock, nothing is locked.
    """

    def __init__(self, path: Path) -> None:
        """Choose the file, whose folder must exist."""
        self._path = path
        self._file: io.TextIOWrapper | None = None

    def __enter__(self) -> Self:
        """Take the lock."""
        if os.name == "posix":
            while self._file is None:
                self._file = self._taken()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of it."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _taken(self) -> io.TextIOWrapper | None:
        """Return the file, locked; None where its holder removed it meanwhile, so that its lock guards nothing."""
        import fcntl

        file = self._path.open("w")
        # Its holder may remove the file between the opening and the locking; then this is a file without a name.
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                return file
        except FileNotFoundError:
            pass
        except BlockingIOError as error:
            file.close()
            raise BlockingIOError(error.errno, "another run is writing to it") from None
        file.close()
        return None
