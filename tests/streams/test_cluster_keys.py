"""Keys of clusters: the same everywhere, told apart, spread evenly, and numbered alike in any order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evalpipe.plan.plan import GROUPS
from evalpipe.streams.tables import (
    ClusterNumbers,
    are_grouped,
    cluster_count,
    cluster_numbers,
    keys_of,
    new_cluster_numbers,
    smallest_keys,
)

KEYS = ["e220a8397b1dcdaf", "66e8fdab7dced5e6", "6cddfe7576e62fcf", "d44981c734b81b84"]


def names(n: int) -> pl.Series:
    return pl.Series([f"client {number}" for number in range(n)])


def test_keys_are_those_of_every_version() -> None:
    # Entries of the cache hold them, so they may change with the format of these alone.
    assert [f"{key:016x}" for key in keys_of(pl.Series(["", "7", "Zoë", "x" * 100]))] == KEYS


def test_a_key_is_of_its_name_alone() -> None:
    several = ["a", "a\0", "a\0\0", "\0a", "ab", "ba", "", "x" * 63, "x" * 64, "x" * 65, "Zoë", "Zoe"]
    keys = keys_of(pl.Series(several))
    assert len(set(keys.tolist())) == len(several)
    # Beside others, and whatever the longest of those is.
    assert [keys_of(pl.Series([name]))[0] for name in several] == keys.tolist()


def test_no_names_have_no_keys() -> None:
    assert keys_of(pl.Series([], dtype=pl.String)).tolist() == []


def test_groups_are_about_equally_large() -> None:
    counts = np.bincount(cluster_numbers(keys_of(names(100_000)), keys_of(names(GROUPS + 1))), minlength=GROUPS)
    # Chi-squared with 1,023 degrees of freedom, whose standard deviation is 45.
    expected = 100_000 / GROUPS
    assert abs(((counts - expected) ** 2 / expected).sum() - (GROUPS - 1)) < 4 * 45


@pytest.mark.parametrize("n", [1, 700, GROUPS])
def test_few_clusters_are_counted_one_by_one(n: int) -> None:
    keys = smallest_keys(keys_of(names(n)))
    assert not are_grouped(keys)
    assert cluster_count(keys) == n
    assert sorted(cluster_numbers(keys_of(names(n)), keys)) == list(range(n))


@pytest.mark.parametrize("n", [GROUPS + 1, 20_000, 300_000])
def test_many_clusters_are_estimated(n: int) -> None:
    keys = smallest_keys(keys_of(names(n)))
    assert are_grouped(keys)
    # A relative standard error of 1 / sqrt(1,023).
    assert cluster_count(keys) == pytest.approx(n, rel=4 / (GROUPS - 1) ** 0.5)


@pytest.mark.parametrize("n", [500, 5000])
def test_numbers_are_the_same_in_any_order(n: int) -> None:
    all_names = names(n)
    keys = smallest_keys(keys_of(all_names))
    expected = cluster_numbers(keys_of(all_names), keys)
    growing, counted = ClusterNumbers(), np.zeros(0, np.intp)
    for first in range(0, n, 130):
        part, places = growing.numbers_of(all_names.slice(first, 130))
        counted = np.concatenate([counted if places is None else places[counted], part])
    assert counted.tolist() == expected.tolist()
    assert growing.keys.tolist() == keys.tolist()
    half = smallest_keys(keys_of(all_names.slice(0, n // 2)))
    assert new_cluster_numbers(half, keys)[cluster_numbers(keys_of(all_names.slice(0, n // 2)), half)].tolist() == (
        expected[: n // 2].tolist())
