"""Figures of calibration without bins: moving windows, and smooth and isotonic curves with the spread of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures import canvas
from evalpipe.card.figures.calibration import PERFECT, finding, limits
from evalpipe.card.figures.canvas import FOOT, INK, KEY_ROW, LEFT, MUTED, RIGHT, TOP, WIDTH, Drawing, KeyEntry, Series
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure, figure_of
from evalpipe.card.figures.distribution import EVENTS, OTHERS
from evalpipe.results.curves.calibration import (
    CalibrationIsotonic,
    CalibrationLogistic,
    CalibrationSpline,
    CalibrationWindow,
    Histogram,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.results.curves.calibration import SmoothPoints, WindowPoints

    C = TypeVar("C", bound=CalibrationLogistic | CalibrationSpline | CalibrationIsotonic | Histogram)

DASHED = (0, (5, 2))
LINE, STEPS = "#c8500a", "#3d4650"

MOST = 4
"""The most models drawn in one figure; of more, the first."""

SHADES = {1: 0.2, 2: 0.16, 3: 0.12, 4: 0.1}

Pairs = list[tuple[Series, CalibrationWindow]]


@figure_of(CalibrationWindow, place=100)
def windows(context: Context, whole: Pairs) -> Drawing:
    """Draw the share of events in moving windows against their mean probability, with intervals."""
    pairs = whole[:MOST]
    key, title = f"d{context.place}-calibration-window", "Reliability, moving windows"
    caption = _window_caption(context, pairs, len(whole))
    alt = context.told("Reliability in moving windows", pairs, lambda curve: finding(curve, "windows"))
    with canvas.style(key):
        figure, (axes,) = canvas.paper(len(pairs) + 1)
        canvas.unit_axes(axes, "Mean predicted probability", "Observed share of events")
        canvas.diagonal(axes)
        for series, curve in pairs:
            x = column(curve.points.mean_probability)
            _shade(axes, x, curve.points, series.colour, SHADES[len(pairs)])
            axes.plot(
                x, column(curve.points.event_rate), color=series.colour, linestyle=series.dash, linewidth=1.3,
                marker=series.marker, markersize=3.5, markeredgecolor="white", markeredgewidth=0.4,
            )
        canvas.add_key(figure, [*(KeyEntry(s.short, s.colour, s.dash, s.marker) for s, _ in pairs), PERFECT])
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _window_caption(context: Context, pairs: Pairs, whole: int) -> str:
    notes = pairs[0][1].notes
    width, step = (numbers.plain(or_nan(value)) for value in (notes.width, notes.step))
    methods = dict.fromkeys(curve.notes.method or "none" for _, curve in pairs)
    names = ", ".join(wording.method(name) for name in methods if name != "none")
    shaded = (
        f" Shaded: {context.level} intervals of each window alone ({names})." if names else ""
    )
    return (
        f"Share of events among the rows whose probability lies in a window {width} wide, which moves by {step}, "
        "against their mean probability; on the dotted diagonal they agree. Neighbouring windows share rows."
        f"{shaded}{_first_models(whole)}"
    )


def _first_models(whole: int) -> str:
    return f" Of {whole} models the first {MOST} are drawn; all are in results.json." if whole > MOST else ""


def _shade(axes: Axes, x: list[float], points: WindowPoints | SmoothPoints, colour: str, alpha: float) -> None:
    axes.fill_between(x, column(points.lower), column(points.upper), color=colour, alpha=alpha, linewidth=0)


@figure(place=110)
def smooth(context: Context) -> Drawing | None:
    """Draw for each model its logistic line, its spline with a band and its isotonic fit, above its scores by level."""
    curves = _of_each_model(context)
    whole = [series for series in context.series if any(curves[series.name][:3])]
    models = whole[:MOST]
    if not models:
        return None
    key, title = f"d{context.place}-calibration-smooth", "Reliability, smooth curves"
    caption = _smooth_caption(context, [curves[series.name] for series in models])
    caption += _moved(models, curves) + _first_models(len(whole))
    alt = f"Smooth calibration curves on {context.dataset.name}. " + " ".join(
        f"{series.label}: {_along(curves[series.name])}." for series in models
    )
    with canvas.style(key):
        entries = _entries(context, [curves[series.name] for series in models])
        figure, panels = _panels(len(models), len(entries))
        for series, (upper, lower) in zip(models, panels, strict=True):
            _draw(upper, series, curves[series.name])
            _mirrored(lower, curves[series.name].scores)
        _label(panels)
        canvas.add_key(figure, entries)
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


class SmoothCurves(NamedTuple):
    """The curves of one model; None where it has none."""

    line: CalibrationLogistic | None
    spline: CalibrationSpline | None
    isotonic: CalibrationIsotonic | None
    scores: Histogram | None


def _of_each_model(context: Context) -> dict[str, SmoothCurves]:
    def by_model(kind: type[C]) -> dict[str, C]:
        return {series.name: curve for series, curve in context.curves(kind)}

    lines, splines = by_model(CalibrationLogistic), by_model(CalibrationSpline)
    steps, scores = by_model(CalibrationIsotonic), by_model(Histogram)
    names = [series.name for series in context.series]
    return {name: SmoothCurves(lines.get(name), splines.get(name), steps.get(name), scores.get(name)) for name in names}


def _entries(context: Context, drawn: list[SmoothCurves]) -> list[KeyEntry]:
    band = f" with {context.level} band" if any(map(_band, drawn)) else ""
    entries = [KeyEntry(f"Spline{band}", EVENTS)] if any(curves.spline for curves in drawn) else []
    entries += [KeyEntry("Logistic line", LINE, DASHED)] if any(curves.line for curves in drawn) else []
    entries += [KeyEntry("Isotonic fit", STEPS, width=0.9)] if any(curves.isotonic for curves in drawn) else []
    return [*entries, PERFECT]


def _band(curves: SmoothCurves) -> list[tuple[float, float, float]]:
    """Return where the band about the spline of a model lies; nothing where it has none."""
    return limits(curves.spline.points.probability, curves.spline.points) if curves.spline else []


def _smooth_caption(context: Context, drawn: list[SmoothCurves]) -> str:
    parts = ["Share of events along the predicted probability; on the dotted diagonal they agree."]
    parts.append("The line and the spline are on the log odds; the isotonic fit is the best that never falls.")
    if any(map(_band, drawn)):
        parts.append("The band is for each point alone; limits of the other curves are in results.json.")
    if any(curves.isotonic for curves in drawn):
        parts.append("MCB − DSC + UNC (miscalibration, discrimination, uncertainty) is the Brier score.")
    if any(curves.scores for curves in drawn):
        parts.append(f"Beneath: how the probabilities are spread, {context.results.event} upwards, "
                     f"{context.results.other} downwards.")
    return " ".join(parts)


def _moved(models: list[Series], curves: dict[str, SmoothCurves]) -> str:
    """Say how many rows were moved off 0 and 1, for they weigh most in curves on the log odds."""
    rows = [(series.label, or_nan(curve.notes.clipped)) for series in models if (curve := curves[series.name].line)]
    said = ", ".join(f"{label} {numbers.count(many)}" for label, many in rows if many > 0)
    return f" Rows at 0 or 1, moved off it for the log odds, where they pull the line: {said}." if said else ""


def _panels(models: int, key_rows: int) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Return a panel with a strip beneath for each model, in two columns where there are several."""
    from matplotlib.figure import Figure

    columns = min(models, 2)
    rows, high, strip = -(-models // columns), {1: 2.46, 2: 1.9}.get(models, 1.72), 0.4
    step, apart = high + 0.06 + strip + 0.16, 0.2
    head = TOP + 0.08
    total = head + rows * step - 0.16 + FOOT + KEY_ROW * key_rows
    wide = (WIDTH - LEFT - RIGHT - apart * (columns - 1)) / columns
    figure = Figure(figsize=(WIDTH, total))
    panels = []
    for place in range(models):
        left, top = LEFT + place % columns * (wide + apart), total - head - place // columns * step
        upper, lower = (
            figure.add_axes((left / WIDTH, (top - base) / total, wide / WIDTH, height / total))
            for base, height in ((high, high), (high + 0.06 + strip, strip))
        )
        panels.append((upper, lower))
    return figure, panels


def _draw(axes: Axes, series: Series, curves: SmoothCurves) -> None:
    canvas.unit_axes(axes, "", "")
    canvas.diagonal(axes)
    if curves.isotonic:
        axes.plot(*map(column, curves.isotonic.points.path), color=STEPS, linewidth=0.8)
        _parts(axes, curves.isotonic)
    if curves.spline:
        x, y = map(column, curves.spline.points.path)
        _shade(axes, x, curves.spline.points, EVENTS, 0.2)
        axes.plot(x, y, color=EVENTS)
    if curves.line:
        axes.plot(*map(column, curves.line.points.path), color=LINE, linestyle=DASHED, linewidth=1.3)
    room = 50 if axes.get_position().width > 0.5 else 24
    axes.set_title(canvas.clip(series.label, room), fontsize=8.5, loc="left", pad=3)


def _parts(axes: Axes, curve: CalibrationIsotonic) -> None:
    """Write the parts of the Brier score into the corner that a fair curve leaves free."""
    notes = curve.notes
    parts = {"MCB": notes.miscalibration, "DSC": notes.discrimination, "UNC": notes.uncertainty}
    text = "\n".join(f"{short} {numbers.fixed(or_nan(part), 4)}" for short, part in parts.items())
    axes.text(0.98, 0.02, text, ha="right", va="bottom", fontsize=7, color=INK, linespacing=1.25)


def _mirrored(axes: Axes, scores: Histogram | None) -> None:
    """Draw the weight of events upwards and of others downwards, by probability."""
    axes.set(xlim=(-0.015, 1.015), yticks=())
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    if scores is None:
        return
    events, others = column(scores.points.events), column(scores.points.others)
    edges = [*column(scores.points.low), column(scores.points.high)[-1]]
    axes.stairs(events, edges, fill=True, facecolor=EVENTS, edgecolor=EVENTS, linewidth=0.5)
    axes.stairs([-weight for weight in others], edges, fill=True, facecolor=OTHERS, edgecolor=MUTED, linewidth=0.5)
    axes.axhline(0, color=INK, linewidth=0.6)


def _label(panels: list[tuple[Axes, Axes]]) -> None:
    """Name the axes at the left and beneath the lowest panels, and number the ticks there."""
    columns = min(len(panels), 2)
    ticks = canvas.TICKS if columns == 1 else (0, 0.5, 1)
    for place, (upper, lower) in enumerate(panels):
        upper.set(xticks=ticks, yticks=ticks)
        upper.tick_params(axis="x", length=0, labelbottom=False)
        lower.set_xticks(ticks, [f"{tick:.1f}" if columns == 1 else f"{tick:g}" for tick in ticks])
        if place % columns == 0:
            upper.set_ylabel("Observed share of events" if columns == 1 else "Share of events")
        else:
            upper.set_yticklabels(())
        if place + columns < len(panels):
            lower.tick_params(axis="x", length=0, labelbottom=False)
        else:
            lower.set_xlabel("Predicted probability")


def _along(curves: SmoothCurves) -> str:
    """Say where the spline's band leaves the diagonal, and the line's coefficients and the parts of the Brier score."""
    said = []
    if curves.spline:
        band, edf = _band(curves), or_nan(curves.spline.notes.edf)
        said += [_away(band)] if band else [f"the spline has {numbers.number(edf)} degrees"]
    if curves.line:
        intercept, slope = (numbers.number(or_nan(x)) for x in (curves.line.notes.intercept, curves.line.notes.slope))
        said.append(f"the logistic line has intercept {intercept} and slope {slope}")
    if curves.isotonic:
        notes = curves.isotonic.notes
        parts = {"miscalibration": notes.miscalibration, "discrimination": notes.discrimination,
                 "uncertainty": notes.uncertainty}
        said.append(", ".join(f"{name} {numbers.fixed(or_nan(part), 4)}" for name, part in parts.items()))
    return "; ".join(said)


def _away(band: list[tuple[float, float, float]]) -> str:
    """List the stretches in which a band lies above or below the diagonal."""
    runs: list[tuple[str, float, float]] = []
    before = ""
    for at, low, high in band:
        side = "above" if low > at else "below" if high < at else ""
        if side and side == before:  # the stretch goes on
            runs[-1] = (side, runs[-1][1], at)
        elif side:
            runs.append((side, at, at))
        before = side
    if not runs:
        return "the spline's band holds the diagonal throughout"
    stretches = [f"{side} the diagonal {_stretch(first, last)}" for side, first, last in runs]
    return f"the spline's band lies {', '.join(stretches)}"


def _stretch(first: float, last: float) -> str:
    if first == last:
        return f"at {numbers.number(first)}"
    return f"from {numbers.number(first)} to {numbers.number(last)}"
