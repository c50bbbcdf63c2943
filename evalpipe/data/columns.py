"""The columns of one dataset as values, how numbers are read from them, and the words of their problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalpipe.data.celltypes import MISSING_WORDS, quoted, tell, typed
from evalpipe.data.errors import Unreadable
from evalpipe.data.values import blank, days, numbers, probabilities
from evalpipe.data.words import are, cells, noun, rows_have, sql_name, with_article
from evalpipe.plan.fits import Fit
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.slices.plan import ColumnPlan
    from evalpipe.data.block import RowBlock
    from evalpipe.data.rounding import Rounded
    from evalpipe.errors import Problem
    from evalpipe.plan.models import ModelPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Warned


@dataclass(slots=True)
class Columns:
    """The columns of a dataset as values, each shape [n], by what they are read as; one column may be several things.

    ``levels`` are the texts of outcomes and of predicted levels, ``names`` those of ids and clusters, ``numbers`` all
    the rest as it is written, ``weight`` the case weights in the range in which they are held. A column that could not
    be used is absent; ``problems`` says why, and ``checked`` which columns were checked for which code. ``models`` are
    the columns of predictions in files of their own, by the fit; they share the list of problems, but for those of
    steps. ``graded`` are the columns that slices are by; ``rounded`` tells of the models whose probabilities sum to 1
    up to rounding, and ``compared`` by which columns rows were looked for in other datasets, by the names of these.
    ``row_columns`` are those that residuals are set against: labels of levels, none of a number, and values.
    """

    rows: RowBlock
    levels: dict[str, pl.Series] = field(default_factory=dict)
    names: dict[str, pl.Series] = field(default_factory=dict)
    numbers: dict[str, pl.Series] = field(default_factory=dict)
    weight: pl.Series | None = None
    checked: set[tuple[str, str]] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    models: dict[Fit, Columns] = field(default_factory=dict)
    graded: dict[ColumnPlan, Graded] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)
    rounded: dict[str, Rounded] = field(default_factory=dict)
    compared: dict[str, list[str]] = field(default_factory=dict)
    row_columns: dict[str, tuple[tuple[str, ...], pl.Series]] = field(default_factory=dict)

    @property
    def truth(self) -> pl.Series | None:
        """The outcome, levels or numbers; None where it is absent or cannot be used."""
        plan = self.rows.plan
        return (self.numbers if plan.task in NUMBERS else self.levels).get(plan.outcome.column)

    def of(self, model: str) -> Columns:
        """Return the columns that hold a model's predictions: those of its own file, or these."""
        return self.models.get(Fit(model), self)

    def predicted(self) -> Iterator[tuple[Fit, Columns, ModelPlan]]:
        """Yield what holds the predictions of a fit, with its model: those that the card shows first."""
        models = self.rows.plan.models
        yield from ((Fit(name), self.of(name), model) for name, model in models.items())
        yield from ((fit, part, models[fit.model]) for fit, part in self.models.items() if not fit.is_shown)


@dataclass(frozen=True, slots=True)
class Graded:
    """A column as slices see it: labels in ascending order, and the place of each row's label, shape [n]."""

    labels: tuple[str, ...]
    codes: pl.Series


def read_numbers(
    columns: Columns, column: str, loc: Loc, code: str | None, called: str, *, percent: bool = False
) -> pl.Series | None:
    """Read a column of numbers; a cell must hold one and, but where ``code`` is None, not be empty.

    Returns None when the column is unusable; of ``percent``, the probabilities.
    """
    rows, written = columns.rows, columns.rows.frame[column]
    try:
        values = (probabilities if percent else numbers)(rows.numeric(column), as_text=rows.as_text)
    except Unreadable as fault:
        columns.problems.append(wrong_type(rows, column, loc, fault))
        return None
    if not values.null_count() and values.is_not_nan().all():
        return values
    empty = blank(written) | values.is_nan().fill_null(value=False)
    strange = values.is_null() & ~empty
    if code is not None and empty.any():
        message = f"{rows_have(empty)} no {called} in column '{column}'"
        hint = fill_hint(rows, column, loc)
        # NaN says that something was computed and failed, which leaving out its row would hide.
        if loc[0] != "models" and values.is_nan().any():
            hint = f"every row needs {with_article(called)}; find out why it could not be computed"
        columns.problems.append(rows.problem(code, message, loc, hint, mask=empty, values=written))
    if strange.any():
        hint = number_hint(written.filter(strange), called, missing=code is None, separated=rows.separated)
        refuse(columns, column, loc, strange, "not-a-number", f"not {noun(strange, 'number')}", hint)
    return values


