"""The sample of a dataset that has passed the checks, and the summary of its rows."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.rows import FILE, POSITION
from evalpipe.data.sample import Predictions, Sample
from evalpipe.plan import threshold
from evalpipe.results import DatasetSummary, InputFile, LevelCount, Warned
from evalpipe.spec.models import gives

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.checks import Columns
    from evalpipe.data.sample import Flags, Floats
    from evalpipe.spec.models import Model


def sample(columns: Columns, event: str, other: str) -> Sample:
    """Return the sample: rows of weight zero dropped, the rest in canonical order.

    A reference dataset without the outcome column has no rows here; its summary counts them.
    """
    rows, spec = columns.rows, columns.rows.spec
    evaluated = rows.plan.role == "evaluate"
    kind = spec.weight.kind if spec.weight is not None and evaluated else None
    frame = _ordered(columns, event)
    truth, weight = _flags(frame, "truth"), _floats(frame, "weight") if kind is not None else None
    summary = _summary(columns, frame, (event, other), whole=kind == "frequency")
    models = {}
    if evaluated:
        for number, (name, model) in enumerate(spec.models.items()):
            models[name] = _predictions(frame, number, model, threshold(spec, model))
    return Sample(
        rows.name, rows.plan.role, event, other, truth, weight, kind, summary, _files(columns),
        MappingProxyType(models), _one_class(summary, truth, event) if evaluated else (),
    )


def _ordered(columns: Columns, event: str) -> pl.DataFrame:
    """Return what the sample holds as columns, sorted by all of them in turn; the rows that count only."""
    import polars as pl

    spec, values = columns.rows.spec, columns.values
    truth = values.get(spec.outcome.column)
    if truth is None:
        return pl.DataFrame(schema={"truth": pl.Boolean})
    if columns.rows.plan.role == "reference":
        return pl.DataFrame({"truth": (truth == event).drop_nulls()}).sort("truth")
    frame = {"truth": truth == event}
    if spec.weight is not None:
        frame["weight"] = values[spec.weight.column]
    for number, model in enumerate(spec.models.values()):
        score = _score(model, values)
        cut = threshold(spec, model)
        if score is not None:
            frame[f"score {number}"] = score
        if model.prediction is not None:
            frame[f"predicted {number}"] = values[model.prediction] == event
        elif score is not None and cut is not None:
            frame[f"predicted {number}"] = score >= cut
    table = pl.DataFrame(frame)
    if spec.weight is not None:
        table = table.filter(pl.col("weight") > 0)
    return table.sort(table.columns)


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


def _predictions(frame: pl.DataFrame, number: int, model: Model, cut: float | None) -> Predictions:
    names = frame.columns
    score = _floats(frame, f"score {number}") if f"score {number}" in names else None
    predicted = _flags(frame, f"predicted {number}") if f"predicted {number}" in names else None
    return Predictions(score, score if "probabilities" in gives(dict(model)) else None, predicted, cut)


def _floats(frame: pl.DataFrame, name: str) -> Floats:
    return _frozen(np.ascontiguousarray(frame[name].to_numpy(), dtype=np.float64))


def _flags(frame: pl.DataFrame, name: str) -> Flags:
    return _frozen(np.ascontiguousarray(frame[name].to_numpy(), dtype=np.bool_))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _files(columns: Columns) -> tuple[InputFile, ...]:
    import polars as pl

    rows = columns.rows
    extra = [name for name in rows.plan.table.where_columns if name not in rows.plan.columns]
    used = rows.frame.select(pl.col(POSITION) // FILE)[POSITION].filter(_counting(columns))
    counts = np.bincount(used.to_numpy(), minlength=len(rows.sources)).tolist()
    return tuple(
        InputFile(dataset=rows.name, role=rows.plan.role, path=source.path, sha256=source.sha256, rows=source.rows,
                  used_rows=count, columns=[*rows.plan.columns, *extra])
        for source, count in zip(rows.sources, counts, strict=True)
    )


def _counting(columns: Columns) -> pl.Series:
    """Return which rows have a weight above zero; all where there are no weights."""
    import polars as pl

    rows, spec = columns.rows, columns.rows.spec
    if spec.weight is None or rows.plan.role == "reference":
        return pl.repeat(value=True, n=rows.frame.height, eager=True)
    return columns.values[spec.weight.column] > 0


def _summary(columns: Columns, frame: pl.DataFrame, levels: tuple[str, str], *, whole: bool) -> DatasetSummary:
    rows = columns.rows
    known = columns.values.get(rows.spec.outcome.column) is not None
    height = frame.height if known else rows.frame.height
    weights = frame["weight"].to_numpy() if "weight" in frame.columns else None
    truth = frame["truth"].to_numpy().astype(bool)
    total = float(height) if weights is None else float(weights.sum())
    events = float(truth.sum()) if weights is None else float(weights[truth].sum())
    counts = [
        LevelCount(level=level, rows=int(mask.sum()), weight=float((mask if weights is None else weights[mask]).sum()))
        for level, mask in zip(levels, (truth, ~truth), strict=True)
    ]
    before = sum(source.rows for source in rows.sources)
    used = height if rows.plan.role == "evaluate" else rows.frame.height
    return DatasetSummary(
        name=rows.name, role=rows.plan.role, where=rows.spec.datasets[rows.name].where, rows=before,
        excluded_where=before - rows.frame.height, excluded_zero_weight=rows.frame.height - used,
        n=round(total) if whole else used, events=round(events) if whole else int(truth.sum()),
        total_weight=total if rows.plan.role == "evaluate" else float(used),
        prevalence=events / total if known and total else None,
        levels=_declared(columns, counts) if known else [],
    )


def _declared(columns: Columns, counts: list[LevelCount]) -> list[LevelCount]:
    """Put the levels in the declared order; the event first where none is declared."""
    from evalpipe.spec.levels import level_text

    if columns.rows.spec.outcome.levels is None:
        return counts
    order = [level_text(level) for level in columns.rows.spec.outcome.levels]
    return sorted(counts, key=lambda count: order.index(count.level))


def _one_class(summary: DatasetSummary, truth: Flags, event: str) -> tuple[Warned, ...]:
    if truth.any() and not truth.all():
        return ()
    what = "every row is an event" if truth.all() else "no row is an event"
    message = f"dataset '{summary.name}' has one class only: {what} ('{event}'); measures that need both are undefined"
    return (Warned(code="one-class", message=message),)
