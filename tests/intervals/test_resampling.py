"""How units are drawn: counts against the moments and the distribution of numpy's own multinomial and Poisson draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, chisquare, poisson

import evalpipe
from evalpipe.intervals.resampling import (
    Design,
    _multinomial,
    block_counts,
    blocks,
    jackknife_counts,
    replicate_weights,
    split,
)

TIMES = 4000
"""Draws of each design here; a mean of so many counts is within 4.5 of its standard errors, one design in 100,000."""

SMALL = np.array([1, 0, 2, 1, 1, 3, 1])  # fewer than four observations a unit: drawn one by one
LARGE = np.array([3, 0, 250, 1, 40, 906, 800])  # more: Poisson counts first, topped up


def drawn(sizes: Any, times: int = TIMES, seed: int = 0, **design: Any) -> Any:
    made = Design(len(sizes), np.asarray(sizes, float), "frequency", **design)
    return made.draw(np.random.default_rng(seed), times)


def near(found: Any, expected: Any, error: Any) -> bool:
    """Tell whether each of some means is within 4.5 standard errors of what it should be."""
    return bool((np.abs(found - expected) <= 4.5 * np.asarray(error) + 1e-12).all())


@pytest.mark.parametrize("sizes", [np.ones(7, int), SMALL, LARGE], ids=["rows", "small", "large"])
def test_counts_have_the_moments_of_a_multinomial(sizes: Any) -> None:
    counts, n = drawn(sizes), sizes.sum()
    assert (counts.sum(axis=1) == n).all()
    assert (counts >= 0).all()
    share = sizes / n
    covariance = n * (np.diag(share) - np.outer(share, share))  # variance n_u (1 - n_u / n), covariance -n_u n_v / n
    assert near(counts.mean(axis=0), sizes, np.sqrt(np.diag(covariance) / TIMES))
    away = counts - sizes
    products = away[:, :, None] * away[:, None, :]
    assert near(products.mean(axis=0), covariance, products.std(axis=0) / np.sqrt(TIMES))


@pytest.mark.parametrize("unit", [2, 4, 5])
def test_topped_up_poisson_counts_are_distributed_as_binomial_counts(unit: int) -> None:
    counts, n = drawn(LARGE)[:, unit], int(LARGE.sum())
    edges = np.unique(binom.ppf(np.arange(1, 20) / 20, n, LARGE[unit] / n))  # some twenty bins of over 100 draws
    expected = np.diff(binom.cdf(np.r_[-1, edges, n], n, LARGE[unit] / n)) * TIMES
    seen = np.bincount(np.searchsorted(edges, counts), minlength=len(expected))
    assert chisquare(seen, expected).pvalue > 1e-4  # fixed seeds: false once in 10,000 designs


def test_topped_up_poisson_counts_are_distributed_as_those_of_numpy() -> None:
    ours = drawn(LARGE)
    theirs = np.random.default_rng(1).multinomial(LARGE.sum(), LARGE / LARGE.sum(), TIMES)
    for pair in ([5, 6], [2, 4]):  # of two units together, by halves and quarters of the one and the other
        ends = [np.quantile(theirs[:, unit], [0.25, 0.5, 0.75]) for unit in pair]
        cells = [
            sum((4**place) * np.searchsorted(ends[place], table[:, unit]) for place, unit in enumerate(pair))
            for table in (ours, theirs)
        ]
        assert chi2_contingency([np.bincount(cell, minlength=16) for cell in cells]).pvalue > 1e-4


def test_the_draw_that_is_repeated_until_it_fits_is_rarely_repeated() -> None:
    class Counting:
        def __init__(self) -> None:
            self.own, self.tries = np.random.default_rng(2), 0

        def poisson(self, rate: Any) -> Any:
            self.tries += 1
            return self.own.poisson(rate)

        def integers(self, *given: Any) -> Any:
            return self.own.integers(*given)

    generator = Counting()
    for _ in range(1000):
        _multinomial(generator, LARGE, None)  # type: ignore[arg-type]
    # Three standard deviations too few on average: about one draw in 700 is too large.
    assert 1000 <= generator.tries <= 1010


@pytest.mark.parametrize("sizes", [[4], [5], [8], [4, 4], [3, 5], [9], [1, 8], [0, 2], [3, 0, 0, 1]])
def test_few_observations_of_even_fewer_units_are_drawn_too(sizes: list[int]) -> None:
    counts = drawn(sizes)
    assert (counts.sum(axis=1) == sum(sizes)).all()
    spread = np.array(sizes) * (1 - np.array(sizes) / sum(sizes))
    assert near(counts.mean(axis=0), np.array(sizes), np.sqrt(spread / TIMES))


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_looking_units_up_and_searching_for_them_draw_the_same(
    sizes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drawn(sizes, 50)
    monkeypatch.setattr("evalpipe.intervals.resampling.LOOKUP", 1)
    assert Design(len(sizes), sizes.astype(float), "frequency").lookup is None
    assert (drawn(sizes, 50) == found).all()


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_units_of_no_observation_are_never_drawn(sizes: Any) -> None:
    assert (drawn(sizes, 200)[:, sizes == 0] == 0).all()


@pytest.mark.parametrize("scale", [1, 300])
def test_strata_keep_their_observations_and_are_drawn_apart(scale: int) -> None:
    sizes, strata = scale * np.array([4, 1, 2, 3, 5]), np.array([2, 0, 2, 0, 2])
    counts = drawn(sizes, strata=strata)
    for stratum in (0, 2):
        inside = np.flatnonzero(strata == stratum)
        n = sizes[inside].sum()
        assert (counts[:, inside].sum(axis=1) == n).all()
        spread = sizes[inside] * (1 - sizes[inside] / n)
        assert near(counts[:, inside].mean(axis=0), sizes[inside], np.sqrt(spread / TIMES))
        away = (counts[:, inside] - sizes[inside]) ** 2
        assert near(away.mean(axis=0), spread, away.std(axis=0) / np.sqrt(TIMES))
    across = (counts[:, 0] - sizes[0]) * (counts[:, 1] - sizes[1])
    assert near(across.mean(), 0, across.std() / np.sqrt(TIMES))


def test_a_cluster_is_drawn_whole_and_its_rows_keep_their_weights() -> None:
    cluster, weight = np.array([2, 0, 1, 0, 2, 2]), np.array([1.0, 2.0, 3.0, 4.0, 0.5, 1.5])
    for kind in ("frequency", "importance"):
        design = Design(6, weight, kind, cluster)
        counts = design.draw(np.random.default_rng(3), 300)
        assert counts.shape == (300, 3)
        assert (counts.sum(axis=1) == 3).all()
        assert (design.weights(counts) == counts[:, cluster] * weight).all()


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_poisson_counts_are_independent_poisson_counts(sizes: Any) -> None:
    counts = drawn(sizes, poisson=True)
    assert near(counts.mean(axis=0), sizes, np.sqrt(sizes / TIMES))
    for unit in np.flatnonzero(sizes):
        edges = np.unique(poisson.ppf(np.arange(1, 10) / 10, sizes[unit]))
        expected = np.diff(np.r_[0.0, poisson.cdf(edges, sizes[unit]), 1.0]) * TIMES
        seen = np.bincount(np.searchsorted(edges, counts[:, unit]), minlength=len(expected))
        assert chisquare(seen, expected).pvalue > 1e-4
    away = (counts - sizes)[:, sizes > 0]
    products = (away[:, :, None] * away[:, None, :])[:, ~np.eye(away.shape[1], dtype=bool)]
    assert near(products.mean(axis=0), 0, products.std(axis=0) / np.sqrt(TIMES))


@pytest.mark.parametrize(("design", "size"), [
    (Design(300), 1), (Design(300, np.ones(300), "importance"), 1), (Design(6, cluster=np.arange(6) // 2), 1),
    (Design(300, poisson=True), 8), (Design(300, np.full(300, 2.0), "frequency"), 8),
    (Design(300, strata=np.arange(300) % 2), 8)])
def test_counts_take_as_many_bytes_as_a_design_says(design: Design, size: int) -> None:
    for counts in block_counts(design, 0, 64, 5, "data"):
        assert counts.dtype.itemsize == design.count_bytes == size
        assert design.weights(counts).dtype.itemsize == 8


def test_a_block_is_the_same_whatever_was_drawn_before_it() -> None:
    design = Design(20)
    assert blocks(150) == [64, 64, 22]
    together = np.concatenate(list(replicate_weights(design, 150, 5, "data")))
    for number, first in ((2, 128), (0, 0), (1, 64)):
        alone = np.concatenate(list(block_counts(design, number, blocks(150)[number], 5, "data")))
        assert (together[first : first + len(alone)] == alone).all()


@pytest.mark.parametrize("sizes", [[1], [3], [1] * 7, [1, 0, 400, 2, 30], [1] * 2500, [700, 1, 299], [40, 2000, 3]])
def test_the_jackknife_leaves_every_observation_out_once(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalpipe.intervals.resampling.HELD", 3 * len(sizes))
    observations = sum(sizes)
    design = Design(len(sizes), np.array(sizes, float), "frequency")
    counts = np.concatenate(list(jackknife_counts(design, np.random.default_rng(7))))
    assert len(counts) == min(observations, 1000)
    away = np.array(sizes) - counts
    assert (away >= 0).all()
    assert (away.sum(axis=0) == sizes).all()
    assert set(away.sum(axis=1)) <= {observations // len(counts), -(-observations // len(counts))}


@pytest.mark.parametrize(
    ("counts", "single", "most"), [(SMALL, 0, 10**9), (LARGE, 10**6, 10**9), (LARGE, 0, 10**9), (LARGE, 0, 0)])
def test_observations_are_shared_among_folds_at_random(
    counts: Any, single: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalpipe.intervals.resampling.HELD", 2 * len(counts))
    monkeypatch.setattr("evalpipe.intervals.resampling.LOOKUP", single)
    monkeypatch.setattr("evalpipe.intervals.resampling.HYPERGEOMETRIC", most)
    folds, n, generator = 5, counts.sum(), np.random.default_rng(6)
    found = np.stack([np.concatenate(list(split(generator, counts, folds))) for _ in range(TIMES)])
    assert found.shape == (TIMES, folds, len(counts))
    assert (found.sum(axis=1) == counts).all()
    sizes = found.sum(axis=2)
    if most:
        assert set(sizes.ravel()) <= {n // folds, -(-n // folds)}
    # Hypergeometric moments of a fold's counts: n_u / F, n_u (1 - n_u / n) (1 - 1 / F) n / (n - 1) / F; of observations
    # too many for these, binomial ones. A fold of unequal size differs in both by at most one in a fold's size.
    mean = counts / folds
    spread = mean * (1 - 1 / folds) * (n / (n - 1) * (1 - counts / n) if most else 1)
    away = found - mean
    for k in range(folds):
        error = np.sqrt(spread / TIMES)
        assert near(found[:, k].mean(axis=0), mean * sizes[:, k].mean() * folds / n, error)
        if n > 100:
            assert near((away[:, k] ** 2).mean(axis=0), spread, (away[:, k] ** 2).std(axis=0) / np.sqrt(TIMES))


def width(resampling: str, metric: Any, method: str = "percentile") -> tuple[float, float]:
    """Return the width of an interval and the standard error of the width, from drawing so few replicates."""
    generator = np.random.default_rng(4)
    probability = generator.beta(2, 3, 400)
    truth = generator.random(400) < probability
    row = evalpipe.evaluate(
        truth.astype(int), probability, event=1, metrics=[metric],
        intervals={"method": method, "resampling": resampling, "replicates": 3000, "bands": False},
    ).rows[0]
    return row.upper - row.lower, np.sqrt(2) * row.monte_carlo_error


@pytest.mark.parametrize("metric", ["deviance", "log_loss", "accuracy", "roc_auc"])
def test_poisson_intervals_are_as_wide_as_multinomial_ones(metric: str) -> None:
    (multinomial, first), (poisson_, second) = (width(how, metric) for how in ("multinomial", "poisson"))
    # 4 Monte-Carlo errors of the difference; a total left to grow with the rows drawn would be far wider: its
    # coefficient of variation would be that of the rows' number besides.
    assert poisson_ == pytest.approx(multinomial, abs=4 * np.hypot(first, second))


def test_what_many_observations_are_short_of_is_drawn_unit_by_unit() -> None:
    sizes = 10_000 * np.array([400, 100, 0, 250, 50])
    counts = drawn(sizes)
    assert (counts.sum(axis=1) == sizes.sum()).all()
    spread = sizes * (1 - sizes / sizes.sum())
    assert near(counts.mean(axis=0), sizes, np.sqrt(spread / TIMES))
    away = (counts - sizes) ** 2
    assert near(away.mean(axis=0), spread, away.std(axis=0) / np.sqrt(TIMES))


def test_strata_are_drawn_with_sizes_that_vary_as_among_all_rows() -> None:
    """Shares of drawn strata have the variance of a multinomial of all rows, and the rounding of their counts."""
    sizes, of_all, times = np.array([60, 40, 30, 90]), np.array([300, 900]), 4000
    strata = np.repeat(np.arange(4), sizes)
    counts = Design(220, strata=strata, rows_of_stratum=of_all).draw(np.random.default_rng(1), times)

    drawn = np.stack([counts[:, strata == stratum].sum(axis=1) for stratum in range(4)], axis=1)
    expected = sizes**2 * np.tile((1 - of_all / 1200) / of_all, 2)
    np.testing.assert_allclose(drawn.mean(axis=0), sizes, rtol=0.005)  # 4 standard errors
    assert (0.93 * expected < drawn.var(axis=0)).all()  # 3 standard errors
    assert (drawn.var(axis=0) < 1.07 * (expected + 0.25)).all()  # whole numbers are rounded by chance
    # Both parts of a stratum vary together: of 60 and 30 rows, twice as many of the first, but for rounding.
    assert np.abs(drawn[:, 0] - 2 * drawn[:, 2]).max() < 3
    # Within a stratum each row is as likely as another, and drawn as often as in a bootstrap sample.
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.08)
    np.testing.assert_allclose(counts[:, :60].var(axis=0).mean(), 1 - 1 / 60 + expected[0] / 60**2, rtol=0.05)


def test_a_single_stratum_has_as_many_drawn_as_there_are() -> None:
    strata = np.repeat([0, 1], [7, 5])
    counts = Design(12, strata=strata, rows_of_stratum=np.array([12])).draw(np.random.default_rng(1), 50)

    assert (counts[:, :7].sum(axis=1) == 7).all()
    assert (counts[:, 7:].sum(axis=1) == 5).all()
