"""What rows cost if one level is predicted for all of them, and what contacting the rows of highest score brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.costs.compute_campaign import Campaign
from evalpipe.chapters.costs.plan import costs_plan
from evalpipe.chapters.costs.records import BestProfit, CostReference, NamedCost, Profit
from evalpipe.intervals.bootstrap import percentile_limits, pointwise_band

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return named costs, costs of predicting one level for all rows, and profits by depth, by field of the results."""
    costs = plan.part(costs_plan)
    profits = []
    for dataset in evaluated:
        campaign = Campaign.of(plan, dataset.sample)
        if campaign is not None:
            ranked = [model for model in dataset.sample.models if dataset.summaries[model, 0].rows.ranked]
            profits += [_profit(plan, campaign, dataset, model) for model in ranked]
    return {
        "costs": [] if costs is None else [
            NamedCost(truth=truth, predicted=predicted, cost=cost) for (truth, predicted), cost in costs.named.items()],
        "cost_references": [row for dataset in evaluated for row in _costs_of_one_level(plan, dataset.sample)],
        "profit": [row for by_depth, _ in profits for row in by_depth],
        "best_profit": [best for _, best in profits],
    }


def _costs_of_one_level(plan: Plan, sample: Sample) -> Iterator[CostReference]:
    """Yield for each level the mean cost of a row if that level is predicted for all; nothing without costs."""
    costs = plan.part(costs_plan)
    if costs is None:
        return
    # Levels stand in the order of the costs, which has the event first.
    codes = np.where(sample.truth, 0, 1) if sample.task == "binary" else sample.truth
    weights = np.bincount(codes, sample.weights, len(sample.levels))
    means = (weights[:, None] * np.asarray(costs.matrix)).sum(axis=0) / weights.sum()
    cheapest = int(means.argmin())
    for k, level in enumerate(sample.levels):
        yield CostReference(dataset=sample.dataset, level=level, cost=float(means[k]), cheapest=k == cheapest)


def _profit(plan: Plan, campaign: Campaign, dataset: Evaluated, model: str) -> tuple[list[Profit], BestProfit]:
    """Return the records of the profit of a model after each group of its ranked rows, and of the largest profit."""
    # The profit by depth in each bootstrap replicate, [B, groups + 1]; None where these tell no spread.
    drawn = dataset.replicates.curves.get((model, "profit"))
    if drawn is not None:
        drawn = drawn[~np.isnan(drawn).any(axis=-1)]
        drawn = None if len(drawn) < 2 or dataset.sample.summary.clusters == 1 else drawn
    columns = _columns_by_depth(campaign, dataset.summaries[model, 0])
    best = int(campaign.best(columns["profit"]))
    limits: dict[str, Values | None] = dict.fromkeys(("lower", "upper", "share_best"))
    if drawn is not None:
        lower, upper = pointwise_band(drawn, plan.level)
        times_best = np.bincount(campaign.best(drawn), minlength=drawn.shape[-1])
        limits = {"lower": lower, "upper": upper, "share_best": times_best / len(drawn)}
    by_depth = columns | {"best": columns["group"] == best} | limits
    about = {"dataset": dataset.sample.dataset, **dataset.sample.named(model)}
    return [
        Profit(**about, **{name: None if values is None else values[k].item() for name, values in by_depth.items()})
        for k in columns["group"]
    ], BestProfit(**about, **_best_profit_fields(campaign, columns["profit"], best, drawn, plan.level))


def _columns_by_depth(campaign: Campaign, summary: Summary) -> dict[str, Values]:
    """Return rows, events and profit after each group, arrays [groups + 1], by the fields of `Profit`."""
    contacted, events = campaign.ranked(summary)
    profit = campaign.earned(contacted, events)
    return {
        "group": np.arange(len(contacted)),
        "population": np.diff(contacted, prepend=0.0),
        "captured": np.diff(events, prepend=0.0),
        "contacted": contacted,
        "found": events,
        "profit": profit,
        "profit_per_row": profit / contacted[-1],
        "profit_random": campaign.earned(contacted, contacted * (events[-1] / contacted[-1])),
        "profit_wizard": campaign.earned(contacted, np.minimum(contacted, events[-1])),
        "incremental": np.diff(profit, prepend=0.0),
    }


def _best_profit_fields(
    campaign: Campaign, profits: Floats, best: int, drawn: Floats | None, level: float
) -> dict[str, object]:
    """Return the fields of `BestProfit`: the best depth and the profit at it, with limits and less its optimism.

    ``profits`` are by depth [groups + 1], ``best`` is the index of the best, ``drawn`` has replicates [B, groups + 1].
    """
    observed = {"group": best, "groups": campaign.terms.groups, "profit": float(profits[best])}
    if drawn is None:
        return observed | dict.fromkeys(("group_lower", "group_upper", "lower", "upper", "corrected"))
    depths = campaign.best(drawn)
    largest = np.take_along_axis(drawn, depths[:, None], axis=-1)[:, 0]
    lower, upper = percentile_limits(largest, level) or (None, None)
    tail = (1 - level) / 2
    # A depth is a whole number of groups: a quantile between two of them goes outwards.
    return observed | {
        "group_lower": int(np.quantile(depths, tail, method="lower")),
        "group_upper": int(np.quantile(depths, 1 - tail, method="higher")),
        "lower": lower, "upper": upper, "corrected": float(profits[best]) - float(np.mean(largest - profits[depths])),
    }
