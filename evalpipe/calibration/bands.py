"""Calibration curves with the errors of their log odds: a logistic line and a penalised spline, both on the logit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.arithmetic.functions import expit
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Unfit
from evalpipe.calibration.logistic import SEPARATED
from evalpipe.calibration.newton import logistic_fit, solve
from evalpipe.calibration.scales import Events, demand_distinct, logit, separated
from evalpipe.calibration.spline import Smooth, smooth

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats, Wholes


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
        """Return the total over clusters of the outer products of their score vectors, [k, k]: a sandwich's middle.

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
    demand_distinct(table.at, 2, "a slope")
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
    """Return the sum [k, k] of the outer products of rows [m, k], weighted [m]; no library splits it among threads."""
    right = design if weight is None else design * weight[:, None]
    return np.array([np.sum(column[:, None] * right, axis=0) for column in design.T])
