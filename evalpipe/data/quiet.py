"""Keeps what a library writes to the standard error by itself from users who get an error of evalpipe instead."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

STDERR = 2


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hold back what native code writes to the standard error while the block runs.

    It is written after the block, or dropped where the block raises. polars prints the panics of its threads there,
    with their stacks, before it raises them. Without a standard error the block runs as it is.
    """
    try:
        outside = os.dup(STDERR)
    except OSError:
        yield
        return
    # Native code writes to the descriptor, past `sys.stderr`; only the descriptor itself can be turned aside.
    with os.fdopen(outside, "wb"), tempfile.TemporaryFile() as caught:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os.dup2(caught.fileno(), STDERR)
        try:
            yield
        finally:
            os.dup2(outside, STDERR)
        # Reached only where the block did not raise: its warnings are for the user, its panics are told as errors.
        caught.seek(0)
        with contextlib.suppress(OSError):
            os.write(outside, caught.read())
