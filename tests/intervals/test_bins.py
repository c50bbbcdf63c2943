"""How uncertain the event rates of bins are, and how often limits of the parts of the Brier score hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from evalpipe.intervals.noise import (
    ENOUGH,
    Bins,
    mean_square_limits,
    rate_variances,
    scatter_limits,
    squared_error_variances,
)

SETS = 400
"""Two standard errors of a coverage of 95 % in so many data sets are 2.2 points."""

SAID = np.arange(101) / 100
TRUE = 0.1 + 0.75 * SAID
"""Every rounded probability is said equally often; the chance of an event is another."""


def test_a_bin_of_few_rows_takes_the_variance_of_an_event_from_its_neighbours() -> None:
    events, others = np.array([1.0, 0.0, 4.0, 30.0]), np.array([0.0, 2.0, 5.0, 10.0])
    # The first three bins together have 12 rows; within ten rows of the third lies the fourth.
    rate = np.array([5 / 12, 35 / 52, 35 / 52, 30 / 40])
    rows = np.array([12, 52, 52, 40])
    assert rows.max() > ENOUGH > 12
    expected = rate * (1 - rate) * rows / (rows - 1) / (events + others)
    assert rate_variances(events, others, events, others) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("rows", "rate"), [(1, 0.5), (1, 0.2), (4, 0.3), (30, 0.9)])
def test_the_variance_of_a_squared_error_is_that_of_the_binomial(rows: int, rate: float) -> None:
    from scipy.stats import binom

    at = np.arange(rows + 1)
    chance, square = binom.pmf(at, rows, rate), (at / rows - rate) ** 2
    exact = (chance * square**2).sum() - (chance * square).sum() ** 2
    found = squared_error_variances(np.array([rate * (1 - rate) / rows]), np.array([float(rows)]))
    assert found == pytest.approx([exact], rel=1e-9, abs=1e-16)  # cancelling leaves some rounding


def parts(events: np.ndarray, others: np.ndarray) -> list[tuple[float, tuple[float, float]]]:
    """Return the value and limits of reliability, resolution and refinement, of bins that have rows."""
    rows = events + others
    used = rows > 0
    events, others, rows, said = events[used], others[used], rows[used], SAID[used]
    found = []
    for gap in (events - rows * said, events - rows * events.sum() / rows.sum()):
        value = float((gap**2 / rows).sum() / rows.sum())
        bins = Bins(events, others, gap, events, others)
        found.append((value, mean_square_limits(bins, "squared_gaps", value, 0.95)))
    value = float((events * others / rows).sum() / rows.sum())
    bins = Bins(events, others, np.zeros(len(rows)), events, others)
    return [*found, (value, scatter_limits(bins, value, 0.95))]


@pytest.mark.parametrize("n", [400, 4000])
def test_the_parts_of_the_brier_score_are_covered_as_often_as_stated(n: int) -> None:
    """About four rows share a probability, then forty."""
    true = [((TRUE - SAID) ** 2).mean(), TRUE.var(), (TRUE * (1 - TRUE)).mean()]
    generator, held, width = np.random.default_rng(364), np.zeros(3), np.zeros(3)
    for _ in range(SETS):
        rows = generator.multinomial(n, np.full(101, 1 / 101))
        events = generator.binomial(rows, TRUE).astype(float)
        found = parts(events, rows - events)
        held += [low <= t <= high for (_, (low, high)), t in zip(found, true, strict=True)]
        width += [high - low for _, (low, high) in found]
        assert all((low <= value <= high) == (n == 4000) for value, (low, high) in found)
    # Four standard errors; with the value in them, limits of 4,000 rows hold the truth in up to 97.5 %.
    assert held / SETS == pytest.approx(0.955, abs=0.044), held / SETS
    # Of 400 rows the value of the reliability is about 0.055, and its limits used to end there.
    assert width[0] / SETS < 0.03
