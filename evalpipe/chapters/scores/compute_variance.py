"""How sure a mean score is: the variance of items and of epochs, errors of means and of paired differences, power.

An item is what all models answer; its epochs are repeats by the same model. A mean score answers two questions, which
NIST AI 800-3 (2026, Expanding the AI Evaluation Toolbox with Statistical Models) calls benchmark accuracy and
generalized accuracy. On *this benchmark* the items are fixed, and only epochs are random. On *items like these* the
items are a sample, as Miller (2024, Adding Error Bars to Evals, arXiv:2411.00640) has them.

All functions take ``means`` [items, models], the mean score of each item over its epochs, NaN where a model lacks the
item; ``epochs`` of the same shape, how many there are; ``within``, the sum of squared deviations of their scores from
that mean. ``cluster`` [items] numbers from 0 what is drawn whole, by default each item. ``weights`` [items] say how
much an item counts in a mean, on any scale. An item is drawn once whatever its weight: where items are drawn, a weight
of 2 is the item listed twice in one cluster. What is undefined is NaN.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

ROUNDING = 1e-9
"""The share by which a number of items or epochs may lie above an integer that it is rounded to."""


class Errors(NamedTuple):
    """Means or paired differences, each [k], with their standard errors, in units of the score.

    ``benchmark`` is the error where items are fixed; NaN where no item has two epochs. ``like_these`` is the error
    where items, or whole clusters, are drawn; it contains the noise of epochs, and is NaN with fewer than two of them.
    ``items`` counts the items that the value is of. ``one_epoch`` is the variance that epochs would add if each item
    had one; in a difference, one by each model.
    """

    value: Floats
    benchmark: Floats
    like_these: Floats
    items: Wholes
    one_epoch: Floats


def variance_components(
    means: Floats, epochs: Floats, within: Floats, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the variance of items' expected scores, and that of one epoch about its item's, for each model.

    By analysis of variance with random items, one-way, unbalanced: Searle, Casella & McCulloch (1992), Variance
    Components, chapter 3. A variance of items below 0 is set to 0; otherwise, for balanced epochs, the estimates are
    those of REML. With weights the sums of squares are weighted, and are set equal to their expectations all the same.
    """
    weight = _weights_where(means, weights)
    count = np.where(weight > 0, epochs, 1.0)
    noise = ratio(_total(weight, within), _total(weight, count - 1))
    share = weight * count
    _, away = _deviations(means, share)
    whole = share.sum(axis=0)
    expected_noise = weight.sum(axis=0) - ratio((share * weight).sum(axis=0), whole)
    expected_items = whole - ratio((share * share).sum(axis=0), whole)
    expected_items = np.where((weight > 0).sum(axis=0) > 1, expected_items, 0.0)
    estimate = ratio((share * away * away).sum(axis=0) - noise * expected_noise, expected_items)
    return np.where(estimate < 0, 0.0, estimate), noise


def mean_errors(
    means: Floats, epochs: Floats, within: Floats, cluster: Wholes | None = None, weights: Floats | None = None
) -> Errors:
    """Return the mean score of each model with its two standard errors.

    On this benchmark: the variance of each item's epochs, which Miller (2024, section 3) calls conditional, over their
    number; an item with one epoch has the pooled variance of those with two. For items like these: the clustered error
    of Miller (2024, section 2.2), with the factor C / (C - 1) for C clusters, without which it is too small; for single
    items it so is the standard deviation over the square root of their number.
    """
    noise = _noise_of_epoch(means, epochs, within, weights)
    return _errors(means, noise, ratio(noise, epochs), _weights_where(means, weights), cluster)


def paired_errors(
    means: Floats, epochs: Floats, within: Floats, cluster: Wholes | None = None, weights: Floats | None = None
) -> tuple[Errors, Floats]:
    """Return the paired differences of models on the items that both have, with their errors, and correlations [k].

    Pairs stand in the order (0, 1), (0, 2), ..., (1, 2), ...; a difference is the first less the second. Miller (2024,
    section 4): the errors of the differences by item. Epochs of two models are independent. The correlation is that of
    the two models' item scores; NaN where one of them has the same score on all items.
    """
    models = means.shape[1]
    noise = _noise_of_epoch(means, epochs, within, weights)
    noise_of_mean, blocks, correlations = ratio(noise, epochs), [], []
    for model in range(max(models - 1, 1)):
        single, others = slice(model, model + 1), slice(model + 1, models)
        differences = means[:, single] - means[:, others]
        weight = _weights_where(differences, weights)
        blocks.append(_errors(differences, noise[:, single] + noise[:, others],
                              noise_of_mean[:, single] + noise_of_mean[:, others], weight, cluster))
        (_, away), (_, other_away) = (
            _deviations(np.broadcast_to(means[:, columns], differences.shape), weight) for columns in (single, others))
        squares, other_squares, products = (
            (weight * a * b).sum(axis=0) for a, b in ((away, away), (other_away, other_away), (away, other_away)))
        correlations.append(np.clip(ratio(products, np.sqrt(squares) * np.sqrt(other_squares)), -1.0, 1.0))
    return Errors(*(np.concatenate(columns) for columns in zip(*blocks, strict=True))), np.concatenate(correlations)


