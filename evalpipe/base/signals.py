"""Signals that wait until something is done whole."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

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
