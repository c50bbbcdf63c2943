"""The mathematics of gates `on: sequence`: bets, gathered nights, the process over nights, and its forecast.

A bet gives an e-value for a night, exact or asymptotic; a mixture over the size of a fall and the night on which it
began joins them. The forecast says how many false alarms to expect in a year, and how late a fall is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log1p, log_add_exp
from evalpipe.intervals.binomial import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.chapters.gates.compute_numbers import On


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
    """Return the log e-values [..., bets] of bets on values [..., m] of so many rows each, none below -``bound``."""
    sizes = [share / max(bound, LEAST_BOUND) for share in SHARES]
    return np.stack([(counts * log1p(size * values)).sum(axis=-1) for size in sizes], axis=-1)


def of_a_proportion(successes: Floats, trials: Floats, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a proportion is below a limit (side -1) or above it (1); shapes broadcast [...]."""
    hits, total = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    counts, values = np.stack([hits, total - hits], axis=-1), side * (np.array([1.0, 0.0]) - limit)
    return Shortfalls(values, counts, values.min(), values.max()).evidence()


def of_a_mean(values: Floats, counts: Floats, limit: float, side: int, bounds: tuple[float, float]) -> NightEvidence:
    """Return the evidence that the mean of values [..., m] within bounds is below a limit (side -1) or above it (1)."""
    low, high = sorted(side * (bound - limit) for bound in bounds)
    return Shortfalls(side * (np.asarray(values, float) - limit), counts, low, high).evidence()


def of_a_ratio(
    parts: Sequence[tuple[float, float]], counts: Floats, limit: float, side: int
) -> NightEvidence:
    """Return the evidence that a ratio of means is below a limit (side -1) or above it (1).

    ``parts`` are the numerators and denominators of the kinds of rows, of which there are ``counts`` [..., kinds]: a
    ratio of means is below a limit where the mean of numerator - limit * denominator is below 0.
    """
    values = side * np.array([numerator - limit * denominator for numerator, denominator in parts])
    return Shortfalls(values, np.asarray(counts, float), min(values.min(), 0.0), max(values.max(), 0.0)).evidence()


