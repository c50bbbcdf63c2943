"""What replicates of a dataset are drawn together: all of it from its rows, or parts of it from cells of similar rows.

Rows are drawn once for all models and subsets. Cells are drawn separately for all rows and for the slices of each
slicing, which no number compares with those of another; and for each model, where none compares models. So slices add
to the cost and do not multiply it, and no replicate of all rows changes with them. Where rows were counted in cells and
never held, whole clusters are drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.engine.coarsening import (
    SEARCHED,
    SLICED,
    cell_ends,
    cells_of,
    coarsening_obstacle,
    fullest_cells,
    gridded,
    originals,
)
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.intervals.noise import SEARCHED as SEARCH
from evalpipe.intervals.resampling import HELD, Design, are_dealt_singly, dealt, split
from evalpipe.plan.plan import GROUPS, ROWS, group_error, groups_reason, most_rows
from evalpipe.results import Draw, Warned
from evalpipe.statistics import Draws, Stack, View, view
from evalpipe.statistics.grid import joint
from evalpipe.statistics.rows import starts_of_runs, totals_of_runs
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.data.sample import ClusterCounts, Sample
    from evalpipe.engine.coarsening import Coarse
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary
    from evalpipe.words.sentences import Sentence


Scope = tuple[str, int]
"""A model and the number of a subset."""


@dataclass(frozen=True)
class ClusterView:
    """The cells of a ``view`` and how a draw of clusters becomes their weights.

    ``table`` [units, coarse] has the observations of each cluster in each coarse cell. A cell of the view may lie in
    several of these: ``coarse_of_part`` [parts] is the coarse cell that each part lies in, ``share_of_coarse`` [parts]
    its share of that coarse cell, and ``starts`` [cells] where the parts of each cell of the view begin.
    """

    view: View
    table: Floats
    coarse_of_part: Wholes
    share_of_coarse: Floats
    starts: Wholes

    def weights(self, counts: Wholes) -> Floats:
        """Return the weight of each cell [b, cells] when the clusters are drawn ``counts`` [b, units] times."""
        # Whole numbers are summed, which no order of summing changes.
        parts = np.take(counts.astype(float) @ self.table, self.coarse_of_part, axis=-1) * self.share_of_coarse
        return totals_of_runs(parts, self.starts)


CELLS = 200_000
"""Weights summed up at once, few enough for the processor's cache; changes no result."""


def all_rows_number(slicing: int) -> int:
    """Return the number, below 0, of all rows as a subset that is drawn once more with the slices of a slicing."""
    return -1 - slicing


@dataclass(frozen=True)
class DrawnPart(ABC):
    """Models and subsets whose replicates are drawn together.

    ``name`` names its random stream; ``design`` says how its units are drawn, ``mode`` what these are, ``lost`` is
    the largest share of the variance of any model's predictions within a unit, 0 where units are rows. ``slicing`` is
    the title of the only slicing whose slices are drawn; None where all rows are.
    """

    name: str
    design: Design
    mode: Literal["rows", "clusters", "groups", "cells"]
    lost: float
    slicing: str | None

    @property
    @abstractmethod
    def scopes(self) -> Sequence[Sequence[Scope]]:
        """The pairs of model and subset number, those together that `summaries` yields together."""

    @abstractmethod
    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield scopes, a batch of replicates, and the statistics [scopes, b, …] of these scopes in this batch."""

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield statistics [scopes, folds, …] of some scopes under one draw, without each fold in turn.

        ``counts`` [units] are the draw, whose units are dealt into ``folds``. The spread of the statistics is the
        standard error of the replicate that the draw makes.
        """
        without_fold = counts - np.concatenate(list(split(generator, counts, folds)))
        for scopes, _, summary in self.summaries(Draws(without_fold)):
            yield scopes, summary


