"""Counting rows into tables, some rows at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.data import slices
from evalpipe.data.build import predictions_of
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.statistics.summary import statistics
from evalpipe.streams.known_levels import KnownLevels
from evalpipe.streams.tables import CellCounts, Labels, RowGroup, Tables

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.arraytypes import Flags, Floats, Wholes
    from evalpipe.data.block import RowBlock
    from evalpipe.data.columns import Columns
    from evalpipe.data.sample import Predictions, SlicedRows
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.asked import Asked, Option

CHUNK = 65_536
"""Rows that are counted at once, few enough for the processor's cache; changes no result."""

States = tuple[tuple[bool, bool] | None, ...]

NONE: States = (None,)
CLASSED: States = ((False, True), (True, True))
ZONED: States = ((False, False), (True, False), (False, True), (True, True))
"""What a model may make of a row: whether it is predicted as the event, and whether it has a class at all."""


@dataclass
class _Numbered:
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
class _Counted:
    """Counts of the cells of groups: flat, [groups x size]."""

    size: int
    states: tuple[States, ...]
    counts: Wholes = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def kinds(self) -> int:
        """How many groups there are in each slice."""
        return 2 * int(np.prod([len(states) for states in self.states], dtype=int))

    def add(self, groups: Wholes, cells: Wholes, weights: Wholes | None, slices: int) -> None:
        """Count the cells of rows [n] in groups."""
        wanted = slices * self.kinds * self.size
        if len(self.counts) < wanted:
            grown = np.zeros(wanted, np.int64)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        np.add.at(self.counts, groups * self.size + cells, 1 if weights is None else weights)

    def groups(self, labels: list[Labels | None]) -> dict[RowGroup, CellCounts]:
        """Return the cells of the groups that have any, by what the groups are of."""
        cells_of: dict[RowGroup, CellCounts] = {}
        for number, counts in enumerate(self.counts.reshape(-1, self.size)):
            cells = np.flatnonzero(counts)
            if len(cells):
                cells_of[self.group(number, labels)] = CellCounts(cells, counts[cells])
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
        self.slices = [_Numbered() for _ in sliced] or [_Numbered()]
        self.counted: dict[tuple[int, str], _Counted] = {}
        self.fractions: dict[str, Wholes] = {}
        self.totals: dict[tuple[int, str, Option], ExactSums] = {}
        self.known = KnownLevels()
        self.rows: dict[str, int] = {}
        self.levels: dict[str, tuple[int, int]] = {}

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
        sliced = slices.asked(columns, frame) if self.role == "evaluate" else ()
        places = [numbered.of(rows) for numbered, rows in zip(self.slices, sliced, strict=False)]
        models = {model.name: predictions_of(frame, number, model, 2)
                  for number, model in enumerate(self.plan.models.values())}
        for first in range(0, frame.height, CHUNK):
            chunk = slice(first, first + CHUNK)
            self._chunk(event[chunk], None if weight is None else weight[chunk],
                        [place[chunk] for place in places] or [np.zeros(len(event[chunk]), np.intp)],
                        {name: _part(model, chunk) for name, model in models.items()})

    def _chunk(
        self, event: Flags, weight: Wholes | None, places: list[Wholes], models: dict[str, Predictions]
    ) -> None:
        cells: dict[str, Wholes] = {}
        states = {name: _states(model) for name, model in models.items()}
        terms: dict[str, dict[Option, Floats]] = {}
        for name, model in models.items():
            if name in self.asked.models:
                cells[name] = self._cells(name, model, event, weight)
                terms[name] = self._terms(event, model)
        for slicing, place in enumerate(places):
            for name in models:
                counted = self._counter(slicing, name, self.asked.grid.size if name in cells else 1, (states[name][0],))
                groups = _groups(event, place, [states[name]])
                counted.add(groups, cells.get(name, np.zeros(1, np.intp)), weight, len(self.slices[slicing].labels))
                self._total(slicing, name, groups, counted.kinds, terms.get(name, {}), weight)
            if len(models) > 1:
                self._joint(slicing, event, place, weight, list(states.values()), list(cells.values()))

    def _joint(
        self, slicing: int, event: Flags, place: Wholes, weight: Wholes | None,
        states: list[tuple[States, Wholes]], cells: list[Wholes],
    ) -> None:
        """Count the joint cells of all models: those of their scores, where they have any, and their classes."""
        joint, several = self.asked.joint
        combined = np.zeros(len(event), np.intp)
        for places in cells:
            combined = combined * several + joint[places]
        counted = self._counter(slicing, "", several ** len(cells), tuple(state[0] for state in states))
        counted.add(_groups(event, place, states), combined, weight, len(self.slices[slicing].labels))

    def _counter(self, slicing: int, name: str, size: int, states: tuple[States, ...]) -> _Counted:
        return self.counted.setdefault((slicing, name), _Counted(size, states))

    def _cells(self, name: str, model: Predictions, event: Flags, weight: Wholes | None) -> Wholes:
        """Return the cell of each row's score, and total how far into it the rows lie."""
        assert model.score is not None and model.probability is not None  # noqa: S101, PT018 - of models with scores
        if model.log_odds:
            cells, units = self.asked.grid.placed_log_odds(model.score)
        else:
            cells, units = self.asked.grid.placed(model.probability)
        size = self.asked.grid.size
        totals = self.fractions.setdefault(name, np.zeros(2 * size, np.int64))
        np.add.at(totals, np.where(event, cells, cells + size), units if weight is None else units * weight)
        return cells

    def _terms(self, event: Flags, model: Predictions) -> dict[Option, Floats]:
        """Return what is totalled of each row, by statistic."""
        rows = Rows(event, model.predicted, model.probability, model.score, model.reportable)
        return {
            (name, options): np.asarray(statistics[name].function(rows, **dict(options)), float)
            for name, options in self.asked.totals
        }

    def _total(
        self, slicing: int, name: str, groups: Wholes, kinds: int, terms: dict[Option, Floats], weight: Wholes | None
    ) -> None:
        """Add the terms of rows to the totals of their groups."""
        size = kinds * len(self.slices[slicing].labels)
        for option, values in terms.items():
            sums = self.totals.setdefault((slicing, name, option), ExactSums(size))
            if sums.size < size:
                sums.grow(size)
            sums.add(values, groups, weight)

    def tables(self) -> Tables:
        """Return what all rows came to."""
        counts = {key: counted.groups(self.slices[key[0]].labels) for key, counted in self.counted.items()}
        totals: dict[tuple[int, str, Option], dict[RowGroup, ExactSums]] = {}
        for (slicing, name, option), sums in self.totals.items():
            counted, labels = self.counted[slicing, name], self.slices[slicing].labels
            totals[slicing, name, option] = {
                group: sums.of_group(number) for number in range(sums.size)
                if (group := counted.group(number, labels)) in counts[slicing, name]}
        return Tables(self.asked, counts, self.fractions, totals, self.rows, self.levels)


def _part(model: Predictions, chunk: slice) -> Predictions:
    """Return the predictions of some rows."""
    from dataclasses import replace

    def of(values: Any) -> Any:
        return None if values is None else values[chunk]

    return replace(model, score=of(model.score), probability=of(model.probability), predicted=of(model.predicted),
                   reportable=of(model.reportable))


def _states(model: Predictions) -> tuple[States, Wholes]:
    """Return what a model may make of a row, and which of these it makes of each, [n]."""
    if model.predicted is None:
        return NONE, np.zeros(1, np.intp)
    if model.reportable is None:
        return CLASSED, model.predicted.astype(np.intp)
    return ZONED, model.predicted + 2 * model.reportable.astype(np.intp)


def _groups(event: Flags, place: Wholes, states: list[tuple[States, Wholes]]) -> Wholes:
    """Return the number of each row's group, [n]: by slice, then by what models make of the row, then by truth."""
    kind, count = np.zeros(1, np.intp), 1
    for possible, state in states:
        kind = kind + state * count
        count *= len(possible)
    return (place * count + kind) * 2 + event
