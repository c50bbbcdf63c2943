"""Asymptotic evidence over nights: how nights are gathered, and what a year on the limit comes to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from evalpipe.chapters.gates.compute_sequence import (
    ENOUGH,
    LEARNT,
    Gathered,
    Nights,
    agreement,
    e_process,
    evidence,
    group_nights,
    proportion_evidence,
    threshold,
)

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

NEEDED = threshold(0.05, 1)
YEARS, NIGHTS = 100, 365
MOST = 0.05 + 3 * math.sqrt(0.05 * 0.95 / YEARS)
"""The share of years that may be wrong, with three errors of simulation."""


def nights(values: list[float], errors: list[float], rows: list[float], support: list[float]) -> Nights:
    return Nights(*(np.array(column, float) for column in (values, errors, rows, support)))


def test_nights_are_gathered_until_there_are_enough_rows_of_the_rarer_outcome() -> None:
    groups = group_nights(nights([0.8, 0.7, 0.9, 0.6], [0.1, 0.2, 0.1, 0.1], [100, 300, 600, 20], [20, 30, 60, 5]), 0)
    np.testing.assert_array_equal(np.isnan(groups.values), [True, False, False, True])
    # The mean by rows, and its error by hand.
    assert groups.values[1] == pytest.approx((100 * 0.8 + 300 * 0.7) / 400, rel=1e-15)
    assert groups.errors[1] == pytest.approx(math.hypot(100 * 0.1, 300 * 0.2) / 400, rel=1e-15)
    assert (groups.values[2], groups.errors[2]) == pytest.approx((0.9, 0.1), rel=1e-15)


def test_a_night_without_an_error_waits_for_one_that_has_it() -> None:
    waiting = nights([0.95, 0.95, 0.9], [math.nan, math.nan, 0.05], [100, 100, 100], [60, 60, 60])
    groups = group_nights(waiting, 0)
    np.testing.assert_array_equal(np.isnan(groups.values), [True, True, False])
    assert groups.values[2] == pytest.approx(2.8 / 3, rel=1e-15)
    assert groups.errors[2] == pytest.approx(0.05 / math.sqrt(3), rel=1e-15)
    apart = group_nights(waiting._replace(values=np.array([1.0, 1.0, 0.7])), 0)
    # How far the nights differ is more: the standard error of the mean of 1, 1 and 0.7. Squares lose two digits.
    assert apart.errors[2] == pytest.approx(np.std([1.0, 1.0, 0.7], ddof=1) / math.sqrt(3), rel=1e-12)


def test_small_nights_of_a_measure_that_few_rows_move_count_for_nothing() -> None:
    small = nights([0.2, 0.7, 0.4], [0.3, 0.1, 0.2], [100, 400, 99], [ENOUGH, 4 * ENOUGH, ENOUGH])
    groups = group_nights(small, ENOUGH)
    # Nothing is expected of the first; half of the rows of the second; of the third just fewer than enough.
    np.testing.assert_array_equal(np.isnan(groups.values), [True, False, True])
    assert (groups.values[1], groups.errors[1]) == pytest.approx((0.7, 0.1), rel=1e-15)


def test_nights_are_not_chosen_by_how_many_events_they_have() -> None:
    """The value, an event rate less its expectation, is 0 on average: 4,000 nights, of which half have fewer events.

    The mean of so many distances in standard errors has an error of 0.016, of which four are allowed. Of the nights
    with 53 events of 300 or more it would be 0.8.
    """
    events, expected = np.random.default_rng(5).binomial(300, 53 / 300, 4_000), 53 / 300
    rates, errors = events / 300, np.sqrt(events * (300 - events) / 300**3)
    groups = group_nights(Nights(rates - expected, errors, np.full(4_000, 300.0), events.astype(float)), 50)
    counted = ~np.isnan(groups.values)
    assert counted[100:].all()
    assert np.mean(groups.values[counted] * 300 / math.sqrt(53 * 247 / 300)) == pytest.approx(0, abs=0.064)


def test_a_night_on_which_no_group_ends_has_no_evidence() -> None:
    night = evidence(Gathered(np.array([math.nan, 0.8]), np.array([math.nan, 0.1])), 0.7, -1)
    assert not night.against[0].any()
    assert night.against[1].any()


def wrong(nights: Nights, limit: float, *, least: int = 0, between: bool = False) -> list[float]:
    """Return the shares of years in which nights on a limit ever fail, and ever pass."""
    night = evidence(group_nights(nights, least), limit, -1, between=between)
    return [float((e_process(logs, NEEDED) >= NEEDED).any(axis=1).mean()) for logs in night]


def areas(rows: int, share: float, area: float) -> Nights:
    """Draw areas under the ROC curve with DeLong's errors: 300 nights, of which years are drawn."""
    rng, table = np.random.default_rng(7), list[tuple[float, ...]]()
    while len(table) < 300:
        event = rng.random(rows) < share
        if 1 < (events := int(event.sum())) < rows - 1:
            scores = rng.normal(size=rows) + event * math.sqrt(2) * norm.ppf(area)
            ranks = rankdata(scores)
            of_events = (ranks[event] - rankdata(scores[event])) / (rows - events)
            of_others = 1 - (ranks[~event] - rankdata(scores[~event])) / events
            error = math.sqrt(of_events.var(ddof=1) / events + of_others.var(ddof=1) / (rows - events))
            table.append((of_events.mean(), error or math.nan, rows, min(events, rows - events)))
    drawn = rng.integers(len(table), size=(YEARS, NIGHTS))
    return Nights(*(column[drawn] for column in np.array(table).T))


