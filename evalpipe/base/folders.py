"""Output folders on the disk: exchanged in one step, locked, rid of what killed runs left, safe from signals."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from types import FrameType


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_RANDOM_ENDING = "[a-z0-9_]{8}"
"""What `tempfile` puts behind the beginning of a name."""

LITTER: set[Path] = set()
"""The temporary folders and the locks that this process has now."""


def exchanged(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; False where the system cannot, and nothing was done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    paths = _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second)
    return rename is not None and rename(*paths, _RENAME_EXCHANGE) == 0


def settle(folder: Path) -> None:
    """Return once all that is in a folder is on the disk, so that a power failure cannot take it back.

    Where the system cannot say so of a folder, as Windows cannot, its files alone are waited for. Raises OSError where
    they cannot be written.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            _fsync(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    if os.name == "posix":
        for path in [*sorted(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()), folder]:
            settle_names(path)


def settle_names(folder: Path) -> None:
    """Return once the names of what lies directly in a folder are on the disk, where the system can say so."""
    if os.name == "posix":
        _fsync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _fsync(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def left_beside(out: Path) -> Iterator[Path]:
    """Yield the temporary folders of runs to the folder ``out``, beside it and in it; of a live run too.

    Names are matched whole: `.a.new-b.new-12345678` is of the folder `a.new-b`, and not of `a`.
    """
    sibling = re.compile(rf"\.{re.escape(out.name)}\.(new|try)-{_RANDOM_ENDING}")
    yield from [path for path in out.parent.iterdir() if sibling.fullmatch(path.name)]
    if out.is_dir():
        yield from [path for path in out.iterdir() if re.fullmatch(rf"\.new-{_RANDOM_ENDING}", path.name)]


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


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file ``path``, whose folder must exist, locked; raises BlockingIOError where another process holds it.

    The file is removed before it is let go of, so none is left behind; that of a process which was killed is taken
    over. Where the system has no flock, nothing is locked.
    """
    file = None
    while os.name == "posix" and file is None:
        file = _locked_file(path)
    if file is not None:
        LITTER.add(path)
    try:
        yield
    finally:
        if file is not None:
            path.unlink(missing_ok=True)
            LITTER.discard(path)
            file.close()


def _locked_file(path: Path) -> io.TextIOWrapper | None:
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


WAITING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]
"""The signals that can end a command."""


@contextmanager
def postponed(then: str | None = None) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait for the end of the block, so that it is done whole; ``then`` says that it is.

    The first that came is raised after the block; a KeyboardInterrupt that this gives has ``then`` as its message.
    Python handles signals in its main thread alone, so in others nothing has to wait.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.signal(number, wait) for number in WAITING if signal.getsignal(number) is not None}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(*([] if then is None else [then])) from None
