"""Figures of several levels: ROC, precision-recall and reliability of each against the rest, one figure a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.figures.canvas import (
    MUTED,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    paper,
    style,
    to_svg,
    unit_axes,
)
from evalpipe.report.figures.context import Context, column, noted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes

    from evalpipe.results import Curve

DOTTED = (0, (1, 2))
PALE = "#b9c2ca"
MOST = 5
"""The most levels drawn in colour; where there are more, those that the model serves worst, and the others in grey."""

Pairs = list[tuple[Series, "Curve"]]


def class_figures(context: Context) -> Iterator[Drawing]:
    """Yield the figures of every model."""
    for model, pairs in context.class_curves("roc"):
        yield _lines(context, model, pairs, "roc", ("false_positive_rate", "sensitivity"))
    for model, pairs in context.class_curves("pr"):
        yield _lines(context, model, pairs, "pr", ("recall", "precision"))
    for model, pairs in context.class_curves("calibration_uniform"):
        yield _bins(context, model, pairs, cumulative=False)
    for model, pairs in context.class_curves("cumulative_calibration_uniform"):
        yield _bins(context, model, pairs, cumulative=True)


NAMES = {
    "roc": ("ROC curves of each class", "False positive rate (1 − specificity)", "Sensitivity", "roc_auc", "AUC"),
    "pr": ("Precision-recall curves of each class", "Recall (sensitivity)", "Precision", "average_precision", "AP"),
}
"""Of each curve: its title, its axes, and the measure that sums it up with its short name."""


def _lines(context: Context, model: Series, pairs: Pairs, curve: str, axis: tuple[str, str]) -> Drawing:
    """Draw a curve of each class against the rest."""
    title, across, up, metric, short = NAMES[curve]
    key = f"d{context.place}-{curve}-{_place(context, model)}"
    areas = {
        level.name: context.estimate(model.name, metric, level.name) or numbers.number(noted(found, "area"))
        for level, found in pairs
    }
    first, others = _worst(pairs, lambda found: noted(found, "area"))
    caption = f"{model.label}: each class in turn is the event, all others its opposite.{_left_out(others, 'areas')}"
    alt = f"{title} on {context.dataset.name}, {model.label}. " + " ".join(
        f"{name}: {short} {area}." for name, area in areas.items())
    with style(key):
        entries = [KeyEntry(f"{s.short}: {short} {areas[s.name]}", s.colour, s.dash) for s, _ in first]
        figure, (axes,) = paper(len(entries) + bool(others) + (curve == "roc"))
        unit_axes(axes, across, up)
        if curve == "roc":
            axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
            entries.append(KeyEntry("Chance", MUTED, DOTTED))
        for _, found in others:
            axes.plot(column(found, axis[0]), column(found, axis[1]), color=PALE, linewidth=0.9)
        for level, found in first:
            axes.plot(column(found, axis[0]), column(found, axis[1]), color=level.colour, linestyle=level.dash)
        add_key(figure, [*entries, *([KeyEntry("Other classes", PALE)] if others else [])])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, to_svg(figure, key, alt, caption))


def _bins(context: Context, model: Series, pairs: Pairs, *, cumulative: bool) -> Drawing:
    """Draw the reliability of each class, or of each cut between ordered levels."""
    title = "Reliability at each cut between levels" if cumulative else "Reliability of each class"
    key = f"d{context.place}-{'cuts' if cumulative else 'reliability'}-{_place(context, model)}"
    event = "that the level lies above the cut" if cumulative else "of each class"
    first, others = _worst(pairs, lambda found: -noted(found, "mean_gap"))
    caption = (
        f"{model.label}: observed share against the mean predicted probability {event}, in bins of equal width, larger "
        f"marks for more rows; on the dotted diagonal they agree.{_left_out(others, 'gaps', 'widest')}"
    )
    names = {level.name: f"above {level.label}" if cumulative else level.label for level, _ in pairs}
    gaps = {level.name: numbers.number(noted(curve, "mean_gap")) for level, curve in pairs}
    alt = f"{title} on {context.dataset.name}, {model.label}. " + " ".join(
        f"{names[level.name]}: mean gap {gaps[level.name]}, {_widest(curve)}." for level, curve in pairs)
    with style(key):
        figure, (axes,) = paper(len(first) + 1 + bool(others))
        unit_axes(axes, "Mean predicted probability", "Observed share")
        axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for _, curve in others:
            _marks(axes, curve, PALE, "o")
        for level, curve in first:
            _marks(axes, curve, level.colour, level.marker)
        entries = [KeyEntry(f"{clip(names[s.name], 27)}: mean gap {gaps[s.name]}", s.colour, "solid", s.marker)
                   for s, _ in first]
        more = [KeyEntry("Others", PALE, "solid", "o")] if others else []
        add_key(figure, [*entries, *more, KeyEntry("Perfect calibration", MUTED, DOTTED)])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, to_svg(figure, key, alt, caption))


def _marks(axes: Axes, curve: Curve, colour: str, marker: str) -> None:
    """Draw bins as marks whose area grows with their weight, joined by a thin line."""
    x, y, weight = (column(curve, name) for name in ("mean_probability", "event_rate", "weight"))
    sizes = [3 + 60 * w / sum(weight) for w in weight]
    axes.plot(x, y, color=colour, linewidth=0.6, alpha=0.7)
    axes.scatter(x, y, s=sizes, color=colour, marker=marker, linewidths=0)


def _place(context: Context, model: Series) -> int:
    return [series.name for series in context.series].index(model.name) + 1


def _worst(pairs: Pairs, merit: Callable[[Curve], float]) -> tuple[Pairs, Pairs]:
    """Part the levels into those drawn in colour, in their order, and the others."""
    if len(pairs) <= MOST:
        return pairs, []
    least = {level.name for level, _ in sorted(pairs, key=lambda pair: merit(pair[1]))[: MOST - 1]}
    return [p for p in pairs if p[0].name in least], [p for p in pairs if p[0].name not in least]


def _left_out(others: Pairs, what: str, which: str = "smallest") -> str:
    return f" In colour, those with the {which} {what}." if others else ""


def _widest(curve: Curve) -> str:
    """Say where the observed share is furthest from the probability."""
    points = list(zip(column(curve, "mean_probability"), column(curve, "event_rate"), strict=True))
    x, y = max(points, key=lambda point: abs(point[1] - point[0]))
    return f"widest at mean probability {numbers.number(x)}, where the observed share is {numbers.number(y)}"
