"""Tied sets: which models no comparison tells apart, as a compact letter display has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags

MOST_SETS = 200
"""The most tied sets that are listed: nobody reads as many. 40 models in a line have at most 40."""


def tied_sets(apart: Flags) -> list[tuple[int, ...]] | None:
    """Return the maximal sets of models of which no two are apart; None of more than `MOST_SETS`.

    ``apart`` [m, m], symmetric, has the verdicts on models in ranked order. A set is a tuple of places, ascending; sets
    are ordered by their first place, then by the next, and may overlap: where B and C are tied, and C and D, but not B
    and D, the sets are B, C and C, D. A model that is apart from all others is a set. The sets are found by insertion
    and absorption (Piepho 2004, J. Comput. Graph. Stat. 13(2), 456-466), one model after the other: so there are never
    more of them on the way than in the end.
    """
    sets: set[frozenset[int]] = {frozenset()}
    for model in range(len(apart)):
        tied = frozenset(np.flatnonzero(~apart[model, :model]).tolist())
        joined = {members & tied | {model} for members in sets}
        sets = {members for members in sets if not members <= tied}
        sets |= {members for members in joined if not any(members < other for other in joined)}
        if len(sets) > MOST_SETS:
            return None
    return sorted(tuple(sorted(members)) for members in sets)
