"""What is known of labels: the share of events, how far judges are off, and whether rows with an outcome are alike."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.chapters.labels.plan import labels_plan
from evalpipe.chapters.labels.records import (
    JudgeBias,
    LabelledDataset,
    LabelWorth,
    SelectionTest,
    UnweightedValue,
)
from evalpipe.engine.averages import values
from evalpipe.engine.estimates import measure_with_limits
from evalpipe.engine.judges import unseen_of
from evalpipe.engine.subsets import rows_of
from evalpipe.intervals.bootstrap import bootstrap_error, kish, limits_on_scale, scale_slope
from evalpipe.intervals.contrasts import PairedProportions, Wald
from evalpipe.intervals.judged import unseen_errors
from evalpipe.intervals.multiplicity import holm
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.chapters.labels.plan import LabelsPlan
    from evalpipe.data.sample import KnownRows, Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

Kind = Literal["model", "judge", "slicing"]


def selection_weights(known: KnownRows) -> Floats:
    """Return how many rows each row with an outcome stands for, [n]: 1 / its probability of being chosen; else 0.

    Without a probability it is the share of the rows of its stratum with an outcome. Horvitz & Thompson (1952).
    """
    if known.probability is not None:
        return np.where(known.known, 1 / known.probability, 0.0)
    rows, with_outcome = np.bincount(known.stratum), np.bincount(known.stratum, known.known)
    return np.where(known.known, rows[known.stratum] / np.maximum(with_outcome, 1)[known.stratum], 0.0)


def labels_of_judges(labels: LabelsPlan, sample: Sample) -> dict[str, Floats]:
    """Return the share of the event in each judge's label of each row, [n]; that of a model is its probability."""
    shares = {}
    for judge in labels.judges:
        if judge.kind == "model":
            probability = sample.models[judge.name].probability
            assert probability is not None  # noqa: S101 - the rules ask for it
            shares[judge.name] = probability
        else:
            assert sample.known is not None  # noqa: S101 - known to the caller
            shares[judge.name] = sample.known.judges[judge.name]
    return shares


def labelled_dataset(plan: Plan, labels: LabelsPlan, sample: Sample) -> Iterator[LabelledDataset]:
    """Yield how many rows of a dataset have an outcome, and the share of events."""
    known = sample.known
    assert known is not None  # noqa: S101 - known to the caller
    weights = selection_weights(known)[known.known]
    truth = np.asarray(sample.truth[known.known], float)
    judges = labels_of_judges(labels, sample) if labels.method == "prediction_powered" else {}
    mean, error = mean_with_judges(truth, weights, list(judges.values()), known, sample.cluster)
    share, effective = (0.0, 1.0), float(kish(weights))
    clusters = math.inf if sample.cluster is None else len(np.unique(sample.cluster[known.known]))
    rarest = min(alone := float(np.average(truth, weights=weights)), 1 - alone) * min(effective, clusters)
    limits = None if plan.interval_method == "none" else limits_on_scale(
        mean, error * scale_slope(mean, share), share, plan.level, max(rarest - 1, 1))
    yield LabelledDataset(
        dataset=sample.dataset, method=labels.method,
        selected=labels.selected,
        columns=[*labels.strata, *([] if labels.chance is None else [labels.chance])],
        rows=sample.n, known=len(truth), effective=effective, least_chance=float(1 / weights.max()),
        prevalence=mean, lower=limits[0] if limits else None, upper=limits[1] if limits else None,
        level=plan.level if limits else None, alone=alone)


