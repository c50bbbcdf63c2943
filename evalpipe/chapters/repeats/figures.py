"""The figures of repeated fits: a strip for each measure, and the ROC curves of all fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import Axis, number_axis, unit_axis
from evalpipe.card.figures.panel import DOTS, panel
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing, stacks
from evalpipe.card.wording import names_of
from evalpipe.chapters.repeats.words import digits_of_values, fit_name, spread_text
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.svg import Drawing
    from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
    from evalpipe.results import Results

HEIGHT = 46.0
"""Pixels of a strip."""

SIDE = 3.0
"""Pixels of a marker."""


AT = 0.2
"""The false positive rate at which the ROC curves of fits are put in words."""


def figures(results: Results, repeated: RepeatedModel, rows: Sequence[Repeat], place: int) -> Iterator[Drawing]:
    """Draw what there is of the fits of a model; ``place`` keeps the ids of figures apart."""
    yield from strips(results, repeated, rows, place)
    if any(height is not None for curve in repeated.sensitivity for height in curve):
        yield _roc(results, repeated, place)


def _roc(results: Results, repeated: RepeatedModel, place: int) -> Drawing:
    """Draw the ROC curves of all fits, that of the card on top."""
    name, count = names_of(results).model(repeated.model), len(repeated.files)
    title, sheet = f"ROC curves of {count} fits of {name} on {repeated.dataset}", Sheet()
    across = repeated.false_positive_rate
    drawn = panel(sheet, unit_axis("False positive rate (1 − specificity)"), unit_axis("Sensitivity"))
    drawn.line((0, 1), (0, 1), "muted", kind="thin", dash=DOTS)
    curves = [[math.nan if height is None else height for height in curve] for curve in repeated.sensitivity]
    drawn.lines([(across, curve) for curve in curves[1:]], "m0")
    drawn.line(across, curves[0], "m1")
    for file, curve in zip(repeated.files, curves, strict=True):
        drawn.record(fit_name(file), across[::5], curve[::5])
    sheet.key([KeyEntry("other fits", "m0", "thin"), KeyEntry("the fit of this card", "m1")])
    at = min(range(len(across)), key=lambda k: abs(across[k] - AT))
    heights = [curve[at] for curve in curves if not math.isnan(curve[at])]
    low, high = (numbers.number(end(heights)) for end in (min, max))
    finding = (f"At a false positive rate of {numbers.plain(across[at])} the sensitivity of the fits is from {low} to "
               f"{high}.")
    caption = "Sensitivity against false positive rate over all thresholds, one line for each fit. Dotted: chance."
    return drawing(f"repeats-roc-{place}", title, (finding, caption, f"{title}. {finding}"), [sheet])


def strips(results: Results, repeated: RepeatedModel, rows: Sequence[Repeat], place: int) -> Iterator[Drawing]:
    """Draw the values of the fits in each measure that is one number; ``place`` keeps the ids of figures apart."""
    drawn = [row for row in rows if row.mean is not None and row.class_ is None]
    if not drawn:
        return
    names, sheets = names_of(results), []
    for several in stacks(drawn):
        sheet = Sheet()
        for row in several:
            _strip(sheet, names.measure(row.metric, row.params, row.average), row, repeated)
        sheets.append(sheet)
    limited = any(row.new_lower is not None for row in drawn)
    zone = [KeyEntry("interval for a new fit", "muted", "band")] if limited else []
    sheets[0].key([KeyEntry("fit", "m0", "mark", "o"), KeyEntry("the fit of this card", "m1", "mark", "D"),
                   KeyEntry("mean", "ink"), *zone])
    name = names.model(repeated.model)
    title = f"Fits of {name} on {repeated.dataset}"
    shaded = f" Shaded: the {wording.level(results.intervals.level)} interval for a new fit." if limited else ""
    caption = (f"The value of each fit on an axis of its own for each measure, from the first file by name at the top "
               f"to the last at the bottom. Line: their mean.{shaded}")
    said = [f"{names.measure(row.metric, row.params, row.average)} {_said(row)}" for row in drawn]
    finding = f"{wording.capital(said[0])}."
    yield drawing(f"repeats-{place}", title, (finding, caption, f"{title}. {'. '.join(said)}."), sheets)


def _strip(sheet: Sheet, title: str, row: Repeat, repeated: RepeatedModel) -> None:
    """Draw one measure below what is on the sheet."""
    values = [value for value in row.values if value is not None]
    limits = [limit for limit in (row.new_lower, row.new_upper) if limit is not None]
    strip = panel(sheet, number_axis("", [*values, *limits], most=4), Axis("", 0.0, 1.0), HEIGHT, title=title)
    if row.new_lower is not None and row.new_upper is not None:
        strip.span(row.new_lower, row.new_upper)
    if row.mean is not None:
        strip.rule("ink", x=row.mean)
    # The first file at the top, each a little lower, so that fits of one value can be told apart.
    heights = [1 - (place + 0.5) / len(values) for place in range(len(values))]
    strip.marks(values[1:], heights[1:], "m0", "o", size=SIDE)
    strip.marks(values[:1], heights[:1], "m1", "D", size=SIDE + 1)
    for file, value in zip(repeated.files, values, strict=True):
        strip.record_values(f"{title}, {fit_name(file)}", value=[value])
    ends = {"mean": row.mean, "lower": row.lower, "upper": row.upper, "new_lower": row.new_lower,
            "new_upper": row.new_upper, "sd": row.sd}
    strip.record_values(f"{title}, all fits", **{name: [end] for name, end in ends.items() if end is not None})


def _said(row: Repeat) -> str:
    """Say how far the fits reach: "from 0.1480 to 0.1520 over 20 fits, SD 0.0011, a new fit from 0.13 to 0.16"."""
    digits = digits_of_values(row)
    low, high = (numbers.fixed(end, digits) for end in (row.lowest or 0.0, row.highest or 0.0))
    text = f"from {low} to {high} over {row.fits} fits, SD {spread_text(row.sd or 0.0)}"
    if row.new_lower is None or row.new_upper is None or row.mean is None:
        return text
    _, limits = numbers.interval(row.mean, row.new_lower, row.new_upper)
    return f"{text}; interval for a new fit {limits}"
