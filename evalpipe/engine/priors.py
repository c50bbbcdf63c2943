"""The prevalence that is declared, with its spread, and the one observed in each dataset, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.curves.predictive import predictive_lines
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bootstrap import kish
from evalpipe.results import ObservedShare, Prior
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


def declared_prior(plan: Plan, levels: Sequence[str]) -> Prior | None:
    """Return the declared prevalence, of ``levels`` in their order; None where there is none."""
    given = plan.prevalence
    if given is None:
        return None
    shape, level = given.parameters, plan.level
    limits = {} if shape is None else {name: _spread(shape, k, level) for k, name in enumerate(levels)}
    binary = plan.task == "binary"
    return Prior(
        value=given.event if binary else None, source=given.source,
        levels=None if binary else dict(zip(levels, given.shares, strict=True)),
        beta=list(shape) if shape is not None and binary else None,
        dirichlet=dict(zip(levels, shape, strict=True)) if shape is not None and not binary else None,
        level=None if shape is None else level, limits=limits, lines=predictive_lines(plan),
    )


def _spread(shape: Sequence[float], k: int, level: float) -> tuple[float, float]:
    """Return the central quantiles of one share: of a Dirichlet distribution it is Beta(a, the others' sum)."""
    from scipy.special import betaincinv

    tail, rest = (1 - level) / 2, sum(shape) - shape[k]
    lower, upper = betaincinv(shape[k], rest, [tail, 1 - tail])
    return float(lower), float(upper)


def observed_shares(plan: Plan, sample: Sample) -> Iterator[ObservedShare]:
    """Yield the share of the event, or of each level, in an evaluated dataset."""
    if sample.task in NUMBERS:
        return
    method = plan.interval_method if plan.interval_method in LIMITS else "exact"
    for k, name in enumerate(sample.levels[:1] if sample.task == "binary" else sample.levels):
        hit = sample.truth if sample.task == "binary" else sample.truth == k
        share = float((sample.weights * hit).sum() / sample.weights.sum())
        limits = None
        if plan.interval_method != "none" and sample.summary.clusters != 1:
            trials = _trials(sample, hit, share)
            limits = tuple(float(limit) for limit in LIMITS[method](share * trials, trials, plan.level))
        yield ObservedShare(
            dataset=sample.dataset, level=name, value=share, lower=limits[0] if limits else None,
            upper=limits[1] if limits else None, confidence=plan.level if limits else None,
            method=method if limits else "none",
        )


def _trials(sample: Sample, hit: Any, share: float) -> float:
    """Return the observations, or of clusters or importance weights so many of one kind as tell as much.

    p (1 - p) over the variance of the share, which is that of the clusters' totals, and never more than there are;
    Kish's number of clusters where p is 0 or 1. Korn & Graubard (1998).
    """
    weights = sample.weights
    if sample.cluster is None and sample.weight_kind != "importance":
        return float(weights.sum())
    units = np.arange(sample.n) if sample.cluster is None else sample.cluster
    count = int(units.max()) + 1
    if not 0 < share < 1:
        return float(kish(np.bincount(units, weights)))
    squares = float((np.bincount(units, weights * (hit - share)) ** 2).sum())
    spare = 1.0 if sample.cluster is None else count / (count - 1)
    most, variance = float(sample.observations.sum()), squares * spare / float(weights.sum()) ** 2
    return share * (1 - share) / max(variance, share * (1 - share) / most)
