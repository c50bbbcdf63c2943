"""Logistic lines of many places, which start from a line through neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import logistic
from evalpipe.metrics.logistic import JOINED, LEAST, fit, fit_logistic_line, slope_error

MANY = JOINED * LEAST


def drawn(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return events, others and ascending log odds [2, n], whose true line is 0.3 + 0.7 x, the second weighted."""
    generator = np.random.default_rng(seed)
    x = np.sort(generator.normal(0, 1.5, (2, n)), axis=-1)
    event = generator.random((2, n)) < 1 / (1 + np.exp(-(0.3 + 0.7 * x)))
    weight = np.stack([np.ones(n), generator.integers(0, 3, n)])
    return event * weight, ~event * weight, x


@pytest.mark.parametrize("n", [MANY - 1, MANY, 5 * MANY + 3])
def test_a_line_is_the_same_wherever_it_starts(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = drawn(n)
    begun = (*fit_logistic_line(*tables), slope_error(*tables))
    monkeypatch.setattr(logistic, "LEAST", np.inf)
    # 1e-12: both end where a step changes nothing, but for the last bits of sums of so many terms.
    np.testing.assert_allclose(begun, (*fit_logistic_line(*tables), slope_error(*tables)), rtol=1e-12)


def test_the_start_saves_half_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    derivatives = logistic._derivatives

    def counted(events: np.ndarray, *rest: Any) -> Any:
        sizes.append(events.shape[-1])
        return derivatives(events, *rest)

    monkeypatch.setattr(logistic, "_derivatives", counted)
    fit_logistic_line(*drawn(MANY))
    begun = sizes.count(MANY)
    sizes.clear()
    monkeypatch.setattr(logistic, "LEAST", np.inf)
    fit_logistic_line(*drawn(MANY))
    assert 0 < begun <= sizes.count(MANY) / 2


@pytest.mark.parametrize("function", [fit_logistic_line, slope_error, logistic.calibration_shift])
def test_sums_in_parts_are_those_of_the_whole(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = drawn(5000)
    whole = function(*tables)
    monkeypatch.setattr(logistic, "IN_CACHE", 700)
    # 1e-12: the same sums in another order.
    np.testing.assert_allclose(function(*tables), whole, rtol=1e-12)


def test_a_line_without_a_finite_fit_has_no_start_either() -> None:
    x = np.linspace(-3, 3, MANY)[None]
    apart = (x > 0).astype(float)
    assert np.isnan(fit_logistic_line(apart, 1 - apart, x)).all()
    assert np.isnan(slope_error(apart, 1 - apart, x)).all()


def test_a_step_that_overflows_is_halved_without_a_warning() -> None:
    # As where a row of weight 2^63 stands among rows of weight 1.
    events, others, x = (values[:1].astype(float) for values in drawn(55, 2))
    events[0, 52], others[0, 52] = 0, 2.0**63
    fitted = fit(events, others, [np.ones_like(x), (x - x[0, 52]) * 1e8], 100)
    assert np.isfinite(fitted).all()


@pytest.mark.parametrize("size", range(1, 7))
def test_systems_are_solved_as_a_loop_of_them_to_the_last_bit(size: int) -> None:
    half = np.random.default_rng(size).normal(size=(50, size, size))
    matrix = half @ half.transpose(0, 2, 1) + 0.1 * np.eye(size)
    vector = half[:, 0]
    solution = logistic.cholesky_solution(matrix, vector)
    each = [logistic.cholesky_solution(matrix[k : k + 1], vector[k : k + 1])[0] for k in range(50)]
    np.testing.assert_array_equal(solution, each)
    # 1e-11: the rounding of doubles, with the condition of the worst of these systems, about 300, and room for a sum.
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, vector[..., None])[..., 0], rtol=1e-11)


def test_a_system_without_a_solution_has_none_and_leaves_others_alone() -> None:
    matrix = np.stack([np.eye(2), np.ones((2, 2)), 4 * np.eye(2)])
    solution = logistic.cholesky_solution(matrix, np.ones((3, 2)))
    np.testing.assert_array_equal(solution, [[1, 1], [np.nan, np.nan], [0.25, 0.25]])
