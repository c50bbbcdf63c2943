"""What the card says of several fits of one model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import ranged, reasons_below
from evalpipe.card.wording import names_of
from evalpipe.chapters.repeats.figures import figures
from evalpipe.chapters.repeats.words import digits_of_values, file_name, fit_name, rows_of_fits, spread_text
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
    from evalpipe.results import ModelSummary, Results

LEAD = (
    "Several fits of one model, by other seeds or other samples of training, on the same rows. All other sections show "
    "the fit whose file is first by name, whatever its values."
)
READ = (
    "The interval of the mean is for the expected performance of such fits, the interval for a new fit for the "
    "performance of one more of them in the population. SD of fits: the standard deviation of the values on these "
    "rows. SD between fits: the part of it that is not due to the sample of rows; 0 where that sample explains all of "
    "it. SE within: the standard error of one fit, as the rows are a sample."
)
COLUMNS = (
    Column("Measure", style="what"), Column("Mean", "num"), Column("Interval of the mean", "num", "limits"),
    Column("Interval for a new fit", "num", "limits"), Column("SD of fits", "num"), Column("SD between fits", "num"),
    Column("SE within", "num"), Column("Lowest fit", "num"), Column("Highest fit", "num"),
)


def sections(results: Results) -> Iterator[Section]:
    """Write the section, with a table and a figure for each model of which there are several fits."""
    if results.repeated:
        blocks = [block for place, repeated in enumerate(results.repeated, 1)
                  for block in _of_model(results, repeated, place)]
        yield Section("repeats", "Repeated fits", (Text(LEAD, "lead"), *blocks, Text(READ, "small")), part="comparison")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Say how many fits a model has, and which of them the card shows."""
    shown = {(len(repeated.files), file_name(repeated.files[0])): repeated
             for repeated in results.repeated if repeated.model == model.name}
    for count, name in shown:
        yield "Fits", f"{count}, of which this card shows {name}, the first by name; all are under Repeated fits"


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Say which fit the measures of a dataset are of."""
    names = names_of(results)
    for repeated in results.repeated:
        if repeated.dataset == dataset:
            yield (f"Of {names.model(repeated.model)} there are {len(repeated.files)} fits; these measures are of "
                   f"{file_name(repeated.files[0])}, the first by name.")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the spread between fits was estimated."""
    if any(row.between is not None for row in results.repeats):
        yield Procedure("Repeated fits", (
            "Every replicate draws the same rows for all fits, so that it is known how much of the error for lack of "
            "rows they share. The variance of the values, less what the rows explain of it, is the variance between "
            "fits; it is never taken as negative. The standard deviation over the root of the number of fits would "
            "be too small an error of the mean, as the fits share their rows."),
            "Nadeau, C. & Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52(3), 239–281.")


def _of_model(results: Results, repeated: RepeatedModel, place: int) -> Iterator[Block]:
    rows = rows_of_fits(results, repeated)
    name = names_of(results).model(repeated.model)
    yield Heading(f"{name} on {repeated.dataset}")
    yield Text(f"{len(repeated.files)} fits, in {file_name(repeated.files[0])} to {file_name(repeated.files[-1])}.")
    limited = any(row.lower is not None for row in rows)
    level = f", with {wording.level(results.intervals.level)} intervals" if limited else ""
    shown = {"Interval of the mean": limited, "Interval for a new fit": limited, "SE within": limited,
             "SD between fits": limited}
    columns = tuple(Column(column.head, column.align, column.style, shown.get(column.head, True)) for column in COLUMNS)
    yield Table(f"Fits of {name} on {repeated.dataset}{level}", columns,
                tuple(_row(results, repeated, row) for row in rows), stacked=True)
    yield from reasons_below(results, rows)
    yield Figures(partial(figures, results, repeated, rows, place))


def _row(results: Results, repeated: RepeatedModel, row: Repeat) -> Row:
    measure = names_of(results).measure(row.metric, row.params, row.average, row.class_)
    if row.mean is None:
        return Row((measure, Number("undefined"), *["–"] * (len(COLUMNS) - 2)))
    mean, new = ranged(row.mean, row.lower, row.upper), ranged(row.mean, row.new_lower, row.new_upper)
    spreads = (row.sd, row.between, row.within)
    return Row((
        measure, Number(mean.value, None, None, mean.exact), mean.interval or "–", new.interval or "–",
        *("–" if spread is None else Number(spread_text(spread), None, None, numbers.exact(spread))
          for spread in spreads),
        _end(repeated, row, row.lowest), _end(repeated, row, row.highest)))


def _end(repeated: RepeatedModel, row: Repeat, value: float | None) -> Cell:
    """Write the lowest or the highest value, with the file that has it, of several the first."""
    if value is None:
        return "–"
    file = repeated.files[row.values.index(value)]
    return Number(numbers.fixed(value, digits_of_values(row)), None, fit_name(file), numbers.exact(value))
