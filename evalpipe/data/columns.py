"""The rows of one dataset as read from files, its columns as values, and the problems found in them.

Also the rounding of probabilities of several levels, which `Columns` remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.base.origin import path_text
from evalpipe.data.values import (
    MISSING_WORDS,
    SHOWN,
    Unreadable,
    are,
    blank,
    cells,
    days,
    decimal_points,
    infer_type,
    more,
    noun,
    numbers,
    probabilities,
    quote_for_yaml,
    rows_have,
    shown,
    sql_name,
    typed,
    with_article,
)
from evalpipe.errors import Place, Problem
from evalpipe.plan.sources import Fit
from evalpipe.results import Warned
from evalpipe.tasks import NUMBERS, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.formats import CellType
    from evalpipe.base.origin import Loc
    from evalpipe.data.sample import FurtherColumns, SharedRows
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import ModelPlan, Plan
    from evalpipe.plan.sources import ColumnPlan


POSITION = "\0position"
"""The column with the position of each row: the number of its file times `FILE`, plus its 1-based row there."""

FILE = 1 << 40  # more rows than a file has, while millions of files still fit in Int64
SEPARATED = frozenset({"csv", "tsv"})
TEXT_FORMATS = SEPARATED | {"ndjson"}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its path as shown (None in memory), sha256, and its number of rows."""

    path: str | None
    sha256: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class RowBlock:
    """The rows of one dataset that meet its ``where``: the planned columns as the files have them, and `POSITION`.

    ``models`` are, by the fit, the matching rows of files of predictions, one for each of these rows in their order;
    ``step`` is the training step of predictions, if any. ``types`` are the types of columns of separated text that
    conditions and slices use, inferred before ``where``; ``unknown`` counts, by the key of a condition, the rows for
    which it is unknown, as a value is missing.
    ``file`` is the number of the file where these rows are a part of one, else None.
    ``incomplete`` is the number of rows left out because a model has no prediction for them, ``lacking`` the number of
    rows without a prediction by model.
    """

    plan: Plan
    dataset: DatasetPlan
    frame: pl.DataFrame
    sources: tuple[SourceFile, ...]
    models: Mapping[Fit, RowBlock] = field(default_factory=lambda: MappingProxyType({}))
    types: Mapping[str, CellType | None] = field(default_factory=lambda: MappingProxyType({}))
    unknown: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    incomplete: int = 0
    lacking: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    step: int | None = None
    file: int | None = None

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.dataset.name

    @property
    def called(self) -> str:
        """The dataset's or file's name in messages."""
        return self.dataset.table.named.called

    @property
    def as_text(self) -> bool:
        """Whether the format is text, in which numbers may be written as texts."""
        return self.dataset.table.format in TEXT_FORMATS

    def typed(self, column: str) -> pl.Series:
        """Return a column [n] in its declared or inferred type."""
        values = self.frame[column]
        if column not in self.types:
            return values
        return typed(values, self.types[column], self.dataset.table.named.csv.decimal)

    def numeric(self, column: str) -> pl.Series:
        """Return a column [n] to be read as numbers; texts have their decimal comma turned into a point."""
        values = self.frame[column]
        has_texts = self.separated and values.dtype == pl.String
        return decimal_points(values, self.dataset.table.named.csv.decimal) if has_texts else values

    @property
    def separated(self) -> bool:
        """Whether the format is separated text, csv or tsv, which the spec's ``csv`` keys describe."""
        return self.dataset.table.format in SEPARATED

    @property
    def at_step(self) -> str:
        """The end of messages about predictions at a step: ", at step 12"; empty without steps."""
        return "" if self.step is None else f", at step {self.step}"

    def row_in_file(self, position: int) -> tuple[int, str]:
        """Return the row number in its file for a `POSITION`, and " in a.csv" where there are several files."""
        file, row = divmod(position, FILE)
        return row, f" in {self.sources[file].path}" if len(self.sources) > 1 and self.file is None else ""

    def problem(
        self, code: str, message: str, loc: Loc, hint: str | None = None,
        *, mask: pl.Series | None = None, values: pl.Series | None = None, notes: Sequence[str] = (),
    ) -> Problem:
        """Return a problem of the rows where ``mask`` is true, with their ``values``; ``loc`` is the spec's key."""
        rows: list[tuple[int, str]] = []
        count = 0
        if mask is not None and values is not None:
            count = int(mask.sum())
            indices = mask.arg_true().head(SHOWN)
            for position, value in zip(self.frame[POSITION].gather(indices), values.gather(indices), strict=True):
                row, suffix = self.row_in_file(position)
                rows.append((row, shown(value) + suffix))
        named_at = f"named at {self.plan.places.place(*loc) or 'the spec, ' + path_text(loc)}"
        return Problem(code, message + self.at_step, self.place, hint, tuple(rows), (*more(count), *notes, named_at))

    @property
    def place(self) -> Place:
        """The place of these rows in messages: their file, or the spec's path of several files."""
        if self.dataset.table.format == "memory":
            return Place(f"{self.name} (in memory)")
        files = self.sources if self.file is None else self.sources[self.file : self.file + 1]
        # Of several files each row names its own, and the problem the glob or the folder that found them.
        return Place(str(files[0].path) if len(files) == 1 else self.dataset.table.named.path)


