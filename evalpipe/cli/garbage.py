"""How rarely a command looks for memory to give back, of which it has little, for nearly all that it imports stays."""

from __future__ import annotations

import atexit
import gc

YOUNG = 100_000
"""How many new objects there are before Python looks for those that nothing refers to; by default it is 700."""


def collect_rarely() -> None:
    """Have Python look for unused objects rarely, and not at all as the process ends.

    It looked through all that was imported again and again, and once more at the end: a fifth of the time of a command.
    """
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)
