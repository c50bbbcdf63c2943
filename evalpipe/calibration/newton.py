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
"""The same where digits are rounded away: a step squares the error, so the next one would be far below `SETTLED`."""

STEPS = 200
HALVINGS = 40

UNDETERMINED = "the predictions do not determine all coefficients"


class Slope(NamedTuple):
    """What a step needs: the gradient [k] and the information (minus the Hessian) [k, k] of a log likelihood."""

    gradient: Floats
    information: Floats


def maximise(
    value: Callable[[Floats], float], slope: Callable[[Floats], Slope], start: Floats, weight: float,
    *, rough: bool = False,
) -> Floats:
    """Return the coefficients [k] at which a concave log likelihood is largest, to about the last bits.

    Steps are halved until the value does not fall; ``weight`` is the total of the rows, for the scale of the value.
    ``rough`` coefficients, for what is rounded afterwards, are right to ten digits or so, in half of the time. Raises
    `Unfit` where the rows do not determine the coefficients.
    """
    settled = NEARLY if rough else SETTLED
    place, best = start, value(start)
    for _ in range(STEPS):
        gradient, information = slope(place)
        step = solve(information, gradient)
        gain = float(np.sum(gradient * step))
        if gain <= settled * weight:
            return place + step
        higher, best = _first_not_lower(value, place, step, best)
        if higher is place:
            break
        place = higher
    return place


def _first_not_lower(
    value: Callable[[Floats], float], place: Floats, step: Floats, best: float
) -> tuple[Floats, float]:
    """Return the first of ever shorter steps at which the value has not fallen, but for the last bits of sums."""
    for _ in range(HALVINGS):
        higher = place + step
        reached = value(higher)
        if reached >= best - 1e-13 * abs(best):
            return higher, reached
        step = step / 2
    return place, best


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve as `matrices.solve` does; raises `Unfit` where the matrix is singular."""
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
    moved = columns - centre[:, None]
    spread = np.sqrt(np.sum(moved**2 * total, axis=1) / weight)
    # Centred and of unit spread the information is nearly diagonal, and the steps are few.
    scaled = moved / np.where(spread > 0, spread, 1.0)[:, None]
    design = np.vstack([np.ones_like(total), scaled]) if intercept else scaled

    start = np.zeros(len(design))
    if intercept:
        start[0] = log(np.sum(events) / np.sum(others))

    def log_odds(place: Floats) -> Floats:
        return np.asarray(np.sum(place[:, None] * design, axis=0))

    def slope(place: Floats) -> Slope:
        chance = expit(log_odds(place))
        variance = total * chance * (1 - chance)
        information = [[np.sum(variance * row * column) for column in design] for row in design]
        return Slope(np.sum(design * (events - total * chance), axis=1), np.array(information))

    best = maximise(lambda place: log_likelihood(log_odds(place), events, others), slope, start, weight)
    if not intercept:
        return np.asarray(best / spread)
    slopes = best[1:] / spread
    return np.asarray(np.r_[best[0] - np.sum(slopes * centre), slopes])
