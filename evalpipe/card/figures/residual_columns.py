"""Figures of residuals against columns of the data and in the order of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.context import Context, column, listed, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.numbers import named, short
from evalpipe.card.figures.panel import DOTS, panel
from evalpipe.card.figures.residuals import box
from evalpipe.card.figures.rows import RowLabel, rows
from evalpipe.card.figures.scales import Axis, number_axis, ticks_between
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing
from evalpipe.results.curves.residual_kinds import ResidualAgainst, ResidualOrder
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.canvas import Drawing, Series

FIVE = ("low", "lower_quartile", "median", "upper_quartile", "high")
Groups = dict[str, list[float]]
"""The points of one column, by their names."""


def _of_column(curve: ResidualAgainst, place: int) -> Groups:
    columns = {name: column(values) for name, values in curve.points.columns.items()}
    kept = [row for row, of in enumerate(columns["column"]) if of == place]
    return {name: [values[row] for row in kept] for name, values in columns.items()}


@figure_of(ResidualAgainst, place=203)
def residual_against(context: Context, pairs: list[tuple[Series, ResidualAgainst]]) -> Drawing | None:
    """Draw each model's residuals against each column: bands along numbers, boxes of levels."""
    notes = pairs[0][1].notes
    sheets: list[Sheet] = []
    for place, name in enumerate(notes.columns):
        of_models = [(series, _of_column(curve, place)) for series, curve in pairs]
        up = _axis(context, notes.kind, [groups for _, groups in of_models])
        for series, groups in of_models:
            if groups["value"]:
                sheets.append(_boxes(series, groups, notes.levels[name], name, up) if name in notes.levels
                              else _bands(series, groups, number_axis(name, groups["value"]), up))
    if not sheets:
        return None
    said = [(series, _furthest(curve)) for series, curve in pairs]
    groups_drawn = _groups(notes.least, bands=len(notes.levels) < len(notes.columns), boxes=bool(notes.levels))
    caption = f"{_meaning(context, notes.kind)} {groups_drawn}{_absent(pairs)}"
    title = "Residuals against columns of the data"
    return drawing(f"d{context.place}-residual-against", title, (
        listed([f"{series.label}: {text}" for series, text in said]), caption,
        context.told(title, said, lambda text: text)), sheets)


@figure_of(ResidualOrder, place=206)
def residual_order(context: Context, pairs: list[tuple[Series, ResidualOrder]]) -> Drawing:
    """Draw each model's residuals in the order of a column."""
    notes = pairs[0][1].notes
    of_models = [(series, {name: column(values) for name, values in curve.points.columns.items()})
                 for series, curve in pairs]
    up = _axis(context, notes.kind, [groups for _, groups in of_models])
    x = number_axis(f"Place in the order of {notes.column}", [1.0, float(notes.values)], room=0.02)
    title = "Residuals in order"
    caption = (f"{_meaning(context, notes.kind)} {_groups(notes.least, bands=True, boxes=False)} Rows of one value of "
               f"{notes.column} have one place, and count as their mean for the autocorrelation, at lag 1, and for the "
               "Durbin-Watson statistic, about 2 where neighbours are unrelated and below where they are alike.")
    return drawing(f"d{context.place}-residual-order", title, (
        context.finds(pairs, _related), caption, context.told(title, pairs, _related)),
        [_bands(series, groups, x, up) for series, groups in of_models])


def _meaning(context: Context, kind: str) -> str:
    if kind == "pearson":
        return "Pearson residual: (observed − predicted) over the root of the prediction."
    if not context.results.levels:
        return "Residual = observed − predicted."
    if context.results.event is not None:
        return "Residual: 1 − p of an event, −p of the others."
    return "Residual: 1 − probability of the true level."


def _groups(least: int, *, bands: bool, boxes: bool) -> str:
    """Say how groups are drawn."""
    parts = [f"No single row is drawn, but groups of at least {numbers.count(least)}."]
    if bands:
        parts.append("Points: their means, with a smooth line. Dark band: the middle half of the residuals; light "
                     "band: all but a tenth at either end.")
    if boxes:
        parts.append("Box of a level: quartiles and median; whiskers: all but a tenth at either end; diamond: mean.")
    return " ".join(parts)