EXACT_SUM = 1e-6
"""How far the sum of probabilities may be from 1, however many decimals they have."""

MOST_ROUNDING = 0.05
"""The largest gap that rounding may explain: beyond it, probabilities are divided by their sum only on request."""

_DECIMALS = range(2, 10)


@dataclass(frozen=True, slots=True)
class Rounded:
    """Rounding of a model's probabilities: their decimals, the rows that do not sum to 1, and the largest gap to 1."""

    decimals: int
    rows: int
    gap: float


def decimals(columns: Sequence[pl.Series]) -> int | None:
    """Return the number of decimals, from 2 to 9, that all probabilities have; None where they have more."""
    # Floats of 32 bits count as the shortest decimals that they are read from.
    exact = [column.cast(pl.String).cast(pl.Float64) if column.dtype == pl.Float32 else column for column in columns]
    values = np.concatenate([column.drop_nulls().to_numpy() for column in exact])
    if not (np.abs(values) <= 1 + MOST_ROUNDING).all():  # no probabilities: that is told elsewhere
        return None
    for count in _DECIMALS:
        scaled = values * 10.0**count
        # A decimal is stored to one part in 10^16, so a multiple of it is whole up to a little more than that.
        if (np.abs(scaled - np.rint(scaled)) <= 10.0**count * 1e-14).all():
            return count
    return None


def allowed_gap(levels: int, decimal_count: int | None) -> float:
    """Return how far a sum of ``levels`` probabilities of so many decimals, None for exact ones, may be from 1."""
    if decimal_count is None:
        return EXACT_SUM
    # A sum that is off by just the limit must not fail by the rounding of the sum itself: hence 1e-9 more.
    return max(EXACT_SUM, min(MOST_ROUNDING, levels * 0.5 * 10.0**-decimal_count * (1 + 1e-9)))


def gap_explained(levels: int, decimal_count: int | None) -> str:
    """Return the note how far a sum of ``levels`` probabilities may be from 1, and that rounding is why."""
    why = "" if decimal_count is None else f", as {levels} probabilities of {decimal_count} decimals do by rounding"
    return f"a sum may differ from 1 by {allowed_gap(levels, decimal_count):.2g}{why}"


def rounding_warning(dataset: str, model: str, roundings: Sequence[Rounded]) -> Warned:
    """Return the warning that a model's probabilities were rounded and are divided by their sum, in all its fits."""
    decimal_count, gap = min(rounding.decimals for rounding in roundings), max(rounding.gap for rounding in roundings)
    return Warned.of("rounded-probabilities", model=model, dataset=dataset, decimals=decimal_count, gap=gap,
                     rows=sum(rounding.rows for rounding in roundings))


