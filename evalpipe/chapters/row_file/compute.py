"""What each model says of each row of the evaluated datasets: a table for each model or variant on a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.row_file.compute_columns import chance_of, columns
from evalpipe.engine.ranks import groups_of
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.chapters.row_file.records import RowColumn
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan


def frames(plan: Plan, samples: Sequence[Sample]) -> Iterator[pl.DataFrame]:
    """Yield the lines of each model and variant on each evaluated sample; rows in the sample's canonical order.

    Each table is made when it is asked for, so that one is in memory at a time.
    """
    for sample in samples:
        for name in sample.models:
            yield _frame(plan, sample, name)


def columns_of(plan: Plan) -> tuple[RowColumn, ...]:
    """Return the columns of a plan's file, in order."""
    return columns(plan.task, plan.outcome.levels, plan.id)


def schema(plan: Plan) -> pl.Schema:
    """Return the types of the columns."""
    import polars as pl

    types = {"text": pl.String(), "number": pl.Float64(), "whole number": pl.Int64(), "true or false": pl.Boolean()}
    return pl.Schema({column.name: types[column.type] for column in columns_of(plan)})


def _frame(plan: Plan, sample: Sample, name: str) -> pl.DataFrame:
    """Return the lines of one model; what it does not give is null."""
    import polars as pl

    of_task = _of_numbers if sample.task in NUMBERS else _of_event if sample.task == "binary" else _of_levels
    values: dict[str, Values | pl.Series | str | float | None] = {
        "id": sample.ids, "dataset": sample.dataset, **sample.named(name),
        **of_task(plan, sample, sample.models[name]), "weight": sample.weight,
    }
    return pl.DataFrame([_column(column, kind, values[column], sample.n) for column, kind in schema(plan).items()])


def _column(
    name: str, kind: pl.DataType, value: Values | pl.Series | str | float | None, n: int
) -> pl.Series:
    """Return a column [n] of values, or of one that all rows have."""
    import polars as pl

    if value is None or isinstance(value, str | float):
        return pl.Series(name, [value], dtype=kind).new_from_index(0, n)
    return pl.Series(name, value, dtype=kind)


def _of_event(
    plan: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    chance, score = model.probability, model.score
    truth = np.asarray(sample.truth, bool)
    ranking = score if model.ranks is None else model.ranks
    first, last = (None, None) if ranking is None else groups_of(
        ranking, sample.weights, plan.gain_groups, whole=sample.weight_kind != "importance")
    return {
        "truth": _levels(sample, np.where(truth, 0, 1)),
        "probability": chance,
        "score": model.made_of if chance is not None else score,
        "predicted": None if model.predicted is None else _levels(
            sample, np.where(np.asarray(model.predicted, bool), 0, 1), model),
        "threshold": model.threshold if model.cuts is None else _written(model, model.cuts),
        "residual": None if chance is None else truth - chance,
        "confidence": None if chance is None else np.maximum(chance, 1 - chance),
        "gain_group": first, "gain_group_last": last,
        "equivocal": _equivocal(model),
    }


def _written(model: Predictions, cuts: Floats) -> Floats:
    """Return the cuts of the score as thresholds are written, [n]."""
    return np.asarray(model.threshold_at(cuts))


def _of_levels(
    _: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    chances = model.probability
    places = np.arange(len(sample.levels))
    return {
        "truth": _levels(sample, sample.truth),
        **{chance_of(sample.levels[k]): None if chances is None else chances[:, k] for k in places},
        "predicted": None if model.predicted is None else _levels(sample, model.predicted, model),
        "residual": None if chances is None else 1 - chances[np.arange(sample.n), sample.truth],
        "confidence": None if chances is None else chances.max(axis=1),
        "equivocal": _equivocal(model),
    }


def _of_numbers(
    plan: Plan, sample: Sample, model: Predictions
) -> dict[str, Values | pl.Series | float | None]:
    predicted = np.asarray(model.predicted, float)
    values = {"truth": sample.truth, "prediction": predicted, "residual": sample.truth - predicted}
    return values | ({"exposure": sample.exposure} if plan.task == "count" else {})


def _levels(sample: Sample, codes: Values, model: Predictions | None = None) -> pl.Series:
    """Return the names of levels by their places [n]; null where the ``model`` reports no class."""
    import polars as pl

    unreported = None if model is None else _equivocal(model)
    places = pl.Series(codes, dtype=pl.Int64)
    if unreported is not None:
        places = places.set(pl.Series(unreported), None)
    return pl.Series(sample.levels, dtype=pl.String).gather(places)


def _equivocal(model: Predictions) -> Values | None:
    """Return whether rows are in the equivocal zone, [n]; None where there is none."""
    return None if model.reportable is None else ~model.reportable
