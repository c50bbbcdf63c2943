"""The mean outcome of the training data, or of counts with an exposure their rate, which R-squared may start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.data.columns import Columns
    from evalpipe.plan.plan import Plan


def of(plan: Plan, references: Sequence[Columns]) -> float | None:
    """Return the mean outcome over all reference datasets together; None where none has the outcome.

    With an exposure it is the rate: the total of the outcome over that of the exposure, of the rows that have both.
    """
    import polars as pl

    if plan.task not in NUMBERS:
        return None
    if plan.exposure is not None:
        return _rate(plan.exposure.column, references)
    outcomes = [columns.truth for columns in references if columns.truth is not None]
    values = pl.concat(outcomes).drop_nulls().drop_nans() if outcomes else pl.Series(dtype=pl.Float64)
    return float(values.to_numpy().mean()) if len(values) else None


def _rate(exposure: str, references: Sequence[Columns]) -> float | None:
    import polars as pl

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
