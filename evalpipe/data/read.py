"""Step 3: read every dataset, check it, and put its rows in canonical order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.data import baseline, build, checks, leaks, outcome, rows, stepped
from evalpipe.errors import DataError, Problem
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from evalpipe.data.columns import Columns
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


def read(plan: Plan, frames: Mapping[str, pl.DataFrame] | None = None) -> tuple[Sample, ...]:
    """Return one sample per dataset, in the plan's order; ``frames`` are datasets held in memory, by name.

    Raises DataError with every problem of every dataset.
    """
    texts, numeric = () if plan.id is None else (plan.id,), _numeric(plan)  # an id is read as it is written
    problems: dict[str, list[Problem]] = {}
    read_columns: dict[str, Columns] = {}
    for dataset in plan.datasets:
        loaded = rows.load(plan, dataset, (frames or {}).get(dataset.name), texts)
        if isinstance(loaded, list):
            problems[dataset.name] = loaded
            continue
        columns = checks.loose(loaded, numeric) if dataset.role == "reference" else checks.check(loaded)
        read_columns[dataset.name], problems[dataset.name] = columns, columns.problems
    predicted = [columns for columns in read_columns.values() if columns.rows.dataset.role != "reference"]
    references = [columns for columns in read_columns.values() if columns.rows.dataset.role == "reference"]
    sources = [columns for columns in references if plan.gives_prevalence(columns.rows.name)]
    # After all datasets are read: the level of a binary outcome that is not the event may occur in one alone.
    levels = () if plan.task in NUMBERS else outcome.settle(plan, [*predicted, *sources], references)
    _compare(predicted, references)
    for columns in predicted:
        columns.problems.extend(stepped.faults(columns))
    all_problems = [problem for dataset in plan.datasets for problem in problems[dataset.name]]
    all_problems += stepped.shown_apart(predicted)
    if all_problems:
        raise DataError(*all_problems)
    training_mean = baseline.of(plan, references)
    return tuple(build.sample(read_columns[dataset.name], levels, training_mean) for dataset in plan.datasets)


def _compare(predicted: Sequence[Columns], references: Sequence[Columns]) -> None:
    """Report rows that datasets share and must not."""
    for columns in predicted:
        for reference in references:
            columns.problems.extend(leaks.shared(columns, reference))
        if columns.rows.dataset.role == "evaluate":
            for calibrating in (other for other in predicted if other.rows.dataset.role == "calibrate"):
                columns.problems.extend(leaks.shared(columns, calibrating))


def _numeric(plan: Plan) -> frozenset[str]:
    """Return the columns that hold numbers."""
    weight = {plan.weight.column} if plan.weight is not None else set()
    exposure = {plan.exposure.column} if plan.exposure is not None else set()
    numbers = plan.task in NUMBERS
    named = {
        column
        for model in plan.models.values()
        if not model.separate
        for kind, column in model.columns.items()
        if numbers or kind != "prediction"
    }
    return frozenset(weight | exposure | named | ({plan.outcome.column} if numbers else set()))