@dataclass(slots=True)
class Columns:
    """The columns of a dataset as values [n], by how they are read; one column may be read in several ways.

    ``levels`` are outcomes and predicted levels as texts, ``names`` ids and clusters as texts, ``numbers`` all other
    columns, ``weight`` the case weights, scaled where they are extreme. A column that cannot be used is absent;
    ``problems`` says why, and ``checked`` has the pairs of column and code that were checked. ``models`` are the
    columns of files of predictions, by the fit; they share the list of problems, except at steps. ``graded`` are the
    columns to slice by; ``rounded`` is the rounding of probabilities by model, and ``compared`` the columns by which
    rows were compared with another dataset, by its name. ``row_columns`` are the columns to plot residuals against:
    labels of levels (none of a number) and values. ``further`` is what all columns hold, ``shared`` how many
    rows are in other datasets by their contents, ``leaks`` which items are by their texts.
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
    further: FurtherColumns | None = None
    shared: list[SharedRows] = field(default_factory=list)
    leaks: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def truth(self) -> pl.Series | None:
        """The outcome column as levels or numbers [n], zeros of scores; None where it is absent or cannot be used."""
        plan = self.rows.plan
        if plan.task in SCORES:
            return pl.zeros(self.rows.frame.height, pl.Float64, eager=True).alias("truth")
        return (self.numbers if plan.task in NUMBERS else self.levels).get(plan.outcome.column)

    def report(
        self, code: str, message: str, loc: Loc, hint: str | None = None,
        *, mask: pl.Series | None = None, values: pl.Series | None = None, notes: Sequence[str] = (),
    ) -> None:
        """Add a problem of the rows where ``mask`` is true, with their ``values``; ``loc`` is the spec's key."""
        self.problems.append(self.rows.problem(code, message, loc, hint, mask=mask, values=values, notes=notes))

    def of(self, model: str) -> Columns:
        """Return the columns with a model's predictions: of its own file where it has one, else these."""
        return self.models.get(Fit(model), self)

    def predicted(self) -> Iterator[tuple[Fit, Columns, ModelPlan]]:
        """Yield each fit of a model, the columns with its predictions, and the model's plan.

        The fits that the card shows come first.
        """
        models = self.rows.plan.models
        yield from ((Fit(name), self.of(name), model) for name, model in models.items())
        yield from ((fit, columns, models[fit.model]) for fit, columns in self.models.items() if not fit.is_shown)


@dataclass(frozen=True, slots=True)
class Graded:
    """A column to slice by: its labels in ascending order, and the index of each row's label, ``codes`` [n]."""

    labels: tuple[str, ...]
    codes: pl.Series


def read_numbers(
    columns: Columns, column: str, loc: Loc, code: str | None, called: str, *, percent: bool = False
) -> pl.Series | None:
    """Read a column of numbers [n] and report cells without one; None where the column has another type.

    ``code`` is that of the problem of empty cells, None where these are allowed; ``called`` the word for a number, such
    as "weight"; ``percent`` turns percents into probabilities.
    """
    rows, column_cells = columns.rows, columns.rows.frame[column]
    try:
        values = (probabilities if percent else numbers)(rows.numeric(column), as_text=rows.as_text)
    except Unreadable as fault:
        columns.problems.append(wrong_type(rows, column, loc, fault))
        return None
    if not values.null_count() and values.is_not_nan().all():
        return values
    is_empty = blank(column_cells) | values.is_nan().fill_null(value=False)
    is_strange = values.is_null() & ~is_empty
    if code is not None and is_empty.any():
        message = f"{rows_have(is_empty)} no {called} in column '{column}'"
        hint = fill_hint(rows, column, loc)
        # NaN says that something was computed and failed, which leaving out its row would hide.
        if loc[0] != "models" and values.is_nan().any():
            hint = f"every row needs {with_article(called)}; find out why it could not be computed"
        columns.report(code, message, loc, hint, mask=is_empty, values=column_cells)
    if is_strange.any():
        hint = number_hint(column_cells.filter(is_strange), called, missing=code is None, separated=rows.separated)
        refuse(columns, column, loc, is_strange, "not-a-number", f"not {noun(is_strange, 'number')}", hint)
    return values


