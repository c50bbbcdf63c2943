"""Figures of residuals: their histogram, their sizes, and how they lie against columns of the data and in an order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure_of, or_nan
from evalpipe.card.figures.curves import Frame, ModelCurve, draw_curves, shared_sentence
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DOTS, RowLabel, RowPanel, panel, rows
from evalpipe.card.figures.scatter import axis_name, short, with_unit
from evalpipe.card.figures.svg import Sheet, drawing, number
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import (
    ResidualAgainst,
    ResidualBox,
    ResidualEcdf,
    ResidualHistogram,
    ResidualOrder,
    ResidualQuantiles,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.svg import Drawing, Series


@figure_of(ResidualHistogram, part="results", place=200)
def histogram(context: Context, pairs: list[tuple[Series, ResidualHistogram]]) -> Drawing:
    """Draw each model's residuals in bins of equal width."""
    key, title = f"d{context.place}-residual-histogram", "Histogram of residuals"
    several = bool(context.results.levels) and context.results.event is None
    right = "" if several else "; right of it predictions are too low"
    meaning = ("residual: 1 − probability of the true level" if several else
               "residual: 1 − p of an event, −p of the others" if context.results.levels else
               "residual = observed − predicted")
    caption = f"Share of rows by {meaning}, in bins of equal width. Line: no error{right}."
    ends = [value for _, c in pairs for values in (c.points.low, c.points.high) for value in column(values)]
    x, sheet = number_axis(axis_name(context, "Residual"), [*ends, 0.0]), Sheet()
    for series, curve in pairs:
        edges, weights = [*column(curve.points.low), column(curve.points.high)[-1]], column(curve.points.weight)
        shares = [100 * weight / sum(weights) for weight in weights]
        top = 1.1 * max(shares)
        y = Axis("Per cent of rows", 0, top, ticks_between(0, top, 4))
        drawn = panel(sheet, x, y, 120, title=series.label, last=curve is pairs[-1][1])
        drawn.bars(edges, shares, series.ink, name=series.label)
        drawn.rule("ink", x=0)
    finding, alt = context.finding_and_alt(title, pairs, partial(_fullest_bin, context))
    return drawing(key, title, (finding, caption, alt), [sheet])


def _fullest_bin(context: Context, curve: ResidualHistogram) -> FigureFinding:
    """Say the range of the residuals, at length with the bin of most rows."""
    low, high, weights = (column(values) for values in (curve.points.low, curve.points.high, curve.points.weight))
    fullest, span = weights.index(max(weights)), f"from {short(low[0])} to {with_unit(context, high[-1])}"
    return FigureFinding(
        span, f"{span}; the fullest bin, from {short(low[fullest])} to {short(high[fullest])}, holds "
        f"{numbers.percent(weights[fullest], sum(weights))} of the rows")


@figure_of(ResidualEcdf, part="appendix", place=210)
def distribution(context: Context, pairs: list[tuple[Series, ResidualEcdf]]) -> Drawing:
    """Draw the share of rows with a larger absolute residual, all models in one panel."""
    key, title = f"d{context.place}-residual-ecdf", "Distribution of absolute residuals"
    quantiles = {series.name: curve for series, curve in context.curves(ResidualQuantiles)}
    caption = (
        "Share of rows with a larger absolute residual than the value on the horizontal axis. A curve that falls "
        "sooner is better."
    )
    far = [value for _, curve in pairs for value in column(curve.points.absolute_residual)]
    x = number_axis(axis_name(context, "Absolute residual"), far, zero=True, room=0.0)
    narrow = Axis(x.name, x.low, x.high, ticks_between(x.low, x.high, 2))
    frame = Frame(x, unit_axis("Share of rows above"), (narrow, unit_axis("Share above", HALVES)), 220, 120)
    curves = [ModelCurve(series, column(c.points.absolute_residual), column(c.points.share_above), steps=True)
              for series, c in pairs]
    caption += shared_sentence([series for series, _ in pairs])
    finding, alt = context.finding_and_alt("Reversed distribution of absolute residuals", pairs, lambda curve: (
        _quantile_sizes(context, curve, quantiles.get(curve.model))))
    return drawing(key, title, (finding, caption, alt), draw_curves(frame, curves))


