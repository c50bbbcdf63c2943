"""The levels of the outcome: the share of each that was observed, beside what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.canvas import MUTED, Drawing, KeyEntry, add_key, clip, paper, style, to_svg
from evalpipe.card.figures.declare import figure
from evalpipe.card.palette import COLOURS

if TYPE_CHECKING:
    from evalpipe.card.figures.context import Context

EVENTS = COLOURS[0]


@figure(place=170)
def levels(context: Context) -> Drawing | None:
    """Draw the observed share of each level, beside its declared prior where there is one."""
    counts, prior = context.dataset.levels, context.results.prevalence
    if context.results.event is not None or not counts or not context.dataset.total_weight:
        return None
    declared = prior.levels if prior is not None else None
    key = f"d{context.place}-levels"
    shares = [(level.level, level.weight / context.dataset.total_weight) for level in counts]
    beside = " beside the prior declared for where the model will be used" if declared else ""
    caption = f"Share of the rows that have each level{beside}."
    alt = f"Levels of the outcome on {context.dataset.name}. " + " ".join(
        f"{name}: {numbers.percent(share, 1)}{f', declared {numbers.percent(declared[name], 1)}' if declared else ''}."
        for name, share in shares
    )
    top = max([share for _, share in shares] + list((declared or {}).values()))
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(2 if declared else 0, (0.3 * len(shares) + 0.1,), 1.55)
        for row, (name, share) in enumerate(shares):
            axes.barh(row, share, height=0.6, color=EVENTS, edgecolor="w")
            side = axes.get_yaxis_transform()
            axes.text(1, row, numbers.percent(share, 1), ha="right", va="center_baseline", fontsize=8.5, transform=side)
            axes.text(-0.04, row, clip(name, 26), ha="right", va="center_baseline", transform=side)
            if declared:
                axes.plot([declared[name]] * 2, [row - 0.4, row + 0.4], color=MUTED, linewidth=2.4)
        axes.set(xlim=(0, top * 1.25), ylim=(len(shares) - 0.5, -0.5), yticks=(), xlabel="Share of rows")
        if declared:
            add_key(figure, [KeyEntry("Observed", EVENTS, width=7), KeyEntry("Declared", MUTED, "none", "|")], left=0.3)
        return Drawing(key, "Levels of the outcome", caption, alt, to_svg(figure, key, alt, caption))
