"""What replicates of a dataset are drawn together: everything from its rows, or parts of it from cells of like rows.

Rows are drawn once for all models and subsets. Cells are drawn apart for all rows and for the slices of each slicing,
which no number compares with those of another; and for each model, where none compares models. So slices add to the
cost and do not multiply it, and no replicate of all rows changes with them. Whole clusters are drawn of rows that
were counted in cells and never held.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from evalpipe.engine.coarsening import SEARCHED, SLICED, cell_ends, cells_of, gridded, obstacle, originals
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.intervals.noise import SEARCHED as SEARCH
from evalpipe.intervals.resampling import HELD, Design, dealt, few, split
from evalpipe.plan.drawing import ASKED, CLUSTERS, FEW, MORE, PATTERNS, ROWS, group_error, grouped_because, most_rows
from evalpipe.results import Draw, Warned
from evalpipe.statistics import Draws, Stack, Summary, View, view
from evalpipe.statistics.grid import first_rows, joint
from evalpipe.statistics.groups import starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.data.sample import ClusterCounts, Sample
    from evalpipe.engine.coarsening import Coarse
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.plan import Plan


Scope = tuple[str, int]
"""A model and the number of a subset."""


@dataclass(frozen=True)
class ClusterView:
    """The cells of a ``view`` and how a draw of clusters becomes their weights.

    ``table`` [units, coarse] has the observations of each cluster in each coarse cell. A cell of the view may lie in
    several of these: ``place`` [parts] is the coarse cell of each part of one, ``share`` [parts] what of the coarse
    cell it has, and ``starts`` [cells] where the parts of each cell begin.
    """

    view: View
    table: Floats
    place: Wholes
    share: Floats
    starts: Wholes

    def weights(self, counts: Wholes) -> Floats:
        """Return the weight of each cell [b, cells] when the clusters are drawn ``counts`` [b, units] times."""
        # Whole numbers are summed, which no order of summing changes.
        parts = np.take(counts.astype(float) @ self.table, self.place, axis=-1) * self.share
        return totals_of_runs(parts, self.starts)


@dataclass(frozen=True)
class ClustersPart:
    """All models and subsets, drawn cluster by cluster, or in random groups of clusters; see `DrawnPart`."""

    name: str
    design: Design
    views: Mapping[Scope, ClusterView]
    lost: float
    mode: Literal["clusters", "groups"]
    slicing: str | None = None

    @property
    def scopes(self) -> Sequence[Scope]:
        """The models and subsets that it has statistics of."""
        return tuple(self.views)

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each scope under all draws."""
        for scope, seen in self.views.items():
            yield [scope], slice(None), Summary(seen.view.rows, seen.weights(draws.counts)[None])

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield the statistics of each scope under a draw, each fold of clusters left out in turn."""
        left = counts - np.concatenate(list(split(generator, counts, folds)))
        for scope, seen in self.views.items():
            yield [scope], Summary(seen.view.rows, seen.weights(left)[None])


def clusters_part(
    plan: Plan, sample: Sample, scopes: Sequence[Scope], edges: Mapping[str, Floats]
) -> ClustersPart:
    """Return the one part of a dataset whose clusters are drawn."""
    assert sample.by_cluster is not None  # noqa: S101 - known to the caller
    units, grouped = sample.by_cluster.units, sample.by_cluster.known > sample.by_cluster.units
    divided = {name: subsets(plan, sample, name) for name in dict.fromkeys(name for name, _ in scopes)}
    views = {(name, k): _clusters_view(sample, name, divided[name][k], edges.get(name)) for name, k in scopes}
    lost = max(_lost(sample.of(name), name) for name in divided)
    return ClustersPart(sample.dataset, Design(units, cluster=np.arange(units)), views, lost,
                        "groups" if grouped else "clusters")


def _clusters_view(sample: Sample, name: str, subset: Subset, edges: Floats | None) -> ClusterView:
    """Return the cells that replicates of a model in a subset are summed up in."""
    part = sample.of(name, subset.slicing)
    assert part.by_cluster is not None  # noqa: S101 - as the sample has them
    chosen = np.arange(part.n) if subset.rows is None else subset.rows
    rows = rows_of(part, part.models[name]).taken(chosen)
    cells = view(rows, np.arange(len(chosen)), None, part.weights[chosen], edges)
    return spread(part.by_cluster, cells, chosen)


def spread(clusters: ClusterCounts, view: View, rows: Wholes) -> ClusterView:
    """Return how clusters spread over the cells of a view of some rows, by their positions ``rows`` [k]."""
    cell = np.repeat(np.arange(len(view.starts)), np.diff(view.starts, append=len(view.unit)))
    row = rows[view.unit]
    coarse, place = np.unique(clusters.place[row], return_inverse=True)
    parts, part = np.unique(cell * len(coarse) + place, return_inverse=True)
    of_cell, within = np.divmod(parts, len(coarse))
    share = np.bincount(part, clusters.weight[row]) / clusters.sizes[coarse][within]
    kept = np.isin(clusters.cells, coarse)
    table = np.zeros((clusters.units, len(coarse)))
    table[clusters.clusters[kept], np.searchsorted(coarse, clusters.cells[kept])] = clusters.counts[kept]
    return ClusterView(view, table, within, share, starts_of_runs(of_cell))


def _lost(part: Sample, name: str) -> float:
    """Return the share of the variance of a model's scores, by rank, that lies within coarse cells."""
    score, weight = part.models[name].score, part.weights
    if score is None or part.by_cluster is None:
        return 0.0
    _, place = np.unique(score, return_inverse=True)
    tied = np.bincount(place, weight)
    rank = (np.cumsum(tied) - tied / 2)[place] - weight.sum() / 2
    total = float((weight * rank**2).sum())
    mean = part.by_cluster.mean(rank)[part.by_cluster.place]
    return float((weight * (rank - mean) ** 2).sum()) / total if total else 0.0


