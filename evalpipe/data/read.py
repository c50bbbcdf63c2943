"""Step 3: read every dataset, check it, and put its rows in canonical order; or read the predictions of one model."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import expit, softmax
from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.base.lazy_polars import pl
from evalpipe.chapters.row_file.plan import row_file_plan
from evalpipe.data import checks, outcome_checks, prediction_files, rows, slices
from evalpipe.data.columns import FILE, POSITION, Columns, Rounded, rounding_warning
from evalpipe.data.further_columns import further_columns, shared_contents
from evalpipe.data.labels import declared_labels, known_rows, label_columns
from evalpipe.data.leaks import find_leaks
from evalpipe.data.outcome_checks import uneven_weights
from evalpipe.data.prediction_files import split_lists
from evalpipe.data.rows import load_whole
from evalpipe.data.sample import BootstrapFit, Predictions, Refit, Sample, ShownStep
from evalpipe.data.summary import absent_levels, input_files, one_cluster, summarise, unknown_conditions
from evalpipe.errors import DataError, Problem
from evalpipe.plan.sources import Fit
from evalpipe.tasks import MANY, NUMBERS, SCORES, WITHOUT_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.plan.plan import ModelPlan, Plan
    from evalpipe.results import Warned


def sort_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by all columns in turn.

    The columns up to the first of floats, scores as a rule, tell nearly all rows apart. Sorting by these, and by all
    columns only the rows that are left tied, takes half of the time and a part of the memory.
    """
    leading = _columns_to_first_float(table)
    if not leading or any(table[name].null_count() for name in leading):
        return table.sort(table.columns)
    order = np.lexsort([table[name].to_numpy() for name in reversed(leading)])
    *others, last = leading
    values = table[last].to_numpy()[order]
    ties = np.flatnonzero(values[1:] == values[:-1])  # of the column with most values, which leaves little to compare
    for name in others:
        values = table[name].to_numpy()
        ties = ties[values[order[ties]] == values[order[ties + 1]]]
    tied = np.union1d(ties, ties + 1)
    if len(tied):
        order_of_tied = table[order[tied]].with_row_index("\0row").sort(table.columns)["\0row"].to_numpy()
        order[tied] = order[tied][order_of_tied]
    return table[order]


def _columns_to_first_float(table: pl.DataFrame) -> list[str]:
    """Return the names of the columns up to the first of floats; none without floats, or where a text comes before."""
    for index, (name, dtype) in enumerate(table.schema.items()):
        if dtype.is_float():
            return [*table.columns[:index], name]
        if not (dtype.is_integer() or dtype.to_python() is bool):
            break
    return []


def sample(columns: Columns, levels: tuple[str, ...], baseline: float | None) -> Sample:
    """Return the sample of a dataset's checked columns: rows of weight zero dropped, the rest in canonical order.

    ``levels`` are the outcome's, ``baseline`` is the mean outcome of the reference datasets. A reference dataset
    without the outcome column has no rows here; its summary counts them.
    """
    rows, plan = columns.rows, columns.rows.plan
    role = rows.dataset.role
    # Files of predictions are columns of a dataset, and candidates have a reader of their own.
    assert role != "predictions" and role != "candidates"  # noqa: PLR1714, PT018, S101
    weight_kind = plan.weight.kind if plan.weight is not None and columns.weight is not None else None
    columns.further = further_columns(columns) if role == "evaluate" else None
    frame = sample_table(columns, levels)
    contents = None if columns.further is None else columns.further.sorted(frame, tuple(columns.shared))
    truth, weight = _column_array(frame, "truth"), _float_array(frame, "weight") if weight_kind is not None else None
    exposure = _float_array(frame, "exposure") if "exposure" in frame.columns else None
    summary = summarise(columns, frame, levels, counted=weight_kind == "frequency")
    models, refits, bootstrap = (
        ({}, {}, {}) if role == "reference" else _predictions_of_models(columns, frame, len(levels)))
    cluster = _column_array(frame, "cluster") if "cluster" in frame.columns else None
    warnings = (*unknown_conditions(rows.name, rows.unknown), *columns.warnings, *_prediction_warnings(columns))
    if role == "evaluate":
        warnings += (*absent_levels(summary, plan.task), *one_cluster(rows.name, cluster), *uneven_weights(summary))
    whole = Sample(
        rows.name, role, plan.task, levels, truth, weight, weight_kind, summary, input_files(columns),
        MappingProxyType(models), warnings, baseline, cluster, slices.requested_slices(columns, frame),
        slices.slices_to_search(columns, frame), exposure, frame["id"] if "id" in frame.columns else None,
        refits=MappingProxyType(refits), bootstrap=MappingProxyType(bootstrap),
        folds=slices.resampling_folds(columns, frame), row_columns=checks.row_column_values(columns, frame),
        contents=contents, leaks=MappingProxyType(columns.leaks), known=known_rows(columns, frame),
    )
    return replace(whole, steps=_shown_steps(columns, whole)) if role == "evaluate" else whole


