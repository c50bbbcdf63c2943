"""What replicates draw, rows or cells of like rows, and where cells of probabilities must end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalpipe.tasks import MANY
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence


class EdgesPlan(NamedTuple):
    """Where cells of probabilities must end: at edges of ``bins`` of equal width, of ``digits``, and ``thresholds``.

    ``bins`` are numbers of bins, ``digits`` the decimals that probabilities are rounded to.
    """

    bins: tuple[int, ...]
    digits: tuple[int, ...]
    thresholds: tuple[float, ...]


def edges_of(plan: Plan) -> EdgesPlan:
    """Return the bins, digits and thresholds that a plan uses: no cell of the grid may lie on both sides of an edge."""
    measures = [*plan.entries, *plan.goal_measures]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    bins = {int(leaf.params["bins"]) for leaf in leaves if "bins" in leaf.params} | {plan.calibration.settings.bins}
    digits = {int(leaf.params["digits"]) for leaf in leaves if "digits" in leaf.params}
    of_measures = [leaf.params["threshold"] for leaf in leaves if isinstance(leaf.params.get("threshold"), float)]
    of_models = [model.threshold.number for model in plan.models.values() if model.threshold.number is not None]
    return EdgesPlan(tuple(sorted(bins)), tuple(sorted(digits)), (*of_measures, *of_models, *plan.marks))


ROWS = 16_384
"""The most rows that are drawn one by one, unless the spec asks for it: of more, a draw of cells costs less."""

COMPARED = 65_536
"""The most where models of a binary outcome are compared: joint cells tell less of two models than cells of one."""

GROUPS = 1024
"""The most clusters that are drawn each by itself where rows are read part by part, and the groups of more of them."""


def group_error(groups: int) -> float:
    """Return the relative standard error of a variance estimated from random groups: Wolter (2007), chapter 2."""
    return math.sqrt(2 / (groups - 1))


def groups_reason(clusters: int, groups: int) -> Sentence:
    """Return the sentence why clusters were drawn in groups, with the error that this adds."""
    return sentence("groups", clusters=clusters, most=GROUPS, groups=groups, error=100 * group_error(groups))


@dataclass(frozen=True, slots=True)
class DrawingPlan:
    """What replicates draw: nothing, rows, whole clusters, or cells of like rows; "auto" leaves it to the rows.

    ``reason`` says why; ``refused`` that the spec asks for a grid that these data cannot be put on.
    """

    mode: Literal["none", "rows", "clusters", "cells", "auto"]
    reason: Sentence
    refused: bool = False

    @property
    def words(self) -> str:
        """The sentence that tells a reader what is drawn."""
        if self.mode == "none":
            return f"no replicates are drawn: {self.reason}"
        if self.mode == "auto":
            return f"replicates draw rows, up to {self.reason}; of more, cells of like rows (engine.mode is auto)"
        drawn = {"rows": "rows", "clusters": "whole clusters", "cells": "cells of like rows"}[self.mode]
        grid = ", although engine.mode is grid" if self.refused else ""
        return f"replicates draw {drawn}{grid}: {self.reason}"


def obstacle_of(*, clusters: bool, importance: bool, exposure: bool, levels: bool, left_out: bool) -> Sentence | None:
    """Return why rows cannot be joined in cells, by the first circumstance that is true; None where they can."""
    obstacles = {"whole-clusters": clusters, "unlike-weights": importance, "unlike-exposures": exposure,
                 "unlike-levels": levels, "unlike-left-out": left_out}
    return next((sentence(code) for code, present in obstacles.items() if present), None)


def most_rows(plan: Plan) -> int:
    """Return the most rows of a dataset that are drawn one by one under `auto`."""
    compared = plan.task == "binary" and len(plan.models) > 1 and plan.compared
    return COMPARED if compared else ROWS


def drawing(plan: Plan) -> DrawingPlan:
    """Return what bootstrap replicates of every dataset resample, as far as it is decided before the data are read.

    Clusters, where there are any, are resampled whole, whatever engine.mode asks for. Otherwise mode "exact" resamples
    rows, and "grid" cells of like rows, which costs less, unless some rows cannot share a cell. Without a mode the
    number of rows decides, hence "auto". Data that are read part by part cannot be resampled row by row.
    """
    if not (plan.banded or plan.profit_drawn or any(plan.draws(entry) for entry in plan.entries)):
        return DrawingPlan("none", sentence("no-interval"))
    models = plan.models.values()
    no_cells = obstacle_of(
        clusters=plan.cluster is not None, importance=plan.importance, exposure=plan.exposure is not None,
        levels=plan.task in MANY and any(model.level_columns for model in models),
        left_out=any("loo_values" in model.gives for model in models))
    asks_for_grid = plan.mode == "grid"
    if plan.cluster is not None:
        grouped = sentence("groups-above", most=GROUPS, error=100 * group_error(GROUPS))
        return (DrawingPlan("clusters", grouped) if plan.streaming.streamed
                else DrawingPlan("clusters", sentence("whole-clusters"), refused=asks_for_grid))
    if plan.streaming.streamed:
        return DrawingPlan("cells", plan.streaming.reason)
    if plan.mode == "exact":
        return DrawingPlan("rows", sentence("mode-asked", mode="exact"))
    if no_cells is not None:
        return DrawingPlan("rows", no_cells, refused=asks_for_grid)
    auto = DrawingPlan("auto", sentence("up-to-rows", most=most_rows(plan)))
    return DrawingPlan("cells", sentence("mode-asked", mode="grid")) if asks_for_grid else auto
