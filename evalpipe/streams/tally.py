"""Counting the rows of a part into tables, batch by batch, by threads of this process."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data import checks, outcome_checks, slices
from evalpipe.data.read import model_predictions, sample_table
from evalpipe.data.rows import load_part
from evalpipe.errors import DataError
from evalpipe.plan.plan import GROUPS
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums, Members, Parts
from evalpipe.statistics.rows import present, starts_of_runs
from evalpipe.statistics.summary import statistics
from evalpipe.streams.cache import encode
from evalpipe.streams.tables import (
    CellCounts,
    ClusterNumbers,
    Labels,
    RowGroup,
    Summed,
    Tables,
    check_unchanged,
    count_codes,
    digest,
    score_codes,
    table_layout,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.data.columns import Columns, RowBlock
    from evalpipe.data.sample import Predictions, SlicedRows
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.tables import File, Option, Part, TableLayout


@dataclass
class KnownLevels:
    """The level, event or other, of each outcome's value that has occurred, so that later rows need no check of it."""

    levels: tuple[str, ...] = ()
    events: dict[object, bool] = field(default_factory=dict)
    dtype: pl.DataType | None = None

    def of_rows(self, rows: RowBlock) -> pl.Series | None:
        """Return the level of each row, [n]; None where a value is new, or where models predict classes."""
        values = rows.frame[rows.plan.outcome.column]
        if values.dtype != self.dtype or any(model.prediction is not None for model in rows.plan.models.values()):
            return None
        event = values.is_in([value for value, is_event in self.events.items() if is_event])
        other = values.is_in([value for value, is_event in self.events.items() if not is_event])
        if values.null_count() or not (event | other).all():
            return None
        levels = pl.select(pl.when(event).then(pl.lit(self.levels[0])).otherwise(pl.lit(self.levels[1])))
        return levels.to_series().alias(values.name)

    def learn(self, columns: Columns, levels: tuple[str, ...]) -> None:
        """Remember the level of each value of checked rows; forget earlier values of another type or other levels."""
        values, truth = columns.rows.frame[columns.rows.plan.outcome.column], columns.truth
        if truth is None:
            return
        if values.dtype != self.dtype or levels != self.levels:
            self.events, self.dtype, self.levels = {}, values.dtype, levels
        meanings = pl.DataFrame({"value": values, "event": truth == levels[0]}).unique()
        self.events |= dict(zip(meanings["value"].to_list(), meanings["event"].to_list(), strict=True))


CHUNK = 65_536
"""Rows that are counted at once: few enough for the processor's cache, and so many that threads seldom wait.

It changes no result.
"""

States = tuple[tuple[bool, bool] | None, ...]

NONE: States = (None,)
CLASSED: States = ((False, True), (True, True))
ZONED: States = ((False, False), (True, False), (False, True), (True, True))
"""The possible states of a row under a model: whether it is predicted as the event, and whether it has a class."""


@dataclass
class _SliceNumbers:
    """Numbers the slices of one slicing in order of appearance; rows in no slice have the number 0."""

    labels: list[Labels | None] = field(default_factory=lambda: [None])
    numbers: dict[Labels, int] = field(default_factory=dict)

    def of_rows(self, rows: SlicedRows) -> Wholes:
        """Return the number of each row's slice, [n]."""
        for labels in rows.labels:
            key = tuple(labels.items())
            if key not in self.numbers:
                self.numbers[key] = len(self.labels)
                self.labels.append(key)
        number_of_code = np.array([0, *(self.numbers[tuple(labels.items())] for labels in rows.labels)], np.intp)
        return number_of_code[rows.codes + 1]  # the code -1 is of rows in no slice


DENSE = 2**25
"""The most cells of all groups of which each has a count in memory (134 MB), of some 50 slices of a grid of scores."""

PENDING = 2**21
"""Rows whose cells are kept until they are counted at once."""


