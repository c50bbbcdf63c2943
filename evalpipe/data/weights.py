"""The case weights of a dataset: their checks, and the range in which they are held."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.columns import read_once, refuse
from evalpipe.data.words import counted, noun
from evalpipe.results import DatasetSummary, Warned

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns

COUNTED = 2**53
"""The most observations that frequency weights may stand for: whole numbers are exact in double precision up to it."""

USUAL = 100
"""The largest weight is left as it is from 2 to the power of minus this to 2 to the power of this."""

NEGLIGIBLE = 1e-60
"""The share of the largest weight below which a weight counts as 0: its square could not be held beside the largest."""

FEW = 0.1
"""The share of the rows below which an effective sample size is warned of."""

COUNTS = f"frequency weights count rows, {COUNTED:,} at most; for other weights write kind: importance"
"""What frequency weights are, for those that are too large."""


def sums_to(column: str, total: float) -> str:
    """Say that frequency weights are too large."""
    return f"the weight column '{column}' sums to {total:.4g}, more than can be counted one by one"


def check(columns: Columns, column: str, *, whole: bool, part: bool = False) -> None:
    """Check the weights and bring them into a range in which their sums can be held; ``whole``: they are counts.

    In a ``part`` of a dataset all may be 0.
    """
    loc: Loc = ("weight", "column")
    values = read_once(columns, column, loc, "missing-weight", "weight")
    if values is None:
        return
    before = len(columns.problems)
    _refuse(columns, column, loc, values, whole=whole, part=part)
    columns.weight = values
    if not whole and len(columns.problems) == before:
        columns.weight = _scaled(columns, values)


def _refuse(columns: Columns, column: str, loc: Loc, values: pl.Series, *, whole: bool, part: bool) -> None:
    """Report weights that are negative, infinite, no counts where these are asked for, or all 0."""
    rows, problems, called = columns.rows, columns.problems, "the weight column"
    defined = values.fill_nan(None)
    wrong = ((defined < 0) | defined.is_infinite()).fill_null(value=False)
    refuse(columns, column, loc, wrong, "weight-range", "negative or infinite",
           "a weight is a number from 0 on; rows of weight 0 are left out", called)
    broken = ((defined != defined.floor()) & ~wrong).fill_null(value=False)
    if whole:
        refuse(columns, column, loc, broken, "frequency-weight", f"not {noun(broken, 'whole number')}",
               "frequency weights count identical rows; for other weights write kind: importance", called)
    if whole and not wrong.any() and (defined.sum() or 0) > COUNTED:
        problems.append(rows.problem("frequency-weight", sums_to(column, float(defined.sum())), loc, COUNTS))
    if not part and defined.null_count() == 0 and not (defined != 0).any():
        message = f"all weights of dataset '{rows.name}' are 0 (column '{column}')"
        problems.append(rows.problem("weights-all-zero", message, loc, "at least one row must count"))


def _scaled(columns: Columns, values: pl.Series) -> pl.Series:
    """Divide importance weights by a power of two where the largest is extreme; only their ratios count."""
    import polars as pl

    largest = float(values.max() or 0.0)  # type: ignore[arg-type]
    power = math.frexp(largest)[1]
    if abs(power) <= USUAL:
        power = 0
    else:
        message = (f"the weights of dataset '{columns.rows.name}' are divided by 2^{power}because their sums are too "
                   "extreme; only their ratios matter, and totals are of the divided weights")
        columns.warnings.append(Warned(code="weights-scaled", message=message))
    # By a power of two no digit of a weight changes, so ratios stay exact.
    scaled = np.ldexp(values.to_numpy(), -power)
    # Squares of weights are summed too, and 1e-60 squared is still held beside 1.
    gone = (values.to_numpy() > 0) & (scaled < NEGLIGIBLE * math.ldexp(largest, -power))
    if gone.any():
        count = int(gone.sum())
        have = "has a weight" if count == 1 else "have weights"
        message = (f"{counted(count, 'row')} {have} below {NEGLIGIBLE:g} of the largest in dataset "
                   f"'{columns.rows.name}', and count{'s' if count == 1 else ''} as weight 0")
        columns.warnings.append(Warned(code="weights-negligible", message=message))
    return pl.Series(values.name, np.where(gone, 0.0, scaled)) if power or gone.any() else values


def uneven(summary: DatasetSummary) -> tuple[Warned, ...]:
    """Warn of importance weights so uneven that the rows tell as much as very few of equal weight. Kish (1965)."""
    effective = summary.n_effective
    if effective is None or not effective < min(summary.n / 2, max(2.0, FEW * summary.n)):
        return ()
    message = (f"the weights of dataset '{summary.name}' are very uneven: its {summary.n:,} rows carry the "
               f"information of {effective:.3g} rows of equal weight (Kish's effective sample size), so intervals may "
               "be too narrow")
    return (Warned(code="few-effective-rows", message=message),)
