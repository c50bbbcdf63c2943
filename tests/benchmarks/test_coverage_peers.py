"""The benchmark of coverage: its true values are those of its populations, and its table is counted from limits."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import coverage_others as others
import coverage_peers as peers

GROUPS = [job for job in peers.JOBS if isinstance(job, peers.Groups)]
SCORES = [job for job in peers.JOBS if isinstance(job, peers.Scores)]


@pytest.mark.parametrize("job", SCORES, ids=lambda job: job.title)
def test_true_values_are_those_of_adaptive_integrals(job: peers.Scores) -> None:
    error, ends = np.sqrt(job.variance), (-20.0, 20.0)

    def rates(score: float) -> tuple[float, float]:
        return float(ndtr((job.separation - score) / error)), float(ndtr(-score / error))  # from that score up

    def densities(score: float) -> tuple[float, float]:
        heights = [math.exp(-((score - mean) / error) ** 2 / 2) / error for mean in (job.separation, 0)]
        return heights[0] / math.sqrt(2 * math.pi), heights[1] / math.sqrt(2 * math.pi)

    def precision(score: float) -> float:
        hits, alarms = rates(score)
        return job.prevalence * hits / (job.prevalence * hits + (1 - job.prevalence) * alarms)

    def excess(score: float) -> float:
        event, other = job.prevalence * densities(score)[0], (1 - job.prevalence) * densities(score)[1]
        return event - float(job.probability(np.array(score))) * (event + other)

    def where(probability: float) -> float:
        return float(brentq(lambda score: job.probability(np.array(score)) - probability, *ends))

    def integral(height: Callable[[float], float], lower: float, upper: float) -> float:
        inside = [point for point in (0.0, job.separation) if lower < point < upper]
        return float(quad(height, lower, upper, points=inside or None, epsabs=1e-10)[0])

    cuts = [ends[0], *(where(k / 15) for k in range(1, 15)), ends[1]]
    hits, alarms = rates(where(0.5))
    expected = {
        "roc_auc": integral(lambda s: densities(s)[0] * (1 - rates(s)[1]), *ends),
        "average_precision": integral(lambda s: densities(s)[0] * precision(s), -9, 9),
        "ece": sum(abs(integral(excess, *pair)) for pair in pairwise(cuts)),
        "accuracy": job.prevalence * hits + (1 - job.prevalence) * (1 - alarms)}

    assert job.truths() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("job", SCORES, ids=lambda job: job.title)
def test_rows_are_drawn_from_the_population_of_the_true_values(job: peers.Scores) -> None:
    many = dataclasses.replace(job, rows=400_000, clusters=job.clusters and 20_000)
    values = others.scored(job.measures, many.draw(np.random.default_rng(5)))

    assert values == pytest.approx({name: job.truths()[name] for name in job.measures}, abs=0.01)


@pytest.mark.parametrize("job", GROUPS, ids=lambda job: job.title)
def test_groups_are_as_far_apart_as_the_true_values(job: peers.Groups) -> None:
    many = dataclasses.replace(job, rows=1_000_000 // len(job.rates))
    values = others.disparities(job.measures, many.draw(np.random.default_rng(5)))

    assert values == pytest.approx({name: job.truths()[name] for name in job.measures}, abs=0.02)


def test_a_true_difference_and_none_are_known_by_hand() -> None:
    assert GROUPS[0].truths() == pytest.approx(
        {"accuracy": 0, "equal_opportunity": 0, "demographic_parity": 0.4 * 0.8 + 0.6 * 0.2 - 0.1 * 0.8 - 0.9 * 0.2})


def test_the_table_counts_the_limits_of_its_data_sets() -> None:
    tools, name = ["evalpipe", others.LOOP], "accuracy"
    limits = [peers.limits((0, index, tools)) for index in range(20)]
    tally = {(0, name, tool): np.array([of_tools[tool][name] for of_tools in limits]) for tool in tools}
    header, _, ours, theirs, *_ = [line.split(" | ") for line in peers.table(tally)]
    loop = tally[0, name, others.LOOP]
    ratio = np.median(loop[:, 1] - loop[:, 0]) / np.median([row["evalpipe"][name][1] for row in limits])

    assert header[4:6] == ["hold it, %", "standard error"]
    assert ours[1:3] == ["`accuracy`", "0.0000"]
    assert float(ours[4]) == 5 * sum(row["evalpipe"][name][0] == 0 for row in limits)
    assert theirs[3:] == ["loop that draws rows", f"{5 * sum(loop[:, 0] == 0):.1f}", "0.0", f"{ratio:.2f} |"]


def test_limits_hang_on_nothing_but_their_data_set() -> None:
    tasks = [(0, index, ["evalpipe", others.LOOP]) for index in (0, 1)]
    first = [peers.limits(task) for task in tasks]

    assert [peers.limits(task) for task in reversed(tasks)] == first[::-1]
    assert first[0] != first[1]


def test_missing_limits_hold_nothing_and_rounding_is_forgiven() -> None:
    ends = np.array([[0.1, 0.3], [0.3, 0.4], [np.nan, np.nan], [0.1, 0.2 - 1e-12]])

    assert peers.covered(ends, 0.2) == (50.0, 25.0)


def test_a_measure_that_is_covered_too_seldom_is_in_bold() -> None:
    tally = {(0, name, "evalpipe"): np.tile([0.0, 0.2], (200, 1)) for name in GROUPS[0].measures}
    tally[0, "accuracy", "evalpipe"][:16] = 0.01, 0.2  # 92.0 %, where two errors of 95 % reach 91.9 %
    assert "too seldom in 0 of 3 rows" in peers.table(tally)[-1]

    tally[0, "accuracy", "evalpipe"][:17] = 0.01, 0.2
    lines = peers.table(tally)
    assert "too seldom in 1 of 3 rows" in lines[-1]
    assert [line.split(" | ")[4] for line in lines[2:5]] == ["**91.5**", "100.0", "100.0"]
