"""Totals that tell how well one rate for all rows predicts their truths: the model that shares of a loss start from.

The constant rate of a loss is the one that makes it smallest. It predicts itself times the row's exposure; where no
exposure is declared, every row has one of 1 and the rate is a mean or a quantile. Exposures are relative to their mean,
so that their unit changes nothing. For a Tweedie deviance of power p, the loss of rate r is that of the truths per unit
of exposure with weights of exposure to the power 2 - p, so the best r is the mean under these: a squared residual has
power 0, a Poisson deviance power 1 (Jorgensen 1987).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import functions
from evalpipe.statistics.residuals import logarithm, possible
from evalpipe.statistics.summary import column, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics.number_rows import NumberRows
    from evalpipe.statistics.summary import Summary


@table
def rate_moments(summary: Summary) -> Floats:
    """Totals of exposure, of truth less the plain rate's prediction, and of the square of that over the exposure.

    Shape [..., 3]: the moments of the truths per unit of exposure, each weighted by its exposure.
    """
    rows = summary.rows
    terms = (rows.relative_exposure, rows.excess, rows.excess**2 / rows.relative_exposure)
    return np.stack([(summary.weights * term).sum(axis=-1) for term in terms], axis=-1)


@column
def squared_exposure(rows: NumberRows) -> Floats:
    """Squared exposure."""
    return rows.relative_exposure**2


@column
def exposed_excess(rows: NumberRows) -> Floats:
    """Truth less the plain rate's prediction, times the exposure."""
    return rows.relative_exposure * rows.excess


@column
def squared_excess(rows: NumberRows) -> Floats:
    """Squared distance of truth and the plain rate's prediction."""
    return rows.excess**2


@column
def rate_information(rows: NumberRows) -> Floats:
    """Truth times the natural logarithm of truth per unit of exposure, zero where the truth is zero or less."""
    return rows.truth * logarithm(rows.truth / rows.relative_exposure)


@column
def tweedie_exposure(rows: NumberRows, *, power: float) -> Floats:
    """Exposure to the power 2 - ``power``."""
    return np.asarray(functions.power(rows.relative_exposure, 2 - power))


@column
def tweedie_truth(rows: NumberRows, *, power: float) -> Floats:
    """Truth times the exposure to the power 1 - ``power``."""
    return np.asarray(rows.truth * functions.power(rows.relative_exposure, 1 - power))


@column
def tweedie_transformed(rows: NumberRows, *, power: float) -> Floats:
    """Box-Cox transform by 2 - ``power`` of the truth per unit of exposure, times the exposure to that power.

    Nothing where the truth has no Tweedie deviance.
    """
    rate = np.where(possible(rows.truth, power), rows.truth / rows.relative_exposure, 1.0)
    return np.asarray(functions.power(rows.relative_exposure, 2 - power) * functions.boxcox(rate, 2 - power))


@table
def rate_at(summary: Summary) -> Floats:
    """Exposure at each distinct truth per unit of exposure."""
    return np.asarray(summary.rows.by_rate.totals(summary.weights * summary.rows.relative_exposure))


@table
def rate_total(summary: Summary) -> Floats:
    """Total of the truths, less the plain rate's prediction, at each of them."""
    return np.asarray(summary.rows.by_rate.totals(summary.weights * summary.rows.excess))
