"""Where cells of probabilities must end, so that measures of bins and at thresholds see the rows of each right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalpipe.plan.plan import Plan


class EdgesPlan(NamedTuple):
    """The numbers of ``bins`` of equal width, of ``digits`` that probabilities are rounded to, and ``thresholds``."""

    bins: tuple[int, ...]
    digits: tuple[int, ...]
    thresholds: tuple[float, ...]


def edges_of(plan: Plan) -> EdgesPlan:
    """Return what the measures, curves and models of a plan compare probabilities with."""
    measures = [*plan.entries, *(goal.entry for goal in plan.goals if goal.entry is not None)]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    bins = {int(leaf.params["bins"]) for leaf in leaves if "bins" in leaf.params} | {plan.calibration.bins}
    digits = {int(leaf.params["digits"]) for leaf in leaves if "digits" in leaf.params}
    asked = [leaf.params["threshold"] for leaf in leaves if isinstance(leaf.params.get("threshold"), float)]
    declared = [model.threshold.number for model in plan.models.values() if model.threshold.number is not None]
    return EdgesPlan(tuple(sorted(bins)), tuple(sorted(digits)), (*asked, *declared, *plan.marks))
