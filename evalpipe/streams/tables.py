"""The additive tables that parts are summed up to: what the plan asks for, keys of clusters, counts of cells.

A key of a cluster is a hash of its name, so it is the same in every part, on every machine and in every order. Up to
`GROUPS` clusters have a number each; more are joined in so many random groups, told by the first bits of their keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.base.digests import text_sha256
from evalpipe.plan.drawing import GROUPS, edges_of
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.statistics.grid import EDGES, ScoreGrid, edges_at
from evalpipe.statistics.summary import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from evalpipe.base.arraytypes import Floats, Keys, Wholes
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


Option = tuple[str, tuple[tuple[str, Any], ...]]
"""The name of a statistic, and the options that it is taken with."""

SPARSE = 3
"""Of the edges of joint cells every so many is kept where three models are drawn together."""


@dataclass(frozen=True)
class Asked:
    """What is summed up: ``edges`` of cells beside those of every grid, and the ``totals`` that are kept exactly.

    ``models`` are those with scores, whose cells are counted apart and jointly.
    """

    edges: tuple[float, ...]
    totals: tuple[Option, ...]
    models: tuple[str, ...]

    @cached_property
    def grid(self) -> ScoreGrid:
        """The grid of each model's scores."""
        return ScoreGrid(self.edges)

    @cached_property
    def coarse(self) -> tuple[Wholes, int]:
        """The cell in which clusters are counted of each cell of the grid, [cells], and how many: they end at edges."""
        starts = np.zeros(self.grid.size, np.intp)
        starts[self.grid.of_probabilities(np.array(self.edges))] = 1
        return np.cumsum(starts), int(starts.sum()) + 1

    @cached_property
    def joint(self) -> tuple[Wholes, int]:
        """The joint cell of each cell of the grid, [cells], and how many there are: they end at fewer edges."""
        ends = np.isin(np.array(self.edges), EDGES if len(self.models) < SPARSE else EDGES[::SPARSE])
        begins = self.grid.of_probabilities(np.array(self.edges)[ends])
        starts = np.zeros(self.grid.size, np.int16)
        starts[begins] = 1
        return np.cumsum(starts, dtype=np.int16), len(begins) + 1


def asked(plan: Plan) -> Asked:
    """Return what the rows of a plan's datasets are summed up to."""
    measures = [*plan.entries, *(goal.entry for goal in plan.goals if goal.entry is not None)]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    models = tuple(name for name, model in plan.models.items() if "scores" in model.gives)
    # Cells end at the edges of joint cells, of bins and of rounding, and at thresholds and marks.
    clips = [end for leaf in leaves if "epsilon" in leaf.params
             for end in (leaf.params["epsilon"], 1 - leaf.params["epsilon"])]
    ends = np.concatenate([EDGES, edges_at(*edges_of(plan)), np.array(clips)])
    edges = np.unique(ends[(ends > 0) & (ends < 1)]).tolist()
    return Asked(tuple(edges), tuple(dict.fromkeys(_summed_statistics(leaves))), models)


def _summed_statistics(leaves: list[MetricPlan]) -> Iterator[Option]:
    """Yield the statistics of the measures that are sums over rows of what their probabilities come to."""
    for leaf in leaves:
        for options in (leaf.params, *leaf.of_class):
            for name in leaf.metric.statistics:
                statistic_options = {key: options[key] for key in statistics[name].options}
                if statistics[name].of_rows and _reads_probabilities(name, statistic_options):
                    yield name, tuple(statistic_options.items())


def _reads_probabilities(name: str, options: Mapping[str, object]) -> bool:
    """Tell whether a statistic reads probabilities: then it raises TypeError of rows that have none."""
    flags = np.array([True, False])
    try:
        statistics[name].function(Rows(flags, flags), **options)
    except TypeError:
        return True
    return False


LONG = 64
"""Characters from which on a name is shortened to its sha256 before it is hashed."""

AT_ONCE = 2**16
"""Names that are hashed at once; changes no key."""

_BITS = np.uint64(64 - (GROUPS - 1).bit_length())
_STEP, _FIRST, _SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def keys_of(names: pl.Series) -> Keys:
    """Return the key of each name [n], a whole number of 64 bits."""
    return np.concatenate([np.zeros(0, np.uint64), *(
        _hashes(names.slice(first, AT_ONCE)) for first in range(0, len(names), AT_ONCE))])


