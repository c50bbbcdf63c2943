"""Recalibration of probabilities by a smooth curve, a penalised natural cubic spline, and the errors of such curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from evalpipe.arithmetic import cholesky_factor, expit, least_between, product, singular, solve_lower
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, Training, Unfit, recalibrator
from evalpipe.calibration.logistic import SEPARATED
from evalpipe.calibration.scales import (
    SCALES,
    UNDETERMINED,
    Events,
    OnEither,
    Slope,
    events_on,
    log_likelihood,
    logistic_fit,
    logit,
    maximise,
    require_distinct,
    separated,
    solve,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats, Wholes


On = Annotated[Literal["probability", "logit"], Field(description="The scale on which the curve is fitted.")]
Knots = Annotated[int, Field(ge=4, le=50, description="The number of knots; ties may leave fewer.")]

APART = 1e-4
"""How far apart knots lie at least, as a share of the range."""

STRONGEST, WEAKEST, STRIDE = 6.0, -22.0, 2.0
"""The natural logarithms of the penalties searched, for each unit of weight where the range of predictions is 1."""

LARGE = 1e300
"""Stands for infinity in the bounded search, which takes differences."""


@recalibrator(
    title="Logistic spline",
    text="A logistic regression on a natural cubic spline of the prediction, as smooth as the data allow; its "
         "effective degrees of freedom show how curved it is, 2 being a line.",
    tasks=("binary",), ref="Wood (2017, sections 5.3 and 6.2)",
    parameters={"on": SCALES, "at": "m", "log_odds": "m", "lambda": "", "edf": ""})
class LogisticSpline(OnEither):
    """A logistic regression on a smooth function of the probability: a natural cubic spline with a penalty.

    The knots divide the predictions into groups of equal weight, and the curve is a line beyond them. The penalty is
    ``lambda`` times the integral of the squared second derivative. That of least unbiased risk estimator is taken,
    deviance + 2 x effective degrees of freedom (``edf``) (Craven & Wahba 1979), its natural logarithm rounded to three
    decimals. ``log_odds`` are the curve's values at the knots ``at``. It need not be monotone.
    """

    @staticmethod
    def fit(training: Training, *, on: On = "probability", knots: Knots = 10) -> Parameters:
        """Return the spline's knots ``at``, its ``log_odds`` there, its penalty and degrees of freedom."""
        fitted = smooth(events_on(training, on), knots)
        value = np.sum(fitted.smoother.basis[0] * fitted.curve, axis=1)
        return {"on": on, "at": fitted.smoother.at, "log_odds": value, "lambda": fitted.power, "edf": fitted.edf}

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return recalibrated log odds [n], the heights of the curve, of ``at`` on the scale that it is fitted on."""
        at_knots, value = (np.asarray(parameters[name], float) for name in ("at", "log_odds"))
        reach = at_knots[-1] - at_knots[0]
        knots = (at_knots - at_knots[0]) / reach
        x = (at - at_knots[0]) / reach
        inside = np.clip(x, 0.0, 1.0)
        place = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
        pieces = np.sum(_cubic_matrices(knots) * value, axis=-1)
        width = np.diff(knots)
        share = (inside - knots[place]) / width[place]
        constant, linear, square, cubic = pieces[place].T
        heights = constant + share * (linear + share * (square + share * cubic))
        tilt = (pieces[0, 1] / width[0], np.sum(pieces[-1] * np.arange(4)) / width[-1])
        return np.asarray(heights + np.minimum(x, 0) * tilt[0] + np.maximum(x - 1, 0) * tilt[1])

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with a curve read from a file; None where nothing is."""
        at = np.asarray(parameters["at"], float)
        return None if len(at) > 2 and bool(np.all(np.diff(at) > 0)) else "at does not ascend over three knots or more"