def mean_with_judges(
    outcome: Floats, weights: Floats, judges: Sequence[Floats], known: KnownRows, cluster: Wholes | None = None
) -> tuple[float, float]:
    """Return the mean of an outcome over all rows, and its standard error.

    ``outcome`` [k] and ``weights`` [k] are of the rows that are ``known``, ``judges`` [N] are labels of all rows, whose
    clusters are ``cluster`` [N]. The share of each judge is the one of least variance. Angelopoulos, Duchi & Zrnic
    (2023), eq. 5, with the labels of all rows in place of those of other rows. The error is that of what each row moves
    the mean by, summed within clusters; it allows for `unseen_errors` of the judges.
    """
    mean, total, n = float(np.average(outcome, weights=weights)), float(weights.sum()), len(known.known)
    apart, shift, together, moved = outcome - mean, 0.0, 0.0, np.zeros(n)
    alone = _variance_of_sum(weights * apart / total, known, None)
    for labels in judges:  # one judge after the other: what the first explains is left to no other
        mean_at_known = float(np.average(labels[known.known], weights=weights))
        at_known = labels[known.known] - mean_at_known
        square = float((weights**2 * at_known**2).sum())
        share = min(max(float((weights**2 * at_known * apart).sum()) / square, 0.0), 1.0) if square > 0 else 0.0
        shift += share * (float(labels.mean()) - mean_at_known)
        together += share
        moved += share * (labels - labels.mean()) / n
        apart = apart - share * at_known
    stratum = known.stratum[known.known]
    of_stratum = np.bincount(stratum, weights * apart) / np.bincount(stratum, weights)
    moved += of_stratum[known.stratum] / n
    variance = _variance_of_sum(weights * (apart - of_stratum[stratum]) / total, known, cluster, moved)
    if together and alone:
        squares = np.array([(weights**2 * outcome).sum(), (weights**2 * (1 - outcome)).sum()])
        clusters = None if cluster is None else len(np.unique(cluster[known.known]))
        # Of single rows: a cluster on all of whose rows the judge is wrong is one, however alike its outcomes are.
        variance += together**2 * unseen_errors(float(weights.max()), squares, float(kish(weights)), clusters) * alone
    return min(max(mean + shift, 0.0), 1.0), math.sqrt(variance)


def _variance_of_sum(
    at_known: Floats, known: KnownRows, cluster: Wholes | None, moved: Floats | float = 0.0
) -> float:
    """Return the variance of a sum of what rows move it by: ``at_known`` [k] of known rows, ``moved`` [N] of all.

    Of the sums of whole clusters where there are any, and for as many units as have a known row.
    """
    of_rows = np.zeros(len(known.known)) + moved
    of_rows[known.known] += at_known
    units = len(at_known) if cluster is None else len(np.unique(cluster[known.known]))
    sums = of_rows if cluster is None else np.bincount(cluster, of_rows)
    return float((sums**2).sum()) * units / max(units - 1, 1)


def judge_bias(plan: Plan, labels: LabelsPlan, sample: Sample) -> Iterator[JudgeBias]:
    """Yield how far each judge's labels are from outcomes, on all rows that have one and in each slice with enough."""
    known = sample.known
    assert known is not None  # noqa: S101 - known to the caller
    weights = selection_weights(known)
    groups: list[tuple[dict[str, str] | None, Flags]] = [(None, known.known)]
    for slicing in sample.slicings:
        groups += [(dict(slice_labels), known.known & (slicing.codes == code))
                   for code, slice_labels in enumerate(slicing.labels)]
    for name, shares in labels_of_judges(labels, sample).items():
        for slice_labels, inside in groups:
            if inside.sum() < max(plan.slices.min_rows if slice_labels else 1, 2):
                continue
            truth, label, weight = np.asarray(sample.truth[inside], float), shares[inside], weights[inside]
            are_classes = bool(np.isin(shares, (0, 1)).all())
            cluster = None if sample.cluster is None else sample.cluster[inside]
            limits = bias_limits(truth, label, weight, plan.level, cluster) if plan.interval_method != "none" else None
            yield JudgeBias(
                dataset=sample.dataset, judge=name, slice=slice_labels, rows=int(inside.sum()),
                label=float(np.average(label, weights=weight)), outcome=float(np.average(truth, weights=weight)),
                bias=float(np.average(label - truth, weights=weight)), lower=limits[0] if limits else None,
                upper=limits[1] if limits else None, level=plan.level if limits else None,
                agreement=float(np.average(label == truth, weights=weight)) if are_classes else None)


