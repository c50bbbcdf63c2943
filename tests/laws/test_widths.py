"""The limits of every declared interval method lie as far from the value as its standard error says, on both sides.

Each method gets an estimate of many rows whose standard error is known from elsewhere: a formula of a textbook,
statsmodels, a derivative taken by differences, or a simulation. Of so many rows the value is as good as normal, so the
limits lie a quantile of the normal distribution (of Student's, where units are few) times that error below and above
it. Up to `NEAR` of that they may differ: rounded counts, the bend of a logit, the noise that a method takes out and
the 1 % by which a standard deviation of 4,000 simulated samples errs come to less. Limits that are a tenth wider, moved
by a twentieth of their width, or of another level are seen; each method's own tests tell how limits of few rows behave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm, t

from evalpipe.intervals import registry
from evalpipe.intervals.fits import spread_of_fits
from evalpipe.intervals.noise import SQUARES, Bins

NEAR = 0.05
NORMAL = norm.ppf((np.arange(1999) + 0.5) / 1999)
"""Replicates of a normal measure of mean 0 and variance 1, without chance."""

N = 4000
SHARE, ERROR = 0.7, 0.004
REPLICATES = SHARE + ERROR * NORMAL
UNBOUNDED = (-math.inf, math.inf)


class Estimate(NamedTuple):
    """A value with its standard error, and what a method needs of it; what is a function depends on the level.

    ``reach`` gives how many errors the limits lie below and above the value, if not a normal quantile.
    """

    method: str
    value: float
    error: float
    needs: Mapping[str, Any]
    reach: Callable[[float], tuple[float, float]] = lambda level: (norm.ppf((1 + level) / 2),) * 2


def shares() -> Iterator[Estimate]:
    """Yield a share of independent rows, and what two shares come to."""
    p, q = SHARE, 0.2
    for method in ("exact", "wilson", "jeffreys", "wald"):
        yield Estimate(method, p, math.sqrt(p * (1 - p) / N), {"successes": p * N, "trials": N})
    odds, both = 0.3 / 0.7, {"total": N, "events_reached": p * N, "others_reached": q * N}
    variance = p * (1 - p) + odds**2 * q * (1 - q) + 2 * odds * p * q
    yield Estimate("newcombe", p - odds * q, math.sqrt(variance / N), {**both, "options": {"threshold": 0.3}})
    yield Estimate("tango", 0.1, math.sqrt((0.3 - 0.1**2) / N), {
        "only_first": 0.2 * N, "only_second": 0.1 * N, "rows": N})
    # Without a row that differs the error is that of a Poisson count of none.
    yield Estimate("none_differs", 0.0, 1 / N, {"n": N, "reach": 1.0}, lambda level: (-math.log((1 - level) / 2),) * 2)
    for scale in (1.0, 0.6):
        error = scale * math.sqrt(p * (1 - p) / N + q * (1 - q) / (2 * N))
        yield Estimate("miettinen_nurminen", scale * (p - q), error, {
            "successes": p * N, "trials": N, "other_successes": q * 2 * N, "other_trials": 2 * N, "scale": scale})


def predictive_values() -> Iterator[Estimate]:
    """Yield ppv and npv under a prior of 0.1, their errors by differences in sensitivity and specificity."""
    prior, sensitivity, specificity = 0.1, 0.8, 0.9
    values: dict[str, Callable[[float, float], float]] = {
        "ppv": lambda a, b: prior * a / (prior * a + (1 - prior) * (1 - b)),
        "npv": lambda a, b: (1 - prior) * b / ((1 - prior) * b + prior * (1 - a))}
    for measure, of in values.items():
        step = 1e-6
        slopes = ((of(sensitivity + step, specificity) - of(sensitivity - step, specificity)) / (2 * step),
                  (of(sensitivity, specificity + step) - of(sensitivity, specificity - step)) / (2 * step))
        variances = sensitivity * (1 - sensitivity) / N, specificity * (1 - specificity) / (2 * N)
        yield Estimate("logit", of(sensitivity, specificity), math.hypot(
            *(slope * math.sqrt(variance) for slope, variance in zip(slopes, variances, strict=True))), {
            "measure": measure, "tp": sensitivity * N, "fn": (1 - sensitivity) * N,
            "tn": specificity * 2 * N, "fp": (1 - specificity) * 2 * N})


def of_scores() -> Iterator[Estimate]:
    """Yield an area by its placements, pair by pair, and the lines of statsmodels."""
    generator = np.random.default_rng(1)
    others, events = generator.normal(0, 1, 900).round(1), generator.normal(1, 1, 700).round(1)
    above = (events[:, None] > others) + (events[:, None] == others) / 2
    error = math.sqrt(above.mean(axis=1).var(ddof=1) / len(events) + above.mean(axis=0).var(ddof=1) / len(others))
    scores = np.unique([*events, *others])
    at = {"events_at": np.array([(events == score).sum() for score in scores], float),
          "others_at": np.array([(others == score).sum() for score in scores], float)}
    yield Estimate("delong", float(above.mean()), error, at)

    x = generator.normal(-0.5, 1, N).round(1)
    y = (generator.random(N) < 1 / (1 + np.exp(-(0.2 + 0.8 * x)))).astype(float)
    places = np.unique(x)
    events_at = np.array([y[x == place].sum() for place in places])
    others_at = np.array([(1 - y[x == place]).sum() for place in places])
    at = {"events_at": events_at, "others_at": others_at, "log_odds_at": places * (events_at + others_at),
          "shares": None}
    line = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial()).fit()
    for index, measure in enumerate(("calibration_intercept", "calibration_slope")):
        yield Estimate("robust", line.params[index], _robust_errors(line)[index], {
            **at, "measure": measure, "calibration_line": line.params})
    line = sm.GLM(y, np.ones((N, 1)), family=sm.families.Binomial(), offset=x).fit()
    yield Estimate("robust", line.params[0], _robust_errors(line)[0], {
        **at, "measure": "calibration_in_the_large", "calibration_line": np.full(2, np.nan)})
    # The weights fix the share of each class, so the error is that of the mean residual within it.
    weight = np.where(y == 1, 0.1 / y.mean(), 0.9 / (1 - y.mean()))
    line = sm.GLM(y, np.ones((N, 1)), family=sm.families.Binomial(), offset=x, freq_weights=weight).fit()
    spread = sum(weight[y == k][0] ** 2 * (y == k).sum() * line.resid_response[y == k].var(ddof=1) for k in (0, 1))
    curvature = float((weight * line.fittedvalues * (1 - line.fittedvalues)).sum())
    yield Estimate("robust", line.params[0], math.sqrt(spread) / curvature, {
        **at, "measure": "calibration_in_the_large", "calibration_line": np.full(2, np.nan), "shares": (0.1, 0.9)})


def _robust_errors(line: Any) -> np.ndarray:
    """Return HC3 errors of a fit of statsmodels by matrices of all rows, and no smaller than the likelihood's."""
    x, residual, chance = line.model.exog, line.resid_response, line.fittedvalues
    bread = np.linalg.inv(x.T @ (x * (chance * (1 - chance))[:, None]))
    leverage = chance * (1 - chance) * np.einsum("ij,jk,ik->i", x, bread, x)
    scores = x * (residual / (1 - leverage))[:, None]
    return np.sqrt(np.maximum(np.diag(bread @ scores.T @ scores @ bread), np.diag(bread)))