def _hashes(names: pl.Series) -> Keys:
    """Hash names, character by character, with the mixing function of SplitMix64: Steele, Lea & Flood (2014)."""
    lengths, short = names.str.len_chars().to_numpy().astype(np.uint64), names.to_list()
    if lengths.max(initial=0) >= LONG:
        short = [name if len(name) < LONG else text_sha256(name) for name in short]
        lengths = np.minimum(lengths, np.uint64(LONG))
    longest = int(lengths.max(initial=1)) or 1
    points = np.array(short, f"U{longest}").view(np.uint32).reshape(len(short), longest)
    keys = _splitmix(lengths)
    for place in range(longest):
        inside = lengths > place
        keys[inside] = _splitmix(keys[inside] ^ points[inside, place])
    return keys


def _splitmix(values: Keys) -> Keys:
    mixed = values + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def smallest_keys(*keys: Keys) -> Keys:
    """Return the smallest of all keys, ascending: all where there are at most `GROUPS`, and else one more."""
    return np.unique(np.concatenate(keys))[: GROUPS + 1]


def are_grouped(keys: Keys) -> bool:
    """Tell whether the `smallest_keys` keys are of so many clusters that these are counted in groups."""
    return len(keys) > GROUPS


def clusters_of(keys: Keys) -> int:
    """Return how many clusters there are; an estimate where they are counted in groups.

    By the largest of the smallest keys, which are spread evenly: Beyer et al. (2007). Its relative standard error is
    one over the root of `GROUPS` less one.
    """
    return round(GROUPS * 2.0**64 / (float(keys[-1]) + 1)) if are_grouped(keys) else len(keys)


def cluster_numbers(of: Keys, keys: Keys) -> Wholes:
    """Return the number of the cluster or group of each key [n], where ``keys`` are the smallest of all."""
    return (of >> _BITS).astype(np.intp) if are_grouped(keys) else np.searchsorted(keys, of)


def new_cluster_numbers(before: Keys, after: Keys) -> Wholes:
    """Return the number that each of the clusters, or groups, has where ``after`` are the smallest keys."""
    return np.arange(GROUPS) if are_grouped(before) else cluster_numbers(before, after)


