"""Counts of many replicates at once, against the distributions that they are drawn from."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from evalpipe.intervals import resampling
from evalpipe.intervals.resampling import MultinomialCounts, PoissonCounts

UNLIKELY = 1e-4
"""Of so few seeds, none has a p-value below it unless the distribution is another one."""


@pytest.mark.parametrize("rate", [0.01, 0.6, 3.0, 17.5, 90.0, 2000.0])
def test_poisson_counts_are_poisson(rate: float) -> None:
    # Between two units of other rates, whose tables lie before and after its own.
    drawn = PoissonCounts(np.array([4.0, rate, 250.0])).draw(np.random.default_rng(1), 50_000)[:, 1]
    places = np.arange(drawn.max() + 1)
    expected = stats.poisson.pmf(places, rate) * len(drawn)
    many = expected > 5
    observed = np.bincount(drawn, minlength=len(places))
    both = [np.append(values[many], len(drawn) - values[many].sum()) for values in (observed, expected)]
    assert stats.chisquare(both[0], both[1] + 1e-9 * (both[1] == 0)).pvalue > UNLIKELY


def test_a_unit_of_many_observations_takes_no_memory_for_each_of_them() -> None:
    # 240 million rows of one score came to 3.9 GB; a table of 280,000 counts takes 20 MB, with what it is made of.
    tracemalloc.start()
    try:
        drawn = PoissonCounts(np.array([2.4e8, 3.0])).draw(np.random.default_rng(1), 1000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    assert abs(drawn[:, 0].mean() - 2.4e8) < 5 * np.sqrt(2.4e8 / 1000)


def test_every_chance_gives_the_least_count_that_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chances = np.array([[0.0, 0.0], [1e-13, 0.5], [1 - 1e-13, 1 - 2**-53], [0.3, 0.999]])

    class Chances:
        def random(self, _: object) -> np.ndarray:
            return chances

    poisson = PoissonCounts(np.array([0.2, 150.0]))
    for steps in (0, 3):
        monkeypatch.setattr(resampling, "STEPS", steps)
        drawn = poisson.draw(Chances(), 4)  # type: ignore[arg-type]
        for k, rate in enumerate(poisson.rate):
            # Just below and above each chance, for sums of many terms end in other digits than SciPy's.
            low, high = (stats.poisson.ppf(np.clip(chances[:, k] + side * 1e-14, 1e-17, 1 - 1e-16), rate)
                         for side in (-1, 1))
            inside = (drawn[:, k] >= low) & (drawn[:, k] <= high)
            assert inside[[1, 3]].all()
        assert drawn[0, 0] == 0


def test_draws_of_trillions_of_observations_take_no_memory_for_the_last_of_them() -> None:
    # Of 8.6 trillion each replicate is short of millions after the Poisson counts; one is short of few, and all were
    # then drawn one by one, in 6 GB and minutes.
    sizes = np.full(96, 90_000_000_000)
    tracemalloc.start()
    try:
        drawn = MultinomialCounts(sizes).draw(np.random.default_rng(3), 64)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    assert (drawn.sum(axis=1) == sizes.sum()).all()
    assert (np.abs(drawn - sizes) < 6 * np.sqrt(sizes)).all()


@pytest.mark.parametrize("way", ["as it is", "without tables", "the rest at once"])
@pytest.mark.parametrize(("total", "units"), [(5000, 40), (400_000, 40), (9000, 2000)])
def test_draws_are_multinomial(total: int, units: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "without tables":
        monkeypatch.setattr(resampling, "TABLE", 0)
        monkeypatch.setattr(resampling, "RUNS", 1)
    if way == "the rest at once":
        monkeypatch.setattr(resampling, "SINGLES", 0)
    generator = np.random.default_rng(2)
    sizes = generator.multinomial(total, generator.dirichlet(np.ones(units - 1)))
    sizes = np.append(sizes, 0)
    drawn = MultinomialCounts(sizes).draw(generator, 2000)
    assert (drawn.sum(axis=1) == total).all()
    assert (drawn[:, sizes == 0] == 0).all()
    shares = sizes / total
    error = np.sqrt(total * shares * (1 - shares) / len(drawn))
    # Of 2,000 units one mean in 150,000 is more than 4.5 of its standard errors away.
    assert (np.abs(drawn.mean(axis=0) - sizes) <= 4.5 * error).all()
    largest = np.argsort(sizes)[-5:]
    assert drawn[:, largest].var(axis=0) == pytest.approx((total * shares * (1 - shares))[largest], rel=0.2)
    # Counts of two units of one total are correlated by -sqrt(p q / ((1 - p)(1 - q))); 4.5 errors of 1 / sqrt(2000).
    first, second = largest[-2:]
    p, q = shares[[first, second]]
    correlation = np.corrcoef(drawn[:, first], drawn[:, second])[0, 1]
    assert correlation == pytest.approx(-np.sqrt(p * q / ((1 - p) * (1 - q))), abs=0.1)


def test_one_seed_gives_one_draw() -> None:
    multinomial = MultinomialCounts(np.array([30, 0, 500, 8]))
    assert (multinomial.draw(np.random.default_rng(3), 9) == multinomial.draw(np.random.default_rng(3), 9)).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_unit_of_each_run_is_that_of_its_first_and_last_observation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 10 ** (seed + 1), 30) * (rng.random(30) < 0.7)
    multinomial = MultinomialCounts(sizes)
    length = 1 << multinomial._run_bits
    unit_of_observation = np.repeat(np.arange(30), sizes)
    runs = [unit_of_observation[first : first + length] for first in range(0, len(unit_of_observation), length)]
    assert multinomial._unit_of_run.tolist() == [int(run[0]) if run[0] == run[-1] else -1 for run in runs]


def test_tables_of_probabilities_take_little_beside_themselves_and_have_no_seam() -> None:
    rate = np.random.default_rng(4).uniform(0.1, 900.0, 1500)
    poisson = PoissonCounts(rate)
    low, cumulative = poisson._table
    tables = stats.poisson.cdf(low[:, None] + np.arange(poisson._width), rate[:, None])
    # Both sum probabilities of up to 900 counts in order, each of them right to 1e-13 of itself.
    np.testing.assert_allclose(cumulative.reshape(tables.shape), tables, atol=1e-11)
    tracemalloc.start()
    _ = PoissonCounts(rate)._guides
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * (cumulative.nbytes + 128 * 8 * len(rate))
