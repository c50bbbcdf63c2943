"""Figures of ranking: ROC, precision-recall, cumulative gain and lift."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures import canvas
from evalpipe.card.figures.bands import explained, shade
from evalpipe.card.figures.canvas import DOTTED, MUTED, Drawing, KeyEntry, Series
from evalpipe.card.figures.context import Context, column, known, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.chapters import functions
from evalpipe.results.curves.bands import GainBand, PrBand, RocBand
from evalpipe.results.curves.events import Gain, Lift, Pr, Roc

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.card.figures.context import Operating

Pairs = Sequence[tuple[Series, Roc | Pr | Gain]]


def _key(series: Series, text: str | None) -> KeyEntry:
    return KeyEntry(f"{series.short}: {text}" if text else series.short, series.colour, series.dash)


def _mark(axes: Axes, series: Series, x: float, y: float) -> None:
    axes.plot(
        [x], [y], marker=series.marker, markersize=7.5, markerfacecolor="none", markeredgecolor=series.colour,
        markeredgewidth=1.8, clip_on=False, zorder=5, linestyle="none",
    )


def _marks(axes: Axes, context: Context, pairs: Pairs, plot: Plot) -> None:
    """Mark where each model operates, labelled with its threshold; labels that would meet are put below each other."""
    taken: list[tuple[float, float]] = []
    for series, _ in pairs:
        at = context.operating(series.name)
        x, y = (None, None) if at is None else plot.point(at)
        if at is None or x is None or y is None:
            continue
        _mark(axes, series, x, y)
        if at.mark is None:
            continue
        left = x > 0.7  # else the label would leave the panel
        place = x + (-0.03 if left else 0.03), max(y - 0.05, 0.02)
        while any(abs(place[0] - a) < 0.22 and abs(place[1] - b) < 0.05 for a, b in taken):
            place = place[0], place[1] - 0.05
        taken.append(place)
        axes.text(
            *place, at.mark, color=series.colour, fontsize=8, ha="right" if left else "left", va="center", zorder=6,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6},
        )


@dataclass(frozen=True, slots=True)
class Plot:
    """What tells one figure over proportions from another.

    ``axes`` are the names of both axes; ``band`` is the band about the curve; ``reference`` lines have x, y and their
    key; ``point`` picks the operating point's place; ``values`` is what the key says of each model.
    """

    key: str
    axes: tuple[str, str]
    band: type[RocBand | PrBand | GainBand]
    reference: tuple[tuple[list[float], list[float], KeyEntry], ...]
    point: Callable[[Operating], tuple[float | None, float | None]]
    values: Sequence[str | None]
    title: str
    caption: str
    alt: str


def _draw(context: Context, pairs: Pairs, plot: Plot) -> Drawing:
    """Draw curves over proportions: all models, the reference lines, the operating points, the key."""
    key = f"d{context.place}-{plot.key}"
    caption = plot.caption + explained(context, plot.band)
    if any(context.operating(series.name) for series, _ in pairs):
        for sentences in functions("card", "markers"):
            caption += "".join(sentences(context.results, context.dataset.name))
    with canvas.style(key):
        entries = [_key(series, value) for (series, _), value in zip(pairs, plot.values, strict=True)]
        entries += [entry for *_, entry in plot.reference]
        figure, (axes,) = canvas.paper(len(entries))
        canvas.unit_axes(axes, *plot.axes)
        for x, y, entry in plot.reference:
            axes.plot(x, y, color=entry.colour, linestyle=entry.dash, linewidth=1)
        shade(axes, context, plot.band)
        for series, curve in pairs:
            axes.plot(*map(column, curve.points.path), color=series.colour, linestyle=series.dash)
        _marks(axes, context, pairs, plot)
        canvas.add_key(figure, entries)
        return Drawing(key, plot.title, caption, plot.alt, canvas.to_svg(figure, key, plot.alt, caption))


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
        reference=(([0, 1], [0, 1], KeyEntry("Chance", MUTED, DOTTED)),),
        point=lambda at: (at.false_positive_rate, at.sensitivity),
        values=[_named("AUC", context.estimate(series.name, "roc_auc")) for series, _ in pairs],
        title="ROC curve",
        caption="Share of the events predicted as events against share of the non-events predicted as events, over all "
        "thresholds. A marker shows the threshold in use, with its value; the dotted diagonal is chance.",
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
        reference=(([0, 1], [prevalence, prevalence], KeyEntry(f"Prevalence {base}", MUTED, DOTTED)),),
        point=lambda at: (at.sensitivity, at.precision),
        values=[area(series.name) for series, _ in pairs],
        title="Precision-recall curve",
        caption="Share of events among the predicted events against share of the events found. A marker shows the "
        "threshold in use; the dotted line is the observed prevalence, the precision of a random choice.",
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

    perfect = KeyEntry("Perfect ranking", MUTED, (0, (6, 2)))
    return _draw(context, pairs, Plot(
        key="gain", axes=("Share of rows tested, highest scores first", "Share of events found"), band=GainBand,
        reference=(([0, prevalence, 1], [0, 1, 1], perfect), ([0, 1], [0, 1], KeyEntry("Random order", MUTED, DOTTED))),
        point=lambda at: (at.tested, at.sensitivity),
        values=[at_tenth(curve) for _, curve in pairs],
        title="Cumulative gain",
        caption="Share of all events found when rows are taken from the highest score down. A marker shows the "
        "threshold in use.",
        alt=context.told("Cumulative gain", pairs, say),
    ))


@figure_of(Lift, place=60)
def lift(context: Context, pairs: list[tuple[Series, Lift]]) -> Drawing:
    """Draw lift: how many times as many events are found as in random order."""
    from matplotlib.ticker import MaxNLocator

    key = f"d{context.place}-lift"
    caption = (
        "How many times as many events are found as in random order, when rows are taken from the highest score down."
    )
    early = {s.name: numbers.number(or_nan(curve.notes.lift_in_first_10_percent)) for s, curve in pairs}
    alt = context.told("Lift", pairs, lambda curve: f"lift {early[curve.model]} in the first 10% of the ranked rows")
    with canvas.style(key):
        entries = [_key(series, f"{early[series.name]} in the first 10%") for series, _ in pairs]
        figure, (axes,) = canvas.paper(len(entries) + 1)
        canvas.unit_axes(axes, "Share of rows tested, highest scores first", "Lift")
        top = max(height for _, curve in pairs for height in known(curve.points.lift))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.set(ylim=(0, max(top * 1.06, 1.2)))
        axes.plot([0, 1], [1, 1], color=MUTED, linestyle=DOTTED, linewidth=1)
        for series, curve in pairs:
            axes.plot(*map(column, curve.points.path), color=series.colour, linestyle=series.dash)
        canvas.add_key(figure, [*entries, KeyEntry("Random order", MUTED, DOTTED)])
        return Drawing(key, "Lift", caption, alt, canvas.to_svg(figure, key, alt, caption))
