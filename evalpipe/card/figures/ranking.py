"""Figures of ranking: ROC, precision-recall, cumulative gain and lift."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.bands import explained, shade
from evalpipe.card.figures.context import Context, known, listed, or_nan, path_of
from evalpipe.card.figures.curves import Frame, ModelCurve, Reference, draw_curves
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.panel import DASHES
from evalpipe.card.figures.scales import HALVES, LINE, Axis, ticks_between, unit_axis, width
from evalpipe.card.figures.sheet import drawing
from evalpipe.chapters import functions
from evalpipe.results.curves.bands import GainBand, PrBand, RocBand
from evalpipe.results.curves.events import Gain, Lift, Pr, Roc

if TYPE_CHECKING:
    from evalpipe.card.figures.canvas import Drawing, Series
    from evalpipe.card.figures.context import Operating
    from evalpipe.card.figures.labels import Box
    from evalpipe.card.figures.panel import Panel

    Pairs = Sequence[tuple[Series, Roc | Pr | Gain]]



NEAR = 30
"""Pixels within which the same threshold is written once."""


def _marks(context: Context, plot: Plot) -> Callable[[Panel, Series], Sequence[Box]]:
    """Return what marks where a model operates, with its threshold where there is room."""
    written: set[tuple[int, str | None, int, int]] = set()

    def over(panel: Panel, series: Series) -> Sequence[Box]:
        at = context.operating(series.name)
        x, y = (None, None) if at is None else plot.point(at)
        if at is None or x is None or y is None:
            return ()
        panel.marks([x], [y], series.ink, series.marker, size=5.5, kind="ring")
        left, top = panel.across(x), panel.down(y)
        ring = left - 8, top - 8, left + 8, top + 8
        beside = id(panel), at.mark, round(left / NEAR), round(top / NEAR)
        if at.mark is None or beside in written:
            return (ring,)
        written.add(beside)
        wide, after = width(at.mark), left + 11 + width(at.mark) < panel.left + panel.width
        start = left + 11 if after else left - 11 - wide
        base = min(top + 16, panel.base - 4)
        panel.sheet.write(start, base, at.mark, series.ink)
        return ring, (start, base - LINE + 3, start + wide, base + 3)

    return over


@dataclass(frozen=True, slots=True)
class Plot:
    """What tells one figure over proportions from another.

    ``axes`` are the names of both axes; ``band`` is the band about the curve; ``reference`` are lines to compare with;
    ``point`` picks the operating point's place; ``values`` is what the figure says of each model.
    """

    key: str
    axes: tuple[str, str]
    band: type[RocBand | PrBand | GainBand]
    reference: tuple[Reference, ...]
    point: Callable[[Operating], tuple[float | None, float | None]]
    values: Sequence[str | None]
    title: str
    caption: str
    alt: str


def _draw(context: Context, pairs: Pairs, plot: Plot) -> Drawing:
    """Draw curves over proportions: all models, the reference lines, the operating points."""
    caption = plot.caption + explained(context, plot.band)
    if any(context.operating(series.name) for series, _ in pairs):
        for sentences in functions("card", "markers"):
            caption += "".join(sentences(context.results, context.dataset.name))
    x, y = plot.axes
    frame = Frame(unit_axis(x), unit_axis(y), (unit_axis(x, HALVES), unit_axis(y, HALVES)))
    sheets = draw_curves(
        frame, [ModelCurve(series, *path_of(curve.points)) for series, curve in pairs], plot.reference,
        under=shade(context, plot.band), over=_marks(context, plot))
    values = [f"{series.label} {value}" for (series, _), value in zip(pairs, plot.values, strict=True) if value]
    return drawing(f"d{context.place}-{plot.key}", plot.title, (listed(values), caption, plot.alt), sheets)


@figure_of(Roc, place=20)
def roc(context: Context, pairs: list[tuple[Series, Roc]]) -> Drawing:
    """Draw the ROC curves of all models, with the chance diagonal and the operating points."""

    def say(curve: Roc) -> str:
        area, at = context.estimate(curve.model, "roc_auc"), context.operating(curve.model)
        parts = [f"ROC AUC {area}"] if area else []
        if at and at.sensitivity is not None and at.false_positive_rate is not None:
            parts.append(
                f"at {at.cut} sensitivity {numbers.number(at.sensitivity)} and false positive rate "
                f"{numbers.number(at.false_positive_rate)}"
            )
        return "; ".join(parts) or "curve drawn"

    return _draw(context, pairs, Plot(
        key="roc", axes=("False positive rate (1 − specificity)", "Sensitivity"), band=RocBand,
        reference=(Reference("Chance", (0, 1), (0, 1)),),
        point=lambda at: (at.false_positive_rate, at.sensitivity),
        values=[_named("AUC", context.estimate(series.name, "roc_auc")) or say(curve) for series, curve in pairs],
        title="ROC curve",
        caption="Sensitivity against false positive rate over all thresholds. Marker: threshold in use, with its "
                "value. Dotted diagonal: chance.",
        alt=context.told("ROC curve", pairs, say),
    ))


def _named(name: str, text: str | None) -> str | None:
    return f"{name} {text}" if text else None


@figure_of(Pr, place=30)
def precision_recall(context: Context, pairs: list[tuple[Series, Pr]]) -> Drawing | None:
    """Draw the precision-recall curves, with the prevalence as baseline and the operating points."""
    prevalence = context.dataset.prevalence
    if prevalence is None:
        return None

    def area(model: str) -> str | None:
        average = _named("AP", context.estimate(model, "average_precision"))
        return average or _named("AUC", context.estimate(model, "pr_auc"))

    def say(curve: Pr) -> str:
        at, parts = context.operating(curve.model), [area(curve.model) or ""]
        if at and at.sensitivity is not None:
            precise = "undefined" if at.precision is None else numbers.number(at.precision)
            parts.append(f"at {at.cut} recall {numbers.number(at.sensitivity)} and precision {precise}")
        return "; ".join(filter(None, parts)) or "curve drawn"

    base = numbers.number(prevalence)
    return _draw(context, pairs, Plot(
        key="pr", axes=("Recall (sensitivity)", "Precision"), band=PrBand,
        reference=(Reference(f"Prevalence {base}", (0, 1), (prevalence, prevalence)),),
        point=lambda at: (at.sensitivity, at.precision),
        values=[area(series.name) or say(curve) for series, curve in pairs],
        title="Precision-recall curve",
        caption="Precision against recall over all thresholds. Marker: threshold in use. Dotted line: observed "
                "prevalence, the precision of a random choice.",
        alt=context.told("Precision-recall curve", pairs, say, f", prevalence {base}"),
    ))


@figure_of(Gain, place=50)
def gain(context: Context, pairs: list[tuple[Series, Gain]]) -> Drawing | None:
    """Draw cumulative gain, with the random and the perfect line."""
    prevalence = context.dataset.prevalence
    if prevalence is None:
        return None

    def at_tenth(curve: Gain) -> str:
        return f"{numbers.percent(or_nan(curve.notes.found_in_first_10_percent), 1)} in the first 10%"

    def say(curve: Gain) -> str:
        half = numbers.percent(or_nan(curve.notes.found_in_first_50_percent), 1)
        tested = numbers.percent(or_nan(curve.notes.tested_for_half_of_events), 1)
        return (
            f"of the events, {at_tenth(curve)} and {half} in the first 50% of the ranked rows; half of the "
            f"events in the first {tested}"
        )

    perfect = Reference("Perfect ranking", (0, prevalence, 1), (0, 1, 1), DASHES)
    return _draw(context, pairs, Plot(
        key="gain", axes=("Share of rows tested, highest scores first", "Share of events found"), band=GainBand,
        reference=(perfect, Reference("Random order", (0, 1), (0, 1))),
        point=lambda at: (at.tested, at.sensitivity),
        values=[at_tenth(curve) for _, curve in pairs],
        title="Cumulative gain",
        caption="Share of all events found when rows are taken in order of score, highest first. Marker: threshold "
                "in use.",
        alt=context.told("Cumulative gain", pairs, say),
    ))


@figure_of(Lift, place=60)
def lift(context: Context, pairs: list[tuple[Series, Lift]]) -> Drawing:
    """Draw lift: how many times as many events are found as in random order."""
    caption = (
        "Events found relative to random order when rows are taken in order of score, highest first."
    )
    early = {s.name: numbers.number(or_nan(curve.notes.lift_in_first_10_percent)) for s, curve in pairs}
    alt = context.told("Lift", pairs, lambda curve: f"lift {early[curve.model]} in the first 10% of the ranked rows")
    finding = listed([f"{s.label} lift {early[s.name]} in the first 10%" for s, _ in pairs])
    top = max(1.2, 1.06 * max(height for _, curve in pairs for height in known(curve.points.lift)))
    y = Axis("Lift", 0, top, ticks_between(0, top))
    name = "Share of rows tested, highest scores first"
    frame = Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 200, 110)
    sheets = draw_curves(frame, [ModelCurve(series, *path_of(curve.points)) for series, curve in pairs],
                         [Reference("Random order", (0, 1), (1, 1))])
    return drawing(f"d{context.place}-lift", "Lift", (finding, caption, alt), sheets)
