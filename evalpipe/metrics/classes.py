"""Measures that see all classes at once, of two classes as of many: functions of the whole confusion matrix.

``confusion`` has the true class on the axis before the last and the predicted class on the last.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from evalpipe.arithmetic import log
from evalpipe.metrics.declare import FromSpec, metric
from evalpipe.metrics.values import Proportion, ratio
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats

UNIT = (0.0, 1.0)
CORRELATION = (-1.0, 1.0)
Costs = Annotated[tuple[tuple[float, ...], ...], FromSpec("costs", alone=True)]

of_confusion = partial(metric, needs="labels", sees="classes", linear=True, undefined="no rows")
"""Declare a measure of the predicted classes that is linear in the confusion matrix, or in its totals."""
of_probabilities = partial(metric, needs="probabilities", sees="classes", undefined="no rows")
"""Declare a measure of the probabilities of all classes."""
fact = partial(metric, needs="truth", sees="classes", direction="none", linear=True, undefined="no rows")
"""Declare a fact of the data, which no model changes."""


@of_confusion(direction="maximize", range=UNIT, interval="proportion", standard=True, aliases=("accuracy_score",),
              ref="Sokolova & Lapalme (2009)")
def accuracy(total: Floats, agreed: Floats) -> Proportion:
    r"""Share of the rows whose class was predicted correctly, $\frac{1}{n}\sum_k n_{kk}$."""
    return Proportion(agreed, total)


@of_confusion(direction="minimize", range=UNIT, interval="proportion",
              aliases=("misclassification_rate", "zero_one_loss"), ref="Hand (1997)")
def error_rate(total: Floats, agreed: Floats) -> Proportion:
    r"""Share of the rows whose class was predicted wrongly, $1-\frac{1}{n}\sum_k n_{kk}$."""
    return Proportion(total - agreed, total)


@of_confusion(direction="minimize", range=(0.0, np.inf), extensive=True, ref="Watt, Borhani & Katsaggelos (2020)")
def misclassifications(total: Floats, agreed: Floats) -> Floats:
    r"""Number of rows (with weights: their total weight) whose class was predicted wrongly, $n-\sum_k n_{kk}$."""
    return total - agreed


@of_confusion(direction="maximize", within_classes=True, range=UNIT, standard=True, every_class=True,
              aliases=("bal_accuracy", "balanced_accuracy_score"), undefined="a class does not occur",
              ref="Brodersen et al. (2010)")
def balanced_accuracy(confusion: Floats) -> Floats:
    r"""Mean over the classes of the share that was predicted correctly; for two classes, the mean of sensitivity and
    specificity, $\frac{1}{K}\sum_k\frac{n_{kk}}{n_k}$."""
    recalls = ratio(np.diagonal(confusion, axis1=-2, axis2=-1), confusion.sum(axis=-1))
    # Of two classes a missing one leaves no value; of more, the mean is over those that occur.
    return np.asarray(recalls.mean(axis=-1)) if confusion.shape[-1] == 2 else mean_of_defined(recalls)


@of_confusion(direction="maximize", range=CORRELATION, standard=MANY,
              aliases=("kap", "cohen_kappa_score", "heidke_skill_score"), title="Kappa",
              undefined="truth and predictions are all of one class", ref="Cohen (1960)")
def kappa(confusion: Floats) -> Floats:
    r"""Agreement of truth and prediction beyond chance agreement,
    $\frac{A-E}{1-E},\ A=\frac{1}{n}\sum_k n_{kk},\ E=\frac{1}{n^2}\sum_k n_{k\cdot}n_{\cdot k}$."""
    disagreed = 1 - np.eye(confusion.shape[-1])
    return 1 - weighted_disagreement(confusion, disagreed)


@of_confusion(direction="maximize", range=CORRELATION, standard=True, title="MCC", aliases=("matthews_corrcoef", "phi"),
              undefined="truth or predictions are all of one class", ref="Gorodkin (2004)")
def mcc(confusion: Floats) -> Floats:
    r"""Correlation of truth and prediction; Matthews' coefficient for two classes, Gorodkin's for more, with true
    totals t and predicted totals p, $\frac{n\sum_k n_{kk}-\sum_k t_kp_k}{\sqrt{(n^2-\sum_k p_k^2)(n^2-\sum_k t_k^2)}}$.
    """
    true, predicted = confusion.sum(axis=-1), confusion.sum(axis=-2)
    diagonal = np.diagonal(confusion, axis1=-2, axis2=-1)
    covariance = confusion.sum(axis=(-2, -1)) * diagonal.sum(axis=-1) - (true * predicted).sum(axis=-1)
    # Sums over pairs of classes, not differences of squares: exact where a class takes all rows.
    true_pairs, predicted_pairs = _unlike_pairs(true), _unlike_pairs(predicted)
    # The root of a square may miss its base by rounding; of a perfect prediction the value is 1.
    geometric_mean = np.sqrt(true_pairs) * np.sqrt(predicted_pairs)
    return ratio(covariance, np.where(true_pairs == predicted_pairs, true_pairs, geometric_mean))


def _cost_matrix(options: Mapping[str, Any], _: int) -> tuple[str, Floats]:
    """Return the name and the matrix [K, K] of the costs of each predicted class for each true one."""
    return "costs", np.asarray(options["costs"])


@of_confusion(direction="maximize", range=UNIT, interval="proportion", ref="Chow (1970)")
def reportable_rate(total: Floats, reportable: Floats) -> Proportion:
    r"""Share of the rows outside the equivocal zone, which get a predicted class; 1 without a zone. Measures of
    predicted classes use these rows only, $\frac{n_{\mathrm{reportable}}}{n}$."""
    return Proportion(reportable, total)


@of_confusion(direction="minimize", range=(0.0, np.inf), matrix=_cost_matrix, ref="Elkan (2001)")
def cost(total: Floats, cost_paid: Floats, *, costs: Costs) -> Floats:  # noqa: ARG001 - an option of the statistic
    r"""Mean cost of the predicted classes, by the costs that the spec names for a true and a predicted class,
    $\frac{1}{n}\sum_i c(y_i,\hat y_i)$."""
    return ratio(cost_paid, total)


@of_confusion(direction="maximize", linear=False, range=(-np.inf, np.inf), matrix=_cost_matrix, ref="Elkan (2001)")
def cost_saved(total: Floats, occurring: Floats, cost_paid: Floats, *, costs: Costs) -> Floats:
    r"""Mean cost of always predicting the cheapest class minus the mean cost of the predicted classes: above 0 where
    the predictions cost less, $\min_k\frac{1}{n}\sum_i c(y_i,k)-\frac{1}{n}\sum_i c(y_i,\hat y_i)$."""
    constant = (occurring[..., None] * np.asarray(costs)).sum(axis=-2).min(axis=-1)
    return ratio(constant - cost_paid, total)


@of_probabilities(direction="minimize", range=(0.0, np.inf), linear=True, aliases=("classification_cost",),
                  matrix=_cost_matrix, ref="Elkan (2001)")
def expected_cost(total: Floats, cost_expected: Floats, *, costs: Costs) -> Floats:  # noqa: ARG001 - of the statistic
    r"""Mean cost if classes were drawn from the predicted probabilities, $\frac{1}{n}\sum_i\sum_k p_{ik}c(y_i,k)$."""
    return ratio(cost_expected, total)


@of_probabilities(tasks=MANY, direction="maximize", range=UNIT, interval="proportion", linear=True,
                  title="Top-k accuracy", aliases=("top_k_accuracy_score",), ref="Russakovsky et al. (2015)")
def top_k_accuracy(total: Floats, in_top: Floats, *, k: Annotated[int, Field(ge=1)] = 2) -> Proportion:  # noqa: ARG001
    r"""Share of the rows whose class is among the k most probable; of equal probabilities the first level leads,
    $\frac{1}{n}\sum_i 1(\mathrm{rank}_i\leq k)$."""
    return Proportion(in_top, total)


@of_probabilities(no_information=0.5, tasks=MANY, direction="maximize", range=UNIT, standard=True,
                  title="Hand-Till AUC", aliases=("roc_auc_ovo", "hand_till"), every_class=True,
                  undefined="fewer than two classes occur", ref="Hand & Till (2001)")
def hand_till_auc(occurring: Floats, ranked_pairs: Floats, *, pairs: Literal["equal", "by_size"] = "equal") -> Floats:
    r"""Mean, over pairs of classes, of the probability that a row of one class has a higher probability of that
    class than a row of the other. Classes that do not occur are left out; pairs may be weighted by their rows,
    $\frac{2}{K(K-1)}\sum_{i<j}\frac{A(i|j)+A(j|i)}{2}$."""
    area = ratio(ranked_pairs, occurring[..., :, None] * occurring[..., None, :])
    areas = (area + np.swapaxes(area, -1, -2)) / 2
    size = occurring[..., :, None] + occurring[..., None, :] if pairs == "by_size" else np.ones_like(areas)
    upper = np.flatnonzero(np.triu(np.ones(areas.shape[-2:]), 1))
    flat = (*areas.shape[:-2], -1)
    return mean_of_defined(np.take(areas.reshape(flat), upper, axis=-1), np.take(size.reshape(flat), upper, axis=-1))


@fact(range=UNIT, title="Gini impurity", ref="Breiman et al. (1984)")
def gini_impurity(total: Floats, occurring: Floats) -> Floats:
    r"""Probability that two random rows are of different classes; a fact of the data, not of the model,
    $\sum_k\pi_k(1-\pi_k)$."""
    share = ratio(occurring, total[..., None])
    return np.asarray((share * (1 - share)).sum(axis=-1))


@fact(range=(0.0, np.inf), title="Entropy of the classes", ref="Shannon (1948)")
def entropy(total: Floats, occurring: Floats, *, base: Literal["e", 2, 10] = 2) -> Floats:
    r"""Mean self-information of a row's class; a fact of the data, not of the model, $-\sum_k\pi_k\log\pi_k$."""
    return entropy_of(ratio(occurring, total[..., None])) / (1.0 if base == "e" else math.log(base))


