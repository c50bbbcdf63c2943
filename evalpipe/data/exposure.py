"""The checks of the exposure of counts, and of the expected counts that predicted rates come to in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.data.columns import read_once, refuse
from evalpipe.data.numeric import EXTREME, extreme
from evalpipe.data.words import are, cells, noun, sql_name

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns


def check(columns: Columns, column: str) -> None:
    """Check that every row has an exposure above zero, and that every rate times it is a number above zero."""
    loc: Loc = ("exposure", "column")
    values = read_once(columns, column, loc, "missing-exposure", "exposure")
    if values is None:
        return
    defined = values.fill_nan(None)
    wrong = ((defined <= 0) | defined.is_infinite()).fill_null(value=False)
    called = "the exposure column"
    refuse(columns, column, loc, wrong, "exposure-range", f"not {noun(wrong, 'positive finite number')}",
           f"a row without exposure says nothing; leave such rows out with where: '{sql_name(column)} > 0'", called)
    refuse(columns, column, loc, extreme(defined) & ~wrong, "extreme-value", EXTREME,
           "give the exposure in another unit, and rates per that unit", called)
    # Rates and exposures that were refused by themselves give no products worth a second problem.
    if not columns.problems:
        _check_expected(columns, values)


def _check_expected(columns: Columns, exposure: pl.Series) -> None:
    """Report the models whose rates give expected counts that cannot be computed with."""
    for _, theirs, model in columns.predicted():
        if model.rate is None or (theirs.problems is not columns.problems and theirs.problems):
            continue
        counts = theirs.numbers[model.rate] * exposure
        wrong = extreme(counts)
        if wrong.any():
            message = f"{cells(wrong)} of column '{model.rate}' times the exposure {are(wrong)} {EXTREME}"
            hint = f"expected counts are from {SMALLEST:g} to {LARGEST:g}; is the rate per unit of the exposure?"
            loc: Loc = ("models", model.name, "rate")
            theirs.problems.append(theirs.rows.problem("extreme-value", message, loc, hint, mask=wrong,
                                                       values=theirs.rows.frame[model.rate]))
