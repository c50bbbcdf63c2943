"""Desirability: criteria of any kind on one scale, from 0, unacceptable, to 1, as good as one could wish.

Functions of arrays on any leading axes; NaN, a value that does not exist, stays NaN. The idea is Harrington's (1965,
Industrial Quality Control 21(10), 494-498); the functions are those of Derringer & Suich (1980, Journal of Quality
Technology 12(4), 214-219).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.arithmetic import power

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from evalpipe.base.arraytypes import Floats

TIE = 1e-12
"""How far apart two desirabilities may lie and still be the same: what rounding leaves, and nothing that matters."""


def maximize(x: ArrayLike, low: float, high: float, scale: float = 1.0) -> Floats:
    """Return 0 up to ``low``, 1 from ``high`` on, and ((x - low) / (high - low))^scale between them.

    A ``scale`` above 1 makes the goal harder to satisfy (0.5^2 < 0.5), one between 0 and 1 easier. Derringer & Suich
    (1980), eq. 3; needs low < high and scale > 0.
    """
    return np.asarray(power(np.clip((np.asarray(x, float) - low) / (high - low), 0.0, 1.0), scale))


def minimize(x: ArrayLike, low: float, high: float, scale: float = 1.0) -> Floats:
    """Return 1 up to ``low``, 0 from ``high`` on, and ((high - x) / (high - low))^scale between them.

    A ``scale`` above 1 makes the goal harder to satisfy. Derringer & Suich (1980), eq. 3 of the value turned round.
    """
    return np.asarray(power(np.clip((high - np.asarray(x, float)) / (high - low), 0.0, 1.0), scale))


def target(
    x: ArrayLike, low: float, target: float, high: float, scale_low: float = 1.0, scale_high: float = 1.0
) -> Floats:
    """Return 1 at ``target``, falling to 0 at ``low`` with one scale and at ``high`` with the other.

    Derringer & Suich (1980), eq. 4; needs low < target < high and scales > 0.
    """
    values = np.asarray(x, float)
    rising, falling = maximize(values, low, target, scale_low), minimize(values, target, high, scale_high)
    return np.where(values <= target, rising, falling)


def box(x: ArrayLike, low: float, high: float) -> Floats:
    """Return 1 from ``low`` to ``high``, both included, and 0 outside."""
    values = np.asarray(x, float)
    return np.where(np.isnan(values), np.nan, ((values >= low) & (values <= high)).astype(float))


def custom(
    x: ArrayLike, values: ArrayLike, desirability: ArrayLike,
    extrapolate: Literal["clamp", "zero", "error"] = "clamp",
) -> Floats:
    """Return the desirability of ``x`` on straight lines through the points (``values``, ``desirability``), both [k].

    The values ascend. Beyond the ends ``clamp`` keeps the desirability of the nearest end, ``zero`` gives 0 and
    ``error`` NaN, for which the caller raises the error.
    """
    numbers, points = np.asarray(x, float), np.asarray(values, float)
    d = np.interp(numbers, points, np.asarray(desirability, float))
    if extrapolate == "clamp":
        return np.asarray(d)
    outside = (numbers < points[0]) | (numbers > points[-1])
    return np.where(outside, 0.0 if extrapolate == "zero" else np.nan, d)


def overall(d: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the weighted geometric mean (prod of d_i^w_i)^(1 / sum of w) along the last axis, [..., k] to [...].

    Any desirability of 0 makes it 0, however good the others are; any NaN makes it NaN, so that nothing drops out of
    it. ``weights`` [..., k] are positive. Derringer & Suich (1980), eq. 5; with weights Derringer (1994, Quality
    Progress 27(6), 51-58).
    """
    weight_array = np.asarray(weights, float)
    # By the largest first: a sum of weights near the largest float would be infinite.
    relative = weight_array / weight_array.max(axis=-1, keepdims=True)
    shares = relative / relative.sum(axis=-1, keepdims=True)
    return np.asarray(np.prod(power(np.asarray(d, float), shares), axis=-1))


def first_place_shares(overall: Floats) -> Floats:
    """Return each candidate's share of first place, [m, ...] to [m, ...]: 1 for a single best, shared equally in ties.

    Shares sum to 1. A NaN is never best; where all are NaN nobody is, and all shares are 0.
    """
    defined = np.where(np.isnan(overall), -1.0, overall)
    top = defined.max(axis=0)
    first = (defined >= top - TIE) & (top >= 0)
    return np.asarray(first / np.maximum(first.sum(axis=0), 1))


def ranks(overall: Floats) -> list[int | None]:
    """Return the rank of each candidate [m], 1 for the best; those that tie share the better rank, None of NaN."""
    return [None if np.isnan(value) else 1 + int((overall > value + TIE).sum()) for value in overall]


def pareto(scores: Floats) -> list[bool | None]:
    """Tell which candidates are on the Pareto front, from scores [m, k]: no other is as good in all and better in one.

    Higher scores are better. A candidate without some score cannot be placed: None, and it beats nobody.
    """
    # Scores are values of measures, of any size, so the room for rounding grows with them.
    tolerance = TIE * np.maximum(1.0, np.max(np.abs(scores), axis=0, initial=0.0, where=np.isfinite(scores)))
    on_front: list[bool | None] = []
    for candidate in scores:
        beaten = (scores >= candidate - tolerance).all(axis=1) & (scores > candidate + tolerance).any(axis=1)
        on_front.append(None if np.isnan(candidate).any() else not beaten.any())
    return on_front
