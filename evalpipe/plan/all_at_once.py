"""What needs the rows of a dataset all at once, and whether they are read part by part instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Problem, SpecError
from evalpipe.plan.streaming import StreamingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.origin import Loc
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

ROWS = 20_000_000
"""Rows beyond which a dataset is not held unless the spec asks for it."""

SCORED = 3
"""The most models with scores whose joint cells can be counted."""



def streaming_plan(plan: Plan) -> StreamingPlan:
    """Decide whether rows are streamed; raises SpecError where the spec asks for it and something needs them held."""
    files = [dataset for dataset in plan.datasets if dataset.table.format != "memory"]
    if plan.mode == "exact" or not files:
        return StreamingPlan("engine.mode is exact" if plan.mode == "exact" else "the data are in memory already")
    hindrances = list(_hindrances(plan))
    if plan.mode == "grid":
        if hindrances:
            raise SpecError(*(_problem(plan, loc, what) for loc, what in hindrances))
        return StreamingPlan("engine.mode is grid", streamed=True)
    rows = max((dataset.table.rows or 0 for dataset in files), default=0)
    if rows <= ROWS:
        return StreamingPlan(f"no dataset has more than {ROWS:,} rows")
    if hindrances:
        return StreamingPlan(f"{rows:,} rows are held, as {hindrances[0][1]} needs them all at once")
    return StreamingPlan(f"{rows:,} rows are more than {ROWS:,}", streamed=True)


def _problem(plan: Plan, loc: Loc, what: str) -> Problem:
    place = plan.places.place(*loc) or plan.places.place("engine", "mode")
    message = f"{what} needs all rows at once, but engine.mode is grid, which reads them part by part"
    hint = "remove it, or set engine.mode to auto or exact, which hold the rows"
    return Problem("needs-all-rows", message, place, hint)


def _hindrances(plan: Plan) -> Iterator[tuple[Loc, str]]:
    """Yield what needs the rows to be held: the place of its key, and what messages call it."""
    if plan.task != "binary":
        yield ("task",), f"the task {plan.task}"
    yield from _of_rows(plan)
    for name in plan.models:
        yield from _of_model(plan, name)
    scored = [name for name, model in plan.models.items() if "scores" in model.gives]
    if len(scored) > SCORED:
        yield ("models", scored[SCORED]), f"a comparison of {len(scored)} models with scores, more than {SCORED},"
    for dataset in plan.datasets:
        yield from _of_dataset(dataset)
    if plan.recalibrate.folds is not None:
        yield ("recalibrate", "fit_on"), "cross-fitting of recalibrators"
    if plan.slices.slicings:
        yield ("slices",), "slicing"
    if plan.slices.worst is not None:
        yield ("slice_rules", "worst"), "the search for the worst slices"
    if plan.deviance is not None:
        yield ("deviance",), "the analysis of deviance"


def _of_rows(plan: Plan) -> Iterator[tuple[Loc, str]]:
    if plan.importance:
        yield ("weight",), "importance weights"
    if plan.cluster is not None:
        yield ("cluster",), "resampling clusters"
    if plan.id is not None:
        yield ("id",), "the check that no id stands twice"
    if plan.complete_case:
        yield ("complete_case",), "leaving out incomplete rows"
    if plan.row_file is not None:
        yield ("report", "rows"), "the row-level file"


def _of_model(plan: Plan, name: str) -> Iterator[tuple[Loc, str]]:
    model = plan.models[name]
    if model.separate:
        yield ("models", name, "predictions"), f"the file of predictions of model '{name}'"
    if model.raw:
        yield ("models", name, "score"), f"the score of model '{name}', which is no probability and has no 'scale',"
    for rule in (model.threshold.rule, model.threshold.variant_rule):
        if rule is not None and rule.folds is not None:
            yield ("models", name, "threshold"), f"the cross-fitted threshold of model '{name}'"


def _of_dataset(dataset: DatasetPlan) -> Iterator[tuple[Loc, str]]:
    if dataset.role == "reference":
        yield ("datasets", dataset.name), f"the comparison with the rows of the reference dataset '{dataset.name}'"
    if dataset.table.format in ("csv", "tsv", "ndjson") and dataset.conditions:
        yield ("datasets", dataset.name), f"a condition on dataset '{dataset.name}', whose format has no types,"
