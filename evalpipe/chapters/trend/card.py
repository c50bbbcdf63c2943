"""The card's section on the trend: this night after earlier ones, and how control limits are made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Code, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.chapters.trend.figures import trend_figures
from evalpipe.chapters.trend.words import (
    by_measure,
    limits_of,
    measure_of,
    model_of,
    nights_said,
    tonight_of,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.trend.records import Trend, TrendLine
    from evalpipe.results import Results

LIMITS = Procedure(
    "Control limits",
    "The variance of a night is the sum of two. That of sampling is the variance of one observation, as the intervals "
    "of the nights have it on average, over its observations: a small night has wide limits. That between nights is "
    "what earlier nights vary beyond this. The centre is their mean, each weighted by how precise it is. Limits are so "
    "many standard errors from the centre, its own error among them, and not beyond what a measure can be. "
    "Where nothing changes, about 1 night in 300 is beyond 3 standard errors, each measure of each model on its own. "
    "Nights that resemble each other are named.", reference="Spiegelhalter (2005)")
"""How control limits are made."""

DIGITS = 8
"""Digits of the hash of the earlier nights."""


def sections(results: Results) -> Iterator[Section]:
    """Write the trend; nothing where none is asked for."""
    trend = results.trend
    if not trend.lines:
        return
    blocks: list[Block] = [Text(_lead(results), "lead")]
    blocks += [Text(finding.text) for finding in results.findings if finding.section == "trend"]
    if trend.nights:
        blocks.append(Figures(partial(trend_figures, results)))
    blocks += [_table(results), Text(_made(trend), "small")]
    yield Section("trend", "Trend over nights", tuple(blocks), part="monitoring")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how control limits are made."""
    if any(line.limit_lower for line in results.trend.lines):
        yield LIMITS


def _lead(results: Results) -> Cell:
    """Say which nights are shown."""
    trend = results.trend
    if trend.sha256 is None:
        return "No earlier night was read: this run has no output folder, whose ledger would hold them."
    if not trend.nights:
        return (f"The ledger has no run of {results.name} of a day before {results.as_of}: the trend begins with this "
                "night.")
    first, last = trend.nights[-trend.shown].as_of, trend.nights[-1].as_of
    span = f" from {first} to {last}" if trend.shown > 1 else f", {last}"
    what = (f"{results.as_of} after {nights_said(trend.shown)}{span}: of each day the run of {results.name} that the "
            "ledger recorded last. Their numbers are in ")
    return what, Code("results.json"), f" with a sha256 that begins with {trend.sha256[:DIGITS]}."


def _made(trend: Trend) -> str:
    """Say in plain words what the limits are made of, or why there are none."""
    if trend.sigma is None:
        return "No control limits were asked for."
    nights = ("all earlier nights that are read" if trend.baseline is None
              else f"the nights from {trend.baseline[0]} to {trend.baseline[1]}, before this one")
    few = f"With fewer than {trend.min_nights} nights there are none."
    return (f"Control limits say how far a night of its size varies where nothing changes. They come from {nights}, "
            f"never from this one: the centre is their mean, and the limits are {numbers.plain(trend.sigma)} standard "
            f"errors from it, widened where nights vary more than their intervals explain. {few} A night beyond them "
            "is unusual; whether that matters, the gates say.")


def _table(results: Results) -> Table:
    """Write this night beside its centre and limits, measure by measure."""
    limited = any(line.limit_lower for line in results.trend.lines)
    columns = (Column("Model", style="what"), Column("This night", "num"), Column("Centre", "num", shown=limited),
               Column("Control limits", "num", shown=limited), Column("Earlier nights", "num"),
               Column("This night is", shown=limited))
    rows: list[Row | Group] = []
    for lines in by_measure(results.trend.lines):
        rows.append(Group(measure_of(results, lines[0])))
        rows += [_row(results, line) for line in lines]
    return Table("This night and its control limits", columns, tuple(rows), "compared", stacked=True)


def _row(results: Results, line: TrendLine) -> Row:
    centre: Cell = "–" if line.centre is None else Number(
        numbers.number(line.centre), None, None, numbers.exact(line.centre))
    said = {"within": "within", "above": "above", "below": "below", None: "–"}[line.position]
    wider = "" if line.dispersion is None or line.dispersion <= 1 else (
        f"widened {numbers.fixed(line.dispersion, 2)} times by variation between nights")
    limits: Cell = (limits_of(line), Aside(wider, "definition")) if wider else limits_of(line)
    return Row((model_of(results, line), tonight_of(line), centre, limits, numbers.count(line.counted), said))
