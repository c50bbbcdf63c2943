"""Figures of recalibration: a model before and after side by side, with a panel for each variant.

Reliability in bins comes first, then moving windows and smooth curves.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evalpipe.card.figures.axes import Axis, number_axis, ticks_between
from evalpipe.card.figures.calibration import (
    SmoothCurves,
    draw_smooth,
    draw_windows,
    smooth_axes,
    smooth_caption,
    smooth_finding,
    smooth_in_short,
    smooth_labels,
    window_caption,
    windows_upper_end,
)
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.card.figures.labels import label_lines
from evalpipe.card.figures.panel import Panel, grid
from evalpipe.card.figures.reliability import (
    PERFECT,
    axis_upper_end,
    bin_position,
    bins_off,
    draw_bins,
    draw_diagonal,
    draw_rug,
    interval_caption,
    kind_of,
    missed_bins,
    near_axis,
    rug_caption,
    score_weights,
)
from evalpipe.card.figures.scatter import NEAR_SENTENCE, axis_name, beside_diagonal, short
from evalpipe.card.figures.svg import Clauses, Drawing, Series, Sheet, drawing
from evalpipe.card.wording import capital, variant_name
from evalpipe.results.curves.calibration import (
    CalibrationIsotonic,
    CalibrationLogistic,
    CalibrationSpline,
    CalibrationWindow,
    Histogram,
    Reliability,
    Rug,
)
from evalpipe.results.curves.residuals import ObservedPredictedSmooth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evalpipe.card.figures.context import Context
    from evalpipe.results import Results


C = TypeVar("C")

MOST_PANELS = 6
"""Panels of a figure, that of the original first; more variants continue in a further figure, beside it again."""

FEW = 5
"""Points of a line up to which each is marked."""

MANY = 12
"""Bins of a panel beyond which their marks are smaller."""

STRIP = 22.0
"""Pixels of the spread of the probabilities, at the foot of a panel."""


def drawings(results: Results, dataset: str) -> Iterator[Drawing]:
    """Yield figures of each recalibrated model of a dataset before and after: reliability, or observed by predicted."""
    context = context_of(results, dataset)
    for model in context.series:
        quantile = context.variants(model.name, Reliability, "calibration_quantile")
        uniform = context.variants(model.name, Reliability, "calibration_uniform")
        diagrams = quantile if len(quantile) > 1 else uniform
        if diagrams.keys() - {"original"}:
            yield from (_reliability_figure(context, model, *group) for group in enumerate(with_original(diagrams), 1))
        else:
            smooth = context.variants(model.name, ObservedPredictedSmooth)
            yield from (_observed_against_predicted(context, model, *group)
                        for group in enumerate(with_original(smooth), 1))


def with_original(curves: Mapping[str, C]) -> Iterator[dict[str, C]]:
    """Yield the curves by variant for each figure, the original first in each; none where there is no variant.

    A raw score has no such curve of its own, so its variants stand alone.
    """
    original = [variant for variant in curves if variant == "original"]
    variants, room = [variant for variant in curves if variant != "original"], MOST_PANELS - len(original)
    for start in range(0, len(variants), room):
        yield {variant: curves[variant] for variant in (*original, *variants[start : start + room])}


def series_of_variant(model: Series, variant: str) -> Series:
    """Return the ink and marker of a variant: those of its model, grey for the original."""
    return Series(variant, variant_name(variant), "muted" if variant == "original" else model.ink, model.marker)


def panel_titles(curves: Iterable[str]) -> list[tuple[str, str]]:
    """Return the title of the panel of each variant, with its ink."""
    return [(variant_name(variant), "ink") for variant in curves]


def _reliability_figure(context: Context, model: Series, number: int, curves: Mapping[str, Reliability]) -> Drawing:
    """Return a figure of the reliability of a model and its variants in bins, ``number`` counted from 1."""
    first = next(iter(curves.values()))
    kind = kind_of(first)
    spreads = context.variants(model.name, Histogram)
    rugs = context.variants(model.name, Rug)
    has_spread = not spreads.keys().isdisjoint(curves) and not rugs
    beneath = " Below: distribution of the predicted probabilities." if has_spread else ""
    caption = (
        f"Reliability, {kind}: observed share of events in each bin against {bin_position(first)}. Dotted "
        f"diagonal: perfect calibration.{interval_caption(context, list(curves.values()))}"
        f"{rug_caption(context, rugs.values())}{beneath}"
    )
    findings = " ".join(f"{variant_name(variant)}: {missed_bins(curve)}." for variant, curve in curves.items())
    alt = f"Reliability of {model.label} on {context.dataset.name} {before_or_after(curves)}, {kind}. {findings}"

    drawn_columns = [values for c in curves.values()
                     for values in (c.points.position, c.points.upper, c.points.event_rate)]
    end = axis_upper_end(value for values in drawn_columns for value in column(values))
    axes = (near_axis("Predicted probability", end, narrow=True), near_axis("Share of events", end, narrow=True))
    sheet = Sheet()
    panels = grid(sheet, [axes] * len(curves), panel_titles(curves))
    for plot, (variant, curve) in zip(panels, curves.items(), strict=True):
        draw_diagonal(plot)
        if has_spread and variant in spreads:
            _draw_score_spread(plot, spreads[variant])
        draw_rug(plot, series_of_variant(model, variant), rugs.get(variant))
        draw_bins(plot, series_of_variant(model, variant), curve, 3.5 if len(curve.points.rows) <= MANY else 2.8)
    sentence = variants_finding(curves, bins_off, missed_bins, partial(bins_off, what=""))
    return drawing(key_of(context, model, number), title_of(model, curves), (sentence, caption, alt), [sheet])


def key_of(context: Context, model: Series, number: int, curve: str = "") -> str:
    """Return the key of the figure of this ``number`` of a model, counted from 1, of a ``curve`` other than bins."""
    return f"d{context.place}-recalibration-{curve}{context.series.index(model) + 1}-{number}"


def title_of(model: Series, curves: Iterable[str]) -> str:
    """Return the title of a figure of a model and its variants; of a raw score, of its variants alone."""
    return f"{model.label} {before_or_after(curves)}"


def before_or_after(curves: Iterable[str]) -> str:
    """Return the words on whether a figure shows a model before and after recalibration, or after it alone."""
    return "before and after recalibration" if "original" in curves else "after recalibration"


def _draw_score_spread(drawn: Panel, spread: Histogram) -> None:
    """Draw the histogram of the probabilities at the foot of a panel."""
    edges, heights = score_weights(spread)
    y = Axis("", 0, max(heights) or 1)
    foot = Panel(drawn.sheet, drawn.x, y, drawn.left, drawn.base - STRIP, drawn.width, STRIP)
    visible = [(left, height) for left, height in zip(edges, heights, strict=False) if left < drawn.x.high]
    end = min(edges[len(visible)], drawn.x.high)
    foot.bars([*(left for left, _ in visible), end], [height for _, height in visible], "pale")


def _observed_against_predicted(
    context: Context, model: Series, number: int, curves: Mapping[str, ObservedPredictedSmooth],
) -> Drawing:
    """Return a figure of smooth lines of observed against predicted values of a model and its variants."""
    caption = (
        "Smooth lines of observed against predicted values. Dotted diagonal: observed = predicted. Below it "
        f"predictions are too high, above it too low.{NEAR_SENTENCE}"
    )
    gaps = " ".join(f"{variant_name(variant)}: {_widest_gap(curve)}." for variant, curve in curves.items())
    where = f"{model.label} on {context.dataset.name}"
    alt = f"Observed against predicted for {where} before and after recalibration. {gaps}"
    x, y = (_shared_axis(curves.values(), axis_name(context, name)) for name in ("Predicted", "Observed"))
    sheet = Sheet()
    panels = grid(sheet, [(x, y)] * len(curves), panel_titles(curves))
    for plot, (variant, curve) in zip(panels, curves.items(), strict=True):
        draw_equal_diagonal(plot)
        predicted, observed = map(column, curve.points.path)
        series = series_of_variant(model, variant)
        plot.line(predicted, observed, series.ink, name=series.label)
        if len(predicted) < FEW:
            plot.marks(predicted, observed, series.ink, series.marker)
    sentence = variants_finding(curves, beside_diagonal, _widest_gap)
    return drawing(key_of(context, model, number), title_of(model, curves), (sentence, caption, alt), [sheet])


def draw_equal_diagonal(drawn: Panel) -> None:
    """Draw the diagonal of a panel whose axes are alike."""
    ends = drawn.x.low, drawn.x.high
    drawn.line(ends, ends, PERFECT.ink, kind=PERFECT.kind, dash=PERFECT.dash)


def _shared_axis(curves: Iterable[ObservedPredictedSmooth], name: str) -> Axis:
    """Return the axis that holds the values of all curves, on both sides."""
    axis = number_axis(name, [value for curve in curves for values in curve.points.path for value in known(values)])
    return Axis(name, axis.low, axis.high, ticks_between(axis.low, axis.high, 2))


def _widest_gap(curve: ObservedPredictedSmooth) -> str:
    """Return the words on where a line is furthest from the diagonal."""
    rows = [(x, y) for x, y in zip(*curve.points.path, strict=True) if x is not None and y is not None]
    x, y = max(rows, key=lambda row: abs(row[1] - row[0]))
    return f"the line is furthest from the diagonal where {short(x)} is predicted, at {short(y)}"


def curve_drawings(results: Results, dataset: str) -> Iterator[Drawing]:
    """Yield figures of moving windows and smooth curves of each recalibrated model of a dataset."""
    context = context_of(results, dataset)
    for model in context.series:
        windows = context.variants(model.name, CalibrationWindow)
        yield from (_windows_figure(context, model, *group) for group in enumerate(with_original(windows), 1))
        smooth = _smooth_curves_by_variant(context, model)
        yield from (_smooth_figure(context, model, *group) for group in enumerate(with_original(smooth), 1))


def _windows_figure(context: Context, model: Series, number: int, curves: Mapping[str, CalibrationWindow]) -> Drawing:
    """Return a figure of the reliability of a model and its variants in moving windows."""
    where = f"Reliability of {model.label} in moving windows"
    findings = {variant: missed_bins(curve, "windows") for variant, curve in curves.items()}
    finding = variants_finding(curves, partial(bins_off, what="windows"), partial(missed_bins, what="windows"),
                               partial(bins_off, what=""))
    end, sheet = windows_upper_end(curves.values()), Sheet()
    x, y = (near_axis(name, end, narrow=True) for name in ("Predicted probability", "Share of events"))
    panels = grid(sheet, [(x, y)] * len(curves), panel_titles(curves))
    for drawn, (variant, curve) in zip(panels, curves.items(), strict=True):
        draw_diagonal(drawn)
        draw_windows(drawn, series_of_variant(model, variant), curve)
    texts = _figure_texts(context, where, (finding, findings), window_caption(context, list(curves.values())))
    title = f"{title_of(model, curves)}, moving windows"
    return drawing(key_of(context, model, number, "windows-"), title, texts, [sheet])


def _smooth_curves_by_variant(context: Context, model: Series) -> dict[str, SmoothCurves]:
    """Return the smooth curves of a model and its variants, by variant; without those that have none."""
    lines = context.variants(model.name, CalibrationLogistic)
    splines = context.variants(model.name, CalibrationSpline)
    steps = context.variants(model.name, CalibrationIsotonic)
    variants = context.variants(model.name, CalibrationWindow)
    curves = {name: SmoothCurves(lines.get(name), splines.get(name), steps.get(name), None) for name in variants}
    return {name: several for name, several in curves.items() if any(several)}


def _smooth_figure(context: Context, model: Series, number: int, curves: Mapping[str, SmoothCurves]) -> Drawing:
    """Return a figure of the smooth calibration curves of a model and its variants."""
    findings = {variant: smooth_finding(several) for variant, several in curves.items()}
    sheet = Sheet()
    axes = smooth_axes(list(curves.values()), narrow=True)
    panels = grid(sheet, [axes] * len(curves), panel_titles(curves))
    for drawn, (variant, several) in zip(panels, curves.items(), strict=True):
        draw_smooth(drawn, series_of_variant(model, variant), several, parts=False)
    first = smooth_labels(context, series_of_variant(model, next(iter(curves))), next(iter(curves.values())))
    sheet.key(label_lines(panels[0], [], first))
    finding = variants_finding(curves, smooth_in_short, smooth_finding)
    texts = _figure_texts(context, f"Smooth calibration curves of {model.label}", (finding, findings),
                          smooth_caption(context, list(curves.values()), parts=False))
    title = f"{title_of(model, curves)}, smooth curves"
    return drawing(key_of(context, model, number, "smooth-"), title, texts, [sheet])


def variants_finding(
    curves: Mapping[str, C], say: Callable[[C], str], at_length: Callable[[C], str],
    again: Callable[[C], str] | None = None,
) -> Clauses:
    """Return the finding of a figure of variants: what ``say`` returns for each, of all but the first ``again``."""
    words = [say, *[again or say] * (len(curves) - 1)]
    short = [f"{variant_name(variant)}: {words[k](curve)}" for k, (variant, curve) in enumerate(curves.items())]
    long = [f"{variant_name(variant)}: {at_length(curve)}" for variant, curve in curves.items()]
    return Clauses((capital(short[0]), *short[1:]), "variant", tuple(long))


def _figure_texts(
    context: Context, where: str, findings_of_both: tuple[Clauses, Mapping[str, str]], caption: str
) -> tuple[Clauses, str, str]:
    """Return three texts of a figure: its finding, the caption, and the alternative text of findings by variant."""
    finding, findings = findings_of_both
    sentences = [f"{variant_name(variant)}: {words}" for variant, words in findings.items()]
    alt = f"{where} on {context.dataset.name} {before_or_after(findings)}. {' '.join(f'{s}.' for s in sentences)}"
    return finding, caption, alt
