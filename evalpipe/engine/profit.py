"""The profit of contacting rows from the highest score down, and the depth at which it is largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.curves.groups import ranked
from evalpipe.intervals.bands import pointwise_band
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.metrics.declare import ratio
from evalpipe.results import BestProfit, Profit

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary

EVEN = 1e-12
"""Profits that differ by less than this share of the largest sum that goes into them are equal but for rounding."""


@dataclass(frozen=True)
class Campaign:
    """What is earned and spent, on rows that weigh ``total`` together; ``whole`` says that weights count rows."""

    benefit: float
    cost: float
    fixed: float
    groups: int
    whole: bool
    total: float

    @classmethod
    def of(cls, plan: Plan, sample: Sample) -> Campaign | None:
        """Return the spec's ``profit`` for the rows of a sample; None where it declares none."""
        declared = plan.profit
        if declared is None:
            return None
        return cls(declared.benefit, declared.cost, declared.fixed, declared.groups,
                   sample.weight_kind != "importance", float(sample.weights.sum()))

    def earned(self, contacted: Floats, found: Floats) -> Floats:
        """Return the profit of contacting rows of which some are events, [..., groups + 1]; 0 where none is."""
        spent = self.cost * contacted + np.where(contacted > 0, self.fixed, 0.0)
        return np.asarray(self.benefit * found - spent)

    def heights(self, summary: Summary) -> Floats:
        """Return the profit after each group, [..., groups + 1], of as many rows as there are.

        Replicates may hold more or fewer rows; theirs is the profit of rows like them, ``total`` in number.
        """
        contacted, found = ranked(summary, self.groups, whole=self.whole)
        scale = ratio(self.total, contacted[..., -1:])
        return self.earned(contacted * scale, found * scale)

    def best(self, heights: Floats) -> Wholes:
        """Return where the profit is largest, [...]; of profits that are equal but for rounding, the first."""
        reach = EVEN * self.total * (self.benefit + self.cost)
        return np.asarray(np.argmax(heights >= heights.max(axis=-1, keepdims=True) - reach, axis=-1))


def profits(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> tuple[list[Profit], list[BestProfit]]:
    """Return the profit of a model after each group of its ranked rows, and where it is largest.

    Nothing where the spec declares no profit, or the model gives no scores.
    """
    campaign, level = Campaign.of(plan, sample), plan.level
    if campaign is None or not summary.rows.ranked:
        return [], []
    drawn = replicates.curves.get((model, "profit"))
    drawn = None if drawn is None or sample.summary.clusters == 1 else drawn[~np.isnan(drawn).any(axis=-1)]
    columns = _columns(campaign, summary)
    heights = columns["profit"]
    place = int(campaign.best(heights))
    rows = _limits(campaign, drawn, level) | {"best": np.arange(len(heights)) == place}
    named = {"dataset": sample.dataset, **sample.named(model)}
    table = columns | rows
    each = [
        Profit(**named, **{name: None if values is None else values[k].item() for name, values in table.items()})
        for k in range(len(heights))
    ]
    return each, [BestProfit(**named, **_best(campaign, heights, place, drawn, level))]


def _columns(campaign: Campaign, summary: Summary) -> dict[str, Any]:
    """Return what the data say of each depth, each [groups + 1]."""
    contacted, found = ranked(summary, campaign.groups, whole=campaign.whole)
    events, earned = found[-1], campaign.earned(contacted, found)
    return {
        "group": np.arange(campaign.groups + 1),
        "population": np.diff(contacted, prepend=0.0),
        "captured": np.diff(found, prepend=0.0),
        "contacted": contacted,
        "found": found,
        "profit": earned,
        "profit_per_row": earned / contacted[-1],
        "profit_random": campaign.earned(contacted, contacted * (events / contacted[-1])),
        "profit_wizard": campaign.earned(contacted, np.minimum(contacted, events)),
        "incremental": np.diff(earned, prepend=0.0),
    }


def _limits(campaign: Campaign, drawn: Floats | None, level: float) -> dict[str, Any]:
    """Return the limits of the profit at each depth, and how often each is the best."""
    if drawn is None or len(drawn) < 2:
        return {"lower": None, "upper": None, "share_best": None}
    lower, upper = pointwise_band(drawn, level)
    share = np.bincount(campaign.best(drawn), minlength=campaign.groups + 1) / len(drawn)
    return {"lower": lower, "upper": upper, "share_best": share}


def _best(
    campaign: Campaign, heights: Floats, place: int, drawn: Floats | None, level: float
) -> dict[str, Any]:
    """Return the best depth and the profit there, with limits and without its optimism."""
    known = {"group": place, "groups": campaign.groups, "profit": float(heights[place])}
    if drawn is None or len(drawn) < 2:
        return known | dict.fromkeys(("group_lower", "group_upper", "lower", "upper", "corrected"))
    places = campaign.best(drawn)
    tail = (1 - level) / 2
    low, high = (int(np.quantile(places, tail, method="lower")), int(np.quantile(places, 1 - tail, method="higher")))
    reached = np.take_along_axis(drawn, places[:, None], axis=-1)[:, 0]
    limits = percentile_limits(reached, level) or (None, None)
    optimism = float(np.mean(reached - heights[places]))
    return known | {
        "group_lower": low, "group_upper": high, "lower": limits[0], "upper": limits[1],
        "corrected": float(heights[place]) - optimism,
    }
