"""What to expect of gates night after night: against sums over all that a night can bring."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from evalpipe.chapters.gates.compute_sequence import NIGHTS_A_YEAR, NightCheck, forecast
from evalpipe.intervals.binomial import clopper_pearson

RATE = NightCheck("interval", 0.75, -1, 0.025, 300, 0.95, 20.0)


def turns(chance: float) -> float:
    """Return how often in a year independent nights that fail with a chance turn to fail."""
    return chance + (NIGHTS_A_YEAR - 1) * chance * (1 - chance)


def test_the_false_alarms_of_the_interval_of_a_proportion_are_those_of_the_binomial() -> None:
    hits = np.arange(301.0)
    misses = clopper_pearson(hits, 300.0, 0.95)[1] < 0.75
    expected = turns(float(binom.pmf(hits, 300, 0.76)[misses].sum()))
    result = forecast(RATE, 0.01, 0.05)
    assert expected > 2
    assert result.alarms == pytest.approx(expected, abs=4 * result.error)  # four errors of the simulation
    assert result.delay in (1, 2, 3)


@pytest.mark.parametrize(("on", "chance"), [
    ("value", norm.cdf(-0.5)), ("lower", norm.cdf(-0.5 + 1.96)), ("upper", norm.cdf(-0.5 - 1.96)),
    ("interval", norm.cdf(-0.5 - 1.96)),
])
def test_the_false_alarms_of_a_normal_value_are_those_of_the_distribution(on: str, chance: float) -> None:
    """A value whose error is twice its margin."""
    result = forecast(NightCheck(on, 0.8, -1, 0.02, None, 0.95, 20.0), 0.01, 0.1)  # type: ignore[arg-type]
    assert result.alarms == pytest.approx(turns(float(chance)), abs=4 * result.error)


def test_a_sequence_gives_hardly_any_false_alarm_and_tells_of_a_fall_some_nights_later() -> None:
    """As benchmarks/sequence.py has it: 10 nights at a fall by 0.05, of which 0.04 is beyond the limit."""
    result = forecast(NightCheck("sequence", 0.75, -1, 0.025, 300, 0.95, 20.0), 0.01, 0.05)
    assert result.alarms <= 0.05
    assert result.delay in range(8, 13)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_fall_that_stays_inside_the_limit_is_never_told(side: int) -> None:
    result = forecast(NightCheck("sequence", 0.5, side, 0.01, None, 0.95, 20.0), 0.2, 0.1)
    assert (result.alarms, result.error, result.delay) == (0, 0, None)


def test_the_same_check_gives_the_same_figures() -> None:
    first, second = (forecast(RATE, 0.02, 0.05) for _ in range(2))
    assert first == second
    assert math.isfinite(first.alarms)
