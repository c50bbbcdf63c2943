"""Figures of recalibration: a model before and after side by side, with a panel for each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evalpipe.card.figures.calibration import BINS, bars, bins, finding, stacked
from evalpipe.card.figures.canvas import (
    FOOT,
    INK,
    KEY_ROW,
    MUTED,
    RIGHT,
    TOP,
    WIDTH,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    style,
    to_svg,
)
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.card.figures.numbers import named, plain_axes, short
from evalpipe.card.palette import COLOURS
from evalpipe.results.curves.calibration import Histogram, Reliability
from evalpipe.results.curves.residuals import ObservedPredictedSmooth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.card.figures.context import Context
    from evalpipe.results import Results

    Panel = tuple[Axes, Axes | None]
    """Axes, and those of the strip beneath them where there is one."""

C = TypeVar("C")

MOST_PANELS = 6
"""Panels of a figure, that of the original first; more variants continue in a further figure, beside it again."""

ABREAST, NAME, SIDE, STRIP, NEAR, BETWEEN = 2, 0.24, 1.5, 0.26, 0.07, 0.1
"""Panels side by side; inches of the name above a panel, its height, the strip beneath it, and the gaps."""

LEFT, APART = 0.62, 0.2
"""Inches left of the panels, and between two that are side by side."""

DOTTED = (0, (1, 2))
ORIGINAL = Series("original", "Before: the original", MUTED, "solid", "s")
RECALIBRATED = Series("recalibrated", "After", COLOURS[0], "solid", "o")


def drawings(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw every recalibrated model of a dataset before and after: reliability, or observed against predicted."""
    context = context_of(results, dataset)
    for model in context.series:
        quantile = context.variants(model.name, Reliability, "calibration_quantile")
        uniform = context.variants(model.name, Reliability, "calibration_uniform")
        diagrams = quantile if len(quantile) > 1 else uniform
        if len(diagrams) > 1:
            yield from (_reliability(context, model, *group) for group in enumerate(_groups(diagrams), 1))
        else:
            smooth = context.variants(model.name, ObservedPredictedSmooth)
            yield from (_observed(context, model, *group) for group in enumerate(_groups(smooth), 1))


def _groups(curves: Mapping[str, C]) -> Iterator[dict[str, C]]:
    """Share the variants among figures, with the original first in each; none where there is nothing beside it."""
    original, *rest = curves or ("original",)
    for start in range(0, len(rest), MOST_PANELS - 1):
        yield {variant: curves[variant] for variant in (original, *rest[start : start + MOST_PANELS - 1])}


def _series(variant: str) -> Series:
    return ORIGINAL if variant == "original" else RECALIBRATED


def _drawing(
    context: Context, model: Series, number: int, caption: str, alt: str, paint: Callable[[], Figure]
) -> Drawing:
    """Draw the figure of this ``number`` of a model, counted from 1."""
    key = f"d{context.place}-recalibration-{context.series.index(model) + 1}-{number}"
    with style(key):
        svg = to_svg(paint(), key, alt, caption)
    return Drawing(key, f"{model.label} before and after recalibration", caption, alt, svg)


def _reliability(context: Context, model: Series, number: int, curves: Mapping[str, Reliability]) -> Drawing:
    kind = BINS[next(iter(curves.values())).curve.removeprefix("calibration_")]
    spreads = context.variants(model.name, Histogram)
    spread = not spreads.keys().isdisjoint(curves)
    beneath = " Beneath: how the predicted probabilities are spread." if spread else ""
    caption = (
        f"Reliability, {kind}: share of events among the rows of each bin against their mean predicted probability; on "
        f"the dotted diagonal they agree.{bars(context, list(curves.values()))}{beneath}"
    )
    findings = " ".join(f"{variant}: {finding(curve)}." for variant, curve in curves.items())
    alt = f"Reliability of {model.label} on {context.dataset.name} before and after recalibration, {kind}. {findings}"

    def paint() -> Figure:
        figure, panels = _paper(len(curves), STRIP if spread else 0.0)
        for (variant, curve), (axes, strip) in zip(curves.items(), panels, strict=True):
            _diagram(axes, _series(variant), curve)
            if strip is not None:
                _strip(strip, _series(variant), spreads.get(variant))
        return _finished(figure, panels, curves, ("Predicted probability", "Share of events"))

    return _drawing(context, model, number, caption, alt, paint)


def _diagram(axes: Axes, series: Series, curve: Reliability) -> None:
    ticks = (0, 0.25, 0.5, 0.75, 1)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), yticks=ticks)
    axes.set_xticks(ticks, ["0", "", "0.5", "", "1"])
    axes.set_yticks(ticks, ["0", "", "0.5", "", "1"])
    axes.plot([0, 1], [0, 1], color=INK, linestyle=DOTTED, linewidth=1)
    bins(axes, series, curve, 3.8)


