"""Figures of distributions: scores by class, and all proportions with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures import canvas
from evalpipe.card.figures.canvas import CHOSEN, GRID, INK, MUTED, TICKS, Drawing, KeyEntry, Series, clip
from evalpipe.card.figures.context import Context, column, known, or_nan
from evalpipe.card.figures.declare import figure, figure_of
from evalpipe.card.tables import overall, shown
from evalpipe.results.curves.calibration import Histogram, Ks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.results import Estimate
    from evalpipe.results.curves import Column

EVENTS, OTHERS = "#0b5fa5", "#c3ccd4"
DASHED = (0, (5, 2))


@figure_of(Histogram, place=130)
def histogram(context: Context, pairs: list[tuple[Series, Histogram]]) -> Drawing:
    """Draw each model's probabilities: those of events upwards, those of non-events downwards."""
    key = f"d{context.place}-histogram"
    shared = _one_scale(*(column for _, curve in pairs for column in (curve.points.low, curve.points.high)))
    name = "Predicted probability" if shared else "Score"
    title = "Predicted probabilities by level" if shared else "Scores by level"
    caption = (
        f"Share of the rows of each level by {name.lower()}: {context.results.event} upwards, "
        f"{context.results.other} downwards, each summing to 100%. The dashed line is the threshold in use."
    )
    alt = context.told(title, pairs, lambda curve: _finding(context, curve.model), ", as histograms")
    with canvas.style(key):
        figure, panels = _stack(len(pairs), name, shared=shared)
        for axes, (series, curve) in zip(panels, pairs, strict=True):
            _mirrored(axes, series, curve, context)
        canvas.add_key(figure, [
            KeyEntry(clip(f"{context.results.event} (event)", 48), EVENTS, width=7),
            KeyEntry(clip(str(context.results.other), 48), OTHERS, width=7),
        ])
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _finding(context: Context, model: str) -> str:
    at = context.operating(model)
    if at is None:
        return "spread drawn"
    caught, alarmed = (f"{numbers.count(a)} of {numbers.count(b)}" for a, b in (at.caught, at.alarmed))
    event, other = context.results.event, context.results.other
    return f"at {at.cut}, {caught} rows that are {event} and {alarmed} that are {other} are predicted as events"


def _one_scale(*scores: Column) -> bool:
    """Tell whether all scores lie between 0 and 1, so that panels can share an axis."""
    return all(0 <= score <= 1 for column in scores for score in known(column))


def _stack(models: int, name: str, *, shared: bool) -> tuple[Figure, list[Axes]]:
    """Return a panel for each model, of scores called ``name``: on a ``shared`` scale from 0 to 1, or each its own."""
    height = max(3.02 / models - (0.1 if shared else 0.28), 0.95)
    figure, panels = canvas.paper(2, [height] * models, gap=0.16 if shared else 0.34)
    for axes in panels if shared else ():
        axes.set(xlim=(-0.015, 1.015), xticks=TICKS)
    canvas.label_stack(panels, name, shared=shared)
    return figure, panels


def _mirrored(axes: Axes, series: Series, curve: Histogram, context: Context) -> None:
    points = curve.points
    edges, tops = [*column(points.low), column(points.high)[-1]], []
    for weights, sign, fill, hatch in ((points.events, 1, EVENTS, None), (points.others, -1, OTHERS, "////")):
        heights = column(weights)
        shares = [100 * h / sum(heights) if sum(heights) else 0.0 for h in heights]
        tops.append(max(shares))
        axes.stairs(
            [sign * share for share in shares], edges, fill=True, facecolor=fill, hatch=hatch,
            edgecolor=MUTED if hatch else fill, linewidth=0.5,
        )
    room = max(*tops, 1) * 1.4
    axes.axhline(0, color=INK, linewidth=0.7)
    chosen = context.threshold(series.name)
    if chosen is not None:
        axes.axvline(chosen.value, color=INK, linestyle=CHOSEN, linewidth=0.9)
    axes.set(ylim=(-room, room), ylabel="Per cent")
    ticks = [tick for tick in axes.get_yticks() if abs(tick) <= room]
    axes.set_yticks(ticks, [f"{abs(tick):g}" for tick in ticks])
    canvas.name_inside(axes, series)


@figure_of(Ks, place=140)
def kolmogorov_smirnov(context: Context, pairs: list[tuple[Series, Ks]]) -> Drawing:
    """Draw each model's score distributions of events and non-events, and where they lie furthest apart."""
    key, event, other = f"d{context.place}-ks", context.results.event, context.results.other
    caption = (
        f"Share of the rows of each level with a lower score. The vertical line is where {event} and {other} lie "
        "furthest apart: its length is the K-S statistic."
    )
    alt = context.told("Score distributions", pairs, lambda curve: (
        f"largest distance {numbers.number(or_nan(curve.notes.statistic))} at score "
        f"{numbers.number(or_nan(curve.notes.score))}"))
    with canvas.style(key):
        shared = _one_scale(*(curve.points.score for _, curve in pairs))
        figure, panels = _stack(len(pairs), "Score", shared=shared)
        for axes, (series, curve) in zip(panels, pairs, strict=True):
            _distances(axes, series, curve, shared=shared)
        canvas.add_key(figure, [
            KeyEntry(clip(f"{event} (event)", 48), EVENTS), KeyEntry(clip(str(other), 48), MUTED, DASHED)])
        return Drawing(key, "K-S chart", caption, alt, canvas.to_svg(figure, key, alt, caption))


