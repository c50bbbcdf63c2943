"""Figures of the prevalence: what was observed and declared, and what predicted levels are worth at any prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.canvas import (
    DASHES,
    INK,
    MUTED,
    Drawing,
    KeyEntry,
    add_key,
    clip,
    paper,
    style,
    to_svg,
)
from evalpipe.card.figures.context import Context, column, context_of, or_nan
from evalpipe.card.palette import COLOURS
from evalpipe.results.curves.events import PredictiveValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.card.figures.canvas import Series
    from evalpipe.chapters.prevalence.records import Prior
    from evalpipe.results import Results

VALUES = {"ppv": "PPV", "npv": "NPV"}
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
HEIGHT = 2.2
"""Inches: the panel of one predictive value."""

DASHED, DOTTED = (0, (4, 2)), (0, (1, 2))
RAMP = ("#b9c4ce", "#8fa1b1", "#637a8e", "#3d566c", "#1b2733")
"""From the lowest of the rates that lines are drawn for to the highest."""


def prevalence_figures(results: Results, dataset: str, *, first: bool = True) -> tuple[Drawing, ...]:
    """Draw predictive values by prevalence, and before them, the ``first`` time, the prevalence of every dataset."""
    context = context_of(results, dataset)
    drawings = (
        prevalences(context) if first else None, by_prevalence(context), by_rate(context, "sensitivity"),
        by_rate(context, "specificity"),
    )
    return tuple(drawing for drawing in drawings if drawing is not None)


def prevalences(context: Context) -> Drawing | None:
    """Draw the observed share of events of every dataset beside the declared prevalence."""
    observed = [(d.name, d.prevalence) for d in context.results.datasets if d.prevalence is not None]
    prior = context.results.prevalence
    if prior is None or prior.value is None or not observed:
        return None
    key = f"d{context.place}-prevalence"
    bars = [*((f"{name}, observed", value) for name, value in observed), ("declared", prior.value)]
    limits = {f"{share.dataset}, observed": (share.lower, share.upper) for share in context.results.observed}
    limits["declared"] = next(iter(prior.limits.values()), (None, None))
    limited = ", with limits" if any(low is not None for low, _ in limits.values()) else ""
    caption = (
        f"Share of {context.results.event} in each dataset, against the prevalence declared for where the model will "
        f"be used{limited}. Measures under the declared prevalence, such as PPV, answer for the latter."
    )
    alt = "Prevalence of the event. " + " ".join(f"{name}: {numbers.number(value)}." for name, value in bars)
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(0, (0.3 * len(bars) + 0.1,), 1.55)
        for row, (name, value) in enumerate(bars):
            _bar(axes, row, name, value, limits.get(name, (None, None)))
        axes.set(xlim=(0, 1.08), ylim=(len(bars) - 0.5, -0.5), yticks=(), xticks=TICKS, xlabel="Share of events")
        return Drawing(key, "Observed and declared prevalence", caption, alt, to_svg(figure, key, alt, caption))


def _bar(axes: Axes, row: int, name: str, value: float, limits: tuple[float | None, float | None]) -> None:
    fill, hatch = (MUTED, "////") if name == "declared" else (COLOURS[0], None)
    axes.barh(row, value, height=0.6, color=fill, hatch=hatch, edgecolor="w")
    low, high = limits
    if low is not None and high is not None:
        axes.plot((low, high), (row, row), color=INK, linewidth=1.1)
    axes.text(max(value, high or 0) + 0.015, row, numbers.number(value), va="center_baseline", fontsize=8.5)
    axes.text(-0.04, row, clip(name, 26), ha="right", va="center_baseline")


def by_prevalence(context: Context) -> Drawing | None:
    """Draw ppv and npv of each model against the prevalence, the observed and the declared one marked."""
    pairs, key = context.curves(PredictiveValues), f"d{context.place}-predictive"
    if not pairs:
        return None
    caption = _caption(context, pairs)
    alt = f"Predictive values by prevalence on {context.dataset.name}. " + " ".join(_worth(*pair) for pair in pairs)
    entries = [KeyEntry(series.short, series.colour, series.dash) for series, _ in pairs]

    def plot(axes: Axes, name: str) -> None:
        for series, curve in pairs:
            columns = curve.points.columns
            x, value, lower, upper = (
                column(columns[key]) for key in ("prevalence", name, f"{name}_lower", f"{name}_upper"))
            axes.fill_between(x, lower, upper, color=series.colour, alpha=0.18, linewidth=0)
            axes.plot(x, value, color=series.colour, linestyle=series.dash)
        _mark(axes, or_nan(pairs[0][1].notes.observed), context.results.prevalence)

    with style(key):
        figure = _panels(entries, "Prevalence", plot)
        return Drawing(key, "Predictive values by prevalence", caption, alt, to_svg(figure, key, alt, caption))


def _caption(context: Context, pairs: list[tuple[Series, PredictiveValues]]) -> str:
    """Say what is drawn by prevalence, and how its limits and marks are meant."""
    prior = context.results.prevalence
    level = next((curve.notes.level for _, curve in pairs if curve.notes.level is not None), None)
    band = f" with {wording.level(level)} limits by the delta method" if level is not None else ""
    declared = ", the dashed one the declared" if prior is not None else ""
    shaded = ""
    if prior is not None and prior.beta is not None and prior.limits:
        shaded = f" {wording.level(prior.level or 0.0)} of the declared distribution is shaded."
    return (f"What the predicted levels are worth at any prevalence of {context.results.event}{band}. The dotted line "
            f"is the observed prevalence{declared}.{shaded}")


def _mark(axes: Axes, observed: float, prior: Prior | None) -> None:
    """Mark the observed prevalence, and the declared one with its spread."""
    axes.axvline(observed, color=MUTED, linestyle=DOTTED, linewidth=1.1)
    if prior is not None and prior.value is not None:
        axes.axvline(prior.value, color=INK, linestyle=DASHED, linewidth=0.9)
        if prior.beta is not None and prior.limits:
            axes.axvspan(*next(iter(prior.limits.values())), color=MUTED, alpha=0.14, linewidth=0)


def _panels(entries: list[KeyEntry], across: str, plot: Callable[[Axes, str], None]) -> Figure:
    """Draw ppv above npv, each as ``plot`` draws it, ``across`` the name of what they depend on."""
    figure, panels = paper(len(entries), (HEIGHT, HEIGHT), gap=0.2)
    for axes, (name, label) in zip(panels, VALUES.items(), strict=True):
        plot(axes, name)
        axes.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.03), xticks=TICKS, yticks=TICKS, ylabel=label)
    panels[0].set_xticklabels(())
    panels[1].set_xlabel(across)
    add_key(figure, entries)
    return figure


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


def by_rate(context: Context, rate: str) -> Drawing | None:
    """Draw ppv and npv at the declared prevalence along a rate, a line for each of some values of the other."""
    prior, pairs = context.results.prevalence, context.curves(PredictiveValues)
    lines = [line for line in prior.lines if line.by == rate] if prior is not None else []
    if not lines or not pairs or prior is None or prior.value is None:
        return None
    key, other = f"d{context.place}-predictive-{rate}", lines[0].other
    caption = (
        f"What any model's predicted levels would be worth at the declared prevalence {numbers.number(prior.value)}, "
        f"along its {rate}, for some values of its {other}. The marks are the models."
    )
    alt = f"Predictive values at the declared prevalence by {rate}, {context.dataset.name}. " + " ".join(
        f"{series.label}: {rate} {numbers.number(_rate(curve, rate))}, {other} {numbers.number(_rate(curve, other))}."
        for series, curve in pairs)
    entries = [KeyEntry(f"{other.capitalize()} {numbers.plain(line.at)}", RAMP[i % 5], DASHES[i % 5])
               for i, line in enumerate(lines)]
    entries += [KeyEntry(series.short, series.colour, "none", series.marker) for series, _ in pairs]

    def plot(axes: Axes, name: str) -> None:
        for entry, line in zip(entries, lines, strict=False):
            x, height = column(line.points["rate"]), column(line.points[name])
            axes.plot(x, height, color=entry.colour, linestyle=entry.dash, linewidth=1.2)
        _mark_models(axes, pairs, rate, name)

    with style(key):
        svg = to_svg(_panels(entries, rate.capitalize(), plot), key, alt, caption)
        return Drawing(key, f"Predictive values by {rate} at the declared prevalence", caption, alt, svg)


def _mark_models(axes: Axes, pairs: list[tuple[Series, PredictiveValues]], rate: str, name: str) -> None:
    """Mark each model at its own rate and its predictive value at the declared prevalence."""
    for series, curve in pairs:
        value = or_nan(curve.notes.ppv_declared if name == "ppv" else curve.notes.npv_declared)
        axes.plot(_rate(curve, rate), value, series.marker, color=series.colour, markersize=7, markeredgecolor="w",
                  clip_on=False, zorder=5)


def _rate(curve: PredictiveValues, name: str) -> float:
    return or_nan(curve.notes.sensitivity if name == "sensitivity" else curve.notes.specificity)
