"""How far the logistic line of rows may be from that of the cells that they were counted in.

The line of the cells solves the equations of the likelihood; in those of the rows it leaves a rest that the ends of the
cells bound. The information of the rows bounds how far away their solution is, for the logistic likelihood is
self-concordant: Bach (2010), Self-concordant analysis for logistic regression, proposition 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import exp, log, log1p
from evalpipe.metrics.logistic import rates
from evalpipe.statistics.rows import present
from evalpipe.statistics.scores import CLIPPED

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics import Summary


class _CentredCells(NamedTuple):
    """The log odds of cells, less their mean ``middle`` in their standard deviation ``unit``.

    ``z`` [n] are those that the line was fitted to, ``low`` and ``high`` [n] the ends of the cells.
    """

    middle: float
    unit: float
    z: Floats
    low: Floats
    high: Floats

    @property
    def width(self) -> Floats:
        """How far rows may be from where they were taken, [n]."""
        return np.maximum(self.z - self.low, self.high - self.z)


def line_errors(summary: Summary) -> tuple[float, float]:
    """Return how far intercept and slope of rows may be from those of cells; infinite where it is not known."""
    cells, weight, (intercept, slope) = _cells(summary), summary.floats, summary("calibration_line")
    # The line in centred log odds of unit spread, whose two equations are nearly apart.
    bend, start = slope * cells.unit, intercept + slope * cells.middle
    chance, *ends = (rates(start + bend * x).event for x in (cells.z, cells.low, cells.high))
    information, steeper = weight * chance * (1 - chance), exp(np.abs(bend) * cells.width)
    terms = [total.sum() for total in (information, information * cells.z, information * cells.z**2)]
    inverse = np.array([[terms[2], -terms[1]], [-terms[1], terms[0]]]) / (terms[0] * terms[2] - terms[1] ** 2)
    # What is left of the information, at worst, where rows lie at the ends of their cells.
    lost = np.sqrt(inverse[1, 1] * (information * cells.width**2).sum())
    kept = float(max(1 - lost, 0.0) ** 2 / steeper.max())
    if not kept > 0:
        return np.inf, np.inf
    inverse /= kept
    off, missed = (np.max([np.abs(end - of) for end in ends], axis=0) for of in (chance, summary.rows.truth))
    away = np.maximum(np.abs(cells.low), np.abs(cells.high))
    moved = (np.abs(bend) * information * steeper * away + weight * missed) * cells.width
    rest = np.array([(weight * off).sum(), moved.sum()])
    step = np.sqrt((np.abs(inverse) * np.outer(rest, rest)).sum())
    reach = max(_length(inverse, x) for x in (cells.low.min(), cells.high.max()))
    if not reach * step < 1:
        return np.inf, np.inf
    longest = float(-log1p(-reach * step) / reach)
    return longest * _length(inverse, -cells.middle / cells.unit), longest * np.sqrt(inverse[1, 1]) / cells.unit


def widest(summary: Summary) -> float:
    """Return the width of the widest cell in standard deviations of the log odds; 0 where no cell has any."""
    low, high = (_log_odds(end) for end in present(summary.rows.ends, "ends of cells").T)
    width = float((high - low).max(initial=0.0))
    return width / _cells(summary).unit if width > 0 else 0.0


def _cells(summary: Summary) -> _CentredCells:
    rows, weight = summary.rows, summary.floats
    fitted = _log_odds(rows.chance_at[np.searchsorted(rows.distinct, rows.scored)])
    low, high = (_log_odds(end) for end in present(rows.ends, "ends of cells").T)
    middle = float((weight * fitted).sum() / weight.sum())
    unit = float(np.sqrt((weight * (fitted - middle) ** 2).sum() / weight.sum()))
    ends = np.minimum(low, fitted), np.maximum(high, fitted)
    return _CentredCells(middle, unit, *((x - middle) / unit for x in (fitted, *ends)))


def _length(inverse: Floats, x: float) -> float:
    """Return the length of the row (1, ``x``) by the inverse of the information."""
    return float(np.sqrt(inverse[0, 0] + 2 * inverse[0, 1] * x + inverse[1, 1] * x**2))


def _log_odds(chances: Floats) -> Floats:
    return np.asarray(log(np.maximum(chances, CLIPPED)) - log(np.maximum(1 - chances, CLIPPED)))
