"""The tables that parts of a dataset are summed up to, which add up: their layout, cluster keys, counts of cells.

A key of a cluster is a hash of its name, so it is the same in every part, on every machine and in every order. Up to
`GROUPS` clusters have a number each; more are joined in so many random groups, told by the first bits of their keys.
The parts themselves, and the interface of workers, stand at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from evalpipe.base.digests import file_sha256, text_sha256
from evalpipe.errors import DataError, Place, Problem
from evalpipe.plan.plan import GROUPS, edges_of
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.statistics.grid import EDGES, ScoreGrid, edges_at
from evalpipe.statistics.rows import starts_of_runs, totals_of_runs
from evalpipe.statistics.summary import statistics

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from evalpipe.base.arraytypes import Floats, Keys, Wholes
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


Option = tuple[str, tuple[tuple[str, Any], ...]]
"""The name of a statistic, and the options that it is taken with."""

SPARSE = 3
"""The number of models from which on only every third edge is one of joint cells."""


@dataclass(frozen=True)
class TableLayout:
    """What tables hold: the ``edges`` at which cells end, beside those of every grid, and statistics to total exactly.

    ``models`` are those with scores, whose cells are counted apart and jointly. ``all_scores`` says that every score is
    counted too.
    """

    edges: tuple[float, ...]
    totals: tuple[Option, ...]
    models: tuple[str, ...]
    all_scores: bool = False

    @cached_property
    def grid(self) -> ScoreGrid:
        """The grid on which each model's scores are counted."""
        return ScoreGrid(self.edges)

    @cached_property
    def coarse(self) -> tuple[Wholes, int]:
        """The coarse cell of each grid cell, [cells], and how many there are; clusters are counted by these."""
        starts = np.zeros(self.grid.size, np.intp)
        starts[self.grid.of_probabilities(np.array(self.edges))] = 1
        return np.cumsum(starts), int(starts.sum()) + 1

    @cached_property
    def joint(self) -> tuple[Wholes, int]:
        """The joint cell of each grid cell, [cells], and the number of joint cells, which are coarser.

        In these, rows are counted by the scores of all models together.
        """
        ends = np.isin(np.array(self.edges), EDGES if len(self.models) < SPARSE else EDGES[::SPARSE])
        begins = self.grid.of_probabilities(np.array(self.edges)[ends])
        starts = np.zeros(self.grid.size, np.int16)
        starts[begins] = 1
        return np.cumsum(starts, dtype=np.int16), len(begins) + 1


def table_layout(plan: Plan) -> TableLayout:
    """Return the layout of the tables that a plan needs: edges of cells, statistics to total, models with scores."""
    measures = [*plan.entries, *plan.goal_measures]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    models = tuple(name for name, model in plan.models.items() if "scores" in model.gives)
    # Cells end at the edges of joint cells, of bins and of rounding, and at thresholds and marks.
    clip_ends = [end for leaf in leaves if "epsilon" in leaf.params
             for end in (leaf.params["epsilon"], 1 - leaf.params["epsilon"])]
    ends = np.concatenate([EDGES, edges_at(*edges_of(plan)), np.array(clip_ends)])
    edges = np.unique(ends[(ends > 0) & (ends < 1)]).tolist()
    totals = tuple(dict.fromkeys(_summed_statistics(leaves)))
    return TableLayout(tuple(edges), totals, models, plan.streaming.all_scores)


def _summed_statistics(leaves: list[MetricPlan]) -> Iterator[Option]:
    """Yield statistics, with options, that cells alone give only nearly: sums over rows that read probabilities."""
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
"""Names that are hashed at once, to save memory; changes no key."""

_BITS = np.uint64(64 - (GROUPS - 1).bit_length())
_STEP, _FIRST, _SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def keys_of(names: pl.Series) -> Keys:
    """Return the key of each cluster name, [n] unsigned integers of 64 bits."""
    return np.concatenate([np.zeros(0, np.uint64), *(
        _hashes(names.slice(first, AT_ONCE)) for first in range(0, len(names), AT_ONCE))])


def _hashes(names: pl.Series) -> Keys:
    """Hash names [n], character by character, with the mixing function of SplitMix64: Steele, Lea & Flood (2014)."""
    lengths, texts = names.str.len_chars().to_numpy().astype(np.uint64), names.to_list()
    if lengths.max(initial=0) >= LONG:
        texts = [name if len(name) < LONG else text_sha256(name) for name in texts]
        lengths = np.minimum(lengths, np.uint64(LONG))
    longest = int(lengths.max(initial=1)) or 1
    points = np.array(texts, f"U{longest}").view(np.uint32).reshape(len(texts), longest)
    keys = _splitmix(lengths)
    for position in range(longest):
        is_long_enough = lengths > position
        keys[is_long_enough] = _splitmix(keys[is_long_enough] ^ points[is_long_enough, position])
    return keys


