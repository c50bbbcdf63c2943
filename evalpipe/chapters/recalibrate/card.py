"""What the card says of recalibration: what was fitted on what, each model before and after, and whether it gains.

Its figures set a model beside its variants, a panel each: reliability in bins, then moving windows and smooth curves.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evalpipe.calibration import registry
from evalpipe.card import wording
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
    kind_of_bins,
    missed_bins,
    near_axis,
    rug_caption,
    score_weights,
)
from evalpipe.card.figures.scatter import NEAR_SENTENCE, axis_name, distance_from_diagonal, short
from evalpipe.card.figures.svg import Clauses, Drawing, Series, Sheet, drawing
from evalpipe.card.method import RECALIBRATION, Procedure
from evalpipe.card.page import (
    Aside,
    Code,
    Column,
    Facts,
    Figures,
    Group,
    Heading,
    Link,
    Number,
    Preformatted,
    Row,
    Section,
    Table,
    Text,
)
from evalpipe.card.tables import key_measures, row_anchor, same_rows_sentences, shown, with_intervals, with_limits
from evalpipe.card.wording import capital, names_of, variant_name
from evalpipe.chapters.compare.card import (
    COLUMNS,
    is_recalibrated,
    margin_of,
    measured,
    notes,
    sentences_on_corrections,
    test_name,
    verdict_of,
)
from evalpipe.chapters.recalibrate.card_verdict import SHIFTED, conclusion, has_rank_score
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
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.page import Block, Piece
    from evalpipe.results import Applied, Comparison, Estimate, ModelSummary, Recalibration, Results


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
    """Yield the curves of each figure by variant: the original first, then as many variants as fit.

    Nothing where there is no variant. A raw score has no such curve, so its variants stand alone.
    """
    original = [variant for variant in curves if variant == "original"]
    variants, room = [variant for variant in curves if variant != "original"], MOST_PANELS - len(original)
    for start in range(0, len(variants), room):
        yield {variant: curves[variant] for variant in (*original, *variants[start : start + room])}


def series_of_variant(model: Series, variant: str) -> Series:
    """Return the ink and marker of a variant: those of its model, grey for the original."""
    return Series(variant, variant_name(variant), "muted" if variant == "original" else model.ink, model.marker)


def panel_titles(curves: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs (title, colour) for the panels of variants."""
    return [(variant_name(variant), "ink") for variant in curves]


def _reliability_figure(context: Context, model: Series, number: int, curves: Mapping[str, Reliability]) -> Drawing:
    """Return a figure of the reliability of a model and its variants in bins, ``number`` counted from 1."""
    first = next(iter(curves.values()))
    kind = kind_of_bins(first)
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
    alt = f"Reliability of {model.label} on {context.dataset.name} {before_after_words(curves)}, {kind}. {findings}"

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
    return drawing(figure_id(context, model, number), figure_title(model, curves), (sentence, caption, alt), [sheet])


def figure_id(context: Context, model: Series, number: int, curve: str = "") -> str:
    """Return the id of figure ``number`` of a model, from 1; ``curve`` is a prefix such as "smooth-", if any."""
    return f"d{context.place}-recalibration-{curve}{context.series.index(model) + 1}-{number}"


def figure_title(model: Series, curves: Iterable[str]) -> str:
    """Return "Forest before and after recalibration", or "after" alone where the original has no curve."""
    return f"{model.label} {before_after_words(curves)}"


def before_after_words(curves: Iterable[str]) -> str:
    """Return "before and after recalibration", or "after recalibration" where no curve is of the original."""
    return "before and after recalibration" if "original" in curves else "after recalibration"


def _draw_score_spread(drawn: Panel, spread: Histogram) -> None:
    """Draw the histogram of the probabilities at the foot of a panel."""
    edges, heights = score_weights(spread)
    y = Axis("", 0, max(heights) or 1)
    foot = Panel(drawn.x, y, drawn.left, drawn.base - STRIP, drawn.width, STRIP, sheet=drawn.sheet)
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
    gaps = " ".join(f"{variant_name(variant)}: {_furthest_from_diagonal(curve)}." for variant, curve in curves.items())
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
    sentence = variants_finding(curves, distance_from_diagonal, _furthest_from_diagonal)
    return drawing(figure_id(context, model, number), figure_title(model, curves), (sentence, caption, alt), [sheet])


