"""Counting the rows of a part into tables, some at a time, by threads of this process."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data import checks, outcome_checks, sample_arrays, slices
from evalpipe.data.rows import load_part
from evalpipe.data.sample_arrays import predictions_of
from evalpipe.errors import DataError
from evalpipe.plan.drawing import GROUPS
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums, Members, Parts
from evalpipe.statistics.rows import present
from evalpipe.statistics.summary import statistics
from evalpipe.streams.cache import encode
from evalpipe.streams.parts import Summed, digest, unchanged
from evalpipe.streams.tables import CellCounts, ClusterNumbers, Labels, RowGroup, Tables, asked

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.data.columns import Columns, RowBlock
    from evalpipe.data.sample import Predictions, SlicedRows
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import File, Part
    from evalpipe.streams.tables import Asked, Option


@dataclass
class KnownLevels:
    """What each value of the outcome's column means, of those that have occurred: the event or the other level."""

    levels: tuple[str, ...] = ()
    events: dict[object, bool] = field(default_factory=dict)
    dtype: pl.DataType | None = None

    def of(self, rows: RowBlock) -> pl.Series | None:
        """Return the level of each row, [n]; None where a value is new, or where models give classes, levels too."""
        values = rows.frame[rows.plan.outcome.column]
        if values.dtype != self.dtype or any(model.prediction is not None for model in rows.plan.models.values()):
            return None
        event, other = (values.is_in([value for value, is_event in self.events.items() if is_event is wanted])
                        for wanted in (True, False))
        if values.null_count() or not (event | other).all():
            return None
        levels = pl.select(pl.when(event).then(pl.lit(self.levels[0])).otherwise(pl.lit(self.levels[1])))
        return levels.to_series().alias(values.name)

    def learn(self, columns: Columns, levels: tuple[str, ...]) -> None:
        """Note what the values of checked rows mean; of another type than before, they alone are known."""
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
"""What a model may make of a row: whether it is predicted as the event, and whether it has a class at all."""


@dataclass
class _SliceNumbers:
    """The slices of one slicing in the order in which they came; number 0 is that of rows in none."""

    labels: list[Labels | None] = field(default_factory=lambda: [None])
    numbers: dict[Labels, int] = field(default_factory=dict)

    def of(self, rows: SlicedRows) -> Wholes:
        """Return the number of each row's slice, [n]."""
        for labels in rows.labels:
            key = tuple(labels.items())
            if key not in self.numbers:
                self.numbers[key] = len(self.labels)
                self.labels.append(key)
        mine = np.array([0, *(self.numbers[tuple(labels.items())] for labels in rows.labels)], np.intp)
        return mine[rows.codes + 1]


@dataclass
class _GroupCounts:
    """Counts of the cells of groups: flat, [groups x size]."""

    size: int
    states: tuple[States, ...]
    counts: Wholes = field(default_factory=lambda: np.zeros(0, np.int32))

    @cached_property
    def kinds(self) -> int:
        """How many groups there are in each slice."""
        return 2 * math.prod(len(states) for states in self.states)

    def add(self, groups: Wholes, cells: Wholes, weights: Wholes | None, slices: int) -> None:
        """Count the cells of rows [n] in groups."""
        kind = np.int32 if weights is None else np.int64  # a part has fewer rows than the first can count
        lacking = slices * self.kinds * self.size - len(self.counts)
        if lacking > 0 or self.counts.dtype != kind:
            self.counts = np.concatenate([self.counts, np.zeros(lacking, kind)])
        for chunk in _row_chunks(len(groups)):
            places = groups[chunk] * self.size + (cells[chunk] if len(cells) > 1 else cells)
            np.add.at(self.counts, places, kind(1) if weights is None else weights[chunk])

    def renumber(self, places: Wholes) -> None:
        """Count clusters under other numbers, of which some may share one; see `GROUPS`."""
        counts = self.counts.reshape(-1, GROUPS)
        self.counts = np.zeros_like(self.counts)
        for before, after in enumerate(places):
            self.counts[after::GROUPS] += counts[:, before]

    def groups(self, labels: list[Labels | None]) -> dict[RowGroup, CellCounts]:
        """Return the cells of the groups that have any, by what the groups are of."""
        cells_of: dict[RowGroup, CellCounts] = {}
        for number, counts in enumerate(self.counts.reshape(-1, self.size)):
            cells = np.flatnonzero(counts)
            if len(cells):
                cells_of[self.group(number, labels)] = CellCounts(cells, counts[cells].astype(np.int64))
        return cells_of

    def group(self, number: int, labels: list[Labels | None]) -> RowGroup:
        """Return what a group is of."""
        place, kind = divmod(number, self.kinds)
        kind, event = divmod(kind, 2)
        picked = []
        for states in self.states:
            kind, state = divmod(kind, len(states))
            picked.append(states[state])
        return RowGroup(labels[place], bool(event), tuple(picked))


