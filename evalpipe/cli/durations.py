"""Durations on the command line: `90s`, `15m`, `2h`."""

from __future__ import annotations

import re

import click

UNITS = {"s": 1, "m": 60, "h": 3600}
"""The seconds of each unit."""

LONGEST = 30 * 24 * 3600
"""The most seconds that may be allowed, 30 days: more is a slip of the keyboard."""

_WRITTEN = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[smh])", re.ASCII)


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as "15m"; raises click.BadParameter for what is none."""
    parts = _WRITTEN.fullmatch(text)
    if parts is None:
        raise click.BadParameter(f"{text!r} is no duration; write a number and s, m or h, such as 90s, 15m or 2h")
    seconds = float(parts["number"]) * UNITS[parts["unit"]]
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"{text!r} is not between 1 ms and 30 days")
    return seconds


def written(seconds: float) -> str:
    """Write a duration as it may be given: in the largest unit that it is a whole number of."""
    unit = next((unit for unit in reversed(UNITS) if not seconds % UNITS[unit]), "s")
    return f"{seconds / UNITS[unit]:.10g}{unit}"