def _splitmix(values: Keys) -> Keys:
    """Mix the bits of integers, so that each bit of the result depends on all: the last step of SplitMix64."""
    mixed = values + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def smallest_keys(*keys: Keys) -> Keys:
    """Return the smallest distinct keys, ascending: all of them, but at most `GROUPS` + 1."""
    return np.unique(np.concatenate(keys))[: GROUPS + 1]


def are_grouped(keys: Keys) -> bool:
    """Tell whether `smallest_keys` are of more than `GROUPS` clusters, which are then counted in groups."""
    return len(keys) > GROUPS


def cluster_count(keys: Keys) -> int:
    """Return the number of clusters from their `smallest_keys`; an estimate where they are counted in groups.

    Keys are spread evenly, so the largest of the smallest ones tells the number: Beyer et al. (2007). Its relative
    standard error is one over the root of `GROUPS` less one.
    """
    return round(GROUPS * 2.0**64 / (float(keys[-1]) + 1)) if are_grouped(keys) else len(keys)


def cluster_numbers(row_keys: Keys, keys: Keys) -> Wholes:
    """Return the number of each row's cluster, or group of clusters, [n], where ``keys`` are the smallest of all."""
    return (row_keys >> _BITS).astype(np.intp) if are_grouped(keys) else np.searchsorted(keys, row_keys)


def new_cluster_numbers(before: Keys, after: Keys) -> Wholes:
    """Return the new number of each cluster or group where ``after`` have replaced ``before`` as smallest keys."""
    return np.arange(GROUPS) if are_grouped(before) else cluster_numbers(before, after)