def draw_equal_diagonal(drawn: Panel) -> None:
    """Draw the diagonal of a panel whose axes are alike."""
    ends = drawn.x.low, drawn.x.high
    drawn.line(ends, ends, PERFECT.ink, kind=PERFECT.kind, dash=PERFECT.dash)


def _shared_axis(curves: Iterable[ObservedPredictedSmooth], name: str) -> Axis:
    """Return an axis that spans both the predicted and the observed values of all curves."""
    axis = number_axis(name, [value for curve in curves for values in curve.points.path for value in known(values)])
    return Axis(name, axis.low, axis.high, ticks_between(axis.low, axis.high, 2))


def _furthest_from_diagonal(curve: ObservedPredictedSmooth) -> str:
    """Return words on where a line is furthest from the diagonal."""
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
    title = f"{figure_title(model, curves)}, moving windows"
    return drawing(figure_id(context, model, number, "windows-"), title, texts, [sheet])


def _smooth_curves_by_variant(context: Context, model: Series) -> dict[str, SmoothCurves]:
    """Return the logistic, spline and isotonic calibration curves of a model, by variant that has any."""
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
    title = f"{figure_title(model, curves)}, smooth curves"
    return drawing(figure_id(context, model, number, "smooth-"), title, texts, [sheet])


def variants_finding(
    curves: Mapping[str, C], say: Callable[[C], str], at_length: Callable[[C], str],
    again: Callable[[C], str] | None = None,
) -> Clauses:
    """Return the finding of a figure of several variants, a short and a long clause for each.

    Functions from a curve to words: ``say`` gives the short clause, ``again`` that of all variants but the first,
    if it differs, and ``at_length`` the long one.
    """
    words = [say, *[again or say] * (len(curves) - 1)]
    short = [f"{variant_name(variant)}: {words[k](curve)}" for k, (variant, curve) in enumerate(curves.items())]
    long = [f"{variant_name(variant)}: {at_length(curve)}" for variant, curve in curves.items()]
    return Clauses((capital(short[0]), *short[1:]), "variant", tuple(long))


def _figure_texts(
    context: Context, where: str, findings_of_both: tuple[Clauses, Mapping[str, str]], caption: str
) -> tuple[Clauses, str, str]:
    """Return three texts of a figure: its finding, the caption, and the alternative text.

    ``findings_of_both`` are the finding as clauses, and its words by variant, from which the alternative text is
    made.
    """
    finding, findings = findings_of_both
    sentences = [f"{variant_name(variant)}: {words}" for variant, words in findings.items()]
    alt = f"{where} on {context.dataset.name} {before_after_words(findings)}. {' '.join(f'{s}.' for s in sentences)}"
    return finding, caption, alt


MEASURES_ABREAST = 6
"""Key measures side by side before and after; more are left to the results."""

MOST_PARAMETERS = 4
"""Parameters of a recalibrator that are shown; more are left to the results."""

