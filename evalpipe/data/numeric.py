"""The checks of an outcome that is a number, and of its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.data.columns import read_once, refuse
from evalpipe.data.words import noun

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns
    from evalpipe.plan.models import ModelPlan


_MEANT = {"prediction": "the expected count", "rate": "a rate", "loo_prediction": "the expected count"}

EXTREME = "too large or too small to compute with"


def check(columns: Columns) -> None:
    """Check the outcome and every model's predictions: finite numbers; counts, and predictions of counts above zero."""
    plan = columns.rows.plan
    truth = _finite(columns, plan.outcome.column, ("outcome", "column"), "missing-truth", "outcome")
    if truth is not None and plan.task == "count":
        wrong = ((truth < 0) | (truth != truth.floor())).fill_null(value=False)
        refuse(columns, plan.outcome.column, ("outcome", "column"), wrong, "not-a-count",
               f"not {noun(wrong, 'whole number')} from 0 on",
               "a count is 0, 1, 2, …; for other numbers use 'task: regression'")
    for _, theirs, model in columns.predicted():
        predictions(theirs, model.name, model)


def predictions(columns: Columns, name: str, model: ModelPlan) -> None:
    """Check the predicted numbers of a model."""
    for kind in ("prediction", "rate", "loo_prediction"):
        column = model.columns.get(kind)
        if column is None:
            continue
        loc: Loc = ("models", name, kind)
        values = _finite(columns, column, loc, "missing-prediction", "rate" if kind == "rate" else "prediction")
        if values is not None and columns.rows.plan.task == "count":
            wrong = (values <= 0).fill_null(value=False)
            refuse(columns, column, loc, wrong, "prediction-range", "not above zero",
                   f"{_MEANT[kind]} is a number above zero; was a logarithm written?")
    if model.leverage is not None:
        _leverages(columns, model.leverage, ("models", name, "leverage"))


def _leverages(columns: Columns, column: str, loc: Loc) -> None:
    """Check the leverages of a linear fit, of which none is 1: that of a row which alone decides its prediction."""
    values = read_once(columns, column, loc, "missing-leverage", "leverage")
    if values is not None:
        wrong = ~values.fill_nan(None).is_between(0, 1, closed="left").fill_null(value=True)
        refuse(columns, column, loc, wrong, "leverage-range", "no leverage, which is at least 0 and below 1",
               "name the diagonal of the hat matrix; a row of leverage 1 has no leave-one-out residual")


def _finite(columns: Columns, column: str, loc: Loc, code: str, called: str) -> pl.Series | None:
    """Read a column of finite numbers once; None where it cannot be read, or was before."""
    values = read_once(columns, column, loc, code, called)
    if values is not None:
        bounded(columns, column, loc, values)
    return values


def bounded(columns: Columns, column: str, loc: Loc, values: pl.Series) -> None:
    """Report numbers that are not finite, or too large or too small to compute with."""
    endless = values.is_infinite().fill_null(value=False)
    refuse(columns, column, loc, endless, "infinite-value", "not finite", "find out why it could not be computed")
    refuse(columns, column, loc, extreme(values), "extreme-value", EXTREME,
           f"give them in another unit: 0, or in size from {SMALLEST:g} to {LARGEST:g}")


def extreme(values: pl.Series) -> pl.Series:
    """Return which finite values are too large or too small to compute with, shape [n]; zero and no value are not."""
    size = values.fill_nan(None).abs()
    return (((size > LARGEST) & size.is_finite()) | ((size < SMALLEST) & (size > 0))).fill_null(value=False)