@dataclass
class _GroupCounts:
    """Counts of observations by group of rows and cell of the grid of scores, a group after the other.

    A group has ``size`` cells; ``states`` are the possible states of a row under each model. ``dense`` are the counts
    of all cells, flat. Of more than `DENSE` cells, as of thousands of slices, ``sparse`` are the counts of those that
    have rows, by position, and ``pending`` the positions of rows that are not counted yet, with their weights.
    """

    size: int
    states: tuple[States, ...]
    dense: Wholes = field(default_factory=lambda: np.zeros(0, np.int32))
    sparse: CellCounts | None = None
    pending: list[tuple[Wholes, Wholes | None]] = field(default_factory=list)

    @cached_property
    def groups_per_slice(self) -> int:
        """The number of groups in each slice: 2 truths times the states of a row under each model."""
        return 2 * math.prod(len(states) for states in self.states)

    def add(self, groups: Wholes, cells: Wholes, weights: Wholes | None, slices: int) -> None:
        """Count rows [n], or their ``weights``, by number of group and cell; a single cell is that of all rows.

        ``slices`` is how many slices there are by now.
        """
        missing = slices * self.groups_per_slice * self.size - len(self.dense)
        if self.sparse is not None or len(self.dense) + missing > DENSE:
            self._add_sparse(groups * self.size + cells, weights)
            return
        dtype = np.int32 if weights is None else np.int64  # a part has fewer rows than the first can count
        if missing > 0 or self.dense.dtype != dtype:
            self.dense = np.concatenate([self.dense, np.zeros(missing, dtype)])
        for chunk in _row_chunks(len(groups)):
            positions = groups[chunk] * self.size + (cells[chunk] if len(cells) > 1 else cells)
            np.add.at(self.dense, positions, dtype(1) if weights is None else weights[chunk])

    def _add_sparse(self, positions: Wholes, weights: Wholes | None) -> None:
        """Count rows [n], or their ``weights``, by position among the cells of all groups."""
        if self.sparse is None:
            self.sparse, self.dense = self._occupied(), self.dense[:0]
        self.pending.append((positions, weights))
        if sum(len(some) for some, _ in self.pending) >= PENDING:
            self.sparse = self._occupied()

    def _occupied(self) -> CellCounts:
        """Return the counts of the positions that have rows, those of pending rows too, which are then no more so."""
        if self.sparse is None:
            positions = np.flatnonzero(self.dense)
            return CellCounts(positions, self.dense[positions].astype(np.int64))
        if not self.pending:
            return self.sparse
        weights = [weight for _, weight in self.pending if weight is not None]
        counted = count_codes(np.concatenate([positions for positions, _ in self.pending]),
                              np.concatenate(weights) if weights else None)
        self.pending = []
        return CellCounts.merged([self.sparse, counted]) if len(self.sparse.cells) else counted

    def renumber(self, new_numbers: Wholes) -> None:
        """Move the counts of each cluster to its new number, which several share where there are very many clusters."""
        if self.sparse is not None:
            counted = self._occupied()
            cluster = counted.cells % GROUPS
            self.sparse = CellCounts.merged([
                CellCounts(counted.cells - cluster + new_numbers[cluster], counted.counts)])
            return
        counts = self.dense.reshape(-1, GROUPS)
        self.dense = np.zeros_like(self.dense)
        for old_number, new_number in enumerate(new_numbers):
            self.dense[new_number::GROUPS] += counts[:, old_number]

    def groups(self, labels: list[Labels | None]) -> dict[RowGroup, CellCounts]:
        """Return the cells of each group that is not empty; ``labels`` are those of the slices by number."""
        counted = self._occupied()
        numbers, cells = np.divmod(counted.cells, self.size)
        starts = starts_of_runs(numbers)
        return {self.group(int(numbers[start]), labels): CellCounts(cells[start:end], counted.counts[start:end])
                for start, end in pairwise([*starts, len(cells)])}

    def group(self, number: int, labels: list[Labels | None]) -> RowGroup:
        """Return the group of a number, whose digits are its slice, its state under each model, and its truth."""
        slice_number, rest = divmod(number, self.groups_per_slice)
        rest, event = divmod(rest, 2)
        group_states = []
        for states in self.states:
            rest, state = divmod(rest, len(states))
            group_states.append(states[state])
        return RowGroup(labels[slice_number], bool(event), tuple(group_states))


