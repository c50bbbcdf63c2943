"""Curves of numbers: residuals, which probabilities may have too, observed against predicted, the rootogram of counts.

All start from cells of equal prediction and truth, so no curve depends on the order of rows, and a row of weight two is
two rows. What is stored is bounded, however many rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log
from evalpipe.base import constants
from evalpipe.engine.curves import residual_tests
from evalpipe.engine.curves.declare import Computed, CurveRows, Kind, curve
from evalpipe.engine.curves.residual_tests import smooth
from evalpipe.intervals.bootstrap import kish
from evalpipe.results.curves import Notes, residuals
from evalpipe.results.curves.declare import Thinned
from evalpipe.statistics.rows import Groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Flags, Floats, Wholes


POINTS, VERTICES = 400, 500
"""The most points of a scatter, and of the distribution of absolute residuals."""

BINS = 25
RESIDUALS: tuple[Kind, ...] = ("numbers", "event", "levels")
LAST_COUNT = 40
"""The last count of a rootogram that has a bin; it takes what lies above."""

ROUNDING = 1e-13
SHARES = np.arange(11) / 10


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct pairs of prediction and truth, ascending, with the weight of each; arrays of shape [m]."""

    predicted: Floats
    truth: Floats
    weight: Floats

    @classmethod
    def of(cls, rows: CurveRows) -> Cells:
        """Gather the rows that have weight; of events, the truth is 1 or 0 and the prediction the probability.

        Of several levels it is the probability of the true one, beside a truth of 1, as in R's DALEX.
        """
        model_rows = rows.summary.rows
        if rows.kind == "event":
            predicted, truth = model_rows.event_probability, np.asarray(model_rows.truth, float)
        elif rows.kind == "levels":
            predicted, truth = model_rows.true_probability, np.ones(len(model_rows.truth))
        else:
            predicted, truth = model_rows.predicted, model_rows.truth
        return cls(*gather(rows.summary.weights, predicted, truth))

    @property
    def residual(self) -> Floats:
        """Truth less prediction."""
        return self.truth - self.predicted


