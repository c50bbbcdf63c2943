"""The levels of the outcome: the share of each that was observed, beside what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.declare import figure
from evalpipe.card.figures.rows import RowLabel, rows
from evalpipe.card.figures.scales import Axis, ticks_between
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.card.figures.canvas import Drawing
    from evalpipe.card.figures.context import Context


@figure(place=170)
def levels(context: Context) -> Drawing | None:
    """Draw the observed share of each level, beside its declared prior where there is one."""
    counts, prior = context.dataset.levels, context.results.prevalence
    if context.results.event is not None or not counts or not context.dataset.total_weight:
        return None
    declared = prior.levels if prior is not None else None
    shares = [(level.level, level.weight / context.dataset.total_weight) for level in counts]
    beside = ", beside the declared prevalence" if declared else ""
    caption = f"Share of rows with each level{beside}."
    alt = f"Levels of the outcome on {context.dataset.name}. " + " ".join(
        f"{name}: {numbers.number(share)}{f', declared {wording.share(declared[name])}' if declared else ''}."
        for name, share in shares
    )
    top = 1.1 * max([share for _, share in shares] + list((declared or {}).values()))
    sheet = Sheet()
    labels = [RowLabel(f"{name} ({numbers.number(share)})") for name, share in shares]
    drawn = rows(sheet, labels, Axis("Share of rows", 0, top, ticks_between(0, top, 4))).panel
    heights = drawn.height / len(shares)
    for place, (name, share) in enumerate(shares):
        y, right = drawn.top + (place + 0.5) * heights, drawn.across(share)
        sheet.path(f"M{drawn.left:.1f},{y - 6:.1f}H{right:.1f}v12H{drawn.left:.1f}z", "fill", "muted")
        if declared:
            sheet.path(f"M{drawn.across(declared[name]):.1f},{y - 9:.1f}v18", "line", "ink")
        drawn.record_values(name, **{"share of rows": [share]}, **({"declared": [declared[name]]} if declared else {}))
    if declared:
        sheet.key([KeyEntry("Observed", "muted", "fill"), KeyEntry("Declared", "ink")])
    largest, smallest = max(shares, key=lambda pair: pair[1]), min(shares, key=lambda pair: pair[1])
    finding = (f"{largest[0]} is the most frequent, {numbers.number(largest[1])}; {smallest[0]} the rarest, "
               f"{numbers.number(smallest[1])}.")
    return drawing(f"d{context.place}-levels", "Levels of the outcome", (finding, caption, alt), [sheet])