@dataclass
class _RowScores:
    """The `score_codes` of all rows of a part, and their weights if there are any; the number of each row's group."""

    codes: list[Wholes] = field(default_factory=list)
    groups: list[Wholes] = field(default_factory=list)
    weights: list[Wholes] = field(default_factory=list)

    def add(self, codes: Wholes, groups: Wholes, weights: Wholes | None) -> None:
        """Keep the codes, numbers of groups and weights of rows [n]."""
        self.codes.append(codes)
        self.groups.append(groups.astype(np.min_scalar_type(int(groups.max(initial=0)))))
        self.weights += [] if weights is None else [weights]

    def counts(self) -> Iterator[tuple[int, CellCounts]]:
        """Yield the number of each group that has rows, with the counts of its scores."""
        codes, groups = np.concatenate(self.codes), np.concatenate(self.groups)
        weights = np.concatenate(self.weights) if self.weights else None
        order = np.argsort(groups, kind="stable")
        for members in np.split(order, starts_of_runs(groups[order])[1:]):
            yield int(groups[members[0]]), count_codes(codes[members], None if weights is None else weights[members])


class Tally:
    """Counts the rows of a part, batch by batch, and makes tables of the counts."""

    def __init__(self, plan: Plan, layout: TableLayout, role: str) -> None:
        """Begin without rows; only a dataset of the ``role`` "evaluate" has slices."""
        self.plan, self.layout, self.role = plan, layout, role
        sliced = plan.slices.slicings if role == "evaluate" else ()
        self.slices = [_SliceNumbers() for _ in sliced] or [_SliceNumbers()]
        self.counted: dict[tuple[int, str], _GroupCounts] = {}
        self.fractions: dict[str, Wholes] = {}
        self.shared_scores: dict[str, Floats] = {}
        self.totals: dict[tuple[int, str, Option], ExactSums] = {}
        self.known_levels = KnownLevels()
        self.rows: dict[str, int] = {}
        self.levels: dict[str, tuple[int, int]] = {}
        self.cluster_numbers = None if plan.cluster is None else ClusterNumbers()
        self.clusters: dict[tuple[int, str], _GroupCounts] = {}
        self.scores: dict[tuple[int, str], _RowScores] = {}

    def count_read(self, rows: RowBlock, file: int) -> None:
        """Count the rows of a file that were read, and those that are kept by its conditions."""
        self._count("read", rows.sources[file].rows)
        self._count("kept", rows.frame.height + rows.incomplete)
        self._count("incomplete", rows.incomplete)
        for kind, counts in ("unknown", rows.unknown), ("lacking", rows.lacking):
            for name, count in counts.items():
                self._count(f"{kind} {name}", count)

    def _count(self, name: str, count: int) -> None:
        """Add to the counter ``name`` of rows, such as "read" or "unknown where"."""
        self.rows[name] = self.rows.get(name, 0) + count

    def add(self, columns: Columns, levels: tuple[str, ...], frame: pl.DataFrame) -> None:
        """Add checked rows to the counts.

        ``frame`` is the sample's table of rows that have a weight; ``levels`` are the event and the other level.
        """
        self._count("used", frame.height)
        event = frame["truth"].to_numpy()
        weight = frame["weight"].to_numpy().astype(np.int64) if "weight" in frame.columns else None
        for level, members in zip(levels, (event, ~event), strict=True):
            rows = int(members.sum())
            before = self.levels.get(level, (0, 0))
            weighed = rows if weight is None else int(weight[members].sum())
            self.levels[level] = before[0] + rows, before[1] + weighed
        sliced = slices.requested_slices(columns, frame) if self.role == "evaluate" else ()
        slice_numbers = [numbered.of_rows(rows) for numbered, rows in zip(self.slices, sliced, strict=False)]
        models = {model.name: model_predictions(frame, number, model, 2)
                  for number, model in enumerate(self.plan.models.values())}
        self._count_rows(models, event, weight, slice_numbers or [np.zeros(1, np.intp)], self._clusters_of(frame))

    def _clusters_of(self, frame: pl.DataFrame) -> Wholes | None:
        """Return the number of each row's cluster, [n], None without clusters; renumber those counted before."""
        if self.cluster_numbers is None:
            return None
        clusters, renumbering = self.cluster_numbers.numbers_of(frame["cluster"])
        if renumbering is not None:
            for counted in self.clusters.values():
                counted.renumber(renumbering)
        return clusters if self.role == "evaluate" else None

    def _count_rows(
        self, models: dict[str, Predictions], event: Flags, weight: Wholes | None, slice_numbers: list[Wholes],
        clusters: Wholes | None,
    ) -> None:
        """Count each model's cells and the joint cells, and total the layout's statistics, in each slicing.

        ``slice_numbers`` are those of each row [n], by slicing.
        """
        states = {name: _possible_states(model) for name, model in models.items()}
        cells: dict[str, Wholes] = {}
        # One table after the other, for each is about as large as the processor's cache.
        for name, model in models.items():
            by_slicing = [_group_numbers(event, numbers, [states[name]]) for numbers in slice_numbers]
            if name in self.layout.models:
                cells[name] = self._cells_of(name, model, event, weight)
            size = self.layout.grid.size if name in cells else 1
            for slicing, slicing_groups in enumerate(by_slicing):
                self._count_cells((slicing, name), size, [states[name]], slicing_groups, cells.get(name), weight)
                if clusters is not None:
                    self._count_clusters((slicing, name), slicing_groups, cells.get(name), clusters, weight)
            if name in cells:
                self._add_totals(name, model, event, weight, by_slicing)
                self._keep_scores(name, model, weight, by_slicing)
        if len(models) > 1:
            joint, size = self._joint_cells(list(cells.values()))
            for slicing, numbers in enumerate(slice_numbers):
                all_states = list(states.values())
                groups = _group_numbers(event, numbers, all_states)
                self._count_cells((slicing, ""), size, all_states, groups, joint, weight)

    def _count_cells(
        self, key: tuple[int, str], size: int, states: list[tuple[States, Wholes]], groups: Wholes,
        cells: Wholes | None, weight: Wholes | None,
    ) -> None:
        """Count the cells of rows [n] in their groups; ``key`` is slicing and model, ``size`` the number of cells."""
        counted = self.counted.setdefault(key, _GroupCounts(size, tuple(possible for possible, _ in states)))
        counted.add(groups, np.zeros(1, np.intp) if cells is None else cells, weight, len(self.slices[key[0]].labels))

    def _count_clusters(
        self, key: tuple[int, str], groups: Wholes, cells: Wholes | None, clusters: Wholes, weight: Wholes | None
    ) -> None:
        """Count rows [n] by group, cluster and coarse cell: finer cells of each cluster would be too many.

        ``key`` is slicing and model.
        """
        coarse, coarse_count = self.layout.coarse
        size, positions = (1, clusters) if cells is None else (coarse_count, coarse.take(cells) * GROUPS + clusters)
        counted = self.clusters.setdefault(key, _GroupCounts(size * GROUPS, self.counted[key].states))
        counted.add(groups, positions, weight, len(self.slices[key[0]].labels))

    def _joint_cells(self, cells: list[Wholes]) -> tuple[Wholes, int]:
        """Return the number of each row's joint cell, [n], and how many there are: its digits are the models' cells."""
        joint, cells_per_model = self.layout.joint
        combined: Wholes = np.zeros(1, np.int32)
        for model_cells in cells:
            combined = combined * np.int32(cells_per_model) + joint.take(model_cells)
        return combined, cells_per_model ** len(cells)

    def _keep_scores(self, name: str, model: Predictions, weight: Wholes | None, groups: list[Wholes]) -> None:
        """Keep every score of rows [n] with the numbers of their ``groups``, by slicing, where the layout asks for it.

        Scores of calibration rows are not: no value is of them.
        """
        if self.layout.all_scores and self.role == "evaluate":
            codes = score_codes(_scores_of(model))
            for slicing, numbers in enumerate(groups):
                self.scores.setdefault((slicing, name), _RowScores()).add(codes, numbers, weight)

    def _cells_of(self, name: str, model: Predictions, event: Flags, weight: Wholes | None) -> Wholes:
        """Return the cell of each row's score, [n]; total how far scores lie in their cells, for exact means."""
        size = self.layout.grid.size
        placed = self.layout.grid.placed_log_odds if model.log_odds else self.layout.grid.placed
        values = _scores_of(model)
        cells: Wholes = np.empty(len(event), np.int32)
        inside = np.empty(len(event))
        for chunk in _row_chunks(len(event)):
            cells[chunk], inside[chunk] = placed(values[chunk])
        if name not in self.fractions:
            self.fractions[name] = np.zeros(2 * size, np.int64)
            self.shared_scores[name] = np.full(2 * size, np.inf)
        totals = self.fractions[name]
        for chunk in _row_chunks(len(event)):
            units = inside[chunk].astype(np.int64)
            places = cells[chunk] + size * ~event[chunk]
            np.add.at(totals, places, units if weight is None else units * weight[chunk])
            self._update_shared_scores(name, places, values[chunk])
        return cells

    def _update_shared_scores(self, name: str, cells: Wholes, values: Floats) -> None:
        """Note the score that all rows of a cell share, which is then exact, NaN where they differ.

        ``cells`` are numbered apart for events and others.
        """
        scores = self.shared_scores[name]
        before = scores.take(cells)
        open_rows = np.flatnonzero(~np.isnan(before))  # of cells whose rows do not differ yet
        if len(open_rows) == 0:
            return
        cells, values, before = cells[open_rows], values[open_rows] + 0.0, before[open_rows]  # -0 is 0
        is_first = np.isinf(before)
        scores[cells[is_first]] = values[is_first]
        scores[cells[scores.take(cells) != values]] = np.nan

    def _add_totals(
        self, name: str, model: Predictions, event: Flags, weight: Wholes | None, groups: list[Wholes]
    ) -> None:
        """Add the layout's statistics of rows to the exact totals of their ``groups`` [n], in each slicing."""
        sizes = [self.counted[slicing, name].groups_per_slice * len(slices.labels)
                 for slicing, slices in enumerate(self.slices)]
        for chunk in _row_chunks(len(event)):
            part = _rows_of(model, chunk)
            rows = Rows(event[chunk], part.predicted, part.probability, part.score, part.reportable)
            members = [Members(group_members[chunk], size) for group_members, size in zip(groups, sizes, strict=True)]
            for option in self.layout.totals:
                parts = Parts.of(np.asarray(statistics[option[0]].function(rows, **dict(option[1])), float))
                for slicing, group_members in enumerate(members):
                    sums = self.totals.setdefault((slicing, name, option), ExactSums(group_members.size))
                    sums.grow(group_members.size)
                    sums.add_parts(parts, group_members, None if weight is None else weight[chunk])

    def tables(self) -> Tables:
        """Return the tables of all rows that were added."""
        counts = {key: counted.groups(self.slices[key[0]].labels) for key, counted in self.counted.items()}
        totals: dict[tuple[int, str, Option], dict[RowGroup, ExactSums]] = {}
        for (slicing, name, option), sums in self.totals.items():
            counted, labels = self.counted[slicing, name], self.slices[slicing].labels
            totals[slicing, name, option] = {
                group: sums.of_group(number) for number in range(sums.size)  # of groups that have rows
                if (group := counted.group(number, labels)) in counts[slicing, name]}
        clusters = {key: counted.groups(self.slices[key[0]].labels) for key, counted in self.clusters.items()}
        scores = {key: {self.counted[key].group(number, self.slices[key[0]].labels): [cells]
                        for number, cells in row_scores.counts()} for key, row_scores in self.scores.items()}
        return Tables(self.layout, counts, self.fractions, self.shared_scores, totals, self.rows, self.levels,
                      None if self.cluster_numbers is None else self.cluster_numbers.keys, clusters, scores)