def gather(weights: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the distinct pairs of two values [n] of rows with weight, and each pair's weight, all [m].

    Pairs ascend, by the first value and then the second.
    """
    kept = np.flatnonzero(weights > 0)
    first, second, weights = first[kept], second[kept], weights[kept]
    if not len(kept):
        return first, second, weights
    groups = Groups.by(first, second)
    first_rows = groups.order[groups.starts]
    return first[first_rows], second[first_rows], groups.totals(weights)


class Residuals(NamedTuple):
    """The cells of a model of numbers, with its distinct residuals and absolute residuals, and the weight of each."""

    cells: Cells
    plain: tuple[Floats, Floats]
    sizes: tuple[Floats, Floats]

    @classmethod
    def of(cls, rows: CurveRows) -> Residuals | None:
        """Return the residuals of the rows that have weight; None where none has."""
        cells = Cells.of(rows)
        if not len(cells.weight):
            return None
        return cls(cells, distinct(cells.residual, cells.weight), distinct(np.abs(cells.residual), cells.weight))


def _with_residuals(
    compute: Callable[[Residuals, CurveRows], Computed | None]
) -> Callable[[CurveRows], Computed | None]:
    """Wrap ``compute``, a function of residuals and rows, into a function of rows alone, as `curve` declares it.

    The residuals are gathered once for all curves; the wrapped function returns None where there are none.
    """
    def computed(rows: CurveRows) -> Computed | None:
        gathered = rows.once(Residuals.of)
        return None if gathered is None else compute(gathered, rows)

    return computed


@curve(residuals.ResidualQuantiles, of=RESIDUALS, needs="residuals")
@_with_residuals
def residual_quantiles(gathered: Residuals, rows: CurveRows) -> Computed:
    """Compute the deciles of residuals and of absolute residuals."""
    return deciles(rows, gathered.plain, gathered.sizes), residuals.ResidualQuantileNotes(quantile_type=7)


def deciles(rows: CurveRows, plain: tuple[Floats, Floats], sizes: tuple[Floats, Floats]) -> dict[str, Floats]:
    """Return the deciles of residuals and of absolute residuals, as columns of a curve.

    ``plain`` and ``sizes`` are the two, both as distinct values [m], ascending, and the weights of these [m].
    """
    total = plain[1].sum()
    rows_per_weight = np.count_nonzero(rows.summary.weights) / total if rows.sample.weight_kind == "importance" else 1.0
    residual, absolute = (
        interpolated_quantiles(values, weight * rows_per_weight, SHARES) for values, weight in (plain, sizes))
    return {"share": SHARES, "residual": residual, "absolute_residual": absolute}


class Quartiles(NamedTuple):
    """The quartiles of absolute residuals, and whether each of these [m] lies beyond the whiskers."""

    quartiles: Floats
    beyond: Flags

    @classmethod
    def of(cls, sizes: Floats, weights: Floats) -> Quartiles:
        """Return the quartiles of ascending absolute residuals [m], and which of these lie beyond the whiskers."""
        quartiles = quantiles(sizes, weights, np.array([0.25, 0.5, 0.75]))
        reach = constants.WHISKERS * (quartiles[2] - quartiles[0])
        return cls(quartiles, (sizes < quartiles[0] - reach) | (sizes > quartiles[2] + reach))


@curve(residuals.ResidualBox, of=RESIDUALS, needs="residuals")
@_with_residuals
def residual_box(gathered: Residuals, _: CurveRows) -> Computed:
    """Compute the box plot of absolute residuals."""
    sizes, weights = gathered.sizes
    box = Quartiles.of(sizes, weights)
    within, total = sizes[~box.beyond], weights.sum()
    lower, median, upper = box.quartiles[:, None]
    points = {"lower_whisker": within[:1], "lower_quartile": lower, "median": median, "upper_quartile": upper,
              "upper_whisker": within[-1:]}
    rmse, mean = np.sqrt((weights * sizes**2).sum() / total), (weights * sizes).sum() / total
    return points, residuals.ResidualBoxNotes(
        rmse=float(rmse), mean=float(mean), outliers=float(weights[box.beyond].sum()))


@curve(residuals.ResidualOutliers, of=RESIDUALS, needs="residuals")
@_with_residuals
def residual_outliers(gathered: Residuals, _: CurveRows) -> Computed | None:
    """Return the largest absolute residuals beyond the whiskers; None where there are none."""
    sizes, weights = gathered.sizes
    is_beyond = Quartiles.of(sizes, weights).beyond
    if not is_beyond.any():
        return None
    count, most = int(is_beyond.sum()), constants.OUTLIERS
    points = {"absolute_residual": sizes[is_beyond][-most:], "weight": weights[is_beyond][-most:]}
    return points, Thinned(points_of=count if count > most else None)


@curve(residuals.ResidualHistogram, of=RESIDUALS, needs="residuals")
@_with_residuals
def residual_histogram(gathered: Residuals, _: CurveRows) -> Computed:
    """Total the weights in bins of equal width; residuals that are all the same lie in the middle one."""
    values, weights = gathered.plain
    size = np.abs(values).max()
    width = max(values[-1] - values[0], 1e-9 * size) or 1.0  # narrower bins would drown in rounding
    start = (values[0] + values[-1] - width) / 2
    bin_index = np.clip(np.floor((values - start) / width * BINS), 0, BINS - 1).astype(np.intp)
    edges, total = start + np.arange(BINS + 1) * (width / BINS), np.bincount(bin_index, weights=weights, minlength=BINS)
    return {"low": edges[:-1], "high": edges[1:], "weight": total}, Notes()


@curve(residuals.ResidualEcdf, of=RESIDUALS, needs="residuals")
@_with_residuals
def residual_ecdf(gathered: Residuals, _: CurveRows) -> Computed:
    """Compute the share of the rows with a larger absolute residual, from zero up to the largest."""
    sizes, weights = gathered.sizes
    if sizes[0] > 0:  # the curve begins at zero with all rows above
        sizes, weights = np.r_[0.0, sizes], np.r_[0.0, weights]
    above = np.cumsum(weights[::-1])[::-1]
    share = np.r_[above[1:], 0.0] / above[0]
    kept = np.unique(np.round(np.linspace(0, len(sizes) - 1, VERTICES)).astype(np.intp))
    points = {"absolute_residual": sizes[kept], "share_above": share[kept]}
    return points, Thinned(points_of=None if len(kept) == len(sizes) else len(sizes))


@curve(residuals.ObservedPredicted, of=("numbers",), needs="values")
@_with_residuals
def observed_predicted(gathered: Residuals, _: CurveRows) -> Computed:
    """Choose rows for a scatter of the truth against the predictions, and fit a line to all."""
    cells, kept, thinned = gathered.cells, *scatter_indices(gathered.cells.weight)
    line = residual_tests.least_squares(cells.predicted, cells.truth, cells.weight) or (None, None)
    notes = residuals.ObservedNotes(points_of=thinned.points_of, slope=line[0], intercept=line[1])
    return {"predicted": cells.predicted[kept], "observed": cells.truth[kept]}, notes


@curve(residuals.ObservedPredictedSmooth, of=("numbers",), needs="values")
@_with_residuals
def observed_smooth(gathered: Residuals, _: CurveRows) -> Computed:
    """Compute a smooth line through the truth along the predictions."""
    cells = gathered.cells
    predicted, line, notes = smooth(cells.predicted, cells.truth, cells.weight)
    return {"predicted": predicted, "observed": line}, notes


@curve(residuals.ResidualPredicted, of=("numbers",), needs="values")
@_with_residuals
def residual_predicted(gathered: Residuals, rows: CurveRows) -> Computed:
    """Choose rows for a scatter of residuals against predictions; test the residuals where rows are independent."""
    cells, kept, thinned = gathered.cells, *scatter_indices(gathered.cells.weight)
    points = {"predicted": cells.predicted[kept], "residual": cells.residual[kept]}
    independent = independent_rows(rows)
    line = None if independent is None else (
        residual_tests.AboutLine.of(cells.predicted, cells.truth, cells.weight, independent))
    statistics: dict[str, float] = {}
    if line is not None:
        tests = {"curve": residual_tests.curvature(line)}
        if rows.sample.task == "regression":
            tests |= {"fan": residual_tests.fan_test(line), "peak": residual_tests.peaks(line)}
            statistics |= zip(("spread_low", "spread_high"), residual_tests.residual_spreads(line), strict=True)
        for name, test in tests.items():
            statistics |= {} if test is None else {f"{name}_statistic": test.statistic, f"{name}_p_value": test.p_value}
    return points, residuals.ResidualTests(points_of=thinned.points_of, **statistics)


def independent_rows(rows: CurveRows) -> float | None:
    """Return the number of independent rows, effective ones under importance weights; None where rows are clustered."""
    if rows.sample.cluster is not None:
        return None
    weights = np.asarray(rows.summary.weights, float)
    return float(kish(weights)) if rows.sample.weight_kind == "importance" else float(weights.sum())


@curve(residuals.ResidualPredictedSmooth, of=("numbers",), needs="values")
@_with_residuals
def residual_smooth(gathered: Residuals, _: CurveRows) -> Computed:
    """Compute a smooth line through the residuals along the predictions."""
    cells = gathered.cells
    predicted, line, notes = smooth(cells.predicted, cells.residual, cells.weight)
    return {"predicted": predicted, "residual": line}, notes


def scatter_indices(weight: Floats) -> tuple[Wholes, Thinned]:
    """Return the indices of at most `POINTS` cells for a scatter plot, and the number of all cells if more.

    They are evenly spaced along the cumulated ``weight`` [m].
    """
    m = len(weight)
    if m <= POINTS:
        return np.arange(m), Thinned()
    running = np.cumsum(weight)
    kept = np.unique(np.searchsorted(running, running[-1] * (np.arange(POINTS) + 0.5) / POINTS))
    return kept, Thinned(points_of=None if len(kept) == m else m)


def distinct(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values of ``values`` [n], ascending, and the total weight of each, both [m]."""
    groups = Groups.by(values)
    return values[groups.order[groups.starts]], groups.totals(weights)


def quantiles(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the quantiles at ``shares`` [k] of ascending ``values`` [m] with weights (R's type 2).

    They are the inverse of the distribution, averaged at its jumps. Of the definitions in use it is the one that
    agrees with the median, depends on the weights' proportions alone, and takes a row of weight two for two rows
    (Hyndman & Fan 1996).
    """
    running = np.cumsum(weights)
    # A sum of weights that is the share of the total but for rounding is that share.
    low, high = (np.searchsorted(running, running[-1] * (shares + r), "left") for r in (-ROUNDING, ROUNDING))
    last = len(values) - 1
    return np.asarray((values[np.minimum(low, last)] + values[np.minimum(high, last)]) / 2)


def interpolated_quantiles(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the quantiles at ``shares`` [k] of ascending values [m], interpolated between rows (R's type 7).

    ``weights`` count rows: one of weight two is two rows, and the quantiles lie at (n - 1) times the share
    (Hyndman & Fan 1996).
    """
    running = np.cumsum(weights)
    position = (running[-1] - 1).clip(0) * shares
    floor = np.floor(position + ROUNDING * np.maximum(running[-1], 1))
    low, high = (np.searchsorted(running, floor + step, "right").clip(max=len(values) - 1) for step in (0, 1))
    fraction = (position - floor).clip(0)
    return np.asarray(values[low] + fraction * (values[high] - values[low]))


@curve(residuals.Rootogram, of=("numbers",), needs="values")
@_with_residuals
def rootogram(gathered: Residuals, rows: CurveRows) -> Computed | None:
    """Compute how many rows have each count, and how many would if counts were Poisson about their predictions."""
    from scipy.special import gammaln, pdtrc

    if rows.sample.task != "count":
        return None
    cells = gathered.cells
    counts, observed = np.arange(min(cells.truth.max(), LAST_COUNT) + 1), cells.truth
    last = counts[-1]
    predicted, weights = distinct(cells.predicted, cells.weight)
    expected = [(weights * exp(k * log(predicted) - predicted - gammaln(k + 1))).sum() for k in counts]
    # Where counts lie beyond the last bin it holds them, observed and expected alike.
    expected_above, has_more = float((weights * pdtrc(last, predicted)).sum()), bool(observed.max() > last)
    if has_more:
        expected[-1] += expected_above
    weight = np.bincount(np.minimum(observed, last).astype(np.intp), weights=cells.weight, minlength=len(counts))
    points = {"count": counts, "observed": weight, "expected": np.array(expected)}
    independent = independent_rows(rows)
    zeros = None if independent is None else residual_tests.zeros(
        cells.truth, cells.predicted, cells.weight, independent)
    return points, residuals.RootogramNotes(
        last_or_more=has_more, expected_above=0.0 if has_more else expected_above,
        zeros_statistic=None if zeros is None else zeros.statistic,
        zeros_p_value=None if zeros is None else zeros.p_value)
