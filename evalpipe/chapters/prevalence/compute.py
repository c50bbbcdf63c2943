"""The prevalence that is declared, with its spread, and the one observed in each dataset, with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.prevalence.records import ObservedShare, PredictiveLine, Prior
from evalpipe.engine.curves.declare import listed
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bootstrap import kish
from evalpipe.metrics.values import ratio
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.arraytypes import Flags, Floats, Values
    from evalpipe.chapters.prevalence.plan import PrevalencePlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.plan import Plan

HELD_AT = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The sensitivities and specificities that a line of predictive values is given for."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the declared prevalence, and the share of the event, or of each level, in each dataset."""
    levels = evaluated[0].sample.levels if evaluated else ()
    return {
        "prevalence": None if plan.prevalence is None else _declared(plan, plan.prevalence, levels),
        "observed": [share for dataset in evaluated for share in _observed(plan, dataset.sample)],
    }


def _declared(plan: Plan, declared: PrevalencePlan, levels: Sequence[str]) -> Prior:
    """Return the declared prevalence, of ``levels`` in their order."""
    concentration, binary = declared.parameters, plan.task == "binary"
    limits = {level: _spread(concentration, k, plan.level) for k, level in enumerate(levels)} if concentration else {}
    return Prior(
        value=declared.event if binary else None, source=declared.source,
        levels=None if binary else dict(zip(levels, declared.shares, strict=True)),
        beta=list(concentration) if concentration and binary else None,
        dirichlet=dict(zip(levels, concentration, strict=True)) if concentration and not binary else None,
        level=plan.level if concentration else None, limits=limits,
        lines=_lines(declared.event) if binary else [],
    )


def _spread(concentration: Sequence[float], k: int, level: float) -> tuple[float, float]:
    """Return the central quantiles of one share: of a Dirichlet distribution it is Beta(a, the others' sum)."""
    from scipy.special import betaincinv

    tail, rest = (1 - level) / 2, math.fsum(share for j, share in enumerate(concentration) if j != k)
    lower, upper = betaincinv(concentration[k], rest, [tail, 1 - tail])
    return float(lower), float(upper)


def _lines(prevalence: float) -> list[PredictiveLine]:
    """Return ppv and npv at a prevalence along sensitivity and along specificity, for some values of the other."""
    rates, lines = np.arange(51) / 50, []
    for by, other in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
        for at in HELD_AT:
            sensitivity, specificity = (rates, at) if by == "sensitivity" else (at, rates)
            tp, tn = sensitivity * prevalence, specificity * (1 - prevalence)
            ppv = ratio(tp, tp + (1 - specificity) * (1 - prevalence))
            npv = ratio(tn, tn + (1 - sensitivity) * prevalence)
            points = {"rate": listed(rates), "ppv": listed(ppv), "npv": listed(npv)}
            lines.append(PredictiveLine(by=by, other=other, at=at, points=points))
    return lines


def _observed(plan: Plan, sample: Sample) -> Iterator[ObservedShare]:
    """Yield the share of the event, or of each level, in an evaluated dataset."""
    if sample.task in NUMBERS:
        return
    for k, level in enumerate(sample.levels[:1] if sample.task == "binary" else sample.levels):
        yield _share(plan, sample, level, sample.truth if sample.task == "binary" else sample.truth == k)


def _share(plan: Plan, sample: Sample, level: str, occurs: Flags) -> ObservedShare:
    """Return the share of the rows [n] in which a level ``occurs``, with its limits where rows tell them."""
    share = float((sample.weights * occurs).sum() / sample.weights.sum())
    about = {"dataset": sample.dataset, "level": level, "value": share}
    if plan.interval_method == "none" or sample.summary.clusters == 1:
        return ObservedShare(**about, lower=None, upper=None, confidence=None, method="none")
    method = plan.interval_method if plan.interval_method in LIMITS else "exact"
    trials = _trials(sample, occurs, share)
    lower, upper = map(float, LIMITS[method](share * trials, trials, plan.level))
    return ObservedShare(**about, lower=lower, upper=upper, confidence=plan.level, method=method)


def _trials(sample: Sample, occurs: Flags, share: float) -> float:
    """Return the observations, or of clusters or importance weights so many of one kind as tell as much.

    p (1 - p) over the variance of the share, which is that of the clusters' totals, and never more than there are;
    Kish's number of clusters where p is 0 or 1. Korn & Graubard (1998).
    """
    weights, clustered = sample.weights, sample.cluster is not None or sample.by_cluster is not None
    if not clustered and sample.weight_kind != "importance":
        return float(weights.sum())
    if not 0 < share < 1:
        return float(kish(_totals(sample, np.ones(sample.n))))
    totals = _totals(sample, occurs - share)
    count, squares = len(totals), float((totals**2).sum())
    # Without clusters there is no factor, so that equal weights give back the number of rows.
    correction = count / (count - 1) if clustered else 1.0
    most, variance = float(sample.observations.sum()), squares * correction / float(weights.sum()) ** 2
    return share * (1 - share) / max(variance, share * (1 - share) / most)


def _totals(sample: Sample, values: Values) -> Floats:
    """Return the weighted total of values of rows [n] in each cluster, or in each row where there are none."""
    if sample.by_cluster is not None:
        return sample.by_cluster.totals(values)
    units = np.arange(sample.n) if sample.cluster is None else sample.cluster
    return np.asarray(np.bincount(units, sample.weights * values), float)