@dataclass(frozen=True)
class ClustersPart(DrawnPart):
    """All models and subsets, drawn cluster by cluster, or in random groups of clusters."""

    views: Mapping[Scope, ClusterView]

    @property
    def scopes(self) -> Sequence[Sequence[Scope]]:
        """The pairs of model and subset number, each by itself."""
        return [[scope] for scope in self.views]

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each scope under all draws."""
        for scope, clusters in self.views.items():
            yield [scope], slice(None), clusters.view.summary(clusters.weights(draws.counts)[None])


def clusters_part(
    plan: Plan, sample: Sample, scopes: Sequence[Scope], edges: Mapping[str, Floats]
) -> ClustersPart:
    """Return all of a dataset as one part that is drawn by clusters.

    ``edges`` are, by model, the scores at which cells end.
    """
    assert sample.by_cluster is not None  # noqa: S101 - known to the caller
    units, grouped = sample.by_cluster.units, sample.by_cluster.known > sample.by_cluster.units
    models = dict.fromkeys(name for name, _ in scopes)
    divided = {name: subsets(plan, sample, name) for name in models}
    views: dict[Scope, ClusterView] = {}
    for name, k in scopes:
        subset = divided[name][k]
        part = sample.of(name, subset.slicing)
        assert part.by_cluster is not None  # noqa: S101 - as the sample has them
        row_indices = np.arange(part.n) if subset.rows is None else subset.rows
        rows = rows_of(part, part.models[name]).at(row_indices)
        cells = view(rows, np.arange(len(row_indices)), None, part.weights[row_indices], edges.get(name))
        views[name, k] = cluster_view(part.by_cluster, cells, row_indices)
    lost = max(_variance_within_cells(sample.of(name), name) for name in models)
    return ClustersPart(sample.dataset, Design(units, cluster=np.arange(units)), "groups" if grouped else "clusters",
                        lost, None, views)


def cluster_view(clusters: ClusterCounts, view: View, rows: Wholes) -> ClusterView:
    """Return how many observations each cluster has in each cell of a view of the rows at positions ``rows`` [k]."""
    cell_of_row = np.repeat(np.arange(len(view.starts)), np.diff(view.starts, append=len(view.unit)))
    row_indices = rows[view.unit]
    coarse, coarse_index = np.unique(clusters.coarse_cell[row_indices], return_inverse=True)
    part_codes, part_of_row = np.unique(cell_of_row * len(coarse) + coarse_index, return_inverse=True)
    cell_of_part, coarse_of_part = np.divmod(part_codes, len(coarse))
    share = np.bincount(part_of_row, clusters.weight[row_indices]) / clusters.sizes[coarse][coarse_of_part]
    kept = np.isin(clusters.cells, coarse)
    table = np.zeros((clusters.units, len(coarse)))
    table[clusters.clusters[kept], np.searchsorted(coarse, clusters.cells[kept])] = clusters.counts[kept]
    return ClusterView(view, table, coarse_of_part, share, starts_of_runs(cell_of_part))


def _variance_within_cells(sample: Sample, name: str) -> float:
    """Return the share of the variance of a model's scores, by rank, that lies within coarse cells."""
    score, weight = sample.models[name].score, sample.weights
    if score is None or sample.by_cluster is None:
        return 0.0
    _, score_index = np.unique(score, return_inverse=True)
    tied = np.bincount(score_index, weight)
    rank = (np.cumsum(tied) - tied / 2)[score_index] - weight.sum() / 2
    total = float((weight * rank**2).sum())
    mean = sample.by_cluster.mean(rank)[sample.by_cluster.coarse_cell]
    return float((weight * (rank - mean) ** 2).sum()) / total if total else 0.0


@dataclass(frozen=True)
class RowsPart(DrawnPart):
    """All models and subsets, drawn row by row, or cluster by cluster; ``slicings`` has the slicing of each slice."""

    views: Mapping[Scope, View]
    slicings: Mapping[int, int]
    @property
    def scopes(self) -> Sequence[Sequence[Scope]]:
        """The pairs of model and subset number, each by itself."""
        return [[scope] for scope in self.views]

    @cached_property
    def stacks(self) -> list[tuple[list[Scope], Stack]]:
        """The views of subsets that share no rows, stacked: all rows, and the slices of each slicing."""
        keys_of: dict[object, list[Scope]] = defaultdict(list)
        for model, subset in self.views:
            keys_of[model, self.slicings.get(subset, (subset,))].append((model, subset))
        return [(keys, Stack(tuple(self.views[key] for key in keys))) for keys in keys_of.values()]

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each scope in batches of replicates."""
        times, units = draws.counts.shape
        # What is totalled at once takes several times the memory of small counts.
        for at_once, step in ((True, max(1, HELD // units)), (False, times)):
            stacks = [(scopes, stack) for scopes, stack in self.stacks if stack.totals_at_once == at_once]
            for first in range(0, times if stacks else 0, step):
                drawn = Draws(draws.counts[first : first + step])
                for scopes, stack in stacks:
                    for view_index, batch, weights in stack.weights(drawn, CELLS):
                        scope = scopes[view_index]
                        chosen = slice(first + batch.start, first + batch.start + len(weights))
                        yield [scope], chosen, self.views[scope].summary(weights[None])

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield the statistics of each scope under one draw ``counts`` [units], without each fold in turn."""
        draws_plain_rows = self.design.cluster is None and self.design.factor is None and are_dealt_singly(counts)
        if not draws_plain_rows or folds * max(len(rows_view.starts) for rows_view in self.views.values()) > HELD:
            yield from super().without_folds(counts, generator, folds)
            return
        drawn_units, fold_of_drawn = dealt(generator, counts, folds)
        for scope, rows_view in self.views.items():
            # Straight to the cells: the counts of all units in each fold take far longer to add up.
            cells = rows_view.dealt(drawn_units, fold_of_drawn, folds, len(counts))
            yield [scope], rows_view.summary((cells.sum(axis=0) - cells)[None])