@dataclass(frozen=True)
class Smooth:
    """A fitted spline as a linear model of k coordinates, which have the penalty ``size`` [k] on their squares.

    ``curve`` [k] are the fitted coordinates, ``edf`` the effective degrees of freedom and ``penalty`` the natural
    logarithm of the penalty for each unit of weight where the range of predictions is 1.
    """

    smoother: _Smoother
    penalty: float
    curve: Floats
    edf: float

    @property
    def power(self) -> float:
        """The smoothing parameter: the penalty on the integral of the squared second derivative."""
        return math.exp(self.penalty) * self.smoother.weight * self.smoother.reach * self.smoother.reach**2

    @property
    def size(self) -> Floats:
        """The penalty of each coordinate, [k]."""
        return self.smoother.size(self.penalty)

    def design(self, at: Floats) -> Floats:
        """Return the values [g, k] of each coordinate at predictions ``at`` [g] within the range of the knots."""
        knots, pieces = self.smoother.at, self.smoother.basis[1]
        place = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
        share = ((at - knots[place]) / np.diff(knots)[place])[:, None]
        constant, linear, square, cubic = np.moveaxis(pieces[place], 1, 0)
        return np.asarray(constant + share * (linear + share * (square + share * cubic)))


def smooth(table: Events, knots: int = 10) -> Smooth:
    """Fit the spline to a table of events at distinct probabilities, or at distinct log odds.

    Raises `Unfit` where there are too few distinct predictions, or the rows are separated.
    """
    if len(table.at) < knots:
        raise Unfit(f"{len(table.at)} distinct predictions are too few for {knots} knots")
    if separated(table):
        raise Unfit(SEPARATED)
    at = _knots(table, knots)
    if len(at) < 3:
        raise Unfit("nearly all predictions are equal")
    smoother = _Smoother(table, at)
    penalty = smoother.best()
    return Smooth(smoother, penalty, *smoother.curve(penalty))


def _knots(table: Events, knots: int) -> Floats:
    """Return up to ``knots`` of the predictions as knots: the first, the last, and between them parts of equal weight.

    Where a knot would lie too near the one before, the next prediction far enough away is taken, and the weight beyond
    is divided again; so a heavy tie costs no knots as long as there are predictions for them.
    """
    below, at = np.cumsum(table.total), table.at
    least, slack = APART * (at[-1] - at[0]), 1e-9 * below[-1]  # so that no last bit decides
    end = int(np.searchsorted(at, at[-1] - least, side="right"))
    knot_indices = [0]
    for parts in range(knots - 1, 1, -1):
        weight_up_to = below[knot_indices[-1]] + (below[-1] - below[knot_indices[-1]]) / parts
        first_apart = np.searchsorted(at, at[knot_indices[-1]] + least)
        index = max(int(np.searchsorted(below, weight_up_to - slack)), int(first_apart), knot_indices[-1] + 1)
        if max(int(first_apart), knot_indices[-1] + 1) >= end:
            break
        knot_indices.append(min(index, end - 1))
    return np.asarray(at[[*knot_indices, len(at) - 1]])


def _bends(knots: Floats) -> tuple[Floats, Floats]:
    """Return matrices from values at knots to second derivatives, [k, k], and to a root of the penalty, [k - 2, k].

    A natural cubic spline's second derivatives are inv(B) D at the inner knots and 0 at the ends; its integrated square
    is D' inv(B) D (Wood 2017, section 5.3.1), which is the sum of squares of inv(C) D, with B = C C'.
    """
    width, inner = np.diff(knots), len(knots) - 2
    steps, band = np.zeros((inner, inner + 2)), np.zeros((inner, inner))
    for i in range(inner):
        steps[i, i : i + 3] = 1 / width[i], -1 / width[i] - 1 / width[i + 1], 1 / width[i + 1]
        band[i, i] = (width[i] + width[i + 1]) / 3
        if i:
            band[i, i - 1] = band[i - 1, i] = width[i] / 6
    bends = np.vstack([np.zeros(inner + 2), solve(band, steps), np.zeros(inner + 2)])
    return bends, solve_lower(cholesky_factor(band), steps)


