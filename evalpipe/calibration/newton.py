"""Maximum likelihood by Newton's method, with sums along rows that no library splits among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.arithmetic import matrices
from evalpipe.arithmetic.functions import expit, log, log_expit
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Unfit

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

SETTLED = 1e-16
"""The squared length of a last step, in units of log likelihood for each unit of weight."""

NEARLY = 1e-10
"""The squared length of a last step where digits are rounded away: the next step would be far below `SETTLED`."""

STEPS = 200
HALVINGS = 40

UNDETERMINED = "the predictions do not determine all coefficients"


class Slope(NamedTuple):
    """The gradient [k] and the information (minus the Hessian) [k, k] of a log likelihood, for a Newton step."""

    gradient: Floats
    information: Floats


def maximise(
    value: Callable[[Floats], float], slope: Callable[[Floats], Slope], start: Floats, weight: float,
    *, rough: bool = False,
) -> Floats:
    """Return the coefficients [k] at which a concave log likelihood is largest, to about the last bits.

    ``value`` returns the log likelihood, ``slope`` its derivatives. Steps are halved until the value does not fall;
    ``weight`` is the total of the rows, for the scale of the value. ``rough`` coefficients, to be rounded afterwards,
    are right to about ten digits, in half of the time. Raises `Unfit` where rows do not determine the coefficients.
    """
    settled = NEARLY if rough else SETTLED
    coefficients, best = start, value(start)
    for _ in range(STEPS):
        gradient, information = slope(coefficients)
        step = solve(information, gradient)
        gain = float(np.sum(gradient * step))
        if gain <= settled * weight:
            return coefficients + step
        higher, best = _first_not_lower(value, coefficients, step, best)
        if higher is coefficients:
            break
        coefficients = higher
    return coefficients


def _first_not_lower(
    value: Callable[[Floats], float], coefficients: Floats, step: Floats, best: float
) -> tuple[Floats, float]:
    """Return the coefficients after the first of ever shorter steps at which the value has not fallen, and the value.

    Falls within the last bits of sums do not count; the same coefficients where every step falls.
    """
    for _ in range(HALVINGS):
        higher = coefficients + step
        reached = value(higher)
        if reached >= best - 1e-13 * abs(best):
            return higher, reached
        step = step / 2
    return coefficients, best


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve ``matrix`` x = ``right`` for a symmetric positive definite matrix; raises `Unfit` where it is singular."""
    try:
        return matrices.solve(matrix, right)
    except matrices.SingularError:
        raise Unfit(UNDETERMINED) from None


def log_likelihood(log_odds: Floats, events: Floats, others: Floats) -> float:
    """Return the binomial log likelihood of weights of events and others [m] under log odds [m]."""
    return float(np.sum(events * log_expit(log_odds) + others * log_expit(-log_odds)))


def logistic_fit(
    columns: Floats | Sequence[Floats], events: Floats, others: Floats, *, intercept: bool = True
) -> Floats:
    """Return the weighted maximum-likelihood coefficients of a logistic regression, the intercept (if any) first.

    ``columns`` [k, m] are covariates at m values, ``events`` and ``others`` [m] the weights there. Raises `Unfit` where
    the columns do not determine the coefficients; whether the likelihood has a maximum is for the caller to know.
    """
    columns, total = np.asarray(columns, float), events + others
    weight = float(np.sum(total))
    centre = np.sum(columns * total, axis=1) / weight * intercept
    centred = columns - centre[:, None]
    spread = np.sqrt(np.sum(centred**2 * total, axis=1) / weight)
    # Centred and of unit spread the information is nearly diagonal, and the steps are few.
    scaled = centred / np.where(spread > 0, spread, 1.0)[:, None]
    design = np.vstack([np.ones_like(total), scaled]) if intercept else scaled

    start = np.zeros(len(design))
    if intercept:
        start[0] = log(np.sum(events) / np.sum(others))

    def log_odds(coefficients: Floats) -> Floats:
        return np.asarray(np.sum(coefficients[:, None] * design, axis=0))

    def slope(coefficients: Floats) -> Slope:
        """Return the gradient and the information of the log likelihood."""
        probability = expit(log_odds(coefficients))
        variance = total * probability * (1 - probability)
        information = [[np.sum(variance * row * column) for column in design] for row in design]
        return Slope(np.sum(design * (events - total * probability), axis=1), np.array(information))

    best = maximise(lambda coefficients: log_likelihood(log_odds(coefficients), events, others), slope, start, weight)
    if not intercept:
        return np.asarray(best / spread)
    slopes = best[1:] / spread
    return np.asarray(np.r_[best[0] - np.sum(slopes * centre), slopes])
