"""The memory of this process that no object needs any more."""

from __future__ import annotations

import ctypes
import os


def trim() -> None:
    """Give freed memory back to the system, which glibc keeps where it lies between objects; elsewhere do nothing."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if malloc_trim is not None:
        malloc_trim(0)
