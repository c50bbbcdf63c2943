"""Figures of predictive values: of each model at every prevalence, and of any model at the declared one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.figures.canvas import (
    DASHES,
    INK,
    MUTED,
    Drawing,
    KeyEntry,
    add_key,
    paper,
    style,
    to_svg,
)
from evalpipe.report.figures.context import Context, column, or_nan
from evalpipe.results.curves.events import PredictiveValues

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.report.figures.canvas import Series
    from evalpipe.results.curves.events import PredictiveValuePoints

VALUES = {"ppv": "PPV", "npv": "NPV"}
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
HEIGHT = 2.2
DASHED, DOTTED = (0, (4, 2)), (0, (1, 2))
RAMP = ("#b9c4ce", "#8fa1b1", "#637a8e", "#3d566c", "#1b2733")
"""From the lowest of the rates that lines are drawn for to the highest."""


def by_prevalence(context: Context) -> Drawing | None:
    """Draw ppv and npv of each model against the prevalence, the observed and the declared one marked."""
    pairs = context.curves(PredictiveValues)
    if not pairs:
        return None
    key, prior = f"d{context.place}-predictive", context.results.prevalence
    level = next((curve.notes.level for _, curve in pairs if curve.notes.level is not None), None)
    band = f" with {wording.level(level)} limits by the delta method" if level is not None else ""
    caption = f"What the predicted levels are worth at any prevalence of {context.results.event}{band}. The dotted "
    caption += "line is the observed prevalence" + (", the dashed one the declared." if prior is not None else ".")
    spread = prior is not None and prior.beta is not None and bool(prior.limits)
    if spread and prior is not None:
        caption += f" {wording.level(prior.level or 0.0)} of the declared distribution is shaded."
    alt = f"Predictive values by prevalence on {context.dataset.name}. " + " ".join(_worth(*pair) for pair in pairs)
    with style(key):
        entries = [KeyEntry(series.short, series.colour, series.dash) for series, _ in pairs]
        figure, panels = paper(len(entries), (HEIGHT, HEIGHT), gap=0.2)
        for axes, name in zip(panels, VALUES, strict=True):
            for series, curve in pairs:
                _band(axes, curve.points, name, series)
            axes.axvline(or_nan(pairs[0][1].notes.observed), color=MUTED, linestyle=DOTTED, linewidth=1.1)
            if prior is not None and prior.value is not None:
                axes.axvline(prior.value, color=INK, linestyle=DASHED, linewidth=0.9)
            if spread and prior is not None:
                axes.axvspan(*next(iter(prior.limits.values())), color=MUTED, alpha=0.14, linewidth=0)
            _frame(axes, VALUES[name])
        panels[0].set_xticklabels(())
        panels[1].set_xlabel("Prevalence")
        add_key(figure, entries)
        return Drawing(key, "Predictive values by prevalence", caption, alt, to_svg(figure, key, alt, caption))


def _band(axes: Axes, points: PredictiveValuePoints, name: str, series: Series) -> None:
    x = column(points.prevalence)
    value, lower, upper = (
        (points.ppv, points.ppv_lower, points.ppv_upper) if name == "ppv" else
        (points.npv, points.npv_lower, points.npv_upper))
    axes.fill_between(x, column(lower), column(upper), color=series.colour, alpha=0.18, linewidth=0)
    axes.plot(x, column(value), color=series.colour, linestyle=series.dash)


def _worth(series: Series, curve: PredictiveValues) -> str:
    """Say in words what a model's predictions are worth at the observed and at the declared prevalence."""
    notes, parts = curve.notes, []
    for place, prevalence, ppv, npv in (
        ("observed", notes.observed, notes.ppv_observed, notes.npv_observed),
        ("declared", notes.declared, notes.ppv_declared, notes.npv_declared),
    ):
        if prevalence is not None:
            written = wording.share if place == "declared" else numbers.number
            parts.append(f"at the {place} prevalence {written(prevalence)} PPV {_text(ppv)} and NPV {_text(npv)}")
    return f"{series.label}: {'; '.join(parts)}."


def _text(value: float | None) -> str:
    return "undefined" if value is None else numbers.number(value)


def _frame(axes: Axes, label: str) -> None:
    axes.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.03), xticks=TICKS, yticks=TICKS, ylabel=label)


def by_rate(context: Context, rate: str) -> Drawing | None:
    """Draw ppv and npv at the declared prevalence along a rate, a line for each of some values of the other."""
    prior, pairs = context.results.prevalence, context.curves(PredictiveValues)
    lines = [line for line in prior.lines if line.by == rate] if prior is not None else []
    if not lines or not pairs or prior is None or prior.value is None:
        return None
    key, other = f"d{context.place}-predictive-{rate}", lines[0].other
    caption = (
        f"What any model's predicted levels would be worth at the declared prevalence "
        f"{numbers.number(prior.value)}, along its {rate}, for some values of its {other}. The marks are the models."
    )
    marks = " ".join(
        f"{series.label}: {rate} {numbers.number(_rate(curve, rate))}, {other} {numbers.number(_rate(curve, other))}."
        for series, curve in pairs
    )
    alt = f"Predictive values at the declared prevalence by {rate}, {context.dataset.name}. {marks}"
    named = [f"{other.capitalize()} {numbers.plain(line.at)}" for line in lines]
    with style(key):
        entries = [KeyEntry(text, RAMP[i % 5], DASHES[i % 5]) for i, text in enumerate(named)]
        entries += [KeyEntry(series.short, series.colour, "none", series.marker) for series, _ in pairs]
        figure, panels = paper(len(entries), (HEIGHT, HEIGHT), gap=0.2)
        for axes, name in zip(panels, VALUES, strict=True):
            for i, line in enumerate(lines):
                axes.plot(column(line.points["rate"]), column(line.points[name]), color=RAMP[i % 5],
                          linestyle=DASHES[i % 5], linewidth=1.2)
            for series, curve in pairs:
                value = or_nan(curve.notes.ppv_declared if name == "ppv" else curve.notes.npv_declared)
                axes.plot(_rate(curve, rate), value, series.marker, color=series.colour, markersize=7,
                          markeredgecolor="w", clip_on=False, zorder=5)
            _frame(axes, VALUES[name])
        panels[0].set_xticklabels(())
        panels[1].set_xlabel(rate.capitalize())
        add_key(figure, entries)
        title = f"Predictive values by {rate} at the declared prevalence"
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _rate(curve: PredictiveValues, name: str) -> float:
    return or_nan(curve.notes.sensitivity if name == "sensitivity" else curve.notes.specificity)