def _quantile_sizes(context: Context, curve: ResidualEcdf, quantiles: ResidualQuantiles | None) -> FigureFinding:
    """Say the median and the ninth decile of a model's absolute residuals, at length with the largest."""
    largest = with_unit(context, column(curve.points.absolute_residual)[-1])
    if quantiles is None:
        return FigureFinding(f"at most {largest}", f"the largest is {largest}")
    size_of_share = dict(zip(column(quantiles.points.share), column(quantiles.points.absolute_residual), strict=True))
    half, ninth = (short(size_of_share[share]) for share in (0.5, 0.9))
    return FigureFinding(
        f"half are within {half}, nine in ten within {ninth}",
        f"half of the rows are within {half}, nine in ten within {ninth}; the largest is {largest}",
        again=f"{half} and {ninth}")


def box_caption() -> str:
    """Return the caption on how to read a box plot."""
    return (
        "Box: quartiles and median of the absolute residuals. Whiskers: the last rows within "
        f"{numbers.plain(constants.WHISKERS)} interquartile ranges of the box; of the rows beyond, the "
        f"{constants.OUTLIERS} largest are drawn as points. Diamond: the RMSE, which a few large residuals pull away "
        "from the box."
    )


@figure_of(ResidualBox, part="appendix", place=220)
def boxes(context: Context, pairs: list[tuple[Series, ResidualBox]]) -> Drawing:
    """Draw a box plot of each model's absolute residuals, with the root mean square marked."""
    key, title = f"d{context.place}-residual-boxes", "Box plots of absolute residuals"
    outliers = {series.name: column(curve.points.absolute_residual)
                for series, curve in context.curves(residuals.ResidualOutliers)}
    ends = [value for _, curve in pairs for values in curve.points.columns.values() for value in column(values)]
    ends += [value for values in outliers.values() for value in values]
    ends += [or_nan(curve.notes.rmse) for _, curve in pairs]
    sheet = Sheet()
    axis = number_axis(axis_name(context, "Absolute residual"), ends, zero=True, most=4)
    drawn = rows(sheet, [RowLabel(series.label) for series, _ in pairs], axis, 3)
    for row, (series, curve) in enumerate(pairs):
        y, rmse, beyond = drawn.middles[row], [or_nan(curve.notes.rmse)], outliers.get(series.name)
        if beyond is not None:
            drawn.panel.dots(beyond, [y] * len(beyond), "pale")
        five = {name: column(values)[0] for name, values in curve.points.columns.items()}
        draw_box(drawn, row, list(five.values()), series.ink)
        drawn.panel.marks(rmse, [y], "ink", "D")
        drawn.panel.record_values(series.label, **{name.replace("_", " "): [value] for name, value in five.items()},
                                    rmse=rmse)
    finding, alt = context.finding_and_alt(title, pairs, partial(_box_sizes, context))
    return drawing(key, title, (finding, box_caption(), alt), [sheet])


def draw_box(drawn: RowPanel, row: int, five: Sequence[float], ink: str) -> None:
    """Draw a box plot in a row; ``five`` are whisker, quartile, median, quartile, whisker, in ascending order."""
    panel_of, y = drawn.panel, drawn.panel.down(drawn.middles[row])
    low, first, median, third, high = map(panel_of.across, five)
    panel_of.sheet.path(
        f"M{number(low)},{number(y)}H{number(first)}M{number(third)},{number(y)}H{number(high)}", "range", ink)
    panel_of.sheet.path(f"M{number(first)},{number(y - 8)}H{number(third)}v16H{number(first)}z", "light", ink)
    panel_of.sheet.path(f"M{number(median)},{number(y - 8)}v16", "line", ink)
    middle = drawn.middles[row]
    low, first, median, third, high = five
    panel_of.keep("ranges", at=[middle, middle], low=[low, third], high=[first, high], ink=ink, upright=False)
    panel_of.keep("row_bar", y=middle, low=first, high=third, half=8.0, ink=ink, kind="light")
    panel_of.keep("stroke", x=median, y=middle, half=8.0, ink=ink, kind="line")


def _box_sizes(context: Context, curve: ResidualBox) -> FigureFinding:
    """Say the median and the RMSE of a model, at length the quartiles and how many rows lie beyond the whiskers."""
    points = curve.points
    low, median, high = (column(values)[0] for values in (points.lower_quartile, points.median, points.upper_quartile))
    rmse, outliers = with_unit(context, or_nan(curve.notes.rmse)), or_nan(curve.notes.outliers)
    rows = "1 row lies" if outliers == 1 else f"{numbers.count(outliers)} rows lie" if outliers else "no row lies"
    return FigureFinding(
        f"median {short(median)}, RMSE {rmse}",
        f"median {with_unit(context, median)}, quartiles {short(low)} and {short(high)}, RMSE {rmse}; {rows} "
        "beyond the whiskers")


