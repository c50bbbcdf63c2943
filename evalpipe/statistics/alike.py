"""Few cells of rows that are alike in several numbers: parted again and again where the numbers vary most."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.statistics.grid import joint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Wholes


def alike(pattern: Wholes, codes: Sequence[Wholes], most: int, lost: float) -> tuple[Wholes, float]:
    """Return the cell of each row, [n], numbered from 0, and the share of variance of any number that lies in cells.

    Cells hold rows of one ``pattern`` [n]. ``codes`` are the numbers, each as its place [n] among ascending parts.
    Cells are cut in two where that takes most of the variance of places away, until at most the share ``lost`` lies
    within cells, or there are ``most`` of them. Cells depend on how often each combination occurs alone, and not on the
    order of rows. The idea is median cut: Heckbert (1982); Wan, Wong & Prusinkiewicz (1988) cut by variance.
    """
    combination, count = joint(pattern, *codes)
    weight = np.bincount(combination, minlength=count).astype(float)
    member = np.zeros(count, np.intp)
    member[combination] = np.arange(len(pattern))
    places = [code[member] for code in codes]
    cell = pattern[member]
    whole = [_within(np.zeros(count, np.intp), place, weight, 1).within[0] for place in places]
    while True:
        cells = int(cell.max()) + 1
        parts = [_within(cell, place, weight, cells) for place in places]
        shares = np.array([
            part.within / total if total > 0 else np.zeros(cells) for part, total in zip(parts, whole, strict=True)])
        left = shares.sum(axis=1)
        # What is left of a number that is settled needs no further cut.
        wanted = np.where(left[:, None] > lost, shares, 0.0)
        largest = wanted.max(axis=0, initial=0.0)
        chosen = np.argsort(-largest, kind="stable")[: max(most - cells, 0)]
        chosen = chosen[largest[chosen] > lost / cells]
        if not len(chosen):
            return cell[combination], float(left.max(initial=0.0))
        cell = _parted(cell, chosen, wanted.argmax(axis=0), places, parts)


def _parted(
    cell: Wholes, chosen: Wholes, by: Wholes, places: Sequence[Wholes], parts: Sequence[Within]
) -> Wholes:
    """Cut the ``chosen`` cells in two, each by the number ``by`` [cells]; what lies above the cut is a new cell."""
    fresh = np.full(len(by), -1)
    fresh[chosen] = len(by) + np.arange(len(chosen))
    parted = cell.copy()
    for number, (place, part) in enumerate(zip(places, parts, strict=True)):
        above = (fresh[cell] >= 0) & (by[cell] == number) & (place > part.cut[cell])
        parted[above] = fresh[cell[above]]
    return parted


class Within(NamedTuple):
    """The sum of squares within each cell, and the place at which the cut of it leaves least; both [cells]."""

    within: Floats
    cut: Wholes


def _within(cell: Wholes, place: Wholes, weight: Floats, cells: int) -> Within:
    width = int(place.max()) + 1
    table = np.bincount(cell * width + place, weight, cells * width).reshape(cells, width)
    at = np.arange(width)
    below, low = np.cumsum(table, axis=1), np.cumsum(table * at, axis=1)
    total, sums = below[:, -1:], low[:, -1:]
    within = (table * at**2).sum(axis=1) - sums[:, 0] ** 2 / total[:, 0]
    above = total - below
    with np.errstate(divide="ignore", invalid="ignore"):
        gained = low**2 / below + (sums - low) ** 2 / above
    parts = (below > 0) & (above > 0)
    # A cell of one place has nothing but rounding within it.
    within = np.where(parts.any(axis=1), np.maximum(within, 0.0), 0.0)
    return Within(within, np.where(parts, gained, -np.inf).argmax(axis=1))