def read_dates(columns: Columns, column: str, loc: Loc) -> pl.Series | None:
    """Read the days of a column of dates or times, null where a cell is empty; None when the column is unusable."""
    import polars as pl

    rows, written = columns.rows, columns.rows.frame[column]
    hint = (f"write dates as 2026-03-05 and declare csv: {{types: {{{column}: date}}}}" if rows.separated else
            "write it as a column of dates, or of texts such as 2026-03-05")
    try:
        values = days(written)
        if rows.separated and values.null_count() == len(values):  # what the cells are, if they are no dates
            decimal = rows.dataset.table.named.csv.decimal
            days(typed(written, tell(written, decimal).type, decimal))
    except Unreadable as fault:
        columns.problems.append(wrong_type(rows, column, loc, Unreadable(fault.code, fault.reason, hint)))
        return None
    text = written.cast(pl.String)  # no date of Python is of a year beyond 9999
    strange = values.is_null() & ~blank(text)
    if not strange.any():
        return values
    what = f"{noun(strange, 'text')}, not {noun(strange, 'date')}"
    if written.dtype.is_temporal():
        what = f"not {noun(strange, 'date')} of the years 1 to 9999"
    if text.filter(strange).str.strip_chars().str.to_lowercase().is_in(list(MISSING_WORDS)).all():
        hint = missing_hint(text.filter(strange), "date", missing=True, separated=rows.separated)
    message = f"{cells(strange)} of column '{column}' {are(strange)} {what}"
    columns.problems.append(rows.problem("not-a-date", message, loc, hint, mask=strange, values=text))
    return None


def percents(plan: Plan) -> frozenset[str]:
    """Return the columns of probabilities that are in percent."""
    return frozenset().union(*(model.percents for model in plan.models.values()))


def read_once(columns: Columns, column: str, loc: Loc, code: str, called: str) -> pl.Series | None:
    """Return a column of numbers that every row must have; None where it is unusable, or was checked for the code."""
    # Several models may name one column; its problems are told once.
    if (column, code) in columns.checked:
        return None
    columns.checked.add((column, code))
    values = columns.numbers.get(column)
    if values is None:
        values = read_numbers(columns, column, loc, code, called, percent=column in percents(columns.rows.plan))
    if values is not None:
        columns.numbers[column] = values
    return values


def refuse(
    columns: Columns, column: str, loc: Loc, wrong: pl.Series, code: str, what: str, hint: str, called: str = "column"
) -> None:
    """Report the cells of a column where ``wrong`` [n] is true, if any; ``what`` says what they are, or are not."""
    if wrong.any():
        message = f"{cells(wrong)} of {called} '{column}' {are(wrong)} {what}"
        values = columns.rows.frame[column]
        columns.problems.append(columns.rows.problem(code, message, loc, hint, mask=wrong, values=values))


def number_hint(texts: pl.Series, called: str, *, missing: bool, separated: bool) -> str:
    """Return the way out of texts that stand where numbers should; ``missing``: a cell may be empty."""
    words = texts.str.strip_chars().str.to_lowercase()
    if words.is_in(list(MISSING_WORDS)).all():
        return missing_hint(texts, called, missing=missing, separated=separated)
    if missing and not words.str.contains(r"\d").any():
        return "only a column of numbers can be cut; a column of levels is named without cuts"
    if words.str.contains(r"^[+-]?\d*,\d+$").all():
        return "write decimals with a point, as in 0.5" + (
            ', or declare csv: {decimal: ","}' if separated else "")
    if words.str.contains(r"^[+-]?[\d.,]+\s*%$").all():
        comma = ' and csv: {decimal: ","} to the dataset' if separated and words.str.contains(",").any() else ""
        percent = f"add 'scale: percent' to the model{comma}, or " if called == "probability" else ""
        return f"{percent}write 0.5 instead of 50 %"
    return "write numbers as 0.5 or 5e-1"


def missing_hint(texts: pl.Series, called: str, *, missing: bool, separated: bool) -> str:
    """Return the way out of texts that are written for a missing value."""
    if separated:
        listed = ", ".join(quoted(cell) for cell in texts.str.strip_chars().unique(maintain_order=True))
        declare = f"declare csv: {{null: {{{quoted(texts.name)}: [{listed}]}}}}, so that it counts as missing"
        return declare if missing else f"{declare}; every row needs {with_article(called)}"
    return "only an empty cell counts as missing" + ("" if missing else f", and every row needs {with_article(called)}")


def fill_hint(rows: RowBlock, column: str, loc: Loc) -> str:
    """Return the way out of empty cells; ``loc`` is where the column is named, within a model for a prediction."""
    if "optimism" in loc:
        return "give how often each row was drawn; 0 where it was not"
    if loc[0] != "models" or rows.plan.streaming.streamed:
        return f"fill them, or leave such rows out with where: '{sql_name(column)} IS NOT NULL'"
    if rows.dataset.role == "predictions" and rows.dataset.table.named.model is None:
        return "fill them, or leave such rows out of the file"
    return "fill them, or leave such rows out for every model with 'complete_case: all'"


def wrong_type(rows: RowBlock, column: str, loc: Loc, fault: Unreadable) -> Problem:
    """Report a column whose type cannot be used."""
    return rows.problem(fault.code, f"column '{column}' of {rows.called} {fault.reason}", loc, fault.hint)
