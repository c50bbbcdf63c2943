"""The test made for a difference, where its measure has one: of two models on the same rows, or of two subsets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.differences import Test
from evalpipe.intervals.contrasts import IndependentProportions, PairedProportions, Wald
from evalpipe.intervals.paired import diebold_mariano, mcnemar, paired_auc
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.engine.estimates import Scope
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

LOSSES: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "brier": lambda rows, params: _brier_scale(rows, params) * rows.squared_error(),
    "log_loss": lambda rows, params: rows.negative_log(params["epsilon"]) / _logarithm(params),
    "mse": lambda rows, _: rows.residual**2,
    "mae": lambda rows, _: np.abs(rows.residual),
}
"""Measures that are a mean over rows of a loss, for which Diebold and Mariano's test holds, with that of each row."""

AREAS = {"roc_auc": 1.0, "gini": 2.0}
"""Measures that are an area under the ROC curve times so much, up to a constant."""


def _brier_scale(rows: Any, params: Mapping[str, Any]) -> float:
    return float({"half": 1.0, "sum": 2.0, "classes": 2.0 / rows.levels}[params["scale"]])


def _logarithm(params: Mapping[str, Any]) -> float:
    return 1.0 if params["base"] == "e" else math.log(params["base"])


def of_models(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test made for a measure, of its k-th class where it has one, of two models on the same rows."""
    if not _alike(plan, entry, k):
        return None
    if entry.metric.name in AREAS:
        return _areas(plan, _of_class(first, entry, k), _of_class(second, entry, k), AREAS[entry.metric.name])
    if entry.metric.name in LOSSES and k is None:
        return _losses(first.summary, second.summary, entry)
    if _is_proportion(entry) and _reportable_alike(first, second):
        return _paired(_of_class(first, entry, k), _of_class(second, entry, k), entry, _options(entry, k))
    return None


def of_subsets(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test of a proportion in two subsets that share no rows, or of which the second holds the first."""
    if not _alike(plan, entry, k) or not _is_proportion(entry):
        return None
    (x, m), (y, n) = (
        map(float, _of_class(scope, entry, k).proportion(entry.metric, _options(entry, k)))
        for scope in (first, second)
    )
    shared, scale = _shared(first, second), 1.0
    if shared:
        if shared < first.subset.n or n <= m:
            return None
        y, n, scale = y - x, n - m, (n - m) / n
    if not m or not n:
        return None
    return Test(IndependentProportions(x, m, y, n, scale), "two_proportions", "miettinen_nurminen")


def _alike(plan: Plan, entry: MetricPlan, k: int | None) -> bool:
    """Tell whether every row counts as one observation of one value: no clusters, importance, prior or average."""
    plain = plan.cluster is None and not plan.importance and entry.prior.shares is None
    return plain and (entry.average is None or k is not None)


def _is_proportion(entry: MetricPlan) -> bool:
    return entry.metric.interval == "proportion" and entry.metric.needs == "labels"


def _options(entry: MetricPlan, k: int | None) -> Mapping[str, Any]:
    return entry.params if k is None else entry.of_class[k]


def _of_class(scope: Scope, entry: MetricPlan, k: int | None) -> Summary:
    seen = scope.summary.seen_by(entry.metric)
    return seen if k is None else seen.classes[k]


def _shared(first: Scope, second: Scope) -> int:
    """Return how many observations two scopes share; those of different datasets share none."""
    if first.sample is not second.sample:
        return 0
    if first.subset.rows is None or second.subset.rows is None:
        return min(first.subset.n, second.subset.n)
    rows = np.intersect1d(first.subset.rows, second.subset.rows, assume_unique=True)
    return int(first.sample.observations[rows].sum())


def _areas(plan: Plan, first: Summary, second: Summary, scale: float) -> Test | None:
    """Return DeLong's paired test; None where its error is nothing or unknown."""
    found = paired_auc(
        first.rows.truth, first.rows.scored, second.rows.scored, plan.level, first.floats)
    contrast = Wald(scale * found.value, scale * found.error)
    return None if math.isnan(contrast.p(0.0)) else Test(contrast, "delong", "delong")


def _losses(first: Summary, second: Summary, entry: MetricPlan) -> Test | None:
    """Return the test of Diebold and Mariano for the mean of a loss: the paired t test."""
    losses = [LOSSES[entry.metric.name](summary.rows, entry.params) for summary in (first, second)]
    found = diebold_mariano(losses[0], losses[1], first.floats)
    contrast = Wald(found.value, found.error, max(float(first.floats.sum()) - 1, 1.0))
    return None if math.isnan(contrast.p(0.0)) else Test(contrast, "diebold_mariano", "paired_t")


def _reportable_alike(first: Scope, second: Scope) -> bool:
    """Tell whether the equivocal zones of two models leave them the same rows."""
    flags = [scope.summary.rows.reportable for scope in (first, second)]
    kept = [np.ones(len(first.summary.rows.truth), bool) if one is None else one for one in flags]
    return bool((kept[0] == kept[1]).all())


def _paired(first: Summary, second: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> Test | None:
    """Return the score test of two proportions of the same rows; None where their trials are not the same rows."""
    (successes, trials), (others, other_trials) = (_flags(one, entry, options) for one in (first, second))
    weight = first.floats
    if (trials != other_trials).any() or not (weight * trials).sum():
        return None
    alone, other = (float(weight[one].sum()) for one in (successes & ~others, others & ~successes))
    exact, middle = mcnemar(alone, other)
    details = {"only_model": int(alone), "only_baseline": int(other), "p_exact": exact, "p_mid": middle}
    contrast = PairedProportions(alone, other, float((weight * trials).sum()))
    return Test(contrast, "mcnemar", "tango", details)


def _flags(summary: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return whether each row is a success and whether it is a trial, [n] each: as the cell that it falls in is."""
    rows = summary.rows
    _, first, cell = np.unique(rows.codes * rows.levels + rows.picked, return_index=True, return_inverse=True)
    counted = Summary(rows.taken(first), np.eye(len(first))).proportion(entry.metric, options)
    successes, trials = (np.asarray(one)[cell] > 0 for one in counted)
    return successes, trials
