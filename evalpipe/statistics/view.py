"""A view: the rows of one model in one part of a dataset, gathered so that replicates are summed up quickly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.class_rows import ClassRows
from evalpipe.statistics.grid import EDGES, cut, means
from evalpipe.statistics.groups import Groups, totals_of_runs
from evalpipe.statistics.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.statistics.rows import Floats, Whole

EXACT = 16_384
"""The most rows whose scores are kept apart in replicates; of more, about `CELLS` groups of neighbours are ties."""

CELLS = 512

GATHERED = 4
"""Rows in a cell, on average, above which all replicates are totalled at once."""


SINGLE = 2**24
"""Observations up to which single precision counts without rounding."""


@dataclass(frozen=True)
class Draws:
    """How often each unit is drawn in each of some replicates: ``counts`` [b, units]."""

    counts: Whole

    @cached_property
    def columns(self) -> Any:
        """The counts as floats [units, b], in single precision where that is exact; made once for all views."""
        kind = np.float32 if self.counts.sum(axis=-1).max(initial=0) < SINGLE else np.float64
        return np.ascontiguousarray(self.counts.T.astype(kind))


@dataclass(frozen=True)
class View:
    """Rows that differ in what a statistic sees, and how a draw becomes their weights.

    ``rows`` are the cells; ``unit`` [n] is the drawn unit of each row that went into them, in the order of the cells,
    ``starts`` [cells] where each cell begins there, ``factor`` [n] what a row weighs when drawn, None for one.
    """

    rows: Any
    unit: Whole
    starts: Whole
    factor: Floats | None
    _known: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def weights(self, counts: Whole) -> Any:
        """Return the weight of each cell [b, cells] when the units are drawn ``counts`` [b, units] times."""
        rows = np.take(counts, self.unit, axis=-1)
        return totals_of_runs(rows if self.factor is None else rows * self.factor, self.starts)

    def batches(self, draws: Draws, most: int) -> Iterator[Any]:
        """Yield the weights of the cells in turn, in batches of about ``most`` numbers."""
        step = max(1, most // len(self.starts))
        many = GATHERED * len(self.starts) < len(self.unit)
        whole = self._gathered(draws) if many else None
        for first in range(0, len(draws.counts), step):
            chosen = slice(first, first + step)
            yield self.weights(draws.counts[chosen]) if whole is None else whole[chosen]

    def _gathered(self, draws: Draws) -> Any:
        """Total all replicates at once, which takes a fraction of the time where a cell holds many rows."""
        columns = draws.columns if self.factor is None else draws.columns.astype(float)
        if (columns.dtype, len(columns)) not in self._known:
            self._known[columns.dtype, len(columns)] = self._matrix(columns.dtype, len(columns))
        found = np.ascontiguousarray((self._known[columns.dtype, len(columns)] @ columns).T)
        return found.astype(np.intp) if self.factor is None else found

    def _matrix(self, kind: Any, units: int) -> Any:
        """Return the sparse matrix [cells, units] that totals units in cells."""
        from scipy.sparse import csr_array

        each = np.ones(len(self.unit), kind) if self.factor is None else self.factor
        ends = np.append(self.starts, len(self.unit))
        return csr_array((each, self.unit, ends), shape=(len(self.starts), units))


def view(
    rows: Any, unit: Whole, factor: Floats | None = None, sizes: Floats | None = None, edges: Floats | None = None,
    *, exact: bool = False,
) -> View:
    """Gather rows that are alike.

    Of an event's rows those of equal score, truth and predicted class become one; where there are more than `EXACT`
    scores, unless ``exact``, scores of one cell of a grid count as tied at their mean, while probabilities are the mean
    of the cell's events and of its non-events, each row counting ``sizes`` [n]. Cells also end at ``edges``. Rows
    of classes without probabilities become the cells of the confusion matrix. Other rows stay as they are.
    """
    if isinstance(rows, ClassRows) and rows.probabilities is None:
        groups = Groups.by(rows.codes, rows.picked)
        cells: Any = ClassRows(rows.codes[groups.first], rows.levels, rows.picked[groups.first])
    elif isinstance(rows, Rows):
        groups, cells = _of_event(rows, sizes, edges, exact=exact)
    else:
        return View(rows, unit, np.arange(len(unit)), factor)
    return View(cells, unit[groups.order], groups.starts, None if factor is None else factor[groups.order])


def _of_event(rows: Rows, sizes: Floats | None, edges: Floats | None, *, exact: bool) -> tuple[Groups, Rows]:
    predicted = np.zeros(len(rows.truth), bool) if rows.predicted is None else rows.predicted
    if not rows.ranked:
        groups = Groups.by(rows.truth, predicted)
        return groups, rows.taken(groups.first)
    if exact or len(rows.starts) <= EXACT:
        scores: Floats | Whole = rows.scored
        score = rows.scored
    else:
        always = [*([EDGES] if rows.probability is not None else []), *([] if edges is None else [edges])]
        scores = cut(rows.scored, CELLS, np.concatenate(always) if always else None)
        score = means(rows.scored, scores, sizes)[scores]
    groups = Groups.by(scores, rows.truth, predicted)
    chances = None
    if rows.probability is not None:
        number = np.empty(len(scores), np.intp)
        number[groups.order] = np.repeat(np.arange(len(groups.starts)), np.diff(groups.starts, append=len(scores)))
        chances = means(rows.probability, number, sizes)
    first = groups.first
    return groups, Rows(
        rows.truth[first], None if rows.predicted is None else predicted[first], chances, score[first]
    )