class ClusterNumbers:
    """The keys of the clusters of the rows so far."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.keys: Keys = np.zeros(0, np.uint64)

    def of(self, names: pl.Series) -> tuple[Wholes, Wholes | None]:
        """Return the number of each row's cluster or group, by its name [n], and the new ones of those before.

        The latter are None where none has changed.
        """
        if are_grouped(self.keys):
            # Many clusters: to hash every row takes less time than to find the names that differ.
            all_keys = keys_of(names)
            self.keys = smallest_keys(self.keys, all_keys[all_keys < self.keys[-1]])
            return cluster_numbers(all_keys, self.keys), None
        distinct = names.unique()
        keys, before = keys_of(distinct), self.keys
        self.keys = smallest_keys(before, keys)
        place = np.arange(len(distinct))
        rows = names.replace_strict(distinct, place).to_numpy() if len(distinct) else place
        same = np.array_equal(before, self.keys)
        return cluster_numbers(keys, self.keys)[rows], None if same else new_cluster_numbers(before, self.keys)


Labels = tuple[tuple[str, str], ...]


class RowGroup(NamedTuple):
    """Rows of one slice of a slicing, one truth, and one class and reportability under each of some models.

    ``labels`` are those of the slice by column, None for rows that are in none. ``picked`` is, by model, whether the
    row is predicted as the event and whether it has a class at all; None where the model makes no classes.
    """

    labels: Labels | None
    event: bool
    picked: tuple[tuple[bool, bool] | None, ...]


@dataclass(slots=True)
class CellCounts:
    """How many observations each cell that holds any has: ``cells`` [m], ascending, and ``counts`` [m]."""

    cells: Wholes
    counts: Wholes

    def merged(self, other: CellCounts) -> CellCounts:
        """Return the counts of both together."""
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        counts = np.zeros(len(cells), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return CellCounts(cells, counts)


@dataclass(slots=True)
class Tables:
    """What some rows of a dataset come to.

    ``counts`` are by slicing and model the cells of each group, and by slicing alone (model "") the joint ones;
    ``fractions`` by model the totals, in each cell, of how far into the cell probabilities lie, in parts of its
    width of which it has `UNITS`: of events, then of others; ``singles`` by model, in the same order, what ranks
    the rows of a cell that all have the same: NaN where they differ, infinite where there are none; ``totals`` by
    slicing, model and statistic those of each group. ``rows`` counts rows by what became of them, in merged tables
    those "read" and "used" of each file apart; ``levels`` those of each level as ("rows", "weight"). Where rows are
    of clusters, ``keys`` are the smallest keys of these, and ``clusters`` by slicing and model the cells of each
    group and cluster: cell times `GROUPS` plus that one's number.
    """

    asked: Asked
    counts: dict[tuple[int, str], dict[RowGroup, CellCounts]] = field(default_factory=dict)
    fractions: dict[str, Wholes] = field(default_factory=dict)
    singles: dict[str, Floats] = field(default_factory=dict)
    totals: dict[tuple[int, str, Option], dict[RowGroup, ExactSums]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    keys: Keys | None = None
    clusters: dict[tuple[int, str], dict[RowGroup, CellCounts]] = field(default_factory=dict)

    def of_file(self, number: int) -> Tables:
        """Return the tables of a part with the rows that were read and used counted for its file, by its number."""
        rows = {f"{name} {number}" if name in ("read", "used") else name: count for name, count in self.rows.items()}
        return replace(self, rows=rows)

    def merge(self, other: Tables) -> Tables:
        """Add the tables of other rows, and return the tables of both."""
        for key, groups in other.counts.items():
            mine = self.counts.setdefault(key, {})
            for group, cells in groups.items():
                mine[group] = mine[group].merged(cells) if group in mine else cells
        for model, fractions in other.fractions.items():
            self.fractions[model] = self.fractions[model] + fractions if model in self.fractions else fractions
        for model, singles in other.singles.items():
            self.singles[model] = same_single(self.singles[model], singles) if model in self.singles else singles
        for option, totals in other.totals.items():
            of_groups = self.totals.setdefault(option, {})
            for group, sums in totals.items():
                of_groups.setdefault(group, ExactSums(1)).merge(sums)
        for name, count in other.rows.items():
            self.rows[name] = self.rows.get(name, 0) + count
        for level, (rows, weight) in other.levels.items():
            before = self.levels.get(level, (0, 0))
            self.levels[level] = before[0] + rows, before[1] + weight
        if other.keys is not None:
            self._merge_clusters(other, other.keys)
        return self

    def _merge_clusters(self, other: Tables, keys: Keys) -> None:
        """Add the cells of clusters, whose numbers are those that they have among all."""
        cluster_keys: Keys = np.zeros(0, np.uint64) if self.keys is None else self.keys
        self.keys = smallest_keys(cluster_keys, keys)
        numbers, added = new_cluster_numbers(cluster_keys, self.keys), new_cluster_numbers(keys, self.keys)
        for key in self.clusters.keys() | other.clusters.keys():
            mine, others = self.clusters.get(key, {}), other.clusters.get(key, {})
            self.clusters[key] = {group: sum_cell_counts([
                *(_renumbered(cells[group], places) for cells, places in ((mine, numbers), (others, added))
                  if group in cells)]) for group in mine.keys() | others.keys()}


def _renumbered(cells: CellCounts, places: Wholes) -> CellCounts:
    """Return the cells of clusters under other numbers of these."""
    cell, cluster = np.divmod(cells.cells, GROUPS)
    return CellCounts(cell * GROUPS + places[cluster], cells.counts)


def same_single(singles: Floats, others: Floats) -> Floats:
    """Return what rows have that are all alike, as ``singles`` has it, of two sets of rows together."""
    alike = np.where(singles == others, singles, np.nan)
    return np.where(np.isinf(singles), others, np.where(np.isinf(others), singles, alike))


def sum_cell_counts(parts: Sequence[CellCounts]) -> CellCounts:
    """Return the counts of all parts together; their cells may be in any order, and come several times."""
    counts = np.zeros(1 + max(int(part.cells.max(initial=-1)) for part in parts), np.int64)
    for part in parts:
        np.add.at(counts, part.cells, part.counts)
    cells = np.flatnonzero(counts)
    return CellCounts(cells, counts[cells])
