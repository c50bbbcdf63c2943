"""Figures of the prevalence: what was observed and declared, and what predicted levels are worth at any prevalence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, unit_axis
from evalpipe.card.figures.context import Context, column, context_of, listed, or_nan
from evalpipe.card.figures.curves import MOST
from evalpipe.card.figures.labels import LineLabel, label_ends, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, RowLabel, grid, panel, rows
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing
from evalpipe.results.curves.events import PredictiveValues
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.card.figures.labels import Box
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.prevalence.records import PredictiveLine, Prior
    from evalpipe.results import Results

VALUES = {"ppv": "PPV", "npv": "NPV"}
STROKES = ("", "9 3", DASHES, "3 3", DOTS)
"""How the lines of the rates are drawn, from the lowest to the highest."""


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
    bars = [*((f"{name}, observed", value) for name, value in observed), ("declared", prior.value)]
    limits = {f"{share.dataset}, observed": (share.lower, share.upper) for share in context.results.observed}
    limits["declared"] = next(iter(prior.limits.values()), (None, None))
    limited = ", with limits" if any(low is not None for low, _ in limits.values()) else ""
    caption = (
        f"Share of {context.results.event} in each dataset, against the prevalence declared for where the model will "
        f"be used{limited}. Measures at the declared prevalence, such as PPV, apply where the model will be used."
    )
    alt = "Prevalence of the event. " + " ".join(f"{name}: {_written(name, value)}." for name, value in bars)
    sheet = Sheet()
    drawn = rows(sheet, [RowLabel(name) for name, _ in bars], unit_axis("Share of events"), beside=10)
    for middle, (name, value) in zip(drawn.middles, bars, strict=True):
        low, high = limits.get(name, (None, None))
        shape = "s" if name == "declared" else "o"
        if low is not None and high is not None:
            drawn.panel.ranges([middle], [low], [high], "ink", upright=False)
        drawn.panel.marks([value], [middle], "ink", shape)
        drawn.panel.record_values(name, value=[value], lower=[or_nan(low)], upper=[or_nan(high)])
        beside, anchor = (9, "") if (high or value) < 0.8 else (-9, "end")
        end = drawn.panel.across((low if anchor else high) or value)
        sheet.write(end + beside, drawn.panel.top + middle + 4.5, _written(name, value), "ink", anchor)
    finding = listed([f"{name}: {_written(name, value)}" for name, value in bars])
    texts = finding, caption, alt
    return drawing(f"d{context.place}-prevalence", "Observed and declared prevalence", texts, [sheet])


def _written(name: str, value: float) -> str:
    """Write an observed prevalence, or the one that is declared."""
    return wording.share(value) if name == "declared" else numbers.number(value)


def by_prevalence(context: Context) -> Drawing | None:
    """Draw ppv and npv of each model against the prevalence, the observed and the declared one marked."""
    pairs = context.curves(PredictiveValues)
    if not pairs:
        return None
    said = [_worth(*pair) for pair in pairs]
    alt = f"Predictive values by prevalence on {context.dataset.name}. {' '.join(said)}"
    sheets = [_values(context, pairs, name, label) for name, label in VALUES.items()]
    texts = " ".join(said[:MOST]), _caption(context, pairs), alt
    return drawing(f"d{context.place}-predictive", "Predictive values by prevalence", texts, sheets)


def _values(context: Context, pairs: list[tuple[Series, PredictiveValues]], name: str, label: str) -> Sheet:
    """Draw one predictive value of each model against the prevalence, of many models each in a panel of its own.

    A model alone is named by the title: a marker beside its name would look like a point of the curve.
    """
    sheet, many, alone = Sheet(), len(pairs) > MOST, len(pairs) == 1
    x, y = unit_axis("Prevalence", HALVES) if many else unit_axis("Prevalence"), unit_axis(label)
    if many:
        axes = x, unit_axis(label, HALVES)
        panels = grid(sheet, [axes] * len(pairs), [(series.label, "ink") for series, _ in pairs])
    else:
        panels = [panel(sheet, x, y, title=pairs[0][0].label if alone else "")] * len(pairs)
    labels = []
    for drawn, (series, curve) in zip(panels, pairs, strict=True):
        columns = curve.points.columns
        at, value, lower, upper = (
            column(columns[key]) for key in ("prevalence", name, f"{name}_lower", f"{name}_upper"))
        drawn.band(at, lower, upper, series.ink)
        drawn.line(at, value, series.ink, name=series.label)
        labels.append(LineLabel(series.label, series.ink, at, value, series.marker))
    for drawn in panels if many else panels[:1]:
        _mark(drawn, or_nan(pairs[0][1].notes.observed), context.results.prevalence)
    declared = context.results.prevalence is not None
    entries = [] if many or alone else label_lines(panels[0], labels)
    entries.append(KeyEntry("Observed prevalence", "ink", "thin", dash=DOTS))
    sheet.key([*entries, *([KeyEntry("Declared", "ink", "thin", dash=DASHES)] if declared else [])])
    return sheet


def _caption(context: Context, pairs: list[tuple[Series, PredictiveValues]]) -> str:
    """Say what is drawn by prevalence, and how its limits and marks are meant."""
    prior = context.results.prevalence
    level = next((curve.notes.level for _, curve in pairs if curve.notes.level is not None), None)
    band = f" with {wording.level(level)} limits by the delta method" if level is not None else ""
    declared = "; dashed line: declared prevalence" if prior is not None else ""
    shaded = ""
    if prior is not None and prior.beta is not None and prior.limits:
        shaded = f" {wording.level(prior.level or 0.0)} of the declared distribution is shaded."
    return (f"PPV and NPV at every prevalence of {context.results.event}{band}. Dotted line: observed "
            f"prevalence{declared}.{shaded}")


def _mark(drawn: Panel, observed: float, prior: Prior | None) -> None:
    """Mark the observed prevalence, and the declared one with its spread."""
    drawn.rule("ink", x=observed, dash=DOTS)
    if prior is not None and prior.value is not None:
        drawn.rule("ink", x=prior.value, dash=DASHES)
        if prior.beta is not None and prior.limits:
            low, high = next(iter(prior.limits.values()))
            drawn.span(low, high)


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
    other = lines[0].other
    caption = (
        f"PPV and NPV of any model at the declared prevalence {wording.share(prior.value)}, by its {rate}, for some "
        f"values of its {other}, beside the lines or in the key. Marks: the models."
    )
    alt = f"Predictive values at the declared prevalence by {rate}, {context.dataset.name}. " + " ".join(
        f"{series.label}: {rate} {numbers.number(_rate(curve, rate))}, {other} {numbers.number(_rate(curve, other))}."
        for series, curve in pairs)
    sheets = [_by_rate(lines, pairs, rate, name, label) for name, label in VALUES.items()]
    finding = listed([
        f"{series.label}: PPV {_text(curve.notes.ppv_declared)} and NPV {_text(curve.notes.npv_declared)} at its "
        f"{rate} {numbers.number(_rate(curve, rate))}" for series, curve in pairs])
    title = f"Predictive values by {rate} at the declared prevalence"
    return drawing(f"d{context.place}-predictive-{rate}", title, (finding, caption, alt), sheets)


def _by_rate(
    lines: list[PredictiveLine], pairs: list[tuple[Series, PredictiveValues]], rate: str, name: str, label: str
) -> Sheet:
    """Draw one predictive value along a rate, with a mark for each model."""
    sheet, labels = Sheet(), []
    drawn = panel(sheet, unit_axis(rate.capitalize()), unit_axis(f"{label}, lines by {lines[0].other}"))
    for place, line in enumerate(lines):
        x, height, dash = column(line.points["rate"]), column(line.points[name]), STROKES[place % len(STROKES)]
        drawn.line(x, height, "muted", dash=dash, name=f"{line.other.capitalize()} {numbers.plain(line.at)}")
        labels.append(LineLabel(numbers.plain(line.at), "muted", x, height, dash=dash))
    unplaced = label_ends(drawn, labels, _mark_models(drawn, pairs, rate, name))
    named = [replace(entry, text=f"{lines[0].other.capitalize()} {entry.text}") for entry in unplaced]
    sheet.key([*named, *(KeyEntry(series.label, series.ink, "mark", series.marker) for series, _ in pairs)])
    return sheet


def _mark_models(drawn: Panel, pairs: list[tuple[Series, PredictiveValues]], rate: str, name: str) -> list[Box]:
    """Mark each model at its own rate and its predictive value at the declared prevalence; return the marks' boxes."""
    boxes: list[Box] = []
    for series, curve in pairs:
        value = or_nan(curve.notes.ppv_declared if name == "ppv" else curve.notes.npv_declared)
        drawn.marks([_rate(curve, rate)], [value], series.ink, series.marker, size=5.5, name=series.label)
        if not math.isnan(value + _rate(curve, rate)):
            x, y = drawn.across(_rate(curve, rate)), drawn.down(value)
            boxes.append((x - 6, y - 6, x + 6, y + 6))
    return boxes


def _rate(curve: PredictiveValues, name: str) -> float:
    return or_nan(curve.notes.sensitivity if name == "sensitivity" else curve.notes.specificity)
