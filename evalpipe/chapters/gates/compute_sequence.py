"""The mathematics of gates `on: sequence`: bets, gathered nights, the process over nights, and its forecast.

A bet gives an e-value for a night, exact or asymptotic; a mixture over the size of a fall and the night on which it
began joins them. The forecast says how many false alarms to expect in a year, and how late a fall is told. The exact
evidence of a night comes from the rows themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log1p, log_add_exp
from evalpipe.base.digests import json_sha256
from evalpipe.base.records import Subject
from evalpipe.chapters.compare.compute import flags, reportable_alike, values_of_rows
from evalpipe.chapters.gates.plan import evidence_kind, gates_plan, judges_number, sequence_plan
from evalpipe.chapters.gates.records import GateEvidence, GateLimits
from evalpipe.chapters.labels.plan import counts_settled_alone
from evalpipe.engine.differences import options_of, rows_count_alike, summary_of
from evalpipe.intervals.binomial import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.chapters.gates.compute_verdict import On
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import InputFile, Results


    Side = Literal["low", "high"]
    Basis = Literal["exact", "asymptotic"]


SHARES = tuple(2.0**-k for k in range(1, 11))
"""The bets on rows, as shares of the largest that no row can ruin: from a half down, each half of the one before.

A bet of c times the best grows c (2 - c) times as fast as that, so halves lose at most 18 % of the growth. The smallest
is the best of a fall by 0.0005 of a proportion of a half.
"""

SCALES = (0.0625, 0.125, 0.25, 0.5, 1.0)
"""The bets on a value, each the best where the true value is so many standard errors of a night beyond its limit.

Larger bets rest on the far tail of a value's distribution, which is not normal there: `benchmarks/sequence.py`.
"""

ALLOWANCE = 0.25
"""The standard errors by which a value may be off on average, as its skewness or few rows move it.

A year adds up 365 nights: a tenth of a standard error on each of them would otherwise be evidence by itself.
"""

LEAST_BOUND = 1e-6
"""The least that a row may be thought to count for a limit: where none can, as none is above 1, a bet has no bound."""

BETS = {"exact": 1, "asymptotic": 2}
"""The version of the bets of each kind: evidence of another version is not added up."""


class NightEvidence(NamedTuple):
    """Logarithms of the e-values of a night [..., bets]: ``against`` the limit and, of the same bets, for it."""

    against: Floats
    kept: Floats


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """How far rows are short of a limit: ``values`` [..., m], whose mean is 0 or less where the limit is kept.

    ``counts`` [..., m] are the rows of each value; none is below ``least`` or above ``most``.
    """

    values: Floats
    counts: Floats
    least: float
    most: float

    def evidence(self) -> NightEvidence:
        """Return the evidence of independent rows, by betting: the product of 1 + bet * value. It is exact.

        Of a proportion it is the likelihood ratio against the limit. Waudby-Smith & Ramdas (2024).
        """
        return NightEvidence(_bets(self.values, self.counts, -self.least), _bets(-self.values, self.counts, self.most))


def _bets(values: Floats, counts: Floats, bound: float) -> Floats:
    """Return the log e-values [..., bets] of bets on values [..., m] of ``counts`` rows each, none below -``bound``."""
    sizes = [share / max(bound, LEAST_BOUND) for share in SHARES]
    return np.stack([(counts * log1p(size * values)).sum(axis=-1) for size in sizes], axis=-1)


def proportion_evidence(successes: Floats, trials: Floats, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a proportion is below a limit (side -1) or above it (1); shapes broadcast [...]."""
    hits, total = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    counts, values = np.stack([hits, total - hits], axis=-1), side * (np.array([1.0, 0.0]) - limit)
    return Shortfalls(values, counts, values.min(), values.max()).evidence()


