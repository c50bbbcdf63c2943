"""The evidence of many nights: its mean, its false alarms, and how it falls again."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from evalpipe.chapters.gates.compute_sequence import (
    MONTH,
    REACH,
    RECENT,
    SHARES,
    e_process,
    evidence_after_last,
    proportion_evidence,
    recent_evidence,
    stake_by_night,
    threshold,
)

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

import sequence as benchmark

LEVEL = 0.05


def test_the_mean_of_the_process_is_one_on_the_limit() -> None:
    """Of all that three nights of four rows can bring: 1 after each night, for no bound is reached."""
    hits = np.array(list(itertools.product(range(5), repeat=3)))
    chance = binom.pmf(hits, 4, 0.75).prod(axis=1)
    for logs in proportion_evidence(hits, np.array(4), 0.75, -1):
        # Sums of 125 terms: rounding alone.
        np.testing.assert_allclose(chance @ e_process(logs, needed=1e6), 1, rtol=1e-12)


def test_all_that_is_staked_is_the_stake() -> None:
    stakes = np.diff([stake_by_night(night) for night in range(5000)])
    assert (stakes > 0).all()
    assert (np.diff(stakes) < 0).all()
    assert stake_by_night(10**12) == pytest.approx(1, abs=1e-4)
    assert stake_by_night(10**12) < 1


@pytest.mark.parametrize("gates", [1, 10])
def test_few_years_have_a_false_alarm_on_the_limit(gates: int) -> None:
    """400 years of 120 nights of 300 events, on the limit: at most 5 % of them, with three errors of simulation."""
    rng = np.random.default_rng(3)
    needed = threshold(LEVEL, gates)
    hits = rng.binomial(300, 0.75, (400, 120))
    most = LEVEL / gates + 3 * math.sqrt(LEVEL / gates * (1 - LEVEL / gates) / 400)
    for logs in proportion_evidence(hits, np.array(300), 0.75, -1):
        assert (e_process(logs, needed) >= needed).any(axis=1).mean() <= most


def test_a_year_with_no_drift_and_a_year_with_a_fall() -> None:
    """The benchmark, of 200 years: the interval rule fails falsely in about 93 % of them, a sequence in 5 % at most."""
    rng = np.random.default_rng(1)
    quiet = benchmark.sensitivity(200, np.full(benchmark.NIGHTS, benchmark.MARGIN), rng)
    fall = benchmark.MARGIN - 0.1 * (np.arange(benchmark.NIGHTS) >= benchmark.CHANGED)
    delays = benchmark.first(benchmark.alarms(benchmark.sensitivity(200, fall, rng), 1))
    # Two errors of 93 % in 200 years are 3.6 %.
    assert benchmark.share(quiet.missed) == pytest.approx(93.4, abs=3.6)
    assert benchmark.share(benchmark.alarms(quiet, 1)) <= 100 * LEVEL
    assert 2 <= np.median(delays) <= 4


def test_evidence_falls_again_when_nights_are_good() -> None:
    """Thirty bad nights and then good ones: the bound on what is kept lets it fall below what an alarm needs."""
    needed = threshold(LEVEL, 1)
    hits = np.concatenate([np.full(30, 195), np.full(15, 240)])
    evidence = e_process(proportion_evidence(hits, np.array(300), 0.75, -1).against, needed)
    assert needed < evidence[29] <= REACH * needed * len(SHARES) + 1
    assert evidence[-1] < needed


def test_recent_nights_end_a_pass_soon_after_a_fall() -> None:
    """300 events a night and a sensitivity that falls from 0.8 to 0.7: by its evidence alone, passes go on for long."""
    hits = np.random.default_rng(4).binomial(300, np.where(np.arange(140) < 79, 0.8, 0.7), (100, 140))
    night, needed = proportion_evidence(hits, np.array(300), 0.75, -1), threshold(LEVEL, 1)
    kept = e_process(night.kept, needed)[:, 79:] >= needed
    speak = np.stack([recent_evidence(night.against[:, : end + 1], needed) for end in range(78, 140)], axis=1)
    passed = kept & (speak[:, 1:] <= RECENT)
    assert np.median((~kept).argmax(axis=1)) > 10
    assert np.median((~passed).argmax(axis=1)) <= 2
    assert (speak[:, 0] <= RECENT).mean() > 0.95  # and it seldom stands in the way of a true pass


def test_recent_nights_are_heard_again() -> None:
    """However long the bad nights were, a month later they are not recent."""
    needed = threshold(LEVEL, 1)
    hits = np.concatenate([np.full(200, 180), np.full(MONTH, 250)])
    against = proportion_evidence(hits, np.array(300), 0.75, -1).against
    assert recent_evidence(against[:200], needed) > needed
    assert recent_evidence(against, needed) <= RECENT


def test_the_last_of_no_nights_is_one() -> None:
    nights = proportion_evidence(np.array([200, 190]), np.array(300), 0.75, -1).against
    assert evidence_after_last(np.zeros((0, 4)), 20) == 1
    assert evidence_after_last(nights, 20) == e_process(nights, 20)[-1]
    both = np.stack([nights, -nights])
    assert evidence_after_last(both, 20).tolist() == [evidence_after_last(one, 20) for one in both]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", list(benchmark.KINDS))
@pytest.mark.parametrize("gap", [0.0, benchmark.MARGIN])
def test_two_thousand_years_keep_the_level(kind: str, gap: float) -> None:
    """Of each kind of gate, on its limit and inside of it: at most 5 %, with two errors of simulation."""
    years = benchmark.YEARS
    nights = benchmark.KINDS[kind](years, np.full(benchmark.NIGHTS, gap), np.random.default_rng(5))
    assert benchmark.share(benchmark.alarms(nights, 1)) <= 100 * (LEVEL + 2 * math.sqrt(LEVEL * (1 - LEVEL) / years))
