"""Measures in each fold, which are those of slices by the column of folds, and their mean and spread over folds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.folds.records import FoldSpread
from evalpipe.engine.averages import values
from evalpipe.engine.subsets import rows_of, subset_of
from evalpipe.intervals.fits import deviation
from evalpipe.results import Warned
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence

FEWEST_FOLDS = 2
"""The fewest folds that have a spread."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return each measure over the folds of each dataset as field of the results; none without folds in the spec."""
    return {"folds": [row for dataset in evaluated for row in fold_spreads(plan, dataset.sample)]}


def warnings(_: Plan, evaluated: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield a warning for each dataset with clusters that have rows in several folds."""
    for sample in (dataset.sample for dataset in evaluated):
        if sample.folds is None or sample.cluster is None:
            continue
        cluster_fold_pairs = np.unique(np.stack([sample.cluster, sample.folds.codes]), axis=1)
        split_clusters = int((np.bincount(cluster_fold_pairs[0]) > 1).sum())
        if split_clusters:
            yield Warned.of("clusters-in-folds", dataset=sample.dataset, clusters=split_clusters)


def fold_spreads(plan: Plan, sample: Sample) -> Iterator[FoldSpread]:
    """Yield, for each model, variant and measure, the record of its values in the folds and their spread."""
    folds = sample.folds
    if folds is None:
        return
    subsets = [subset_of(sample, np.flatnonzero(folds.codes == code), labels, None)
               for code, labels in enumerate(folds.labels)]
    for name, model in sample.models.items():
        rows = rows_of(sample, model)
        summaries = [Summary(rows.at(fold.rows), fold.of(sample.weights)) if plan.slices.enough(fold.n) else None
                     for fold in subsets]
        for entry in plan.metrics:
            if entry.lacking(rows.gives) is None:
                yield from _spreads_of_measure(plan, sample, name, entry, subsets, summaries)


def _spreads_of_measure(
    plan: Plan, sample: Sample, name: str, entry: MetricPlan, subsets: Sequence[Subset],
    summaries: Sequence[Summary | None],
) -> Iterator[FoldSpread]:
    """Yield the record of the values of a measure in the folds and their spread: one, or one for each class."""
    by_class = entry.average == "none"
    undefined = np.full(len(sample.levels) if by_class else 1, np.nan)
    of_folds = np.array([undefined if summary is None else np.atleast_1d(values(summary, entry))
                         for summary in summaries])
    small = sentence("few-rows-in-fold", least=plan.slices.min_rows)
    absent = [small if summary is None else entry.undefined for summary in summaries]
    for k, level in enumerate(sample.levels if by_class else (None,)):
        yield FoldSpread(
            dataset=sample.dataset, **sample.named(name), metric=entry.metric.name, average=entry.average,
            params=entry.shown if level is None else entry.shown_of(k), class_=level,
            folds=[str(label) for labels in sample.folds.labels for label in labels.values()] if sample.folds else [],
            sizes=[fold.n for fold in subsets], **_spread_fields(of_folds[:, k].tolist(), absent, small))


def _spread_fields(of_folds: list[float], absent: Sequence[Sentence], small: Sentence) -> dict[str, Any]:
    """Return the fields of a record on the values of folds, NaN where there is none, and on their spread.

    ``absent`` says for each fold why it would have no value; ``small`` is the reason of folds with too few rows.
    """
    defined = [value for value in of_folds if not math.isnan(value)]
    missing = [why for value, why in zip(of_folds, absent, strict=True) if math.isnan(value)]
    reason = sentence("folds-without-value", lacking=len(missing), folds=len(of_folds),
                      because=list(dict.fromkeys(missing)))
    fields: dict[str, Any] = dict.fromkeys(("mean", "sd", "standard_error", "lowest", "highest")) | {
        "values": [None if math.isnan(value) else value for value in of_folds], "used": len(defined),
        "status": "degenerate" if missing else "ok", "reason": reason if missing else None}
    if len(defined) < FEWEST_FOLDS:
        return fields | {"status": "insufficient" if small in missing else "undefined"}
    spread = deviation(np.array(defined))
    return fields | {"mean": float(np.mean(defined)), "sd": spread, "standard_error": spread / math.sqrt(len(defined)),
                     "lowest": min(defined), "highest": max(defined)}
