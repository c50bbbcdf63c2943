"""The prevalence that is declared, with its spread, and the one observed in each dataset, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.prevalence.plan import UnreadShares
from evalpipe.chapters.prevalence.records import ObservedShare, PredictiveLine, Prior
from evalpipe.engine.curves.declare import listed
from evalpipe.errors import DataError, Problem
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bootstrap import kish
from evalpipe.metrics.values import ratio
from evalpipe.results import Warned
from evalpipe.tasks import MANY, WITHOUT_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Values
    from evalpipe.chapters.prevalence.plan import PrevalencePlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

HELD_AT = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The sensitivities and specificities that a line of predictive values is given for."""


def with_prevalence(plan: Plan, samples: Sequence[Sample]) -> Plan:
    """Return the plan with the prevalence that a dataset gives, once that is read, in place of each stand-in for it.

    It is Beta or Dirichlet distributed, with the weighted counts of the rows as parameters: its mean is their share.
    Raises DataError where the rows lack a level, or cannot tell how uncertain their share is.
    """
    declared = plan.prevalence
    if declared is None or declared.dataset is None:
        return plan
    sample = next(sample for sample in samples if sample.dataset == declared.dataset)
    shares, parameters = _estimated_shares(plan, sample)
    estimated = replace(declared, shares=shares, parameters=parameters, rows=sample.summary.n)
    planned: Plan = _with_known_shares(replace(plan, prevalence=estimated), shares)
    labels = [entry.label for entry in planned.metrics]
    for entry in planned.metrics:
        if entry.prior.uncertain and labels.count(entry.label) > 1:
            message = (f"{entry.label} is listed twice: the prevalence of dataset '{declared.dataset}' is this number "
                       "too")
            place = plan.places.place("prevalence", "from")
            raise DataError(Problem("duplicate-prevalence", message, place, "ask for it at 'declared' alone"))
    return planned


