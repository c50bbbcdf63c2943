"""The rows that statistics are taken over, and their subsets: all rows, each slice, and the rest of each slice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.statistics import ClassRows, NumberRows, Rows, ScoreRows, Summary
from evalpipe.statistics.rows import Groups, present
from evalpipe.tasks import NUMBERS, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Values, Wholes
    from evalpipe.data.sample import ClusterCounts, Predictions, Sample
    from evalpipe.plan.plan import Plan


def rows_of(sample: Sample, model: Predictions) -> Any:
    """Return the rows that statistics are computed from: the truth of a sample with a model's predictions."""
    # A recalibrated model was not fitted to these rows, or cross-fitted.
    trained_on = sample.summary.trained_on and model.source is None
    if sample.task == "binary":
        return Rows(sample.truth, model.predicted, model.probability, model.score, model.reportable, model.stated,
                    model.group, model.remainders, model.ends, trained_on, model.ranks, sample.source)
    if sample.task in SCORES:
        return ScoreRows.of(present(model.predicted, "scores"), model.items or {}, model.queries)
    if sample.task in NUMBERS:
        predicted = present(model.predicted, "predictions")
        return NumberRows(sample.truth, predicted, model.left_out, sample.baseline, exposure=sample.exposure,
                          ranks=model.ranks, standardised=model.standardised)
    return ClassRows(
        sample.truth, len(sample.levels), model.predicted, model.probability, model.score, model.reportable,
        trained_on, model.ranks)


Some = TypeVar("Some", bound="Values | None")


@dataclass(frozen=True)
class Subset:
    """All rows of a dataset, a slice of them, or the rest of a slice.

    ``slice`` are the labels of a slice, None for others; ``slicing`` is the number of its slicing; ``rows`` [m] are the
    positions of its rows, None for all; ``n`` counts its observations, ``events`` the events among them, None where the
    outcome is not binary. ``rest_of`` is the number of the slice whose rest it is. ``cluster`` are the cluster numbers
    of all rows of the dataset, if any; ``by_cluster`` the counts of each cluster in each cell, where rows are cells.
    """

    slice: Mapping[str, str] | None
    slicing: int | None
    rows: Wholes | None
    n: int
    events: int | None
    rest_of: int | None = None
    cluster: Wholes | None = field(default=None, repr=False)
    by_cluster: ClusterCounts | None = field(default=None, repr=False)

    @cached_property
    def clusters(self) -> int | None:
        """How many clusters, or random groups of them, have rows in it; None where rows are not clustered."""
        if self.by_cluster is not None:
            return self.by_cluster.inside(self.rows)
        return None if self.cluster is None else len(np.unique(self.of(self.cluster)))

    def rows_by_cluster(self, sample: Sample) -> Iterator[Wholes]:
        """Yield for each cluster the positions of its rows among the rows of the subset.

        Where rows are cells, a cell is in every cluster that has rows in it. ``sample`` has the rows of the dataset.
        """
        if sample.by_cluster is not None:
            yield from sample.by_cluster.of_each(self.rows)
        else:
            groups = Groups.by(np.asarray(self.of(sample.cluster)))
            yield from np.split(groups.order, groups.starts[1:])

    def of(self, values: Some) -> Some:
        """Return the values of the subset's rows, given ``values`` of all rows of the dataset; None for None."""
        return values if self.rows is None or values is None else values[self.rows]  # type: ignore[return-value]

    def of_level(self, sample: Sample, level: int) -> int:
        """Return the number of observations in the subset whose outcome is the given level, numbered from 0."""
        rows = np.flatnonzero(self.of(sample.truth) == level)
        return _observations(sample, rows if self.rows is None else self.rows[rows])


def subsets(plan: Plan, sample: Sample, model: str | None = None) -> tuple[Subset, ...]:
    """Return all rows, then the slices of every slicing in turn, then the rest of each if slices are compared with it.

    Rows are numbered as in the sample of a ``model``, or of all models together.
    """
    slices: list[Subset] = []
    for slicing, rows in enumerate(sample.slicings):
        part = sample.of(model, slicing)
        codes = part.slicings[slicing].codes
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(rows.labels) + 1))
        slices += [subset_of(part, order[starts[k] : starts[k + 1]], labels, slicing)
                   for k, labels in enumerate(rows.labels)]
    rests = []
    for number, subset in enumerate(slices if plan.slices.reference == "rest" else [], 1):
        part = sample.of(model, subset.slicing)
        others = np.ones(part.n, bool)
        others[subset.rows] = False
        rest = subset_of(part, np.flatnonzero(others), None, subset.slicing)
        rests.append(replace(rest, rest_of=number))
    return all_rows_subset(sample), *slices, *rests


def summaries_of(
    plan: Plan, sample: Sample, divided: Mapping[str, Sequence[Subset]]
) -> dict[tuple[str, int], Summary]:
    """Return the statistics by model and number of its subset, for all subsets that are large enough.

    ``divided`` has the subsets of each model.
    """
    summaries = {}
    for name in sample.models:
        by_part: dict[int, tuple[Any, Floats]] = {}
        for number, subset in enumerate(divided[name]):
            part = sample.of(name, subset.slicing)
            if id(part) not in by_part:
                by_part[id(part)] = rows_of(part, part.models[name]), part.weights
            rows, weights = by_part[id(part)]
            if subset.rows is None:
                summaries[name, number] = Summary(rows, weights)
            elif plan.slices.enough(subset.n):
                summaries[name, number] = Summary(rows.at(subset.rows), subset.of(weights))
    return summaries


def all_rows_subset(sample: Sample) -> Subset:
    """Return the subset of all rows; the counts of a coarsened sample are those of the original sample."""
    return Subset(None, None, None, sample.summary.n, sample.summary.events, cluster=sample.cluster,
                  by_cluster=sample.by_cluster)


def subset_of(sample: Sample, rows: Wholes, labels: Mapping[str, str] | None, slicing: int | None) -> Subset:
    """Return the subset of a dataset that consists of the ``rows`` [m], by their positions."""
    events = _observations(sample, rows[sample.truth[rows]]) if sample.task == "binary" else None
    return Subset(labels, slicing, rows, _observations(sample, rows), events, cluster=sample.cluster,
                  by_cluster=sample.by_cluster)


def reportable_subset(sample: Sample, model: Predictions, subset: Subset) -> Subset:
    """Return a subset without the rows of the model's equivocal zone."""
    if model.reportable is None:
        return subset
    rows = np.flatnonzero(model.reportable) if subset.rows is None else subset.rows[model.reportable[subset.rows]]
    return replace(subset_of(sample, rows, subset.slice, subset.slicing), rest_of=subset.rest_of)


def _observations(sample: Sample, rows: Wholes) -> int:
    """Return the number of observations that rows stand for."""
    return int(sample.observations_at(rows).sum()) if sample.weight_kind == "frequency" else len(rows)