class Tally:
    """The tables of the rows that were added, in the making."""

    def __init__(self, plan: Plan, asked: Asked, role: str) -> None:
        """Begin without rows; only of those of role "evaluate" there are slices."""
        self.plan, self.asked, self.role = plan, asked, role
        sliced = plan.slices.slicings if role == "evaluate" else ()
        self.slices = [_SliceNumbers() for _ in sliced] or [_SliceNumbers()]
        self.counted: dict[tuple[int, str], _GroupCounts] = {}
        self.fractions: dict[str, Wholes] = {}
        self.singles: dict[str, Floats] = {}
        self.totals: dict[tuple[int, str, Option], ExactSums] = {}
        self.known = KnownLevels()
        self.rows: dict[str, int] = {}
        self.levels: dict[str, tuple[int, int]] = {}
        self.numbers = None if plan.cluster is None else ClusterNumbers()
        self.clusters: dict[tuple[int, str], _GroupCounts] = {}

    def read(self, rows: RowBlock, file: int) -> None:
        """Count the rows of a file that were read, and those that are left."""
        self._count("read", rows.sources[file].rows)
        self._count("kept", rows.frame.height)
        for name, count in rows.unknown.items():
            self._count(f"unknown {name}", count)

    def _count(self, name: str, count: int) -> None:
        self.rows[name] = self.rows.get(name, 0) + count

    def add(self, columns: Columns, levels: tuple[str, ...], frame: pl.DataFrame) -> None:
        """Add checked rows, those without weight left out."""
        self._count("used", frame.height)
        event = frame["truth"].to_numpy()
        weight = frame["weight"].to_numpy().astype(np.int64) if "weight" in frame.columns else None
        for level, members in zip(levels, (event, ~event), strict=True):
            rows = int(members.sum())
            before = self.levels.get(level, (0, 0))
            weighed = rows if weight is None else int(weight[members].sum())
            self.levels[level] = before[0] + rows, before[1] + weighed
        sliced = slices.requested_slices(columns, frame) if self.role == "evaluate" else ()
        places = [numbered.of(rows) for numbered, rows in zip(self.slices, sliced, strict=False)]
        models = {model.name: predictions_of(frame, number, model, 2)
                  for number, model in enumerate(self.plan.models.values())}
        self._count_rows(models, event, weight, places or [np.zeros(1, np.intp)], self._clusters_of(frame))

    def _clusters_of(self, frame: pl.DataFrame) -> Wholes | None:
        """Return the number of each row's cluster, [n]; None without any. Those counted before get their new ones."""
        if self.numbers is None:
            return None
        clusters, places = self.numbers.of(frame["cluster"])
        if places is not None:
            for counted in self.clusters.values():
                counted.renumber(places)
        return clusters if self.role == "evaluate" else None

    def _count_rows(
        self, models: dict[str, Predictions], event: Flags, weight: Wholes | None, places: list[Wholes],
        clusters: Wholes | None,
    ) -> None:
        """Count the cells of each model and the joint ones of all, and total what is asked for, in each slicing."""
        states = {name: _possible_states(model) for name, model in models.items()}
        cells: dict[str, Wholes] = {}
        # One table after the other, for each is about as large as the processor's cache.
        for name, model in models.items():
            groups = [_group_numbers(event, place, [states[name]]) for place in places]
            if name in self.asked.models:
                cells[name] = self._place(name, model, event, weight)
            size = self.asked.grid.size if name in cells else 1
            for slicing, of_slicing in enumerate(groups):
                self._count_cells((slicing, name), size, [states[name]], of_slicing, cells.get(name), weight)
                if clusters is not None:
                    self._count_clusters((slicing, name), of_slicing, cells.get(name), clusters, weight)
            if name in cells:
                self._total(name, model, event, weight, groups)
        if len(models) > 1:
            joint, size = self._joint(list(cells.values()))
            for slicing, place in enumerate(places):
                of_all = list(states.values())
                self._count_cells((slicing, ""), size, of_all, _group_numbers(event, place, of_all), joint, weight)

    def _count_cells(
        self, key: tuple[int, str], size: int, states: list[tuple[States, Wholes]], groups: Wholes,
        cells: Wholes | None, weight: Wholes | None,
    ) -> None:
        counted = self.counted.setdefault(key, _GroupCounts(size, tuple(possible for possible, _ in states)))
        counted.add(groups, np.zeros(1, np.intp) if cells is None else cells, weight, len(self.slices[key[0]].labels))

    def _count_clusters(
        self, key: tuple[int, str], groups: Wholes, cells: Wholes | None, clusters: Wholes, weight: Wholes | None
    ) -> None:
        """Count the cells of each cluster, which end at edges alone."""
        coarse, several = self.asked.coarse
        size, places = (1, clusters) if cells is None else (several, coarse.take(cells) * GROUPS + clusters)
        counted = self.clusters.setdefault(key, _GroupCounts(size * GROUPS, self.counted[key].states))
        counted.add(groups, places, weight, len(self.slices[key[0]].labels))

    def _joint(self, cells: list[Wholes]) -> tuple[Wholes, int]:
        """Return the joint cell of the cells of all models with scores, [n], and how many joint cells there are."""
        joint, several = self.asked.joint
        combined: Wholes = np.zeros(1, np.int32)
        for places in cells:
            combined = combined * np.int32(several) + joint.take(places)
        return combined, several ** len(cells)

    def _place(self, name: str, model: Predictions, event: Flags, weight: Wholes | None) -> Wholes:
        """Return the cell of each row's score, [n], and total how far into it the rows lie."""
        size = self.asked.grid.size
        placed = self.asked.grid.placed_log_odds if model.log_odds else self.asked.grid.placed
        values = present(model.score if model.log_odds else model.probability, "scores")
        cells: Wholes = np.empty(len(event), np.int32)
        inside = np.empty(len(event))
        for chunk in _row_chunks(len(event)):
            cells[chunk], inside[chunk] = placed(values[chunk])
        totals = self.fractions.setdefault(name, np.zeros(2 * size, np.int64))
        for chunk in _row_chunks(len(event)):
            units = inside[chunk].astype(np.int64)
            places = cells[chunk] + size * ~event[chunk]
            np.add.at(totals, places, units if weight is None else units * weight[chunk])
            self._note(name, places, values[chunk])
        return cells

    def _note(self, name: str, places: Wholes, values: Floats) -> None:
        """Note which cells have rows of a single value, those of events and of others apart."""
        singles = self.singles.setdefault(name, np.full(2 * self.asked.grid.size, np.inf))
        values = values + 0.0  # -0 is 0
        fresh = np.isinf(singles.take(places))
        singles[places[fresh]] = values[fresh]
        singles[places[singles.take(places) != values]] = np.nan

    def _total(
        self, name: str, model: Predictions, event: Flags, weight: Wholes | None, groups: list[Wholes]
    ) -> None:
        """Add what is totalled of each row to the totals of its groups, in each slicing."""
        sizes = [self.counted[slicing, name].kinds * len(slices.labels) for slicing, slices in enumerate(self.slices)]
        for chunk in _row_chunks(len(event)):
            part = _rows_of(model, chunk)
            rows = Rows(event[chunk], part.predicted, part.probability, part.score, part.reportable)
            members = [Members(of_slicing[chunk], size) for of_slicing, size in zip(groups, sizes, strict=True)]
            for option in self.asked.totals:
                parts = Parts.of(np.asarray(statistics[option[0]].function(rows, **dict(option[1])), float))
                for slicing, of_slicing in enumerate(members):
                    sums = self.totals.setdefault((slicing, name, option), ExactSums(of_slicing.size))
                    sums.grow(of_slicing.size)
                    sums.add_parts(parts, of_slicing, None if weight is None else weight[chunk])

    def tables(self) -> Tables:
        """Return what all rows came to."""
        counts = {key: counted.groups(self.slices[key[0]].labels) for key, counted in self.counted.items()}
        totals: dict[tuple[int, str, Option], dict[RowGroup, ExactSums]] = {}
        for (slicing, name, option), sums in self.totals.items():
            counted, labels = self.counted[slicing, name], self.slices[slicing].labels
            totals[slicing, name, option] = {
                group: sums.of_group(number) for number in range(sums.size)
                if (group := counted.group(number, labels)) in counts[slicing, name]}
        clusters = {key: counted.groups(self.slices[key[0]].labels) for key, counted in self.clusters.items()}
        return Tables(self.asked, counts, self.fractions, self.singles, totals, self.rows, self.levels,
                      None if self.numbers is None else self.numbers.keys, clusters)