def power_analysis(
    errors: Errors, difference: float = 0.01, alpha: float = 0.05, power: float = 0.8
) -> tuple[Floats, Floats, Floats]:
    """Return what two-sided tests at the level ``alpha`` show with a power, by the normal approximation, each [k].

    First the smallest true difference that is shown as it is. Then how many items like these would show a given true
    ``difference``, above 0, at the present epochs; in clusters, with as many to a cluster. Last how many epochs of each
    item, by each model, would show it on the present items: infinite where the items alone vary too much.

    Miller (2024), section 5: n = (z of alpha / 2 + z of power)^2 (variance of items + noise of epochs) / difference^2.
    The variance of items is what the noise of epochs leaves of the error, at least 0.
    """
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    allowed = (difference / z) ** 2
    variance, of_epochs = errors.like_these**2, errors.benchmark**2
    left = allowed - np.maximum(variance - of_epochs, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        epochs = np.where(left <= 0, np.inf, errors.one_epoch / left)
    return z * errors.like_these, _rounded_up(errors.items * variance / allowed), _rounded_up(epochs)


def sums_by_cluster(values: Floats, cluster: Wholes | None) -> Floats:
    """Return the sums of ``values`` [items, k] over the items of each cluster, [clusters, k]; of None, as they are."""
    if cluster is None:
        return values
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))


def _errors(values: Floats, noise: Floats, noise_of_mean: Floats, weight: Floats, cluster: Wholes | None) -> Errors:
    """Return the weighted means of ``values`` with their errors.

    All are [items, k]; ``noise`` is the variance of one epoch, ``noise_of_mean`` that of the item's value.
    """
    mean, away = _deviations(values, weight)
    whole = weight.sum(axis=0)
    sums = sums_by_cluster(weight * away, cluster)
    units = (sums_by_cluster((weight > 0).astype(float), cluster) > 0).sum(axis=0).astype(float)
    variance = ratio(units, units - 1) * (sums * sums).sum(axis=0)
    benchmark, like_these = (
        ratio(np.sqrt(total), whole) for total in (_total(weight * weight, noise_of_mean), variance))
    return Errors(mean, benchmark, like_these, (weight > 0).sum(axis=0),
                  ratio(_total(weight * weight, noise), whole * whole))


def _noise_of_epoch(means: Floats, epochs: Floats, within: Floats, weights: Floats | None) -> Floats:
    """Return the variance of one epoch of each item [items, models]: pooled over items where it has but one."""
    weight = _weights_where(means, weights)
    free = np.where(weight > 0, epochs - 1, 0.0)
    return np.where(free > 0, ratio(within, free), ratio(_total(weight, within), _total(weight, free)))


def _weights_where(values: Floats, weights: Floats | None) -> Floats:
    """Return the weight of each value [items, k], 0 where it is missing."""
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    return np.where(np.isnan(values), 0.0, weight[:, None])


def _deviations(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the weighted mean [k] of values [items, k], and how far each is from it, 0 where it has no weight."""
    # What is the same on all items has deviations of exactly 0 only if it is taken off before the mean is.
    start: Floats = values[(weight > 0).argmax(axis=0), np.arange(values.shape[1])]
    shifted = np.where(weight > 0, values - start, 0.0)
    mean = ratio((weight * shifted).sum(axis=0), weight.sum(axis=0))
    return start + mean, np.where(weight > 0, shifted - mean, 0.0)


def _total(weight: Floats, values: Floats) -> Floats:
    """Return the weighted total of values [items, k] over items, whatever they are where there is no weight."""
    return np.asarray(np.where(weight > 0, weight * values, 0.0).sum(axis=0))


def _rounded_up(numbers: Floats) -> Floats:
    """Return whole numbers of at least 1 that are not below ``numbers``, but for rounding."""
    return np.maximum(np.ceil(numbers * (1 - ROUNDING)), 1.0)