def _axis(context: Context, kind: str, groups: Sequence[Groups]) -> Axis:
    values = [value for of in groups for name in ("low", "high", "mean", "expected") for value in of[name]]
    return number_axis("Pearson residual" if kind == "pearson" else named(context, "Residual"), [*values, 0.0])


def _bands(series: Series, groups: Groups, x: Axis, up: Axis) -> Sheet:
    """Draw how residuals are distributed along a column of numbers."""
    sheet, at = Sheet(), groups["value"]
    drawn = panel(sheet, x, up, 200, title=series.label)
    drawn.band(at, groups["low"], groups["high"], series.ink, "faint")
    drawn.band(at, groups["lower_quartile"], groups["upper_quartile"], series.ink)
    drawn.line(at, groups["expected"], "ink", kind="thin", dash=DOTS)
    drawn.line(at, groups["smooth"], series.ink)
    drawn.marks(at, groups["mean"], series.ink, series.marker)
    drawn.record_values(series.label, **{x.name: at}, **{name: groups[name] for name in ("mean", *FIVE, "weight")})
    sheet.key([KeyEntry("Mean", series.ink, "line", series.marker), KeyEntry("Expected", "ink", "thin", dash=DOTS),
               KeyEntry("Middle half", series.ink, "band"), KeyEntry("Middle four fifths", series.ink, "faint")])
    return sheet


def _boxes(series: Series, groups: Groups, levels: Sequence[str], name: str, along: Axis) -> Sheet:
    """Draw a box for each level of a column."""
    sheet = Sheet()
    sheet.heading(series.label)
    labels = [levels[int(place)] for place in groups["value"]]
    axis = Axis(f"{along.name}, by {name}", along.low, along.high, ticks_between(along.low, along.high, 4))
    drawn = rows(sheet, [RowLabel(label) for label in labels], axis, 3)
    for row, label in enumerate(labels):
        box(drawn, row, [groups[part][row] for part in FIVE], series.ink)
        drawn.panel.record_values(f"{series.label}, {label}", **{
            part: [groups[part][row]] for part in ("mean", *FIVE, "weight")})
    expected = KeyEntry("Expected", "ink", "thin", dash=DOTS)
    if any(groups["expected"]):
        drawn.panel.marks(groups["expected"], drawn.middles, "muted", "o", kind="hollow", size=3)
        expected = KeyEntry("Expected", "muted", "hollow", "o")
    else:
        drawn.panel.rule("ink", x=0, dash=DOTS)
    drawn.panel.marks(groups["mean"], drawn.middles, "ink", "D")
    sheet.key([KeyEntry("Mean", "ink", "mark", "D"), expected])
    return sheet


def _furthest(curve: ResidualAgainst) -> str:
    """Say in which group of each column the mean is furthest from what is expected."""
    parts = []
    for place, name in enumerate(curve.notes.columns):
        groups = _of_column(curve, place)
        if not groups["value"]:
            parts.append(f"too few rows by {name}")
            continue
        row = max(range(len(groups["value"])), key=lambda k: abs(groups["mean"][k] - groups["expected"][k]))
        at = groups["value"][row]
        where = f"{name} {curve.notes.levels[name][int(at)]}" if name in curve.notes.levels else f"{name} {short(at)}"
        held_to = "what is expected" if any(groups["expected"]) else "zero"
        parts.append(f"by {name} the mean is furthest from {held_to} at {where}, {short(groups['mean'][row])}")
    return "; ".join(parts)


def _absent(pairs: Sequence[tuple[Series, ResidualAgainst]]) -> str:
    """Say which rows and levels are in no group."""
    notes = pairs[0][1].notes
    missing = [f"{numbers.count(rows)} without {name}" for name, rows in notes.missing.items()]
    few = [f"{numbers.count(levels)} of {name}" for name, levels in notes.few.items()]
    text = f" Left out: rows {wording.joined(missing)}." if missing else ""
    return text + (f" Levels with too few rows: {wording.joined(few)}." if few else "")


def _related(curve: ResidualOrder) -> str:
    notes = curve.notes
    if notes.durbin_watson is None:
        return "too few places, or residuals that are all the same"
    return (f"autocorrelation {short(or_nan(notes.autocorrelation))} and Durbin-Watson statistic "
            f"{short(notes.durbin_watson)} over {numbers.count(notes.values)} places")