def _row_chunks(rows: int) -> Iterator[slice]:
    return (slice(first, first + CHUNK) for first in range(0, rows, CHUNK))


def _rows_of(model: Predictions, chunk: slice) -> Predictions:
    def of(values: Any) -> Any:
        return None if values is None else values[chunk]

    return replace(model, score=of(model.score), probability=of(model.probability), predicted=of(model.predicted),
                   reportable=of(model.reportable))


def _possible_states(model: Predictions) -> tuple[States, Wholes]:
    """Return what a model may make of a row, and which of these it makes of each, [n], in small numbers."""
    if model.predicted is None:
        return NONE, np.zeros(1, np.int16)
    if model.reportable is None:
        return CLASSED, model.predicted.astype(np.int16)
    return ZONED, model.predicted + np.int16(2) * model.reportable


def _group_numbers(event: Flags, place: Wholes, states: list[tuple[States, Wholes]]) -> Wholes:
    """Return the number of each row's group, [n]: by slice, then by what models make of the row, then by truth."""
    kind, count = np.zeros(1, np.int16), 1
    for possible, state in states:
        kind = kind + state * np.int16(count)
        count *= len(possible)
    return place * (2 * count) + (kind * np.int16(2) + event)


def summarise(plan: Plan, part: Part, asked: Asked) -> Tables:
    """Return what the rows of a part come to.

    Raises DataError with the problems of the first rows that have any.
    """
    dataset = next(entry for entry in plan.datasets if entry.name == part.dataset)
    tally = Tally(plan, asked, dataset.role)
    for rows in load_part(plan, dataset, part.file, part.first, part.rows):
        if isinstance(rows, list):
            raise DataError(*rows)
        tally.read(rows, part.file)
        if not rows.frame.height:
            continue
        known = tally.known.of(rows)
        columns = checks.check(rows, whole=False, outcome=known)
        levels = tally.known.levels if known is not None else outcome_checks.settle_levels(plan, [columns])
        if columns.problems:
            raise DataError(*columns.problems)
        if known is None:
            tally.known.learn(columns, levels)
        tally.add(columns, levels, sample_arrays.ordered(columns, levels, sort=False))
    return tally.tables()