def of_a_mean(values: Floats, counts: Floats, limit: float, side: int, bounds: tuple[float, float]) -> NightEvidence:
    """Return the evidence that a mean of values within ``bounds`` is below a limit (side -1) or above it (1).

    ``counts`` [..., m] are the rows that have each of the ``values`` [..., m].
    """
    low, high = sorted(side * (bound - limit) for bound in bounds)
    return Shortfalls(side * (np.asarray(values, float) - limit), counts, low, high).evidence()


def ratio_evidence(
    parts: Sequence[tuple[float, float]], counts: Floats, limit: float, side: int
) -> NightEvidence:
    """Return the evidence that a ratio of means is below a limit (side -1) or above it (1).

    ``parts`` are the numerators and denominators of the kinds of rows, of which there are ``counts`` [..., kinds]: a
    ratio of means is below a limit where the mean of numerator - limit * denominator is below 0.
    """
    values = side * np.array([numerator - limit * denominator for numerator, denominator in parts])
    return Shortfalls(values, np.asarray(counts, float), min(values.min(), 0.0), max(values.max(), 0.0)).evidence()


def value_evidence(value: Floats | float, error: Floats | float, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a value [...] with a standard error is below a limit (side -1) or above it (1).

    It is asymptotic: the value counts as normal with this error (Robbins 1970), and as evidence only so far as it is
    beyond the limit by more than `ALLOWANCE` standard errors.
    """
    z = (side * (np.asarray(value, float) - limit) / np.asarray(error, float))[..., None]
    sizes = np.array(SCALES)
    return NightEvidence(*(sizes * (distance - ALLOWANCE) - sizes**2 / 2 for distance in (z, -z)))


ENOUGH = 50.0
"""The rows of the rarer outcome that a night needs to count by itself, or several nights need together."""

LEARNT = 10
"""The pairs of successive groups from which the spread between nights is first taken."""


class Nights(NamedTuple):
    """What nights say of a number: its value, standard error, rows, and rows of the rarer outcome; NaN if unknown."""

    values: Floats
    errors: Floats
    rows: Floats
    support: Floats


class Gathered(NamedTuple):
    """The mean value, and its standard error, of the group of nights that ends on each night; NaN where none ends."""

    values: Floats
    errors: Floats


def group_nights(nights: Nights, least: float) -> Gathered:
    """Return the mean and standard error of each group of successive nights, at the night on which it ends; else NaN.

    A group ends once it has `ENOUGH` rows of the rarer outcome and at least one known error. Nights weigh as their rows
    do. A night whose error is unknown, as where no row is wrong, takes that of the others by their rows. The error is
    that of the nights' own errors or, where it is larger, of how far the nights differ.

    ``least`` is above 0 for a measure that a few rows bias. Then each night is a group, and nights are left out that
    are expected to have fewer rows of the rarer outcome than this. The rows that they do have are not looked at, for
    that would choose nights with many events.
    """
    is_counted = ~np.isnan(nights.values) & (_expected_support(nights) >= least)
    support = np.full(is_counted.shape, ENOUGH) if least else nights.support
    rows, value = np.where(is_counted, nights.rows, 0.0), np.where(is_counted, nights.values, 0.0)
    has_error = is_counted & (nights.errors > 0)
    night_totals = np.stack([
        rows, rows * value, np.where(has_error, rows * nights.errors, 0.0) ** 2, np.where(has_error, rows, 0.0),
        np.where(is_counted, support, 0.0), is_counted, rows**2, rows**2 * value, (rows * value) ** 2])
    groups = Gathered(np.full(rows.shape, np.nan), np.full(rows.shape, np.nan))
    open_totals = np.zeros(night_totals.shape[:-1])
    for index in range(rows.shape[-1]):
        open_totals += night_totals[..., index]
        # Totals 4 and 3 are the rows of the rarer outcome, and the rows of nights with an error.
        ends = (open_totals[4] >= ENOUGH) & (open_totals[3] > 0)
        groups.values[..., index], groups.errors[..., index] = _mean_and_error(np.where(ends, open_totals, np.nan))
        open_totals = np.where(ends, 0.0, open_totals)
    return groups


def _expected_support(nights: Nights) -> Floats:
    """Return the rows of the rarer outcome expected in each night, by its share in those before; 0 in the first."""
    defined = np.stack([np.where(np.isnan(nights.values), 0.0, total) for total in (nights.support, nights.rows)])
    support, rows = np.cumsum(defined, axis=-1) - defined
    return np.asarray(nights.rows * support / np.where(rows > 0, rows, np.inf))


def _mean_and_error(totals: Floats) -> tuple[Floats, Floats]:
    """Return the mean and standard error of groups of nights, which weigh as their rows do, from nine totals [9, ...].

    The error is that of the nights' own errors or, where it is larger, of how far their values lie apart.
    """
    rows, weighted_values, squared_errors, rows_with_error, _, nights, *squares = totals
    mean = weighted_values / rows
    squared_rows, cross_products, squared_values = squares  # sums of rows^2, rows^2 * value and (rows * value)^2
    squared_distances = squared_values - 2 * mean * cross_products + mean**2 * squared_rows
    between_nights = squared_distances * nights / np.maximum(nights - 1, 1)
    return mean, np.sqrt(np.maximum(squared_errors * rows / rows_with_error, between_nights)) / rows


def evidence(groups: Gathered, limit: float, side: int, *, between: bool = False) -> NightEvidence:
    """Return the evidence of groups of nights on a limit, [..., nights, bets]; 0 on nights on which no group ends.

    ``side`` is -1 for a lowest number allowed, 1 for a highest. With ``between``, errors grow by the spread of the
    groups before; until that is known, nothing counts.
    """
    errors = groups.errors * np.sqrt(_spread_before(groups)) if between else groups.errors
    is_known = ~np.isnan(groups.values) & ~np.isnan(errors)
    night_logs = value_evidence(np.where(is_known, groups.values, limit), np.where(is_known, errors, 1.0), limit, side)
    return NightEvidence(*(np.where(is_known[..., None], logs, 0.0) for logs in night_logs))


def _spread_before(groups: Gathered) -> Floats:
    """Return the spread of the groups before each night [..., nights]; NaN until enough are known.

    It is the mean squared difference of successive groups (von Neumann 1941) over what their errors explain, and at
    least 1. Differences of successive groups do not let a single fall hide the next.
    """
    shape = groups.values.shape
    squares, pairs, spread = np.zeros(shape[:-1]), np.zeros(shape[:-1]), np.full(shape, np.nan)
    last_value, last_error = np.full(shape[:-1], np.nan), np.full(shape[:-1], np.nan)
    for night in range(shape[-1]):
        has_enough = pairs >= LEARNT
        spread[..., night] = np.where(has_enough, np.maximum(squares / np.maximum(pairs, 1), 1.0), np.nan)
        value, error = groups.values[..., night], groups.errors[..., night]
        has_pair = ~np.isnan(value) & ~np.isnan(last_value)
        squares += np.where(has_pair, (value - last_value) ** 2 / (error**2 + last_error**2), 0.0)
        pairs += has_pair
        last_value = np.where(np.isnan(value), last_value, value)
        last_error = np.where(np.isnan(value), last_error, error)
    return spread


class Agreement(NamedTuple):
    """How nights go together: the ``spread`` of successive ones, and their ``autocorrelation``."""

    spread: float
    autocorrelation: float
    nights: int


def agreement(nights: Nights) -> Agreement | None:
    """Return the spread and the autocorrelation of the values of successive nights; None of too few nights.

    Of nights that differ by their rows alone the spread is 1 and the autocorrelation 0.
    """
    has_error = ~np.isnan(nights.values) & (nights.errors > 0)
    values, errors = nights.values[has_error], nights.errors[has_error]
    if len(values) <= LEARNT:
        return None
    spread = float(np.mean(np.diff(values) ** 2 / (errors[1:] ** 2 + errors[:-1] ** 2)))
    deviations = (values - values.mean()) / errors
    return Agreement(spread, float((deviations[1:] * deviations[:-1]).sum() / (deviations**2).sum()), len(values))


AT_ONCE = 0.25
"""The share of the stake for a limit that was missed from the first night on."""

NIGHTS = 365
"""The nights after which the share of the stake that is left for later falls has come down by 1 / sqrt(2)."""

REACH = 10.0
"""How many times the evidence that a verdict needs a bet keeps at most: so nights that say otherwise are heard soon.

After 30 nights far below a limit, 11 as far above it take the evidence down again; without a bound it would be 30.
"""


def stake_by_night(night: int) -> float:
    """Return how much of a stake of 1 is bet on falls that begin on a night or before; nights count from 1."""
    return AT_ONCE + (1 - AT_ONCE) * (1 - 1 / math.sqrt(1 + night / NIGHTS)) if night else 0.0


def threshold(level: float, alarms: int) -> float:
    """Return the evidence at which each of ``alarms`` limits gives an alarm, so that all together keep the level.

    An e-process that has mean 1 or less reaches 1 / p with a probability of p at most, in whatever time: Ville (1939).
    The probabilities of several add up at most, whatever depends on what.
    """
    return alarms / level


def e_process(logs: Floats, needed: float, first: int = 0) -> Floats:
    """Return the e-process after each night from index ``first`` on, from log e-values [..., nights, bets].

    ``needed`` is the evidence at which a verdict is given. On each night, the stake on falls that begin then is added
    to the wealth of each bet, and the sum is multiplied by the e-value of the night. The process is the mean over bets,
    with what is not staked yet, so its mean is at most 1 while the limit is kept. It is a detector as of Shin, Ramdas &
    Rinaldo (2024), of which the stakes add up to 1. The wealth of a bet is capped at `REACH` times what a verdict needs
    of all bets; that makes the mean smaller, never larger.
    """
    bets = logs.shape[-1]
    most_log = math.log(REACH * bets * needed)
    log_wealth = np.full((*logs.shape[:-2], bets), -np.inf)
    evidence_after = np.empty(logs.shape[:-1])
    for night in range(logs.shape[-2]):
        joined = log_add_exp(log_wealth, math.log(stake_by_night(night + 1) - stake_by_night(night)))
        log_wealth = np.minimum(joined + logs[..., night, :], most_log)
        if night >= first:
            evidence_after[..., night] = exp(log_wealth).mean(axis=-1) + 1 - stake_by_night(night + 1)
    return evidence_after[..., first:]


RECENT = 3.0
"""The evidence of recent nights that a limit is missed, above which a gate does not pass."""

MONTH = 30
"""The nights that are recent."""


def recent_evidence(logs: Floats, needed: float) -> Floats:
    """Return the evidence [...] of recent nights that a limit is missed, from log e-values [..., nights, bets].

    Each bet starts on that of the last `MONTH` nights from which it grows most, as in cumulative sums (Page 1954). A
    stake of 1 begins anew on each night, so it is no e-value; a limit on it only makes passes rarer.
    """
    most_log, log_wealth = math.log(REACH * logs.shape[-1] * needed), np.zeros((*logs.shape[:-2], logs.shape[-1]))
    for night in range(max(logs.shape[-2] - MONTH, 0), logs.shape[-2]):
        log_wealth = np.minimum(np.maximum(log_wealth, 0.0) + logs[..., night, :], most_log)
    return np.asarray(exp(log_wealth).mean(axis=-1))


def evidence_after_last(logs: Floats, needed: float) -> Floats:
    """Return the e-process after the last night [...], from log e-values [..., nights, bets]; 1 before the first."""
    return e_process(logs, needed, logs.shape[-2] - 1)[..., -1] if logs.shape[-2] else np.ones(logs.shape[:-2])


YEARS = 200
"""The simulated years of each check."""

NIGHTS_A_YEAR = 365
"""The nights of a year."""

BEFORE = 200
"""The nights before a fall."""

SEED = 17


@dataclass(frozen=True, slots=True)
class NightCheck:
    """One limit of a gate on one number: what a night tells of it.

    ``side`` is -1 for a lowest number allowed, 1 for a highest; ``error`` the standard error of a night. ``trials`` are
    those of a proportion, None for any other measure; ``support`` its rows of the rarer outcome, which nights are
    gathered by, and ``least`` how many a night needs, see `gathered`. ``needed`` is the evidence that fails a gate
    `on: sequence`.
    """

    on: On
    limit: float
    side: int
    error: float
    trials: int | None
    level: float
    needed: float
    support: float = ENOUGH
    least: int = 0


class Forecast(NamedTuple):
    """What is to be expected of a check, simulated: false alarms in a year with their standard error, and the delay.

    ``delay`` is the median number of nights until it fails after a fall; None where it does not within a year.
    """

    alarms: float
    error: float
    delay: int | None


def forecast(check: NightCheck, margin: float, drop: float) -> Forecast:
    """Return what to expect of a check whose true value is a margin inside its limit, and then falls by a drop.

    A false alarm is a night on which the gate begins to fail. The rules are those of the gate itself, on nights that
    are drawn: binomial of a proportion, else normal with the error of a night.
    """
    rng = np.random.default_rng(SEED)
    inside = check.limit - check.side * margin
    fails_before = _fails(check, np.full(NIGHTS_A_YEAR, inside), rng)
    false_alarms = (fails_before & ~np.pad(fails_before, ((0, 0), (1, 0)))[:, :-1]).sum(axis=1)
    falling_values = np.where(np.arange(BEFORE + NIGHTS_A_YEAR) < BEFORE, inside, inside + check.side * drop)
    fails_after = _fails(check, falling_values, rng)[:, BEFORE:]
    delays = np.where(fails_after.any(axis=1), fails_after.argmax(axis=1) + 1, NIGHTS_A_YEAR + 1)
    delay = int(np.median(delays))
    error = float(false_alarms.std(ddof=1)) / math.sqrt(YEARS)
    return Forecast(float(false_alarms.mean()), error, delay if delay <= NIGHTS_A_YEAR else None)


def _fails(check: NightCheck, true_values: Floats, rng: np.random.Generator) -> Flags:
    """Return on which nights a gate fails [years, nights], in simulated years with the true values [nights]."""
    shape = YEARS, len(true_values)
    if check.trials is not None:
        hits = rng.binomial(check.trials, np.clip(true_values, 0, 1), shape).astype(float)
        values, (lower, upper) = hits / check.trials, clopper_pearson(hits, check.trials, check.level)
        against = proportion_evidence(hits, np.array(check.trials), check.limit, check.side).against
    else:
        values = rng.normal(true_values, check.error, shape)
        margin = NormalDist().inv_cdf((1 + check.level) / 2) * check.error
        lower, upper = values - margin, values + margin
        nights = Nights(values, *(np.full(shape, number) for number in (check.error, 1.0, check.support)))
        groups = group_nights(nights, check.least)
        against = evidence(groups, check.limit, check.side).against
    if check.on == "sequence":
        return np.asarray(e_process(against, check.needed) >= check.needed)
    nearest = upper if check.side < 0 else lower
    number = {"interval": nearest, "value": values, "lower": lower, "upper": upper}[check.on]
    return np.asarray(check.side * (number - check.limit) > 0)


SIDES: dict[Side, int] = {"low": -1, "high": 1}
"""The sign of the direction in which a number misses each limit: below the lowest, above the highest."""


def sides(gate: GatePlan) -> Iterator[tuple[Side, float]]:
    """Yield the finite limits of a gate, each with whether it is the lowest or the highest number allowed."""
    limits = GateLimits.of(gate.rule.limit)
    if math.isfinite(limits.low):
        yield "low", limits.low
    if math.isfinite(limits.high):
        yield "high", limits.high


def exact_evidence(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[GateEvidence]:
    """Yield the exact evidence of each gate `on: sequence`, for each number and limit on which it can be exact."""
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
            subject = Subject.of(estimate)
            k = None if subject.class_ is None else sample.levels.index(subject.class_)
            if not judges_number(plan, gate, subject) or not is_exact(plan, sample, model, baseline, entry, k):
                continue
            for side, limit in sides(gate):
                logs: NightEvidence | None = None
                if scope is not None and gate.against != "baseline":
                    logs = _value_evidence(scope, entry, k, limit, SIDES[side])
                elif scope is not None and baseline_scope is not None:
                    logs = _difference_evidence(scope, baseline_scope, entry, k, limit, SIDES[side])
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
    return (can_bet[evidence_kind(entry)] and not between_nights and not sample.streamed
            and rows_count_alike(plan, entry, k, without_judges=counts_settled_alone(plan))
            and all(_is_untouched_by(plan, sample, name, thresholded=by_classes) for name in models))


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


def _value_evidence(scope: Scope, entry: MetricPlan, k: int | None, limit: float, side: int) -> NightEvidence:
    """Return the exact evidence on the value of a measure that it misses a limit, and that it keeps it.

    ``k`` is the index of its class, None of all classes; ``side`` is -1 for a lowest number allowed, 1 for a highest.
    """
    summary, options = summary_of(scope, entry, k), options_of(entry, k)
    if evidence_kind(entry) == "rows":
        hits, trials = summary.proportion(entry.metric, options)
        return proportion_evidence(np.asarray(hits), np.asarray(trials), limit, side)
    if evidence_kind(entry) == "cells":
        squared = float(str(options.get("beta", 1.0))) ** 2
        # F beta: what a true positive, a false positive and a false negative add to its numerator and denominator.
        parts = [(1 + squared, 1 + squared), (0.0, 1.0), (0.0, squared)]
        return ratio_evidence(parts, np.array([float(summary(name)) for name in ("tp", "fp", "fn")]), limit, side)
    losses = values_of_rows(summary, entry)
    return of_a_mean(losses, summary.floats, limit, side, _loss_bounds(entry))


def _loss_bounds(entry: MetricPlan) -> tuple[float, float]:
    """Return the least and the largest loss that a row can have, between which bets are bounded."""
    if entry.metric.name != "log_loss":
        return entry.metric.bounds(entry.params)
    # Probabilities count as epsilon at least and 1 - epsilon at most.
    epsilon, base = float(entry.params["epsilon"]), entry.params["base"]
    unit = 1.0 if base == "e" else math.log(base)
    return -math.log1p(-epsilon) / unit, -math.log(epsilon) / unit


def _difference_evidence(
    scope: Scope, other: Scope, entry: MetricPlan, k: int | None, limit: float, side: int
) -> NightEvidence | None:
    """Return the exact evidence on the difference of two models on the same rows; None where their trials differ.

    ``k`` is the index of the class of a measure, None of all classes; ``side`` is -1 for a lowest number allowed, 1 for
    a highest.
    """
    first, second = summary_of(scope, entry, k), summary_of(other, entry, k)
    if evidence_kind(entry) == "losses":
        losses = [values_of_rows(summary, entry) for summary in (first, second)]
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
    """Return the hash of a dataset's files and condition, by which the same data are seen; None for data in memory."""
    where = next((summary.where for summary in results.datasets if summary.name == dataset), None)
    return data_sha256([file for file in results.inputs if file.dataset == dataset], where)


def data_sha256(files: Sequence[InputFile], where: str | None) -> str | None:
    """Return the hash of the files of a dataset and its condition ``where``; None for data in memory."""
    digests = [file.sha256 for file in files]
    return None if None in digests else json_sha256({"files": sorted(map(str, digests)), "where": where})
