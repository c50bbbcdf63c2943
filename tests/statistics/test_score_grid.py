"""The fixed grid of probabilities: cells in the order of the values, as narrow as it says, ending where asked."""

from __future__ import annotations

import numpy as np
import pytest

from evalpipe.statistics.grid import EVEN, HALF, HALVING, TAIL, UNITS, ScoreGrid, distances, probabilities_of_log_odds

GENERATOR = np.random.default_rng(2)
EDGES = (0.1, 0.1 + 1e-9, 0.25, 0.5, 0.999)


def probabilities(n: int = 50_000) -> np.ndarray:
    odds = GENERATOR.normal(0, 8, n)
    return np.concatenate([probabilities_of_log_odds(odds), GENERATOR.random(n), [0.0, 0.5, 1.0], EDGES])


@pytest.mark.parametrize("edges", [(), EDGES])
def test_cells_rise_with_the_values(edges: tuple[float, ...]) -> None:
    grid, values = ScoreGrid(edges), np.sort(probabilities())
    cells = grid.of_probabilities(values)
    assert (np.diff(cells) >= 0).all()
    assert cells[0] == 0
    assert cells[-1] == grid.size - 1


def test_no_cell_is_wider_than_it_says() -> None:
    values = np.sort(probabilities())
    cells = ScoreGrid().of_probabilities(values)
    widths = np.diff(values)[np.diff(cells) == 0]
    near = np.minimum(values, 1 - values)[1:][np.diff(cells) == 0]
    inside = near > 2.0**-60
    # Rounding of 1 - p is at most half of 2^-53.
    assert (widths[inside] <= np.where(near > TAIL, 1 / EVEN, near / HALVING)[inside] + 2.0**-53).all()


@pytest.mark.parametrize("edge", EDGES)
def test_edges_begin_cells(edge: float) -> None:
    grid = ScoreGrid(EDGES)
    below, at = grid.of_probabilities(np.array([np.nextafter(edge, 0), edge]))
    assert below < at


def test_log_odds_have_the_cells_of_their_probabilities() -> None:
    odds = GENERATOR.normal(0, 3, 20_000)
    cells = ScoreGrid(EDGES).placed_log_odds(odds)[0]
    of_chances = ScoreGrid(EDGES).of_probabilities(probabilities_of_log_odds(odds))
    # 1 - p loses bits of a distance, so that a few values fall on the other side of an edge.
    assert np.abs(cells - of_chances).max() <= 1
    assert (cells == of_chances).mean() > 0.999


def test_log_odds_stay_apart_where_probabilities_round_to_1() -> None:
    odds = np.array([-44.0, -43.0, -40.0, 40.0, 43.0, 44.0])
    assert len(np.unique(ScoreGrid().placed_log_odds(odds)[0])) == 6
    assert len(np.unique(probabilities_of_log_odds(odds))) < 6


def test_distances_are_from_the_nearer_end() -> None:
    # 1 / (1 + e) to double precision.
    assert distances(np.array([-1.0, 1.0, 0.0])) == pytest.approx([0.2689414213699951] * 2 + [0.5], rel=1e-15)


def test_cells_on_either_side_of_one_half_are_as_many() -> None:
    assert ScoreGrid().of_probabilities(np.array([0.5]))[0] == HALF
    assert ScoreGrid().size == 2 * HALF


@pytest.mark.parametrize("edges", [(), EDGES])
def test_values_lie_between_the_ends_of_their_cells(edges: tuple[float, ...]) -> None:
    grid, values = ScoreGrid(edges), probabilities()
    low, high = grid.ends[grid.of_probabilities(values)].T
    assert (low <= values).all()
    assert (values <= high).all()
    assert (high - low <= np.maximum(1 / EVEN, 0)).all()


@pytest.mark.parametrize("edges", [(), EDGES])
def test_places_in_cells_tell_the_distances(edges: tuple[float, ...]) -> None:
    grid, values = ScoreGrid(edges), probabilities()
    (cells, inside), near = grid.placed(values), np.minimum(values, 1 - values)
    nearest, width = grid.spans
    assert inside.min() >= 0
    assert inside.max() <= UNITS
    told = nearest[cells] + width[cells] * (inside / UNITS)
    # Places are cut to one part in 2^30 of a cell; the sum rounds half a bit of the distance.
    assert (np.abs(told - near) <= width[cells] / UNITS + near * 2.0**-53).all()


def test_places_of_log_odds_are_those_of_their_probabilities() -> None:
    odds = np.concatenate([GENERATOR.normal(0, 10, 20_000), [-800.0, 800.0, 0.0]])
    grid = ScoreGrid(EDGES)
    cells, inside = grid.placed_log_odds(odds)
    nearest, width = grid.spans
    told = nearest[cells] + width[cells] * (inside / UNITS)
    assert (np.abs(told - distances(odds)) <= width[cells] / UNITS + distances(odds) * 2.0**-52).all()
