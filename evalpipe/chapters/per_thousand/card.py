"""The bars of what a thousand rows come to, on the first screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import BarPart, StackedBar, StackedBars
from evalpipe.card.palette import look_of, place_of
from evalpipe.card.wording import names_of, nouns_of
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.wording import Nouns
    from evalpipe.chapters.per_thousand.records import PerThousand
    from evalpipe.results import Results

MOST = 6
"""The most bars that are drawn."""

MOST_VARIANTS = 4
"""The most bars where some of them are of variants, whose names take two lines."""


def glance(results: Results) -> Iterator[StackedBars]:
    """Yield the bars of the first evaluated dataset, one for each model and variant."""
    rows = [row for row in results.per_thousand if row.dataset == results.per_thousand[0].dataset]
    if not rows:
        return
    if len(rows) > MOST_VARIANTS:
        rows = [row for row in rows if row.variant == "original"] or rows
    names, nouns, model_order = names_of(results), nouns_of(results), [model.name for model in results.models]
    bars = tuple(
        StackedBar(clipped(names.model(row.model, row.variant)), f"{row.model}+{row.variant}",
            look_of(place_of(model_order.index(row.model), len(model_order)))[0], _parts(nouns, row))
        for row in rows[:MOST])
    other_datasets = len({row.dataset for row in results.per_thousand}) - 1
    variants = sum(row.dataset == rows[0].dataset for row in results.per_thousand) - len(rows)
    left_out = [counted(number, noun) for number, noun in (
        (len(rows) - len(bars), "model"), (variants, "recalibrated variant"), (other_datasets, "dataset")) if number]
    more = f"Not drawn: {' and '.join(left_out)}; see results.json." if left_out else ""
    caption = f"{f'{rows[0].dataset}, ' if other_datasets else ''}{_caption(rows, nouns.event_words)}"
    yield StackedBars(f"What happens to 1,000 {nouns.rows} like these?", caption, bars, nouns.event_words, more)


def _caption(rows: list[PerThousand], events: str) -> str:
    """Return at which threshold and prevalence the bars are drawn."""
    thresholds = {row.threshold for row in rows}
    if thresholds == {None}:
        at = "by the classes that each model predicts"
    elif len(thresholds) > 1:
        at = "each model at its own threshold"
    else:
        at = f"at threshold {numbers.given(rows[0].threshold or 0.0)}"
    return f"{at}, if {round(1000 * rows[0].prevalence):,} in 1,000 are {events}"


def _parts(nouns: Nouns, row: PerThousand) -> tuple[BarPart, ...]:
    """Return the parts of a bar; rows without a class are one where there are any."""
    parts = (
        BarPart("found", row.true_positives, "found"), BarPart("missed", row.false_negatives, "missed"),
        BarPart("alarms", row.false_positives, nouns.alarms),
        BarPart("left", row.true_negatives, "correctly left alone"))
    return (*parts, BarPart("none", row.unclassified, "without a class")) if row.unclassified else parts