CELLS = 200_000
"""Weights summed up at once, few enough for the processor's cache; changes no result."""


def beside(slicing: int) -> int:
    """Return the number of all rows as they are drawn together with a slicing, to be compared with its slices."""
    return -1 - slicing


class DrawnPart(Protocol):
    """What is drawn together."""

    @property
    def name(self) -> str:
        """The name of its random stream."""

    @property
    def design(self) -> Design:
        """How its units are drawn."""

    @property
    def mode(self) -> Literal["rows", "clusters", "groups", "cells"]:
        """What its units are."""

    @property
    def scopes(self) -> Sequence[Scope]:
        """The models and subsets that it has statistics of."""

    @property
    def slicing(self) -> str | None:
        """The title of the slicing whose slices alone are drawn; None where all rows are."""

    @property
    def lost(self) -> float:
        """The largest share of the variance of any model's predictions within its units; 0 where these are rows."""

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics [scopes, b, …] of some scopes in batches of replicates."""

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield the statistics [scopes, folds, …] of some scopes under a draw, each fold left out in turn."""


@dataclass(frozen=True)
class RowsPart:
    """All models and subsets, drawn row by row, or cluster by cluster; ``apart`` is the slicing of each subset."""

    name: str
    design: Design
    views: Mapping[Scope, View]
    apart: Mapping[int, int]
    lost: float = 0.0
    slicing: str | None = None

    @property
    def mode(self) -> Literal["rows", "clusters"]:
        """What its units are."""
        return "rows" if self.design.cluster is None else "clusters"

    @property
    def scopes(self) -> Sequence[Scope]:
        """The models and subsets that it has statistics of."""
        return tuple(self.views)

    @cached_property
    def stacks(self) -> list[tuple[list[Scope], Stack]]:
        """The views in stacks of subsets that share no rows: all rows, and the slices of each slicing."""
        keys_of: dict[object, list[Scope]] = defaultdict(list)
        for model, subset in self.views:
            keys_of[model, self.apart.get(subset, (subset,))].append((model, subset))
        return [(keys, Stack(tuple(self.views[key] for key in keys))) for keys in keys_of.values()]

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each scope in batches of replicates."""
        for keys, stack in self.stacks:
            for number, chosen, weights in stack.weights(draws, CELLS):
                yield keys[number : number + 1], chosen, Summary(self.views[keys[number]].rows, weights[None])

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield the statistics of each scope under one draw [units], leaving out each of its folds in turn."""
        plain = self.design.cluster is None and self.design.factor is None and few(counts)
        if not plain or folds * max(len(seen.starts) for seen in self.views.values()) > HELD:
            yield from _without_folds(self, counts, generator, folds)
            return
        unit, fold = dealt(generator, counts, folds)
        for scope, seen in self.views.items():
            # Straight to the cells: the counts of all units in each fold take far longer to add up.
            cells = seen.dealt(unit, fold, folds, len(counts))
            yield [scope], Summary(seen.rows, (cells.sum(axis=0) - cells)[None])


