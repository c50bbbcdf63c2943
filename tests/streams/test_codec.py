"""Tables as bytes: they come back as they were, equal ones are the same bytes, and damage is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalpipe.plan.plan import GROUPS as JOINED
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.streams.cache import MAGIC, DamagedError, decode, encode
from evalpipe.streams.tables import CellCounts, RowGroup, TableLayout, Tables, cluster_numbers, keys_of, smallest_keys

ASKED = TableLayout((0.1, 1 / 3, 0.5), (("brier_loss", ()), ("log_loss_total", (("epsilon", 1e-15), ("base", "e")))),
              ("a", "b"))
SIZE = 40
STATES = st.sampled_from([None, (False, True), (True, True), (True, False)])
LABELS = st.one_of(st.none(), st.sampled_from([(("sex", "é"),), (("sex", "m"), ("age", "[1, 2)"))]))
GROUPS = st.builds(RowGroup, LABELS, st.booleans(), st.tuples(STATES, STATES))
FLOATS = st.floats(-1e12, 1e12, allow_subnormal=False)
KEYS = st.tuples(st.integers(0, 2), st.sampled_from(["", "a", "b"]))


@st.composite
def cell_counts(draw: st.DrawFn) -> CellCounts:
    cells = sorted(draw(st.sets(st.integers(0, 10**9), min_size=1, max_size=6)))
    counts = draw(st.lists(st.integers(1, 10**12), min_size=len(cells), max_size=len(cells)))
    return CellCounts(np.array(cells), np.array(counts))


def whole_numbers() -> st.SearchStrategy[np.ndarray]:
    sparse = st.lists(st.one_of(st.just(0), st.integers(0, 2**60)), min_size=SIZE, max_size=SIZE)
    return sparse.map(lambda totals: np.array(totals, np.int64))


def some_values() -> st.SearchStrategy[np.ndarray]:
    values = st.one_of(st.just(np.inf), st.just(np.nan), st.sampled_from([0.4, 0.25]), st.floats(-40, 40))
    return st.lists(values, min_size=SIZE, max_size=SIZE).map(np.array)


@st.composite
def exact_sums(draw: st.DrawFn, size: int) -> ExactSums:
    values = np.array(draw(st.lists(FLOATS, max_size=8)), float)
    return ExactSums(size).add(values, np.array(draw(st.lists(
        st.integers(0, size - 1), min_size=len(values), max_size=len(values))), np.intp))


@st.composite
def some_tables(draw: st.DrawFn) -> Tables:
    counts = draw(st.dictionaries(KEYS, st.dictionaries(GROUPS, cell_counts(), max_size=3), max_size=3))
    fractions = draw(st.dictionaries(st.sampled_from("ab"), whole_numbers(), max_size=2))
    singles = draw(st.dictionaries(st.sampled_from("ab"), some_values(), max_size=2))
    options = st.sampled_from(ASKED.totals)
    totals = draw(st.dictionaries(
        st.tuples(st.integers(0, 2), st.sampled_from("ab"), options),
        st.dictionaries(GROUPS, exact_sums(1), max_size=3), max_size=3))
    rows = draw(st.dictionaries(st.sampled_from(["read", "used", "kept", "unknown where"]), st.integers(0, 10**12)))
    known = st.tuples(st.integers(0, 9), st.integers(0, 10**13))
    levels = draw(st.dictionaries(st.sampled_from(["0", "1", "é"]), known))
    keys, clusters = draw(st.one_of(st.just((None, {})), clusters_of(st.integers(1, 3000))))
    return Tables(ASKED, counts, fractions, singles, totals, rows, levels, keys, clusters)


@st.composite
def clusters_of(draw: st.DrawFn, count: st.SearchStrategy[int]) -> tuple[Any, dict[Any, Any]]:
    """Return the keys of so many clusters, and how many observations some of them have in each of seven cells."""
    generator = np.random.default_rng(draw(st.integers(0, 9)))
    names = generator.choice(4000, draw(count), replace=False).astype(str).tolist()
    keys = smallest_keys(keys_of(pl.Series(names)))
    places = np.unique(cluster_numbers(keys_of(pl.Series(names)), keys))
    cells = np.sort((generator.integers(0, 7, len(places))) * JOINED + places)
    group = draw(GROUPS)
    return keys, {(0, "a"): {group: CellCounts(cells, generator.integers(1, 9, len(cells)))}}


def plain(tables: Tables) -> dict[str, Any]:
    """Return all that tables hold as values that compare by content."""
    def sums(of: ExactSums) -> tuple[Any, ...]:
        return of.size, of.top, of.terms, {window: totals.tolist() for window, totals in of.windows.items()}

    return {
        "asked": tables.layout, "rows": tables.rows, "levels": tables.levels,
        "counts": {key: {group: (cells.cells.tolist(), cells.counts.tolist()) for group, cells in groups.items()}
                   for key, groups in tables.counts.items()},
        "fractions": {model: totals.tolist() for model, totals in tables.fractions.items()},
        "singles": {model: singles.view(np.int64).tolist() for model, singles in tables.shared_scores.items()},
        "keys": None if tables.keys is None else tables.keys.tolist(),
        "clusters": {key: {group: (cells.cells.tolist(), cells.counts.tolist()) for group, cells in groups.items()}
                     for key, groups in tables.clusters.items()},
        "totals": {key: {group: sums(of) for group, of in groups.items()} for key, groups in tables.totals.items()},
    }


@settings(max_examples=40)
@given(some_tables())
def test_tables_come_back_as_they_were(tables: Tables) -> None:
    assert plain(decode(encode(tables))) == plain(tables)


@settings(max_examples=40)
@given(some_tables())
def test_equal_tables_are_the_same_bytes_in_any_order(tables: Tables) -> None:
    counts, totals = ({key: dict(reversed(groups.items())) for key, groups in part.items()}
                      for part in (tables.counts, tables.totals))
    parts = (counts, tables.fractions, tables.shared_scores, totals, tables.rows, tables.levels)
    turned = Tables(tables.layout, *(dict(reversed(part.items())) for part in parts), tables.keys, tables.clusters)
    assert encode(turned) == encode(tables) == encode(decode(encode(tables)))


@settings(max_examples=40)
@given(some_tables(), some_tables())
def test_merging_what_came_back_is_merging_the_tables(one: Tables, other: Tables) -> None:
    sent = decode(encode(one)).merge(decode(encode(other)))
    assert plain(sent) == plain(one.merge(other))


@settings(max_examples=20)
@given(st.tuples(*(clusters_of(st.sampled_from([5, 600, 2000])) for _ in range(3))))
def test_clusters_of_parts_are_merged_in_any_order(parts: tuple[tuple[Any, dict[Any, Any]], ...]) -> None:
    def merged(*order: int) -> dict[str, Any]:
        tables = Tables(ASKED)
        for place in order:
            keys, clusters = parts[place]
            tables.merge(Tables(ASKED, keys=keys, clusters=clusters))
        return plain(tables)

    joined = Tables(ASKED, keys=parts[1][0], clusters=dict(parts[1][1])).merge(
        Tables(ASKED, keys=parts[2][0], clusters=parts[2][1]))
    apart = Tables(ASKED, keys=parts[0][0], clusters=dict(parts[0][1])).merge(joined)
    assert merged(0, 1, 2) == merged(2, 1, 0) == merged(1, 0, 2) == plain(apart)


@settings(max_examples=40)
@given(some_tables(), st.data())
def test_a_changed_or_missing_byte_is_known(tables: Tables, data: st.DataObject) -> None:
    whole = encode(tables)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = [whole[:place], whole + b"\0", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]]
    for content in damaged:
        with pytest.raises(DamagedError):
            decode(content)


def test_another_version_of_the_format_is_not_read() -> None:
    written = encode(Tables(ASKED))
    with pytest.raises(DamagedError):
        decode(b"evalpipe tables 0\n" + written[len(MAGIC) :])
