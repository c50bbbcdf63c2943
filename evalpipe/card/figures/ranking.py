"""Figures of ranking: ROC, precision-recall, cumulative gain and lift, with bands about the curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import HALVES, LINE, Axis, ticks_between, unit_axis, width
from evalpipe.card.figures.context import Context, column, figure_of, known, or_nan, path_of
from evalpipe.card.figures.curves import Band, CurveLayers, Frame, ModelCurve, Reference, draw_curves, shared_sentence
from evalpipe.card.figures.labels import (
    GROUPED,
    MARKED,
    Coordinates,
    combined_layer,
    gain_group_layer,
    marked_points,
    marked_rates,
    marks_of,
    operating_point_layer,
)
from evalpipe.card.figures.panel import DASHES, DOTS
from evalpipe.card.figures.svg import Clauses, drawing
from evalpipe.chapters import functions
from evalpipe.results.curves.calibration import GainBand, PrBand, RocBand
from evalpipe.results.curves.events import Gain, Lift, Pr, Roc
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.card.figures.cells import Box
    from evalpipe.card.figures.labels import Over
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series


def bands_of(context: Context, kind: type[RocBand | PrBand | GainBand] | None) -> dict[str, Band]:
    """Return the bands of this ``kind`` by model, with those for the curve as a whole."""
    points_by_model = {series.name: band.points for series, band in context.curves(kind)} if kind else {}
    return {name: Band(column(points.path[0]), column(points.lower), column(points.upper),
                       (column(points.simultaneous_lower), column(points.simultaneous_upper)))
            for name, points in points_by_model.items()}


def band_caption(context: Context, kind: type[RocBand | PrBand | GainBand]) -> str:
    """Return the sentences of a caption on the bands; empty where no model has one."""
    if not context.curves(kind):
        return ""
    return f" Dark: {context.level} interval at each point. Light: {context.level} band for the whole curve."


if TYPE_CHECKING:
    Pairs = Sequence[tuple[Series, Roc | Pr | Gain | Lift]]

ON_ROC = Coordinates("false_positive_rate", "sensitivity", ("false positive rate", "sensitivity"), (1, 1))
ON_PR = Coordinates("sensitivity", "precision", ("recall", "precision"), (1, -1), falling=True)
ON_GAIN = Coordinates("tested", "sensitivity", ("share of rows", "share of events"), (1, 1))
ON_LIFT = Coordinates("tested", "lift", ("share of rows", "lift"), (1, -1), falling=True)
HALF = 0.5
"""The share of the events to which the guide of cumulative gain points."""


@dataclass(frozen=True, slots=True)
class Plot:
    """What tells one figure of ranking from another.

    ``frame`` are its axes; ``band`` is the band about the curve, where there is one; ``reference`` are lines to compare
    with; ``at`` says where thresholds lie; ``values`` is what the figure says of each model, ``in_short`` the same in
    fewer words; ``groups`` draws those of the gain table.
    """

    key: str
    frame: Frame
    band: type[RocBand | PrBand | GainBand] | None
    reference: tuple[Reference, ...]
    at: Coordinates
    values: Sequence[str | None]
    title: str
    caption: str
    alt: str
    behind: Callable[[Panel], None] | None = None
    alone: Callable[[Panel, Series], Sequence[Box]] | None = None
    over: Over | None = None
    groups: Over | None = None
    in_short: Sequence[str | None] = ()


def _unit_frame(x: str, y: str) -> Frame:
    """Return a frame for curves whose axes both go from 0 to 1, with these names."""
    return Frame(unit_axis(x), unit_axis(y), (unit_axis(x, HALVES), unit_axis(y, HALVES)))


def _draw_plot(context: Context, pairs: Pairs, plot: Plot) -> Drawing:
    """Draw the curves of all models with reference lines, bands, operating points and marked thresholds."""
    marked = bool(marks_of(context))
    caption = plot.caption + (GROUPED if plot.groups else "") + (MARKED if marked else "")
    caption += band_caption(context, plot.band) if plot.band else ""
    if any(context.operating(series.name) for series, _ in pairs):
        for sentences in functions("card", "markers"):
            caption += "".join(sentences(context.results, context.dataset.name))
    layers_over = [operating_point_layer(context, plot.at), marked_points(context, plot.at), plot.over, plot.groups]
    overs = [over for over in layers_over if over is not None]
    layers = CurveLayers(plot.behind, plot.alone, bands_of(context, plot.band), combined_layer(*overs))
    caption += shared_sentence([series for series, _ in pairs], layers, apart=marked)
    curves = [ModelCurve(series, *path_of(curve.points)) for series, curve in pairs]
    sheets = draw_curves(plot.frame, curves, plot.reference, layers, apart=marked)
    values, in_short = ([f"{series.label} {text}" for (series, _), text in zip(pairs, texts, strict=True) if text]
                        for texts in (plot.values, plot.in_short or plot.values))
    texts = Clauses(tuple(in_short), at_length=tuple(values)), caption, plot.alt
    return drawing(f"d{context.place}-{plot.key}", plot.title, texts, sheets)


@figure_of(Roc, part="results", place=20)
def roc(context: Context, pairs: list[tuple[Series, Roc]]) -> Drawing:
    """Draw the ROC curves of all models, with the chance diagonal and the operating points."""

    def say(curve: Roc) -> str:
        """Return the area, the Gini coefficient and the operating point of a curve in words."""
        area, at = context.estimate(curve.model, "roc_auc"), context.operating(curve.model)
        parts = [f"ROC AUC {area}" if area else None, _after_name("Gini", _gini_text(context, curve.model))]
        if at and at.sensitivity is not None and at.false_positive_rate is not None:
            parts.append(
                f"at {at.cut} sensitivity {numbers.number(at.sensitivity)} and false positive rate "
                f"{numbers.number(at.false_positive_rate)}"
            )
        parts.append(marked_rates(marks_of(context).get(curve.model), ON_ROC))
        return "; ".join(filter(None, parts)) or "curve drawn"

    def value(series: Series, curve: Roc) -> str:
        """Return the area and the Gini coefficient as text, or what ``say`` returns where the run has neither."""
        area = _after_name("AUC", context.estimate(series.name, "roc_auc"))
        return ", ".join(filter(None, (area, _after_name("Gini", _gini_text(context, series.name))))) or say(curve)

    shaded = len(pairs) == 1 or bool(marks_of(context))
    return _draw_plot(context, pairs, Plot(
        key="roc", frame=_unit_frame("False positive rate (1 − specificity)", "Sensitivity"), band=RocBand,
        reference=(Reference("Chance", (0, 1), (0, 1)),), at=ON_ROC,
        values=[value(series, curve) for series, curve in pairs],
        title="ROC curve",
        caption="Sensitivity against false positive rate over all thresholds. Marker: threshold in use, with its "
                "value where there is room. Dotted diagonal: chance." + (
                    " Shaded between the curve and the diagonal: half the Gini coefficient." if shaded else ""),
        alt=context.alt_text("ROC curve", pairs, say), alone=_area_layer(context, pairs),
    ))


def _gini_text(context: Context, model: str) -> str | None:
    """Return the Gini coefficient of a model as text: its estimate, or the note of its marked thresholds, if any."""
    marks = marks_of(context).get(model)
    noted = None if marks is None or marks.notes.gini is None else numbers.number(marks.notes.gini)
    return context.estimate(model, "gini") or noted


def _area_layer(context: Context, pairs: list[tuple[Series, Roc]]) -> Callable[[Panel, Series], Sequence[Box]]:
    """Return a function that shades the area between a model's ROC curve and the diagonal, and writes AUC and Gini."""
    curves = {series.name: curve.points for series, curve in pairs}

    def alone(panel: Panel, series: Series) -> Sequence[Box]:
        """Shade the area under a curve that has its panel alone; return the box of the text in the corner."""
        across, up = path_of(curves[series.name])
        panel.band(across, across, up, series.ink, "faint")
        gini = _gini_text(context, series.name)
        lines = [_after_name("AUC", context.value(series.name, "roc_auc")),
                 _after_name("Gini", gini and gini.split(" ")[0])]
        texts, right = [text for text in lines if text], panel.left + panel.width - 6
        for line_index, text in enumerate(reversed(texts)):
            panel.sheet.write(right, panel.base - 8 - LINE * line_index, text, series.ink, "end")
        text_width = max(map(width, texts), default=0.0)
        return ((right - text_width, panel.base - 8 - LINE * len(texts), right, panel.base),) if texts else ()

    return alone