def _scores_of(model: Predictions) -> Floats:
    """Return what rows are counted by, [n]: the log odds where the model gives these, else the probability."""
    return present(model.score if model.log_odds else model.probability, "scores")


def _row_chunks(rows: int) -> Iterator[slice]:
    """Yield slices of `CHUNK` positions, up to the number of rows."""
    return (slice(first, first + CHUNK) for first in range(0, rows, CHUNK))


def _rows_of(model: Predictions, chunk: slice) -> Predictions:
    """Return a model's predictions of a chunk of the rows."""
    def rows_of(values: Any) -> Any:
        return None if values is None else values[chunk]

    return replace(model, score=rows_of(model.score), probability=rows_of(model.probability),
                   predicted=rows_of(model.predicted), reportable=rows_of(model.reportable))


def _possible_states(model: Predictions) -> tuple[States, Wholes]:
    """Return the possible states of a row under a model, and the position among them of each row's state, [n]."""
    if model.predicted is None:
        return NONE, np.zeros(1, np.int16)
    if model.reportable is None:
        return CLASSED, model.predicted.astype(np.int16)
    return ZONED, model.predicted + np.int16(2) * model.reportable


def _group_numbers(event: Flags, slice_number: Wholes, states: list[tuple[States, Wholes]]) -> Wholes:
    """Return the number of each row's group, [n], whose digits are its slice, its state by model, and its truth."""
    state_number, count = np.zeros(1, np.int16), 1
    for possible_states, state in states:
        state_number = state_number + state * np.int16(count)
        count *= len(possible_states)
    return slice_number * (2 * count) + (state_number * np.int16(2) + event)


