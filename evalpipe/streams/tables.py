"""The additive tables that rows are summed up to: counts of cells and exact totals, in any order of merging."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.plan.drawing import GROUPS
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.streams.cluster_keys import renumbered, smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Keys, Wholes
    from evalpipe.streams.asked import Asked, Option

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
            self.singles[model] = same(self.singles[model], singles) if model in self.singles else singles
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
        own: Keys = np.zeros(0, np.uint64) if self.keys is None else self.keys
        self.keys = smallest(own, keys)
        numbers, added = renumbered(own, self.keys), renumbered(keys, self.keys)
        for key in self.clusters.keys() | other.clusters.keys():
            mine, others = self.clusters.get(key, {}), other.clusters.get(key, {})
            self.clusters[key] = {group: summed([
                *(_renumbered(cells[group], places) for cells, places in ((mine, numbers), (others, added))
                  if group in cells)]) for group in mine.keys() | others.keys()}


def _renumbered(cells: CellCounts, places: Wholes) -> CellCounts:
    """Return the cells of clusters under other numbers of these."""
    cell, cluster = np.divmod(cells.cells, GROUPS)
    return CellCounts(cell * GROUPS + places[cluster], cells.counts)


def same(singles: Floats, others: Floats) -> Floats:
    """Return what rows have that are all alike, as ``singles`` has it, of two sets of rows together."""
    alike = np.where(singles == others, singles, np.nan)
    return np.where(np.isinf(singles), others, np.where(np.isinf(others), singles, alike))


def summed(parts: Sequence[CellCounts]) -> CellCounts:
    """Return the counts of all parts together; their cells may be in any order, and come several times."""
    counts = np.zeros(1 + max(int(part.cells.max(initial=-1)) for part in parts), np.int64)
    for part in parts:
        np.add.at(counts, part.cells, part.counts)
    cells = np.flatnonzero(counts)
    return CellCounts(cells, counts[cells])