def _estimated_shares(plan: Plan, sample: Sample) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the share of each level in a sample, and the parameters of its Beta or Dirichlet distribution."""
    codes = np.where(sample.truth, 0, 1) if sample.task == "binary" else sample.truth
    is_level = [codes == k for k in range(len(sample.levels))]
    totals, total = [float(sample.weights[rows].sum()) for rows in is_level], float(sample.weights.sum())
    shares = tuple(of_level / total for of_level in totals)
    absent = next((level for level, rows in zip(sample.levels, is_level, strict=True) if not rows.any()), None)
    if absent is not None:
        raise _cannot_be_estimated(
            plan, f"no row of dataset '{sample.dataset}' has the level '{absent}', so its prevalence cannot be "
            "estimated from it")
    if sample.summary.clusters == 1 and plan.interval_method != "none":
        raise _cannot_be_estimated(
            plan, f"all rows of dataset '{sample.dataset}' are in one cluster, so they cannot tell how uncertain the "
            "prevalence is")
    # Of clusters and importance weights, the level of which the rows tell least.
    observations = min(
        _effective_observations(sample, rows, share) for rows, share in zip(is_level, shares, strict=True))
    return shares, tuple(of_level * (observations / total) for of_level in totals)


def _cannot_be_estimated(plan: Plan, message: str) -> DataError:
    """Return the error that the declared prevalence cannot be estimated from its dataset."""
    form = "levels: {…}" if plan.task in MANY else "value: …"
    hint = f"name another dataset, or write '{form}' with its source"
    return DataError(Problem("no-prevalence", message, plan.places.place("prevalence", "from"), hint))


def _with_known_shares(part: Any, shares: tuple[float, ...]) -> Any:
    """Return a part of a plan in which each `UnreadShares`, at any depth, is replaced by the ``shares``.

    The same object where it contains none.
    """
    if isinstance(part, UnreadShares):
        return part.known(shares)
    if isinstance(part, Mapping):
        replaced = {key: _with_known_shares(item, shares) for key, item in part.items()}
        return replaced if any(replaced[key] is not item for key, item in part.items()) else part
    if isinstance(part, tuple):
        items = tuple(_with_known_shares(item, shares) for item in part)
        return items if any(new is not old for new, old in zip(items, part, strict=True)) else part
    if is_dataclass(part) and not isinstance(part, type):
        old = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
        new = {name: _with_known_shares(item, shares) for name, item in old.items()}
        changed = {name: item for name, item in new.items() if item is not old[name]}
        return replace(part, **changed) if changed else part
    return part


def warnings(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield a warning for a dataset that is evaluated at the prevalence of its own rows."""
    declared = plan.prevalence
    if declared is not None and any(dataset.sample.dataset == declared.dataset for dataset in evaluated):
        yield Warned.of("prevalence-of-itself", dataset=declared.dataset)


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the declared prevalence and the observed share of the event, or of each level, by field of the results."""
    levels, binary = evaluated[0].sample.levels if evaluated else (), plan.task == "binary"
    return {
        "prevalence": None if plan.prevalence is None else _declared_prior(plan, plan.prevalence, levels),
        "observed": [
            _observed_share(plan, sample, level, sample.truth if binary else sample.truth == k)
            for sample in (dataset.sample for dataset in evaluated) if sample.task not in WITHOUT_LEVELS
            for k, level in enumerate(sample.levels[:1] if binary else sample.levels)],
    }


def _declared_prior(plan: Plan, declared: PrevalencePlan, levels: Sequence[str]) -> Prior:
    """Return the record of the declared prevalence, with limits where it is uncertain."""
    concentration, binary = declared.parameters, plan.task == "binary"
    limits: dict[str, tuple[float, float]] = {}
    if concentration:
        limits = {level: _central_interval(concentration, k, plan.level) for k, level in enumerate(levels)}
    return Prior(
        value=declared.event if binary else None, source=declared.source,
        levels=None if binary else dict(zip(levels, declared.shares, strict=True)),
        beta=list(concentration) if concentration and binary else None,
        dirichlet=dict(zip(levels, concentration, strict=True)) if concentration and not binary else None,
        level=plan.level if concentration else None, limits=limits, dataset=declared.dataset, rows=declared.rows,
        lines=_predictive_lines(declared.event) if binary else [],
    )


def _central_interval(concentration: Sequence[float], k: int, level: float) -> tuple[float, float]:
    """Return the central interval of the k-th share of a Dirichlet distribution, which is Beta(a_k, sum of the others).

    ``concentration`` are the parameters a.
    """
    from scipy.special import betaincinv

    tail, others = (1 - level) / 2, math.fsum(share for j, share in enumerate(concentration) if j != k)
    lower, upper = betaincinv(concentration[k], others, [tail, 1 - tail])
    return float(lower), float(upper)


def _predictive_lines(prevalence: float) -> list[PredictiveLine]:
    """Return ppv and npv at a prevalence along sensitivity for some specificities, and along specificity likewise."""
    rates, lines = np.arange(51) / 50, []
    for rate, other in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
        for other_value in HELD_AT:
            sensitivity, specificity = (rates, other_value) if rate == "sensitivity" else (other_value, rates)
            tp, tn = sensitivity * prevalence, specificity * (1 - prevalence)
            ppv = ratio(tp, tp + (1 - specificity) * (1 - prevalence))
            npv = ratio(tn, tn + (1 - sensitivity) * prevalence)
            points = {"rate": listed(rates), "ppv": listed(ppv), "npv": listed(npv)}
            lines.append(PredictiveLine(by=rate, other=other, at=other_value, points=points))
    return lines


def _observed_share(plan: Plan, sample: Sample, level: str, has_level: Flags) -> ObservedShare:
    """Return the share of rows of a level, from flags [n], with its limits where they can be computed."""
    share = float((sample.weights * has_level).sum() / sample.weights.sum())
    about = {"dataset": sample.dataset, "level": level, "value": share}
    if plan.interval_method == "none" or sample.summary.clusters == 1:
        return ObservedShare(**about, lower=None, upper=None, confidence=None, method="none")
    method = plan.interval_method if plan.interval_method in LIMITS else "exact"
    observations = _effective_observations(sample, has_level, share)
    lower, upper = map(float, LIMITS[method](share * observations, observations, plan.level))
    return ObservedShare(**about, lower=lower, upper=upper, confidence=plan.level, method=method)


def _effective_observations(sample: Sample, has_level: Flags, share: float) -> float:
    """Return the number of observations behind a share; under clusters or importance weights the effective one.

    That is p (1 - p) over the variance of the share, which is that of the clusters' totals, and never more than there
    are; Kish's number of clusters where p is 0 or 1. Korn & Graubard (1998).
    """
    weights, is_clustered = sample.weights, sample.cluster is not None or sample.by_cluster is not None
    if not is_clustered and sample.weight_kind != "importance":
        return float(weights.sum())
    if not 0 < share < 1:
        return float(kish(_cluster_totals(sample, np.ones(sample.n))))
    totals = _cluster_totals(sample, has_level - share)
    count, squares = len(totals), float((totals**2).sum())
    # Without clusters there is no factor, so that equal weights give back the number of rows.
    correction = count / (count - 1) if is_clustered else 1.0
    all_observations, variance = float(sample.observations.sum()), squares * correction / float(weights.sum()) ** 2
    return share * (1 - share) / max(variance, share * (1 - share) / all_observations)


def _cluster_totals(sample: Sample, values: Values) -> Floats:
    """Return the weighted total of values of rows [n] in each cluster, or in each row where there are none."""
    if sample.by_cluster is not None:
        return sample.by_cluster.totals(values)
    units = np.arange(sample.n) if sample.cluster is None else sample.cluster
    return np.asarray(np.bincount(units, sample.weights * values), float)
