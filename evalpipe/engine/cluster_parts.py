"""Whole clusters as they are drawn of rows that were counted in cells and never held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.engine.rows import rows_of
from evalpipe.engine.subsets import subsets
from evalpipe.intervals.resampling import Design, split
from evalpipe.statistics import Summary, view
from evalpipe.statistics.groups import starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import ClusterCounts, Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Draws, View

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
    views = {(name, k): _view(sample, name, divided[name][k], edges.get(name)) for name, k in scopes}
    lost = max(_lost(sample.of(name), name) for name in divided)
    return ClustersPart(sample.dataset, Design(units, cluster=np.arange(units)), views, lost,
                        "groups" if grouped else "clusters")


def _view(sample: Sample, name: str, subset: Subset, edges: Floats | None) -> ClusterView:
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