def _cubic_matrices(knots: Floats) -> Floats:
    """Return matrices [pieces, 4, k] that map a spline's values at knots to the cubic coefficients of each piece.

    A piece is a cubic in the distance from its left knot, as a share of the distance to its right knot.
    """
    bends, width, unit = _bends(knots)[0], np.diff(knots)[:, None], np.eye(len(knots))
    sixth = width**2 / 6
    left, right = bends[:-1], bends[1:]
    rise = unit[1:] - unit[:-1] - sixth * (2 * left + right)
    return np.stack([unit[:-1], rise, 3 * sixth * left, sixth * (right - left)], axis=1)


@dataclass(frozen=True)
class _Smoother:
    """Penalised fits to one table of events, with knots [k]; the penalty is the natural logarithm of its size.

    A curve is given by coordinates [k] in which the penalty and the information of a flat curve are both diagonal
    (Demmler & Reinsch 1975), two of them, which are lines, without a penalty: no strong penalty then swallows the line.
    """

    table: Events
    at: Floats

    @property
    def reach(self) -> float:
        """The distance from the first knot to the last."""
        return float(self.at[-1] - self.at[0])

    @cached_property
    def weight(self) -> float:
        """The total weight of all rows of the table."""
        return float(np.sum(self.table.total))

    @cached_property
    def basis(self) -> tuple[Floats, Floats, Floats]:
        """The coordinates' values at knots [k, k], cubic coefficients [pieces, 4, k] and roughness [k]."""
        knots = (self.at - self.at[0]) / self.reach
        pieces = _cubic_matrices(knots)
        root = cholesky_factor(self.information(self.table.total / self.weight, pieces))
        inverse = solve_lower(root, np.eye(len(knots))).T
        bent = singular(product(_bends(knots)[1], inverse))
        # The coordinates that are left are lines.
        level, rise = product(np.stack([np.ones(len(knots)), knots]), root)
        level = level / np.sqrt(np.sum(level**2))
        rise = rise - np.sum(rise * level) * level
        turned = np.vstack([bent.vectors, level, rise / np.sqrt(np.sum(rise**2))])
        values = product(inverse, turned.T)
        return values, np.sum(pieces[..., None] * values, axis=2), np.r_[bent.sizes**2, 0.0, 0.0]

    @cached_property
    def starts(self) -> Wholes:
        """The index of the first prediction of each piece; every piece has one, for knots are predictions."""
        return np.searchsorted(self.table.at, self.at[:-1])

    @cached_property
    def place(self) -> Wholes:
        """The index of the piece that each prediction is in, [m]."""
        return np.repeat(np.arange(len(self.starts)), np.diff(np.r_[self.starts, len(self.table.at)]))

    @cached_property
    def share(self) -> Floats:
        """The position of each prediction within its piece, from 0 at the left knot to 1 at the right, [m]."""
        return np.asarray((self.table.at - self.at[self.place]) / np.diff(self.at)[self.place])

    def log_odds(self, curve: Floats) -> Floats:
        """Return the log odds [m] at each prediction of the table, of a curve given by its coordinates [k]."""
        constant, linear, square, cubic = np.sum(self.basis[1] * curve, axis=-1).T
        place, share = self.place, self.share
        return np.asarray(constant[place] + share * (linear[place] + share * (square[place] + share * cubic[place])))

    def moments(self, values: Floats, most: int) -> Floats:
        """Return totals [most + 1, pieces], in each piece, of ``values`` [m] times powers 0 to ``most`` of `share`."""
        totals, product = [], values
        for _ in range(most + 1):
            totals.append(np.add.reduceat(product, self.starts))
            product = product * self.share
        return np.array(totals)

    def information(self, weight: Floats, pieces: Floats) -> Floats:
        """Return the weighted cross-products [k, k] of the coordinates over the predictions, with ``weight`` [m].

        ``pieces`` holds the coordinates' cubic coefficients.
        """
        moments = self.moments(weight, 6)
        products = moments[np.add.outer(np.arange(4), np.arange(4))]
        inner = np.sum(products.transpose(2, 0, 1)[..., None] * pieces[:, None], axis=2)
        return np.asarray(np.sum(pieces[..., None] * inner[:, :, None, :], axis=(0, 1)))

    def size(self, penalty: float) -> Floats:
        """Return the ridge penalty of each coordinate, [k]; ``penalty`` is its natural logarithm."""
        return np.asarray(math.exp(penalty) * self.weight * self.basis[2])

    def curve(self, penalty: float, start: Floats | None = None, *, rough: bool = False) -> tuple[Floats, float]:
        """Return the coordinates [k] of the penalised fit and its degrees of freedom; ``penalty`` is a logarithm.

        The search begins at ``start``; a ``rough`` fit is right to about ten digits, in half of the time.
        """
        table, pieces, size = self.table, self.basis[1], self.size(penalty)

        def value(curve: Floats) -> float:
            """Return the log likelihood of a curve less its penalty."""
            fit = log_likelihood(self.log_odds(curve), table.events, table.others)
            return fit - 0.5 * float(np.sum(size * curve**2))

        def information(probability: Floats) -> Floats:
            return self.information(table.total * probability * (1 - probability), pieces)

        def slope(curve: Floats) -> Slope:
            """Return the gradient of it, by the coordinates of the curve, and the information."""
            probability = expit(self.log_odds(curve))
            missed = self.moments(table.events - table.total * probability, 3).T
            gradient = np.sum(pieces * missed[..., None], axis=(0, 1)) - size * curve
            return Slope(gradient, information(probability) + np.diag(size))

        start = np.zeros(len(size)) if start is None else start
        coordinates = maximise(value, slope, start, self.weight, rough=rough)
        bend = information(expit(self.log_odds(coordinates)))
        return coordinates, float(np.trace(solve(bend + np.diag(size), bend)))

    def best(self) -> float:
        """Return the penalty of least unbiased risk: the best of a coarse search, then a bounded one about it.

        A penalty too weak for the rows to determine the curve is passed over; raises `Unfit` where all are.
        """
        tried, start = [], None
        for penalty in np.arange(STRONGEST, WEAKEST - STRIDE / 2, -STRIDE):
            # Strongest first, each from the fit before it, which is near.
            risk, curve = self.risk(float(penalty), start)
            start = start if curve is None else curve
            tried.append((risk, float(penalty), start))
        risk, middle, start = min(tried, key=lambda attempt: attempt[0])
        if risk == math.inf:
            raise Unfit(UNDETERMINED)
        nearby, risk_there = least_between(lambda penalty: min(self.risk(penalty, start)[0], LARGE),
                                           max(middle - STRIDE, WEAKEST), min(middle + STRIDE, STRONGEST), 1e-4)
        return round(nearby if risk_there <= risk else middle, 3)

    def risk(self, penalty: float, start: Floats | None = None) -> tuple[float, Floats | None]:
        """Return deviance + 2 x degrees of freedom under a penalty, and the curve; infinity and None without a fit."""
        try:
            curve, edf = self.curve(penalty, start, rough=True)  # the penalty of least risk is rounded
        except Unfit:
            return math.inf, None
        return 2 * edf - 2 * log_likelihood(self.log_odds(curve), self.table.events, self.table.others), curve


