"""Figures of one probability or score at a time: rates at every threshold, and refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.canvas import (
    COLOURS,
    DASHES,
    INK,
    MUTED,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    paper,
    style,
    to_svg,
)
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.results.curves.calibration import Refinement
from evalpipe.results.curves.events import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATES = ("Sensitivity", "Specificity", "Precision")
DOTTED = (0, (1, 2))
UNIT = (0, 0.2, 0.4, 0.6, 0.8, 1)


@figure_of(Thresholds, place=40)
def rates(context: Context, pairs: list[tuple[Series, Thresholds]]) -> Drawing:
    """Draw sensitivity, specificity and precision against the threshold, a panel for each model."""
    key = f"d{context.place}-thresholds"
    unit = all(0 <= x <= 1 for _, curve in pairs for x in column(curve.points.threshold))
    caption = (
        "What the rates would be if rows were predicted as events from each threshold upwards. The dashed line is the "
        "threshold in use."
    )
    alt = f"Rates by threshold on {context.dataset.name}. " + " ".join(
        f"{series.label}: {_crossing(curve)}." for series, curve in pairs
    )
    with style(key):
        figure, panels = paper(len(RATES), [max(3.1 / len(pairs), 1.15)] * len(pairs), gap=0.16 if unit else 0.34)
        for place, (series, curve) in enumerate(pairs):
            _panel(panels[place], context, series, curve)
            last = place == len(pairs) - 1
            if unit:
                panels[place].set(xlim=(-0.015, 1.015), xticks=UNIT)
            if last:
                panels[place].set_xlabel("Threshold")
            elif unit:
                panels[place].set_xticklabels(())
        entries = [KeyEntry(name, COLOURS[i], DASHES[i]) for i, name in enumerate(RATES)]
        add_key(figure, entries)
        return Drawing(key, "Rates by threshold", caption, alt, to_svg(figure, key, alt, caption))


def _panel(axes: Axes, context: Context, series: Series, curve: Thresholds) -> None:
    points = curve.points
    for i, rate in enumerate((points.sensitivity, points.specificity, points.precision)):
        axes.plot(column(points.threshold), column(rate), color=COLOURS[i], linestyle=DASHES[i], linewidth=1.3)
    chosen = context.threshold(series.name)
    if chosen is not None:
        axes.axvline(chosen.value, color=INK, linestyle=(0, (4, 2)), linewidth=0.9)
    axes.set(ylim=(-0.03, 1.24), yticks=(0, 0.5, 1), ylabel="Rate")
    axes.set_title(clip(series.label, 56), fontsize=8.5, loc="left", x=0.02, y=1.0, pad=-8)


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
    alt = f"Refinement on {context.dataset.name}. " + " ".join(
        f"{series.label}: mean refinement {numbers.number(or_nan(curve.notes.mean))}." for series, curve in pairs
    )
    grid = [i / 50 for i in range(51)]
    with style(key):
        figure, (axes,) = paper(len(pairs) + 1)
        axes.plot(grid, [p * (1 - p) for p in grid], color=MUTED, linestyle=DOTTED, linewidth=1)
        for series, curve in pairs:
            points, weight = curve.points, column(curve.points.weight)
            axes.scatter(
                column(points.probability), column(points.refinement), s=[4 + 40 * w / max(weight) for w in weight],
                color=series.colour, marker=series.marker, alpha=0.6, linewidths=0,
            )
        axes.set(xlim=(-0.015, 1.015), ylim=(-0.008, 0.265), xticks=UNIT, xlabel="Predicted probability",
                 ylabel="Refinement")
        means = [numbers.number(or_nan(curve.notes.mean)) for _, curve in pairs]
        entries = [
            KeyEntry(f"{series.short}: mean {mean}", series.colour, "none", series.marker)
            for (series, _), mean in zip(pairs, means, strict=True)
        ]
        add_key(figure, [*entries, KeyEntry("Calibrated", MUTED, DOTTED)])
        return Drawing(key, "Refinement", caption, alt, to_svg(figure, key, alt, caption))

