"""Measures of an outcome with ordered levels, which count how far a prediction misses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalpipe.arithmetic import power
from evalpipe.metrics.classes import weighted_disagreement
from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import ratio
from evalpipe.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats

ORDERED: tuple[Task, ...] = ("ordinal",)
FAR = (0.0, np.inf)
POWERS = {"linear": 1, "quadratic": 2}

miss = partial(
    metric, needs="labels", sees="classes", tasks=ORDERED, direction="minimize", range=FAR, undefined="no rows"
)
"""Declare by how many levels predictions miss."""


def _weight_matrix(options: Mapping[str, Any], levels: int) -> tuple[str, Floats]:
    """Return the name and the matrix [levels, levels] of how much each pair of levels counts in the weighted kappa."""
    rank = np.arange(levels, dtype=float)
    return f"{options['weights']} weights", power(np.abs(rank[:, None] - rank), POWERS[options["weights"]])


@metric(needs="labels", sees="classes", tasks=ORDERED, direction="maximize", range=(-1.0, 1.0), standard=True,
        linear=True, aliases=("weighted_cohen_kappa",), matrix=_weight_matrix,
        undefined="truth and predictions are all of one class", ref="Cohen (1968)")
def weighted_kappa(confusion: Floats, *, weights: Literal["linear", "quadratic"] = "quadratic") -> Floats:
    r"""Agreement beyond chance agreement, where an error is weighted by the number of levels or its square,
    $1-\frac{\sum_{ij}w_{ij}o_{ij}}{\sum_{ij}w_{ij}e_{ij}},\ w_{ij}=|i-j|^p$."""
    return 1 - weighted_disagreement(confusion, _weight_matrix({"weights": weights}, confusion.shape[-1])[1])


@metric(needs="probabilities", sees="classes", tasks=ORDERED, direction="minimize", range=(0.0, 1.0), standard=True,
        linear=True, title="Ranked probability score", aliases=("ranked_prob_score", "ranked_probability_score"),
        undefined="no rows", ref="Epstein (1969)")
def rps(total: Floats, ranked_probability_error: Floats, occurring: Floats) -> Floats:
    r"""Mean squared distance of the cumulative probabilities from the cumulative truth, over the K-1 cuts between
    levels, $\frac{1}{n(K-1)}\sum_i\sum_{k<K}\left(P_{ik}-1(y_i\leq k)\right)^2$."""
    return ratio(ranked_probability_error, total * (occurring.shape[-1] - 1))


@miss(linear=True, standard=True, title="Ordinal MAE", ref="Gaudette & Japkowicz (2009)")
def ordinal_mae(total: Floats, rank_error: Floats) -> Floats:
    r"""Mean number of levels by which the prediction misses, $\frac{1}{n}\sum_i|r_i-\hat r_i|$."""
    return ratio(rank_error, total)


@miss(title="Ordinal MSE", linear=True, ref="Gaudette & Japkowicz (2009)")
def ordinal_mse(total: Floats, squared_rank_error: Floats) -> Floats:
    r"""Mean squared number of levels by which the prediction misses, $\frac{1}{n}\sum_i(r_i-\hat r_i)^2$."""
    return ratio(squared_rank_error, total)


@miss(title="Ordinal RMSE", ref="Gaudette & Japkowicz (2009)")
def ordinal_rmse(total: Floats, squared_rank_error: Floats) -> Floats:
    r"""Root of the ordinal MSE, in levels, $\sqrt{\frac{1}{n}\sum_i(r_i-\hat r_i)^2}$."""
    return np.sqrt(ratio(squared_rank_error, total))
