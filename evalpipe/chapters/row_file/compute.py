"""What each model says of each row of the evaluated datasets: a table for each model or variant, and its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.row_file.records import RowColumn
from evalpipe.engine.ranks import groups_of
from evalpipe.tasks import NUMBERS, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from evalpipe.base.arraytypes import Values
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.tasks import Task


def frames(plan: Plan, samples: Sequence[Sample]) -> Iterator[pl.DataFrame]:
    """Yield a table of the rows of each model and variant on each evaluated sample, in the canonical order of rows.

    One table is in memory at a time.
    """
    for sample in samples:
        for name in sample.models:
            yield _rows_of_model(plan, sample, name)


def columns_of(plan: Plan) -> tuple[RowColumn, ...]:
    """Return the name, type and meaning of each column of the row-level file of a plan, in order."""
    return columns(plan.task, plan.outcome.levels, plan.id)


def schema(plan: Plan) -> pl.Schema:
    """Return the types of the columns of the row-level file, by name."""
    import polars as pl

    types = {"text": pl.String(), "number": pl.Float64(), "whole number": pl.Int64(), "true or false": pl.Boolean()}
    return pl.Schema({column.name: types[column.type] for column in columns_of(plan)})


def _rows_of_model(plan: Plan, sample: Sample, name: str) -> pl.DataFrame:
    """Return the rows of one model as a table; columns that it does not give are null."""
    import polars as pl

    of_task = _item_values if sample.task in SCORES else _number_values if sample.task in NUMBERS else (
        _event_values if sample.task == "binary" else _level_values)
    values: dict[str, Values | pl.Series | str | float | None] = {
        "id": sample.ids, "dataset": sample.dataset, **sample.named(name),
        **of_task(plan, sample, sample.models[name]), "weight": sample.weight,
    }
    columns = []
    for column, kind in schema(plan).items():
        value = values[column]
        # One value, be it null, is repeated for all rows.
        columns.append(pl.Series(column, [value], dtype=kind).new_from_index(0, sample.n)
                       if value is None or isinstance(value, str | float) else pl.Series(column, value, dtype=kind))
    return pl.DataFrame(columns)


def _event_values(
    plan: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    """Return the columns of a model of a binary outcome, each [n] or None, by name."""
    probability, score = model.probability, model.score
    truth = np.asarray(sample.truth, bool)
    ranking = score if model.ranks is None else model.ranks
    first_group, last_group = (None, None) if ranking is None else groups_of(
        ranking, sample.weights, plan.gain_groups, counted=sample.weight_kind != "importance")
    return {
        "truth": _level_names(sample, np.where(truth, 0, 1)),
        "probability": probability,
        "score": model.source_scores if probability is not None else score,
        "predicted": None if model.predicted is None else _level_names(
            sample, np.where(np.asarray(model.predicted, bool), 0, 1), model),
        "threshold": model.threshold if model.cuts is None else np.asarray(model.threshold_at(model.cuts)),
        "residual": None if probability is None else truth - probability,
        "confidence": None if probability is None else np.maximum(probability, 1 - probability),
        "gain_group": first_group, "gain_group_last": last_group,
        "equivocal": _in_equivocal_zone(model),
    }


def _level_values(
    _: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    """Return the columns of a model of several levels, each [n] or None, by name."""
    probabilities = model.probability
    level_codes = np.arange(len(sample.levels))
    return {
        "truth": _level_names(sample, sample.truth),
        **{probability_column(sample.levels[k]): None if probabilities is None else probabilities[:, k]
           for k in level_codes},
        "predicted": None if model.predicted is None else _level_names(sample, model.predicted, model),
        "residual": None if probabilities is None else 1 - probabilities[np.arange(sample.n), sample.truth],
        "confidence": None if probabilities is None else probabilities.max(axis=1),
        "equivocal": _in_equivocal_zone(model),
    }


def _number_values(
    plan: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    """Return the columns of a model of numbers, each [n], by name."""
    predicted = np.asarray(model.predicted, float)
    values = {"truth": sample.truth, "prediction": predicted, "residual": sample.truth - predicted}
    return values | ({"exposure": sample.exposure} if plan.task == "count" else {})


def _item_values(
    plan: Plan, sample: Sample, model: Predictions  # noqa: ARG001 - as those of other tasks
) -> dict[str, Values | pl.Series | float | None]:
    """Return the columns of a model's scores of items, each [n] or None, by name."""
    items = model.items or {}
    return {"score": model.predicted, **{kind: items.get(kind) for kind in ("epochs", "successes", "wins")}}


