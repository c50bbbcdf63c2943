"""How far judges take part in a measure: by the shares at which it varies least over resamples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.bootstrap import kish, to_scale
from evalpipe.intervals.judged import unseen_errors
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats

STEP = 0.5
"""The share at which it is seen how far a judge moves a replicate: the middle, as few measures move in proportion."""

PARTS = 20
"""Shares are whole numbers of so many parts of 1, so that no last digit decides: a variance is flat about its least."""

SWEEPS = 50
"""How often the share of each judge in turn is chosen given those of the others; two or three judges settle sooner."""


def shares_of_judges(
    pilot: Mapping[tuple[str, int, int], tuple[Floats, Floats]], unseen: Mapping[tuple[str, int], float],
    bounds: Mapping[int, tuple[float, float]],
) -> dict[tuple[str, int, int], tuple[float, ...]]:
    """Return the shares of judges in each measure, by its key.

    ``pilot`` are replicates of each measure without judges [B], and with each of them at the share `STEP` [judges, B].
    A share of 0 leaves a judge out, so that no measure varies more than without judges, up to the noise of the pilot.
    ``unseen`` are, by model and subset, what `unseen_errors` gives: outcomes in hand may all agree with a judge.
    Variances are of the scale of the ``bounds`` of each measure, by number, where no replicate is at one: else they
    fall towards an end of the range, and high values would be those with a large share.
    Angelopoulos, Duchi & Zrnic (2023), section 6; for several judges by least squares, as of control variates.
    """
    shares: dict[tuple[str, int, int], tuple[float, ...]] = {}
    for key, (alone, with_judges) in pilot.items():
        defined = ~np.isnan(alone) & ~np.isnan(with_judges).any(axis=0)
        shares[key] = (0.0,) * len(with_judges)
        if defined.any():
            replicates, *others = _on_scale(np.stack([alone, *with_judges])[:, defined], bounds[key[-1]])
            moves = (np.stack(others) - replicates) / STEP
            shares[key] = _least_squares(
                replicates - replicates.mean(), moves - moves.mean(axis=1, keepdims=True), unseen.get(key[:2], 0.0))
    return shares


def _on_scale(replicates: Floats, bounds: tuple[float, float]) -> Floats:
    """Return replicates on the scale of their range, as limits are; unchanged where one is at a bound, or beyond."""
    low, high = bounds
    if not ((low < replicates) & (replicates < high)).all():
        return replicates
    return np.array([[to_scale(float(value), bounds) for value in row] for row in replicates])


def unseen_of(summary: Summary, clusters: int | None, *, importance: bool) -> float:
    """Return what `unseen_errors` gives for the statistics of rows with an outcome, of which there are ``clusters``.

    ``importance`` says that rows weigh unequally, and do not count identical ones.
    """
    weights = np.asarray(summary.weights, float)
    if not importance:
        return unseen_errors(1.0, np.asarray(summary("occurring"), float), float(weights.sum()), clusters)
    squares = np.asarray(Summary(summary.rows, weights**2)("occurring"), float)
    return unseen_errors(float(weights.max()), squares, float(kish(weights)), clusters)


def _least_squares(alone: Floats, moves: Floats, unseen: float) -> tuple[float, ...]:
    """Return the shares from 0, of a sum up to 1, with the least sum of squares of ``alone`` + shares x ``moves``.

    ``alone`` [B] and ``moves`` [judges, B] have the mean 0. The square of the sum of shares, times ``unseen``, times
    the sum of squares of ``alone`` is added.
    """
    if not math.isfinite(unseen):
        return (0.0,) * len(moves)
    added = unseen * float((alone**2).sum())
    products = [[float((first * second).sum()) + added for second in moves] for first in moves]
    with_alone = [float((first * alone).sum()) for first in moves]
    chosen = [0.0] * len(moves)
    for _ in range(SWEEPS if len(moves) > 1 else 1):
        for judge, square in enumerate(row[judge] for judge, row in enumerate(products)):
            others = sum(products[judge][other] * share for other, share in enumerate(chosen) if other != judge)
            room = 1.0 - sum(share for other, share in enumerate(chosen) if other != judge)
            chosen[judge] = min(max(-(with_alone[judge] + others) / square, 0.0), room) if square > 0 else 0.0
    return tuple(round(share * PARTS) / PARTS for share in chosen)