@dataclass(frozen=True)
class Spread:
    """The rows behind a table of events, where their weights do not count observations or they are not independent.

    ``event`` [n] tells whether each is an event, ``weight`` [n] its weight, ``place`` [n] the index of its prediction
    in the table, ``cluster`` [n] the number of its cluster from 0; None where every row is independent. Where a row
    may be in several clusters, ``totals`` returns the weighted total over each cluster of values of the rows [n].
    """

    event: Floats
    weight: Floats
    place: Wholes
    cluster: Wholes | None = None
    totals: Callable[[Floats], Floats] | None = None

    def scores(self, design: Floats, probability: Floats) -> Floats:
        """Return the sum [k, k] of outer products of the clusters' score vectors: the middle of a sandwich variance.

        ``design`` [m, k] and ``probability`` [m] are the covariates and the fitted probabilities along the table.
        """
        residual = self.event - probability[self.place]
        weighted = self.weight * residual
        if self.totals is not None:
            columns = [self.totals(residual * column[self.place]) for column in design.T]
        elif self.cluster is not None:
            columns = [np.asarray(np.bincount(self.cluster, weighted * column[self.place]), float)
                       for column in design.T]
        else:
            squares = np.asarray(np.bincount(self.place, weighted**2, len(probability)), float)
            return _outer_products(design, squares)
        return _outer_products(np.stack(columns, axis=1))