def _distances(axes: Axes, series: Series, curve: Ks, *, shared: bool) -> None:
    points = curve.points
    score, events, others = column(points.score), column(points.events_below), column(points.others_below)
    axes.step(score, events, color=EVENTS, where="pre")
    axes.step(score, others, color=MUTED, linestyle=DASHED, where="pre")
    at = or_nan(curve.notes.score)
    place = score.index(at)
    axes.plot([at, at], [events[place], others[place]], color=INK, linewidth=1.2, solid_capstyle="butt")
    middle = (events[place] + others[place]) / 2
    aside = 0.015 if shared else 0.015 * (max(score) - min(score))
    axes.text(at + aside, middle, numbers.number(or_nan(curve.notes.statistic)), va="center_baseline", fontsize=8.5)
    axes.set(ylim=(-0.03, 1.2), ylabel="Share below", yticks=(0, 0.5, 1))
    canvas.name_inside(axes, series)


@figure(place=10)
def forest(context: Context) -> Drawing | None:
    """Draw every estimate that lies between 0 and 1, with its interval."""
    grouped = _shares(context)
    if not grouped:
        return None
    key = f"d{context.place}-forest"
    limited = any(e.lower is not None for estimates in grouped.values() for e in estimates.values())
    title = "Estimates with intervals" if limited else "Estimates"
    intervals = f", with its {context.level} interval where it has one" if limited else ""
    caption = f"Every measure that lies between 0 and 1{intervals}."
    sentences = " ".join(_sentence(context, group, estimates) for group, estimates in grouped.items())
    alt = f"{title} on {context.dataset.name}. {sentences}"
    with canvas.style(key, **{"axes.grid.axis": "x"}):
        return Drawing(key, title, caption, alt, canvas.to_svg(_forest(context, grouped), key, alt, caption))


def _shares(context: Context) -> dict[tuple[object, ...], dict[str, Estimate]]:
    """Return the estimates of measures that lie between 0 and 1, by measure and average, then by model."""
    unit = {m.name: m for m in context.results.metrics if m.range == (0.0, 1.0) and m.direction != "none"}
    grouped: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in overall(context.results, context.dataset.name):
        if e.metric in unit and e.class_ is None:
            short = (e.average or "").replace("macro_weighted", "macro by size")
            name = wording.measure(unit[e.metric].title, {**e.params, **({"average": short} if short else {})})
            grouped.setdefault((name.replace("average = ", ""), e.average), {})[e.model] = e
    return grouped


def _forest(context: Context, grouped: Mapping[tuple[object, ...], dict[str, Estimate]]) -> Figure:
    """Draw a row for each measure, with a mark for each model."""
    many = len(context.series)
    apart = 0.1 if many <= 3 else 0.075
    left, step = 1.55, apart * many + 0.12
    figure, (axes,) = canvas.paper(many, (step * len(grouped),), left)
    for row, (group, estimates) in enumerate(grouped.items()):
        _row(axes, context.series, estimates, row, apart / step)
        axes.text(-0.04, row, clip(str(group[0]), 26), ha="right", va="center_baseline")
        axes.axhline(row + 0.5, color=GRID, linewidth=0.6)
    axes.set(xlim=(-0.015, 1.015), ylim=(len(grouped) - 0.5, -0.5), yticks=(), xticks=TICKS)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("Value")
    entries = [KeyEntry(clip(s.label, 40), s.colour, "solid", s.marker) for s in context.series]
    canvas.add_key(figure, entries, left=0.3)
    return figure


def _sentence(context: Context, group: tuple[object, ...], estimates: dict[str, Estimate]) -> str:
    """Say in words what a row shows: the measure, then each model with its value and interval."""
    parts = [f"{s.label} {shown(estimates[s.name]).text}" for s in context.series if s.name in estimates]
    return f"{group[0]}: {', '.join(parts)}."


def _row(axes: Axes, models: tuple[Series, ...], estimates: dict[str, Estimate], row: int, step: float) -> None:
    """Draw a measure's values of the models, one below the other, with their intervals."""
    for place, series in enumerate(models):
        y = row + (place - (len(models) - 1) / 2) * step
        e = estimates.get(series.name)
        if e is None:
            continue
        if e.value is None:
            axes.text(0, y, "undefined", color=series.colour, fontsize=7.5, va="center_baseline")
            continue
        if e.lower is not None and e.upper is not None:
            axes.plot([e.lower, e.upper], [y, y], color=series.colour, linewidth=1.4, solid_capstyle="butt")
        axes.plot([e.value], [y], marker=series.marker, markersize=4.5, color=series.colour, clip_on=False)
