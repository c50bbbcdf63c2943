"""Comparison: each model less the baseline on the same rows, and each dataset less an earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.differences import Gap, gap
from evalpipe.intervals import diebold_mariano, holm, mcnemar, paired_auc, verdict
from evalpipe.plan import BOOTSTRAP
from evalpipe.results import Comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.engine.estimates import Place
    from evalpipe.engine.evaluate import Evaluated
    from evalpipe.plan import MetricPlan, Plan

LOSSES: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "brier": lambda rows, _: rows.squared_error(),
    "log_loss": lambda rows, params: rows.negative_log(params["epsilon"]),
    "mse": lambda rows, _: rows.residual**2,
    "mae": lambda rows, _: np.abs(rows.residual),
}
"""Measures that are a mean over rows of a loss, for which Diebold and Mariano's test holds, with that of each row."""


@dataclass(frozen=True)
class _Pair:
    """Two places whose numbers are compared: the first less the second; ``same_rows`` if both are of the same rows."""

    one: Evaluated
    first: Place
    other: Evaluated
    second: Place

    @property
    def same_rows(self) -> bool:
        return self.one is self.other


def comparisons(plan: Plan, evaluated: Sequence[Evaluated]) -> list[Comparison]:
    """Return every difference that the spec asks for.

    p-values are adjusted in families: variants and their originals, models and the baseline, each on all rows and in
    slices, and datasets.
    """
    found = [
        row
        for pair in _pairs(plan, evaluated)
        for entry in plan.metrics
        if pair.first.serves(entry) and pair.second.serves(entry)
        for row in _compared(plan, pair, entry)
    ]
    families: dict[tuple[bool, ...], list[int]] = {}
    for i, row in enumerate(found):
        if row.p_value is not None:
            family = row.slice is None, row.baseline_dataset is None, row.variant == row.baseline_variant
            families.setdefault(family, []).append(i)
    for members in families.values():
        for i, q in zip(members, holm([found[i].p_value for i in members]), strict=True):
            found[i] = found[i].model_copy(update={"p_adjusted": float(q)})
    return found