class ClusterNumbers:
    """Numbers clusters by their names, batch of rows after batch; ``keys`` are the smallest so far."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.keys: Keys = np.zeros(0, np.uint64)

    def numbers_of(self, names: pl.Series) -> tuple[Wholes, Wholes | None]:
        """Return the number of each row's cluster or group from its name, [n], and the new number of each earlier one.

        The latter are None where no number has changed.
        """
        if are_grouped(self.keys):
            # Many clusters: to hash every row takes less time than to find the names that differ.
            all_keys = keys_of(names)
            self.keys = smallest_keys(self.keys, all_keys[all_keys < self.keys[-1]])
            return cluster_numbers(all_keys, self.keys), None
        distinct = names.unique()
        keys, before = keys_of(distinct), self.keys
        self.keys = smallest_keys(before, keys)
        positions = np.arange(len(distinct))
        name_of_row = names.replace_strict(distinct, positions).to_numpy() if len(distinct) else positions
        unchanged = np.array_equal(before, self.keys)
        renumbering = None if unchanged else new_cluster_numbers(before, self.keys)
        return cluster_numbers(keys, self.keys)[name_of_row], renumbering


Labels = tuple[tuple[str, str], ...]


class RowGroup(NamedTuple):
    """Rows of one slice of a slicing, one truth, and one class and reportability under each of some models.

    ``labels`` are the slice's labels by column, None for rows that are in no slice. ``states`` are, by model, whether
    the row is predicted as the event and whether it has a class at all; None where the model makes no classes.
    """

    labels: Labels | None
    event: bool
    states: tuple[tuple[bool, bool] | None, ...]


@dataclass(slots=True)
class CellCounts:
    """Observations in the cells that are not empty: numbers of ``cells`` [m], ascending, and ``counts`` [m]."""

    cells: Wholes
    counts: Wholes

    @classmethod
    def merged(cls, parts: Sequence[CellCounts]) -> CellCounts:
        """Return the counts of the observations of all parts, added cell by cell."""
        cells, position = np.unique(np.concatenate([part.cells for part in parts]), return_inverse=True)
        counts = np.zeros(len(cells), np.int64)
        np.add.at(counts, position, np.concatenate([part.counts for part in parts]))
        return cls(cells, counts)


def score_codes(scores: Floats) -> Wholes:
    """Return a whole number for each score [n], in the order of the scores and equal where they are: its bits."""
    bits = (np.asarray(scores, float) + 0.0).view(np.int64)  # -0 is 0
    return np.where(bits < 0, bits ^ _ALL_BUT_SIGN, bits)


def scores_of_codes(codes: Wholes) -> Floats:
    """Return the scores [n] that `score_codes` made whole numbers of."""
    return np.where(codes < 0, codes ^ _ALL_BUT_SIGN, codes).view(np.float64)


_ALL_BUT_SIGN = np.int64(2**63 - 1)


@dataclass(slots=True)
class Tables:
    """Counts and sums over some rows of a dataset, which add up with those over other rows.

    ``counts`` are by slicing and model the cells of each group, and by slicing alone (model "") the joint cells;
    ``fractions`` by model the total, in each cell, of the distances of probabilities from the cell's end, in
    `UNITS` parts of its width: of events, then of others, [2 x cells]; ``shared_scores`` by model, in the same order,
    the score that all rows of a cell have: NaN where they differ, infinite where there are none; ``totals`` by
    slicing, model and statistic the exact sums of each group. ``rows`` counts rows by what became of them, in merged
    tables those "read" and "used" of each file apart; ``levels`` are the rows and the weight of each outcome level.
    Where rows are of clusters, ``keys`` are the smallest cluster keys, and ``clusters`` by slicing and model the cells
    of each group and cluster: number of the coarse cell times `GROUPS` plus the number of the cluster. ``scores`` are
    the counts of every score by slicing, model and group, of each part apart: its cells are `score_codes`. They are
    empty unless the layout asks for them, and never encoded.
    """

    layout: TableLayout
    counts: dict[tuple[int, str], dict[RowGroup, CellCounts]] = field(default_factory=dict)
    fractions: dict[str, Wholes] = field(default_factory=dict)
    shared_scores: dict[str, Floats] = field(default_factory=dict)
    totals: dict[tuple[int, str, Option], dict[RowGroup, ExactSums]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    keys: Keys | None = None
    clusters: dict[tuple[int, str], dict[RowGroup, CellCounts]] = field(default_factory=dict)
    scores: dict[tuple[int, str], dict[RowGroup, list[CellCounts]]] = field(default_factory=dict)

    def of_file(self, number: int) -> Tables:
        """Return these tables with the counts "read" and "used" renamed by the file's number, as in "read 2"."""
        rows = {f"{name} {number}" if name in ("read", "used") else name: count for name, count in self.rows.items()}
        return replace(self, rows=rows)

    def merge(self, other: Tables) -> Tables:
        """Add the tables of other rows to these, and return these."""
        for key, groups in other.counts.items():
            merged_groups = self.counts.setdefault(key, {})
            for group, cells in groups.items():
                merged_groups[group] = (
                    CellCounts.merged([merged_groups[group], cells]) if group in merged_groups else cells)
        self._merge_cells(other)
        for option, totals in other.totals.items():
            of_groups = self.totals.setdefault(option, {})
            for group, sums in totals.items():
                of_groups.setdefault(group, ExactSums(1)).merge(sums)
        for name, count in other.rows.items():
            self.rows[name] = self.rows.get(name, 0) + count
        for level, (rows, weight) in other.levels.items():
            own_rows, own_weight = self.levels.get(level, (0, 0))
            self.levels[level] = own_rows + rows, own_weight + weight
        if other.keys is not None:
            self._merge_clusters(other, other.keys)
        self._merge_scores(other)
        return self

    def _merge_cells(self, other: Tables) -> None:
        """Add the distances of probabilities in each cell, and merge the scores that rows of a cell share."""
        for model, fractions in other.fractions.items():
            if model in self.fractions:
                self.fractions[model] += fractions
            else:
                self.fractions[model] = fractions.copy()
        for model, scores in other.shared_scores.items():
            own_scores = self.shared_scores.get(model)
            self.shared_scores[model] = scores if own_scores is None else merged_shared_scores(own_scores, scores)

    def _merge_scores(self, other: Tables) -> None:
        """Add the scores of ``other`` part by part: to add them up each time would sort the first ever again."""
        for key, parts_of_groups in other.scores.items():
            for group, parts in parts_of_groups.items():
                self.scores.setdefault(key, {}).setdefault(group, []).extend(parts)

    def _merge_clusters(self, other: Tables, keys: Keys) -> None:
        """Add the cells of clusters of ``other``, and renumber all: a number is a position among all ``keys``."""
        cluster_keys: Keys = np.zeros(0, np.uint64) if self.keys is None else self.keys
        self.keys = smallest_keys(cluster_keys, keys)
        own_renumbering = new_cluster_numbers(cluster_keys, self.keys)
        other_renumbering = new_cluster_numbers(keys, self.keys)
        for key in self.clusters.keys() | other.clusters.keys():
            groups, other_groups = self.clusters.get(key, {}), other.clusters.get(key, {})
            self.clusters[key] = {group: sum_cell_counts([
                *(_renumbered(cells[group], renumbering)
                  for cells, renumbering in ((groups, own_renumbering), (other_groups, other_renumbering))
                  if group in cells)]) for group in groups.keys() | other_groups.keys()}


