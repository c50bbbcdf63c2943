"""Products, solutions and singular values of small matrices, held to LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest

from evalpipe import arithmetic

RNG = np.random.default_rng(11)
SIZES = [(1, 1), (2, 2), (3, 5), (10, 12), (48, 50)]


@pytest.mark.parametrize(("k", "n"), SIZES)
def test_solutions_and_roots_are_lapacks(k: int, n: int) -> None:
    design = RNG.normal(size=(n + 5, k)) * 10 ** RNG.uniform(-5, 5, k)
    matrix, right = design.T @ design, RNG.normal(size=(k, 3))
    # 1e-9: a system in units that are ten powers of ten apart loses a few digits of sixteen.
    for given in (right, right[:, 0]):
        np.testing.assert_allclose(arithmetic.solve(matrix, given), np.linalg.solve(matrix, given), rtol=1e-9)
    root = arithmetic.cholesky_factor(matrix)
    np.testing.assert_allclose(root, np.linalg.cholesky(matrix), rtol=1e-9)
    np.testing.assert_allclose(arithmetic.solve_lower(root, right), np.linalg.solve(root, right), rtol=1e-7)
    np.testing.assert_allclose(arithmetic.product(matrix, right), matrix @ right, rtol=1e-12)


@pytest.mark.parametrize(("k", "n"), SIZES)
def test_singular_values_and_vectors_are_lapacks_to_the_smallest(k: int, n: int) -> None:
    columns = RNG.normal(size=(k, n)) * np.logspace(0, -6, k)[:, None]
    sizes, vectors = arithmetic.singular(columns)
    # 1e-10: LAPACK's own smallest values are off by 1e-16 of the largest, which is 1e6 times as large.
    np.testing.assert_allclose(sizes, np.linalg.svd(columns, compute_uv=False), rtol=1e-10)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(k), atol=1e-13)
    # What the vectors span has all of the columns, with the singular values as the roots of the squares along them.
    np.testing.assert_allclose(np.linalg.norm(columns @ vectors.T, axis=0), sizes, rtol=1e-10)


def test_a_matrix_that_is_singular_to_working_precision_is_refused() -> None:
    design = RNG.normal(size=(9, 3))
    design[:, 2] = design[:, 1]
    for singular in (design.T @ design, np.zeros((2, 2)), np.array([[np.nan]])):
        with pytest.raises(arithmetic.SingularError):
            arithmetic.solve(singular, np.ones(len(singular)))
    with pytest.raises(arithmetic.SingularError):
        arithmetic.cholesky_factor(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_the_singular_values_of_columns_that_are_zero_are_zero() -> None:
    np.testing.assert_array_equal(arithmetic.singular(np.array([[0.0, 0.0], [3.0, 4.0]])).sizes, [5, 0])
