"""Figures of a model's variants without bins: moving windows and smooth curves, a panel for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.calibration_curves import (
    SmoothCurves,
    along,
    draw_smooth,
    draw_windows,
    reach_of,
    smooth_axes,
    smooth_caption,
    smooth_entries,
    window_caption,
)
from evalpipe.card.figures.context import context_of, listed
from evalpipe.card.figures.panel import grid
from evalpipe.card.figures.reliability import PERFECT, diagonal, finding, near_axis
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.chapters.recalibrate.figures import groups, key_of, series_of_variant, title_of, titles, when
from evalpipe.results.curves.calibration import (
    CalibrationIsotonic,
    CalibrationLogistic,
    CalibrationSpline,
    CalibrationWindow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Results


def curve_drawings(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw the windows and the smooth curves of every recalibrated model of a dataset."""
    context = context_of(results, dataset)
    for model in context.series:
        windows = context.variants(model.name, CalibrationWindow)
        yield from (_windows(context, model, *group) for group in enumerate(groups(windows), 1))
        smooth = _smooth_curves(context, model)
        yield from (_smooth(context, model, *group) for group in enumerate(groups(smooth), 1))


def _windows(context: Context, model: Series, number: int, curves: Mapping[str, CalibrationWindow]) -> Drawing:
    """Draw the moving windows of the original and of variants."""
    where = f"Reliability of {model.label} in moving windows"
    said = {variant: finding(curve, "windows") for variant, curve in curves.items()}
    end, sheet = reach_of(curves.values()), Sheet()
    x, y = (near_axis(name, end, narrow=True) for name in ("Predicted probability", "Share of events"))
    panels = grid(sheet, [(x, y)] * len(curves), titles(curves))
    for drawn, (variant, curve) in zip(panels, curves.items(), strict=True):
        diagonal(drawn)
        draw_windows(drawn, series_of_variant(model, variant), curve)
    sheet.key([PERFECT])
    texts = _texts(context, where, said, window_caption(context, list(curves.values())))
    title = f"{title_of(model, curves)}, moving windows"
    return drawing(key_of(context, model, number, "windows-"), title, texts, [sheet])


def _smooth_curves(context: Context, model: Series) -> dict[str, SmoothCurves]:
    """Return the smooth curves of a model's original and of its variants, by variant; of those that have any."""
    lines = context.variants(model.name, CalibrationLogistic)
    splines = context.variants(model.name, CalibrationSpline)
    steps = context.variants(model.name, CalibrationIsotonic)
    variants = context.variants(model.name, CalibrationWindow)
    curves = {name: SmoothCurves(lines.get(name), splines.get(name), steps.get(name), None) for name in variants}
    return {name: several for name, several in curves.items() if any(several)}


def _smooth(context: Context, model: Series, number: int, curves: Mapping[str, SmoothCurves]) -> Drawing:
    """Draw the smooth curves of the original and of variants."""
    said = {variant: along(several) for variant, several in curves.items()}
    sheet = Sheet()
    axes = smooth_axes(list(curves.values()), narrow=True)
    panels = grid(sheet, [axes] * len(curves), titles(curves))
    for drawn, (variant, several) in zip(panels, curves.items(), strict=True):
        draw_smooth(drawn, series_of_variant(model, variant), several, parts=False)
    sheet.key(smooth_entries(context, series_of_variant(model, ""), next(iter(curves.values()))))
    texts = _texts(context, f"Smooth calibration curves of {model.label}", said,
                   smooth_caption(context, list(curves.values()), parts=False))
    title = f"{title_of(model, curves)}, smooth curves"
    return drawing(key_of(context, model, number, "smooth-"), title, texts, [sheet])


def _texts(context: Context, where: str, said: Mapping[str, str], caption: str) -> tuple[str, str, str]:
    """Return what a figure finds, how to read it, and its alternative text."""
    findings = [f"{variant}: {words}" for variant, words in said.items()]
    alt = f"{where} on {context.dataset.name} {when(said)}. {' '.join(f'{f}.' for f in findings)}"
    return listed(findings), caption, alt
