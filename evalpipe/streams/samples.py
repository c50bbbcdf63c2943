"""The samples that merged tables stand for: cells are rows whose frequency weights count the observations in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import logit
from evalpipe.data.sample import ClusterCounts, Predictions, Sample, SlicedRows
from evalpipe.plan.drawing import GROUPS
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.statistics.grid import UNITS
from evalpipe.statistics.grid import chances as chances_of
from evalpipe.statistics.rows import present
from evalpipe.statistics.summary import statistics
from evalpipe.streams.tables import clusters_of, same_single

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.plan.models import ModelPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.tables import CellCounts, Labels, RowGroup, Tables

SMALLEST = np.finfo(float).tiny
"""Log odds are of probabilities no nearer to 0 or 1 than this."""

AllLabels = tuple[tuple["Labels", ...], ...]


@dataclass(frozen=True)
class _CellMeans:
    """The mean probability of a model in each cell of the grid: of all rows, [cells], and of events and others."""

    plan: ModelPlan
    tables: Tables

    @cached_property
    def counts(self) -> Floats:
        """Observations in each cell: events, then others, [2, cells]."""
        counts = np.zeros((2, self.tables.asked.grid.size))
        for group, cells in self.tables.counts[0, self.plan.name].items():
            counts[0 if group.event else 1, cells.cells] += cells.counts
        return counts

    @cached_property
    def distances(self) -> Floats:
        """How far probabilities are from the nearer of 0 and 1, in total: events, then others, [2, cells]."""
        nearest, width = self.tables.asked.grid.spans
        return self.counts * nearest + width * (self.tables.fractions[self.plan.name].reshape(2, -1) / UNITS)

    @cached_property
    def upper(self) -> int:
        """The number of the first cell of probabilities from one half on."""
        return int(self.tables.asked.grid.of_probabilities(np.array([0.5]))[0])

    @cached_property
    def singles(self) -> Floats:
        """What ranks the events, the others and all rows of a cell where these have the same, else NaN: [3, cells]."""
        events, others = self.tables.singles[self.plan.name].reshape(2, -1)
        singles = np.stack([events, others, same_single(events, others)])
        return np.where(np.isinf(singles), np.nan, singles)

    @cached_property
    def ends(self) -> Floats:
        """The least and the largest probability that events and others of a cell may have, [2, cells, 2]."""
        singles, chances = self.singles[:2], self._chances(self.singles[:2])
        # Scores that differ may round to one probability: then nothing is known of their order.
        unlike = np.isnan(singles) | ((chances[0] == chances[1]) & (singles[0] != singles[1]))
        low, high = self.tables.asked.grid.ends.T
        ends = np.stack([np.minimum(low, np.nextafter(high, 0)), high], axis=1)
        return np.where(unlike[..., None], ends, chances[..., None])

    def of_cells(self, *, joint: bool) -> tuple[Floats, Floats]:
        """Return the mean probabilities of events, of others and of both, [3, cells], and the score of each cell.

        With ``joint`` those of joint cells. A mean never leaves its cell, so that it is in the bin of its rows.
        """
        counts, totals = self.counts, self.distances
        signs = np.where(np.arange(counts.shape[1]) >= self.upper, -1.0, 1.0)
        low, high = self.tables.asked.grid.ends.T
        if joint:
            places, several = self.tables.asked.joint
            firsts = np.searchsorted(places, np.arange(several))
            counts, totals = (np.add.reduceat(values, firsts, axis=1) for values in (counts, totals))
            signs, low, high = signs[firsts], low[firsts], high[np.append(firsts[1:], len(high)) - 1]
        counts, totals = (np.concatenate([values, values.sum(axis=0)[None]]) for values in (counts, totals))
        distance = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
        chances = np.clip(np.where(signs > 0, distance, 1 - distance), low, high)
        scores = chances[2]
        if self.plan.scale is not None:
            scores = np.asarray(signs * logit(np.maximum(distance[2], SMALLEST)))
        if joint:
            return chances, scores
        single = ~np.isnan(self.singles)
        return (np.where(single, self._chances(self.singles), chances),
                np.where(single[2], self.singles[2], scores))

    def _chances(self, ranked: Floats) -> Floats:
        """Return the probabilities of what ranks rows."""
        return ranked if self.plan.scale is None else chances_of(ranked)


def _coarse_kind(group: RowGroup, *, joint: bool) -> tuple[Labels | None, bool, object]:
    """Return what tells the coarse cells of clusters apart: of joint cells slice and truth alone."""
    return group.labels, group.event, None if joint else group.picked


class Samples:
    """The samples of one dataset's tables."""

    def __init__(self, plan: Plan, tables: Tables, whole: Sample, labels: AllLabels) -> None:
        """``whole`` is the dataset without rows, ``labels`` those of the slices of each slicing."""
        self.plan, self.tables, self.whole, self.labels = plan, tables, whole, labels
        self.means = {name: _CellMeans(plan.models[name], tables) for name in tables.asked.models}

    def sample(self) -> Sample:
        """Return the joint cells of all rows, with the cells of each model and of each slicing as parts."""
        names = list(self.plan.models)
        wanted: list[tuple[str | None, int | None]] = [
            (name, slicing) for name in (*names, None) for slicing in (None, *range(len(self.labels)))]
        parts = {(name, slicing): self._part(name, slicing) for name, slicing in wanted}
        cells = max((int((means.counts.sum(axis=0) > 0).sum()) for means in self.means.values()), default=1)
        summary = self.whole.summary.model_copy(update={"cells": cells})
        return replace(parts[None, None], summary=summary, parts=MappingProxyType(parts))

    def _part(self, name: str | None, slicing: int | None) -> Sample:
        """Return the cells of a model, or the joint cells of all, in all rows, or with the slices of one slicing."""
        models = list(self.plan.models) if name is None else [name]
        joint = name is None and len(models) > 1
        groups = self.tables.counts[slicing or 0, "" if joint else models[0]]
        order: dict[Labels | None, int] = {None: -1}
        if slicing is not None and self.labels:
            order |= {labels: number for number, labels in enumerate(self.labels[slicing])}
        rows = _CellRows(groups if slicing is not None else _without_slices(groups), order)
        predictions = {
            model: self._predictions(model, rows, place, joint=joint) for place, model in enumerate(models)}
        if not joint:
            predictions = {models[0]: self._exactly(models[0], slicing, rows, predictions[models[0]])}
        return replace(
            self.whole, truth=rows.event, weight=rows.counts.astype(float), weight_kind="frequency",
            models=MappingProxyType(predictions), slicings=self._slicings(slicing, rows),
            by_cluster=self._by_cluster(models[0], slicing, rows, joint=joint))

    def _by_cluster(self, name: str, slicing: int | None, rows: _CellRows, *, joint: bool) -> ClusterCounts | None:
        """Return how clusters spread over the cells of a model, or by truth and slice alone over joint ones."""
        groups = self.tables.clusters.get((slicing or 0, name))
        if groups is None:
            return None
        coarse, several = self.tables.asked.coarse
        if joint or name not in self.means:
            coarse, several = np.zeros(max(len(coarse), int(rows.cells.max()) + 1), np.intp), 1
        kinds = {_coarse_kind(group, joint=joint): number for group, number in rows.groups.items()}
        kind = np.array([kinds[_coarse_kind(group, joint=joint)] for group in rows.groups])
        place, row = np.unique(kind[rows.group] * several + coarse[rows.cells], return_inverse=True)
        cells, clusters, counts = [], [], []
        for group, counted in groups.items():
            cell, cluster = np.divmod(counted.cells, GROUPS)
            number = kinds[_coarse_kind(group if slicing is not None else group._replace(labels=None), joint=joint)]
            cells.append(np.searchsorted(place, number * several + (np.zeros_like(cell) if joint else cell)))
            clusters.append(np.searchsorted(self._units, cluster))
            counts.append(counted.counts)
        pairs, of_pair = np.unique(
            np.concatenate(cells) * len(self._units) + np.concatenate(clusters), return_inverse=True)
        total = np.bincount(of_pair, np.concatenate(counts))
        return ClusterCounts(row, rows.counts.astype(float), *np.divmod(pairs, len(self._units)), total,
                             len(self._units), clusters_of(present(self.tables.keys, "clusters")))

    @cached_property
    def _units(self) -> Wholes:
        """The numbers that clusters, or random groups of them, are counted under."""
        counted = [cells.cells for cells in self.tables.clusters[0, next(iter(self.plan.models))].values()]
        return np.unique(np.concatenate(counted) % GROUPS)

    def _slicings(self, slicing: int | None, rows: _CellRows) -> tuple[SlicedRows, ...]:
        """Return all slicings; rows are in the slices of this one alone."""
        nowhere = np.full(len(rows.event), -1, np.intp)
        return tuple(
            SlicedRows(planned.title, tuple(dict(names) for names in self.labels[number]),
                       rows.slices if number == slicing else nowhere)
            for number, planned in enumerate(self.plan.slices.slicings) if self.labels)

    def _predictions(self, name: str, rows: _CellRows, place: int, *, joint: bool) -> Predictions:
        model = self.plan.models[name]
        predicted, reportable = rows.picked(place)
        predictions = Predictions(predicted=predicted, reportable=reportable, zone=model.zone,
                                  log_odds=model.scale is not None)
        if name not in self.means:
            return predictions
        chances, scores = self.means[name].of_cells(joint=joint)
        scored = list(self.tables.asked.models)
        cells = rows.cells
        if joint:
            several = self.tables.asked.joint[1]
            cells = rows.cells // several ** (len(scored) - 1 - scored.index(name)) % several
        kinds = np.where(rows.event, 0, 1)
        predictions = replace(
            predictions, score=scores[cells], probability=chances[kinds, cells], stated=chances[2, cells])
        if not joint:
            predictions = replace(predictions, ends=self.means[name].ends[kinds, cells])
        written = model.threshold.number
        return predictions if written is None else replace(
            predictions, threshold=written, cut=predictions.cut_at(written))

    def _exactly(self, name: str, slicing: int | None, rows: _CellRows, predictions: Predictions) -> Predictions:
        """Return predictions with what the totals of groups are above those of their cells at mean probabilities."""
        if name not in self.means:
            return predictions
        sums = np.bincount(rows.group, rows.counts, len(rows.groups))
        plain = Rows(rows.event, predictions.predicted, predictions.probability, predictions.score,
                     predictions.reportable, predictions.stated)
        remainders = {}
        for option in self.tables.asked.totals:
            values = np.asarray(statistics[option[0]].function(plain, **dict(option[1])), float)
            totals = self.tables.totals[slicing or 0, name, option]
            summed = [ExactSums(1) for _ in rows.groups]
            for group, total in totals.items():
                key = group if slicing is not None else group._replace(labels=None)
                summed[rows.groups[key]].merge(total)
            exact = np.concatenate([sums_of_group.totals for sums_of_group in summed])
            remainders[option] = (exact - np.bincount(rows.group, rows.counts * values, len(rows.groups))) / sums
        return replace(predictions, group=rows.group, remainders=MappingProxyType(remainders))