def _after_name(name: str, text: str | None) -> str | None:
    """Return a text after a name, such as "AUC 0.8"; None without a text."""
    return f"{name} {text}" if text else None


@figure_of(Pr, part="results", place=30)
def precision_recall(context: Context, pairs: list[tuple[Series, Pr]]) -> Drawing | None:
    """Draw the precision-recall curves, with the prevalence as baseline and the operating points."""
    prevalence = context.dataset.prevalence
    if prevalence is None:
        return None

    def area(model: str) -> str | None:
        """Return the average precision of a model as text, or else the area under its curve, if the run has any."""
        average = _after_name("AP", context.estimate(model, "average_precision"))
        return average or _after_name("AUC", context.estimate(model, "pr_auc"))

    def say(curve: Pr) -> str:
        """Return the area and the operating point of a curve in words."""
        at, parts = context.operating(curve.model), [area(curve.model) or ""]
        if at and at.sensitivity is not None:
            precise = "undefined" if at.precision is None else numbers.number(at.precision)
            parts.append(f"at {at.cut} recall {numbers.number(at.sensitivity)} and precision {precise}")
        parts.append(marked_rates(marks_of(context).get(curve.model), ON_PR))
        return "; ".join(filter(None, parts)) or "curve drawn"

    def point(curve: Pr) -> str:
        """Return recall and precision at the threshold in use in a few words."""
        at = context.operating(curve.model)
        rates = [f"{name} {numbers.number(rate)}" for name, rate in (
            ("recall", at.sensitivity), ("precision", at.precision)) if rate is not None] if at else []
        return ", ".join(rates) or say(curve)

    base = numbers.number(prevalence)
    return _draw_plot(context, pairs, Plot(
        key="pr", frame=_unit_frame("Recall (sensitivity)", "Precision"), band=PrBand,
        reference=(Reference(f"Prevalence {base}", (0, 1), (prevalence, prevalence)),),
        at=ON_PR,
        values=[area(series.name) or say(curve) for series, curve in pairs],
        in_short=[area(series.name) or point(curve) for series, curve in pairs],
        title="Precision-recall curve",
        caption="Precision against recall over all thresholds. Marker: threshold in use. Dotted line: observed "
                "prevalence, the precision of a random choice.",
        alt=context.alt_text("Precision-recall curve", pairs, say, f", prevalence {base}"),
    ))


