"""Functions, searches and small matrices in plain arithmetic, whose last bits no processor, library or thread decides.

numpy computes exponentials and logarithms by instructions that it chooses for the processor, and BLAS and LAPACK do so
with sums: each choice gives other last bits. What IEEE 754 rounds in one way only is the same everywhere, and so is all
that is made of it in a fixed order: + - * / and square roots, scaling by powers of two, and numpy's sums.
`tests/test_processors.py` holds that the numbers of the engine come from here.

Exponentials and logarithms are right to within one unit in the last place, by the reductions and polynomials of FDLIBM
(Sun Microsystems 1993); powers to within a few units for each factor of ten. Functions take numbers or arrays of any
shape, and warn of nothing: what is undefined is NaN. Each sum of a matrix has one fixed order.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from evalpipe.base.arraytypes import Flags, Floats, Wholes


BLOCK = 2**14
"""Numbers that are worked on at once, so that a dozen steps find them in the cache."""

LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""The natural logarithm of 2, in two parts: whole multiples of the first, up to 2^20 of them, are exact."""

SMALLEST, LARGEST = -746.0, 710.0
"""Below the first an exponential is 0, above the second infinite."""

WHOLE = 64
"""The largest exponent whose powers are products."""

_EXPONENTIAL = (
    4.13813679705723846039e-08, -1.65339022054652515390e-06, 6.61375632143793436117e-05, -2.77777777770155933842e-03,
    1.66666666666666019037e-01)
_LOGARITHM = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
    2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01)
_MINUS_ONE = (
    -2.01099218183624371326e-07, 4.00821782732936239552e-06, -7.93650757867487942473e-05, 1.58730158725481460165e-03,
    -3.33333333333331316428e-02)


def exp(x: ArrayLike) -> Floats:
    """Return the exponential of ``x``, elementwise, the same bits on every processor."""
    return _in_blocks(_exp, x)


def log(x: ArrayLike) -> Floats:
    """Return the natural logarithm of x; minus infinity of 0, NaN below."""
    return _in_blocks(_log, x)


def log1p(x: ArrayLike) -> Floats:
    """Return the natural logarithm of 1 + x, without losing the digits of a small x."""
    return _in_blocks(_log1p, x)


def log_of_true_class(probability: Floats, event: Flags) -> Floats:
    """Return the logarithm of each probability [n] where its ``event`` [n] is true, elsewhere of 1 less it."""
    results = np.empty(probability.shape)
    with np.errstate(all="ignore"):
        for first in range(0, len(probability), BLOCK):
            block = slice(first, first + BLOCK)
            # 0 plus the probability, or 1 less it: the former sum loses nothing.
            start = (~event[block]).astype(float)
            _log_after(start, probability[block] * (1.0 - 2.0 * start), results[block])
    return results


def expm1(x: ArrayLike) -> Floats:
    """Return the exponential of x less 1, without losing the digits of a small x."""
    return _in_blocks(_expm1, x)


def expit(log_odds: ArrayLike) -> Floats:
    """Return the probabilities that have these log odds; never overflows, and loses no digits of a small one."""
    return _in_blocks(_expit, log_odds)


def logit(probability: ArrayLike) -> Floats:
    """Return the log odds of probabilities; infinite at 0 and 1."""
    # log1p, as 1 - p loses the digits of a small p.
    return log(probability) - log1p(np.negative(probability))


def log_expits(log_odds: Floats) -> tuple[Floats, Floats]:
    """Return the logarithms of the probabilities that have these log odds, and of 1 less these; never overflows."""
    beyond = log1p(exp(-np.abs(log_odds)))
    return np.minimum(log_odds, 0.0) - beyond, np.minimum(-log_odds, 0.0) - beyond


def log_add_exp(left: Floats, right: ArrayLike) -> Floats:
    """Return the logarithm of the sum of the exponentials of two numbers; never overflows."""
    larger = np.maximum(left, right)
    with np.errstate(invalid="ignore"):  # two infinities of one sign
        difference = np.abs(np.subtract(left, right))
    return larger + log1p(exp(-np.where(np.isfinite(larger), difference, np.inf)))


