"""What the card says of several fits of one model: section and facts, findings, shared words and figures."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import Axis, number_axis, unit_axis
from evalpipe.card.figures.labels import LineLabel, label_lines, name_marks
from evalpipe.card.figures.panel import DOTS, Panel, panel
from evalpipe.card.figures.svg import Clauses, Sheet, drawing, stacks
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import ranged, reason_texts, row_anchor, with_intervals
from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import NO_BASELINE, ONE_MODEL, Claim, Unless, rule
from evalpipe.findings.words import finding, grouped, of_model
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.svg import Drawing
    from evalpipe.card.page import Block
    from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
    from evalpipe.results import Comparison, ModelSummary, Results
    from evalpipe.results.document import Finding


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
WITH_LIMITS = {"Interval of the mean", "Interval for a new fit", "SE within", "SD between fits"}
"""The columns that are shown where the measures have intervals."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the card's section on repeated fits: a table and figures for each model with several fits."""
    if results.repeated:
        blocks = [block for number, repeated in enumerate(results.repeated, 1)
                  for block in _blocks_of_model(results, repeated, number)]
        yield Section("repeats", "Repeated fits", (Text(LEAD, "lead"), *blocks, Text(READ, "small")), part="comparison")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Yield how many fits a model has, and which of them the card shows."""
    of_model = (repeated.files for repeated in results.repeated if repeated.model == model.name)
    for count, name in dict.fromkeys((len(files), file_name(files[0])) for files in of_model):
        yield "Fits", f"{count}, of which this card shows {name}, the first by name; all are under Repeated fits"


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Yield a sentence on which of a model's several fits the measures of a dataset are of."""
    names = names_of(results)
    for repeated in results.repeated:
        if repeated.dataset == dataset:
            yield (f"Of {names.model(repeated.model)} there are {len(repeated.files)} fits; these measures are of "
                   f"{file_name(repeated.files[0])}, the first by name.")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on how the spread between the fits of a model was estimated."""
    if any(row.between is not None for row in results.repeats):
        yield Procedure("Repeated fits", (
            "Every replicate draws the same rows for all fits, so that it is known how much of the error for lack of "
            "rows they share. The variance of the values, less what the rows explain of it, is the variance between "
            "fits; it is never taken as negative. The standard deviation over the root of the number of fits would "
            "be too small an error of the mean, as the fits share their rows."),
            "Nadeau, C. & Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52(3), 239–281.")


def _blocks_of_model(results: Results, repeated: RepeatedModel, place: int) -> Iterator[Block]:
    """Yield a table of a model's measures over its fits, and figures; ``place`` is its number, for their ids."""
    rows, names = rows_of_fits(results, repeated), names_of(results)
    name = f"{names.model(repeated.model)} on {repeated.dataset}"
    limited = any(row.lower is not None for row in rows)
    columns = tuple(replace(column, shown=limited or column.head not in WITH_LIMITS) for column in COLUMNS)
    cells = []
    for row in rows:
        measure = names.measure_of(row)
        if row.mean is None:
            cells.append(Row((measure, Number("undefined"), *["–"] * (len(COLUMNS) - 2))))
            continue
        mean, new = ranged(row.mean, row.lower, row.upper), ranged(row.mean, row.new_lower, row.new_upper)
        spreads = ("–" if spread is None else Number(spread_text(spread), None, None, numbers.exact(spread))
                   for spread in (row.sd, row.between, row.within))
        ends = ("–" if end is None else Number(
            numbers.fixed(end, digits_of_values(row)), None, fit_name(repeated.files[row.values.index(end)]),
            numbers.exact(end)) for end in (row.lowest, row.highest))
        cells.append(Row((measure, Number(mean.value, None, None, mean.exact), mean.interval or "–",
                          new.interval or "–", *spreads, *ends), anchor=row_anchor(SECTION, [row])))
    yield Heading(name)
    yield Text(f"{len(repeated.files)} fits, in {file_name(repeated.files[0])} to {file_name(repeated.files[-1])}.")
    yield Table(f"Fits of {name}{with_intervals(results, limited=limited)}", columns, tuple(cells), stacked=True)
    yield from reason_texts(results, rows)
    yield Figures(partial(figures, results, repeated, rows, place))


