"""The samples that merged tables stand for: cells are rows whose frequency weights count the observations in them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import logit
from evalpipe.data.sample import ClusterCounts, Predictions, Sample, SlicedRows
from evalpipe.plan.plan import GROUPS
from evalpipe.statistics import Rows
from evalpipe.statistics.exact_sums import ExactSums
from evalpipe.statistics.grid import UNITS
from evalpipe.statistics.grid import probabilities_of_log_odds as chances_of
from evalpipe.statistics.rows import present
from evalpipe.statistics.summary import statistics
from evalpipe.streams.tables import CellCounts, cluster_count, merged_scores, merged_shared_scores, scores_of_codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.plan.plan import ModelPlan, Plan
    from evalpipe.streams.tables import Labels, RowGroup, Tables

SMALLEST = np.finfo(float).tiny
"""Log odds are of probabilities no nearer to 0 or 1 than this."""

AllLabels = tuple[tuple["Labels", ...], ...]


@dataclass(frozen=True)
class _CellMeans:
    """The mean probabilities and scores of a model's rows in each cell of the grid: of events, others and both."""

    plan: ModelPlan
    tables: Tables

    @cached_property
    def counts(self) -> Floats:
        """Observations in each cell: events, then others, [2, cells]."""
        counts = np.zeros((2, self.tables.layout.grid.size))
        for group, cells in self.tables.counts[0, self.plan.name].items():
            counts[0 if group.event else 1, cells.cells] += cells.counts
        return counts

    @cached_property
    def distances(self) -> Floats:
        """The summed distances of probabilities from the nearer of 0 and 1: of events, then others, [2, cells]."""
        nearest, width = self.tables.layout.grid.spans
        return self.counts * nearest + width * (self.tables.fractions[self.plan.name].reshape(2, -1) / UNITS)

    @cached_property
    def first_upper_cell(self) -> int:
        """The number of the first cell of probabilities from one half on, whose distances are from 1 and not from 0."""
        return int(self.tables.layout.grid.of_probabilities(np.array([0.5]))[0])

    @cached_property
    def shared_scores(self) -> Floats:
        """The score that all events, all others and all rows of a cell share, else NaN: [3, cells]."""
        events, others = self.tables.shared_scores[self.plan.name].reshape(2, -1)
        scores = np.stack([events, others, merged_shared_scores(events, others)])
        return np.where(np.isinf(scores), np.nan, scores)

    @cached_property
    def ends(self) -> Floats:
        """The least and the largest possible probability of events, then others, of each cell, [2, cells, 2]."""
        scores = self.shared_scores[:2]
        probabilities = self._probabilities(scores)
        # Scores that differ may round to one probability: then nothing is known of their order.
        is_open = np.isnan(scores) | ((probabilities[0] == probabilities[1]) & (scores[0] != scores[1]))
        low, high = self.tables.layout.grid.ends.T
        ends = np.stack([np.minimum(low, np.nextafter(high, 0)), high], axis=1)
        return np.where(is_open[..., None], ends, probabilities[..., None])

    def mean_values(self, *, joint: bool) -> tuple[Floats, Floats]:
        """Return mean probabilities of events, of others and of both, [3, cells], and the score of each cell, [cells].

        With ``joint`` the cells are joint ones. A mean is kept within its cell, so that it is in the bin of its rows.
        """
        counts, totals = self.counts, self.distances
        signs = np.where(np.arange(counts.shape[1]) >= self.first_upper_cell, -1.0, 1.0)
        low, high = self.tables.layout.grid.ends.T
        if joint:
            joint_cells, joint_count = self.tables.layout.joint
            first_cells = np.searchsorted(joint_cells, np.arange(joint_count))
            counts, totals = (np.add.reduceat(values, first_cells, axis=1) for values in (counts, totals))
            signs, low, high = signs[first_cells], low[first_cells], high[np.append(first_cells[1:], len(high)) - 1]
        counts, totals = (np.concatenate([values, values.sum(axis=0)[None]]) for values in (counts, totals))
        distance = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
        # Distances, not probabilities, have been totalled, which keeps the digits of those next to 1.
        probabilities = np.clip(np.where(signs > 0, distance, 1 - distance), low, high)
        scores = probabilities[2]
        if self.plan.scale is not None:
            scores = np.asarray(signs * logit(np.maximum(distance[2], SMALLEST)))
        if joint:
            return probabilities, scores
        has_one_score = ~np.isnan(self.shared_scores)
        return (np.where(has_one_score, self._probabilities(self.shared_scores), probabilities),
                np.where(has_one_score[2], self.shared_scores[2], scores))

    def _probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of scores, which are log odds where the model has a scale."""
        return scores if self.plan.scale is None else chances_of(scores)


def _cluster_count_key(group: RowGroup, *, joint: bool) -> tuple[Labels | None, bool, object]:
    """Return the key under which clusters of a group are counted: its slice labels, true event and predicted classes.

    Where models share ``joint`` cells, predicted classes differ within a cell, so they are left out of the key.
    """
    return group.labels, group.event, None if joint else group.states


class Samples:
    """Makes a sample of weighted cells from the merged tables of one dataset."""

    def __init__(self, plan: Plan, tables: Tables, empty: Sample, labels: AllLabels) -> None:
        """Keep the tables; ``empty`` is the dataset's sample without rows, ``labels`` name each slicing's slices."""
        self.plan, self.tables, self.empty, self.labels = plan, tables, empty, labels
        self.means = {name: _CellMeans(plan.models[name], tables) for name in tables.layout.models}

    def sample(self) -> Sample:
        """Return the sample of the joint cells of all models, with samples for each model and slicing as its parts."""
        names = list(self.plan.models)
        keys: list[tuple[str | None, int | None]] = [
            (name, slicing) for name in (*names, None) for slicing in (None, *range(len(self.labels)))]
        parts = {(name, slicing): self._part(name, slicing) for name, slicing in keys}
        cells = max((int((means.counts.sum(axis=0) > 0).sum()) for means in self.means.values()), default=1)
        scored: dict[tuple[str | None, int | None], Sample] = {
            (name, slicing): rows for name in names for slicing, rows in self._scored(name)}
        summary = self.empty.summary.model_copy(update={"cells": cells, "all_scores": bool(scored) or None})
        return replace(parts[None, None], summary=summary, parts=MappingProxyType(parts),
                       scored=MappingProxyType(scored))

    def _scored(self, name: str) -> Iterator[tuple[int | None, Sample]]:
        """Yield samples with a row for every score of a model, in each slicing and in none; nothing without scores.

        Scores are counted by the slices of a slicing, so that rows of one score are apart where their slices are.
        """
        for slicing in range(max(1, len(self.labels))):
            groups, model = self.tables.scores.pop((slicing, name), None), self.plan.models[name]
            if groups is None:
                continue
            slice_numbers: dict[Labels | None, int] = {None: -1}
            slice_numbers |= {labels: number for labels_of in self.labels[slicing : slicing + 1]
                              for number, labels in enumerate(labels_of)}
            rows = _CellRows({group: merged_scores(parts) for group, parts in groups.items()}, slice_numbers)
            predicted, reportable = rows.classes(0)
            score = scores_of_codes(rows.cells)
            predictions = Predictions(
                predicted=predicted, reportable=reportable, zone=model.zone, log_odds=model.scale is not None,
                score=score, probability=score if model.scale is None else chances_of(score))
            sample = replace(
                self.empty, truth=rows.event, weight=rows.counts.astype(float), weight_kind="frequency",
                models=MappingProxyType({name: predictions}), slicings=self._slicings(slicing, rows))
            yield slicing, sample
            if slicing == 0:
                yield None, sample

    def _part(self, name: str | None, slicing: int | None) -> Sample:
        """Return a sample of a model's cells, or of the joint cells of all models where ``name`` is None.

        ``slicing`` is the number of the slicing whose slices part the cells; None for none.
        """
        models = list(self.plan.models) if name is None else [name]
        joint = name is None and len(models) > 1
        # Without a slicing, those of the first one are merged: it has all rows, as every slicing has.
        groups = self.tables.counts[slicing or 0, "" if joint else models[0]]
        slice_numbers: dict[Labels | None, int] = {None: -1}
        if slicing is not None and self.labels:
            slice_numbers |= {labels: number for number, labels in enumerate(self.labels[slicing])}
        rows = _CellRows(groups if slicing is not None else _without_slices(groups), slice_numbers)
        predictions = {
            model: self._predictions(model, rows, model_index, joint=joint) for model_index, model in enumerate(models)}
        if not joint:
            predictions = {models[0]: self._add_remainders(models[0], slicing, rows, predictions[models[0]])}
        return replace(
            self.empty, truth=rows.event, weight=rows.counts.astype(float), weight_kind="frequency",
            models=MappingProxyType(predictions), slicings=self._slicings(slicing, rows),
            by_cluster=self._by_cluster(models[0], slicing, rows, joint=joint))

    def _by_cluster(self, name: str, slicing: int | None, rows: _CellRows, *, joint: bool) -> ClusterCounts | None:
        """Return the counts of clusters in a model's cells, with ``joint`` by truth and slice alone; None without any.

        A coarse cell is numbered by its kind (slice, truth and class) and its place in the coarse grid.
        """
        groups = self.tables.clusters.get((slicing or 0, name))
        if groups is None:
            return None
        coarse, coarse_count = self.tables.layout.coarse
        if joint or name not in self.means:  # one coarse cell for each kind
            coarse, coarse_count = np.zeros(max(len(coarse), int(rows.cells.max()) + 1), np.intp), 1
        kind_numbers = {_cluster_count_key(group, joint=joint): number for group, number in rows.groups.items()}
        kind_of_group = np.array([kind_numbers[_cluster_count_key(group, joint=joint)] for group in rows.groups])
        coarse_cell_of_row = kind_of_group[rows.group] * coarse_count + coarse[rows.cells]
        # Only coarse cells with rows are kept, numbered anew.
        counted_cells, cell_of_row = np.unique(coarse_cell_of_row, return_inverse=True)
        count_cells, count_clusters, counts = [], [], []
        for group, cluster_cells in groups.items():
            cell, cluster = np.divmod(cluster_cells.cells, GROUPS)
            key = group if slicing is not None else group._replace(labels=None)
            first_number = kind_numbers[_cluster_count_key(key, joint=joint)] * coarse_count
            count_cells.append(np.searchsorted(counted_cells, first_number + (np.zeros_like(cell) if joint else cell)))
            count_clusters.append(np.searchsorted(self._clusters, cluster))
            counts.append(cluster_cells.counts)
        pairs, pair_of_count = np.unique(
            np.concatenate(count_cells) * len(self._clusters) + np.concatenate(count_clusters), return_inverse=True)
        observations = np.bincount(pair_of_count, np.concatenate(counts))
        cell_of_pair, cluster_of_pair = np.divmod(pairs, len(self._clusters))
        return ClusterCounts(cell_of_row, rows.counts.astype(float), cell_of_pair, cluster_of_pair, observations,
                             len(self._clusters), cluster_count(present(self.tables.keys, "clusters")))

    @cached_property
    def _clusters(self) -> Wholes:
        """The numbers of the clusters, or random groups of clusters, that have rows: ascending [clusters]."""
        counted = [cells.cells for cells in self.tables.clusters[0, next(iter(self.plan.models))].values()]
        return np.unique(np.concatenate(counted) % GROUPS)

    def _slicings(self, slicing: int | None, rows: _CellRows) -> tuple[SlicedRows, ...]:
        """Return the slice of each row in each slicing of the plan; -1, no slice, in all but the one at ``slicing``.

        Rows here are cells that were counted by the slices of one slicing, so that theirs in others are not known.
        """
        nowhere = np.full(len(rows.event), -1, np.intp)
        return tuple(
            SlicedRows(slicing_plan.title, tuple(dict(slice_labels) for slice_labels in self.labels[number]),
                       rows.slices if number == slicing else nowhere)
            for number, slicing_plan in enumerate(self.plan.slices.slicings) if self.labels)

    def _predictions(self, name: str, rows: _CellRows, model_index: int, *, joint: bool) -> Predictions:
        """Return a model's class, score and mean probability for each of ``rows`` [n], which are counted cells.

        With ``joint`` the rows are joint cells; ``model_index`` is the model's position in ``RowGroup.states``.
        """
        model = self.plan.models[name]
        predicted, reportable = rows.classes(model_index)
        predictions = Predictions(predicted=predicted, reportable=reportable, zone=model.zone,
                                  log_odds=model.scale is not None)
        if name not in self.means:
            return predictions
        probabilities, scores = self.means[name].mean_values(joint=joint)
        scored = list(self.tables.layout.models)
        cells = rows.cells
        if joint:
            # The number of a joint cell has one digit for each model with scores, in base ``cells_per_model``.
            cells_per_model = self.tables.layout.joint[1]
            cells = rows.cells // cells_per_model ** (len(scored) - 1 - scored.index(name)) % cells_per_model
        truth_row = np.where(rows.event, 0, 1)  # probabilities [3, cells] are of events, of others, of both
        predictions = replace(
            predictions, score=scores[cells], probability=probabilities[truth_row, cells],
            stated=probabilities[2, cells])
        if not joint:
            predictions = replace(predictions, ends=self.means[name].ends[truth_row, cells])
        threshold = model.threshold.number
        return predictions if threshold is None else replace(
            predictions, threshold=threshold, cut=predictions.score_cutoff(threshold))

    def _add_remainders(self, name: str, slicing: int | None, rows: _CellRows, predictions: Predictions) -> Predictions:
        """Add to predictions how far each group's exact totals are above those at the mean probabilities of its cells.

        With these remainders, by statistic and per observation, [groups], totals over cells are those over rows.
        """
        if name not in self.means:
            return predictions
        observations = np.bincount(rows.group, rows.counts, len(rows.groups))
        cell_values = Rows(rows.event, predictions.predicted, predictions.probability, predictions.score,
                           predictions.reportable, predictions.stated)
        remainders = {}
        for option in self.tables.layout.totals:
            values = np.asarray(statistics[option[0]].function(cell_values, **dict(option[1])), float)
            totals = self.tables.totals[slicing or 0, name, option]
            summed = [ExactSums(1) for _ in rows.groups]
            for group, total in totals.items():
                key = group if slicing is not None else group._replace(labels=None)
                summed[rows.groups[key]].merge(total)
            exact = np.concatenate([sums_of_group.totals for sums_of_group in summed])
            of_means = np.bincount(rows.group, rows.counts * values, len(rows.groups))
            remainders[option] = (exact - of_means) / observations
        return replace(predictions, group=rows.group, remainders=MappingProxyType(remainders))


class _CellRows:
    """The cells of groups as rows, in ascending order of cell, then of group."""

    def __init__(self, groups: Mapping[RowGroup, CellCounts], slice_numbers: Mapping[Labels | None, int]) -> None:
        """Make a row of each cell of each group; ``slice_numbers`` gives the number of each slice by its labels."""
        ordered = sorted(groups, key=lambda group: (slice_numbers[group.labels], not group.event, str(group.states)))
        self.groups = {group: number for number, group in enumerate(ordered)}
        sizes = [len(groups[group].cells) for group in ordered]
        cells = np.concatenate([groups[group].cells for group in ordered])
        group_of_cell = np.repeat(np.arange(len(ordered)), sizes)
        by_cell = np.argsort(cells, kind="stable")  # groups stand in order, and the cells of each ascend
        self.cells, self.group = cells[by_cell].astype(np.intp), group_of_cell[by_cell]
        self.counts = np.concatenate([groups[group].counts for group in ordered])[by_cell]
        self.event = np.array([group.event for group in ordered])[self.group]
        self.slices = np.array([slice_numbers[group.labels] for group in ordered], np.intp)[self.group]
        self._ordered: Sequence[RowGroup] = ordered

    def classes(self, model_index: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return whether a model predicts each row as the event, and whether the row has a class, both [n] or None.

        Both are None where the model makes no classes, the latter where all rows have one.
        """
        states = [group.states[model_index] for group in self._ordered]
        if any(state is None for state in states):
            return None, None
        predicted = np.array([state[0] for state in states if state is not None])[self.group]
        reportable = np.array([state[1] for state in states if state is not None])[self.group]
        return predicted, None if reportable.all() else reportable


def _without_slices(groups: Mapping[RowGroup, CellCounts]) -> dict[RowGroup, CellCounts]:
    """Return the cells of groups, with the slices of each truth and class merged."""
    parts: dict[RowGroup, list[CellCounts]] = defaultdict(list)
    for group, cells in groups.items():
        parts[group._replace(labels=None)].append(cells)
    return {key: CellCounts.merged(of_slices) for key, of_slices in parts.items()}