def _level_names(sample: Sample, codes: Values, model: Predictions | None = None) -> pl.Series:
    """Return the names of levels by their codes [n]; null for rows in the equivocal zone of the ``model``."""
    import polars as pl

    is_equivocal = None if model is None else _in_equivocal_zone(model)
    level_codes = pl.Series(codes, dtype=pl.Int64)
    if is_equivocal is not None:
        level_codes = level_codes.set(pl.Series(is_equivocal), None)
    return pl.Series(sample.levels, dtype=pl.String).gather(level_codes)


def _in_equivocal_zone(model: Predictions) -> Values | None:
    """Return flags [n] of the rows in the equivocal zone; None of a model without such a zone."""
    return None if model.reportable is None else ~model.reportable


NUMBERED = ("The row's number in its file, from 1, as the spec names no id; where a dataset has several files, the "
            "number of the file and a colon stand before it.")
TRUTH = {"regression": "The true number.", "count": "The true count."}


def probability_column(level: str) -> str:
    """Return the name of the column of a level's probability."""
    return f"probability of {level}"


def columns(task: Task, levels: Sequence[str], identity: str | None) -> tuple[RowColumn, ...]:
    """Return name, type and meaning of the file's columns; ``identity`` is the column of row ids, None without."""
    id_meaning = NUMBERED if identity is None else f"The row's value in column '{identity}'."
    if task in SCORES:
        of_task = _item_columns()
    elif task in NUMBERS:
        of_task = _number_columns(task)
    else:
        of_task = _event_columns() if task == "binary" else _level_columns(levels)
    return tuple(RowColumn.model_validate({"name": name, "type": kind, "meaning": meaning}) for name, kind, meaning in (
        ("id", "text", id_meaning),
        ("dataset", "text", "The name of the dataset."),
        ("model", "text", "The name of the model."),
        ("variant", "text", "original, or the name of the recalibrated variant."),
        *of_task,
        ("weight", "number", "What the row weighs; empty where rows have no weights."),
    ))


def _item_columns() -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of the columns of scores of items."""
    yield "score", "number", "The score of the item, the mean over its epochs."
    yield "epochs", "number", "The number of its epochs."
    yield "successes", "number", "How many of them are successes; empty where it is not known what is."
    yield "wins", "number", "The share of the other models that scored less, ties one half; empty without others."


def _event_columns() -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of the columns of a binary outcome."""
    yield "truth", "text", "The true level."
    yield "probability", "number", "The probability of the event; empty where the model gives none."
    yield "score", "number", "The score, where the model gives one: a rank, or what the probability was made of."
    yield "predicted", "text", "The predicted level; empty in the equivocal zone, and where there is no threshold."
    yield "threshold", "number", ("The threshold in use for this row, of the probability where there is one; empty for "
                                  "classes that the model gives.")
    yield "residual", "number", "1 − probability for an event, −probability for the others."
    yield "confidence", "number", "The larger of the probabilities of the two levels."
    yield "gain_group", "whole number", ("The group of the gain table that the row is in, 1 for the highest scores. Of "
                                         "tied rows that a cut divides: the first group that has a part of them.")
    yield "gain_group_last", "whole number", "The last group that has a part of the rows tied with this one."
    yield "equivocal", "true or false", "Whether the row is in the equivocal zone; empty where none is declared."


def _level_columns(levels: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of the columns of an outcome of several levels."""
    yield "truth", "text", "The true level."
    for level in levels:
        yield probability_column(level), "number", "The probability of this level; empty where the model gives none."
    yield "predicted", "text", "The predicted level; empty in the equivocal zone."
    yield "residual", "number", "1 − the probability of the true level."
    yield "confidence", "number", "The largest of the probabilities of the levels."
    yield "equivocal", "true or false", "Whether the row is in the equivocal zone; empty where none is declared."


def _number_columns(task: Task) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of the columns of an outcome of numbers."""
    yield "truth", "number", TRUTH[task]
    yield "prediction", "number", "The predicted number; of a count with an exposure, the expected count in it."
    yield "residual", "number", "truth − prediction."
    if task == "count":
        yield "exposure", "number", "What the count was counted in; empty where the spec names no exposure."
