"""Figures of the outcome's distribution: what was observed, beside what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.figures.canvas import COLOURS, INK, MUTED, Drawing, KeyEntry, add_key, clip, paper, style, to_svg

if TYPE_CHECKING:
    from evalpipe.report.figures.context import Context
from evalpipe.report.figures.declare import figure

EVENTS = COLOURS[0]
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def prevalences(context: Context) -> Drawing | None:
    """Draw the observed share of events of every dataset beside the declared prevalence."""
    known = [(d.name, d.prevalence) for d in context.results.datasets if d.prevalence is not None]
    prior = context.results.prevalence
    if prior is None or prior.value is None or not known:
        return None
    key = f"d{context.place}-prevalence"
    bars = [*((f"{name}, observed", value) for name, value in known), ("declared", prior.value)]
    limits = {f"{share.dataset}, observed": (share.lower, share.upper) for share in context.results.observed}
    limits["declared"] = next(iter(prior.limits.values()), (None, None))
    limited = ", with limits" if any(low is not None for low, _ in limits.values()) else ""
    caption = (
        f"Share of {context.results.event} in each dataset, against the prevalence declared for where the model will "
        f"be used{limited}. Measures under the declared prevalence, such as PPV, answer for the latter."
    )
    alt = "Prevalence of the event. " + " ".join(f"{name}: {numbers.number(value)}." for name, value in bars)
    left = 1.55
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(0, (0.3 * len(bars) + 0.1,), left)
        for row, (name, value) in enumerate(bars):
            fill = MUTED if name == "declared" else EVENTS
            axes.barh(row, value, height=0.6, color=fill, hatch="////" if name == "declared" else None, edgecolor="w")
            low, high = limits.get(name, (None, None))
            if low is not None and high is not None:
                axes.plot((low, high), (row, row), color=INK, linewidth=1.1)
            axes.text(max(value, high or 0) + 0.015, row, numbers.number(value), va="center_baseline", fontsize=8.5)
            axes.text(-0.04, row, clip(name, 26), ha="right", va="center_baseline")
        axes.set(xlim=(0, 1.08), ylim=(len(bars) - 0.5, -0.5), yticks=(), xticks=TICKS, xlabel="Share of events")
        return Drawing(key, "Observed and declared prevalence", caption, alt, to_svg(figure, key, alt, caption))


@figure(place=170)
def levels(context: Context) -> Drawing | None:
    """Draw the observed share of each level, beside its declared prior where there is one."""
    found, prior = context.dataset.levels, context.results.prevalence
    if context.results.event is not None or not found or not context.dataset.total_weight:
        return None
    declared = prior.levels if prior is not None else None
    key = f"d{context.place}-levels"
    shares = [(level.level, level.weight / context.dataset.total_weight) for level in found]
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
