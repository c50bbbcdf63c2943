"""Which points of a line need to be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

Place: TypeAlias = tuple[float, float]

NEAR = 0.25
"""Pixels that a place which is left out may lie off the line that is drawn."""


def bends(places: Sequence[Place]) -> list[Place]:
    """Return the places of a line in pixels without those that lie near the straight lines between the others.

    From each place that is kept, a line is extended as long as it passes near all places since: their directions, each
    give or take `NEAR`, narrow a cone that the next place must be in, farther away (Reumann & Witkam 1974).
    """
    kept = list(places[:1])
    last, base, low, high, far = None, 0.0, -math.pi, math.pi, 0.0
    for place in places[1:]:
        if place == (last or kept[-1]):
            continue
        angle, distance = _seen(kept[-1], place)
        turn = math.remainder(angle - base, math.tau)
        if last is not None and (distance < far or not low <= turn <= high):
            kept.append(last)
            last = None
            angle, distance = _seen(kept[-1], place)
        if last is None:
            base, turn, low, high = angle, 0.0, -math.pi, math.pi
        half = math.asin(min(1.0, NEAR / distance))
        last, low, high, far = place, max(low, turn - half), min(high, turn + half), distance
    return kept if last is None else [*kept, last]


def _seen(start: Place, place: Place) -> tuple[float, float]:
    """Return the direction and the distance of a place from another."""
    across, down = place[0] - start[0], place[1] - start[1]
    return math.atan2(down, across), math.hypot(across, down)
