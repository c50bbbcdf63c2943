"""Figures of calibration: reliability diagrams with equal-width and equal-count bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.canvas import MUTED, Drawing, KeyEntry, Series, add_key, paper, style, to_svg, unit_axes
from evalpipe.card.figures.context import Context, column
from evalpipe.card.figures.declare import figure_of
from evalpipe.results.curves.calibration import Histogram, Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = {"uniform": "bins of equal width", "quantile": "bins of equal count"}
DOTTED = (0, (1, 2))


@figure_of(Reliability, place=80, name="calibration_uniform")
@figure_of(Reliability, place=90, name="calibration_quantile")
def reliability(context: Context, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw the observed share of events against the mean probability of each bin, with intervals."""
    strategy = pairs[0][1].curve.removeprefix("calibration_")
    key, title = f"d{context.place}-calibration-{strategy}", f"Reliability, {BINS[strategy]}"
    caption = _caption(context, pairs)
    alt = f"Reliability diagram on {context.dataset.name}, {BINS[strategy]}. " + " ".join(
        f"{series.label}: {finding(curve)}." for series, curve in pairs
    )
    scores = context.curves(Histogram)
    with style(key):
        entries = [KeyEntry(series.short, series.colour, series.dash, series.marker) for series, _ in pairs]
        heights = (2.46, 0.48) if scores else (3.1,)
        figure, panels = paper(len(entries) + 1, heights)
        unit_axes(panels[0], "Mean predicted probability", "Observed share of events")
        panels[0].plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for series, curve in pairs:
            bins(panels[0], series, curve)
        if scores:
            _scores_beneath(panels[0], panels[1], scores)
        add_key(figure, [*entries, KeyEntry("Perfect calibration", MUTED, DOTTED)])
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


@figure_of(Reliability, place=160, name="top_label_calibration_uniform")
def top_label(context: Context, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw how often the predicted level is right against the probability given to it, with intervals."""
    key, title = f"d{context.place}-top-label", "Reliability of the predicted level"
    caption = (
        "Share of rows predicted rightly against the mean probability given to the predicted level, in bins of equal "
        f"width; on the dotted diagonal they agree.{bars(context, [curve for _, curve in pairs])}"
    )
    alt = f"{title} on {context.dataset.name}. " + " ".join(f"{s.label}: {finding(curve)}." for s, curve in pairs)
    with style(key):
        entries = [KeyEntry(series.short, series.colour, series.dash, series.marker) for series, _ in pairs]
        figure, (axes,) = paper(len(entries) + 1)
        unit_axes(axes, "Mean probability of the predicted level", "Share predicted rightly")
        axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for series, curve in pairs:
            bins(axes, series, curve)
        add_key(figure, [*entries, KeyEntry("Perfect calibration", MUTED, DOTTED)])
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _caption(context: Context, pairs: list[tuple[Series, Reliability]]) -> str:
    return (
        "Share of events among the rows of each bin against their mean predicted probability; on the dotted diagonal "
        f"they agree.{bars(context, [curve for _, curve in pairs])} Beneath: how the predicted probabilities are "
        "spread."
    )


def bars(context: Context, curves: list[Reliability]) -> str:
    """Say in a caption what the bars of a reliability diagram are; nothing where it has none."""
    methods = dict.fromkeys(curve.notes.method or "none" for curve in curves)
    names = ", ".join(wording.method(name) for name in methods)
    if names == wording.method("none"):
        return ""
    together = " Thin bars: for all bins at once." if any(_together(curve) for curve in curves) else ""
    return f" Bars are {wording.level(context.results.intervals.level)} intervals ({names}).{together}"


def _together(curve: Reliability) -> bool:
    """Tell whether the curve has limits for all bins at once."""
    limits = (curve.points.simultaneous_lower, curve.points.simultaneous_upper)
    return all(any(value is not None for value in values or ()) for values in limits)


def bins(axes: Axes, series: Series, curve: Reliability, size: float = 5) -> None:
    """Draw the bins of a reliability diagram with their intervals; ``size`` is that of a marker."""
    points = curve.points
    x, y = column(points.mean_probability), column(points.event_rate)
    if _together(curve):
        low, high = (column(values or []) for values in (points.simultaneous_lower, points.simultaneous_upper))
        axes.vlines(x, low, high, color=series.colour, linewidth=0.5, alpha=0.75)
    axes.vlines(x, column(points.lower), column(points.upper), color=series.colour, linewidth=1.1, alpha=0.75)
    axes.plot(
        x, y, color=series.colour, linestyle=series.dash, linewidth=1.1, marker=series.marker, markersize=size,
        markeredgecolor="white", markeredgewidth=0.6,
    )


def _scores_beneath(upper: Axes, lower: Axes, scores: list[tuple[Series, Histogram]]) -> None:
    """Draw the spread of the probabilities under the diagram, on the same scale."""
    for series, curve in scores:
        edges, heights = stacked(curve)
        whole = sum(heights)
        lower.stairs([h / whole for h in heights], edges, color=series.colour, linestyle=series.dash, linewidth=1.1)
    lower.set(xlim=upper.get_xlim(), xticks=upper.get_xticks(), yticks=(), xlabel=upper.get_xlabel(), ylabel="Rows")
    lower.set_ylim(bottom=0)
    lower.grid(visible=False)
    upper.set_xlabel("")
    upper.set_xticklabels(())


def stacked(scores: Histogram) -> tuple[list[float], list[float]]:
    """Return the edges of the bins of a histogram [k + 1], and what the rows of both classes in each weigh [k]."""
    points = scores.points
    heights = [a + b for a, b in zip(column(points.events), column(points.others), strict=True)]
    return [*column(points.low), column(points.high)[-1]], heights


def finding(curve: Reliability) -> str:
    """Say how many intervals miss the diagonal and where the gap is widest."""
    columns = curve.points.mean_probability, curve.points.event_rate, curve.points.lower, curve.points.upper
    points = [
        (mean, rate, lower, upper) for mean, rate, lower, upper in zip(*columns, strict=True)
        if mean is not None and rate is not None
    ]
    if not points:
        return "no bin has rows"
    mean, rate, *_ = max(points, key=lambda point: abs(point[1] - point[0]))
    limited = [p for p in points if p[2] is not None and p[3] is not None]
    missed = sum(1 for m, _, low, high in limited if low is not None and high is not None and not low <= m <= high)
    at, share = numbers.number(mean), numbers.number(rate)
    widest = f"widest gap at mean probability {at}, where the share of events is {share}"
    return f"in {missed} of {len(limited)} bins the interval excludes the diagonal; {widest}" if limited else widest