def bias_limits(
    truth: Floats, label: Floats, weight: Floats, level: float, cluster: Wholes | None = None
) -> tuple[float, float] | None:
    """Return limits of the mean of ``label`` less that of ``truth`` [n]: Tango's score of classes, else Student's.

    Of rows in ``cluster`` [n] Student's, of the sums of whole clusters. None of labels that are probabilities where all
    differences are alike, and of a single cluster.
    """
    if np.isin(label, (0, 1)).all() and np.ptp(weight) == 0 and cluster is None:
        return PairedProportions(
            float((label > truth).sum()), float((label < truth).sum()), float(len(truth))).limits(level)
    apart = label - truth
    mean = float(np.average(apart, weights=weight))
    moves = weight * (apart - mean) / float(weight.sum())
    sums = moves if cluster is None else np.bincount(np.unique(cluster, return_inverse=True)[1], moves)
    units = len(sums)
    variance = float((sums**2).sum()) * units / max(units - 1, 1)
    limits = Wald(mean, math.sqrt(variance), max(units - 1, 1)).limits(level) if units > 1 else None
    return None if limits is None or not variance > 0 else limits


FEWEST = 20
"""Rows with an outcome, and others, from which on it is tested whether they are alike."""


def selection_tests(_: Plan, labels: LabelsPlan, sample: Sample) -> Iterator[SelectionTest]:
    """Yield whether rows with an outcome are like other rows in scores, labels and slices, if they are to be random.

    Rank sums are those of Wilcoxon (1945) with mid-ranks; the shares of slices are tested by Pearson's chi-squared.
    """
    known = sample.known
    assert known is not None  # noqa: S101 - known to the caller
    if labels.selected != "random" or min(known.known.sum(), (~known.known).sum()) < FEWEST:
        return
    tests: list[dict[str, object]] = []
    scores = {name: model.probability if model.score is None else model.score for name, model in sample.models.items()}
    ranked: list[tuple[Kind, str, Floats | None]] = [("model", name, values) for name, values in scores.items()]
    ranked += [("judge", name, values) for name, values in labels_of_judges(labels, sample).items()
               if not any(judge.kind == "model" and judge.name == name for judge in labels.judges)]
    for kind, name, ranking in ranked:
        if ranking is not None and np.ptp(ranking) > 0:
            auc, p_value = _rank_sum(ranking, known.known)
            tests.append({"kind": kind, "name": name, "auc": auc, "p_value": p_value})
    for slicing in sample.slicings:
        inside = slicing.codes >= 0
        if len(slicing.labels) > 1 and known.known[inside].any():
            titles = [", ".join(row.values()) for row in slicing.labels]
            tests.append({"kind": "slicing", "name": slicing.title,
                          **_shares_of_slices(slicing.codes[inside], known.known[inside], titles)})
    adjusted = holm([float(str(test["p_value"])) for test in tests]).tolist() if tests else []
    for test, p_adjusted in zip(tests, adjusted, strict=True):
        yield SelectionTest.model_validate({"dataset": sample.dataset, **test, "p_adjusted": p_adjusted})


def _rank_sum(values: Floats, known: Flags) -> tuple[float, float]:
    """Return the probability that a known row is above another, ties one half, and the p-value that it is one half."""
    from scipy.special import ndtr

    _, inverse, ties = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(ties) - ties
    ranks, n, first = (below + (ties + 1) / 2)[inverse.ravel()], len(values), int(known.sum())
    auc = (float(ranks[known].sum()) / first - (first + 1) / 2) / (n - first)
    tied = float((ties.astype(float)**2 * ties - ties).sum()) / (n * (n - 1))
    variance = (n + 1 - tied) / (12 * first * (n - first))
    return auc, 2 * float(ndtr(-abs(auc - 0.5) / math.sqrt(variance)))