SECTION = "repeats"
"""The anchor of the section on repeated fits."""

MOST_MEASURES = 3
"""The most measures that a sentence gives."""


NO_REPEATS = Unless("no-repeats", by_results=lambda results: not results.repeats)


@rule("note", unless=(NO_REPEATS,))
def fits_differ(results: Results) -> Iterator[Claim]:
    """Whether the fits of a model differ between them as much as the rows make one of them uncertain."""
    for row in single_values(results):
        if row.between is not None and row.within and row.between >= row.within:
            yield Claim(row, fits_differ_findings)


@rule("undecided", unless=(NO_REPEATS, ONE_MODEL, NO_BASELINE))
def fits_against_models(results: Results) -> Iterator[Claim]:
    """Whether the difference of two models is smaller than the spread between the fits of one of them."""
    for row in results.comparisons:
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if between_models and row.slice is None and row.class_ is None and row.difference is not None:
            wider = _row_with_widest_spread(results, row)
            if wider is not None and abs(row.difference) < (wider.sd or 0.0):
                yield Claim(row, fits_may_reverse_findings)


def fits_differ_findings(results: Results, rows: Sequence[Repeat]) -> Iterator[Finding]:
    """Yield findings on measures whose SD between fits is at least the standard error of a single fit."""
    for group in grouped(rows, lambda row: (row.dataset, row.model)):
        names = names_of(results)
        parts = [f"{names.measure(row.metric, row.params, row.average)} SD {spread_text(row.between or 0.0)} between "
                 f"fits, SE {spread_text(row.within or 0.0)} within" for row in group[:MOST_MEASURES]]
        text = (f"Fits of {of_model(results, group[0])} differ as much as samples of rows do: "
                f"{joined(parts)}{_more_measures(group)}. One fit does not stand for all.")
        yield finding("note", weights.FITS_DIFFER, text, SECTION, group)