FITTED_APART = Procedure(
    "Fit",
    "A recalibrator is a function that maps predictions to recalibrated predictions, learnt from rows with known "
    "outcomes. Each was fitted on a dataset kept for this purpose and applied unchanged to the evaluated rows. Where "
    "a method takes logarithms, probabilities of 0 and 1 are first moved slightly inwards; these rows are counted as "
    "clipped.",
    heading=RECALIBRATION,
)
CROSS_FITTED = Procedure(
    "Fit",
    "A recalibrator is a function that maps predictions to recalibrated predictions, learnt from rows with known "
    "outcomes. The evaluated rows were split at random into folds, with the rows of a cluster together; each fold "
    "was recalibrated by a fit on all others. The measures pool the folds, so they judge the method and not one fit; "
    "the parameters shown are of a fit on all rows. Measures of ranking rank each row by its place among all rows "
    "after the fit of its own fold: a map that rises everywhere leaves them as they are. Where a method takes "
    "logarithms, probabilities of 0 and 1 are first moved slightly inwards; these rows are counted as clipped.",
    "Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions. Journal of the Royal "
    "Statistical Society, Series B 36(2), 111–133. Airola, A. et al. (2011). An experimental comparison of "
    "cross-validation techniques for estimating the area under the ROC curve. Computational Statistics & Data "
    "Analysis 55(4), 1828–1844.",
    RECALIBRATION,
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the card's sections on recalibration of each dataset: its gain, all differences, what was fitted."""
    judged_datasets = {applied.dataset for record in results.recalibration for applied in record.applied}
    for number, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        if dataset in judged_datasets:
            title = f"Recalibration on {dataset}" if len(judged_datasets) > 1 else "Recalibration"
            yield Section(f"recalibration-{number}", title, tuple(_gain_blocks(results, dataset, number)),
                          part="calibration")
            if _has_differences(results, dataset):
                models = {record.model for record, _ in _applied_on(results, dataset)}
                blocks = [block for model in results.models if model.name in models
                          for block in (Heading(model.label), *_difference_blocks(results, dataset, model))]
                if results.spec.get("calibration") is not None:
                    blocks.append(Figures(partial(curve_drawings, results, dataset)))
                yield Section(f"recalibration-differences-{number}",
                              title.replace("Recalibration", "Differences by recalibration"), tuple(blocks),
                              part="appendix")
            yield Section(f"fitted-{number}", title.replace("Recalibration", "Fitted recalibrators"),
                          tuple(_fit_blocks(results, dataset)), part="appendix")


def _gain_blocks(results: Results, dataset: str, place: int) -> Iterator[Block]:
    """Yield what recalibration gains on a dataset: conclusions, figures, and measures before and after.

    ``place`` is the number of the dataset, in the anchors that it links to.
    """
    records = [record for record, _ in _applied_on(results, dataset)]
    models = [model for model in results.models if model.name in {record.model for record in records}]
    yield from (Text(sentences, "lead") for sentences in _lead_sentences(results, dataset, records))
    conclusions = [(model.label, conclusion(results, dataset, model.name)) for model in models]
    yield Facts(tuple((f"{label}: {gain.headline}", " ".join(gain.sentences)) for label, gain in conclusions), "rules")
    yield Figures(partial(drawings, results, dataset))
    for model in models:
        yield Heading(model.label)
        yield from _before_after_blocks(results, dataset, model, f"recalibration-{place}")
    differences: tuple[Piece, ...] = ()
    if _has_differences(results, dataset):
        differences = (Link("All differences with their tests.", f"recalibration-differences-{place}"), " ")
    yield Text((*differences, Link("What was fitted, and how to use it.", f"fitted-{place}")))


def _has_differences(results: Results, dataset: str) -> bool:
    """Tell whether the annex has differences or curves of recalibrated variants on a dataset."""
    return bool(_differences(results, dataset)) or results.spec.get("calibration") is not None


def _fit_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield what was fitted and how to apply it; the command names the dataset where there are several fits."""
    records = [record for record, _ in _applied_on(results, dataset)]
    for model in results.models:
        if model.name in {record.model for record in records}:
            yield _fit_table(results, dataset, model)
    classes_given = any(
        "prediction" in model.columns or has_rank_score(results, model.name) for model in results.models)
    cut = ("" if results.event is None or classes_given else
           " The threshold is the same before and after, so recalibration moves rows across it.")
    about = (f"Distinct predictions: on {dataset}, before → after. Clipped: rows whose probability was moved away "
             f"from 0 or 1 for a logarithm, in the fit and on {dataset}.{cut} All parameters are in ")
    yield Text((about, Code("results.json"), "."), "small")
    first = records[0]
    fits = [(record.model, record.variant) for record in results.recalibration].count((first.model, first.variant))
    fitted_on = f" --fitted-on {shlex.quote(dataset)}" if fits > 1 else ""
    yield Heading("How to use a recalibrator")
    yield Text("For a file DATA of new predictions, with RESULTS the folder of this card; other models and variants "
               "likewise:", "lead")
    yield Preformatted(
        f"evalpipe recalibrate RESULTS {shlex.quote(f'{first.model}+{first.variant}')} DATA -o OUT{fitted_on}")


def _applied_on(results: Results, dataset: str, model: str | None = None) -> list[tuple[Recalibration, Applied]]:
    """Return pairs of a recalibrator and the record of its use on a dataset, of one ``model`` or of all."""
    return [
        (record, applied) for record in results.recalibration for applied in record.applied
        if applied.dataset == dataset and model in {None, record.model}
    ]


def _differences(results: Results, dataset: str, model: str | None = None) -> list[Comparison]:
    """Return the comparisons of variants with their originals on a dataset, of one ``model`` or of all."""
    return [c for c in results.comparisons if is_recalibrated(c) and c.dataset == dataset and model in {None, c.model}]


def _lead_sentences(results: Results, dataset: str, records: Sequence[Recalibration]) -> Iterator[str]:
    """Yield the opening sentences: which rows recalibrators were fitted on, what intervals do not cover."""
    first = records[0]
    events = "" if first.events is None else f", {numbers.count(first.events)} events"
    rows = f"{numbers.count(first.n)} rows{events}"
    no_overlap = "Nothing was fitted and judged on the same rows."
    if first.folds is None:
        yield f"Recalibrators were fitted on dataset {first.fitted_on} ({rows}) and judged on {dataset}. {no_overlap}"
    else:
        yield (f"Recalibrators were cross-fitted on {dataset} ({rows}) in {first.folds} folds: the rows of each fold "
               f"were recalibrated by a fit on the other folds. {no_overlap}")
    limits = "."
    if any(c.lower is not None for c in results.comparisons if is_recalibrated(c)):
        has_several = len({record.variant for record in records}) > 1
        choice = " They do not allow for choosing the best of several methods." if has_several else ""
        tested = sentences_on_corrections(results, [c for c in _differences(results, dataset) if c.slice is None])
        limits = (f"{with_intervals(results, limited=True)}. The intervals take the fitted recalibrators "
                  f"as fixed; a fit on other rows would differ.{choice} {tested}")
    yield f"Differences are recalibrated variant minus original on the same rows{limits}{same_rows_sentences(results)}"
    if any(record.shifts for record in records):
        yield f"{SHIFTED}: judge it by measures at that prevalence, not by those of the sample."


def _before_after_blocks(results: Results, dataset: str, model: ModelSummary, section: str) -> Iterator[Block]:
    """Yield the table of a model's first key measures, original beside variants; ``section`` is its anchor."""
    names, key = names_of(results), key_measures(results)
    measures: dict[tuple[int, str, tuple[tuple[str, object], ...]], dict[str, Estimate]] = {}
    for e in results.rows:
        if (e.dataset, e.model, e.slice, e.class_) == (dataset, model.name, None, None) and e.metric in key:
            measure_key = (key.index(e.metric), names.measure(e.metric, e.params, e.average), tuple(e.params.items()))
            measures.setdefault(measure_key, {})[e.variant] = e
    ordered = sorted(measures, key=lambda measure_key: measure_key[0])
    abreast, left_out = ordered[:MEASURES_ABREAST], len(ordered) - MEASURES_ABREAST
    is_count = {metric.name: metric.is_whole for metric in results.metrics}
    variants = ["original", *(record.variant for record, _ in _applied_on(results, dataset, model.name))]
    rows = tuple(
        Row((variant_name(variant), *(shown(measures[measure_key][variant], whole=is_count[key[measure_key[0]]])
                        if variant in measures[measure_key] else Number("–") for measure_key in abreast)),
            anchor=row_anchor(section, [measures[key][variant] for key in abreast if variant in measures[key]]))
        for variant in variants)
    columns = (Column("Predictions", style="variant"), *(Column(name, "num") for _, name, _ in abreast))
    caption = f"{model.label} before and after recalibration on {dataset}{with_limits(results, rows)}"
    yield Table(caption, columns, rows, "before", stacked=True)
    if left_out > 0:
        further = "1 further key measure is" if left_out == 1 else f"{left_out} further key measures are"
        yield Text((f"{further} in ", Code("estimates.csv"), "; all differences stand in the annex."), "small")


def _difference_blocks(results: Results, dataset: str, model: ModelSummary) -> Iterator[Block]:
    """Yield the table of the differences of a model's variants over all rows, and the number of those in slices."""
    differences = _differences(results, dataset, model.name)
    overall = [c for c in differences if c.slice is None]
    if overall:
        margins = any(c.margin is not None for c in overall)
        columns = (
            Column("Variant", style="variant"), *COLUMNS[:2], Column("p-value", style="p side"), *COLUMNS[3:],
            Column("Margin", "num", "margin side", shown=margins), Column("Verdict", style="said"))
        caption = f"{model.label}: differences of the recalibrated variants from the original on {dataset}"
        yield Table(caption, columns, tuple(_difference_rows(results, overall)), "compared changes", stacked=True)
        yield from (Text(note, "small") for note in notes(overall))
    slice_count = len(differences) - len(overall)
    if slice_count:
        further = ("1 further difference, in slices, is" if slice_count == 1 else
                   f"{numbers.count(slice_count)} further differences, in slices, are")
        yield Text((f"{further} in ", Code("results.json"), "."), "small")


def _difference_rows(results: Results, differences: Sequence[Comparison]) -> Iterator[Row | Group]:
    """Yield for each measure a heading, with the test if variants share it, and a row for each variant."""
    names = names_of(results)
    better = {metric.name: wording.better(wording.BETTER[metric.direction]) for metric in results.metrics}
    measures: dict[tuple[str, str], list[Comparison]] = {}
    for c in differences:
        measures.setdefault((names.measure_of(c), names.other_options(c.metric, c.params)), []).append(c)
    for (measure, options), rows in measures.items():
        tests = {c.test for c in rows if c.test is not None}
        shared = tests.pop() if len(tests) == 1 else None
        about = [better[rows[0].metric], *([f"test: {test_name(shared)}"] if shared is not None else [])]
        yield Group((f"{measure} ({options})" if options else measure, Aside("; ".join(about), "options")))
        for c in rows:
            yield Row((variant_name(c.variant), *measured(c, test=shared is None), margin_of(c), verdict_of(c)))


def _fit_table(results: Results, dataset: str, model: ModelSummary) -> Table:
    """Return a model's table of recalibrators: what was fitted, distinct predictions, and rows clipped."""
    applied = _applied_on(results, dataset, model.name)
    again = ", each fitted once more on all rows" if applied[0][0].folds is not None else ""
    columns = (Column("Variant", style="variant"), Column("Method", style="how"), Column("Fitted"),
               Column("Distinct predictions", "num"), Column("Clipped: fit / here", "num"))
    rows = tuple(
        Row((variant_name(record.variant), _method_text(record), fitted_words(record),
             f"{numbers.count(applied_here.distinct_before)} → {numbers.count(applied_here.distinct_after)}",
             f"{numbers.count(record.clipped)} / {numbers.count(applied_here.clipped)}"))
        for record, applied_here in applied)
    return Table(f"{model.label}: the fitted recalibrators{again}", columns, rows, "fitted", stacked=True)


def _method_text(record: Recalibration) -> str:
    """Return a method's title with its options; of a shift of prevalence, the title alone."""
    title = registry[record.method].title if record.method in registry else record.method
    plain = {name: value for name, value in record.options.items() if not isinstance(value, list)}
    # A method fitted on the score says so, whatever its option asked for.
    plain |= {name: record.parameters[name] for name in plain if record.parameters.get(name) == "score"}
    options = "" if record.shifts else wording.options(plain)
    return f"{title} ({options})" if options else title


def fitted_words(record: Recalibration) -> str:
    """Return in few words what was fitted: its numbers if they are few, else how many steps or how smooth a curve."""
    parameters = record.parameters
    plain = {name: value for name, value in parameters.items() if isinstance(value, int | float)}
    if record.method == "one_vs_rest":
        return "one function for each level"
    if record.shifts:
        kept = 1 if len(parameters["to"]) == 2 else None  # of two shares, one says both
        before, after = (", ".join(map(write, parameters[name][:kept]))
                         for name, write in (("from", numbers.number), ("to", wording.share)))
        return f"prevalence {before} → {after}"
    if "edf" in parameters:
        return f"{numbers.fixed(parameters['edf'], 1)} effective degrees of freedom"
    if plain and len(plain) <= MOST_PARAMETERS:
        return ", ".join(
            f"{name} {numbers.fixed(value, 0) if float(value).is_integer() else numbers.number(value)}"
            for name, value in plain.items())
    return _size_of_map(record) or "in results.json"


def _size_of_map(record: Recalibration) -> str | None:
    """Return how many steps, corners, bins or coefficients a fit has, as text; None of other parameters."""
    parameters = record.parameters
    if "coefficients" in parameters:
        return f"{len(parameters['coefficients'])} × {len(parameters['coefficients'][0])} coefficients"
    if "value_0" in parameters:
        return f"{numbers.count(len(parameters['value_0']))} and {numbers.count(len(parameters['value_1']))} steps"
    if "value" in parameters:
        count, lines = len(parameters["value"]), parameters.get("interpolate") == "linear"
        word = "corner" if lines else "bin" if record.method == "histogram" else "step"
        return f"{numbers.count(count)} {word}{'' if count == 1 else 's'}"
    return None


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how recalibrators were fitted, and each method that was used; nothing where there are none."""
    if not results.recalibration:
        return
    yield CROSS_FITTED if any(record.folds is not None for record in results.recalibration) else FITTED_APART
    used = dict.fromkeys(record.method for record in results.recalibration)
    for method in (registry[name] for name in used if name in registry):
        yield Procedure(method.title, method.text, method.reference, RECALIBRATION)
