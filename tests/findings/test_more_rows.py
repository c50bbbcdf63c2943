"""The number of further rows that a finding names decides with the probability that it states, if the value is true.

The true value is that of the rows at hand where further ones are drawn from them, with replacement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evalpipe.findings.margins import CHANCE, more_rows, more_rows_sentence
from evalpipe.intervals.analytic import auc_variance, logit_limits
from evalpipe.intervals.binomial import clopper_pearson
from findings.planted import expit

LEVEL, Z = 0.95, 1.959964
Rows = tuple[np.ndarray, np.ndarray]


def row(value: float | None, lower: float | None, upper: float | None, method: str = "percentile") -> Any:
    return SimpleNamespace(value=value, lower=lower, upper=upper, level=LEVEL, method=method)


def rate(rows: Rows) -> Any:
    """Return the sensitivity at the prevalence as threshold, with exact limits."""
    y, p = rows
    hits, events = float(((p >= expit(np.array(CUT[0]))) & (y == 1)).sum()), float(y.sum())
    lower, upper = clopper_pearson(hits, events, LEVEL)
    return row(hits / events if events else None, float(lower), float(upper), "exact")


def area(rows: Rows) -> Any:
    """Return the ROC AUC with DeLong's limits."""
    y, p = rows
    if not 1 < y.sum() < len(y) - 1:
        return row(None, None, None)
    scores = np.unique(p, return_inverse=True)[1]
    events_at, others_at = (np.bincount(scores, weights=y == k, minlength=scores.max() + 1) for k in (1, 0))
    below = np.cumsum(others_at) - others_at / 2
    value = float((events_at * below).sum() / (events_at.sum() * others_at.sum()))
    variance = auc_variance(events_at, others_at)
    limits = logit_limits(value, math.sqrt(variance), LEVEL) if variance > 0 else None
    return row(value, *(limits or (None, None)), method="delong")


def score(rows: Rows) -> Any:
    """Return the Brier score; its percentile limits are those of a mean, but for the noise of replicates."""
    y, p = rows
    losses = (y - p) ** 2
    half = Z * losses.std() / math.sqrt(len(losses))
    return row(float(losses.mean()), float(losses.mean()) - half, float(losses.mean()) + half)


CUT = [0.0]


def drawn(rng: np.random.Generator, n: int, level: float) -> Rows:
    x = rng.normal(level, 1.5, n)
    return (rng.random(n) < expit(x)).astype(float), expit(x)


def share_decided(measure: Callable[[Rows], Any], n: int, level: float, runs: int) -> tuple[float, int]:
    """Return the share of runs that decide with the rows named, and how many there were, of those left open before."""
    CUT[0] = level + 0.8
    rng = np.random.default_rng([n, int(-10 * level)])
    truth = measure(drawn(rng, 100_000, level)).value
    wide = measure(drawn(rng, n * 20, level))
    bound = truth + (1 if measure is score else -1) * (wide.upper - wide.lower) / 2 / Z * math.sqrt(20)
    decided = counted = 0
    for _ in range(20 * runs):
        y, p = drawn(rng, n, level)
        at_hand = measure((y, p))
        more = more_rows(at_hand, bound, n)
        if more is None or not at_hand.lower <= bound <= at_hand.upper or more > 20 * n:
            continue
        new = rng.integers(0, n, more)
        both = measure((np.concatenate([y, y[new]]), np.concatenate([p, p[new]])))
        counted, decided = counted + 1, decided + (not both.lower <= bound <= both.upper)
        if counted == runs:
            break
    return decided / counted, counted


@pytest.mark.parametrize(("measure", "n", "level"), [(rate, 200, -0.4), (area, 200, -0.4), (score, 200, -0.4)])
def test_the_rows_that_are_named_decide_about_as_often_as_said(
    measure: Callable[[Rows], Any], n: int, level: float
) -> None:
    share, runs = share_decided(measure, n, level, 300)
    assert abs(share - CHANCE) < 0.03 + 3 * math.sqrt(CHANCE * (1 - CHANCE) / runs)


