"""Comparison: each model less the baseline on the same rows, each dataset less an earlier one, and the paired test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.compare.records import Comparison
from evalpipe.chapters.labels.plan import is_prediction_powered
from evalpipe.engine.coarsening import gridded
from evalpipe.engine.differences import (
    Test,
    Tested,
    is_proportion,
    options_of,
    rows_count_alike,
    summary_of,
    tested,
    two_proportions_test,
)
from evalpipe.intervals.bootstrap import kish
from evalpipe.intervals.contrasts import (
    NoneDiffers,
    PairedProportions,
    Wald,
    diebold_mariano,
    equivalence_p_value,
    margin_verdict,
    mcnemar,
    paired_auc,
    verdict,
)
from evalpipe.intervals.multiplicity import holm
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.intervals.contrasts import Verdict
    from evalpipe.metrics.declare import Direction
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


@dataclass(frozen=True)
class _Pair:
    """Two scopes whose difference is computed, the first minus the second, each with its dataset.

    ``dataset`` is that of the first, ``other`` that of the second.
    """

    first: Scope
    second: Scope
    dataset: Evaluated
    other: Evaluated

    @property
    def tested(self) -> tuple[Scope, Scope]:
        """The two scopes for a paired test: where rows are streamed, both on the rows that all models share."""
        if not self.same_rows:
            return self.first, self.second
        return self.dataset.scope_on_shared_rows(self.first), self.dataset.scope_on_shared_rows(self.second)

    @property
    def same_rows(self) -> bool:
        """Whether both scopes are of the same dataset, so that their rows are paired."""
        return self.dataset is self.other


@dataclass(frozen=True)
class _Compared:
    """A difference before its verdict, with its unadjusted p-values and the direction of its measure.

    ``p`` is that of the margin, see `equivalence_p_value`, ``p_zero`` that of no difference.
    """

    row: Comparison
    difference: Tested
    p: float
    p_zero: float
    direction: Direction

    @property
    def family(self) -> tuple[object, ...]:
        """The key of the family that p-values are adjusted in: the differences of one table of the card."""
        row = self.row
        model = row.model if row.variant != row.baseline_variant else None
        return row.dataset, row.baseline_dataset, model, row.slice is None

    def judged(self, p: float, p_zero: float, level: float) -> Comparison:
        """Return the record of the difference with its verdict at a confidence ``level``.

        ``p`` and ``p_zero`` are already adjusted for the number of differences in the family.
        """
        value, margin = self.difference.value or 0.0, self.row.margin or 0.0
        decision: Verdict = "same" if self.difference.same else verdict(
            value, p, p_zero, level, margin, self.direction)
        margin_decision = margin_verdict(decision, p, level, margin)
        p = p_zero if margin_decision == "undecided" else p
        return self.row.model_copy(update={
            "p_adjusted": None if math.isnan(p) else p, "verdict": decision, "margin_verdict": margin_decision})


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return every difference that the spec declares, with a verdict that allows for all differences in its table.

    p-values are adjusted in families, one for each table of the card. A table is of a dataset, on all rows or in
    slices: all models against the baseline, all variants of a model against their original, or the dataset against an
    earlier one. With a margin, verdicts rest on p-values of the margin. Those of no difference are adjusted likewise;
    they tell better from worse where the margin leaves it open.
    """
    differences = [
        difference
        for pair in _pairs(plan, evaluated)
        for entry in plan.metrics
        if pair.first.serves(entry) and pair.second.serves(entry)
        for difference in _differences(plan, pair, entry)
    ]
    families: dict[tuple[object, ...], list[int]] = {}
    for i, difference in enumerate(differences):
        families.setdefault(difference.family, []).append(i)
    rows = [difference.row for difference in differences]
    for members in families.values():
        of_verdict, of_zero = (holm([getattr(differences[i], name) for i in members]) for name in ("p", "p_zero"))
        for i, p, p_zero in zip(members, of_verdict.tolist(), of_zero.tolist(), strict=True):
            rows[i] = differences[i].judged(p, p_zero, plan.level)
    return {"comparisons": rows}


