"""Figures of one probability or score at a time: rates at every threshold, and refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures import canvas
from evalpipe.card.figures.canvas import DASHES, DOTTED, INK, MUTED, TICKS, Drawing, KeyEntry, Series
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.palette import COLOURS
from evalpipe.results.curves.calibration import Refinement
from evalpipe.results.curves.events import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATES = ("Sensitivity", "Specificity", "Precision")


@figure_of(Thresholds, place=40)
def rates(context: Context, pairs: list[tuple[Series, Thresholds]]) -> Drawing:
    """Draw sensitivity, specificity and precision against the threshold, a panel for each model."""
    key = f"d{context.place}-thresholds"
    unit = all(0 <= x <= 1 for _, curve in pairs for x in column(curve.points.threshold))
    caption = (
        "What the rates would be if rows were predicted as events from each threshold upwards. The dashed line is the "
        "threshold in use."
    )
    alt = context.told("Rates by threshold", pairs, _crossing)
    with canvas.style(key):
        heights = [max(canvas.PANEL_HEIGHT / len(pairs), 1.15)] * len(pairs)
        figure, panels = canvas.paper(len(RATES), heights, gap=0.16 if unit else 0.34)
        for axes, (series, curve) in zip(panels, pairs, strict=True):
            _panel(axes, context, series, curve)
            if unit:
                axes.set(xlim=(-0.015, 1.015), xticks=TICKS)
        canvas.label_stack(panels, "Threshold", shared=unit)
        canvas.add_key(figure, [KeyEntry(name, COLOURS[i], DASHES[i]) for i, name in enumerate(RATES)])
        return Drawing(key, "Rates by threshold", caption, alt, canvas.to_svg(figure, key, alt, caption))


def _panel(axes: Axes, context: Context, series: Series, curve: Thresholds) -> None:
    points = curve.points
    for i, rate in enumerate((points.sensitivity, points.specificity, points.precision)):
        axes.plot(column(points.threshold), column(rate), color=COLOURS[i], linestyle=DASHES[i], linewidth=1.3)
    chosen = context.threshold(series.name)
    if chosen is not None:
        axes.axvline(chosen.value, color=INK, linestyle=canvas.CHOSEN, linewidth=0.9)
    axes.set(ylim=(-0.03, 1.24), yticks=(0, 0.5, 1), ylabel="Rate")
    canvas.name_inside(axes, series)


def _crossing(curve: Thresholds) -> str:
    """Say where sensitivity and specificity are closest."""
    columns = curve.points.threshold, curve.points.sensitivity, curve.points.specificity
    rows = zip(*map(column, columns), strict=True)
    cut, sensitivity, specificity = min(rows, key=lambda row: abs(row[1] - row[2]))
    both = f"{numbers.number(sensitivity)} and {numbers.number(specificity)}"
    return f"sensitivity and specificity are closest at threshold {numbers.number(cut)}, with {both}"


@figure_of(Refinement, place=120)
def refinement(context: Context, pairs: list[tuple[Series, Refinement]]) -> Drawing:
    """Draw what is left of the Brier score in each rounded probability, against the least a calibrated one leaves."""
    key = f"d{context.place}-refinement"
    caption = (
        "Event rate times its complement among the rows of each probability, rounded to two decimals; larger marks "
        "have more rows. On the dotted line are probabilities that equal their event rate."
    )
    means = {series.name: numbers.number(or_nan(curve.notes.mean)) for series, curve in pairs}
    alt = context.told("Refinement", pairs, lambda curve: f"mean refinement {means[curve.model]}")
    grid = [i / 50 for i in range(51)]
    with canvas.style(key):
        figure, (axes,) = canvas.paper(len(pairs) + 1)
        axes.plot(grid, [p * (1 - p) for p in grid], color=MUTED, linestyle=DOTTED, linewidth=1)
        for series, curve in pairs:
            points, weight = curve.points, column(curve.points.weight)
            axes.scatter(
                column(points.probability), column(points.refinement), s=[4 + 40 * w / max(weight) for w in weight],
                color=series.colour, marker=series.marker, alpha=0.6, linewidths=0,
            )
        axes.set(xlim=(-0.015, 1.015), ylim=(-0.008, 0.265), xticks=TICKS, xlabel="Predicted probability",
                 ylabel="Refinement")
        entries = [KeyEntry(f"{s.short}: mean {means[s.name]}", s.colour, "none", s.marker) for s, _ in pairs]
        canvas.add_key(figure, [*entries, KeyEntry("Calibrated", MUTED, DOTTED)])
        return Drawing(key, "Refinement", caption, alt, canvas.to_svg(figure, key, alt, caption))