Task = TypeVar("Task")
Answer = TypeVar("Answer")

AHEAD = 2
"""Tasks for each worker that are begun before the first of them is fetched; each holds its tables meanwhile."""


@dataclass(frozen=True)
class Threads:
    """The threads that read the files of a plan, ``number`` at once."""

    plan: Plan
    number: int

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""
        return in_order(lambda file: digest(file.path, file.stamp, file.shown, file.place), files, self.number)

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in their order, as bytes too where these are asked for; raises DataError."""
        wanted = asked(self.plan)

        def summed(task: tuple[Part, File]) -> Summed:
            tables = summed_up(self.plan, *task, wanted)
            return Summed(tables, encode(tables) if encoded else b"")

        return in_order(summed, parts, self.number)


def summed_up(plan: Plan, part: Part, file: File, asked: Asked) -> Tables:
    """Return what the rows of a part come to; raises DataError, also where its file changes meanwhile."""
    try:
        tables = summarise(plan, part, asked)
    except DataError:
        # A file that is being written reads like a broken one, so this is looked at first.
        unchanged(file.path, file.stamp, file.shown, file.place)
        raise
    unchanged(file.path, file.stamp, file.shown, file.place)
    return tables


def in_order(function: Callable[[Task], Answer], tasks: Iterable[Task], workers: int) -> Generator[Answer]:
    """Yield what a function makes of tasks, in their order; where one fails, those not yet begun are left out."""
    begun: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for task in tasks:
            begun.append(pool.submit(function, task))
            if len(begun) > AHEAD * workers:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