def _renumbered(cells: CellCounts, new_numbers: Wholes) -> CellCounts:
    """Return the cells of clusters with the number of each cluster replaced by its new one."""
    cell, cluster = np.divmod(cells.cells, GROUPS)
    return CellCounts(cell * GROUPS + new_numbers[cluster], cells.counts)


def merged_shared_scores(scores: Floats, others: Floats) -> Floats:
    """Return the score that all rows of each cell share, [cells], given those of two sets of rows.

    It is NaN where scores differ, and infinite in a cell without rows.
    """
    merged = np.where(scores == others, scores, np.nan)
    return np.where(np.isinf(scores), others, np.where(np.isinf(others), scores, merged))


def sum_cell_counts(parts: Sequence[CellCounts]) -> CellCounts:
    """Return the sum of all counts by cell; cells may be in any order, and several times in a part."""
    counts = np.zeros(1 + max(int(part.cells.max(initial=-1)) for part in parts), np.int64)
    for part in parts:
        np.add.at(counts, part.cells, part.counts)
    cells = np.flatnonzero(counts)
    return CellCounts(cells, counts[cells])


def merged_scores(parts: Sequence[CellCounts]) -> CellCounts:
    """Return the counts of every score, ascending, from those of several parts."""
    if len(parts) == 1:
        return parts[0]
    return count_codes(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("cells", "counts")))


def count_codes(codes: Wholes, weights: Wholes | None) -> CellCounts:
    """Return the distinct ``codes`` [n], ascending, and how often each occurs; with ``weights`` [n], their sums."""
    if weights is None:
        return CellCounts(*np.unique(codes, return_counts=True))
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = starts_of_runs(ordered)
    return CellCounts(ordered[starts], totals_of_runs(weights[order], starts).astype(np.int64))


ROWS = 5_000_000
"""The most rows of a part: a run that is stopped loses the work on no more of each."""


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows of a file: ``file`` is its number in the dataset, ``first`` the first row, counted from 0.

    ``rows`` is the number of rows; None for all that follow.
    """

    dataset: str
    file: int
    first: int
    rows: int | None


def parts_of(dataset: DatasetPlan) -> tuple[Part, ...]:
    """Return the parts of a dataset, file by file; only Parquet and Arrow files have several: others are read whole."""
    from evalpipe.data.formats import rows

    table = dataset.table
    parts: list[Part] = []
    for number, (path, _) in enumerate(table.files):
        count = rows(path, table.format, table.named.csv) if table.format in ("parquet", "ipc") else None
        if count is None:
            parts.append(Part(dataset.name, number, 0, None))
        else:
            parts += [Part(dataset.name, number, first, min(ROWS, count - first))
                      for first in range(0, max(count, 1), ROWS)]
    return tuple(parts)


class Stamp(NamedTuple):
    """The size of a file in bytes, and when it was last changed, in nanoseconds."""

    size: int
    changed: int


def stamp(path: Path, shown: str, place: Place | None = None) -> Stamp:
    """Return size and time of last change of a file; raises DataError where it is no longer there."""
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    return Stamp(state.st_size, state.st_mtime_ns)


def digest(path: Path, before: Stamp, shown: str, place: Place | None = None) -> str:
    """Return the sha256 of a file's bytes; raises DataError where its stamp is not the one ``before``."""
    try:
        sha256 = file_sha256(path)
    except OSError as error:
        raise DataError(Problem("unreadable-file", f"cannot read {shown}: {error.strerror}", place)) from None
    check_unchanged(path, before, shown, place)
    return sha256


def check_unchanged(path: Path, before: Stamp, shown: str, place: Place | None = None) -> None:
    """Raise DataError where the stamp of a file is not the one ``before``; messages have the path ``shown``."""
    after = stamp(path, shown, place)
    if after != before:
        sizes = f"from {before.size:,} to {after.size:,} bytes" if after.size != before.size else "at the same size"
        raise DataError(Problem(
            "file-changed", f"{shown} changed while it was read, {sizes}", place,
            "run again when nothing writes to it; what was summed up of other files is kept"))


class File(NamedTuple):
    """A file of a dataset, the path shown for it, its stamp before it was read, and the place in the spec."""

    path: Path
    shown: str
    stamp: Stamp
    place: Place | None


class Summed(NamedTuple):
    """The tables of a part, the same encoded (empty where not requested), and the number of bytes ``sent`` for them."""

    tables: Tables
    encoded: bytes
    sent: int = 0


class Workers(Protocol):
    """Workers that read files: threads of this process, or processes of a cluster."""

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in their order, with ``encoded`` as bytes too; raises DataError."""