FIVE = ("low", "lower_quartile", "median", "upper_quartile", "high")
Groups = dict[str, list[float]]
"""The points of one column, by their names."""


def _points_of_column(curve: ResidualAgainst, column_index: int) -> Groups:
    """Return the statistics of residuals in the groups of a column, by its index, as lists by name."""
    columns = {name: column(values) for name, values in curve.points.columns.items()}
    row_indices = [row for row, index in enumerate(columns["column"]) if index == column_index]
    return {name: [values[row] for row in row_indices] for name, values in columns.items()}


@figure_of(ResidualAgainst, part="appendix", place=203)
def residual_against(context: Context, pairs: list[tuple[Series, ResidualAgainst]]) -> Drawing | None:
    """Draw each model's residuals against each column: bands along numbers, boxes of levels."""
    notes = pairs[0][1].notes
    sheets: list[Sheet] = []
    for column_index, name in enumerate(notes.columns):
        of_models = [(series, _points_of_column(curve, column_index)) for series, curve in pairs]
        up = _residual_axis(context, notes.kind, [groups for _, groups in of_models])
        for series, groups in of_models:
            if groups["value"]:
                sheets.append(_box_sheet(series, groups, notes.levels[name], name, up) if name in notes.levels
                              else _band_sheet(series, groups, number_axis(name, groups["value"]), up))
    if not sheets:
        return None
    missing = [f"{numbers.count(rows)} without {name}" for name, rows in notes.missing.items()]
    few = [f"{numbers.count(levels)} of {name}" for name, levels in notes.few.items()]
    left_out = f" Left out: rows {wording.joined(missing)}." if missing else ""
    left_out += f" Levels with too few rows: {wording.joined(few)}." if few else ""
    groups_drawn = _group_caption(notes.least, bands=len(notes.levels) < len(notes.columns), boxes=bool(notes.levels))
    caption = f"{_residual_definition(context, notes.kind)} {groups_drawn}{left_out}"
    title = "Residuals against columns of the data"
    finding, alt = context.finding_and_alt(title, pairs, _furthest_groups)
    return drawing(f"d{context.place}-residual-against", title, (finding, caption, alt), sheets)


@figure_of(ResidualOrder, part="appendix", place=206)
def residual_order(context: Context, pairs: list[tuple[Series, ResidualOrder]]) -> Drawing:
    """Draw each model's residuals in the order of a column."""
    notes = pairs[0][1].notes
    of_models = [(series, {name: column(values) for name, values in curve.points.columns.items()})
                 for series, curve in pairs]
    up = _residual_axis(context, notes.kind, [groups for _, groups in of_models])
    x = number_axis(f"Place in the order of {notes.column}", [1.0, float(notes.values)], room=0.02)
    title = "Residuals in order"
    caption = (f"{_residual_definition(context, notes.kind)} {_group_caption(notes.least, bands=True, boxes=False)} "
               f"Rows of one value of {notes.column} have one place, and count as their mean for the autocorrelation, "
               "at lag 1, and for the Durbin-Watson statistic, about 2 where neighbours are unrelated and below where "
               "they are alike.")
    finding, alt = context.finding_and_alt(title, pairs, _correlation)
    return drawing(f"d{context.place}-residual-order", title, (finding, caption, alt),
                   [_band_sheet(series, groups, x, up) for series, groups in of_models])


def _residual_definition(context: Context, kind: str) -> str:
    """Return the sentence of a caption that defines the residual, by its ``kind`` and the task."""
    if kind == "pearson":
        return "Pearson residual: (observed − predicted) over the root of the prediction."
    if not context.results.levels:
        return "Residual = observed − predicted."
    if context.results.event is not None:
        return "Residual: 1 − p of an event, −p of the others."
    return "Residual: 1 − probability of the true level."


def _group_caption(least: int, *, bands: bool, boxes: bool) -> str:
    """Return the sentences of a caption on groups of at least ``least`` rows, drawn as bands or boxes."""
    parts = [f"No single row is drawn, but groups of at least {numbers.count(least)}."]
    if bands:
        parts.append("Points: their means, with a smooth line. Dark band: the middle half of the residuals; light "
                     "band: all but a tenth at either end.")
    if boxes:
        parts.append("Box of a level: quartiles and median; whiskers: all but a tenth at either end; diamond: mean; "
                     "ring or dotted line: what is expected.")
    return " ".join(parts)