def of_a_value(value: Floats | float, error: Floats | float, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a value [...] with a standard error is below a limit (side -1) or above it (1).

    It is asymptotic: that of a normal distribution with this error (Robbins 1970), whose mean is beyond the limit by
    more than the allowance.
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


def gathered(nights: Nights, least: float) -> Gathered:
    """Return the mean of each group of nights; it ends with enough rows of the rarer outcome and one known error.

    Nights weigh as their rows do. A night whose error is unknown, as where no row is wrong, takes that of the others by
    their rows. Of a measure that few rows move to one side each night is a group, and those are left out of which fewer
    than ``least`` rows of the rarer outcome are expected; 0 for any other measure. What a night has of them itself does
    not matter, for that would choose nights with many events. The error is that of the nights' own errors or, where it
    is larger, of how far the nights differ.
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
    """Return the rows of the rarer outcome that each night is to have by the share in those before; 0 at first."""
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
    """Return the evidence of groups on a limit, [..., nights, bets]; 0 on nights on which none ends.

    With ``between``, errors grow by the spread of the groups before; until that is known, nothing counts.
    """
    errors = groups.errors * np.sqrt(_spread_before(groups)) if between else groups.errors
    is_known = ~np.isnan(groups.values) & ~np.isnan(errors)
    night_logs = of_a_value(np.where(is_known, groups.values, limit), np.where(is_known, errors, 1.0), limit, side)
    return NightEvidence(*(np.where(is_known[..., None], logs, 0.0) for logs in night_logs))


def _spread_before(groups: Gathered) -> Floats:
    """Return how far groups before each night differ, squared and in units of their errors; NaN until that is known.

    Of successive ones (von Neumann 1941), so that one fall does not hide the next. It is at least 1.
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
    """Return how the values of successive nights [nights] go together; None of fewer nights than that takes.

    1 is the spread, and 0 the autocorrelation, of nights that differ by their rows alone.
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


def staked(night: int) -> float:
    """Return how much of a stake of 1 is bet on falls that begin on a night or before; nights count from 1."""
    return AT_ONCE + (1 - AT_ONCE) * (1 - 1 / math.sqrt(1 + night / NIGHTS)) if night else 0.0


def threshold(level: float, alarms: int) -> float:
    """Return the evidence at which one of so many alarms is given, so that all keep the level together.

    An e-process that has mean 1 or less reaches 1 / p with a probability of p at most, in whatever time: Ville (1939).
    The probabilities of several add up at most, whatever depends on what.
    """
    return alarms / level


def process(logs: Floats, needed: float) -> Floats:
    """Return an e-process [..., nights] of the logarithms of e-values [..., nights, bets] in the order of nights.

    ``needed`` is the evidence at which a verdict is given.
    On each night, what is staked on a fall that begins then joins each bet, and all is multiplied by the e-value of the
    night; the process is the mean over bets, with what is not staked yet. So its mean is at most 1 while the limit is
    kept. It is a detector as of Shin, Ramdas & Rinaldo (2024), of which the stakes add up to 1. What a bet
    has come to is kept up to `REACH` times what a verdict needs of all; that makes the mean smaller, never larger.
    """
    bets = logs.shape[-1]
    most_log = math.log(REACH * bets * needed)
    log_wealth = np.full((*logs.shape[:-2], bets), -np.inf)
    evidence_after = np.empty(logs.shape[:-1])
    for night in range(logs.shape[-2]):
        joined = log_add_exp(log_wealth, math.log(staked(night + 1) - staked(night)))
        log_wealth = np.minimum(joined + logs[..., night, :], most_log)
        evidence_after[..., night] = exp(log_wealth).mean(axis=-1) + 1 - staked(night + 1)
    return evidence_after


RECENT = 3.0
"""The evidence of recent nights that a limit is missed, above which a gate does not pass."""

MONTH = 30
"""The nights that are recent."""


def recent(logs: Floats, needed: float) -> Floats:
    """Return the evidence [...] of recent nights that a limit is missed, from log e-values [..., nights, bets].

    Each bet counts from the night from which on it comes to most, as in the cumulative sums of Page (1954), within a
    month. A stake of 1 begins anew on each night, so it is no e-value; to ask for little of it makes passes fewer.
    """
    most_log, log_wealth = math.log(REACH * logs.shape[-1] * needed), np.zeros((*logs.shape[:-2], logs.shape[-1]))
    for night in range(max(logs.shape[-2] - MONTH, 0), logs.shape[-2]):
        log_wealth = np.minimum(np.maximum(log_wealth, 0.0) + logs[..., night, :], most_log)
    return np.asarray(exp(log_wealth).mean(axis=-1))


def evidence_after_last(nights: Floats | Sequence[Sequence[float]], needed: float) -> float:
    """Return the evidence after the last night, from the log e-values of nights [nights, bets]; 1 before the first."""
    return float(process(np.asarray(nights, float), needed)[-1]) if len(nights) else 1.0


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
        against = of_a_proportion(hits, np.array(check.trials), check.limit, check.side).against
    else:
        values = rng.normal(true_values, check.error, shape)
        margin = NormalDist().inv_cdf((1 + check.level) / 2) * check.error
        lower, upper = values - margin, values + margin
        nights = Nights(values, *(np.full(shape, number) for number in (check.error, 1.0, check.support)))
        groups = gathered(nights, check.least)
        against = evidence(groups, check.limit, check.side).against
    if check.on == "sequence":
        return np.asarray(process(against, check.needed) >= check.needed)
    nearest = upper if check.side < 0 else lower
    number = {"interval": nearest, "value": values, "lower": lower, "upper": upper}[check.on]
    return np.asarray(check.side * (number - check.limit) > 0)