def in_bins() -> Iterator[Estimate]:
    """Yield measures of gaps in ten bins, their errors by a simulation of the rows of each and of their events."""
    generator, n, bins = np.random.default_rng(2), 1_000_000, 10
    rates, gaps = np.linspace(0.2, 0.75, bins), np.linspace(0.08, 0.12, bins) * np.tile([1, -1], bins // 2)
    counts = np.vstack([np.full(bins, n // bins), generator.multinomial(n, np.full(bins, 1 / bins), N)])
    events = np.vstack([np.rint(counts[0] * rates), generator.binomial(counts[1:], rates)])
    weight, gap, rate = counts / n, events / counts - (rates - gaps), events / counts
    first = counts[0].astype(float)
    used = Bins(events[0], first - events[0], gap[0] * first, events[0], first - events[0])
    square = (weight * gap**2).sum(axis=1)
    for method, kind, values in (
        ("folded", "gaps", (weight * abs(gap)).sum(axis=1)), ("noncentral", "gaps", np.sqrt(square)),
        ("noncentral", "squared_gaps", square), ("corrected", "scatter", (weight * rate * (1 - rate)).sum(axis=1)),
    ):
        yield Estimate(method, values[0], values[1:].std(ddof=1), {"bins": used, "kind": kind})

    def reach(level: float) -> tuple[float, float]:
        return norm.ppf((1 + ((1 + level) / 2) ** (1 / bins)) / 2), norm.ppf((1 + level) / 2)

    wide = np.where(np.arange(bins) == 4, 0.3, gap[0])
    used = Bins(events[0], first - events[0], wide * first, events[0], first - events[0])
    yield Estimate("binomial_bins", 0.3, math.sqrt(rate[0, 4] * (1 - rate[0, 4]) / first[4]), {"bins": used}, reach)


def student(freedom: int, more: float) -> Callable[[float], tuple[float, float]]:
    return lambda level: (more * t.ppf((1 + level) / 2, freedom),) * 2


def drawn() -> Iterator[Estimate]:
    """Yield a measure whose replicates are normal with its error."""
    known = {"replicates": REPLICATES, "jackknife": REPLICATES, "errors": np.full(len(NORMAL), ERROR), "error": ERROR}
    for method in ("percentile", "basic", "bca", "studentised", "bootstrap_error", "bootstrap_corrected"):
        yield Estimate(method, SHARE, ERROR, known)
    for clusters in (None, 900):
        yield Estimate("bootstrap_logit", SHARE, ERROR, {**known, "rarest": 1000.0, "clusters": clusters})
    for bounds in ((-9.0, 9.0), UNBOUNDED):
        yield Estimate("bootstrap_score", SHARE, ERROR, {
            **known, "bounds": bounds, "rows": 1e5, "clusters": None}, student(10**5 - 1, 1.0))
    yield Estimate("bootstrap_score", SHARE, ERROR, {
        **known, "bounds": UNBOUNDED, "rows": 1e5, "clusters": 12}, student(11, math.sqrt(12 / 11)))
    for kind in registry["bootstrap_noncentral"].for_:
        value, error = (SHARE**2, 2 * SHARE * ERROR) if kind in SQUARES else (SHARE, ERROR)
        # A square without any noise has limits of its own; the hundredth of an error is too little to be seen.
        replicates = value + error * (NORMAL + 0.01)
        yield Estimate("bootstrap_noncentral", value, error, {"replicates": replicates, "kind": kind, "options": {}})
    few = {clusters: student(clusters - 1, math.sqrt(clusters / (clusters - 1))) for clusters in (12, 40)}
    for bounds in ((0.0, 1.0), (0.0, math.inf), (-math.inf, 1.0), UNBOUNDED):
        for clusters, reach in few.items():
            yield Estimate("cluster_t", SHARE, ERROR, {**known, "clusters": clusters, "bounds": bounds}, reach)
    for many in (None, 41):
        yield Estimate("cluster_t", SHARE, ERROR, {**known, "clusters": many, "bounds": (0.0, 1.0)})


def of_judges() -> Iterator[Estimate]:
    """Yield a measure where outcomes are missing: 20 groups of rows move it alike."""
    alike = SHARE + np.tile([0.01, -0.01], 10)
    judged = {"replicates": REPLICATES, "jackknife": alike, "alone": REPLICATES, "rows": 1e5, "clusters": None}
    for bounds in ((0.0, 1.0), (0.0, math.inf), UNBOUNDED):
        yield Estimate("judged_t", SHARE, ERROR, {
            **judged, "share": 0.0, "rarest": 5e4, "unseen": 4e-5, "bounds": bounds}, student(
                5 * 10**4 - 1, math.sqrt(20 / 19)))
        # Of 10 and 10 outcomes a full share of the judge adds a fifth of the variance without it.
        yield Estimate("judged_t", SHARE, ERROR, {
            **judged, "share": 1.0, "rows": 20.0, "rarest": 10.0, "unseen": 1 / 5, "bounds": bounds}, student(
                9, math.sqrt(20 / 19 + 1 / 5)))
    trials = SHARE * (1 - SHARE) / ERROR**2
    for least, most in ((trials / 2, trials), (trials, 0.0)):
        yield Estimate("judged_score", SHARE, ERROR, {
            **judged, "trials": least, "share": 0.5 if most else 0.0, "rarest": 5e4, "unseen": 4e-5}, student(
                5 * 10**4 - 1, 1.0))
    for share, added in ((0.0, 0.0), (1.0, 1 / 5)):
        yield Estimate("weighted_score", SHARE, ERROR, {
            **judged, "trials": 20.0, "share": share, "rows": 20.0, "rarest": 10.0, "unseen": 1 / 5}, student(
                9, math.sqrt(20 / 19 + added)))


def of_differences() -> Iterator[Estimate]:
    """Yield a difference whose error is known, and one of two numbers with limits."""
    yield Estimate("paired_t", 0.1, ERROR, {"error": ERROR, "freedom": None})
    yield Estimate("paired_t", 0.1, ERROR, {"error": ERROR, "freedom": 8}, student(8, 1.0))

    def limits(value: float, error: float) -> Callable[[float], tuple[float, float, float]]:
        return lambda level: (value, *norm(value, error).interval(level))

    yield Estimate("recovered", 0.1, 5 * ERROR, {"first": limits(0.8, 3 * ERROR), "second": limits(0.7, 4 * ERROR)})


def of_fits() -> Iterator[Estimate]:
    """Yield the mean of many fits, a new fit of the model, and a measure that fits correct for optimism."""
    generator, fits, between, of_rows = np.random.default_rng(3), 200, 0.02, 0.01
    replicates = SHARE + of_rows * (generator.normal(size=(N, 1)) + generator.normal(size=(N, fits))) / math.sqrt(2)
    values = SHARE + math.sqrt(between**2 + of_rows**2 / 2) * np.resize([-1.0, 1.0], fits)
    for new in (False, True):
        variance = between**2 * (1 / fits + new) + of_rows**2 * (1 + 1 / fits) / 2
        for bounds in ((-9.0, 9.0), UNBOUNDED):
            yield Estimate("fits", SHARE, math.sqrt(variance), {
                "spread": spread_of_fits(values, replicates, N), "bounds": bounds, "new": new})
    inside = np.stack([0.72 + ERROR * NORMAL, 0.69 + ERROR * NORMAL], axis=1)
    yield Estimate("bootstrap_fits", SHARE, ERROR * (0.7 * 0.3) / (0.72 * 0.28), {
        "values": inside, "corrected": SHARE, "bounds": (0.0, 1.0)})


WITHOUT = {"none"}
"""What gives no limits."""


@cache
def estimates() -> tuple[Estimate, ...]:
    families = (shares, predictive_values, of_scores, in_bins, drawn, of_judges, of_differences, of_fits)
    return tuple(estimate for family in families for estimate in family())


def limits_of(estimate: Estimate, level: float) -> tuple[float, float]:
    """Return the limits of the declared method; of a declared error, those that are normal."""
    method = registry[estimate.method]
    known = {"value": estimate.value, "level": level} | {
        name: need(level) if callable(need) else need for name, need in estimate.needs.items()}
    made = method.function(**{need: known[need] for need in method.needs})
    if isinstance(made, float):
        made = registry["paired_t"].function(estimate.value, made)
    lower, upper = made[:2] if isinstance(made, tuple) else made.limits(level)
    return float(lower), float(upper)


@pytest.mark.parametrize("name", registry)
def test_limits_lie_as_far_from_the_value_as_its_error_says(name: str) -> None:
    of_method = [estimate for estimate in estimates() if estimate.method == name]
    if name in WITHOUT:
        assert registry[name].limits(lambda _: None) is None
        return
    assert of_method, f"{name} has no estimate of a known error: yield one in `shares`, `drawn` or another family above"
    for estimate in of_method:
        for level in (0.8, 0.95):
            lower, upper = limits_of(estimate, level)
            reached = [(estimate.value - lower) / estimate.error, (upper - estimate.value) / estimate.error]
            assert reached == pytest.approx(estimate.reach(level), rel=NEAR), (level, estimate.needs)


def test_the_limit_on_the_side_of_a_bias_is_moved_out_by_it() -> None:
    inputs = {"jackknife": np.tile([0.49, 0.51], 500), "alone": REPLICATES, "rows": 1e5, "rarest": 5e4, "unseen": 0.0,
              "clusters": None, "share": 0.0, "value": SHARE, "bounds": (-math.inf, math.inf), "level": 0.95}
    method = registry["judged_t"]

    def ends(replicates: Any) -> tuple[float, float]:
        limits = method.function(**{need: {**inputs, "replicates": replicates}[need] for need in method.needs})
        return limits.lower, limits.upper

    lower, upper = ends(REPLICATES)
    bias = 0.3 * ERROR
    # Limits from quantiles of so many replicates have no noise here: the same replicates, moved.
    assert ends(REPLICATES + bias) == pytest.approx((lower - bias, upper), rel=1e-9)
    assert ends(REPLICATES - bias) == pytest.approx((lower, upper + bias), rel=1e-9)