def _shown_steps(columns: Columns, whole: Sample) -> Mapping[str, ShownStep]:
    """Return, by model with training steps, the step that the card shows and the sample at each other step.

    ``whole`` is the dataset's sample, which is copied with the predictions of another step.
    """
    steps: dict[str, dict[int, Sample]] = {}
    for fit, fit_columns, model in columns.predicted():
        if fit_columns.rows.step is not None:
            by_step = steps.setdefault(model.name, {})
            if not fit.is_shown:
                by_step[fit_columns.rows.step] = _sample_at_step(columns, fit_columns, model, whole)
    shown = {name: columns.of(name).rows.step or 0 for name in steps}
    return MappingProxyType({
        name: ShownStep(shown[name], MappingProxyType(others)) for name, others in steps.items()})


def _sample_at_step(columns: Columns, fit_columns: Columns, model: ModelPlan, whole: Sample) -> Sample:
    """Return the sample with a model's predictions at one step, from ``fit_columns``, in canonical order."""
    predictions = _predictions_by_kind(columns, fit_columns, model, whole.levels)
    predicted = {f"{kind} 0": values for kind, values in predictions.items()}
    frame = _weighing_rows(columns, _outcome_columns(columns, whole.levels) | predicted)
    weight = None if whole.weight is None else _float_array(frame, "weight")
    exposure = None if whole.exposure is None else _float_array(frame, "exposure")
    models = MappingProxyType({model.name: model_predictions(frame, 0, model, len(whole.levels))})
    return replace(whole, truth=_column_array(frame, "truth"), weight=weight, exposure=exposure, models=models,
                   files=(), warnings=(), cluster=None, slicings=(), searched=(), ids=None, folds=None,
                   row_columns=MappingProxyType({}), contents=None)


def _predictions_of_models(columns: Columns, frame: pl.DataFrame, levels: int) -> tuple[
    dict[str, Predictions], dict[str, tuple[Refit, ...]], dict[str, tuple[BootstrapFit, ...]],
]:
    """Return the predictions of every model, its other fits, and its bootstrap fits, each by model."""
    models: dict[str, Predictions] = {}
    refits: dict[str, tuple[Refit, ...]] = {}
    bootstrap: dict[str, tuple[BootstrapFit, ...]] = {}
    queries = columns.rows.dataset.table.scores
    for number, (fit, fit_columns, model) in enumerate(_predicted_fits(columns)):
        predictions = model_predictions(frame, number, model, levels)
        if queries is not None and model.name in queries.queries:
            predictions = replace(predictions, queries=queries.queries[model.name])
        if fit.is_shown:
            models[model.name] = predictions
        elif fit.kind == "bootstrap":
            draw_counts = _float_array(frame, f"drawn {number}")
            bootstrap_fit = BootstrapFit(str(fit_columns.rows.sources[0].path), predictions, draw_counts)
            bootstrap[model.name] = (*bootstrap.get(model.name, ()), bootstrap_fit)
        else:
            refit = Refit(str(fit_columns.rows.sources[0].path), predictions)
            refits[model.name] = (*refits.get(model.name, ()), refit)
    return models, refits, bootstrap


def _predicted_fits(columns: Columns) -> Iterator[tuple[Fit, Columns, ModelPlan]]:
    """Yield each fit but other training steps, with its columns and its model; fits on the card come first."""
    yield from (predicted for predicted in columns.predicted() if predicted[0].kind != "step")


