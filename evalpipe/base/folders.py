"""Output folders on disk: atomic exchange, locks, removal of leftovers of killed runs, and delayed signals."""

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
"""The random end of names that `tempfile` makes."""

LITTER: set[Path] = set()
"""The temporary folders and lock files that this process has now."""


def exchange_folders(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; False where the system cannot, and nothing was done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    paths = _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second)
    return rename is not None and rename(*paths, _RENAME_EXCHANGE) == 0


def flush_to_disk(folder: Path) -> None:
    """Flush all files and names in a folder to the disk (fsync), so that a power failure cannot undo them.

    On Windows, which cannot flush folders, only files are flushed. Raises OSError where that fails.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            _fsync(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    if os.name == "posix":
        for path in [*sorted(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()), folder]:
            flush_names(path)


def flush_names(folder: Path) -> None:
    """Flush the names of the entries of a folder to the disk (fsync), except on Windows."""
    if os.name == "posix":
        _fsync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _fsync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def temporary_folders_of_runs(out: Path) -> Iterator[Path]:
    """Yield the temporary folders of runs to the folder ``out``, beside it and in it; those of a live run too.

    Names are matched in full: `.a.new-b.new-12345678` is of the folder `a.new-b`, and not of `a`.
    """
    sibling = re.compile(rf"\.{re.escape(out.name)}\.(new|try)-{_RANDOM_ENDING}")
    yield from [path for path in out.parent.iterdir() if sibling.fullmatch(path.name)]
    if out.is_dir():
        yield from [path for path in out.iterdir() if re.fullmatch(rf"\.new-{_RANDOM_ENDING}", path.name)]


def remove_temporary_folders(out: Path) -> None:
    """Remove the temporary folders of runs to ``out``, which this process has locked: other runs are dead."""
    for path in temporary_folders_of_runs(out):
        remove_folder(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder and its contents, or a link without its target; leave what cannot be removed."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder in ``parent``, or in the system's folder for such; `remove_litter` removes it too."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        """Make the folder; raises OSError where that fails."""
        super().__init__(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
        LITTER.add(Path(self.name))

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        LITTER.discard(Path(self.name))


def remove_litter() -> None:
    """Remove the `LITTER` of this process, which a signal ends at any point."""
    for path in tuple(LITTER):
        if path.is_dir():
            remove_folder(path)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Lock the file ``path``, in an existing folder, during the block; raises BlockingIOError where it is locked.

    The file is removed before it is unlocked, so none is left behind; that of a killed process is locked again.
    Where the system has no flock, nothing is locked.
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
    """Return the locked file; None where another process removed it meanwhile, so that the lock has no effect."""
    import fcntl

    # A link is not followed: what it leads to is no lock, and may be anything.
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644), "r+")
    # Its holder may remove the file between the opening and the locking; then this is a file without a name.
    try:
        # Without waiting: a second run fails at once while another one writes to its folder.
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
def signals_postponed(then: str | None = None) -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the block, so that it is completed.

    The first signal is raised after the block; a KeyboardInterrupt of it has ``then`` as its message. Python handles
    signals in its main thread alone, so in other threads nothing is delayed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        received.append(number)

    handlers = {number: signal.signal(number, wait) for number in WAITING if signal.getsignal(number) is not None}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in received[:1]:
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(*([] if then is None else [then])) from None
