"""Predictions of one model in any file or frame, without the outcome: what a fitted recalibrator is applied to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data import build, checks, numeric
from evalpipe.data.block import POSITION
from evalpipe.data.columns import Columns
from evalpipe.data.lists import split
from evalpipe.data.rows import whole
from evalpipe.errors import DataError
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.plan.plan import Plan


def predictions(plan: Plan, frame: pl.DataFrame | None) -> tuple[pl.DataFrame, Floats, Floats | None]:
    """Read the only dataset of a plan with one model: all its columns, and the predictions that were checked.

    Predictions are probabilities of the event [n], of all levels [n, K], or numbers [n], in the order of the rows; of
    ``frame``, where that is given. Last come the scores that the probabilities were made of, of the same shape, or
    None; of a raw score it is both. Raises DataError with every problem.
    """
    (dataset,), (name,) = plan.datasets, plan.models
    rows, problems = whole(plan, dataset, frame, ())
    if rows is None:
        raise DataError(*problems)
    parts, _, problems = split(rows, {})
    if problems:
        raise DataError(*problems)
    columns, model = Columns(parts), plan.models[name]
    (numeric if plan.task in NUMBERS else checks).predictions(columns, name, model)
    if columns.problems:
        raise DataError(*columns.problems)
    by_kind = build.predicted(plan, model, columns, plan.outcome.levels, rescale=name in columns.rounded)
    chances, scores = (
        [by_kind[key].to_numpy() for key in by_kind if key.startswith(kind)] for kind in ("chance", "score")
    )
    if plan.task in NUMBERS:
        chances, scores = [by_kind["predicted"].to_numpy()], []
    score = _table(scores) if scores and (chances or model.score is not None) else None
    return rows.frame.drop(POSITION), _table(chances or scores), score


def _table(columns: list[Values]) -> Floats:
    """Return one column [n], or several as a table [n, K]."""
    return np.asarray(columns[0] if len(columns) == 1 else np.column_stack(columns), float)
