"""What the tables of a part depend on, as a key: the same key, the same tables."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from evalpipe.data.hive import named
from evalpipe.streams.codec import FORMAT

if TYPE_CHECKING:
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.models import ModelPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.asked import Asked
    from evalpipe.streams.parts import Part


def versions() -> dict[str, str]:
    """Return the versions of what computes tables; others may round otherwise."""
    import numpy as np
    import polars as pl

    from evalpipe.version import VERSION

    return {"evalpipe": VERSION, "numpy": np.__version__, "polars": pl.__version__}


def asked_sha256(plan: Plan, dataset: DatasetPlan, asked: Asked) -> str:
    """Return the sha256 of all that is asked of the rows of a dataset."""
    table, weight, exposure = dataset.table, plan.weight, plan.exposure
    return _sha256({
        "versions": versions(), "format": FORMAT, "task": plan.task, "role": dataset.role,
        "asked": [asked.edges, asked.totals, asked.models],
        "read": [table.format, repr(table.named.csv), dataset.columns, table.where_columns],
        "types": {column: table.columns[column] for column in (*dataset.columns, *table.where_columns)},
        "conditions": [[condition.key, condition.text] for condition in dataset.conditions],
        "outcome": [plan.outcome.column, plan.outcome.event, plan.outcome.levels, plan.outcome.written],
        "weight": None if weight is None else [weight.column, weight.kind],
        "exposure": None if exposure is None else exposure.column,
        "rows": [plan.id, plan.cluster, plan.complete_case],
        "models": [_model(model) for model in plan.models.values()],
        "slices": [repr(plan.slices.slicings), repr([column for _, column in plan.slices.named])],
    })


def key_of(sha256: str, shown: str, part: Part, asked: str) -> str:
    """Return the key of the tables of a part, from the sha256 of its file and of what is asked.

    Of the path that is ``shown`` for the file only the columns count that its folders name.
    """
    return _sha256([sha256, named(shown), part.first, part.rows, asked])


def _model(model: ModelPlan) -> list[Any]:
    columns = [dict(model.columns), dict(model.level_columns)]
    return [model.name, columns, model.scores, sorted(model.percents), model.scale, model.norm, model.renormalise,
            sorted(model.gives),
            model.threshold.number, repr(model.zone)]


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