def _pairs(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[_Pair]:
    """Yield what is compared: variants with originals, models with each other, and datasets with the earlier one.

    Models are compared with the baseline, in slices too, or each with every other, on all rows.
    """
    compare = plan.compare
    for dataset in evaluated:
        for name, model in dataset.sample.models.items():
            # A variant is compared with the model that was recalibrated.
            baseline = model.source or (compare.baseline if compare is not None else None)
            if baseline not in (None, name):
                references = {scope.number: scope for scope in dataset.scopes(baseline or "")}
                yield from (_Pair(scope, references[scope.number], dataset, dataset) for scope in dataset.scopes(name))
        if compare is not None and (compare.pairs == "all" or (
                compare.pairs == "auto" and not gridded(plan, dataset.sample))):
            scopes = [next(dataset.scopes(name)) for name, model in dataset.sample.models.items() if not model.source]
            yield from (_Pair(second, first, dataset, dataset) for first, second in combinations(scopes, 2))
    earlier_name = None if compare is None else compare.baseline_dataset
    for earlier in (dataset for dataset in evaluated if dataset.sample.dataset == earlier_name):
        for dataset in evaluated:
            for name in dataset.sample.models if dataset is not earlier else ():
                yield _Pair(next(dataset.scopes(name)), next(earlier.scopes(name)), dataset, earlier)


def _differences(plan: Plan, pair: _Pair, entry: MetricPlan) -> Iterator[_Compared]:
    """Yield the differences of a measure between the scopes of a pair: one, or one for each class."""
    first = pair.first.drawn(entry, pair.dataset.replicates)
    second = pair.second.drawn(entry, pair.other.replicates)
    if pair.same_rows and ranked_alike(pair.first, pair.second, entry):
        second = first  # replicates from a grid could differ where the rankings do not
    undefined = sentence("undefined-for-one", because=entry.undefined)
    test_for = paired_test if pair.same_rows else two_proportions_test
    classes = [(None, None)] if entry.average != "none" else list(enumerate(pair.dataset.sample.levels))
    for k, level in classes:
        values = (first, second) if k is None else (first.of_class(k), second.of_class(k))
        test = None if first.replicates is None else test_for(plan, *pair.tested, entry, k)
        if test is not None and pair.same_rows and pair.dataset.sample.streamed:
            test = _test_of_grid_cells(plan, test, pair.first, pair.second, float(values[0].value - values[1].value))
        difference = tested(*values, plan.level, test, undefined,
                            may_differ=lambda: pair.same_rows and rows_may_differ(pair.first, pair.second, entry))
        margin = plan.margin(entry) or 0.0
        p, p_zero = (math.nan if difference.test is None else equivalence_p_value(difference.test.contrast, bound)
                     for bound in (margin, 0.0))
        yield _Compared(_row(plan, pair, entry, difference, level), difference, p, p_zero, entry.metric.direction)


def _row(plan: Plan, pair: _Pair, entry: MetricPlan, difference: Tested, level: str | None) -> Comparison:
    """Return the record of a difference, still without a verdict; ``level`` names its class, None for all classes."""
    scope, test = pair.first, difference.test
    baseline = pair.second.sample.named(pair.second.model)
    return Comparison(
        dataset=scope.sample.dataset, **scope.sample.named(scope.model),
        slice=None if scope.subset.slice is None else dict(scope.subset.slice),
        metric=entry.metric.name, params=entry.shown, average=entry.average, class_=level,
        baseline=baseline["model"], baseline_variant=baseline["variant"],
        baseline_dataset=None if pair.same_rows else pair.second.sample.dataset,
        difference=difference.value, method=difference.method, p_value=difference.p_value,
        test=None if test is None else test.name, margin=plan.margin(entry), verdict="untested",
        n=scope.seen_by(entry).subset.n, **difference.fields(plan.level),
        undefined_replicates=difference.missing, details={} if test is None else dict(test.details),
    )


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
    """Return the factor from the squared error of a row to its Brier loss."""
    return float({"half": 1.0, "sum": 2.0, "classes": 2.0 / rows.levels}[params["scale"]])


def _logarithm(params: Mapping[str, Any]) -> float:
    """Return the natural logarithm of the base of a log loss."""
    return 1.0 if params["base"] == "e" else math.log(params["base"])


def paired_test(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the paired test of a measure, of its k-th class if any, of two models on the same rows.

    DeLong's of areas, the paired t test of Diebold and Mariano of mean losses, and the score test of proportions. None
    where none of them fits, or where the standard error is zero or unknown.
    """
    if entry.metric.sees == "items":
        return _test_of_items(plan, first, second, entry)
    if not rows_count_alike(plan, entry, k):
        # Where judges label rows, other rows count too.
        may_differ = not is_prediction_powered(plan) and rows_may_differ(first, second, entry)
        return _test_of_classes_alike(first, second, entry, k) if may_differ else None
    summaries = summary_of(first, entry, k), summary_of(second, entry, k)
    if entry.metric.name in AREAS:
        return _test_of_areas(*summaries, AREAS[entry.metric.name])
    if entry.metric.name in LOSSES and k is None:
        return _paired_t(first, second, entry)
    if is_proportion(entry) and reportable_alike(first, second):
        return _proportions(*summaries, entry, options_of(entry, k))
    return None


def _test_of_items(plan: Plan, first: Scope, second: Scope, entry: MetricPlan) -> Test | None:
    """Return the paired test of a mean over all items, or of a share of them; None of other measures of items."""
    if not entry.metric.averages_items:
        return None
    values, other_values = (scope.summary.of_each_row(entry.metric, entry.params) for scope in (first, second))
    (low, high), counts_alike = entry.metric.range, rows_count_alike(plan, entry, None)
    are_shares = (low, high) == (0, 1) and np.isin(np.append(values, other_values), (0, 1)).all()
    if counts_alike and (entry.metric.interval == "proportion" or are_shares):
        return _score_test(values > 0, other_values > 0, first.summary.floats)
    if np.array_equal(values, other_values) and math.isfinite(high - low):
        return Test(NoneDiffers(_independent_rows(first), high - low), "none_differs", "none_differs")
    return _paired_t(first, second, entry) if counts_alike else None


def rows_may_differ(first: Scope, second: Scope, entry: MetricPlan) -> bool:
    """Tell whether two models that a measure finds alike in every row may differ in rows that were not drawn.

    So may scores of items, and classes of two models but for those of the same scores, cut at the same threshold.
    """
    if entry.metric.sees == "items":
        return True
    model, other = (scope.sample.models[scope.model] for scope in (first, second))
    if any(leaf.metric.needs != "labels" for leaf in entry.leaves) or model.source or other.source:
        return False
    return model.score is None or other.score is None or model.cut != other.cut or not np.array_equal(
        model.score, other.score)


def _test_of_classes_alike(first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test of a proportion of which all rows, of clusters or with weights, are alike; else None."""
    if not is_proportion(entry) or entry.prior.shares is not None or (entry.average is not None and k is None):
        return None
    (successes, trials), others = (
        flags(summary_of(scope, entry, k), entry, options_of(entry, k)) for scope in (first, second))
    if not trials.any() or not (np.array_equal(successes, others[0]) and np.array_equal(trials, others[1])):
        return None
    return Test(NoneDiffers(_independent_rows(first, trials), 1.0), "none_differs", "none_differs")


def _independent_rows(scope: Scope, is_counted: Flags | None = None) -> float:
    """Return how many rows, or clusters of one size, would vary as much as those of a scope with their weights.

    ``is_counted`` [n] are those that count, by default all.
    """
    weight, cluster = scope.summary.floats, scope.subset.cluster
    if is_counted is not None:
        weight = weight * is_counted
    if cluster is not None:
        weight = np.asarray(
            np.bincount(cluster if scope.subset.rows is None else cluster[scope.subset.rows], weight), float)
    counts_rows = cluster is None and scope.sample.weight_kind != "importance"
    return float(weight.sum() if counts_rows else kish(weight))


def _test_of_areas(area: Summary, other_area: Summary, scale: float) -> Test | None:
    """Return DeLong's test of two areas under the ROC curve, times ``scale``; None where its error is unknown."""
    difference = paired_auc(area.rows.truth, area.rows.scored, other_area.rows.scored, area.floats)
    delong = Wald(scale * difference.value, scale * difference.error)
    return None if math.isnan(delong.p(0.0)) else Test(delong, "delong", "delong")


def values_of_rows(summary: Summary, entry: MetricPlan) -> Floats:
    """Return the numbers of rows [n] whose mean a measure is: losses, or what it is of each item."""
    if entry.metric.sees == "items":
        return summary.of_each_row(entry.metric, entry.params)
    return np.asarray(LOSSES[entry.metric.name](summary.rows, entry.params))


def _paired_t(first: Scope, second: Scope, entry: MetricPlan) -> Test | None:
    """Return the paired t test of a mean over rows of two scopes; None where its error is unknown."""
    values, other_values = (values_of_rows(scope.summary, entry) for scope in (first, second))
    paired_t = diebold_mariano(values, other_values, first.summary.floats)
    return None if math.isnan(paired_t.p(0.0)) else Test(paired_t, "diebold_mariano", "paired_t")


def ranked_alike(first: Scope, second: Scope, entry: MetricPlan) -> bool:
    """Tell whether a measure depends on the ranking alone, and two models rank the rows alike, ties included."""
    if first.sample.task != "binary" or any(leaf.metric.needs != "scores" for leaf in entry.leaves):
        return False
    first_rows, second_rows = (scope.summary.ranked.rows for scope in (first, second))
    same_order = np.array_equal(first_rows.order, second_rows.order)
    return bool(same_order and np.array_equal(first_rows.starts, second_rows.starts))


def _test_of_grid_cells(plan: Plan, test: Test, first: Scope, second: Scope, value: float) -> Test | None:
    """Return a paired test on grid cells of scores, with the difference ``value`` of the rows themselves in it.

    The standard error stays that of the cells, which are far narrower than scores vary. Counts of predicted classes are
    exact only where cells end at the thresholds; None where these were not known when rows were counted.
    """
    if isinstance(test.contrast, Wald):
        return replace(test, contrast=replace(test.contrast, value=value))
    models = [(scope.sample.models[scope.model], plan.models.get(scope.model)) for scope in (first, second)]
    thresholds_known = all(model.source is None and planned is not None and planned.threshold.rule is None
                for model, planned in models)
    return test if thresholds_known else None


def reportable_alike(first: Scope, second: Scope) -> bool:
    """Tell whether the equivocal zones of two models leave the same rows with a predicted class."""
    masks = [scope.summary.rows.reportable for scope in (first, second)]
    reportable = [np.ones(len(first.summary.rows.truth), bool) if mask is None else mask for mask in masks]
    return bool((reportable[0] == reportable[1]).all())


def _proportions(first: Summary, second: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> Test | None:
    """Return the score test of two proportions on the same rows; None where their trials are not the same rows."""
    (successes, trials), (other_successes, other_trials) = (
        flags(summary, entry, options) for summary in (first, second))
    weight = first.floats
    if (trials != other_trials).any() or not (weight * trials).sum():
        return None
    return _score_test(successes, other_successes, weight, float((weight * trials).sum()))


def _score_test(successes: Flags, other_successes: Flags, weight: Floats, trials: float | None = None) -> Test:
    """Return the score test of two proportions on the same rows, by their successes [n].

    ``trials`` is the weight of the rows that are trials, by default of all rows.
    """
    only_model = float(weight[successes & ~other_successes].sum())
    only_baseline = float(weight[other_successes & ~successes].sum())
    exact_p, mid_p = mcnemar(only_model, only_baseline)
    details = {"only_model": int(only_model), "only_baseline": int(only_baseline), "p_exact": exact_p, "p_mid": mid_p}
    contrast = PairedProportions(only_model, only_baseline, float(weight.sum()) if trials is None else trials)
    return Test(contrast, "mcnemar", "tango", details)


def flags(summary: Summary, entry: MetricPlan, options: Mapping[str, Any]) -> tuple[Flags, Flags]:
    """Return whether each row is a success, and whether it is a trial, of a proportion: two arrays [n].

    Rows in the same cell of the confusion matrix count alike, so the metric is computed for a single row of each cell.
    """
    rows = summary.rows
    cells = rows.codes * rows.levels + rows.predicted_codes
    _, first_row, cell_of_row = np.unique(cells, return_index=True, return_inverse=True)
    counted = Summary(rows.at(first_row), np.eye(len(first_row))).proportion(entry.metric, options)
    successes, trials = (np.asarray(counts)[cell_of_row] > 0 for counts in counted)
    return successes, trials
