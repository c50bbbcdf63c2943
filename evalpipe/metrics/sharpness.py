"""How decided predictions are, whatever the truth: mean impurities of the predicted probabilities of all classes.

They measure no error. Of calibrated probabilities the mean Gini index is the Brier score that is to be expected (on the
scale of a sum), the mean entropy the log loss, and the mean of 1 less the largest probability the error rate.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

sharpness = partial(metric, needs="probabilities", sees="classes", direction="none", linear=True, undefined="no rows")
"""Declare a mean impurity of the predicted probabilities; smaller is more decided, and only better where it is right.
"""


@sharpness(range=(0.0, 1.0), title="Predicted Gini index", ref="Breiman et al. (1984)")
def predicted_gini(total: Floats, predicted_gini_total: Floats) -> Floats:
    r"""Mean Gini index of the predicted probabilities: how often two classes drawn from the probabilities of a row
    would differ. Of calibrated probabilities it is the Brier score to be expected, on the scale of a sum,
    $\frac{1}{n}\sum_i\sum_k p_{ik}(1-p_{ik})$."""
    return ratio(predicted_gini_total, total)


@sharpness(range=(0.0, np.inf), title="Predicted entropy", ref="Hastie, Tibshirani & Friedman (2009)")
def predicted_entropy(
    total: Floats, predicted_entropy_total: Floats, *, base: Literal["e", 2, 10] = "e"
) -> Floats:
    r"""Mean entropy of the predicted probabilities. Of calibrated probabilities it is the log loss to be expected,
    $-\frac{1}{n}\sum_i\sum_k p_{ik}\log p_{ik}$."""
    return ratio(predicted_entropy_total, total) / (1.0 if base == "e" else math.log(base))


@sharpness(range=(0.0, 1.0), title="Predicted error rate", ref="Hastie, Tibshirani & Friedman (2009)")
def predicted_error(total: Floats, predicted_error_total: Floats) -> Floats:
    r"""Mean probability that the most probable class is not the true one, by the model itself. Of calibrated
    probabilities it is the error rate to be expected, $\frac{1}{n}\sum_i(1-\max_k p_{ik})$."""
    return ratio(predicted_error_total, total)