def _prediction_warnings(columns: Columns) -> Iterator[Warned]:
    """Yield warnings of rows without predictions and of rounded probabilities, at any step and in any fit."""
    rows = columns.rows
    if rows.incomplete:
        yield prediction_files.left_out_warning(
            rows.name, rows.incomplete, rows.incomplete + rows.frame.height, rows.lacking)
    rounded: dict[str, list[Rounded]] = {}
    for _, fit_columns, model in columns.predicted():
        roundings = rounded.setdefault(model.name, [])
        roundings += [fit_columns.rounded[model.name]] if model.name in fit_columns.rounded else []
    for name, roundings in rounded.items():
        if roundings:
            yield rounding_warning(rows.name, name, roundings)


def sample_table(columns: Columns, levels: tuple[str, ...], *, sort: bool = True) -> pl.DataFrame:
    """Return outcome, weight, predictions and slices of the rows as a table, without rows of weight zero.

    With ``sort`` it is sorted by all columns in turn, so the order of the rows in the files changes nothing.
    Sorting numbers the clusters by their names, from 0.
    """
    plan, truth = columns.rows.plan, columns.truth
    if truth is None:
        return pl.DataFrame(schema={"truth": pl.Boolean})
    if columns.rows.dataset.role == "reference" and not plan.gives_prevalence(columns.rows.name):
        return pl.DataFrame({"truth": _level_codes(plan.task, truth, levels).alias("truth").drop_nulls()}).sort("truth")
    frame = _outcome_columns(columns, levels)
    if plan.cluster is not None:
        frame["cluster"] = columns.names[plan.cluster]
    # Predictions and slices are columns of the one table that is sorted, so that all stay beside their rows.
    has_predictions = columns.rows.dataset.role != "reference"
    shown_fits, other_fits = _prediction_columns(columns, levels) if has_predictions else ({}, {})
    # Other fits, columns that residuals are set against and ids last, so that they order only rows that are the same
    # in all else: no number depends on them.
    frame |= shown_fits | label_columns(columns, levels) | slices.slice_columns(columns)
    frame |= other_fits | checks.numbered_row_columns(columns)
    named = plan.task in SCORES or plan.part(row_file_plan) is not None
    if named and columns.rows.dataset.role == "evaluate":
        frame["id"] = _row_names(columns).alias("id")
    if columns.further is not None:
        frame |= columns.further.series
    return _weighing_rows(columns, frame, sort=sort)


def _outcome_columns(columns: Columns, levels: tuple[str, ...]) -> dict[str, pl.Series]:
    """Return the columns "truth" and, where the plan has them, "weight" and "exposure"."""
    plan, truth = columns.rows.plan, columns.truth
    assert truth is not None  # noqa: S101 - evaluated rows have an outcome
    codes = _level_codes(plan.task, truth, levels).alias("truth")
    # A row without an outcome, which only labels allow, counts as none of its truth's values: see `KnownRows`.
    frame = {"truth": codes if declared_labels(columns) is None else codes.fill_null(value=False)}
    if columns.weight is not None:
        frame["weight"] = columns.weight
    if plan.exposure is not None:
        frame["exposure"] = columns.numbers[plan.exposure.column]
    return frame


def _weighing_rows(columns: Columns, frame: Mapping[str, pl.Series], *, sort: bool = True) -> pl.DataFrame:
    """Return the rows with a weight above zero as a table, sorted by all columns in turn.

    Clusters become numbers, so that neither the order of rows nor the names of clusters change a result. Without
    ``sort`` both stay, for rows that are read part by part.
    """
    table = pl.DataFrame(frame)
    if columns.rows.plan.weight is not None:
        table = table.filter(pl.col("weight") > 0)
    if sort and "cluster" in table.columns:
        table = table.with_columns((pl.col("cluster").rank("dense") - 1).cast(pl.Int64))
    return sort_rows(table) if sort else table


