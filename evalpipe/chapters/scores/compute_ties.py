"""Tied sets: which models no comparison tells apart, as a compact letter display has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Flags

MOST_STEPS = 2_000
"""The most steps in which all sets are looked for: some hundredths of a second. 40 models in a line take 100."""


class TiedSets(NamedTuple):
    """Sets of models, each a tuple of places in the ranking, ascending; by first place, then by the next.

    Without ``complete`` they are not all maximal sets, of which there are too many, but such that hold each tied pair.
    """

    sets: list[tuple[int, ...]]
    complete: bool


def tied_sets(apart: Flags) -> TiedSets:
    """Return the maximal sets of models of which no two are apart, from verdicts ``apart`` [m, m], symmetric.

    Models stand in ranked order. Sets may overlap: where B and C are tied, and C and D, but not B and D, the sets are
    B, C and C, D. Each model is in a set, alone if it is apart from all others. Letters for these sets are the display
    that insertion and absorption ends with (Piepho 2004, J. Comput. Graph. Stat. 13(2), 456-466). They are the maximal
    cliques of the tied pairs, and are listed as such, which needs no more steps than there are sets, or few (Bron &
    Kerbosch 1973, with the pivot of Tomita, Tanaka & Takahashi 2006). Of up to 3^(m / 3) sets nobody reads a display:
    beyond `MOST_STEPS` the sets are grown from one tied pair after another until all pairs are held, as Gramm et al.
    (2007, Comput. Stat. Data Anal. 52(2), 725-736) do.
    """
    models = len(apart)
    is_tied = ~(np.asarray(apart, bool) | np.asarray(apart, bool).T) & ~np.eye(models, dtype=bool)
    tied = [sum(1 << int(other) for other in np.flatnonzero(row)) for row in is_tied]
    sets = _maximal_sets(tied)
    complete = sets is not None
    return TiedSets(sorted(tuple(_members(each_set)) for each_set in (sets or _covering_sets(tied))), complete)


def _maximal_sets(tied: list[int]) -> list[int] | None:
    """Return all maximal sets, as bits, of models with these ``tied`` others; None where they take too many steps."""
    sets: list[int] = []
    waiting = [(0, (1 << len(tied)) - 1, 0)]  # a set, the models that may join it, and those whose sets are listed
    for _ in range(MOST_STEPS):
        if not waiting:
            return sets
        members, joining, listed = waiting.pop()
        if not joining and not listed:
            sets.append(members)
            continue
        pivot = max(_members(joining | listed), key=lambda model: (joining & tied[model]).bit_count())
        for model in _members(joining & ~tied[pivot]):
            waiting.append((members | 1 << model, joining & tied[model], listed & tied[model]))
            joining, listed = joining & ~(1 << model), listed | 1 << model
    return None if waiting else sets


def _covering_sets(tied: list[int]) -> list[int]:
    """Return maximal sets, as bits, that together hold each tied pair and each model."""
    sets: list[int] = []
    left = list(tied)
    for model in range(len(tied)):
        while left[model] or not any(members >> model & 1 for members in sets):
            # Models join whose pair with this one is in no set yet, before all others.
            members, joining, first = 1 << model, tied[model], left[model]
            while joining:
                joined = next(_members(joining & first or joining))
                members, joining = members | 1 << joined, joining & tied[joined]
            sets.append(members)
            for member in _members(members):
                left[member] &= ~members
    return sets


def _members(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