@pytest.mark.parametrize(("rows", "share", "area"), [(20, 0.3, 0.8), (60, 0.15, 0.8), (300, 0.1, 0.9)])
def test_few_years_pass_or_fail_where_the_auc_is_on_its_limit(rows: int, share: float, area: float) -> None:
    """Each night for itself, as it was before, passes falsely in 74 to 100 % of these years."""
    assert max(wrong(areas(rows, share, area), area)) <= MOST


def shares(rows: int, true: Floats | float) -> Nights:
    """Draw shares of rows with their errors, none where all are alike."""
    rng = np.random.default_rng(8)
    value = rng.binomial(rows, true, (YEARS, NIGHTS)) / rows
    errors = np.sqrt(value * (1 - value) / rows)
    whole = np.full(value.shape, float(rows))
    return Nights(value, np.where(errors > 0, errors, math.nan), whole, whole)


@pytest.mark.parametrize("true", [0.98, 0.995])
def test_perfect_nights_are_not_left_out(true: float) -> None:
    """Without them, the nights with an error alone are below the limit: 88 % of such years failed."""
    assert max(wrong(shares(60, true), true)) <= MOST


def test_nights_that_differ_by_more_than_their_rows_are_allowed_for() -> None:
    """A standard deviation of 0.03 between nights of 300 rows, beside an error of 0.025 within them."""
    true = np.random.default_rng(9).normal(0.75, 0.03, (YEARS, NIGHTS))
    varying = shares(300, true)
    by_rows = proportion_evidence(varying.values * 300, np.array(300.0), 0.75, -1)  # exact where nights are alike
    assert (e_process(by_rows.against, NEEDED) >= NEEDED).any(axis=1).mean() > 0.4
    assert max(wrong(varying, 0.75, between=True)) <= MOST


def test_how_nights_go_together_is_told() -> None:
    rng = np.random.default_rng(10)
    alike = Nights(rng.normal(0.7, 0.02, 200), *np.full((3, 200), [[0.02], [300], [90]]))
    apart = alike._replace(values=alike.values + rng.normal(0, 0.03, 200))
    risen = alike._replace(values=alike.values + np.repeat([0.0, 0.1], 100))
    known = [agreement(one) for one in (alike, apart, risen)]
    # Errors of the spread of 200 nights are 0.12 and of the correlation 0.07; 1 + (0.03 / 0.02)² is 3.25.
    assert [one and one.spread for one in known] == pytest.approx([1, 3.25, 1.06], abs=0.5)
    assert known[2] is not None
    assert known[2].autocorrelation > 0.5
    few = Nights(*(column[:LEARNT] for column in alike))
    assert agreement(few) is None
