"""Figures of several levels: ROC, precision-recall and reliability of each against the rest, one figure a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.report import numbers
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
from evalpipe.report.figures.context import Context, column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Curve

DOTTED = (0, (1, 2))
MOST = 12
"""The most levels drawn in one figure."""

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
    areas = {level.name: context.estimate(model.name, metric, level.name) for level, _ in pairs}
    caption = f"{model.label}: each class in turn is the event, all others are its opposite.{_left_out(pairs)}"
    alt = f"{title} on {context.dataset.name}, {model.label}. " + (" ".join(
        f"{name}: {short} {area}." for name, area in areas.items() if area) or f"{len(pairs)} curves are drawn.")
    drawn = pairs[:MOST]
    with style(key):
        figure, (axes,) = paper(len(drawn) + (curve == "roc"))
        unit_axes(axes, across, up)
        if curve == "roc":
            axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for level, found in drawn:
            axes.plot(column(found, axis[0]), column(found, axis[1]), color=level.colour, linestyle=level.dash)
        entries = [
            KeyEntry(f"{level.short}: {short} {areas[level.name]}" if areas[level.name] else level.short, level.colour,
                     level.dash) for level, _ in drawn
        ]
        add_key(figure, [*entries, *([KeyEntry("Chance", MUTED, DOTTED)] if curve == "roc" else [])])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, to_svg(figure, key, alt, caption))


def _bins(context: Context, model: Series, pairs: Pairs, *, cumulative: bool) -> Drawing:
    """Draw the reliability of each class, or of each cut between ordered levels."""
    title = "Reliability at each cut between levels" if cumulative else "Reliability of each class"
    key = f"d{context.place}-{'cuts' if cumulative else 'reliability'}-{_place(context, model)}"
    event = "that the level lies above the cut" if cumulative else "of each class"
    caption = (
        f"{model.label}: observed share against the mean predicted probability {event}, in bins of equal width; on the "
        f"dotted diagonal they agree.{_left_out(pairs)}"
    )
    names = {level.name: f"above {level.label}" if cumulative else level.label for level, _ in pairs}
    alt = f"{title} on {context.dataset.name}, {model.label}. " + " ".join(
        f"{names[level.name]}: {_widest(curve)}." for level, curve in pairs)
    drawn = pairs[:MOST]
    with style(key):
        figure, (axes,) = paper(len(drawn) + 1)
        unit_axes(axes, "Mean predicted probability", "Observed share")
        axes.plot([0, 1], [0, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for level, curve in drawn:
            x, y = column(curve, "mean_probability"), column(curve, "event_rate")
            axes.plot(x, y, color=level.colour, linestyle=level.dash, linewidth=1.1, marker=level.marker, markersize=4)
        entries = [KeyEntry(clip(names[s.name], 40), s.colour, s.dash, s.marker) for s, _ in drawn]
        add_key(figure, [*entries, KeyEntry("Perfect calibration", MUTED, DOTTED)])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, to_svg(figure, key, alt, caption))


def _place(context: Context, model: Series) -> int:
    return [series.name for series in context.series].index(model.name) + 1


def _left_out(pairs: Pairs) -> str:
    return f" The first {MOST} of {len(pairs)} are drawn." if len(pairs) > MOST else ""


def _widest(curve: Curve) -> str:
    """Say where the observed share is furthest from the probability."""
    points = [(x, y) for x, y in zip(column(curve, "mean_probability"), column(curve, "event_rate"), strict=True)]
    x, y = max(points, key=lambda point: abs(point[1] - point[0]))
    return f"widest gap at mean probability {numbers.number(x)}, where the observed share is {numbers.number(y)}"