def read_dates(columns: Columns, column: str, loc: Loc) -> pl.Series | None:
    """Read a column of dates or times as days [n], null for empty cells; None, and a problem, where it is unusable."""
    rows, column_cells = columns.rows, columns.rows.frame[column]
    hint = (f"write dates as 2026-03-05 and declare csv: {{types: {{{column}: date}}}}" if rows.separated else
            "write it as a column of dates, or of texts such as 2026-03-05")
    try:
        values = days(column_cells)
        if rows.separated and values.null_count() == len(values):  # raises Unreadable with what they are, if no dates
            decimal = rows.dataset.table.named.csv.decimal
            days(typed(column_cells, infer_type(column_cells, decimal).type, decimal))
    except Unreadable as fault:
        columns.problems.append(wrong_type(rows, column, loc, Unreadable(fault.code, fault.reason, hint)))
        return None
    text = column_cells.cast(pl.String)  # for messages: Python has no date beyond the year 9999
    is_strange = values.is_null() & ~blank(text)
    if not is_strange.any():
        return values
    what = f"{noun(is_strange, 'text')}, not {noun(is_strange, 'date')}"
    if column_cells.dtype.is_temporal():
        what = f"not {noun(is_strange, 'date')} of the years 1 to 9999"
    if text.filter(is_strange).str.strip_chars().str.to_lowercase().is_in(list(MISSING_WORDS)).all():
        hint = missing_hint(text.filter(is_strange), "date", missing=True, separated=rows.separated)
    message = f"{cells(is_strange)} of column '{column}' {are(is_strange)} {what}"
    columns.report("not-a-date", message, loc, hint, mask=is_strange, values=text)
    return None


def percent_columns(plan: Plan) -> frozenset[str]:
    """Return the names of the columns with probabilities in percent."""
    return frozenset().union(*(model.percents for model in plan.models.values()))


def read_once(columns: Columns, column: str, loc: Loc, code: str, called: str) -> pl.Series | None:
    """Read a column of numbers [n] without empty cells; None where it is unusable, or was read before.

    ``code`` is that of the problem of empty cells, ``called`` the word for a number, such as "weight". A column
    was read before where the same column and code were asked for.
    """
    # Several models may name one column; its problems are told once.
    if (column, code) in columns.checked:
        return None
    columns.checked.add((column, code))
    values = columns.numbers.get(column)
    if values is None:
        values = read_numbers(columns, column, loc, code, called, percent=column in percent_columns(columns.rows.plan))
    if values is not None:
        columns.numbers[column] = values
    return values


def refuse(
    columns: Columns, column: str, loc: Loc, wrong: pl.Series, code: str, what: str, hint: str, called: str = "column"
) -> None:
    """Report the cells of a column where ``wrong`` [n] is true, if any; ``what`` ends the message: "not numbers"."""
    if wrong.any():
        message = f"{cells(wrong)} of {called} '{column}' {are(wrong)} {what}"
        values = columns.rows.frame[column]
        columns.report(code, message, loc, hint, mask=wrong, values=values)


def number_hint(texts: pl.Series, called: str, *, missing: bool, separated: bool) -> str:
    """Return the hint for texts in a column of numbers; ``missing`` says that cells may be empty."""
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
    """Return the hint for texts such as "NA" that stand for a missing value; ``missing``: cells may be empty."""
    if separated:
        listed = ", ".join(quote_for_yaml(cell) for cell in texts.str.strip_chars().unique(maintain_order=True))
        declare = f"declare csv: {{null: {{{quote_for_yaml(texts.name)}: [{listed}]}}}}, so that it counts as missing"
        return declare if missing else f"{declare}; every row needs {with_article(called)}"
    return "only an empty cell counts as missing" + ("" if missing else f", and every row needs {with_article(called)}")


def fill_hint(rows: RowBlock, column: str, loc: Loc) -> str:
    """Return the hint for empty cells of a column; ``loc`` is the key of the spec that names the column."""
    if "optimism" in loc:
        return "give how often each row was drawn; 0 where it was not"
    if loc[0] != "models" or rows.plan.streaming.streamed:
        return f"fill them, or leave such rows out with where: '{sql_name(column)} IS NOT NULL'"
    if rows.dataset.role == "predictions" and rows.dataset.table.named.model is None:
        return "fill them, or leave such rows out of the file"
    return "fill them, or leave such rows out for every model with 'complete_case: all' at the top of the spec"


def wrong_type(rows: RowBlock, column: str, loc: Loc, fault: Unreadable) -> Problem:
    """Return the problem of a column whose type cannot be used."""
    return rows.problem(fault.code, f"column '{column}' of {rows.called} {fault.reason}", loc, fault.hint)