def _row_names(columns: Columns) -> pl.Series:
    """Return a name for each row [n]: its id, else its row number, such as "12", or "2:12" in the second of files."""
    rows = columns.rows
    if rows.plan.id is not None:
        return columns.names[rows.plan.id]
    positions = rows.frame[POSITION]
    numbers = (positions % FILE).cast(pl.String)
    if len(rows.sources) == 1:
        return numbers
    return pl.select(pl.concat_str(positions // FILE + 1, pl.lit(":"), numbers)).to_series()


def _prediction_columns(
    columns: Columns, levels: tuple[str, ...]
) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    """Return the columns of predictions by kind and number of the fit, as "score 0": of shown fits, and of others."""
    shown_fits: dict[str, pl.Series] = {}
    other_fits: dict[str, pl.Series] = {}
    for number, (fit, fit_columns, model) in enumerate(_predicted_fits(columns)):
        by_kind = _predictions_by_kind(columns, fit_columns, model, levels)
        if fit.kind == "bootstrap":
            by_kind["drawn"] = fit_columns.numbers[str(model.draw_count_column)]
        fits = shown_fits if fit.is_shown else other_fits
        fits |= {f"{kind} {number}": values for kind, values in by_kind.items()}
    return shown_fits, other_fits


def _predictions_by_kind(
    columns: Columns, fit_columns: Columns, model: ModelPlan, levels: tuple[str, ...]
) -> dict[str, pl.Series]:
    """Return a model's predictions in the columns ``fit_columns`` by kind, with rates turned into expected counts.

    The prediction of a linear fit without the row leaves a residual of its residual / (1 - leverage): Allen (1974).
    """
    plan = columns.rows.plan
    by_kind = predicted(plan, model, fit_columns, levels, rescale=model.name in fit_columns.rounded)
    if model.rate is not None and plan.exposure is not None:
        by_kind["predicted"] = fit_columns.numbers[model.rate] * columns.numbers[plan.exposure.column]
    if model.leverage is not None:
        leverage, fitted = fit_columns.numbers[model.leverage], by_kind["predicted"]
        by_kind["left out"] = fitted - (columns.numbers[plan.outcome.column] - fitted) * leverage / (1 - leverage)
    return by_kind


def _level_codes(task: str, values: pl.Series, levels: tuple[str, ...]) -> pl.Series:
    """Return levels [n] as flags of the event (binary) or indices in ``levels``; numbers as they are."""
    if task in WITHOUT_LEVELS:
        return values
    if task == "binary":
        return values == levels[0]
    return values.replace_strict({level: index for index, level in enumerate(levels)}, default=None,
                                 return_dtype=pl.Int64)


def predicted(
    plan: Plan, model: ModelPlan, columns: Columns, levels: tuple[str, ...], *, rescale: bool = False
) -> dict[str, pl.Series]:
    """Return a model's predictions [n] by kind.

    Kinds are "score"; "chance", the probability; "score of k" and "chance of k" for level number k; "predicted",
    the class or number; "left out", the leave-one-out prediction. ``columns`` are the checked columns; ``rescale``
    divides probabilities of levels by their sum.
    """
    by_kind: dict[str, pl.Series] = {}
    values = columns.numbers
    if plan.task in SCORES:
        return {kind: values[column] for kind, column in model.columns.items()}
    rescale = rescale or model.renormalise
    if plan.task in MANY:
        by_kind |= _level_predictions(model, values, rescale=rescale)
    else:
        ranking = _binary_score(model, values, rescale=rescale)
        if ranking is not None:
            by_kind["score"] = ranking  # never the logistic function of a score, which would round it to ties
        if ranking is not None and model.scale is not None:
            by_kind["chance"] = pl.Series(ranking.name, expit(ranking.to_numpy()))
    if model.prediction is not None:
        columns_of_classes = values if plan.task in NUMBERS else columns.levels
        by_kind["predicted"] = _level_codes(plan.task, columns_of_classes[model.prediction], levels)
    if model.loo_prediction is not None:
        by_kind["left out"] = values[model.loo_prediction]
    return by_kind


def _binary_score(model: ModelPlan, values: Mapping[str, pl.Series], *, rescale: bool) -> pl.Series | None:
    """Return the score [n] that ranks rows by the event: score over its norm, or probability; None without either.

    Scores of both levels give their difference, whose logistic function is their softmax.
    """
    if model.level_columns:
        event_values, other_values = (values[column] for column in model.level_columns.values())
        if model.scores:
            return event_values - other_values
        return event_values / (event_values + other_values) if rescale else event_values
    column = model.probability if model.score is None else model.score
    if column is None or model.norm is None:
        return None if column is None else values[column]
    # numpy, because polars multiplies by the reciprocal.
    return pl.Series(column, values[column].to_numpy() / model.norm)


def _level_predictions(model: ModelPlan, values: Mapping[str, pl.Series], *, rescale: bool) -> dict[str, pl.Series]:
    """Return columns "score of k" where the model has scores, and "chance of k", the probabilities, for each level k.

    Probabilities are the softmax of scores; those that the model gives are divided by their sum with ``rescale``.
    """
    columns = model.level_columns
    if not columns:
        return {}
    table = pl.DataFrame({f"{k}": values[column] for k, column in enumerate(columns.values())})
    if model.scores:
        probabilities = pl.DataFrame(softmax(table.to_numpy()), table.columns)
    else:
        probabilities = table.select(pl.all() / pl.sum_horizontal(pl.all())) if rescale else table
    scores = {f"score of {k}": table[k] for k in table.columns} if model.scores else {}
    return scores | {f"chance of {k}": probabilities[k] for k in probabilities.columns}


def model_predictions(frame: pl.DataFrame, number: int, model: ModelPlan, levels: int) -> Predictions:
    """Return the predictions of a model's fit from ``frame``, the dataset's sorted table.

    ``number`` is that of the fit, which ends the names of its columns, as in "score 0"; ``levels`` is the number
    of the outcome's levels.
    """
    def column(kind: str) -> Values | None:
        return _column_array(frame, f"{kind} {number}") if f"{kind} {number}" in frame.columns else None

    def matrix(kind: str) -> Floats:
        columns = [_float_array(frame, f"{kind} of {level} {number}") for level in range(levels)]
        return _read_only(np.column_stack(columns))

    if f"chance of 0 {number}" in frame.columns:
        score = matrix("score") if model.scores else None
        given = Predictions(
            score, matrix("chance"), column("predicted"), zone=model.zone, log_odds=score is not None)
        return given if given.predicted is not None else given.classified_by_highest()
    if f"epochs {number}" in frame.columns:
        numbers_of_items = {kind: _float_array(frame, f"{kind} {number}") for kind in model.columns}
        return Predictions(None, None, numbers_of_items.pop("score"), items=MappingProxyType(numbers_of_items))
    predicted, score, probability, zone = column("predicted"), column("score"), column("chance"), model.zone
    # A model that gives the probability itself is ranked by it, so the score is the probability.
    if probability is None and "probabilities" in model.gives:
        probability = score
    predictions = Predictions(
        score, probability, predicted, left_out=column("left out"), zone=zone, log_odds=model.scale is not None)
    threshold = model.threshold.number
    if threshold is None or score is None:
        return predictions
    cut = predictions.score_cutoff(threshold)
    return replace(predictions.classified(cut, threshold), threshold=threshold, cut=cut)


def _column_array(frame: pl.DataFrame, name: str) -> Values:
    """Return a column as a read-only array [n] of flags, level indices or numbers."""
    values = np.ascontiguousarray(frame[name].to_numpy())
    return _read_only(values.astype(np.intp) if values.dtype.kind in "iu" else values)


def _float_array(frame: pl.DataFrame, name: str) -> Floats:
    """Return a column as a read-only array [n] of floats."""
    return _read_only(np.ascontiguousarray(frame[name].to_numpy(), dtype=np.float64))


def _read_only(array: Values) -> Values:
    """Make an array read-only, for all computations share a sample's arrays."""
    array.flags.writeable = False
    return array


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
    numeric = _number_columns(plan)
    problems: dict[str, list[Problem]] = {}
    read_columns: dict[str, Columns] = {}
    for dataset in plan.datasets:
        texts = [column for column in dataset.columns if column == plan.id]  # an id is read as it is written
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
    levels = () if plan.task in WITHOUT_LEVELS else outcome_checks.settle_levels(plan, with_levels, references)
    calibrating = [columns for columns in predicted if columns.rows.dataset.role == "calibrate"]
    for columns in predicted:
        is_evaluated = columns.rows.dataset.role == "evaluate"
        for other in (*references, *(calibrating if is_evaluated else ())):  # with which no row may be shared
            if plan.task in SCORES:
                find_leaks(columns, other)
                continue
            columns.problems.extend(checks.shared_rows(columns, other))
            columns.shared.extend(shared_contents(columns.rows, other.rows))
        columns.problems.extend(prediction_files.step_faults(columns))
    all_problems = [problem for dataset in plan.datasets for problem in problems[dataset.name]]
    all_problems += prediction_files.differing_last_steps(predicted)
    if all_problems:
        raise DataError(*all_problems)
    training_mean = training_mean_of(plan, references)
    return tuple(sample(read_columns[dataset.name], levels, training_mean) for dataset in plan.datasets)


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
    by_kind = predicted(plan, model, columns, plan.outcome.levels, rescale=name in columns.rounded)
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
