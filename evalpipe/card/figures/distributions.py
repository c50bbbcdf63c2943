"""Figures of distributions: scores by class, and all proportions with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import LINE, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure, figure_of, known, or_nan
from evalpipe.card.figures.labels import LineLabel, label_lines, name_rows
from evalpipe.card.figures.panel import DASHES, RowLabel, estimated, panel, rows, rows_by_model, step_corners
from evalpipe.card.figures.svg import Clauses, KeyEntry, Sheet, drawing, more_models_than_inks, stacks
from evalpipe.card.tables import overall, shown
from evalpipe.results.curves.calibration import Histogram, Ks
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Estimate
    from evalpipe.results.curves import Column


@figure_of(Histogram, part="appendix", place=130)
def histogram(context: Context, pairs: list[tuple[Series, Histogram]]) -> Drawing:
    """Draw each model's probabilities: those of events upwards, those of non-events downwards."""
    event, other = context.results.event, context.results.other
    shared = _all_probabilities(*(ends for _, curve in pairs for ends in (curve.points.low, curve.points.high)))
    name = "Predicted probability" if shared else "Score"
    sheets = []
    for stack in stacks(pairs):
        sheets.append(sheet := Sheet())
        for series, curve in stack:
            points = curve.points
            edges = [*column(points.low), column(points.high)[-1]]
            up, down = ([100 * weight / sum(weights) if sum(weights) else 0.0 for weight in weights]
                        for weights in (column(points.events), column(points.others)))
            x = unit_axis(name) if shared else number_axis(name, [*column(points.low), *column(points.high)])
            drawn = panel(sheet, x, _mirrored_axis(max(*up, 1.0), max(*down, 1.0)), 130, title=series.label,
                          last=not shared or curve is stack[-1][1])
            drawn.bars(edges, up, series.ink, name=f"{series.label}, {event}")
            drawn.bars(edges, [-share for share in down], "pale", name=f"{series.label}, {other}")
            drawn.rule("ink", y=0)
            _name_halves(drawn, (str(event), str(other)), series.ink, (up, down))
            threshold = context.threshold(series.name)
            if threshold is not None:
                drawn.rule("ink", x=threshold.value, dash=DASHES)
    title = "Predicted probabilities by level" if shared else "Scores by level"
    caption = (
        f"Share of the rows of each level by {name.lower()}: {event} upwards, {other} "
        "downwards, each summing to 100%. Dashed line: threshold in use."
    )
    finding, alt = context.finding_and_alt(
        title, pairs, lambda curve: _predicted_as_events(context, curve.model), ", as histograms")
    return drawing(f"d{context.place}-histogram", title, (finding, caption, alt), sheets)


def _name_halves(
    drawn: Panel, names: tuple[str, str], ink: str, heights: tuple[Sequence[float], Sequence[float]]
) -> None:
    """Write the names of both levels in the corners of a mirrored histogram, on the side with lower bars."""
    for name, colour, values, foot in zip(names, (ink, "muted"), heights, (
            drawn.top + LINE - 2, drawn.base - 5), strict=True):
        middle = len(values) // 2
        right = sum(values[middle:]) < sum(values[:middle])
        drawn.sheet.write(drawn.left + (drawn.width - 4 if right else 4), foot, name, colour, "end" if right else "")
        drawn.names.append(KeyEntry(name, colour, "fill"))


NAME_SHARE = 0.16
"""The room that the name of a level takes above or below the bars, as a share of the height of all bars."""


def _mirrored_axis(up: float, down: float) -> Axis:
    """Return an axis in per cent from ``down`` below zero to ``up`` above, whose labels have no minus sign."""
    room = NAME_SHARE * (up + down)
    high, low = up + room, -down - room
    ticks = tuple((value, text.replace(numbers.MINUS, "")) for value, text in ticks_between(low, high, 4))
    return Axis("Per cent", low, high, ticks)


def _predicted_as_events(context: Context, model: str) -> FigureFinding:
    """Say how many rows of each level a model predicts as events at its threshold."""
    point = context.operating(model)
    if point is None:
        return FigureFinding("spread drawn", "spread drawn")
    (caught, events), (alarmed, others) = ([numbers.count(n) for n in pair] for pair in (point.caught, point.alarmed))
    event, other = context.results.event, context.results.other
    return FigureFinding(
        f"{caught} of {events} {event} and {alarmed} of {others} {other} predicted {event}",
        f"at {point.cut}, {caught} of {events} rows that are {event} and {alarmed} of {others} that are "
        f"{other} are predicted as events", again=f"{caught} and {alarmed}")


def _all_probabilities(*scores: Column) -> bool:
    """Tell whether all scores lie between 0 and 1, so that panels can share an axis."""
    return all(0 <= score <= 1 for values in scores for score in known(values))