@fact(range=UNIT, title="Error rate of the most frequent class", ref="Breiman et al. (1984)")
def majority_error(total: Floats, occurring: Floats) -> Floats:
    r"""Share of the rows that are not of the most frequent class: the error rate of always predicting it, as in a node
    of a tree; a fact of the data, not of the model, $1-\max_k\pi_k$."""
    return 1 - ratio(occurring.max(axis=-1), total)


def entropy_of(share: Floats) -> Floats:
    """Return the entropy in nats [...] of shares [..., K]; a class that does not occur adds nothing."""
    return np.asarray(-(share * log(np.where(share > 0, share, 1.0))).sum(axis=-1))


def mean_of_defined(values: Floats, size: Floats | float = 1.0) -> Floats:
    """Return the mean [...] of the values [..., k] that are not NaN, weighted by ``size``; NaN where all are NaN."""
    defined = ~np.isnan(values)
    size = np.where(defined, size, 0.0)
    return ratio((np.where(defined, values, 0.0) * size).sum(axis=-1), size.sum(axis=-1))


def weighted_disagreement(confusion: Floats, weights: Floats) -> Floats:
    """Return how much truth and prediction disagree, as a share of what is expected if they are independent: [...].

    ``confusion`` [..., K, K] holds the rows by true and predicted class, ``weights`` [K, K] how much each pair of
    unlike classes counts.
    """
    expected = confusion.sum(axis=-1)[..., :, None] * confusion.sum(axis=-2)[..., None, :]
    total = confusion.sum(axis=(-2, -1))
    return ratio((weights * confusion).sum(axis=(-2, -1)) * total, (weights * expected).sum(axis=(-2, -1)))


def _unlike_pairs(totals: Floats) -> Floats:
    """Return the sum [...] of products of the totals [..., K] of two classes: n^2 less the sum of squares.

    Exactly zero where one class has all, which a difference of two large numbers would miss.
    """
    others = totals.sum(axis=-1)[..., None] - totals
    return np.where((totals > 0).sum(axis=-1) > 1, (totals * others).sum(axis=-1), 0.0)
