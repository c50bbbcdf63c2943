"""Clusters of rows that are never held: their keys, and the number under which each is counted.

A key is a hash of the cluster's name, so it is the same in every part, on every machine and in every order. Up to
`GROUPS` clusters have a number each; more are joined in so many random groups, told by the first bits of their keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.digests import text_sha256
from evalpipe.plan.drawing import GROUPS

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.arraytypes import Keys, Wholes

LONG = 64
"""Characters from which on a name is shortened to its sha256 before it is hashed."""

AT_ONCE = 2**16
"""Names that are hashed at once; changes no key."""

_BITS = np.uint64(64 - (GROUPS - 1).bit_length())
_STEP, _FIRST, _SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def keys_of(names: pl.Series) -> Keys:
    """Return the key of each name [n], a whole number of 64 bits."""
    return np.concatenate([np.zeros(0, np.uint64), *(
        _keys(names.slice(first, AT_ONCE)) for first in range(0, len(names), AT_ONCE))])


def _keys(names: pl.Series) -> Keys:
    """Hash names, character by character, with the mixing function of SplitMix64: Steele, Lea & Flood (2014)."""
    lengths, short = names.str.len_chars().to_numpy().astype(np.uint64), names.to_list()
    if lengths.max(initial=0) >= LONG:
        short = [name if len(name) < LONG else text_sha256(name) for name in short]
        lengths = np.minimum(lengths, np.uint64(LONG))
    longest = int(lengths.max(initial=1)) or 1
    points = np.array(short, f"U{longest}").view(np.uint32).reshape(len(short), longest)
    keys = _mixed(lengths)
    for place in range(longest):
        inside = lengths > place
        keys[inside] = _mixed(keys[inside] ^ points[inside, place])
    return keys


def _mixed(values: Keys) -> Keys:
    mixed = values + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def smallest(*keys: Keys) -> Keys:
    """Return the smallest of all keys, ascending: all where there are at most `GROUPS`, and else one more."""
    return np.unique(np.concatenate(keys))[: GROUPS + 1]


def grouped(keys: Keys) -> bool:
    """Tell whether the `smallest` keys are of so many clusters that these are counted in groups."""
    return len(keys) > GROUPS


def clusters_of(keys: Keys) -> int:
    """Return how many clusters there are; an estimate where they are counted in groups.

    By the largest of the smallest keys, which are spread evenly: Beyer et al. (2007). Its relative standard error is
    one over the root of `GROUPS` less one.
    """
    return round(GROUPS * 2.0**64 / (float(keys[-1]) + 1)) if grouped(keys) else len(keys)


def numbers(of: Keys, keys: Keys) -> Wholes:
    """Return the number of the cluster or group of each key [n], where ``keys`` are the smallest of all."""
    return (of >> _BITS).astype(np.intp) if grouped(keys) else np.searchsorted(keys, of)


def renumbered(before: Keys, after: Keys) -> Wholes:
    """Return the number that each of the clusters, or groups, has where ``after`` are the smallest keys."""
    return np.arange(GROUPS) if grouped(before) else numbers(before, after)


class ClusterNumbers:
    """The keys of the clusters of the rows so far."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.keys: Keys = np.zeros(0, np.uint64)

    def of(self, names: pl.Series) -> tuple[Wholes, Wholes | None]:
        """Return the number of each row's cluster or group, by its name [n], and the new ones of those before.

        The latter are None where none has changed.
        """
        if grouped(self.keys):
            # Many clusters: to hash every row takes less time than to find the names that differ.
            all_keys = keys_of(names)
            self.keys = smallest(self.keys, all_keys[all_keys < self.keys[-1]])
            return numbers(all_keys, self.keys), None
        distinct = names.unique()
        keys, before = keys_of(distinct), self.keys
        self.keys = smallest(before, keys)
        place = np.arange(len(distinct))
        rows = names.replace_strict(distinct, place).to_numpy() if len(distinct) else place
        same = np.array_equal(before, self.keys)
        return numbers(keys, self.keys)[rows], None if same else renumbered(before, self.keys)
