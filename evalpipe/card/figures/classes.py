"""Figures of several levels: ROC, precision-recall and reliability of each against the rest, one figure a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evalpipe import numbers
from evalpipe.card.figures import canvas
from evalpipe.card.figures.calibration import PERFECT
from evalpipe.card.figures.canvas import DOTTED, MUTED, Drawing, KeyEntry, Series, clip
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure_of_classes
from evalpipe.results.curves.calibration import Reliability
from evalpipe.results.curves.events import Pr, Roc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from evalpipe.results import Curve

PALE = "#b9c2ca"
MOST = 5
"""The most levels drawn in colour; where there are more, those that the model serves worst, and the others in grey."""

C = TypeVar("C", bound="Curve")


NAMES = {
    "roc": ("ROC curves of each class", "False positive rate (1 − specificity)", "Sensitivity", "roc_auc", "AUC"),
    "pr": ("Precision-recall curves of each class", "Recall (sensitivity)", "Precision", "average_precision", "AP"),
}
"""Of each curve: its title, its axes, and the measure that sums it up with its short name."""


@figure_of_classes(Roc, place=150)
def roc_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Roc]]) -> Drawing:
    """Draw the ROC curve of each class against the rest."""
    return _lines(context, model, pairs, "roc")


@figure_of_classes(Pr, place=152)
def precision_recall_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Pr]]) -> Drawing:
    """Draw the precision-recall curve of each class against the rest."""
    return _lines(context, model, pairs, "pr")


@figure_of_classes(Reliability, place=154, name="calibration_uniform")
def reliability_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw the reliability of each class."""
    return _bins(context, model, pairs, cumulative=False)


@figure_of_classes(Reliability, place=156, name="cumulative_calibration_uniform")
def reliability_of_cuts(context: Context, model: Series, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw the reliability at each cut between ordered levels."""
    return _bins(context, model, pairs, cumulative=True)


def _lines(context: Context, model: Series, pairs: Sequence[tuple[Series, Roc | Pr]], curve: str) -> Drawing:
    """Draw a curve of each class against the rest."""
    title, across, up, metric, short = NAMES[curve]
    key = f"d{context.place}-{curve}-{_place(context, model)}"
    areas = {
        level.name: context.estimate(model.name, metric, level.name) or numbers.number(or_nan(line.notes.area))
        for level, line in pairs
    }
    first, others = _worst(pairs, lambda line: or_nan(line.notes.area))
    caption = f"{model.label}: each class in turn is the event, all others its opposite.{_left_out(others, 'areas')}"
    alt = context.told(title, pairs, lambda line: f"{short} {areas[str(line.class_)]}", f", {model.label}")
    with canvas.style(key):
        entries = [KeyEntry(f"{s.short}: {short} {areas[s.name]}", s.colour, s.dash) for s, _ in first]
        figure, (axes,) = canvas.paper(len(entries) + bool(others) + (curve == "roc"))
        canvas.unit_axes(axes, across, up)
        if curve == "roc":
            canvas.diagonal(axes)
            entries.append(KeyEntry("Chance", MUTED, DOTTED))
        for _, line in others:
            axes.plot(*map(column, line.points.path), color=PALE, linewidth=0.9)
        for level, line in first:
            axes.plot(*map(column, line.points.path), color=level.colour, linestyle=level.dash)
        canvas.add_key(figure, [*entries, *([KeyEntry("Other classes", PALE)] if others else [])])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, canvas.to_svg(figure, key, alt, caption))


def _bins(
    context: Context, model: Series, pairs: Sequence[tuple[Series, Reliability]], *, cumulative: bool
) -> Drawing:
    """Draw the reliability of each class, or of each cut between ordered levels."""
    title = "Reliability at each cut between levels" if cumulative else "Reliability of each class"
    key = f"d{context.place}-{'cuts' if cumulative else 'reliability'}-{_place(context, model)}"
    event = "that the level lies above the cut" if cumulative else "of each class"
    first, others = _worst(pairs, lambda curve: -or_nan(curve.notes.mean_gap))
    caption = (
        f"{model.label}: observed share against the mean predicted probability {event}, in bins of equal width, larger "
        f"marks for more rows; on the dotted diagonal they agree.{_left_out(others, 'gaps', 'widest')}"
    )
    names = {level.name: f"above {level.label}" if cumulative else level.label for level, _ in pairs}
    gaps = {level.name: numbers.number(or_nan(curve.notes.mean_gap)) for level, curve in pairs}
    alt = f"{title} on {context.dataset.name}, {model.label}. " + " ".join(
        f"{names[level.name]}: mean gap {gaps[level.name]}, {_widest(curve)}." for level, curve in pairs)
    with canvas.style(key):
        figure, (axes,) = canvas.paper(len(first) + 1 + bool(others))
        canvas.unit_axes(axes, "Mean predicted probability", "Observed share")
        canvas.diagonal(axes)
        for _, curve in others:
            _marks(axes, curve, PALE, "o")
        for level, curve in first:
            _marks(axes, curve, level.colour, level.marker)
        entries = [KeyEntry(f"{clip(names[s.name], 27)}: mean gap {gaps[s.name]}", s.colour, "solid", s.marker)
                   for s, _ in first]
        more = [KeyEntry("Others", PALE, "solid", "o")] if others else []
        canvas.add_key(figure, [*entries, *more, PERFECT])
        return Drawing(key, f"{title}, {clip(model.label, 40)}", caption, alt, canvas.to_svg(figure, key, alt, caption))


def _marks(axes: Axes, curve: Reliability, colour: str, marker: str) -> None:
    """Draw bins as marks whose area grows with their weight, joined by a thin line."""
    points = curve.points
    x, y, weight = column(points.mean_probability), column(points.event_rate), column(points.weight)
    sizes = [3 + 60 * w / sum(weight) for w in weight]
    axes.plot(x, y, color=colour, linewidth=0.6, alpha=0.7)
    axes.scatter(x, y, s=sizes, color=colour, marker=marker, linewidths=0)


def _place(context: Context, model: Series) -> int:
    return [series.name for series in context.series].index(model.name) + 1


def _worst(
    pairs: Sequence[tuple[Series, C]], merit: Callable[[C], float]
) -> tuple[Sequence[tuple[Series, C]], Sequence[tuple[Series, C]]]:
    """Part the levels into those drawn in colour, in their order, and the others."""
    if len(pairs) <= MOST:
        return pairs, []
    least = {level.name for level, _ in sorted(pairs, key=lambda pair: merit(pair[1]))[: MOST - 1]}
    return [p for p in pairs if p[0].name in least], [p for p in pairs if p[0].name not in least]


def _left_out(others: Sequence[tuple[Series, Curve]], what: str, which: str = "smallest") -> str:
    return f" In colour, those with the {which} {what}." if others else ""


def _widest(curve: Reliability) -> str:
    """Say where the observed share is furthest from the probability."""
    points = list(zip(column(curve.points.mean_probability), column(curve.points.event_rate), strict=True))
    at, share = (numbers.number(x) for x in max(points, key=lambda point: abs(point[1] - point[0])))
    return f"widest at mean probability {at}, where the observed share is {share}"
