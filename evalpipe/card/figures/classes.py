"""Figures of several levels: the share of each, and its curves against the rest, one figure a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, column, figure, figure_of_classes, or_nan, path_of
from evalpipe.card.figures.panel import RowLabel, grid, rows
from evalpipe.card.figures.reliability import bin_axis_name, bin_position, draw_diagonal, kind_of_bins
from evalpipe.card.figures.svg import Clauses, Drawing, Series, Sheet, drawing
from evalpipe.results.curves.calibration import Reliability
from evalpipe.results.curves.events import Pr, Roc
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.results import Curve


@figure(part="data", place=170)
def levels(context: Context) -> Drawing | None:
    """Draw the observed share of each level, beside its declared prior where there is one."""
    counts, prior = context.dataset.levels, context.results.prevalence
    if context.results.event is not None or not counts or not context.dataset.total_weight:
        return None
    declared = prior.levels if prior is not None else None
    shares = [(level.level, level.weight / context.dataset.total_weight) for level in counts]
    prior_phrase = ", beside the declared prevalence" if declared else ""
    caption = f"Share of rows with each level{prior_phrase}.{' Strokes: declared.' if declared else ''}"
    alt = f"Levels of the outcome on {context.dataset.name}. " + " ".join(
        f"{name}: {numbers.number(share)}{f', declared {wording.share(declared[name])}' if declared else ''}."
        for name, share in shares
    )
    top = 1.1 * max([share for _, share in shares] + list((declared or {}).values()))
    sheet = Sheet()
    labels = [RowLabel(f"{name} ({numbers.number(share)})") for name, share in shares]
    plot = rows(sheet, labels, Axis("Share of rows", 0, top, ticks_between(0, top, 4)))
    drawn = plot.panel
    for middle, (name, share) in zip(plot.middles, shares, strict=True):
        y, right = drawn.top + middle, drawn.across(share)
        sheet.path(f"M{drawn.left:.1f},{y - 6:.1f}H{right:.1f}v12H{drawn.left:.1f}z", "fill", "muted")
        drawn.keep("row_bar", y=middle, low=0.0, high=share, half=6.0, ink="muted", kind="fill")
        if declared:
            drawn.keep("stroke", x=declared[name], y=middle, half=9.0, ink="ink", kind="line")
            sheet.path(f"M{drawn.across(declared[name]):.1f},{y - 9:.1f}v18", "line", "ink")
        drawn.record_values(name, **{"share of rows": [share]}, **({"declared": [declared[name]]} if declared else {}))
    largest, smallest = max(shares, key=lambda pair: pair[1]), min(shares, key=lambda pair: pair[1])
    finding = (f"{largest[0]} is the most frequent, {numbers.number(largest[1])}; {smallest[0]} the rarest, "
               f"{numbers.number(smallest[1])}.")
    return drawing(f"d{context.place}-levels", "Levels of the outcome", (finding, caption, alt), [sheet])


MOST = 6
"""The most levels that have a panel; where there are more, those that the model serves worst, the others in grey."""

C = TypeVar("C", bound="Curve")


NAMES = {
    "roc": ("ROC curves of each class", "False positive rate (1 − specificity)", "Sensitivity", "roc_auc", "AUC"),
    "pr": ("Precision-recall curves of each class", "Recall (sensitivity)", "Precision", "average_precision", "AP"),
}
"""Of each curve: its title, its axes, and the measure that sums it up with its short name."""


@figure_of_classes(Roc, part="appendix", place=150)
def roc_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Roc]]) -> Drawing:
    """Draw the ROC curve of each class against the rest."""
    return _curves_of_classes(context, model, pairs, "roc")


@figure_of_classes(Pr, part="appendix", place=152)
def precision_recall_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Pr]]) -> Drawing:
    """Draw the precision-recall curve of each class against the rest."""
    return _curves_of_classes(context, model, pairs, "pr")


@figure_of_classes(
    Reliability, part="calibration", place=154, name="calibration_uniform", instead="calibration_quantile")
def reliability_of_classes(context: Context, model: Series, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw the reliability of each class."""
    return _reliability_of_levels(context, model, pairs, cumulative=False)


@figure_of_classes(
    Reliability, part="calibration", place=156, name="cumulative_calibration_uniform",
    instead="cumulative_calibration_quantile")
def reliability_of_cuts(context: Context, model: Series, pairs: list[tuple[Series, Reliability]]) -> Drawing:
    """Draw the reliability at each cut between ordered levels."""
    return _reliability_of_levels(context, model, pairs, cumulative=True)


