"""The sample of a dataset that has passed the checks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.data import slices
from evalpipe.data.sample import Predictions, Sample
from evalpipe.data.summary import absent_levels, files, one_cluster, summarise
from evalpipe.plan import level_columns, threshold, zone
from evalpipe.spec.models import gives
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.columns import Columns
    from evalpipe.data.sample import Floats
    from evalpipe.spec.models import Model, Spec


def sample(columns: Columns, levels: tuple[str, ...], baseline: float | None) -> Sample:
    """Return the sample: rows of weight zero dropped, the rest in canonical order.

    A reference dataset without the outcome column has no rows here; its summary counts them.
    """
    rows, spec = columns.rows, columns.rows.spec
    role = rows.plan.role
    assert role != "predictions"  # noqa: S101 - files of predictions are columns of a dataset
    kind = spec.weight.kind if spec.weight is not None and role != "reference" else None
    frame = _ordered(columns, levels)
    truth, weight = _array(frame, "truth"), _floats(frame, "weight") if kind is not None else None
    summary = summarise(columns, frame, levels, whole=kind == "frequency")
    models = {}
    if role != "reference":
        for number, (name, model) in enumerate(spec.models.items()):
            models[name] = _predictions(frame, number, spec, model, len(levels))
    cluster = _array(frame, "cluster") if "cluster" in frame.columns else None
    warnings = tuple(columns.warnings)
    if role == "evaluate":
        warnings += (*absent_levels(summary, spec.task), *one_cluster(rows.name, cluster))
    return Sample(
        rows.name, role, spec.task, levels, truth, weight, kind, summary, files(columns),
        MappingProxyType(models), warnings, baseline, cluster, slices.asked(columns, frame),
        slices.searched(columns, frame),
    )


def _ordered(columns: Columns, levels: tuple[str, ...]) -> pl.DataFrame:
    """Return what the sample holds as columns, sorted by all of them in turn; the rows that count only."""
    import polars as pl

    spec, values = columns.rows.spec, columns.values
    truth = values.get(spec.outcome.column)
    if truth is None:
        return pl.DataFrame(schema={"truth": pl.Boolean})
    coded = _coded(spec.task, truth, levels).alias("truth")
    if columns.rows.plan.role == "reference":
        return pl.DataFrame({"truth": coded.drop_nulls()}).sort("truth")
    frame = {"truth": coded}
    if spec.weight is not None:
        frame["weight"] = values[spec.weight.column]
    if spec.cluster is not None:
        frame["cluster"] = values[spec.cluster]
    for number, (name, model) in enumerate(spec.models.items()):
        held = predicted(spec, model, columns.of(name).values, levels)
        frame |= {f"{kind} {number}": column for kind, column in held.items()}
    frame |= slices.held(columns)
    table = pl.DataFrame(frame)
    if spec.weight is not None:
        table = table.filter(pl.col("weight") > 0)
    if spec.cluster is not None:
        table = table.with_columns((pl.col("cluster").rank("dense") - 1).cast(pl.Int64))
    return table.sort(table.columns)


def _coded(task: str, values: pl.Series, levels: tuple[str, ...]) -> pl.Series:
    """Turn levels into whether they are the event, or their place in the order; numbers stay."""
    import polars as pl

    if task in NUMBERS:
        return values
    if task == "binary":
        return values == levels[0]
    return values.replace_strict({level: place for place, level in enumerate(levels)}, default=None,
                                 return_dtype=pl.Int64)


def predicted(
    spec: Spec, model: Model, values: Mapping[str, pl.Series], levels: tuple[str, ...]
) -> dict[str, pl.Series]:
    """Return what is held of one model's predictions, by kind."""
    held: dict[str, pl.Series] = {}
    score, cut = _score(model, values), threshold(spec, model)
    if score is not None:
        held["score"] = score
    chances = _chances(spec, model, values)
    held |= {f"chance of {place}": chances[:, place] for place in range(chances.width)} if chances is not None else {}
    if model.prediction is not None:
        held["predicted"] = _coded(spec.task, values[model.prediction], levels)
    elif score is not None and cut is not None:
        held["predicted"] = score >= cut
    if model.loo_prediction is not None:
        held["left out"] = values[model.loo_prediction]
    return held


def _chances(spec: Spec, model: Model, values: Mapping[str, pl.Series]) -> pl.DataFrame | None:
    """Return the probabilities of all levels as a table: the softmax of scores, else divided by their sum if asked."""
    import polars as pl

    names = level_columns(spec, model)
    if not names:
        return None
    table = pl.DataFrame({f"{place}": values[column] for place, column in enumerate(names.values())})
    if model.scores is not None:
        highest = pl.max_horizontal(pl.all())
        table = table.select((pl.all() - highest).exp())
        return table.select(pl.all() / pl.sum_horizontal(pl.all()))
    return table.select(pl.all() / pl.sum_horizontal(pl.all())) if model.renormalise else table


def _score(model: Model, values: Mapping[str, pl.Series]) -> pl.Series | None:
    """Return what ranks the rows: the probability, that which a scaled score comes to, or the score itself."""
    import polars as pl

    column = model.probability if model.score is None else model.score
    if column is None:
        return None
    if model.scale is None:
        return values[column]
    # The logistic function in the form that keeps its digits at either end.
    return pl.Series(column, np.exp(-np.logaddexp(0.0, -values[column].to_numpy())))


def _predictions(frame: pl.DataFrame, number: int, spec: Spec, model: Model, levels: int) -> Predictions:
    def held(kind: str) -> Any:
        return _array(frame, f"{kind} {number}") if f"{kind} {number}" in frame.columns else None

    predicted, cut, asked = held("predicted"), threshold(spec, model), zone(spec, model)
    if model.probabilities is not None or model.scores is not None:
        columns = [_floats(frame, f"chance of {place} {number}") for place in range(levels)]
        chances = _frozen(np.column_stack(columns))
        tied = 0
        reported = None if asked is None else _frozen(asked.reportable(chances))
        if predicted is None:
            predicted = _frozen(chances.argmax(axis=1).astype(np.intp))
            tied = _tied(chances if reported is None else chances[reported])
        return Predictions(probability=chances, predicted=predicted, tied=tied, reportable=reported, zone=asked)
    score = held("score")
    chance = score if "probabilities" in gives(dict(model)) else None
    reported = None if asked is None or cut is None else _frozen(asked.reportable(score, cut))
    return Predictions(
        score, chance, predicted, cut, left_out=held("left out"), reportable=reported, zone=asked
    )


def _tied(chances: Floats) -> int:
    """Count the rows whose highest probability several levels share."""
    return int(((chances == chances.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())


def _array(frame: pl.DataFrame, name: str) -> Any:
    """Return a column as an array: flags, places of levels, or numbers."""
    values = np.ascontiguousarray(frame[name].to_numpy())
    return _frozen(values.astype(np.intp) if values.dtype.kind in "iu" else values)


def _floats(frame: pl.DataFrame, name: str) -> Floats:
    return _frozen(np.ascontiguousarray(frame[name].to_numpy(), dtype=np.float64))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
