"""The mean outcome of the training data, which the baseline of R-squared may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.data.columns import Columns
    from evalpipe.spec.models import Spec


def of(spec: Spec, references: Sequence[Columns]) -> float | None:
    """Return the mean outcome over all reference datasets together; None where none has the outcome."""
    import polars as pl

    if spec.task not in NUMBERS:
        return None
    found = [columns.values[spec.outcome.column] for columns in references if spec.outcome.column in columns.values]
    known = pl.concat(found).drop_nulls().drop_nans() if found else pl.Series(dtype=pl.Float64)
    return float(known.mean()) if len(known) else None  # type: ignore[arg-type]