def tally_part(plan: Plan, part: Part, layout: TableLayout) -> Tables:
    """Read the rows of a part, check them, and return their tables.

    Raises DataError with the problems of the first batch of rows that has any.
    """
    dataset = next(entry for entry in plan.datasets if entry.name == part.dataset)
    tally = Tally(plan, layout, dataset.role)
    for rows in load_part(plan, dataset, part.file, part.first, part.rows):
        if isinstance(rows, list):
            raise DataError(*rows)
        tally.count_read(rows, part.file)
        if not rows.frame.height:
            continue
        # Where every outcome is of a value that earlier batches had, its level is looked up and not checked again.
        known, known_outcome = tally.known_levels, tally.known_levels.of_rows(rows)
        columns = checks.check(rows, whole=False, outcome=known_outcome)
        levels = known.levels if known_outcome is not None else outcome_checks.settle_levels(plan, [columns])
        if columns.problems:
            raise DataError(*columns.problems)
        if known_outcome is None:
            known.learn(columns, levels)
        tally.add(columns, levels, sample_table(columns, levels, sort=False))
    return tally.tables()


Task = TypeVar("Task")
Answer = TypeVar("Answer")

@dataclass(frozen=True)
class Threads:
    """Threads of this process that read the files of a plan, ``number`` at once."""

    plan: Plan
    number: int

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""
        return results_in_order(lambda file: digest(file.path, file.stamp, file.shown, file.place), files, self.number)

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in order, with ``encoded`` as bytes for the cache too; raises DataError."""
        layout = table_layout(self.plan)

        def summed(task: tuple[Part, File]) -> Summed:
            tables = part_tables(self.plan, *task, layout)
            return Summed(tables, encode(tables) if encoded else b"")

        return results_in_order(summed, parts, self.number)


def part_tables(plan: Plan, part: Part, file: File, layout: TableLayout) -> Tables:
    """Return the tables of a part of a file, counted from its rows; raises DataError, also if the file changes."""
    try:
        tables = tally_part(plan, part, layout)
    except DataError:
        # A file that is being written reads like a broken one, so this is looked at first.
        check_unchanged(file.path, file.stamp, file.shown, file.place)
        raise
    check_unchanged(file.path, file.stamp, file.shown, file.place)
    return tables


def results_in_order(function: Callable[[Task], Answer], tasks: Iterable[Task], workers: int) -> Generator[Answer]:
    """Yield the result of a function for each task, in order, from a pool of threads; cancel the rest on failure.

    One task more than there are ``workers`` has begun before the first result is waited for: each may hold much memory.
    """
    begun: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for task in tasks:
            begun.append(pool.submit(function, task))
            if len(begun) > workers:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
