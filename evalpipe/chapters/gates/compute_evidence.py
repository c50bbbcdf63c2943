"""The exact evidence of this night on the limits of gates `on: sequence`, from the rows themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.digests import json_sha256
from evalpipe.chapters.compare.compute import LOSSES, flags, reportable_alike
from evalpipe.chapters.gates.compute_numbers import is_on, subject_of
from evalpipe.chapters.gates.compute_sequence import BETS, SHARES, NightEvidence, of_a_mean, of_a_proportion, of_a_ratio
from evalpipe.chapters.gates.plan import evidence_kind, gates_plan, sequence_plan
from evalpipe.chapters.gates.records import GateEvidence, GateLimits
from evalpipe.engine.differences import one_value_a_row, options_of, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from evalpipe.base.records import Subject
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import InputFile, Results

    Side = Literal["low", "high"]
    Basis = Literal["exact", "asymptotic"]

SIDES: dict[Side, int] = {"low": -1, "high": 1}
"""The sign of the direction in which a number misses each limit: below the lowest, above the highest."""


def sides(gate: GatePlan) -> Iterator[tuple[Side, float]]:
    """Yield the finite limits of a gate, each with whether it is the lowest or the highest number allowed."""
    limits = GateLimits.of(gate.rule.limit)
    if math.isfinite(limits.low):
        yield "low", limits.low
    if math.isfinite(limits.high):
        yield "high", limits.high


def exact(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[GateEvidence]:
    """Yield the evidence of each gate `on: sequence` on each number for which it is exact."""
    for number, gate in enumerate(plan.part(gates_plan), 1):
        for dataset in evaluated if gate.rule.on == "sequence" else ():
            for model in dataset.sample.models:
                yield from _exact_of_model(plan, number, gate, dataset, model)


def _exact_of_model(
    plan: Plan, number: int, gate: GatePlan, dataset: Evaluated, model: str
) -> Iterator[GateEvidence]:
    """Yield the exact evidence of a gate, by its ``number`` in the spec from 1, on the numbers of one model.

    In a slice of too few rows nothing is bet, so all log e-values are 0.
    """
    sample = dataset.sample
    baseline = gate.baseline if gate.against == "baseline" else None
    scopes = {scope.number: scope for scope in dataset.scopes(model)}
    baseline_scopes = {} if baseline is None else {scope.number: scope for scope in dataset.scopes(baseline)}
    data = data_sha256(sample.files, sample.summary.where)
    for (scope_number, metric_index), estimates in dataset.estimates_of(model).items():
        entry = plan.metrics[metric_index]
        scope, baseline_scope = scopes.get(scope_number), baseline_scopes.get(scope_number)
        for estimate in estimates:
            subject = subject_of(estimate)
            k = None if subject.class_ is None else sample.levels.index(subject.class_)
            if not is_on(plan, gate, subject) or not is_exact(plan, sample, model, baseline, entry, k):
                continue
            for side, limit in sides(gate):
                logs: NightEvidence | None = None
                if scope is not None and gate.against != "baseline":
                    logs = _of_values(scope, entry, k, limit, SIDES[side])
                elif scope is not None and baseline_scope is not None:
                    logs = _of_pairs(scope, baseline_scope, entry, k, limit, SIDES[side])
                    if logs is None:
                        break  # the value has an interval all the same, so its evidence is asymptotic
                yield evidence_row(gate, number, subject, side, "exact", logs, data, plan.renamed)


def is_exact(plan: Plan, sample: Sample, model: str, other: str | None, entry: MetricPlan, k: int | None) -> bool:
    """Tell whether a measure of a model, or its difference from the model ``other``, has exact evidence, by betting.

    Its error rate then holds at any number of rows, where asymptotic evidence needs many. Rows must be independent,
    each counted once or by its frequency, held in memory, and neither predictions nor thresholds may have been fitted
    on them; nights must not differ beyond their rows (`between_nights`). ``k`` is the index of a class, None of a
    measure of all classes.
    """
    # Bets need one bounded number a row: a flag, the loss of all classes, or a pair of cells of one model. Differences
    # of log losses are far from their bounds, so that bets on them would tell little.
    near_bounds = other is None or entry.metric.name != "log_loss"
    can_bet = {"rows": True, "losses": k is None and near_bounds, "cells": other is None, None: False}
    models = [model] if other is None else [model, other]
    by_classes, between_nights = entry.metric.needs == "labels", plan.part(sequence_plan).between_nights
    return (
        can_bet[evidence_kind(entry)] and not between_nights and one_value_a_row(plan, entry, k)
        and not sample.streamed and all(_is_untouched_by(plan, sample, name, thresholded=by_classes) for name in models)
    )


def _is_untouched_by(plan: Plan, sample: Sample, model: str, *, thresholded: bool) -> bool:
    """Tell whether these rows had no part in a model's predictions: no recalibrator was cross-fitted on them.

    With ``thresholded``, tell also that no rule chose its threshold on them. Exact evidence needs both.
    """
    predictions = sample.models[model]
    if predictions.folds is not None:
        return False
    planned = plan.models.get(predictions.source or model)
    rule = None if planned is None else planned.threshold.rule
    return not thresholded or rule is None or rule.dataset not in (None, sample.dataset)


def _of_values(scope: Scope, entry: MetricPlan, k: int | None, limit: float, side: int) -> NightEvidence:
    """Return the exact evidence on the value of a measure; ``k`` is the index of its class, None of all classes."""
    summary, options = summary_of(scope, entry, k), options_of(entry, k)
    if evidence_kind(entry) == "rows":
        hits, trials = summary.proportion(entry.metric, options)
        return of_a_proportion(np.asarray(hits), np.asarray(trials), limit, side)
    if evidence_kind(entry) == "cells":
        squared = float(str(options.get("beta", 1.0))) ** 2
        # F beta: what a true positive, a false positive and a false negative add to its numerator and denominator.
        parts = [(1 + squared, 1 + squared), (0.0, 1.0), (0.0, squared)]
        return of_a_ratio(parts, np.array([float(summary(name)) for name in ("tp", "fp", "fn")]), limit, side)
    losses = LOSSES[entry.metric.name](summary.rows, entry.params)
    return of_a_mean(losses, summary.floats, limit, side, _loss_bounds(entry))


def _loss_bounds(entry: MetricPlan) -> tuple[float, float]:
    """Return the least and the largest loss that a row can have, between which bets are bounded."""
    if entry.metric.name != "log_loss":
        return entry.metric.bounds(entry.params)
    # Probabilities count as epsilon at least and 1 - epsilon at most.
    epsilon, base = float(entry.params["epsilon"]), entry.params["base"]
    unit = 1.0 if base == "e" else math.log(base)
    return -math.log1p(-epsilon) / unit, -math.log(epsilon) / unit


def _of_pairs(
    scope: Scope, other: Scope, entry: MetricPlan, k: int | None, limit: float, side: int
) -> NightEvidence | None:
    """Return the exact evidence on the difference of two models on the same rows; None where their trials differ.

    ``k`` is the index of the class of a measure, None of all classes.
    """
    first, second = summary_of(scope, entry, k), summary_of(other, entry, k)
    if evidence_kind(entry) == "losses":
        losses = [LOSSES[entry.metric.name](summary.rows, entry.params) for summary in (first, second)]
        low, high = _loss_bounds(entry)
        return of_a_mean(losses[0] - losses[1], first.floats, limit, side, (low - high, high - low))
    if not reportable_alike(scope, other):
        return None
    options = options_of(entry, k)
    (hits, trials), (other_hits, other_trials) = (flags(summary, entry, options) for summary in (first, second))
    if (trials != other_trials).any():
        return None
    weight = first.floats * trials
    # A row that the first model alone gets right counts 1, one that the other alone gets right -1.
    counts = [float(weight[kind].sum()) for kind in (hits & ~other_hits, other_hits & ~hits, hits == other_hits)]
    return of_a_mean(np.array([1.0, -1.0, 0.0]), np.array(counts), limit, side, (-1.0, 1.0))


def evidence_row(
    gate: GatePlan, number: int, subject: Subject, side: Side, basis: Basis, logs: NightEvidence | None,
    data_hash: str | None, renamed: Mapping[str, str],
) -> GateEvidence:
    """Return the record of one run's log e-values about a gate's limit, one for each bet size.

    ``against`` are those that the limit is missed, ``kept`` those that it is kept. ``family`` is the hash of what is
    judged and of the limit, ``sequence`` that with the dataset, model, variant, class and slice, which is the same in
    every nightly run, ``former`` the sequence under the former names of models, by ``renamed``. Without ``logs`` exact
    evidence is 0 (an e-value of 1); asymptotic evidence is empty, for it is computed later from all nights.
    """
    no_bets = np.zeros(len(SHARES) if basis == "exact" else 0)
    against, kept = (no_bets, no_bets) if logs is None else logs
    limit = dict(sides(gate))[side]
    hypothesis = {"measure": subject.metric, "options": subject.params, "average": subject.average, "side": side,
                  "limit": limit, "against": gate.reference, "basis": basis, "bets": BETS[basis]}
    scope = {"class": subject.class_, "dataset": subject.dataset, "model": subject.model, "variant": subject.variant,
             "slice": subject.slice}
    sequence = json_sha256(hypothesis | scope)
    former_hypothesis = hypothesis if gate.baseline is None else hypothesis | {
        "against": renamed.get(gate.baseline, gate.baseline)}
    former = json_sha256(former_hypothesis | scope | {"model": renamed.get(subject.model, subject.model)})
    return GateEvidence(
        **dict(subject), gate=number, side=side, sequence=sequence, family=json_sha256(hypothesis),
        former=None if former == sequence else former,
        basis=basis, data_sha256=data_hash, against=[float(log) + 0.0 for log in against],
        kept=[float(log) + 0.0 for log in kept])


def data_of(results: Results, dataset: str) -> str | None:
    """Return the hash of a dataset's rows, by which a run on the same data is seen; None for data in memory."""
    where = next((summary.where for summary in results.datasets if summary.name == dataset), None)
    return data_sha256([file for file in results.inputs if file.dataset == dataset], where)


def data_sha256(files: Sequence[InputFile], where: str | None) -> str | None:
    """Return the hash of the files of a dataset and its condition ``where``; None for data in memory."""
    digests = [file.sha256 for file in files]
    return None if None in digests else json_sha256({"files": sorted(map(str, digests)), "where": where})