def fits_may_reverse_findings(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Yield findings on differences of two models that are smaller than the SD of the fits of either."""
    # By id, for rows cannot be keys.
    widest = {id(row): fits for row in rows if (fits := _row_with_widest_spread(results, row)) is not None}
    for pair in grouped(rows, lambda row: (row.dataset, row.model, row.baseline, widest[id(row)].model)):
        names, first = names_of(results), pair[0]
        parts = []
        for row in pair[:MOST_MEASURES]:
            deviation = widest[id(row)].sd or 0.0
            digits = min(numbers.significant(deviation, 2), numbers.MOST_DECIMALS)
            parts.append(f"{names.measure(row.metric, row.params, row.average)} "
                         f"{numbers.signed(row.difference or 0.0, digits)} against an SD of {spread_text(deviation)}")
        text = (f"Another fit could reverse the order of {of_model(results, first)} and {names.model(first.baseline)}, "
                f"which differ less than the fits of {names.model(widest[id(first)].model)} do: {joined(parts)}"
                f"{_more_measures(pair)}.")
        yield finding("undecided", weights.FITS_DECIDE, text, SECTION, pair)


def _more_measures(rows: Sequence[object]) -> str:
    """Return ", and so in 2 more measures" for those beyond MOST_MEASURES; empty where there are none."""
    more = len(rows) - MOST_MEASURES
    return "" if more <= 0 else f", and so in {more} more {'measure' if more == 1 else 'measures'}"


def _row_with_widest_spread(results: Results, comparison: Comparison) -> Repeat | None:
    """Return the record of the compared model whose fits differ more in the measure; None where neither has several."""
    measure = (comparison.dataset, comparison.metric, comparison.params, comparison.average)
    rows = [row for row in single_values(results) if row.model in (comparison.model, comparison.baseline)
            and (row.dataset, row.metric, row.params, row.average) == measure]
    return max(rows, key=lambda row: row.sd or 0.0, default=None)


def rows_of_fits(results: Results, repeated: RepeatedModel) -> list[Repeat]:
    """Return the records of all measures over a model's repeated fits on a dataset."""
    return [row for row in results.repeats if (row.dataset, row.model) == (repeated.dataset, repeated.model)]


def single_values(results: Results) -> Iterator[Repeat]:
    """Yield the records of measures that are one number, not one for each class, if all fits have a value."""
    yield from (row for row in results.repeats if row.mean is not None and row.class_ is None)


def file_name(path: str) -> str:
    """Return the name of a file without its folder."""
    return path.rpartition("/")[2]


def fit_name(path: str) -> str:
    """Return a short name of a fit: the name of its file up to the first point."""
    return file_name(path).partition(".")[0] or file_name(path)


def spread_text(deviation: float) -> str:
    """Return a standard deviation as text, with two significant digits."""
    if not deviation:
        return "0"
    return numbers.fixed(deviation, min(numbers.significant(deviation, 2), numbers.MOST_DECIMALS))


def digits_of_values(row: Repeat) -> int:
    """Return the decimals for the values of fits: to the second significant digit of their SD."""
    return min(numbers.significant(row.sd, 2), numbers.MOST_DECIMALS) if row.sd else numbers.USUAL_DIGITS


HEIGHT = 46.0
"""Pixels of a strip."""

SIDE = 3.0
"""Pixels of a marker."""


AT = 0.2
"""The false positive rate at which the ROC curves of fits are put in words."""


def figures(results: Results, repeated: RepeatedModel, rows: Sequence[Repeat], place: int) -> Iterator[Drawing]:
    """Yield the figures of the fits of a model; ``place`` is its number, which keeps the ids of figures apart."""
    yield from strip_figure(results, repeated, rows, place)
    if any(height is not None for curve in repeated.sensitivity for height in curve):
        yield _roc_figure(results, repeated, place)


def _roc_figure(results: Results, repeated: RepeatedModel, place: int) -> Drawing:
    """Return the figure of the ROC curves of all fits, that of the fit that the card shows on top."""
    name, count = names_of(results).model(repeated.model), len(repeated.files)
    title, sheet = f"ROC curves of {count} fits of {name} on {repeated.dataset}", Sheet()
    across = repeated.false_positive_rate
    plot = panel(sheet, unit_axis("False positive rate (1 − specificity)"), unit_axis("Sensitivity"))
    plot.line((0, 1), (0, 1), "muted", kind="thin", dash=DOTS)
    curves = [[math.nan if height is None else height for height in curve] for curve in repeated.sensitivity]
    plot.lines([(across, curve) for curve in curves[1:]], "m0")
    plot.line(across, curves[0], "m1")
    for file, curve in zip(repeated.files, curves, strict=True):
        plot.record(fit_name(file), across[::5], curve[::5])
    of_card = LineLabel("The fit of this card", "m1", across, curves[0])
    furthest = max(curves[1:], key=lambda curve: _largest_difference(curve, curves[0]), default=curves[0])
    others = [LineLabel("", "m0", across, curve) for curve in curves[1:] if curve is not furthest]
    label_lines(plot, [], [of_card, LineLabel("Other fits", "m0", across, furthest)], unnamed=others)
    at_rate = min(range(len(across)), key=lambda k: abs(across[k] - AT))
    heights = [curve[at_rate] for curve in curves if not math.isnan(curve[at_rate])]
    low, high = (numbers.number(end(heights)) for end in (min, max))
    finding = (f"At a false positive rate of {numbers.plain(across[at_rate])} the sensitivity of the fits is from "
               f"{low} to {high}.")
    caption = ("Sensitivity against false positive rate over all thresholds, one line for each fit. Thick: the fit of "
               "this card. Dotted: chance.")
    in_short = f"Sensitivity {low} to {high} at a false positive rate of {numbers.plain(across[at_rate])}"
    clauses = Clauses((in_short,), "", (finding,))
    return drawing(f"repeats-roc-{place}", title, (clauses, caption, f"{title}. {finding}"), [sheet])


def _largest_difference(curve: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest absolute difference of two curves, which have heights at the same places."""
    return max((abs(a - b) for a, b in zip(curve, other, strict=True) if not math.isnan(a + b)), default=0.0)


def strip_figure(results: Results, repeated: RepeatedModel, rows: Sequence[Repeat], place: int) -> Iterator[Drawing]:
    """Yield the figure with the value of each fit on an axis for each measure, if there are any.

    ``place`` is the number of the model, for the id of the figure.
    """
    drawn_rows = [row for row in rows if row.mean is not None and row.class_ is None]
    if not drawn_rows:
        return
    names, sheets, drawn = names_of(results), list[Sheet](), list[tuple[Panel, list[LineLabel], list[LineLabel]]]()
    for rows_of_sheet in stacks(drawn_rows):
        sheet = Sheet()
        for row in rows_of_sheet:
            drawn.append(_draw_strip(sheet, names.measure(row.metric, row.params, row.average), row, repeated))
        sheets.append(sheet)
    name_marks([strip for strip, *_ in drawn], [marks for _, marks, _ in drawn], [fits for *_, fits in drawn])
    has_limits = any(row.new_lower is not None for row in drawn_rows)
    name = names.model(repeated.model)
    title = f"Fits of {name} on {repeated.dataset}"
    shaded = f" Shaded: the {wording.level(results.intervals.level)} interval for a new fit." if has_limits else ""
    caption = (f"The value of each fit on an axis of its own for each measure, from the first file by name at the top "
               f"to the last at the bottom. Diamond: the fit of this card. Line: their mean.{shaded}")
    sentences = [f"{names.measure(row.metric, row.params, row.average)} {_spread_sentence(row)}" for row in drawn_rows]
    finding = f"{wording.capital(sentences[0])}."
    yield drawing(f"repeats-{place}", title, (finding, caption, f"{title}. {'. '.join(sentences)}."), sheets)


def _draw_strip(
    sheet: Sheet, title: str, row: Repeat, repeated: RepeatedModel
) -> tuple[Panel, list[LineLabel], list[LineLabel]]:
    """Draw the values of the fits in a measure below what is on the sheet.

    Returns the panel, the marks to be labelled, and the marks that labels must not cover.
    """
    values = [value for value in row.values if value is not None]
    limits = [limit for limit in (row.new_lower, row.new_upper) if limit is not None]
    strip = panel(sheet, number_axis("", [*values, *limits], most=4), Axis("", 0.0, 1.0), HEIGHT, title=title)
    if row.new_lower is not None and row.new_upper is not None:
        strip.span(row.new_lower, row.new_upper)
    if row.mean is not None:
        strip.rule("ink", x=row.mean)
    # The first file at the top, each a little lower, so that fits of one value can be told apart.
    heights = [1 - (index + 0.5) / len(values) for index in range(len(values))]
    strip.marks(values[1:], heights[1:], "m0", "o", size=SIDE)
    strip.marks(values[:1], heights[:1], "m1", "D", size=SIDE + 1)
    for file, value in zip(repeated.files, values, strict=True):
        strip.record_values(f"{title}, {fit_name(file)}", value=[value])
    ends = {"mean": row.mean, "lower": row.lower, "upper": row.upper, "new lower": row.new_lower,
            "new upper": row.new_upper, "sd": row.sd}
    strip.record_values(f"{title}, all fits", **{name: [end] for name, end in ends.items() if end is not None})
    marks = [LineLabel("Fit of this card", "m1", values[:1], heights[:1])]
    marks += [LineLabel("Mean", "ink", [row.mean] * 2, [0.0, 1.0])] if row.mean is not None else []
    if row.new_lower is not None:
        marks.append(LineLabel("Interval for a new fit", "muted", [row.new_lower] * 2, [0.0, 1.0]))
    return strip, marks, [LineLabel("", "m0", values[1:], heights[1:], scattered=True)]


def _spread_sentence(row: Repeat) -> str:
    """Return how far the fits reach: "from 0.148 to 0.152 over 20 fits, SD 0.0011; interval for a new fit …"."""
    digits = digits_of_values(row)
    low, high = (numbers.fixed(end, digits) for end in (row.lowest or 0.0, row.highest or 0.0))
    text = f"from {low} to {high} over {row.fits} fits, SD {spread_text(row.sd or 0.0)}"
    if row.new_lower is None or row.new_upper is None or row.mean is None:
        return text
    _, limits = numbers.interval(row.mean, row.new_lower, row.new_upper)
    return f"{text}; interval for a new fit {limits}"