class _CellRows:
    """The cells of groups as rows, in ascending order of cell, then of group."""

    def __init__(self, groups: Mapping[RowGroup, CellCounts], order: Mapping[Labels | None, int]) -> None:
        ordered = sorted(groups, key=lambda group: (order[group.labels], not group.event, str(group.picked)))
        self.groups = {group: number for number, group in enumerate(ordered)}
        sizes = [len(groups[group].cells) for group in ordered]
        cells = np.concatenate([groups[group].cells for group in ordered])
        number = np.repeat(np.arange(len(ordered)), sizes)
        by_cell = np.lexsort((number, cells))
        self.cells, self.group = cells[by_cell].astype(np.intp), number[by_cell]
        self.counts = np.concatenate([groups[group].counts for group in ordered])[by_cell]
        self.event = np.array([group.event for group in ordered])[self.group]
        self.slices = np.array([order[group.labels] for group in ordered], np.intp)[self.group]
        self._ordered: Sequence[RowGroup] = ordered

    def picked(self, place: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return whether each row is predicted as the event by a model, and whether it has a class; None for all."""
        states = [group.picked[place] for group in self._ordered]
        if any(state is None for state in states):
            return None, None
        predicted = np.array([state[0] for state in states if state is not None])[self.group]
        reportable = np.array([state[1] for state in states if state is not None])[self.group]
        return predicted, None if reportable.all() else reportable


def _without_slices(groups: Mapping[RowGroup, CellCounts]) -> dict[RowGroup, CellCounts]:
    """Return the cells of groups whatever slice they are of."""
    merged: dict[RowGroup, CellCounts] = {}
    for group, cells in groups.items():
        key = group._replace(labels=None)
        merged[key] = merged[key].merged(cells) if key in merged else cells
    return merged