@figure_of(Gain, part="appendix", place=50)
def gain(context: Context, pairs: list[tuple[Series, Gain]]) -> Drawing | None:
    """Draw cumulative gain between random and perfect order, with the rows that hold half of the events."""
    prevalence = context.dataset.prevalence
    if prevalence is None:
        return None

    def tenth(curve: Gain) -> str:
        """Return in words the share of events in the first 10% of the ranked rows."""
        return f"{numbers.percent(or_nan(curve.notes.found_in_first_10_percent), 1)} in the first 10%"

    def half(curve: Gain) -> str:
        """Return in words the share of the ranked rows that hold half of the events."""
        return f"half of the events are in the first {_share_for_half(curve)}"

    def say(curve: Gain) -> str:
        """Return in words the shares of the events in the first rows, and at marked thresholds."""
        share = numbers.percent(or_nan(curve.notes.found_in_first_50_percent), 1)
        early_shares = f"of the events, {tenth(curve)} and {share} in the first 50% of the ranked rows; {half(curve)}"
        return "; ".join(filter(None, (early_shares, marked_rates(marks_of(context).get(curve.model), ON_GAIN))))

    perfect = Reference("Perfect ranking", (0, prevalence, 1), (0, 1, 1), DASHES)
    return _draw_plot(context, pairs, Plot(key="gain", frame=_unit_frame("Share of rows tested, highest scores first",
                                                                         "Share of events found"), band=GainBand,
                                           reference=(perfect, Reference("Random order", (0, 1), (0, 1))), at=ON_GAIN,
                                           values=[f"has half of the events in the first {_share_for_half(curve)} of "
                                                   f"the rows, and {tenth(curve)}" for _, curve in pairs],
                                           in_short=[f"in the first {_share_for_half(curve)}" if k else
                                                     f"has half of the events in the first {_share_for_half(curve)} "
                                                     "of rows" for k, (_, curve) in enumerate(pairs)],
                                           title="Cumulative gain", caption="Share of all events found when rows are "
                                           "taken in order of score, highest first. Marker: threshold in use. Shaded: "
                                           "between random and perfect order. Dotted guide: the rows with half of the "
                                           "events.", alt=context.alt_text("Cumulative gain", pairs, say),
                                           behind=lambda panel: panel.band(perfect.x, perfect.x, perfect.y, "pale",
                                                                           "faint"), over=_half_layer(pairs),
                                           groups=gain_group_layer(context, "cumulative_captured")))