class BandLine(NamedTuple):
    """A fitted curve at g predictions: its ``log_odds`` and their ``error``, both [g], with its coefficients."""

    log_odds: Floats
    error: Floats
    intercept: float
    slope: float


class BandCurve(NamedTuple):
    """A fitted spline at g predictions: its ``log_odds`` and their ``error``, both [g], and ``edf``.

    ``edf`` are its effective degrees of freedom.
    """

    log_odds: Floats
    error: Floats
    edf: float


def logistic_line(table: Events, at: Floats, spread: Spread | None = None) -> BandLine:
    """Fit log odds = intercept + slope x logit p to a table of events by p; return it at probabilities ``at`` [g].

    The error is that of maximum likelihood, from the inverse of the information; with ``spread``, from the sandwich
    (Huber 1967; White 1982), not corrected for few rows. Raises `Unfit` where the fit does not exist.
    """
    require_distinct(table.at, 2, "a slope")
    if separated(table):
        raise Unfit(SEPARATED)
    x = logit(table.at)
    intercept, slope = logistic_fit([x], table.events, table.others)
    probability = expit(intercept + slope * x)
    # Centred and of length 1: the same errors, with fewer digits lost in the inverse.
    middle, scale = np.average(x, weights=table.total), np.ptp(x)
    design, design_at = (np.stack([np.ones_like(v), (v - middle) / scale], axis=1) for v in (x, logit(at)))
    error = _standard_errors(table, design, design_at, probability, np.zeros(2), spread)
    return BandLine(intercept + slope * logit(at), error, float(intercept), float(slope))


def logistic_spline(table: Events, at: Floats, spread: Spread | None = None) -> BandCurve:
    """Fit the recalibrator `LogisticSpline` on the logit; return its log odds at probabilities ``at`` [g].

    The error is from the posterior covariance of the penalised fit, inv(X'WX + S), which takes the bias of the penalty
    into account, so that bands cover on average over the curve (Wood 2017, sections 4.2.4 and 6.10). With ``spread``,
    the rows' own scores stand between two such inverses in place of X'WX. Raises `Unfit` where the fit does not exist.
    """
    fit: Smooth = smooth(table._replace(at=logit(table.at)))
    probability = expit(fit.smoother.log_odds(fit.curve))
    design_at = fit.design(logit(at))
    error = _standard_errors(table, fit.design(logit(table.at)), design_at, probability, fit.size, spread)
    return BandCurve(np.sum(design_at * fit.curve, axis=1), error, fit.edf)


def _standard_errors(
    table: Events, design: Floats, design_at: Floats, probability: Floats, penalty: Floats, spread: Spread | None
) -> Floats:
    """Return the standard errors [g] of log odds at ``design_at`` [g, k], with a ``penalty`` [k] on the coefficients.

    They are from the inverse information of the ``design`` [m, k] of the table, or with ``spread`` from the sandwich.
    """
    information = _outer_products(design, table.total * probability * (1 - probability)) + np.diag(penalty)
    reach = solve(information, design_at.T)
    if spread is None:
        return np.asarray(np.sqrt(np.sum(design_at.T * reach, axis=0)))
    middle = spread.scores(design, probability) + np.diag(penalty)
    return np.asarray(np.sqrt(np.sum(reach * np.sum(middle[:, :, None] * reach, axis=1), axis=0)))


def _outer_products(design: Floats, weight: Floats | None = None) -> Floats:
    """Return the sum [k, k] of the outer products of the rows of ``design`` [m, k], with weights [m].

    No library splits the sum among threads, so that its bits do not change.
    """
    right = design if weight is None else design * weight[:, None]
    return np.array([np.sum(column[:, None] * right, axis=0) for column in design.T])
