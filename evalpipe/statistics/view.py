"""A view: the rows of one model in one part of a dataset, grouped so that replicates are summed up quickly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.grid import EDGES, cut, means
from evalpipe.statistics.rows import ClassRows, Groups, Rows, present, totals_of_runs, values_at
from evalpipe.statistics.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csc_array

    from evalpipe.base.arraytypes import Floats, Values, Wholes
    from evalpipe.statistics.number_rows import NumberRows
    from evalpipe.statistics.summary import Key

EXACT = 4096
"""The most scores that are kept apart in replicates; of more, about `CELLS` groups of neighbours are ties."""

CELLS = 512

GATHERED = 4
"""Rows in a cell, on average, above which all replicates are totalled at once."""

SINGLE = 2**24
"""Observations up to which single precision counts without rounding."""


@dataclass(frozen=True)
class Draws:
    """How often each unit is drawn in each of some replicates: ``counts`` [b, units]."""

    counts: Wholes

    @cached_property
    def columns(self) -> Values:
        """The counts as floats [units, b], in single precision where that is exact; made once for all views."""
        kind = np.float32 if self.counts.sum(axis=-1).max(initial=0) < SINGLE else np.float64
        # Units first: the sparse product then reads a unit's counts in all replicates one after another.
        return np.ascontiguousarray(self.counts.T.astype(kind))


@dataclass(frozen=True)
class View:
    """Cells of rows that are alike to every statistic, and how a draw of units becomes the weights of the cells.

    ``rows`` has a row for each cell. ``unit`` [n] is the unit that each of the dataset's rows is drawn with, in the
    order of the cells; ``starts`` [cells] is where each cell begins there; ``factor`` [n] is what a row weighs when it
    is drawn once, None for 1.
    """

    rows: Any  # one of the three kinds of rows, as whoever made the view knows
    unit: Wholes
    starts: Wholes
    factor: Floats | None
    _columns: dict[Key, Values] = field(default_factory=dict, repr=False, compare=False)

    def summary(self, weights: Values) -> Summary:
        """Return the statistics of the cells under ``weights`` [..., cells]."""
        return Summary(self.rows, weights, columns=self._columns)

    def weights(self, counts: Wholes) -> Floats:
        """Return the weight of each cell [b, cells] when the units are drawn ``counts`` [b, units] times."""
        rows = np.take(counts, self.unit, axis=-1)
        if self.factor is not None:
            return totals_of_runs(rows * self.factor, self.starts)
        totals = totals_of_runs(rows, self.starts)
        # Statistics would overflow the small integers of counts; half of the usual size is summed in less time.
        return totals.astype(np.int32) if totals.dtype.itemsize < np.dtype(np.int32).itemsize else totals

    def dealt(self, drawn_units: Wholes, fold_of_drawn: Wholes, folds: int, units: int) -> Wholes:
        """Return the weight of each cell in each fold, [folds, cells], from the unit and the fold of each observation.

        Each of the ``units`` is at most one row of the view, of weight 1.
        """
        cells = len(self.starts)
        cell_of_unit = np.full(units, -1)
        cell_of_unit[self.unit] = np.repeat(np.arange(cells), np.diff(self.starts, append=len(self.unit)))
        cell_of_drawn = cell_of_unit[drawn_units]
        is_inside = cell_of_drawn >= 0
        cell_in_fold = fold_of_drawn[is_inside] * cells + cell_of_drawn[is_inside]
        return np.bincount(cell_in_fold, minlength=folds * cells).reshape(folds, cells)


@dataclass(frozen=True)
class Stack:
    """Views that share no rows, such as the slices of one slicing, whose weights are computed together."""

    views: tuple[View, ...]
    _matrices: dict[type[np.floating], csc_array] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def totals_at_once(self) -> bool:
        """Whether a cell holds so many rows that all replicates are totalled at once."""
        cells, rows = sum(len(view.starts) for view in self.views), sum(len(view.unit) for view in self.views)
        return GATHERED * cells < rows

    def weights(self, draws: Draws, most: int) -> Iterator[tuple[int, slice, Values]]:
        """Yield the weights of cells view by view: the view's index, a slice of replicates, and weights [b, cells].

        A batch of replicates has about ``most`` weights. Where a cell holds many rows, all replicates are totalled at
        once, reading the counts in their order, which takes a fraction of the time.
        """
        totals = self._totals(draws) if self.totals_at_once else None
        end = 0
        for view_index, view in enumerate(self.views):
            begin, end = end, end + len(view.starts)
            weights: Values | None = None
            if totals is not None:
                weights = np.ascontiguousarray(totals[begin:end].T)
                weights = weights.astype(np.intp) if view.factor is None else weights
            step = max(1, most // len(view.starts))
            for first in range(0, len(draws.counts), step):
                batch = slice(first, first + step)
                yield view_index, batch, view.weights(draws.counts[batch]) if weights is None else weights[batch]

    def _totals(self, draws: Draws) -> Floats:
        """Return the weight [cells, b] of the cells of all views, view after view, in each of b replicates."""
        weighted = any(view.factor is not None for view in self.views)
        columns = draws.columns.astype(float) if weighted else draws.columns
        dtype = columns.dtype.type
        if dtype not in self._matrices:
            from scipy.sparse import csr_array

            # The product of this sparse matrix [cells, units], stored by units, with counts is the cells' weight.
            unit = np.concatenate([view.unit for view in self.views])
            factors = [np.ones(len(view.unit)) if view.factor is None else view.factor for view in self.views]
            ends = np.cumsum(np.concatenate([np.diff(view.starts, append=len(view.unit)) for view in self.views]))
            factor = np.concatenate(factors).astype(dtype)
            by_cell = csr_array((factor, unit, np.append(0, ends)), shape=(len(ends), len(columns)))
            self._matrices[dtype] = by_cell.tocsc()
        return np.asarray(self._matrices[dtype] @ columns)


def view(
    rows: Rows | ClassRows | NumberRows, unit: Wholes, factor: Floats | None = None, sizes: Floats | None = None,
    edges: Floats | None = None, *, exact: bool = False, ends: Floats = EDGES,
) -> View:
    """Return a view whose cells are rows that are alike, from the ``unit`` and the ``factor`` of each row [n].

    Rows of an event with equal score, truth, its source and predicted class, or lack of one, become one cell. Where
    there are more than `EXACT` scores, unless ``exact``, scores of one cell of a grid are tied at their mean, while
    probabilities are the mean of the cell's events and of its non-events, each row counting ``sizes`` [n]. Cells also
    end at the probabilities ``ends`` and the scores ``edges``. Rows of classes without probabilities become the cells
    of the confusion matrix. Of other rows each is a cell.
    """
    if isinstance(rows, ClassRows) and rows.probabilities is None and rows.reportable is None and rows.source is None:
        groups = Groups.by(rows.codes, rows.predicted_codes)
        cells: Rows | ClassRows = ClassRows(rows.codes[groups.first], rows.levels, rows.predicted_codes[groups.first])
    elif isinstance(rows, Rows):
        groups, cells = _cells_of_event(rows, sizes, edges, exact=exact, ends=ends)
    else:
        return View(rows, unit, np.arange(len(unit)), factor)
    return View(cells, unit[groups.order], groups.starts, None if factor is None else factor[groups.order])


def _cells_of_event(
    rows: Rows, sizes: Floats | None, edges: Floats | None, *, exact: bool, ends: Floats
) -> tuple[Groups, Rows]:
    """Return the rows of an event grouped in cells, and `Rows` with a row for each cell.

    Rows of a cell have the same truth and predicted class, and the same score or, of many scores, neighbouring ones.
    """
    predicted = np.zeros(len(rows.truth), bool) if rows.predicted is None else rows.predicted
    if not rows.ranked:
        # There is no equivocal zone.
        groups = Groups.by(rows.truth, predicted, *([] if rows.source is None else [rows.source]))
        return groups, rows.at(groups.first)
    probability_at_score = rows.probability if rows.stated is None else rows.stated
    score = rows.scored
    score_or_cell: Floats | Wholes = score  # rows that differ in it are not joined
    if not (exact or len(rows.starts) <= EXACT):
        probability_cuts = [] if rows.probability is None else [(present(probability_at_score, "probabilities"), ends)]
        score_cuts = [] if edges is None else [(rows.scored, edges)]
        score_or_cell = cell_of_score = cut(rows.scored, CELLS, *probability_cuts, *score_cuts)
        score = means(rows.scored, cell_of_score, sizes)[cell_of_score]
        if probability_at_score is not None:
            probability_at_score = means(probability_at_score, cell_of_score, sizes)[cell_of_score]
    ranks = rows.ranks
    if ranks is not None and not (exact or len(np.unique(ranks)) <= EXACT):
        ranks = means(ranks, cell_of_rank := cut(ranks, CELLS), sizes)[cell_of_rank]
    keys = [score_or_cell, rows.truth, predicted,
            *(values for values in (rows.reportable, ranks) if values is not None)]
    groups = alike = Groups.by(*keys)
    if rows.source is not None:  # cells of one score have one probability, whosever label their truth is
        groups = Groups.by(*keys, rows.source)
    mean_probability = None
    if rows.probability is not None:
        n = len(score)
        cell_of_row = np.empty(n, np.intp)
        cell_of_row[alike.order] = np.repeat(np.arange(len(alike.starts)), np.diff(alike.starts, append=n))
        mean_probability = means(rows.probability, cell_of_row, sizes)[cell_of_row[groups.first]]
    first_rows = groups.first
    return groups, Rows(
        rows.truth[first_rows], None if rows.predicted is None else predicted[first_rows], mean_probability,
        score[first_rows], values_at(rows.reportable, first_rows), values_at(probability_at_score, first_rows),
        trained_on=rows.trained_on, ranks=values_at(ranks, first_rows), source=values_at(rows.source, first_rows),
    )