def _curves_of_classes(
    context: Context, model: Series, pairs: Sequence[tuple[Series, Roc | Pr]], curve: str,
) -> Drawing:
    """Draw a panel with the ``curve``, "roc" or "pr", of each class of a model, those of other classes in grey."""
    title, x_name, y_name, metric, short = NAMES[curve]
    key = f"d{context.place}-{curve}-{_model_number(context, model)}"
    areas = {
        level.name: context.estimate(model.name, metric, level.name) or numbers.number(or_nan(line.notes.area))
        for level, line in pairs
    }
    drawn_levels, others = _worst_levels(pairs, lambda line: or_nan(line.notes.area))
    caption = (f"{model.label}: each class against all others; the other classes are grey."
               f"{' Dotted: chance.' if curve == 'roc' else ''}"
               f"{_shown_classes(pairs, others, 'areas')}")
    alt = context.alt_text(title, pairs, lambda line: f"{short} {areas[str(line.class_)]}", f", {model.label}")
    sheet = Sheet()
    frame = unit_axis(x_name, HALVES), unit_axis(y_name, HALVES)
    panels = grid(sheet, [frame] * len(drawn_levels), [(level.label, "ink") for level, _ in drawn_levels])
    paths = {level.name: path_of(line.points) for level, line in pairs}
    for drawn, (level, _) in zip(panels, drawn_levels, strict=True):
        if curve == "roc":
            draw_diagonal(drawn)
        drawn.lines([path for name, path in paths.items() if name != level.name], "pale")
        x, y = paths[level.name]
        drawn.line(x, y, model.ink, name=level.label)
        # In the corner that the curve keeps out of.
        left, anchor = (drawn.left + drawn.width - 3, "end") if curve == "roc" else (drawn.left + 4, "")
        drawn.sheet.write(left, drawn.base - 6, f"{short} {areas[level.name].split(' (')[0]}", "ink", anchor)
    worst = min(pairs, key=lambda pair: or_nan(pair[1].notes.area))[0]
    finding = f"{model.label} is worst for {worst.label}: {short} {areas[worst.name]}."
    return drawing(key, f"{title}, {model.label}", (finding, caption, alt), [sheet])


def _reliability_of_levels(
    context: Context, model: Series, pairs: Sequence[tuple[Series, Reliability]], *, cumulative: bool
) -> Drawing:
    """Draw a panel of reliability for each class, or with ``cumulative`` for each cut between ordered levels."""
    title = "Reliability at each cut between levels" if cumulative else "Reliability of each class"
    key = f"d{context.place}-{'cuts' if cumulative else 'reliability'}-{_model_number(context, model)}"
    event = "that the level lies above the cut" if cumulative else "of each class"
    drawn_levels, others = _worst_levels(pairs, lambda curve: -or_nan(curve.notes.mean_gap))
    caption = (
        f"{model.label}: observed share against {bin_position(pairs[0][1])} {event}, in {kind_of_bins(pairs[0][1])}. "
        "Larger marks: more rows. Dotted diagonal: perfect calibration."
        f"{_shown_classes(pairs, others, 'gaps', 'widest')}"
    )
    names = {level.name: f"above {level.label}" if cumulative else level.label for level, _ in pairs}
    gaps = {level.name: numbers.number(or_nan(curve.notes.mean_gap)) for level, curve in pairs}
    alt = f"{title} on {context.dataset.name}, {model.label}."
    for level, curve in pairs:
        both = zip(column(curve.points.mean_probability), column(curve.points.event_rate), strict=True)
        at, share = (numbers.number(x) for x in max(both, key=lambda pair: abs(pair[1] - pair[0])))
        alt += (f" {names[level.name]}: mean gap {gaps[level.name]}, widest at mean probability {at}, where the "
                f"observed share is {share}.")
    sheet = Sheet()
    frame = unit_axis(bin_axis_name(pairs[0][1]), HALVES), unit_axis("Observed share", HALVES)
    panels = grid(sheet, [frame] * len(drawn_levels), [(names[level.name], "ink") for level, _ in drawn_levels])
    for drawn, (level, curve) in zip(panels, drawn_levels, strict=True):
        draw_diagonal(drawn)
        name = names[level.name]
        points = curve.points
        x, y, weight = column(points.position), column(points.event_rate), column(points.weight)
        drawn.line(x, y, model.ink, kind="thin")
        drawn.marks(x, y, model.ink, model.marker, size=[2 + 6 * (w / sum(weight)) ** 0.5 for w in weight], name=name)
    worst_first = sorted(pairs, key=lambda pair: -or_nan(pair[1].notes.mean_gap))
    places = [name if cumulative else f"class {name}" for name in (names[level.name] for level, _ in worst_first)]
    gaps_in_order = [gaps[level.name] for level, _ in worst_first]
    first = f"Mean gap {gaps_in_order[0]} {'' if cumulative else 'for '}{places[0]}"
    rest = (f"{place}: {gap}" for place, gap in zip(places[1:], gaps_in_order[1:], strict=True))
    finding = Clauses((first, *rest), "cut" if cumulative else "class")
    return drawing(key, f"{title}, {model.label}", (finding, caption, alt), [sheet])


def _model_number(context: Context, model: Series) -> int:
    return [series.name for series in context.series].index(model.name) + 1


def _worst_levels(
    pairs: Sequence[tuple[Series, C]], merit: Callable[[C], float]
) -> tuple[Sequence[tuple[Series, C]], Sequence[tuple[Series, C]]]:
    """Split (level, curve) pairs into the `MOST` whose curves have the least ``merit``, and the others."""
    if len(pairs) <= MOST:
        return pairs, []
    worst = {level.name for level, _ in sorted(pairs, key=lambda pair: merit(pair[1]))[: MOST]}
    return [p for p in pairs if p[0].name in worst], [p for p in pairs if p[0].name not in worst]


def _shown_classes(
    pairs: Sequence[tuple[Series, C]], others: Sequence[tuple[Series, C]], what: str, which: str = "smallest",
) -> str:
    """Return a sentence on which of all classes are drawn; empty where no ``others`` are left out."""
    return f" Shown: the {MOST} of {len(pairs)} classes with the {which} {what}." if others else ""