def log_sum_exp(values: Floats, axis: int) -> Floats:
    """Return the logarithm of the sum of the exponentials of values along an axis; never overflows."""
    largest = values.max(axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.asarray(np.squeeze(largest, axis) + log(np.sum(exp(values - largest), axis=axis)))


def softmax(log_odds: Floats) -> Floats:
    """Return probabilities proportional to the exponential of ``log_odds``, along the last axis."""
    # The largest is taken off first, so that no exponential overflows.
    raised = exp(log_odds - log_odds.max(axis=-1, keepdims=True))
    return np.asarray(raised / np.sum(raised, axis=-1, keepdims=True))


def power(base: ArrayLike, exponent: ArrayLike) -> Floats:
    """Return ``base`` to the ``exponent``, by products where that is one integer; 0 to the 0 is 1.

    NaN where a negative base has an exponent that is no integer.
    """
    x, exponents = np.asarray(base, float), np.asarray(exponent, float)
    if exponents.ndim == 0 and float(exponents).is_integer() and abs(exponents) <= WHOLE:
        return _integer_power(x, int(exponents))
    with np.errstate(invalid="ignore"):  # 0 times minus infinity; a square root below 0
        if exponents.ndim == 0 and exponents == 0.5:  # rounded once
            return _number_or_array(np.sqrt(x))
        raised = exp(exponents * log(x))
    return _number_or_array(np.where(exponents == 0, 1.0, np.where(exponents == 1, x, raised)))


def boxcox(x: Floats, exponent: float) -> Floats:
    """Return the Box-Cox transform of x, (x to the ``exponent``, less 1) / ``exponent``; its logarithm for 0."""
    return log(x) if exponent == 0 else expm1(exponent * log(x)) / exponent


def cos(x: Floats) -> Floats:
    """Return the cosine of angles from -pi to pi, by its series."""
    squared, value = x * x, np.ones_like(x)
    for term in range(32, 0, -2):
        value = 1 - squared / (term * (term - 1)) * value
    return np.asarray(value)


def _integer_power(base: Floats, exponent: int) -> Floats:
    """Return ``base`` to an integer ``exponent``, as a product of repeated squares for each bit of the exponent."""
    square, product, remaining = base, np.ones(base.shape), abs(exponent)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        while remaining:
            product = product * square if remaining % 2 else product
            square, remaining = square * square, remaining // 2
        return _number_or_array(1 / product if exponent < 0 else product)


def _number_or_array(values: Floats) -> Floats:
    """Return the values, as a numpy number where they are an array without axes."""
    return typing.cast("Floats", np.asarray(values)[()])


def _in_blocks(function: Callable[[Floats, Floats], None], x: ArrayLike) -> Floats:
    """Return the results of ``function(x, out)``, called on blocks of ``x`` that fit the processor's cache."""
    values = np.asarray(x, float)
    results = np.empty(values.shape)
    flat, flat_results = values.reshape(-1), results.reshape(-1)
    with np.errstate(all="ignore"):
        for first in range(0, len(flat), BLOCK):
            function(flat[first : first + BLOCK], flat_results[first : first + BLOCK])
    return _number_or_array(results)


def _polynomial(x: Floats, coefficients: tuple[float, ...]) -> Floats:
    """Return the polynomial in ``x`` without a constant term; ``coefficients`` are from the highest power down."""
    value = x * coefficients[0]
    for coefficient in coefficients[1:]:
        value += coefficient
        value *= x
    return value


def _exp(x: Floats, out: Floats) -> None:
    """Write the exponential of x into ``out``."""
    # x = twos ln 2 + rest, with the rest within ln 2 / 2 of 0.
    x = np.clip(x, SMALLEST, LARGEST)
    twos = np.rint(x * (1 / (LN2[0] + LN2[1])))
    high, low = x - twos * LN2[0], twos * LN2[1]
    rest = high - low
    numerator = rest - _polynomial(rest * rest, _EXPONENTIAL)
    rest *= numerator
    numerator -= 2.0
    rest /= numerator
    low += rest
    low -= high
    np.ldexp(np.subtract(1.0, low, out=low), twos.astype(np.int32), out=out)


def _exp_of_minus_abs(x: Floats) -> Floats:
    """Return exp(-abs(x)) as a new array."""
    small = np.abs(x)
    np.negative(small, out=small)
    _exp(small, small)
    return small


def _expit(x: Floats, out: Floats) -> None:
    """Write the probabilities with the log odds x into ``out``."""
    small = _exp_of_minus_abs(x)
    np.copyto(out, small)
    np.copyto(out, 1.0, where=x >= 0)
    small += 1.0
    out /= small


def _log(x: Floats, out: Floats) -> None:
    """Write the natural logarithm of x into ``out``."""
    _log_of_sum(x, None, out)


def _log1p(x: Floats, out: Floats) -> None:
    """Write the natural logarithm of 1 + x into ``out``."""
    _log_after(1.0, x, out)


def _log_after(start: Floats | float, x: Floats, out: Floats) -> None:
    """Write the natural logarithm of ``start`` + x into ``out``."""
    rounded = x + start
    from_x = rounded - start
    rounded_away = x - from_x
    from_x -= rounded
    from_x += start
    rounded_away += from_x  # all that the sum has rounded away (Knuth 1997, section 4.2.2)
    _log_of_sum(rounded, rounded_away, out)


def _log_of_sum(x: Floats, lost: Floats | None, out: Floats) -> None:
    """Write the logarithm of x, or of x + ``lost``, into ``out``; ``lost`` is below a unit in the last place of x."""
    part, twos = np.frexp(x)
    low = part < 0.5**0.5
    # x = 2^twos (1 + f), with 1 + f between the square roots of 1/2 and of 2.
    part += part * low
    twos = (twos - low).astype(float)
    part -= 1.0
    share = part / (part + 2.0)
    half = part * part
    half *= 0.5
    bent = _polynomial(share * share, _LOGARITHM)
    bent += half
    bent *= share
    bent += twos * LN2[1]
    if lost is not None:
        bent += lost / x
    half -= bent
    half -= part
    twos *= LN2[0]
    np.subtract(twos, half, out=out)
    if not (x.min() > 0 and x.max() < np.inf):
        np.copyto(out, np.where(x == 0, -np.inf, np.where(x == np.inf, x, np.nan)), where=~((x > 0) & (x < np.inf)))


def _expm1(x: Floats, out: Floats) -> None:
    """Write the exponential of x less 1 into ``out``."""
    # x = twos ln 2 + rest, as in `_exp`.
    twos = np.rint(np.clip(x, SMALLEST, LARGEST) * (1 / (LN2[0] + LN2[1])))
    high, low = np.clip(x, SMALLEST, LARGEST) - twos * LN2[0], twos * LN2[1]
    rest = high - low
    rounded_away = (high - rest) - low
    half = rest / 2
    squared = rest * half
    near = 1.0 + _polynomial(squared, _MINUS_ONE)
    ahead = 3.0 - near * half
    error = squared * ((near - ahead) / (6.0 - rest * ahead))
    error = rest * (error - rounded_away) - rounded_away - squared
    # exp(rest) - 1 is rest - error; each power of two is written so that the 1 is taken off a number of its size.
    power_of_half = np.ldexp(1.0, -np.abs(twos).astype(np.int32))
    steps = twos.astype(np.int32)
    np.ldexp(np.where(twos > 0, (1.0 - power_of_half) - (error - rest), 1.0 - (error - rest)), steps, out=out)
    np.subtract(out, 1.0, out=out, where=twos < 0)
    np.subtract(rest, error, out=out, where=twos == 0)
    np.copyto(out, np.where(x > 0, np.inf, -1.0), where=np.isinf(x))


GOLDEN = (3 - math.sqrt(5)) / 2
"""The share of an interval in which a golden-section step goes."""

EPSILON = 2.0**-52
"""The distance from 1 to the next number."""

SEARCHED = 500
"""The most values of a function that a search takes."""


def root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return where a function crosses 0 between two places at which its signs differ, to within ``tolerance``.

    By bisection, secants and inverse quadratic interpolation, step by step as scipy's brentq (Brent 1973, chapter 4).
    Raises ValueError where the signs do not differ, and ArithmeticError where nothing is found.
    """
    before, now, across = low, high, low
    at_before, at_now = function(before), function(now)
    at_across = at_before
    step = step_before = 0.0
    if at_before == 0 or at_now == 0:
        return before if at_before == 0 else now
    if (at_before < 0) == (at_now < 0):
        raise ValueError("the function has one sign at both ends")
    for _ in range(SEARCHED):
        if at_before != 0 and at_now != 0 and (at_before < 0) != (at_now < 0):
            across, at_across = before, at_before
            step = step_before = now - before
        if abs(at_across) < abs(at_now):
            before, now, across = now, across, now
            at_before, at_now, at_across = at_now, at_across, at_now
        least, half = (tolerance + 4 * EPSILON * abs(now)) / 2, (across - now) / 2
        if at_now == 0 or abs(half) < least:
            return now
        tried = math.inf
        if abs(step_before) > least and abs(at_now) < abs(at_before):
            if before == across:
                tried = -at_now * (now - before) / (at_now - at_before)
            else:
                slope, slope_across = (at_before - at_now) / (before - now), (at_across - at_now) / (across - now)
                bend = slope_across * slope * (at_across - at_before)
                if bend:
                    tried = -at_now * (at_across * slope_across - at_before * slope) / bend
        near = 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - least)
        step_before, step = (step, tried) if near else (half, half)
        before, at_before = now, at_now
        now += step if abs(step) > least else math.copysign(least, half)
        at_now = function(now)
    raise ArithmeticError("no root is found")


def least_between(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> tuple[float, float]:
    """Return where a function is least between two places, to within ``tolerance``, and its value there.

    By golden sections and parabolas, step by step as scipy's bounded minimize_scalar (Brent 1973, chapter 5). It is the
    least of all where there is no other low.
    """
    best = second = third = low + GOLDEN * (high - low)
    at_best = at_second = at_third = function(best)
    step = step_before = 0.0
    for _ in range(SEARCHED - 1):
        middle, least = 0.5 * (low + high), math.sqrt(2.2e-16) * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * least - 0.5 * (high - low):
            break
        parabolic = False
        if abs(step_before) > least:
            r, q = (best - second) * (at_best - at_third), (best - third) * (at_best - at_second)
            p, q = (best - third) * q - (best - second) * r, 2.0 * (q - r)
            p, q = -p if q > 0.0 else p, abs(q)
            parabolic = abs(p) < abs(0.5 * q * step_before) and q * (low - best) < p < q * (high - best)
            step_before = step
        if parabolic:
            step = p / q
            if best + step - low < 2.0 * least or high - (best + step) < 2.0 * least:
                step = least if middle >= best else -least
        else:
            step_before = (low if best >= middle else high) - best
            step = GOLDEN * step_before
        x = best + (max(abs(step), least) if step >= 0 else -max(abs(step), least))
        at_x = function(x)
        if at_x <= at_best:
            low, high = (best, high) if x >= best else (low, best)
            third, at_third, second, at_second, best, at_best = second, at_second, best, at_best, x, at_x
        else:
            low, high = (x, high) if x < best else (low, x)
            if at_x <= at_second or second == best:
                third, at_third, second, at_second = second, at_second, x, at_x
            elif at_x <= at_third or third in (best, second):
                third, at_third = x, at_x
    return best, at_best


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
    scale = np.sqrt(np.diagonal(matrix))
    if not np.all(scale > 0):
        raise SingularError
    scaled = matrix / (scale[:, None] * scale)
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


def cholesky_factor(matrix: Floats) -> Floats:
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
