"""Products, solutions and singular values of small matrices, each sum in one fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.lazy_numpy import np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

LOST = 1e-14
"""The pivot below which a column is lost to rounding beside the others, in a matrix scaled to a diagonal of 1."""

SWEEPS = 60
"""The most rounds of rotations; eight or so are needed."""

STRAIGHT = 2.0**-52
"""The cosine of the angle between two columns, per row, below which they count as orthogonal."""


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
    scaled, scale = _scaled(matrix)
    solution = (right.T / scale).T
    for j in range(len(scaled)):
        if scaled[j, j] <= LOST:
            raise SingularError
        factor = scaled[j + 1 :, j, None] / scaled[j, j]
        scaled[j + 1 :, j:] -= factor * scaled[j, j:]
        solution[j + 1 :] -= (factor if right.ndim > 1 else factor[:, 0]) * solution[j]
    for j in reversed(range(len(scaled))):
        substituted = np.add.reduce(scaled[j, j + 1 :] * solution[j + 1 :].T, axis=-1)
        solution[j] = (solution[j] - substituted) / scaled[j, j]
    return np.asarray((solution.T / scale).T)


def _scaled(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the matrix scaled to a diagonal of 1, and the square roots [k] of its diagonal; raises `SingularError`."""
    scale = np.sqrt(np.diagonal(matrix))
    if not np.all(scale > 0):
        raise SingularError
    return matrix / (scale[:, None] * scale), scale


def root_of(matrix: Floats) -> Floats:
    """Return the lower triangular L [k, k] with L L' = ``matrix``, symmetric and positive definite (Cholesky).

    Raises `SingularError` where it is not definite.
    """
    root, remaining = np.zeros_like(matrix), matrix.copy()
    for j in range(len(matrix)):
        if not remaining[j, j] > 0:
            raise SingularError
        root[j:, j] = remaining[j:, j] / np.sqrt(remaining[j, j])
        remaining[j + 1 :, j + 1 :] -= root[j + 1 :, j, None] * root[j + 1 :, j]
    return root


def solve_lower(root: Floats, right: Floats) -> Floats:
    """Solve L x = ``right`` [k, r] for a lower triangular L [k, k]."""
    solution = np.array(right, float)
    for j in range(len(root)):
        solution[j] /= root[j, j]
        solution[j + 1 :] -= root[j + 1 :, j, None] * solution[j]
    return solution


class Singular(NamedTuple):
    """The singular values [k] of a matrix of k columns, descending, and its left singular vectors [k, n]."""

    sizes: Floats
    vectors: Floats


def singular(columns: Floats) -> Singular:
    """Return the singular values of the matrix with these ``columns`` [k, n], k <= n, and its left singular vectors.

    Pairs of columns are rotated until all are orthogonal (Hestenes 1958), k / 2 pairs at once, which keeps the digits
    of small values (Demmler & Veselic 1992).
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
    """Return rounds of pairs of k columns, each as two arrays of column indices; all pairs occur once (round-robin)."""
    circle, rounds = list(range(k + k % 2)), []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        pairs = [(a, b) for a, b in zip(circle[:half], reversed(circle[half:]), strict=True) if max(a, b) < k]
        first, second = (np.array([pair[side] for pair in pairs], np.intp) for side in (0, 1))
        rounds.append((first, second))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def _turn(columns: Floats, first: Wholes, second: Wholes) -> int:
    """Rotate each pair of columns in place until the two are orthogonal; return how many pairs were not."""
    a, b = columns[first], columns[second]
    of_a, of_b, products = (np.add.reduce(x * y, axis=-1) for x, y in ((a, a), (b, b), (a, b)))
    is_oblique = np.abs(products) > STRAIGHT * columns.shape[1] * np.sqrt(of_a) * np.sqrt(of_b)
    safe = np.where(is_oblique, products, 1.0)
    middle = (of_b - of_a) / (2 * safe)
    sign = np.where(middle < 0, -1.0, 1.0)
    tangent = np.where(is_oblique, sign / (np.abs(middle) + np.sqrt(1 + middle * middle)), 0.0)
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    columns[first] = cosine[:, None] * a - sine[:, None] * b
    columns[second] = sine[:, None] * a + cosine[:, None] * b
    return int(np.count_nonzero(is_oblique))