def _residual_axis(context: Context, kind: str, groups: Sequence[Groups]) -> Axis:
    """Return the axis of residuals that all panels share: it includes every limit, mean and 0."""
    values = [value for part in groups for name in ("low", "high", "mean", "expected") for value in part[name]]
    return number_axis("Pearson residual" if kind == "pearson" else axis_name(context, "Residual"), [*values, 0.0])


def _band_sheet(series: Series, groups: Groups, x: Axis, up: Axis) -> Sheet:
    """Draw quantile bands, means and a smooth line of residuals along a column of numbers; return the sheet."""
    sheet, values = Sheet(), groups["value"]
    drawn = panel(sheet, x, up, 200, title=series.label)
    drawn.band(values, groups["low"], groups["high"], series.ink, "faint")
    drawn.band(values, groups["lower_quartile"], groups["upper_quartile"], series.ink)
    drawn.line(values, groups["expected"], "ink", kind="thin", dash=DOTS)
    drawn.line(values, groups["smooth"], series.ink)
    drawn.marks(values, groups["mean"], series.ink, series.marker)
    statistics = {name.replace("_", " "): groups[name] for name in ("mean", *FIVE, "weight")}
    along = f"column {x.name}" if x.name in statistics else x.name
    drawn.record_values(series.label, **({along: values} | statistics))
    smooth = LineLabel("Mean", series.ink, values, groups["smooth"])
    sheet.key(label_lines(drawn, [], [
        smooth, LineLabel("Expected", "ink", values, groups["expected"], kind="thin", dash=DOTS)]))
    return sheet


def _box_sheet(series: Series, groups: Groups, levels: Sequence[str], name: str, along: Axis) -> Sheet:
    """Draw a box plot of the residuals of each level of a column; ``along`` is the axis of residuals."""
    sheet = Sheet()
    sheet.heading(series.label)
    labels = [levels[int(level_index)] for level_index in groups["value"]]
    axis = Axis(f"{along.name}, by {name}", along.low, along.high, ticks_between(along.low, along.high, 4))
    drawn = rows(sheet, [RowLabel(label) for label in labels], axis, 3)
    for row, label in enumerate(labels):
        draw_box(drawn, row, [groups[part][row] for part in FIVE], series.ink)
        drawn.panel.record_values(f"{series.label}, {label}", **{
            part.replace("_", " "): [groups[part][row]] for part in ("mean", *FIVE, "weight")})
    if any(groups["expected"]):
        drawn.panel.marks(groups["expected"], drawn.middles, "muted", "o", kind="hollow", size=3)
    else:
        drawn.panel.rule("ink", x=0, dash=DOTS)
    drawn.panel.marks(groups["mean"], drawn.middles, "ink", "D")
    return sheet


def _furthest_groups(curve: ResidualAgainst) -> FigureFinding:
    """Say of which group the mean residual is furthest from expected: of all columns, at length of each."""
    parts: list[str] = []
    furthest: list[tuple[float, str]] = []
    for column_index, name in enumerate(curve.notes.columns):
        groups = _points_of_column(curve, column_index)
        if not groups["value"]:
            parts.append(f"too few rows by {name}")
            continue
        gaps = [abs(mean - expected) for mean, expected in zip(groups["mean"], groups["expected"], strict=True)]
        row = gaps.index(max(gaps))
        value, mean = groups["value"][row], short(groups["mean"][row])
        group = curve.notes.levels[name][int(value)] if name in curve.notes.levels else short(value)
        target = "what is expected" if any(groups["expected"]) else "zero"
        parts.append(f"by {name} the mean is furthest from {target} at {name} {group}, {mean}")
        furthest.append((gaps[row], f"mean {mean} at {name} {group}"))
    return FigureFinding(max(furthest)[1] if furthest else "too few rows", "; ".join(parts))


def _correlation(curve: ResidualOrder) -> FigureFinding:
    """Say the autocorrelation of ordered residuals, at length with the Durbin-Watson statistic."""
    notes = curve.notes
    if notes.durbin_watson is None:
        text = "too few places, or residuals that are all the same"
        return FigureFinding(text, text)
    text = f"autocorrelation {short(or_nan(notes.autocorrelation))}"
    return FigureFinding(
        text, f"{text} and Durbin-Watson statistic {short(notes.durbin_watson)} over "
        f"{numbers.count(notes.values)} places")
