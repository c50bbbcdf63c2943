"""The test made for the difference of two models on the same rows, where its measure has one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.differences import Test, is_proportion, one_value_a_row, options_of, summary_of
from evalpipe.intervals.contrasts import PairedProportions, Wald
from evalpipe.intervals.paired import diebold_mariano, mcnemar, paired_auc
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.arraytypes import Flags
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


def paired_test(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test made for a measure, of its k-th class where it has one, of two models on the same rows."""
    if not one_value_a_row(plan, entry, k):
        return None
    summaries = summary_of(first, entry, k), summary_of(second, entry, k)
    if entry.metric.name in AREAS:
        return _areas(*summaries, AREAS[entry.metric.name])
    if entry.metric.name in LOSSES and k is None:
        return _losses(first.summary, second.summary, entry)
    if is_proportion(entry) and reportable_alike(first, second):
        return _proportions(*summaries, entry, options_of(entry, k))
    return None


def ranked_alike(first: Scope, second: Scope, entry: MetricPlan) -> bool:
    """Tell whether a measure sees the order of the rows alone, and two models rank these alike, with the same ties.

    Cells that replicates are drawn from may part the two differently.
    """
    if first.sample.task != "binary" or any(leaf.metric.needs != "scores" for leaf in entry.leaves):
        return False
    ours, theirs = (scope.summary.ranked.rows for scope in (first, second))
    return bool(np.array_equal(ours.order, theirs.order) and np.array_equal(ours.starts, theirs.starts))


def of_cells(plan: Plan, test: Test, first: Scope, second: Scope, value: float) -> Test | None:
    """Return a test that was made on joint cells, for the difference of the rows that were counted in them.

    Its error is that of the cells, which are far narrower than scores vary. Counts of classes are those of the rows
    where the cells end at the thresholds; None where these were not known when rows were counted.
    """
    if isinstance(test.contrast, Wald):
        return replace(test, contrast=replace(test.contrast, value=value))
    models = [(scope.sample.models[scope.model], plan.models.get(scope.model)) for scope in (first, second)]
    known = all(model.source is None and planned is not None and planned.threshold.rule is None
                for model, planned in models)
    return test if known else None


def _areas(first: Summary, second: Summary, scale: float) -> Test | None:
    """Return DeLong's paired test; None where its error is nothing or unknown."""
    difference = paired_auc(first.rows.truth, first.rows.scored, second.rows.scored, first.floats)
    contrast = Wald(scale * difference.value, scale * difference.error)
    return None if math.isnan(contrast.p(0.0)) else Test(contrast, "delong", "delong")


def _losses(first: Summary, second: Summary, entry: MetricPlan) -> Test | None:
    """Return the test of Diebold and Mariano for the mean of a loss: the paired t test."""
    losses = [LOSSES[entry.metric.name](summary.rows, entry.params) for summary in (first, second)]
    contrast = diebold_mariano(losses[0], losses[1], first.floats)
    return None if math.isnan(contrast.p(0.0)) else Test(contrast, "diebold_mariano", "paired_t")


def reportable_alike(first: Scope, second: Scope) -> bool:
    """Tell whether the equivocal zones of two models leave them the same rows."""
    flags = [scope.summary.rows.reportable for scope in (first, second)]
    kept = [np.ones(len(first.summary.rows.truth), bool) if flag is None else flag for flag in flags]
    return bool((kept[0] == kept[1]).all())


def _proportions(first: Summary, second: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> Test | None:
    """Return the score test of two proportions of the same rows; None where their trials are not the same rows."""
    (successes, trials), (others, other_trials) = (flags(summary, entry, options) for summary in (first, second))
    weight = first.floats
    if (trials != other_trials).any() or not (weight * trials).sum():
        return None
    only_model, only_baseline = float(weight[successes & ~others].sum()), float(weight[others & ~successes].sum())
    exact, middle = mcnemar(only_model, only_baseline)
    details = {"only_model": int(only_model), "only_baseline": int(only_baseline), "p_exact": exact, "p_mid": middle}
    contrast = PairedProportions(only_model, only_baseline, float((weight * trials).sum()))
    return Test(contrast, "mcnemar", "tango", details)


def flags(summary: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> tuple[Flags, Flags]:
    """Return whether each row is a success and whether it is a trial, [n] each: as the cell that it falls in is."""
    rows = summary.rows
    _, first, cell = np.unique(rows.codes * rows.levels + rows.picked, return_index=True, return_inverse=True)
    counted = Summary(rows.taken(first), np.eye(len(first))).proportion(entry.metric, options)
    successes, trials = (np.asarray(counts)[cell] > 0 for counts in counted)
    return successes, trials