def _shares_of_slices(codes: Wholes, known: Flags, titles: Sequence[str]) -> dict[str, object]:
    """Return which slice's share of known rows is farthest from that of all, both shares, and Pearson's p-value."""
    from scipy.special import chdtrc

    rows, with_outcome = np.bincount(codes, minlength=len(titles)), np.bincount(codes, known, len(titles))
    used, share = rows > 0, float(known.mean())
    expected = rows[used] * share
    apart = with_outcome[used] - expected
    statistic = float((apart**2 / (expected * (1 - share))).sum()) if 0 < share < 1 else 0.0
    farthest = int(np.argmax(np.abs(apart) / np.sqrt(expected)))
    slice_number = int(np.flatnonzero(used)[farthest])
    return {"group": titles[slice_number], "share": float(with_outcome[slice_number] / rows[slice_number]),
            "others": share, "p_value": float(chdtrc(max(int(used.sum()) - 1, 1), statistic))}


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what labels of judges, and weights, change of each measure of each model."""
    labels = plan.part(labels_plan)
    judges = [judge.name for judge in (() if labels is None else labels.judges)]
    weighted = [] if labels is None or labels.method != "weighted" else evaluated
    return {"unweighted": [row for dataset in weighted for row in _unweighted(plan, dataset)], "label_worth": [
        _worth(plan, dataset, (model, number, i), dict(zip(judges, shares, strict=True)))
        for dataset in evaluated for (model, number, i), shares in dataset.replicates.shares.items()
        if i < len(plan.metrics) and dataset.subsets[number].rest_of is None]}


def _unweighted(plan: Plan, dataset: Evaluated) -> Iterator[UnweightedValue]:
    """Yield each measure of each model on rows with an outcome that count alike."""
    sample = dataset.sample
    for name, model in sample.models.items():
        alike = Summary(rows_of(sample, model), np.ones(sample.n))
        for entry in plan.metrics:
            value = values(alike, entry)
            if value.ndim == 0:
                yield UnweightedValue(
                    dataset=sample.dataset, **sample.named(name), slice=None, metric=entry.metric.name,
                    params=entry.shown, average=entry.average, unweighted=None if np.isnan(value) else float(value))


def _worth(plan: Plan, dataset: Evaluated, key: tuple[str, int, int], shares: dict[str, float]) -> LabelWorth:
    """Return the record of one measure, by its key in the replicates: without judges, and what their labels are worth.

    Limits without judges are made as those with them.
    """
    model, number, i = key
    entry, sample = plan.entries[i], dataset.sample
    subset, scope = dataset.of_model[model][number], dataset.scope(model, number, dataset.summaries[model, number])
    of_known = dataset.replicates.alone[key]
    alone, n = float(of_known.value), subset.n
    limits = measure_with_limits(scope, scope.summary, entry, replace(
        scope.drawn(entry, dataset.replicates), value=alone, replicates=of_known.replicates,
        jackknife=of_known.jackknife, share=0.0)).limits
    error, with_judges = (bootstrap_error(of) for of in (of_known.replicates, dataset.replicates.metrics[key]))
    unseen = sum(shares.values())**2 * unseen_of(scope.summary, subset.clusters, importance=plan.importance)
    return LabelWorth(
        dataset=sample.dataset, **sample.named(model), slice=None if subset.slice is None else dict(subset.slice),
        metric=entry.metric.name, params=entry.shown, average=entry.average, shares=shares,
        alone=None if math.isnan(alone) else alone, lower=limits[0] if limits else None,
        upper=limits[1] if limits else None, n=n,
        worth=n / ((with_judges / error)**2 + unseen) if error > 0 and with_judges > 0 else None)
