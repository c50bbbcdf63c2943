"""Step 3: read every dataset, check it, and put its rows in canonical order; or read the predictions of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.base.lazy_polars import pl
from evalpipe.data import checks, leakage, outcome_checks, prediction_files, rows, sample_arrays
from evalpipe.data.columns import POSITION, Columns
from evalpipe.data.further_columns import shared_contents
from evalpipe.data.prediction_files import split_lists
from evalpipe.data.rows import load_whole
from evalpipe.errors import DataError, Problem
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


def training_mean_of(plan: Plan, references: Sequence[Columns]) -> float | None:
    """Return the mean outcome over all reference datasets together; None where none has the outcome.

    With an exposure it is the rate: the total of the outcome over that of the exposure, of the rows that have both.
    """
    if plan.task not in NUMBERS:
        return None
    if plan.exposure is None:
        outcomes = [columns.truth for columns in references if columns.truth is not None]
        values = pl.concat(outcomes).drop_nulls().drop_nans() if outcomes else pl.Series(dtype=pl.Float64)
        return float(values.to_numpy().mean()) if len(values) else None
    exposure = plan.exposure.column
    frames = [
        pl.DataFrame({"count": columns.truth, "exposure": columns.numbers[exposure]})
        for columns in references if columns.truth is not None and exposure in columns.numbers
    ]
    if not frames:
        return None
    complete = pl.concat(frames).fill_nan(None).drop_nulls().filter(pl.col("exposure").is_between(SMALLEST, LARGEST))
    # By numpy, for polars sums each of the parts that a file was read in, and the machine decides how many.
    events, total = (float(complete[name].to_numpy().sum()) for name in ("count", "exposure"))
    return events / total if complete.height else None


def read(plan: Plan, frames: Mapping[str, pl.DataFrame] | None = None) -> tuple[Sample, ...]:
    """Return one sample per dataset, in the plan's order; ``frames`` are datasets in memory, by name.

    Raises DataError with every problem of every dataset.
    """
    texts, numeric = () if plan.id is None else (plan.id,), _number_columns(plan)  # an id is read as it is written
    problems: dict[str, list[Problem]] = {}
    read_columns: dict[str, Columns] = {}
    for dataset in plan.datasets:
        loaded = rows.load(plan, dataset, (frames or {}).get(dataset.name), texts)
        if isinstance(loaded, list):
            problems[dataset.name] = loaded
            continue
        columns = checks.check_reference(loaded, numeric) if dataset.role == "reference" else checks.check(loaded)
        read_columns[dataset.name], problems[dataset.name] = columns, columns.problems
    predicted = [columns for columns in read_columns.values() if columns.rows.dataset.role != "reference"]
    references = [columns for columns in read_columns.values() if columns.rows.dataset.role == "reference"]
    with_levels = [*predicted, *(columns for columns in references if plan.gives_prevalence(columns.rows.name))]
    # After all datasets are read: the level of a binary outcome that is not the event may occur in one alone.
    levels = () if plan.task in NUMBERS else outcome_checks.settle_levels(plan, with_levels, references)
    calibrating = [columns for columns in predicted if columns.rows.dataset.role == "calibrate"]
    for columns in predicted:
        is_evaluated = columns.rows.dataset.role == "evaluate"
        for other in (*references, *(calibrating if is_evaluated else ())):  # with which no row may be shared
            columns.problems.extend(leakage.shared_rows(columns, other))
            columns.shared.extend(shared_contents(columns.rows, other.rows))
        columns.problems.extend(prediction_files.step_faults(columns))
    all_problems = [problem for dataset in plan.datasets for problem in problems[dataset.name]]
    all_problems += prediction_files.differing_last_steps(predicted)
    if all_problems:
        raise DataError(*all_problems)
    training_mean = training_mean_of(plan, references)
    return tuple(sample_arrays.sample(read_columns[dataset.name], levels, training_mean) for dataset in plan.datasets)


def _number_columns(plan: Plan) -> frozenset[str]:
    """Return the columns of datasets that are read as numbers."""
    weight = {plan.weight.column} if plan.weight is not None else set()
    exposure = {plan.exposure.column} if plan.exposure is not None else set()
    outcome_is_number = plan.task in NUMBERS
    prediction_columns = {
        column
        for model in plan.models.values()
        if not model.has_own_files
        for kind, column in model.columns.items()
        if outcome_is_number or kind != "prediction"
    }
    return frozenset(weight | exposure | prediction_columns | ({plan.outcome.column} if outcome_is_number else set()))


def read_predictions(plan: Plan, frame: pl.DataFrame | None) -> tuple[pl.DataFrame, Floats, Floats | None]:
    """Read the dataset of a plan with one dataset and one model: all its columns, its predictions, and its scores.

    The rows are those of ``frame`` where there is one. Predictions are probabilities of the event [n], of all levels
    [n, K], or numbers [n], in the order of the rows. Scores, of the same shape, are those that probabilities were
    computed from, or None; raw scores are returned as both. Raises DataError with every problem.
    """
    (dataset,), (name,) = plan.datasets, plan.models
    rows, problems = load_whole(plan, dataset, frame, ())
    if rows is None:
        raise DataError(*problems)
    parts, _, problems = split_lists(rows, {})
    if problems:
        raise DataError(*problems)
    columns, model = Columns(parts), plan.models[name]
    check = outcome_checks.check_predicted_numbers if plan.task in NUMBERS else checks.check_model_predictions
    check(columns, name, model)
    if columns.problems:
        raise DataError(*columns.problems)
    by_kind = sample_arrays.predicted(plan, model, columns, plan.outcome.levels, rescale=name in columns.rounded)
    probabilities, scores = (
        [by_kind[key].to_numpy() for key in by_kind if key.startswith(kind)] for kind in ("chance", "score")
    )
    if plan.task in NUMBERS:
        probabilities, scores = [by_kind["predicted"].to_numpy()], []
    score = _as_table(scores) if scores and (probabilities or model.score is not None) else None
    return rows.frame.drop(POSITION), _as_table(probabilities or scores), score


def _as_table(columns: list[Values]) -> Floats:
    """Return a single column as an array [n], several as [n, K]."""
    return np.asarray(columns[0] if len(columns) == 1 else np.column_stack(columns), float)