def _strip(axes: Axes, series: Series, spread: Histogram | None) -> None:
    axes.set(xlim=(-0.02, 1.02), yticks=())
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ["0", "", "0.5", "", "1"])
    axes.grid(visible=False)
    if spread is not None:
        edges, heights = stacked(spread)
        axes.stairs(heights, edges, fill=True, color=series.colour, alpha=0.55)
    axes.set_ylim(bottom=0)


def _observed(context: Context, model: Series, number: int, curves: Mapping[str, ObservedPredictedSmooth]) -> Drawing:
    caption = (
        "Smooth lines of what was observed against what was predicted; on the dotted diagonal they agree. Below it the "
        "prediction is too high, above it too low."
    )
    gaps = " ".join(f"{variant}: {_gap(curve)}." for variant, curve in curves.items())
    where = f"{model.label} on {context.dataset.name}"
    alt = f"Observed against predicted for {where} before and after recalibration. {gaps}"
    limits = _limits(curves.values())

    def paint() -> Figure:
        figure, panels = _paper(len(curves), 0.0)
        for (variant, curve), (axes, _) in zip(curves.items(), panels, strict=True):
            axes.plot(limits, limits, color=INK, linestyle=DOTTED, linewidth=1)
            x, y = map(column, curve.points.path)
            axes.plot(x, y, color=_series(variant).colour, marker="o" if len(x) < 5 else "", markersize=3.2)
            axes.set(xlim=limits, ylim=limits)
            plain_axes(axes, 3)
        return _finished(figure, panels, curves, (named(context, "Predicted"), named(context, "Observed")))

    return _drawing(context, model, number, caption, alt, paint)


def _limits(curves: Iterable[ObservedPredictedSmooth]) -> tuple[float, float]:
    """Return the limits of both axes, which all panels share."""
    ends = [value for curve in curves for values in curve.points.path for value in known(values)]
    room = 0.04 * (max(ends) - min(ends)) or abs(max(ends)) / 2 or 0.5
    return min(ends) - room, max(ends) + room


def _gap(curve: ObservedPredictedSmooth) -> str:
    """Say where the smooth line lies furthest from the diagonal."""
    rows = [(x, y) for x, y in zip(*curve.points.path, strict=True) if x is not None and y is not None]
    x, y = max(rows, key=lambda row: abs(row[1] - row[0]))
    return f"the line is furthest from the diagonal where {short(x)} is predicted, at {short(y)}"


def _paper(count: int, strip: float) -> tuple[Figure, list[Panel]]:
    """Return a figure with panels two abreast, each with a strip of the given height beneath it, or none."""
    from matplotlib.figure import Figure

    rows, width = -(-count // ABREAST), (WIDTH - LEFT - RIGHT - APART) / ABREAST
    row = NAME + SIDE + (NEAR + strip if strip else 0.0)
    total = TOP + rows * row + (rows - 1) * BETWEEN + FOOT + 3 * KEY_ROW
    figure, panels = Figure(figsize=(WIDTH, total)), []

    def box(place: int, down: float, height: float) -> Axes:
        left = LEFT + place % ABREAST * (width + APART)
        top = total - TOP - place // ABREAST * (row + BETWEEN) - down
        return figure.add_axes((left / WIDTH, (top - height) / total, width / WIDTH, height / total))

    for place in range(count):
        beneath = box(place, NAME + SIDE + NEAR, strip) if strip else None
        panels.append((box(place, NAME, SIDE), beneath))
    return figure, panels


def _finished(figure: Figure, panels: list[Panel], variants: Iterable[str], names: tuple[str, str]) -> Figure:
    """Write the names of panels and axes, the labels of ticks at the outer edges alone, and the key."""
    for place, (variant, (axes, beneath)) in enumerate(zip(variants, panels, strict=True)):
        axes.set_title(clip(variant, 28), fontsize=8.5, loc="left", x=0.0, y=1.0, pad=3)
        lowest = axes if beneath is None else beneath
        if beneath is not None:
            axes.tick_params(labelbottom=False)
        if place < len(panels) - ABREAST:
            lowest.tick_params(labelbottom=False)
        else:
            lowest.set_xlabel(clip(names[0], 24))
        if place % ABREAST:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(clip(names[1], 22))
            if beneath is not None:
                beneath.set_ylabel("Rows")
    entries = [KeyEntry(series.label, series.colour, series.dash, series.marker) for series in (ORIGINAL, RECALIBRATED)]
    add_key(figure, [*entries, KeyEntry("Perfect calibration", INK, DOTTED, width=1)])
    return figure
