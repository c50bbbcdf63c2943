"""How measures of predicted classes relate: each against the prevalence, and each against the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, UNIT, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import column, context_of, known, listed
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, grid, panel
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing, stacks
from evalpipe.results.curves.events import MeasuresByPrevalence, RelatedMeasures
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Results

STROKES = ("", "9 3", DASHES, "3 3", DOTS)
"""How the lines of measures are drawn."""


def relations(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw the measures of a dataset against the prevalence, and each against the first."""
    context = context_of(results, dataset)
    by_prevalence, related = context.curves(MeasuresByPrevalence), context.curves(RelatedMeasures)
    if by_prevalence:
        yield _by_prevalence(context, by_prevalence)
    if related:
        first, *others = related[0][1].points.measures
        for place, other in enumerate(others, 1):
            yield _against(context, related, (first, other), place)


def _by_prevalence(context: Context, pairs: Sequence[tuple[Series, MeasuresByPrevalence]]) -> Drawing:
    """Draw each measure against the prevalence, a panel for each model."""
    heights = [value for _, curve in pairs for values in curve.points.measures.values() for value in known(values)]
    y = number_axis("Value", [*heights, 0.0, 1.0], most=4, room=0.02)
    sheets = []
    for together in stacks(pairs):
        sheets.append(sheet := Sheet())
        unplaced: list[KeyEntry] = []
        for series, curve in together:
            drawn = panel(sheet, unit_axis("Prevalence"), y, 170, title=series.label, last=curve is together[-1][1])
            if context.dataset.prevalence is not None:
                drawn.rule("ink", x=context.dataset.prevalence, dash=DOTS)
            labels = []
            for stroke, (name, values) in zip(STROKES, curve.points.measures.items(), strict=False):
                x, height = column(curve.points.prevalence), column(values)
                drawn.line(x, height, series.ink, name=f"{series.label}, {_title(curve, name)}", dash=stroke)
                labels.append(LineLabel(_title(curve, name), series.ink, x, height, dash=stroke))
            unplaced = label_lines(drawn, labels) or unplaced
        sheet.key(unplaced)
    finding = listed([f"{series.label}: {_moves(curve)}" for series, curve in pairs])
    caption = ("Measures of the predicted levels at the threshold in use, were the prevalence another: rows are "
               "reweighted. Dotted line: observed prevalence.")
    title = "Measures by prevalence"
    alt = context.told(title, pairs, _moves)
    return drawing(f"d{context.place}-measures-by-prevalence", title, (finding, caption, alt), sheets)


def _moves(curve: MeasuresByPrevalence) -> str:
    """Say how far each measure moves with the prevalence."""
    spans = []
    for name, values in curve.points.measures.items():
        low, high = min(known(values), default=float("nan")), max(known(values), default=float("nan"))
        ends = numbers.number(low), numbers.number(high)
        spans.append(f"{_title(curve, name)} {ends[0] if ends[0] == ends[1] else numbers.ranged(*ends)}")
    return "over all prevalences " + ", ".join(spans)


def _against(
    context: Context, pairs: Sequence[tuple[Series, RelatedMeasures]], names: tuple[str, str], place: int
) -> Drawing:
    """Draw one measure against another over all thresholds, a panel for each prevalence."""
    first, other = names
    prevalences = list(dict.fromkeys(known(pairs[0][1].points.prevalence)))
    x, y = (_axis(pairs, name, narrow=len(prevalences) > 1) for name in names)
    low, high = max(x.low, y.low, 0.0), min(x.high, y.high, 1.0)
    sheet = Sheet()
    titles = [(f"Prevalence {wording.share(at)}", "ink") for at in prevalences]
    panels = grid(sheet, [(x, y)] * len(prevalences), titles, columns=min(2, len(prevalences)))
    for drawn, at in zip(panels, prevalences, strict=True):
        drawn.lines([((low, high), (low, high))], "pale")
        for series, curve in pairs:
            drawn.line(*_at(curve, at, names), series.ink, name=f"{series.label}, prevalence {wording.share(at)}")
    sheet.key([KeyEntry(series.label, series.ink, "line") for series, _ in pairs])
    title = f"{_title(pairs[0][1], other)} against {_title(pairs[0][1], first)}"
    said = [(series, _best(curve, names, prevalences)) for series, curve in pairs]
    finding = listed([f"{series.label}: {text}" for series, text in said])
    caption = (f"Both at every threshold, with the rows reweighted to a prevalence of {_listed(prevalences)}. "
               "Grey line: both are the same.")
    alt = context.told(title, said, lambda text: text)
    return drawing(f"d{context.place}-related-{place}", title, (finding, caption, alt), [sheet])


def _listed(prevalences: Sequence[float]) -> str:
    return wording.joined([wording.share(at) for at in prevalences]) if len(prevalences) > 1 else (
        wording.share(prevalences[0]))


def _at(curve: RelatedMeasures, prevalence: float, names: tuple[str, str]) -> tuple[list[float], list[float]]:
    """Return two measures at a prevalence, over the thresholds."""
    points = curve.points
    rows = [k for k, at in enumerate(points.prevalence) if at == prevalence]
    across, up = ([column(points.measures[name])[k] for k in rows] for name in names)
    return across, up


def _best(curve: RelatedMeasures, names: tuple[str, str], prevalences: Sequence[float]) -> str:
    """Say what the second measure is where the first is highest, at each prevalence."""
    parts = []
    for at, measures in zip(prevalences, curve.notes.highest or (), strict=False):
        first, second = (measures[name] for name in names)
        if first is not None:
            goes_with = "an undefined " if second is None else ""
            value = "" if second is None else f" {numbers.given(second)}"
            parts.append(f"at prevalence {wording.share(at)} the highest {_title(curve, names[0])} "
                         f"{numbers.given(first)} goes with {goes_with}{_title(curve, names[1])}{value}")
    return "; ".join(parts) or "undefined"


def _axis(pairs: Sequence[tuple[Series, RelatedMeasures]], name: str, *, narrow: bool) -> Axis:
    """Return the axis of a measure, of a panel that is ``narrow`` or as wide as the sheet."""
    values = [value for _, curve in pairs for value in known(curve.points.measures[name])]
    if values and min(values) >= 0 and max(values) <= 1:
        return unit_axis(_title(pairs[0][1], name), HALVES if narrow else UNIT)
    axis = number_axis(_title(pairs[0][1], name), values, room=0.03)
    return Axis(axis.name, axis.low, axis.high, ticks_between(axis.low, axis.high, 3)) if narrow else axis


def _title(curve: RelatedMeasures | MeasuresByPrevalence, name: str) -> str:
    """Return the title of a measure, which the run need not list among its measures."""
    return (curve.notes.titles or {}).get(name, name)
