"""Measures of items that a model has a score for: their mean and spread, passes of repeated epochs, agreement, wins.

A row is an item, and its score the mean over its epochs. What is better, and the range of scores, the spec's `score`
says; directions here are those of scores of which higher is better.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric
from evalpipe.metrics.smooth import quantile as weighted_quantile
from evalpipe.metrics.values import Proportion, ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

ANY = (-np.inf, np.inf)
SHARE = (0.0, 1.0)
NO_ITEMS = "no items"
ONE_ITEM = "the weights add up to no more than one item"
FEW_EPOCHS = "an item has fewer than k epochs"
NO_REPEATS = "no item has two epochs"

Epochs = Annotated[int, Field(ge=1, le=1000)]
"""A number of epochs."""

of_items = partial(metric, needs="item_scores", sees="items", undefined=NO_ITEMS)
"""Declare a measure of the scores of items."""
of_passes = partial(metric, needs="successes", sees="items", direction="maximize", range=SHARE, interval="score",
                    undefined=FEW_EPOCHS, ref="Chen et al. (2021)")
"""Declare a mean over items of the probability that epochs pass."""


@of_items(standard=True, title="Mean score", direction="maximize", range=ANY, interval="score",
          from_score=("direction", "range"), ref="Miller (2024)")
def mean(total: Floats, item_score: Floats) -> Floats:
    r"""Mean score of the items, each the mean over its epochs, $\frac{1}{n}\sum_i\bar s_i$."""
    return ratio(item_score, total)


@of_items(direction="maximize", range=ANY, from_score=("direction", "range"), ref="Hyndman & Fan (1996)")
def median(score_at: Floats, score_total: Floats) -> Floats:
    r"""Median score of the items, the mean of the two middle ones where there are two, $\mathrm{median}_i\bar s_i$."""
    return _quantile(score_at, score_total, 0.5)


@of_items(direction="maximize", range=ANY, from_score=("direction", "range"), ref="Hyndman & Fan (1996)")
def quantile(score_at: Floats, score_total: Floats, *, q: Annotated[float, Field(gt=0, lt=1)]) -> Floats:
    r"""The score that a share q of the items do not exceed, the mean of two neighbours where a score ends exactly at
    that share (type 2), $\hat F^{-1}(q)$."""
    return _quantile(score_at, score_total, q)


@of_items(title="Share at or above limit", direction="maximize", interval="proportion", range=SHARE,
          from_score=("direction",), ref="Miller (2024)")
def share_at_least(total: Floats, at_or_above: Floats, *, limit: float) -> Proportion:  # noqa: ARG001 - of a statistic
    r"""Share of the items whose score is at the limit or above it, $\frac{1}{n}\sum_i I(\bar s_i\geq L)$."""
    return Proportion(at_or_above, total)


@of_items(direction="none", range=(0.0, np.inf), undefined=ONE_ITEM, ref="Miller (2024)")
def standard_deviation(total: Floats, score_deviation: Floats, squared_score_deviation: Floats) -> Floats:
    r"""Standard deviation of the items' scores; the standard error of the mean is this over the root of the number of
    independent items, $\sqrt{\frac{1}{n-1}\sum_i(\bar s_i-\bar s)^2}$."""
    squares = squared_score_deviation - score_deviation * ratio(score_deviation, total)
    return np.sqrt(ratio(np.maximum(squares, 0.0), np.where(total > 1, total - 1.0, np.nan)))


@of_passes(title="Pass at k", aliases=("pass_at_k",))
def pass_at(total: Floats, passes_in_some: Floats, too_few_epochs: Floats, *, k: Epochs = 1) -> Floats:  # noqa: ARG001
    r"""Probability that at least one of k epochs of an item is a success, without bias from its n epochs with c
    successes, $\frac{1}{N}\sum_i\left(1-\frac{\binom{n_i-c_i}{k}}{\binom{n_i}{k}}\right)$."""
    return mean_of_complete_items(total, passes_in_some, too_few_epochs)


@of_passes(title="Pass all k", aliases=("pass_all_k", "pass_hat_k"), ref="Yao et al. (2024)")
def pass_all(total: Floats, passes_in_all: Floats, too_few_epochs: Floats, *, k: Epochs) -> Floats:  # noqa: ARG001
    r"""Probability that all of k epochs of an item are successes, without bias from its n epochs with c successes,
    $\frac{1}{N}\sum_i\frac{\binom{c_i}{k}}{\binom{n_i}{k}}$."""
    return mean_of_complete_items(total, passes_in_all, too_few_epochs)


@of_items(needs="successes", direction="minimize", range=SHARE, interval="score", undefined=NO_REPEATS,
          ref="Fleiss (1971)")
def flip_rate(repeated_items: Floats, flips: Floats) -> Floats:
    r"""Probability that of two epochs of one item one is a success and the other is not, over items with two epochs or
    more, $\frac{1}{N}\sum_i\frac{2c_i(n_i-c_i)}{n_i(n_i-1)}$."""
    return ratio(flips, repeated_items)


@of_items(direction="maximize", range=SHARE, interval="score", title="Agreement of epochs", undefined=NO_REPEATS,
          ref="Fleiss (1971)")
def agreement(repeated_items: Floats, agreeing_pairs: Floats) -> Floats:
    r"""Probability that two epochs of one item have the same score, over items with two epochs or more,
    $\frac{1}{N}\sum_i P(s_{ij}=s_{ik})$."""
    return ratio(agreeing_pairs, repeated_items)


@of_items(direction="none", range=(-np.inf, 1.0), title="Intraclass correlation", aliases=("icc",),
          undefined="no item has two epochs, or no score differs from another", ref="Shrout & Fleiss (1979)")
def intraclass_correlation(epoch_moments: Floats) -> Floats:
    r"""Correlation of two epochs of one item: the share of the variance of a single score that lies between items, by
    a one-way analysis of variance. It is 0 where epochs of one item are no more alike than those of others,
    $\frac{MS_B-MS_W}{MS_B+(n_0-1)MS_W}$."""
    items, epochs, squared_epochs, deviation, squares, within = np.moveaxis(epoch_moments, -1, 0)
    between = squares - deviation * ratio(deviation, epochs)
    freedom = np.where(items > 1, items - 1.0, np.nan)
    mean_between = between / freedom
    mean_within = ratio(within, np.where(epochs > items, epochs - items, np.nan))
    per_item = (epochs - ratio(squared_epochs, epochs)) / freedom
    return ratio(mean_between - mean_within, mean_between + (per_item - 1) * mean_within)


@of_items(needs="wins", direction="maximize", range=SHARE, interval="score", ref="Chiang et al. (2024)")
def win_rate(total: Floats, wins: Floats) -> Floats:
    r"""Probability of a better score than another model of the spec in a random item, ties one half; all other models
    count alike, $\frac{1}{n}\sum_i\frac{1}{m-1}\sum_{j}\left(I(s_i>s_{ij})+\frac{1}{2}I(s_i=s_{ij})\right)$."""
    return ratio(wins, total)


@of_items(needs="usage", direction="minimize", range=(0.0, np.inf), ref="Kapoor et al. (2024)")
def mean_usage(total: Floats, usage_of_item: Floats, *, usage: str) -> Floats:  # noqa: ARG001 - of a statistic
    r"""Mean of what an epoch of an item uses, such as its cost, tokens or seconds, by its name under `usage` of the
    models, $\frac{1}{n}\sum_i\bar u_i$."""
    return ratio(usage_of_item, total)


@of_items(needs="usage_of_successes", direction="minimize", range=(0.0, np.inf), undefined="no epoch is a success",
          ref="Kapoor et al. (2024)")
def usage_per_success(usage_of_item: Floats, success_share: Floats, *, usage: str) -> Floats:  # noqa: ARG001
    r"""What is used for each success, such as the cost: the mean over items of what an epoch uses, as a ratio to the
    mean share of epochs that succeed, $\frac{\sum_i\bar u_i}{\sum_i c_i/n_i}$."""
    return ratio(usage_of_item, success_share)


def mean_of_complete_items(total: Floats, values: Floats, lacking: Floats) -> Floats:
    """Return the mean of ``values`` [...]; NaN where an item has no value, such as one with too few epochs."""
    return np.clip(ratio(values, np.where(lacking > 0, np.nan, total)), 0.0, 1.0)


def _quantile(weight: Floats, totals: Floats, share: float) -> Floats:
    """Return the quantile [...] from the weight and the weighted total at each distinct score, [..., m] ascending.

    NaN without weight. A score without weight is never the first to reach a share, so what stands there is not taken.
    """
    scores = np.broadcast_to(ratio(totals, weight, empty=0.0), weight.shape)
    return np.where(weight.sum(axis=-1) > 0, weighted_quantile(weight, scores, share), np.nan)