@figure_of(Ks, part="appendix", place=140)
def kolmogorov_smirnov(context: Context, pairs: list[tuple[Series, Ks]]) -> Drawing:
    """Draw each model's score distributions of events and non-events, and where they lie furthest apart."""
    event, other = context.results.event, context.results.other
    caption = (
        f"Share of the rows of each level with a lower score: {event} as a line, {other} dashed. Vertical line: the "
        "largest distance, which is the K-S statistic."
    )
    sheets, shared = [], _all_probabilities(*(curve.points.score for _, curve in pairs))
    for stack in stacks(pairs):
        sheets.append(sheet := Sheet())
        for series, curve in stack:
            points = curve.points
            score, events, others = column(points.score), column(points.events_below), column(points.others_below)
            x = unit_axis("Score") if shared else number_axis("Score", score)
            drawn = panel(sheet, x, unit_axis("Share below", (0, 0.5, 1)), 130, title=series.label,
                          last=not shared or curve is stack[-1][1])
            drawn.line(score, events, series.ink, steps=True, name=f"{series.label}, events")
            drawn.line(score, others, series.ink, steps=True, dash=DASHES, name=f"{series.label}, others")
            peak = or_nan(curve.notes.score)
            k = score.index(peak)
            drawn.ranges([peak], [events[k]], [others[k]], "ink")
            right = drawn.across(peak) < drawn.left + 0.8 * drawn.width
            sheet.write(drawn.across(peak) + (6 if right else -6), drawn.down((events[k] + others[k]) / 2) + 4.5,
                        numbers.number(or_nan(curve.notes.statistic)), "ink", "" if right else "end")
            at, middle = drawn.across(peak), drawn.down((events[k] + others[k]) / 2)
            number_box = at - (0 if right else 52), middle - 9, at + (52 if right else 0), middle + 9
            label_lines(drawn, [LineLabel(f"{event} (event)", series.ink, *_corners(score, events)),
                                LineLabel(str(other), series.ink, *_corners(score, others), dash=DASHES)],
                        occupied=[number_box])
    finding, alt = context.finding_and_alt("Score distributions", pairs, _largest_distance)
    return drawing(f"d{context.place}-ks", "K-S chart", (finding, caption, alt), sheets)


def _corners(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    points = step_corners(x, y)
    return [a for a, _ in points], [b for _, b in points]


def _largest_distance(curve: Ks) -> FigureFinding:
    """Say the largest distance of the distributions of a K-S chart, and its score."""
    at, distance = (numbers.number(or_nan(value)) for value in (curve.notes.score, curve.notes.statistic))
    text = f"largest distance {distance} at score {at}"
    return FigureFinding(text, text, again=f"{distance} at score {at}")


@figure(part="appendix", place=10)
def forest(context: Context) -> Drawing | None:
    """Draw every estimate that lies between 0 and 1, with its interval."""
    grouped = _unit_range_estimates(context)
    if not grouped:
        return None
    limited = any(e.lower is not None for estimates in grouped.values() for e in estimates.values())
    title = "Estimates with intervals" if limited else "Estimates"
    intervals = f", with its {context.level} interval where it has one" if limited else ""
    caption = f"Every measure that lies between 0 and 1{intervals}."
    texts = {str(name): [f"{s.label} {shown(estimates[s.name]).text}" for s in context.series if s.name in estimates]
             for (name, _), estimates in grouped.items()}
    alt = f"{title} on {context.dataset.name}. " + " ".join(
        f"{name}: {', '.join(of_models)}." for name, of_models in texts.items())
    values = [[estimated(estimates.get(s.name)) for s in context.series] for estimates in grouped.values()]
    first, (of_first_model, *of_others) = next(iter(texts.items()))
    finding = Clauses((f"{first}: {of_first_model}", *of_others))
    if more_models_than_inks(context.series):
        sheets = rows_by_model([str(name) for name, _ in grouped], context.series, values, unit_axis("Value"))
        return drawing(f"d{context.place}-forest", title, (finding, caption, alt), sheets)
    sheet = Sheet()
    drawn = rows(sheet, [RowLabel(str(name)) for name, _ in grouped], unit_axis("Value"), len(context.series),
                 named=True)
    drawn.estimates(context.series, values, [str(name) for name, _ in grouped])
    for middle, estimates in zip(drawn.middles, grouped.values(), strict=True):
        if all(e.value is None for e in estimates.values()):
            drawn.panel.write(0, middle, "undefined", "muted")
    sheet.key(name_rows(drawn, context.series, values))
    return drawing(f"d{context.place}-forest", title, (finding, caption, alt), [sheet])


def _unit_range_estimates(context: Context) -> dict[tuple[object, ...], dict[str, Estimate]]:
    """Return the estimates of measures with the range 0 to 1 as {(name, average): {model: estimate}}."""
    metrics = {m.name: m for m in context.results.metrics if m.range == (0.0, 1.0) and m.direction != "none"}
    grouped: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in overall(context.results, context.dataset.name):
        if e.metric in metrics and e.class_ is None:
            average = (e.average or "").replace("macro_weighted", "macro by size")
            name = wording.measure(metrics[e.metric].title, {**e.params, **({"average": average} if average else {})})
            grouped.setdefault((name.replace("average = ", ""), e.average), {})[e.model] = e
    return grouped
