"""The points of a line that a figure leaves out would change no pixel."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from evalpipe.card.figures.panel import without_flat_points

QUARTER = 0.25
"""Pixels that a point may lie off the line that is drawn."""


def off(point: tuple[float, float], path: list[tuple[float, float]]) -> float:
    """Return how far a point is from the nearest stretch of a path."""
    nearest = math.inf
    for (a, b), (c, d) in pairwise(path):
        along = ((point[0] - a) * (c - a) + (point[1] - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2)
        part = min(max(along, 0.0), 1.0)
        nearest = min(nearest, math.hypot(point[0] - a - part * (c - a), point[1] - b - part * (d - b)))
    return nearest


t = np.linspace(0, 1, 600)
CURVES = {
    "a circle": (150 + 140 * np.cos(2 * np.pi * t), 150 + 140 * np.sin(2 * np.pi * t)),
    "a slow bend": (300 * t, 100 * t**2),
    "a wave": (300 * t, 100 + 40 * np.sin(20 * t)),
    "steps": (np.repeat(np.arange(300), 2), np.repeat(np.arange(301) // 3, 2)[1:-1]),
    "noise": (300 * t, np.random.default_rng(1).normal(100, 0.3, 600)),
    "back and forth": (np.r_[300 * t, 300 - 300 * t], np.zeros(1200)),
}


@pytest.mark.parametrize("name", CURVES)
def test_no_point_is_off_the_path_by_more_than_a_quarter_of_a_pixel(name: str) -> None:
    points = list(zip(*(values.tolist() for values in CURVES[name]), strict=True))
    path = without_flat_points(points)

    assert (path[0], path[-1]) == (points[0], points[-1])
    assert max(off(point, path) for point in points) <= QUARTER + 1e-9
    assert len(path) < len(points)


def test_only_the_ends_of_a_straight_line_are_kept() -> None:
    assert without_flat_points([(0.1 * k, 0.2 * k) for k in range(200)]) == [(0.0, 0.0), (0.1 * 199, 0.2 * 199)]


def test_a_place_twice_is_kept_once() -> None:
    assert without_flat_points([(1.0, 1.0), (1.0, 1.0), (2.0, 5.0), (2.0, 5.0)]) == [(1.0, 1.0), (2.0, 5.0)]
    assert without_flat_points([(1.0, 1.0), (1.0, 1.0)]) == [(1.0, 1.0)]
    assert without_flat_points([]) == []


def test_a_path_that_turns_back_keeps_where_it_turns() -> None:
    assert without_flat_points([(0.0, 0.0), (5.0, 0.0), (9.0, 0.0), (4.0, 0.0)]) == [(0.0, 0.0), (9.0, 0.0), (4.0, 0.0)]
