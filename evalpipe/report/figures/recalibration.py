"""Figures of recalibration: a model before and after side by side, with a panel for each variant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from evalpipe.report.figures.calibration import BINS, bars, bins, finding, stacked
from evalpipe.report.figures.canvas import (
    COLOURS,
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
from evalpipe.report.figures.context import column, known
from evalpipe.report.figures.numbers import named, plain_axes, short
from evalpipe.results.curves.calibration import Histogram, Reliability
from evalpipe.results.curves.residuals import ObservedPredictedSmooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.report.figures.context import Context

C = TypeVar("C")

MOST_PANELS = 6
"""Panels of a figure, that of the original first; more variants continue in a further figure, beside it again."""

ABREAST, NAME, SIDE, STRIP, NEAR, BETWEEN = 2, 0.24, 1.5, 0.26, 0.07, 0.1
"""Panels side by side; inches of the name above a panel, its height, the strip beneath it, and the gaps."""

LEFT, APART = 0.62, 0.2
DOTTED = (0, (1, 2))
ORIGINAL = Series("original", "Original", MUTED, "solid", "s")
RECALIBRATED = Series("recalibrated", "Recalibrated", COLOURS[0], "solid", "o")


@dataclass(frozen=True, slots=True)
class VariantPanel(Generic[C]):
    """A variant, or the original, with its curve and, where it has one, the histogram of its probabilities."""

    variant: str
    curve: C
    spread: Histogram | None = None

    @property
    def series(self) -> Series:
        """How it is drawn."""
        return ORIGINAL if self.variant == "original" else RECALIBRATED


def before_after(context: Context, model: str) -> tuple[Drawing, ...]:
    """Draw a model before and after recalibration: reliability of probabilities, or observed against predicted."""
    spreads = context.variants(model, Histogram)
    for name in ("calibration_quantile", "calibration_uniform"):
        diagrams = context.variants(model, Reliability, name)
        panels = [VariantPanel(variant, curve, spreads.get(variant)) for variant, curve in diagrams.items()]
        if len(panels) > 1:
            return tuple(_reliability(context, model, *group) for group in enumerate(_groups(panels), 1))
    smooth = context.variants(model, ObservedPredictedSmooth)
    lines = [VariantPanel(variant, curve) for variant, curve in smooth.items()]
    return tuple(_observed(context, model, *group) for group in enumerate(_groups(lines), 1))


def _groups(panels: list[VariantPanel[C]]) -> list[list[VariantPanel[C]]]:
    """Share the variants among figures, with the original first in each; none where there is nothing beside it."""
    original, rest = panels[:1], panels[1:]
    starts = range(0, len(rest), MOST_PANELS - 1)
    return [[*original, *rest[start : start + MOST_PANELS - 1]] for start in starts]


def _key(context: Context, model: str, place: int) -> str:
    order = next(i for i, series in enumerate(context.series, 1) if series.name == model)
    return f"d{context.place}-recalibration-{order}-{place}"


def _label(context: Context, model: str) -> str:
    return next(series.label for series in context.series if series.name == model)


def _reliability(context: Context, model: str, place: int, panels: list[VariantPanel[Reliability]]) -> Drawing:
    kind = BINS[panels[0].curve.curve.removeprefix("calibration_")]
    key, label = _key(context, model, place), _label(context, model)
    title = f"{label} before and after recalibration"
    spread = any(panel.spread is not None for panel in panels)
    beneath = " Beneath: how the predicted probabilities are spread." if spread else ""
    caption = (
        f"Reliability, {kind}: share of events among the rows of each bin against their mean predicted probability; on "
        f"the dotted diagonal they agree.{bars(context, [panel.curve for panel in panels])}{beneath}"
    )
    said = " ".join(f"{panel.variant}: {finding(panel.curve)}." for panel in panels)
    alt = f"Reliability of {label} on {context.dataset.name} before and after recalibration, {kind}. {said}"
    with style(key):
        figure, drawn = _paper(len(panels), STRIP if spread else 0.0)
        for panel, (axes, strip) in zip(panels, drawn, strict=True):
            _diagram(axes, panel)
            if strip is not None:
                _strip(strip, panel)
        _finish(figure, drawn, panels, ("Predicted probability", "Share of events"))
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _diagram(axes: Axes, panel: VariantPanel[Reliability]) -> None:
    ticks = (0, 0.25, 0.5, 0.75, 1)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), yticks=ticks)
    axes.set_xticks(ticks, ["0", "", "0.5", "", "1"])
    axes.set_yticks(ticks, ["0", "", "0.5", "", "1"])
    axes.plot([0, 1], [0, 1], color=INK, linestyle=DOTTED, linewidth=1)
    bins(axes, panel.series, panel.curve, 3.8)


def _strip(axes: Axes, panel: VariantPanel[Reliability]) -> None:
    axes.set(xlim=(-0.02, 1.02), yticks=())
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ["0", "", "0.5", "", "1"])
    axes.grid(visible=False)
    if panel.spread is not None:
        edges, heights = stacked(panel.spread)
        axes.stairs(heights, edges, fill=True, color=panel.series.colour, alpha=0.55)
    axes.set_ylim(bottom=0)


def _observed(
    context: Context, model: str, place: int, panels: list[VariantPanel[ObservedPredictedSmooth]]
) -> Drawing:
    key, label = _key(context, model, place), _label(context, model)
    title = f"{label} before and after recalibration"
    caption = (
        "Smooth lines of what was observed against what was predicted; on the dotted diagonal they agree. Below it the "
        "prediction is too high, above it too low."
    )
    said = " ".join(f"{panel.variant}: {_gap(panel.curve)}." for panel in panels)
    alt = f"Observed against predicted for {label} on {context.dataset.name} before and after recalibration. {said}"
    limits = _limits(panels)
    with style(key):
        figure, drawn = _paper(len(panels), 0.0)
        for panel, (axes, _) in zip(panels, drawn, strict=True):
            axes.plot(limits, limits, color=INK, linestyle=DOTTED, linewidth=1)
            x, y = map(column, panel.curve.points.path)
            axes.plot(x, y, color=panel.series.colour, marker="o" if len(x) < 5 else "", markersize=3.2)
            axes.set(xlim=limits, ylim=limits)
            plain_axes(axes, 3)
        _finish(figure, drawn, panels, (named(context, "Predicted"), named(context, "Observed")))
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _limits(panels: list[VariantPanel[ObservedPredictedSmooth]]) -> tuple[float, float]:
    """Return the limits of both axes, which all panels share."""
    ends = [value for panel in panels for values in panel.curve.points.path for value in known(values)]
    room = 0.04 * (max(ends) - min(ends)) or abs(max(ends)) / 2 or 0.5
    return min(ends) - room, max(ends) + room


def _gap(curve: ObservedPredictedSmooth) -> str:
    """Say where the smooth line lies furthest from the diagonal."""
    rows = [(x, y) for x, y in zip(*curve.points.path, strict=True) if x is not None and y is not None]
    x, y = max(rows, key=lambda row: abs(row[1] - row[0]))
    return f"the line is furthest from the diagonal where {short(x)} is predicted, at {short(y)}"


def _paper(many: int, strip: float) -> tuple[Figure, list[tuple[Axes, Axes | None]]]:
    """Return a figure with panels two abreast, each with a strip of the given height beneath it, or none."""
    from matplotlib.figure import Figure

    rows, width = -(-many // ABREAST), (WIDTH - LEFT - RIGHT - APART) / ABREAST
    row = NAME + SIDE + (NEAR + strip if strip else 0.0)
    total = TOP + rows * row + (rows - 1) * BETWEEN + FOOT + 3 * KEY_ROW
    figure, drawn = Figure(figsize=(WIDTH, total)), []

    def box(place: int, down: float, height: float) -> Axes:
        left = LEFT + place % ABREAST * (width + APART)
        top = total - TOP - place // ABREAST * (row + BETWEEN) - down
        return figure.add_axes((left / WIDTH, (top - height) / total, width / WIDTH, height / total))

    for place in range(many):
        beneath = box(place, NAME + SIDE + NEAR, strip) if strip else None
        drawn.append((box(place, NAME, SIDE), beneath))
    return figure, drawn


def _finish(
    figure: Figure, drawn: list[tuple[Axes, Axes | None]], panels: list[VariantPanel[C]], names: tuple[str, str]
) -> None:
    """Write the names of panels and axes, the labels of ticks at the outer edges alone, and the key."""
    for place, (panel, (axes, beneath)) in enumerate(zip(panels, drawn, strict=True)):
        axes.set_title(clip(panel.variant, 28), fontsize=8.5, loc="left", x=0.0, y=1.0, pad=3)
        lowest = axes if beneath is None else beneath
        if beneath is not None:
            axes.tick_params(labelbottom=False)
        if place < len(drawn) - ABREAST:
            lowest.tick_params(labelbottom=False)
        else:
            lowest.set_xlabel(clip(names[0], 24))
        if place % ABREAST:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(clip(names[1], 22))
            if beneath is not None:
                beneath.set_ylabel("Rows")
    shown = [replace(ORIGINAL, label="Before: the original"), replace(RECALIBRATED, label="After")]
    entries = [KeyEntry(series.label, series.colour, series.dash, series.marker) for series in shown]
    add_key(figure, [*entries, KeyEntry("Perfect calibration", INK, DOTTED, width=1)])
