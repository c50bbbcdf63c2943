"""What the parts of a dataset are summed up to, as the plan has it: cells of a grid, and exact totals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.plan.edges import edges_of
from evalpipe.statistics import Rows
from evalpipe.statistics.grid import EDGES, ScoreGrid, edges_at
from evalpipe.statistics.summary import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Wholes
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

Option = tuple[str, tuple[tuple[str, Any], ...]]
"""The name of a statistic, and the options that it is taken with."""

SPARSE = 3
"""Of the edges of joint cells every so many is kept where three models are drawn together."""


@dataclass(frozen=True)
class Asked:
    """What is summed up: ``edges`` of cells beside those of every grid, and the ``totals`` that are kept exactly.

    ``models`` are those with scores, whose cells are counted apart and jointly.
    """

    edges: tuple[float, ...]
    totals: tuple[Option, ...]
    models: tuple[str, ...]

    @cached_property
    def grid(self) -> ScoreGrid:
        """The grid of each model's scores."""
        return ScoreGrid(self.edges)

    @cached_property
    def coarse(self) -> tuple[Wholes, int]:
        """The cell in which clusters are counted of each cell of the grid, [cells], and how many: they end at edges."""
        starts = np.zeros(self.grid.size, np.intp)
        starts[self.grid.of_probabilities(np.array(self.edges))] = 1
        return np.cumsum(starts), int(starts.sum()) + 1

    @cached_property
    def joint(self) -> tuple[Wholes, int]:
        """The joint cell of each cell of the grid, [cells], and how many there are: they end at fewer edges."""
        ends = np.isin(np.array(self.edges), EDGES if len(self.models) < SPARSE else EDGES[::SPARSE])
        begins = self.grid.of_probabilities(np.array(self.edges)[ends])
        starts = np.zeros(self.grid.size, np.int16)
        starts[begins] = 1
        return np.cumsum(starts, dtype=np.int16), len(begins) + 1


def asked(plan: Plan) -> Asked:
    """Return what the rows of a plan's datasets are summed up to."""
    measures = [*plan.entries, *(goal.entry for goal in plan.goals if goal.entry is not None)]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    models = tuple(name for name, model in plan.models.items() if "scores" in model.gives)
    return Asked(_edges(plan, leaves), tuple(dict.fromkeys(_totals(leaves))), models)


def _edges(plan: Plan, leaves: list[MetricPlan]) -> tuple[float, ...]:
    """Return where cells end: at the edges of joint cells, of bins and of rounding, and at thresholds and marks."""
    clips = [end for leaf in leaves if "epsilon" in leaf.params
             for end in (leaf.params["epsilon"], 1 - leaf.params["epsilon"])]
    listed = np.concatenate([EDGES, edges_at(*edges_of(plan)), np.array(clips)])
    return tuple(np.unique(listed[(listed > 0) & (listed < 1)]).tolist())


def _totals(leaves: list[MetricPlan]) -> Iterator[Option]:
    """Yield the statistics of the measures that are sums over rows of what their probabilities come to."""
    for leaf in leaves:
        for options in (leaf.params, *leaf.of_class):
            for name in leaf.metric.statistics:
                taken = {key: options[key] for key in statistics[name].options}
                if statistics[name].of_rows and _of_probabilities(name, taken):
                    yield name, tuple(taken.items())


def _of_probabilities(name: str, options: Mapping[str, object]) -> bool:
    """Tell whether a statistic reads probabilities: then it raises TypeError of rows that have none."""
    flags = np.array([True, False])
    try:
        statistics[name].function(Rows(flags, flags), **options)
    except TypeError:
        return True
    return False