@dataclass(frozen=True)
class CellsPart(DrawnPart):
    """Some models in some subsets, drawn from cells; all subsets share the cells, so one summary serves them all.

    The units are the cells of each of some groups of rows, ``design.sizes`` being [groups x cells]; ``members``
    [subsets, groups] tells which groups make up each subset, whose numbers are in ``numbers``.
    """

    views: Mapping[str, View]
    numbers: tuple[int, ...]
    members: Flags

    @cached_property
    def scopes(self) -> Sequence[Sequence[Scope]]:
        """The pairs of model and subset number, those of a model together."""
        return [[(model, k) for k in self.numbers] for model in self.views]

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each model in all subsets in batches of replicates."""
        groups, times = self.members.shape[1], len(draws.counts)
        for scopes, cells_view in zip(self.scopes, self.views.values(), strict=True):
            # As many at once as fit into the memory that a thread may have: of thousands of slices, not all.
            together = max(1, HELD // (groups * len(cells_view.unit)))
            for begin in range(0, times, together):
                counts = draws.counts[begin : begin + together]
                by_cell = Draws(counts.reshape(len(counts) * groups, -1))
                (_, _, weights), = Stack((cells_view,)).weights(by_cell, by_cell.counts.size)
                group_weights = weights.reshape(len(counts), groups, -1)
                step = max(1, CELLS // (group_weights.shape[-1] * len(self.numbers)))
                for first in range(0, len(counts), step):
                    of_subsets = self._subset_weights(group_weights[first : first + step])
                    batch = slice(begin + first, begin + min(first + step, len(counts)))
                    yield scopes, batch, cells_view.summary(of_subsets)

    def _subset_weights(self, weights: Values) -> Values:
        """Return the weights of the cells in each subset [subsets, b, cells], from those in groups [b, groups, cells].

        Of a subset of more than half of the groups, what the other groups weigh is taken off the total.
        """
        group, several, lacking = self._groups_of_subsets
        of_subsets = np.empty((len(group), len(weights), weights.shape[-1]), weights.dtype)
        np.take(weights.swapaxes(0, 1), group, axis=0, out=of_subsets, mode="clip")
        for subset, groups in several:
            of_subsets[subset] = weights[:, groups].sum(axis=1)
        if len(lacking):
            # Counts are whole numbers, so that a difference of them is exact.
            of_subsets[lacking] = weights.sum(axis=1) - of_subsets[lacking]
        return of_subsets

    @cached_property
    def _groups_of_subsets(self) -> tuple[Wholes, list[tuple[int, Wholes]], Wholes]:
        """The group to sum for each subset [subsets], the groups where there are several or none, and who lacks them.

        Of a subset of more than half of the groups, those that it lacks are summed.
        """
        lacks = 2 * self.members.sum(axis=1) > self.members.shape[1]
        is_summed = self.members ^ lacks[:, None]
        several = [(int(k), np.flatnonzero(is_summed[k])) for k in np.flatnonzero(is_summed.sum(axis=1) != 1)]
        return is_summed.argmax(axis=1), several, np.flatnonzero(lacks)


def rows_part(
    plan: Plan, sample: Sample, all_subsets: Sequence[Subset], scopes: Sequence[Scope], edges: Mapping[str, Floats]
) -> RowsPart:
    """Return all of a dataset as one part, drawn by rows; ``edges`` are the scores by model at which cells end."""
    resampling = design(plan, sample)
    views: dict[Scope, View] = {}
    for name, k in scopes:
        subset, rows = all_subsets[k], rows_of(sample, sample.models[name])
        views[name, k] = view(
            rows if subset.rows is None else rows.at(subset.rows), subset.of(resampling.unit),
            subset.of(resampling.factor), subset.of(sample.weight), edges.get(name), exact=plan.mode == "exact",
            ends=cell_ends(plan))
    slicings = {k: subset.slicing for k, subset in enumerate(all_subsets)
                if subset.slice is not None and subset.slicing is not None}
    mode: Literal["rows", "clusters"] = "rows" if sample.cluster is None else "clusters"
    return RowsPart(sample.dataset, resampling, mode, 0.0, None, views, slicings)


def design(plan: Plan, sample: Sample) -> Design:
    """Return the resampling design of a sample: rows, weights, clusters and strata; fixed or Poisson size."""
    poisson, strata = plan.resampling == "poisson", None
    if sample.units is not None:
        units = sample.units
        strata = None if sample.cluster is not None else units.stratum
        return Design(sample.n, sample.weight, sample.weight_kind, units.of_row, strata, poisson, units.has_outcome,
                      units.rows_of_stratum)
    if plan.stratify:
        strata = np.where(sample.truth, 0, 1) if plan.task == "binary" else sample.truth
    return Design(sample.n, sample.weight, sample.weight_kind, sample.cluster, strata, poisson)


def parts_of(
    plan: Plan, sample: Sample, divided: Sequence[Subset], scopes: Sequence[Scope], edges: Mapping[str, Floats], *,
    compared: bool,
) -> list[DrawnPart]:
    """Return the parts of a dataset that are drawn together: one of all its rows, or several of cells.

    ``scopes`` are the models and subsets that need replicates, ``edges`` the scores at which cells of a model end;
    ``compared`` says that models are compared.
    """
    if sample.by_cluster is not None:
        return [clusters_part(plan, sample, scopes, edges)]
    if gridded(plan, sample, most_rows(plan) if compared else ROWS):
        cells = cache(partial(_cells_of_models, sample, cell_ends(plan)))
        parts = [
            _cells_part(plan, sample, single_model, numbers, divided, edges, cells)
            for single_model in ([None] if compared else originals(sample))
            for numbers in _subsets_drawn_together(
                divided, sorted({k for _, k in scopes}), plan.slices.reference)]
        if all(part is not None for part in parts):
            return [part for part in parts if part is not None]
    return [rows_part(plan, sample, divided, scopes, edges)]


def _subsets_drawn_together(
    divided: Sequence[Subset], subset_numbers: Sequence[int], reference: object
) -> list[list[int]]:
    """Return the numbers of the subsets in each draw: all rows, then each slicing with what its slices compare with.

    The ``reference`` of a slice is its rest, drawn anyway, or all rows, drawn once more for each slicing.
    """
    slicings = sorted({part.slicing for k in subset_numbers if (part := divided[k]).slicing is not None})
    if any(divided[k].slicing is None for k in subset_numbers if k):
        return [list(subset_numbers)]  # slices that overlap, and all rows that they are compared with
    return [[0], *(
        [*(k for k in subset_numbers if divided[k].slicing == slicing),
         *([] if reference == "rest" else [all_rows_number(slicing)])]
        for slicing in slicings)]


def _cells_part(
    plan: Plan, sample: Sample, single_model: str | None, subset_numbers: Sequence[int], divided: Sequence[Subset],
    edges: Mapping[str, Floats], cells_for: Callable[[str | None, int | None, int | None], Coarse | None],
) -> CellsPart | None:
    """Return a part to draw, some subsets of all models or of a ``single_model``, in cells; None of too many cells.

    ``cells_for`` returns cells by model, slicing and number of parts that scores are cut into.
    """
    slicing, all_rows = divided[subset_numbers[0]].slicing, list(subset_numbers) == [0]
    score_parts = None
    if not all_rows:
        searches_scores = any(leaf.metric.interval in SEARCH for entry in plan.entries for leaf in entry.leaves)
        score_parts = SEARCHED if searches_scores else SLICED
    cells = cells_for(single_model, slicing if sample.streamed else None, score_parts)
    if cells is None:
        return None
    # A dataset that is read part by part has other rows for each model.
    divided = subsets(plan, sample, single_model) if sample.streamed else divided
    rows = sample.of(single_model, slicing)
    group_of_row, members = _groups_of_rows(rows, [divided[max(k, 0)] for k in subset_numbers])
    cells_sample, cell_count, groups = cells.sample, cells.sample.n, members.shape[1]
    sizes = np.bincount(group_of_row * cell_count + cells.cell_of_row, rows.weights, groups * cell_count)
    resampling = design(plan, cells_sample)
    strata = None if resampling.strata is None else np.tile(resampling.strata, groups)
    resampling = replace(resampling, n=len(sizes), weight=sizes.astype(float), strata=strata)
    views = {
        name: view(rows_of(cells_sample, model), np.arange(cell_count), None, cells_sample.weight, edges.get(name),
                   ends=cell_ends(plan))
        for name, model in cells_sample.models.items()}
    title = None if slicing is None else sample.slicings[slicing].title
    stream = "/".join([sample.dataset, *([] if single_model is None else [single_model]),
                       *([] if all_rows else [title or "slices"])])
    return CellsPart(stream, resampling, "cells", cells.lost, title, views, tuple(subset_numbers), members)


def _cells_of_models(
    sample: Sample, ends: Floats, single_model: str | None, slicing: int | None, score_parts: int | None
) -> Coarse | None:
    """Return the rows of all models, or of a ``single_model`` and its variants, joined in cells; None of too many.

    Cells end at the probabilities ``ends``; scores are cut in ``score_parts``, in as many as for all rows where None.
    """
    of_rows = sample.of(single_model, slicing)
    models = {name: model for name, model in of_rows.models.items() if single_model in (None, name, model.source)}
    most = None if sample.streamed else sample.n // 2
    return cells_of(replace(of_rows, models=MappingProxyType(models)), ends, sliced=score_parts, most=most)


def _groups_of_rows(sample: Sample, subsets: Sequence[Subset]) -> tuple[Wholes, Flags]:
    """Group rows that are in the same subsets; return the group of each row [n], and whether it is in each subset.

    The second is [subsets, groups].
    """
    group_of_row = np.zeros(sample.n, np.intp)
    for number, subset in enumerate(subsets, 1):
        if subset.rows is not None and subset.rest_of is None:
            if subset.slicing is not None:  # slices of one slicing share no rows; others may
                group_of_row[subset.rows] += number
                continue
            is_inside = np.zeros(sample.n, np.intp)
            is_inside[subset.rows] = 1
            group_of_row, _ = joint(group_of_row, is_inside)
    group_of_row, group_count = joint(group_of_row)
    members = np.zeros((len(subsets), group_count), bool)
    for in_subset, subset in zip(members, subsets, strict=True):
        in_subset[slice(None) if subset.rows is None else group_of_row[subset.rows]] = True
    return group_of_row, members


def draws_of(plan: Plan, sample: Sample, parts: Sequence[DrawnPart]) -> tuple[Draw, ...]:
    """Return the records of what was drawn, one for each part."""
    return tuple(
        Draw(dataset=sample.dataset, models=sorted({model for scopes in part.scopes for model, _ in scopes}),
             slicing=part.slicing, mode=part.mode, units=len(part.design.sizes), lost=part.lost,
             reason=_why_drawn(plan, sample, part),
             variance_error=group_error(len(part.design.sizes)) if part.mode == "groups" else None)
        for part in parts)


def _why_drawn(plan: Plan, sample: Sample, part: DrawnPart) -> Sentence:
    """Return why rows, cells or clusters were drawn."""
    if sample.by_cluster is not None:
        are_grouped = part.mode == "groups"
        return (groups_reason(sample.by_cluster.known, sample.by_cluster.units) if are_grouped
                else sentence("whole-clusters"))
    if sample.streamed:
        return plan.streaming.reason
    most = most_rows(plan)
    if part.mode == "cells":
        return (sentence("mode-asked", mode="grid") if plan.mode == "grid"
                else sentence("more-than-rows", rows=sample.n, most=most))
    if plan.mode == "exact" and sample.cluster is None:
        return sentence("mode-asked", mode="exact")
    if (reason := coarsening_obstacle(sample)) is not None:
        judged = sample.source is not None and sample.cluster is None
        return sentence("outcomes-apart", most=ROWS, groups=GROUPS) if judged else reason
    few_rows = sentence("at-most-rows", rows=sample.n, most=most)
    return sentence("unlike-patterns") if gridded(plan, sample, most) else few_rows


def not_gridded_warning(plan: Plan, draws: Sequence[Draw]) -> Iterator[Warned]:
    """Yield a warning where the spec asks for a grid and something else was drawn."""
    if plan.mode == "grid" and not plan.streaming.streamed and draws and draws[0].mode != "cells":
        case = "clusters" if draws[0].mode == "clusters" else "rows"
        yield Warned.of("not-gridded", case=case, dataset=draws[0].dataset, because=draws[0].reason)


def crowded_warnings(sample: Sample) -> Iterator[Warned]:
    """Yield a warning for each model of which too many rows have their scores in one cell of the grid."""
    for name, share in fullest_cells(sample).items():
        yield Warned.of("few-cells", dataset=sample.dataset, model=name, share=float(f"{share:.2g}"))