def _pairs(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[_Pair]:
    compare = plan.spec.compare
    for one in evaluated:
        for name, model in one.sample.models.items():
            baseline = model.source or (compare.baseline if compare is not None else None)
            if baseline not in (None, name):
                known = {place.number: place for place in one.places(baseline or "")}
                yield from (_Pair(one, place, one, known[place.number]) for place in one.places(name))
    earlier_name = None if compare is None else compare.baseline_dataset
    for earlier in (one for one in evaluated if one.sample.dataset == earlier_name):
        for one in evaluated:
            for name in one.sample.models if one is not earlier else ():
                yield _Pair(one, next(one.places(name)), earlier, next(earlier.places(name)))


def _compared(plan: Plan, pair: _Pair, entry: MetricPlan) -> Iterator[Comparison]:
    """Yield the differences of one measure: one, or one for each class."""
    index = plan.entries.index(entry)
    now, then = (values(place.summary, entry) for place in (pair.first, pair.second))
    drawn = [
        one.replicates.metrics.get((place.model, place.number, index))
        for one, place in ((pair.one, pair.first), (pair.other, pair.second))
    ]
    gaps = None if drawn[0] is None or drawn[1] is None else drawn[0] - drawn[1]
    undefined = f"undefined for one of the two: {entry.undefined}"
    level = plan.spec.intervals.level
    if entry.average != "none":
        found = gap(float(now - then), gaps, level, undefined)
        yield _row(plan, pair, entry, _tested(plan, pair, entry, found))
        return
    for k, name in enumerate(pair.one.sample.levels):
        each = None if gaps is None else gaps[:, k]
        found = gap(float(now[k] - then[k]), each, level, undefined)
        yield _row(plan, pair, entry, _bootstrap(found), name)


@dataclass(frozen=True)
class _Test:
    """A difference, how its limits were made, and the test of it."""

    gap: Gap
    method: str = "percentile"
    name: str | None = None
    p_value: float | None = None
    details: tuple[tuple[str, int | float], ...] = ()


def _bootstrap(found: Gap) -> _Test:
    return _Test(found, name=None if found.p_value is None else "bootstrap", p_value=found.p_value)


def _tested(plan: Plan, pair: _Pair, entry: MetricPlan, found: Gap) -> _Test:
    """Choose the test of a difference: that made for the measure where its conditions hold, else the bootstrap's."""
    simple = pair.same_rows and plan.spec.cluster is None and not plan.spec.importance
    plain = _bootstrap(found)
    simple = simple and entry.prior.shares is None
    if found.value is None or not simple or plan.spec.intervals.method == "none":
        return plain
    if entry.metric.name == "roc_auc" and entry.average is None:
        return _delong(plan, pair, found) or plain
    if entry.metric.name == "accuracy":
        return _mcnemar(pair, found) or plain
    if entry.metric.name in LOSSES and entry.average is None and pair.one.sample.weight is None:
        return _losses(pair, entry, found)
    return plain


def _delong(plan: Plan, pair: _Pair, found: Gap) -> _Test | None:
    """Return DeLong's paired test and limits; None where they do not exist."""
    first, second = pair.first.summary, pair.second.summary
    weight = None if pair.one.sample.weight is None else first.weights
    tested = paired_auc(first.rows.truth, first.rows.scored, second.rows.scored, plan.spec.intervals.level, weight)
    if tested.limits is None:
        return None
    if plan.spec.intervals.method in BOOTSTRAP:
        return _Test(found, name="delong", p_value=tested.p_value)
    return _Test(Gap(found.value, tested.limits, None, found.undefined), "delong", "delong", tested.p_value)


def _mcnemar(pair: _Pair, found: Gap) -> _Test | None:
    """Return McNemar's test that both models are right equally often; the mid-P value counts.

    None where the equivocal zones leave the models different rows: a test on the rows that both report would not be of
    the difference of accuracies, which is of each model's own.
    """
    flags = [place.summary.rows.reportable for place in (pair.first, pair.second)]
    apart = [np.ones(len(pair.first.summary.rows.truth), bool) if one is None else one for one in flags]
    if (apart[0] != apart[1]).any():
        return None
    seen = [place.summary.reportable for place in (pair.first, pair.second)]
    right = [summary.rows.truth == summary.rows.classes for summary in seen]
    weight = seen[0].weights
    alone, other = float(weight[right[0] & ~right[1]].sum()), float(weight[right[1] & ~right[0]].sum())
    exact, middle = mcnemar(alone, other)
    details = (("only_model", int(alone)), ("only_baseline", int(other)), ("p_exact", exact))
    return _Test(found, name="mcnemar", p_value=middle, details=details)


def _losses(pair: _Pair, entry: MetricPlan, found: Gap) -> _Test:
    """Return the test of Diebold and Mariano for the mean of a loss."""
    losses = [LOSSES[entry.metric.name](place.summary.rows, entry.params) for place in (pair.first, pair.second)]
    tested = diebold_mariano(losses[0], losses[1])
    p = None if np.isnan(tested.p_value) else tested.p_value
    return _Test(found, name="diebold_mariano" if p is not None else None, p_value=p)


def _row(plan: Plan, pair: _Pair, entry: MetricPlan, tested: _Test, level: str | None = None) -> Comparison:
    found, place, margin = tested.gap, pair.first, plan.margins.get(entry.metric.name)
    limited = found.limits is not None and found.status == "ok"
    said = verdict(found.lower, found.upper, margin or 0.0, entry.metric.direction) if limited else "undecided"
    baseline = pair.second.sample.named(pair.second.model)
    return Comparison(
        dataset=place.sample.dataset, **place.sample.named(place.model),
        slice=None if place.part.slice is None else dict(place.part.slice),
        metric=entry.metric.name, params=entry.shown, average=entry.average, class_=level,
        baseline=baseline["model"], baseline_variant=baseline["variant"],
        baseline_dataset=None if pair.same_rows else pair.second.sample.dataset,
        difference=found.value, lower=found.lower, upper=found.upper,
        level=plan.spec.intervals.level if found.limits else None,
        method=tested.method if found.limits else "none", p_value=tested.p_value, test=tested.name,
        margin=margin, verdict=said, n=place.seen_by(entry).part.n, status=found.status, reason=found.reason,
        undefined_replicates=found.undefined, details=dict(tested.details),
    )
