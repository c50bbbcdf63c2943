"""Products, solutions and singular values of small matrices, each sum in one fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.lazy_numpy import np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

LOST = 1e-14
"""What is left of a column beside the others below which it is lost to rounding: a pivot of a matrix whose diagonal is
1, whatever the units."""

SWEEPS = 60
"""The most rounds of rotations; eight or so are needed."""

STRAIGHT = 2.0**-52
"""The cosine of the angle between two columns, for each of their numbers, below which they stand at a right angle."""


class SingularError(ArithmeticError):
    """A matrix is singular to working precision."""


def product(left: Floats, right: Floats) -> Floats:
    """Return the matrix product [n, k] of matrices [n, m] and [m, k]."""
    columns = np.ascontiguousarray(right.T)
    return np.stack([np.add.reduce(row * columns, axis=-1) for row in left])


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve ``matrix`` x = ``right``, [k, k] symmetric and positive definite, [k] or [k, r], by elimination.

    Raises `SingularError` where the matrix is singular to working precision.
    """
    left, scale = _scaled(matrix)
    solution = (right.T / scale).T
    for j in range(len(left)):
        if left[j, j] <= LOST:
            raise SingularError
        share = left[j + 1 :, j, None] / left[j, j]
        left[j + 1 :, j:] -= share * left[j, j:]
        solution[j + 1 :] -= (share if right.ndim > 1 else share[:, 0]) * solution[j]
    for j in reversed(range(len(left))):
        known = np.add.reduce(left[j, j + 1 :] * solution[j + 1 :].T, axis=-1)
        solution[j] = (solution[j] - known) / left[j, j]
    return np.asarray((solution.T / scale).T)


def _scaled(matrix: Floats) -> tuple[Floats, Floats]:
    """Return a matrix with a diagonal of 1, and the square roots of the one that it had; raises `SingularError`."""
    scale = np.sqrt(np.diagonal(matrix))
    if not np.all(scale > 0):
        raise SingularError
    return matrix / (scale[:, None] * scale), scale


def root_of(matrix: Floats) -> Floats:
    """Return the lower triangular L [k, k] with L L' = ``matrix``, symmetric and positive definite (Cholesky).

    Raises `SingularError` where it is not definite.
    """
    root, left = np.zeros_like(matrix), matrix.copy()
    for j in range(len(matrix)):
        if not left[j, j] > 0:
            raise SingularError
        root[j:, j] = left[j:, j] / np.sqrt(left[j, j])
        left[j + 1 :, j + 1 :] -= root[j + 1 :, j, None] * root[j + 1 :, j]
    return root


def solve_lower(root: Floats, right: Floats) -> Floats:
    """Solve L x = ``right`` [k, r] for a lower triangular L [k, k]."""
    solution = np.array(right, float)
    for j in range(len(root)):
        solution[j] /= root[j, j]
        solution[j + 1 :] -= root[j + 1 :, j, None] * solution[j]
    return solution


class Singular(NamedTuple):
    """The singular values [k] of a matrix, descending, and the vectors [k, n] of unit length along its columns."""

    sizes: Floats
    vectors: Floats


def singular(columns: Floats) -> Singular:
    """Return the singular values of the matrix with these ``columns`` [k, n], k <= n, and its left singular vectors.

    Pairs of columns are turned until all stand at right angles (Hestenes 1958), half of them at once, which keeps the
    digits of small values (Demmler & Veselic 1992).
    """
    turned = np.array(columns, float)
    pairs = _rounds(len(turned))
    for _ in range(SWEEPS):
        if not sum(_turn(turned, *pair) for pair in pairs):
            break
    sizes = np.sqrt(np.add.reduce(turned * turned, axis=-1))
    order = np.argsort(-sizes, kind="stable")
    safe = np.where(sizes > 0, sizes, 1.0)
    return Singular(sizes[order], (turned / safe[:, None])[order])


def _rounds(k: int) -> list[tuple[Wholes, Wholes]]:
    """Return rounds in which each of k columns meets another, so that all pairs meet once (a round-robin)."""
    places, rounds = list(range(k + k % 2)), []
    for _ in range(len(places) - 1):
        half = len(places) // 2
        met = [(a, b) for a, b in zip(places[:half], reversed(places[half:]), strict=True) if max(a, b) < k]
        first, second = (np.array([pair[side] for pair in met], np.intp) for side in (0, 1))
        rounds.append((first, second))
        places = [places[0], places[-1], *places[1:-1]]
    return rounds


def _turn(columns: Floats, first: Wholes, second: Wholes) -> int:
    """Turn pairs of columns until each stands at a right angle, in place; return how many did not."""
    a, b = columns[first], columns[second]
    of_a, of_b, together = (np.add.reduce(x * y, axis=-1) for x, y in ((a, a), (b, b), (a, b)))
    apart = np.abs(together) > STRAIGHT * columns.shape[1] * np.sqrt(of_a) * np.sqrt(of_b)
    safe = np.where(apart, together, 1.0)
    middle = (of_b - of_a) / (2 * safe)
    tangent = np.where(apart, np.where(middle < 0, -1.0, 1.0) / (np.abs(middle) + np.sqrt(1 + middle * middle)), 0.0)
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    columns[first] = cosine[:, None] * a - sine[:, None] * b
    columns[second] = sine[:, None] * a + cosine[:, None] * b
    return int(np.count_nonzero(apart))