@pytest.mark.nightly
@pytest.mark.parametrize("measure", [rate, area, score])
@pytest.mark.parametrize("n", [200, 1_000])
@pytest.mark.parametrize("level", [-0.4, -4.0], ids=["common", "rare"])
def test_the_rows_that_are_named_decide_in_eighty_of_a_hundred(
    measure: Callable[[Rows], Any], n: int, level: float
) -> None:
    """2,000 runs: a Monte-Carlo error of 0.9 %. Of ten events the sentence says that it is rough."""
    share, runs = share_decided(measure, n, level, 2_000)
    print(f"{measure.__name__}, {n} rows, level {level}: {share:.1%} of {runs} runs are decided")
    few_events = n == 200 and level < -1
    assert abs(share - CHANCE) < (0.08 if few_events else 0.03) + 0.018


@pytest.mark.parametrize(("estimate", "bound", "n", "more"), [
    # half (1 + 0.43 sqrt(1 - 883 / N)) sqrt(883 / N) = 0.04 at N = 3,780
    (row(0.56, 0.50, 0.62), 0.6, 883, 2_900),
    (row(0.55, 0.50, 0.60), 0.6, 400, 240),  # the bound is the very limit: half a chance is not enough
    (row(0.6, 0.50, 0.7), 0.6, 400, None),  # the value sits on it
    (row(0.6001, 0.50, 0.7), 0.6, 400, math.inf),  # nearly: a million times as many
    (row(0.55, None, None), 0.6, 400, None), (row(0.5, 0.4, 0.55), 0.6, 400, None),
    (row(0.55, 0.50, 0.60, "exact"), 0.6, 400, 220), (row(0.55, 0.50, 0.60, "delong"), 0.6, 400, 240),
])
def test_about_so_many_more_rows_would_decide(estimate: Any, bound: float, n: int, more: float | None) -> None:
    assert more_rows(estimate, bound, n) == more


def results_of(events: int = 300, weight: dict[str, str] | None = None, without_outcome: int | None = None) -> Any:
    return SimpleNamespace(weight=weight, datasets=[
        SimpleNamespace(name="d", events=events, n=900, without_outcome=without_outcome)])


def gate(observed: float, slice_: dict[str, str] | None = None) -> Any:
    return SimpleNamespace(observed=observed, dataset="d", slice=slice_)


def test_the_sentence_states_the_chance_and_what_it_rests_on() -> None:
    assert more_rows_sentence(results_of(), [gate(0.546)], [(0.6, 1300)]) == (
        " About 1,300 more rows would decide with 80% probability, if the true value is 0.546.")
    both = more_rows_sentence(results_of(), [gate(0.546), gate(0.55)], [(0.6, 1300), (0.6, 1500)])
    assert both == " About 1,500 more rows would decide with 80% probability, if these values are true."
    few = more_rows_sentence(results_of(events=8), [gate(0.5)], [(0.6, 900)])
    assert few.startswith(" Very roughly 900 more rows")


@pytest.mark.parametrize(("rows", "weight", "what"), [
    ([gate(0.546, {"g": "u"})], None, "rows of this group"),
    ([gate(0.546, {"g": "u"}), gate(0.55, {"g": "v"})], None, "rows of each group"),
    ([gate(0.546)], {"kind": "frequency"}, "observations (the sum of weights)"),
    ([gate(0.546)], {"kind": "importance"}, "rows"),
])
def test_the_sentence_says_of_which_rows_it_counts(rows: list[Any], weight: dict[str, str] | None, what: str) -> None:
    text = more_rows_sentence(results_of(weight=weight), rows, [(0.6, 1300.0)] * len(rows))
    assert text.startswith(f" About 1,300 more {what} would decide")


@pytest.mark.parametrize(("more", "times"), [(1300.0, "2.4"), (17_000.0, "20")])
def test_where_some_rows_have_no_outcome_it_says_how_many_times_as_many_of_both(more: float, times: str) -> None:
    text = more_rows_sentence(results_of(without_outcome=5000), [gate(0.546)], [(0.6, more)])
    assert text == (f" About {times} times as many rows, with and without an outcome, would decide with 80% "
                    "probability, if the true value is 0.546.")


def test_the_true_value_has_the_decimals_that_tell_it_from_the_limit() -> None:
    text = more_rows_sentence(results_of(), [gate(0.9584)], [(0.9564, 72_000)])
    assert text.endswith("if the true value is 0.9584.")


def test_beyond_a_hundred_times_the_rows_the_sentence_says_so() -> None:
    assert more_rows_sentence(results_of(), [gate(0.6001)], [(0.6, math.inf)]) == (
        " Even 100 times as many rows would decide with less than 80% probability, if the true value is 0.6001.")
