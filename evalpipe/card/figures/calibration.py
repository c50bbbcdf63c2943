"""Figures of calibration: reliability diagrams with equal-width and equal-count bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures import canvas
from evalpipe.card.figures.canvas import DOTTED, MUTED, Drawing, KeyEntry, Series
from evalpipe.card.figures.context import Context, column
from evalpipe.card.figures.declare import figure_of
from evalpipe.results.curves.calibration import Histogram, Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.results.curves import Column
    from evalpipe.results.curves.calibration import CalibrationWindow, ReliabilityPoints, SmoothPoints, WindowPoints

    Pairs = list[tuple[Series, Reliability]]

BINS = {"uniform": "bins of equal width", "quantile": "bins of equal count"}
PERFECT = KeyEntry("Perfect calibration", MUTED, DOTTED)


@figure_of(Reliability, place=80, name="calibration_uniform")
@figure_of(Reliability, place=90, name="calibration_quantile")
def reliability(context: Context, pairs: Pairs) -> Drawing:
    """Draw the observed share of events against the mean probability of each bin, with intervals."""
    strategy = pairs[0][1].curve.removeprefix("calibration_")
    key, title = f"d{context.place}-calibration-{strategy}", f"Reliability, {BINS[strategy]}"
    caption = (
        "Share of events among the rows of each bin against their mean predicted probability; on the dotted diagonal "
        f"they agree.{bars(context, [curve for _, curve in pairs])} Beneath: how the predicted probabilities are "
        "spread."
    )
    alt = context.told("Reliability diagram", pairs, finding, f", {BINS[strategy]}")
    axes = "Mean predicted probability", "Observed share of events"
    return _diagram(key, title, caption, alt, pairs, axes, context.curves(Histogram))


@figure_of(Reliability, place=160, name="top_label_calibration_uniform")
def top_label(context: Context, pairs: Pairs) -> Drawing:
    """Draw how often the predicted level is right against the probability given to it, with intervals."""
    key, title = f"d{context.place}-top-label", "Reliability of the predicted level"
    caption = (
        "Share of rows predicted rightly against the mean probability given to the predicted level, in bins of equal "
        f"width; on the dotted diagonal they agree.{bars(context, [curve for _, curve in pairs])}"
    )
    axes = "Mean probability of the predicted level", "Share predicted rightly"
    return _diagram(key, title, caption, context.told(title, pairs, finding), pairs, axes, [])


def _diagram(
    key: str, title: str, caption: str, alt: str, pairs: Pairs, names: tuple[str, str],
    scores: list[tuple[Series, Histogram]],
) -> Drawing:
    """Draw the bins of all models in one panel, whose axes have these ``names``, above the spread of the ``scores``."""
    with canvas.style(key):
        entries = [KeyEntry(series.short, series.colour, series.dash, series.marker) for series, _ in pairs]
        figure, panels = canvas.paper(len(entries) + 1, (2.46, 0.48) if scores else (canvas.PANEL_HEIGHT,))
        canvas.unit_axes(panels[0], *names)
        canvas.diagonal(panels[0])
        for series, curve in pairs:
            bins(panels[0], series, curve)
        if scores:
            _scores_beneath(panels[0], panels[1], scores)
        canvas.add_key(figure, [*entries, PERFECT])
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def bars(context: Context, curves: list[Reliability]) -> str:
    """Say in a caption what the bars of a reliability diagram are; nothing where it has none."""
    methods = dict.fromkeys(curve.notes.method or "none" for curve in curves)
    names = ", ".join(wording.method(name) for name in methods)
    if names == wording.method("none"):
        return ""
    together = " Thin bars: for all bins at once." if any(_together(curve) for curve in curves) else ""
    return f" Bars are {context.level} intervals ({names}).{together}"


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


def limits(across: Column, points: ReliabilityPoints | WindowPoints | SmoothPoints) -> list[tuple[float, float, float]]:
    """Return the place and the limits of each point that has any; ``across`` are the places."""
    rows = zip(across, points.lower, points.upper, strict=True)
    return [(x, low, high) for x, low, high in rows if x is not None and low is not None and high is not None]


def finding(curve: Reliability | CalibrationWindow, what: str = "bins") -> str:
    """Say how many intervals miss the diagonal and where the gap is widest; ``what`` are the points."""
    places = zip(curve.points.mean_probability, curve.points.event_rate, strict=True)
    points = [(mean, rate) for mean, rate in places if mean is not None and rate is not None]
    if not points:
        return f"no {what.removesuffix('s')} has rows"
    at, share = (numbers.number(x) for x in max(points, key=lambda point: abs(point[1] - point[0])))
    widest = f"widest gap at mean probability {at}, where the share of events is {share}"
    limited = limits(curve.points.mean_probability, curve.points)
    missed = sum(not low <= mean <= high for mean, low, high in limited)
    return f"in {missed} of {len(limited)} {what} the interval excludes the diagonal; {widest}" if limited else widest