def _share_for_half(curve: Gain) -> str:
    """Return the share of the rows, highest scores first, that have half of the events, in per cent."""
    return numbers.percent(or_nan(curve.notes.tested_for_half_of_events), 1)


def _half_layer(pairs: list[tuple[Series, Gain]]) -> Over:
    """Return a layer of a figure: a function that draws the guide to the share of rows with half of the events."""
    shares = {series.name: (curve.notes.tested_for_half_of_events, _share_for_half(curve)) for series, curve in pairs}

    def over(panel: Panel, series: Series, occupied: Sequence[Box]) -> Sequence[Box]:
        """Draw the guide, and the share where it is free; return the boxes that both take."""
        share, text = shares[series.name]
        if share is None:
            return ()
        panel.line((0, share, share), (HALF, HALF, 0), series.ink, kind="thin", dash=DOTS)
        left, text_width = panel.across(share) + 4, width(text)
        box = left, panel.base - LINE - 2, left + text_width, panel.base
        x_of_share, middle = panel.across(share), panel.down(HALF)
        guide = (panel.left, middle - 2, x_of_share, middle + 2), (x_of_share - 2, middle, x_of_share + 2, panel.base)
        overlapping = [other for other in occupied if other[0] < box[2] and box[0] < other[2] and other[3] > box[1]]
        if overlapping or box[2] > panel.left + panel.width:
            return guide
        panel.sheet.write(left, panel.base - 6, text, series.ink)
        return *guide, box

    return over


@figure_of(Lift, part="appendix", place=60)
def lift(context: Context, pairs: list[tuple[Series, Lift]]) -> Drawing:
    """Draw lift: how many times as many events are found as in random order."""
    early = {s.name: numbers.number(or_nan(curve.notes.lift_in_first_10_percent)) for s, curve in pairs}

    def say(curve: Lift) -> str:
        """Return in words the lift of the first tenth, at the threshold in use and at marked thresholds."""
        point, first = context.operating(curve.model), f"lift {early[curve.model]} in the first 10% of the ranked rows"
        used = None if point is None or point.lift is None else f"at {point.cut} lift {numbers.number(point.lift)}"
        return "; ".join(filter(None, (first, used, marked_rates(marks_of(context).get(curve.model), ON_LIFT))))

    top = max(1.2, 1.06 * max(height for _, curve in pairs for height in known(curve.points.lift)))
    y, name = Axis("Lift", 0, top, ticks_between(0, top)), "Share of rows tested, highest scores first"
    return _draw_plot(context, pairs, Plot(
        key="lift", frame=Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 200, 110), band=None,
        reference=(Reference("Random order", (0, 1), (1, 1)),), at=ON_LIFT,
        values=[f"lift {early[series.name]} in the first 10%" for series, _ in pairs],
        in_short=[early[series.name] if k else f"lift {early[series.name]} in the first 10%"
                  for k, (series, _) in enumerate(pairs)],
        title="Lift",
        caption="Events found relative to random order when rows are taken in order of score, highest first. Marker: "
                "threshold in use.",
        alt=context.alt_text("Lift", pairs, say), groups=gain_group_layer(context, "cumulative_lift"),
    ))