@dataclass(frozen=True)
class CellsPart:
    """Some models in some subsets, drawn from cells; all subsets share the cells, so one summary serves them all.

    The units are the cells of each of some groups of rows, ``design.sizes`` being [groups x cells]; ``members``
    [subsets, groups] tells which groups make the subset of each of ``numbers``.
    """

    name: str
    design: Design
    views: Mapping[str, View]
    numbers: tuple[int, ...]
    members: Flags
    lost: float
    slicing: str | None = None

    @property
    def mode(self) -> Literal["cells"]:
        """What its units are."""
        return "cells"

    @property
    def scopes(self) -> Sequence[Scope]:
        """The models and subsets that it has statistics of."""
        return tuple((model, k) for model in self.views for k in self.numbers)

    def summaries(self, draws: Draws) -> Iterator[tuple[Sequence[Scope], slice, Summary]]:
        """Yield the statistics of each model in all subsets in batches of replicates."""
        groups, times = self.members.shape[1], len(draws.counts)
        by_cell = Draws(draws.counts.reshape(times * groups, -1))
        for model, seen in self.views.items():
            (_, _, weights), = Stack((seen,)).weights(by_cell, by_cell.counts.size)
            drawn = weights.reshape(times, groups, -1)
            step = max(1, CELLS // (drawn.shape[-1] * len(self.numbers)))
            for first in range(0, times, step):
                chosen = slice(first, first + step)
                yield [(model, k) for k in self.numbers], chosen, Summary(seen.rows, self._of_subsets(drawn[chosen]))

    def without_folds(
        self, counts: Wholes, generator: np.random.Generator, folds: int
    ) -> Iterator[tuple[Sequence[Scope], Summary]]:
        """Yield the statistics of each model under one draw [units], leaving out each of its folds in turn."""
        return _without_folds(self, counts, generator, folds)

    def _of_subsets(self, weights: Values) -> Values:
        """Return the weights [subsets, b, cells] of subsets, out of those of groups [b, groups, cells]."""
        whole = weights.sum(axis=1)
        parts = np.empty((len(self.members), *whole.shape), whole.dtype)
        for part, inside in zip(parts, self.members, strict=True):
            few = inside if 2 * inside.sum() <= len(inside) else ~inside
            summed = weights[:, np.flatnonzero(few)].sum(axis=1)
            # Counts are whole numbers, so that what is left of them is exact.
            part[:] = summed if few is inside else whole - summed
        return parts


def _without_folds(
    part: DrawnPart, counts: Wholes, generator: np.random.Generator, folds: int
) -> Iterator[tuple[Sequence[Scope], Summary]]:
    left = counts - np.concatenate(list(split(generator, counts, folds)))
    for scopes, _, summary in part.summaries(Draws(left)):
        yield scopes, summary


def rows_part(
    plan: Plan, sample: Sample, divided: Sequence[Subset], scopes: Sequence[Scope], edges: Mapping[str, Floats]
) -> RowsPart:
    """Return the one part of a dataset whose rows are drawn."""
    how = design(plan, sample)
    views = {(name, k): _view(plan, sample, how, name, divided[k], edges.get(name)) for name, k in scopes}
    slices = {k: subset for k, subset in enumerate(divided) if subset.slice is not None}
    apart = {k: subset.slicing for k, subset in slices.items() if subset.slicing is not None}
    return RowsPart(sample.dataset, how, views, apart)


def _view(
    plan: Plan, sample: Sample, design: Design, name: str, subset: Subset, edges: Floats | None
) -> View:
    rows = rows_of(sample, sample.models[name])
    return view(
        rows if subset.rows is None else rows.taken(subset.rows), subset.of(design.unit), subset.of(design.factor),
        subset.of(sample.weight), edges, exact=plan.mode == "exact", ends=cell_ends(plan),
    )


def design(plan: Plan, sample: Sample) -> Design:
    """Return how the rows of a sample are resampled."""
    strata = None
    if plan.stratify:
        strata = np.where(sample.truth, 0, 1) if plan.task == "binary" else sample.truth
    poisson = plan.resampling == "poisson"
    return Design(sample.n, sample.weight, sample.weight_kind, sample.cluster, strata, poisson)


def parts_of(
    plan: Plan, sample: Sample, divided: Sequence[Subset], scopes: Sequence[Scope], edges: Mapping[str, Floats], *,
    together: bool,
) -> list[DrawnPart]:
    """Return what is drawn of a dataset: its rows, or cells of them in parts.

    ``scopes`` are the models and subsets that are wanted, ``edges`` the scores at which cells of a model end;
    ``together`` says that models are compared.
    """
    if sample.by_cluster is not None:
        return [clusters_part(plan, sample, scopes, edges)]
    if gridded(plan, sample, most_rows(plan) if together else ROWS):
        cells = cache(partial(_cells, sample, cell_ends(plan)))
        parts = [
            _cells_part(plan, sample, alone, numbers, divided, edges, cells)
            for alone in ([None] if together else originals(sample))
            for numbers in _drawn_together(divided, sorted({k for _, k in scopes}), plan.slices.reference)]
        if all(part is not None for part in parts):
            return [part for part in parts if part is not None]
    return [rows_part(plan, sample, divided, scopes, edges)]


def _drawn_together(divided: Sequence[Subset], wanted: Sequence[int], reference: object) -> list[list[int]]:
    """Return the numbers of subsets that are drawn together; see `beside` for all rows beside slices."""
    sliced = sorted({part.slicing for k in wanted if (part := divided[k]).slicing is not None})
    if any(divided[k].slicing is None for k in wanted if k):
        return [list(wanted)]  # slices that overlap, and all rows that they are compared with
    return [[0], *(
        [k for k in wanted if divided[k].slicing == slicing] + ([] if reference == "rest" else [beside(slicing)])
        for slicing in sliced)]


def _cells_part(
    plan: Plan, sample: Sample, alone: str | None, numbers: Sequence[int], divided: Sequence[Subset],
    edges: Mapping[str, Floats], cells_for: Callable[[str | None, int | None, int | None], Coarse | None],
) -> CellsPart | None:
    """Return some subsets of all models, or of one ``alone``, in cells; None where there would be too many cells."""
    slicing = divided[numbers[0]].slicing
    cells = cells_for(alone, slicing if sample.streamed else None, _parts(plan, numbers))
    if cells is None:
        return None
    # A dataset that is not held has rows of its own for each model.
    divided = subsets(plan, sample, alone) if sample.streamed else divided
    of_rows = sample.of(alone, slicing)
    group, members = _groups(of_rows, [divided[max(k, 0)] for k in numbers])
    joined, count, groups = cells.sample, cells.sample.n, members.shape[1]
    sizes = np.bincount(group * count + cells.number, of_rows.weights, groups * count)
    how = design(plan, joined)
    strata = None if how.strata is None else np.tile(how.strata, groups)
    how = replace(how, n=len(sizes), weight=sizes.astype(float), strata=strata)
    views = {
        model: view(rows_of(joined, joined.models[model]), np.arange(count), None, joined.weight, edges.get(model),
                    ends=cell_ends(plan))
        for model in joined.models}
    title = None if slicing is None else sample.slicings[slicing].title
    stream = "/".join([sample.dataset, *([] if alone is None else [alone]),
                       *([] if list(numbers) == [0] else [title or "slices"])])
    return CellsPart(stream, how, views, tuple(numbers), members, cells.lost, title)


def _parts(plan: Plan, numbers: Sequence[int]) -> int | None:
    """Return how many parts a score is cut into where slices are drawn; None for all rows."""
    if list(numbers) == [0]:
        return None
    searched = any(leaf.metric.interval in SEARCH for entry in plan.entries for leaf in entry.leaves)
    return SEARCHED if searched else SLICED


def _cells(
    sample: Sample, ends: Floats, alone: str | None, slicing: int | None, sliced: int | None
) -> Coarse | None:
    """Return the rows in cells, those of all models or of one and its variants; see `cells_of`."""
    of_rows = sample.of(alone, slicing)
    models = {name: model for name, model in of_rows.models.items() if alone in (None, name, model.source)}
    most = None if sample.streamed else sample.n // 2
    return cells_of(replace(of_rows, models=MappingProxyType(models)), ends, sliced=sliced, most=most)


def _groups(sample: Sample, subsets: Sequence[Subset]) -> tuple[Wholes, Flags]:
    """Return the group of each row, [n], and which groups make each subset, [subsets, groups]."""
    group = np.zeros(sample.n, np.intp)
    for number, subset in enumerate(subsets, 1):
        if subset.rows is not None and subset.beside is None:
            inside = np.zeros(sample.n, np.intp)
            inside[subset.rows] = number
            # Slices of one slicing share no rows; others may.
            group = group + inside if subset.slicing is not None else joint(group, inside)[0]
    group, count = joint(group)
    first = first_rows(group, count)
    members = np.ones((len(subsets), count), bool)
    for inside, subset in zip(members, subsets, strict=True):
        if subset.rows is not None:
            of_rows = np.zeros(sample.n, bool)
            of_rows[subset.rows] = True
            inside[:] = of_rows[first]
    return group, members


def draws_of(plan: Plan, sample: Sample, parts: Sequence[DrawnPart]) -> tuple[Draw, ...]:
    """Return what the replicates of a dataset drew, a record for each part."""
    return tuple(
        Draw(dataset=sample.dataset, models=sorted({model for model, _ in part.scopes}), slicing=part.slicing,
             mode=part.mode, units=len(part.design.sizes), lost=part.lost, reason=_reason(plan, sample, part),
             variance_error=group_error(len(part.design.sizes)) if part.mode == "groups" else None)
        for part in parts)


def _reason(plan: Plan, sample: Sample, part: DrawnPart) -> str:
    """Return why this was drawn, and nothing else."""
    if sample.by_cluster is not None:
        grouped = part.mode == "groups"
        return grouped_because(sample.by_cluster.known, sample.by_cluster.units) if grouped else CLUSTERS
    if sample.streamed:
        return plan.streaming.reason
    most = most_rows(plan)
    if part.mode == "cells":
        return ASKED.format(mode="grid") if plan.mode == "grid" else MORE.format(rows=sample.n, most=most)
    if plan.mode == "exact" and sample.cluster is None:
        return ASKED.format(mode="exact")
    return obstacle(sample) or (PATTERNS if gridded(plan, sample, most) else FEW.format(rows=sample.n, most=most))


def not_gridded(plan: Plan, draws: Sequence[Draw]) -> Iterator[Warned]:
    """Yield a warning where the spec asks for a grid and something else was drawn."""
    if plan.mode == "grid" and not plan.streaming.streamed and draws and draws[0].mode != "cells":
        kind = "whole clusters were" if draws[0].mode == "clusters" else "every row was"
        yield Warned(code="not-gridded", message=(
            f"{draws[0].dataset}: {kind} drawn, although engine.mode is grid: {draws[0].reason}"))
