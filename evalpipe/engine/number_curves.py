"""Curves of one model of numbers: its residuals, observed against predicted, and the rootogram of counts.

All start from cells of equal prediction and truth, so no curve depends on the order of rows, and a row of weight two is
two rows. What is stored is bounded, however many rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe import constants
from evalpipe.engine.points import Notes, Points, listed
from evalpipe.statistics.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.statistics import Summary


POINTS, VERTICES = 400, 500
"""The most points of a scatter, and of the distribution of absolute residuals."""

BINS = 25
LAST_COUNT = 40
"""The last count of a rootogram that has a bin; it takes what lies above."""

GROUPS = 200
"""The most groups that a smooth line is drawn through, and the fewest that are smoothed."""
FEWEST = 5
APART = 1e-3
"""How far apart groups lie at least, as a share of the range; the spline is ill-conditioned where they almost meet."""

PENALTIES = np.geomspace(1e-8, 1, 33)
"""Roughness penalties tried, for a range of one and per unit of weight: from almost none to a straight line."""

CAUTION = 1.4
"""What a degree of freedom costs in cross-validation; at its plain cost of one, it now and then follows noise."""

ROUNDING = 1e-13
SHARES = np.arange(11) / 10


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct pairs of prediction and truth, ascending, with the weight of each; arrays of shape [m]."""

    predicted: Floats
    truth: Floats
    weight: Floats

    @classmethod
    def of(cls, summary: Summary) -> Cells:
        """Gather the rows that have weight."""
        kept = np.flatnonzero(summary.weights > 0)
        predicted, truth, weight = (x[kept] for x in (summary.rows.predicted, summary.rows.truth, summary.weights))
        if not len(kept):
            return cls(predicted, truth, weight)
        groups = Groups.by(predicted, truth)
        first = groups.order[groups.starts]
        return cls(predicted[first], truth[first], groups.totals(weight))

    @property
    def residual(self) -> Floats:
        """Truth less prediction."""
        return self.truth - self.predicted


def number_curves(sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the curves of a model whose outcome is a number; ``summary`` has one row of weights, shape [n]."""
    cells = Cells.of(summary)
    if not len(cells.weight):
        return
    residuals, sizes = (_distinct(values, cells.weight) for values in (cells.residual, np.abs(cells.residual)))
    each = np.count_nonzero(summary.weights) / cells.weight.sum() if sample.weight_kind == "importance" else 1.0
    plain, absolute = (interpolated(values, weight * each, SHARES) for values, weight in (residuals, sizes))
    yield "residual_quantiles", listed(share=SHARES, residual=plain, absolute_residual=absolute), {"quantile_type": 7}
    yield from _box(*sizes)
    yield "residual_histogram", _histogram(*residuals), {}
    yield "residual_ecdf", *_ecdf(*sizes)
    shown = _spread(cells.weight)
    notes: Notes = {} if len(shown) == len(cells.weight) else {"points_of": len(cells.weight)}
    for name, values in (("observed", cells.truth), ("residual", cells.residual)):
        curve = "observed_predicted" if name == "observed" else "residual_predicted"
        yield curve, listed(**{"predicted": cells.predicted[shown], name: values[shown]}), notes
        at, line, smoothing = smooth(cells.predicted, values, cells.weight)
        yield f"{curve}_smooth", listed(**{"predicted": at, name: line}), smoothing
    if sample.task == "count":
        yield "rootogram", *_rootogram(cells)


def _distinct(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values, ascending, and the weight of each."""
    groups = Groups.by(values)
    return values[groups.order[groups.starts]], groups.totals(weights)


def quantiles(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return quantiles of ascending values: the inverse of their distribution, averaged at its jumps (R's type 2).

    Of the definitions in use it is the one that agrees with the median, depends on the weights' proportions alone, and
    takes a row of weight two for two rows (Hyndman & Fan 1996).
    """
    running = np.cumsum(weights)
    # A sum of weights that is the share of the total but for rounding is that share.
    low, high = (np.searchsorted(running, running[-1] * (shares + r), "left") for r in (-ROUNDING, ROUNDING))
    last = len(values) - 1
    return np.asarray((values[np.minimum(low, last)] + values[np.minimum(high, last)]) / 2)


def interpolated(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return quantiles of ascending values, interpolated between rows as most software does (R's type 7).

    ``weights`` count rows: one of weight two is two rows, and the quantiles lie at (n - 1) times the share (Hyndman &
    Fan 1996).
    """
    running = np.cumsum(weights)
    at = (running[-1] - 1).clip(0) * shares
    whole = np.floor(at + ROUNDING * np.maximum(running[-1], 1))
    low, high = (np.searchsorted(running, whole + step, "right").clip(max=len(values) - 1) for step in (0, 1))
    part = (at - whole).clip(0)
    return np.asarray(values[low] + part * (values[high] - values[low]))


def _box(sizes: Floats, weights: Floats) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the box plot of absolute residuals, and those beyond its whiskers."""
    lower, median, upper = quantiles(sizes, weights, np.array([0.25, 0.5, 0.75]))
    reach = constants.WHISKERS * (upper - lower)
    beyond = (sizes < lower - reach) | (sizes > upper + reach)
    within, total = sizes[~beyond], weights.sum()
    box = {
        "lower_whisker": within[0], "lower_quartile": lower, "median": median, "upper_quartile": upper,
        "upper_whisker": within[-1],
    }
    rmse, mean = np.sqrt((weights * sizes**2).sum() / total), (weights * sizes).sum() / total
    notes: Notes = {"rmse": float(rmse), "mean": float(mean), "outliers": float(weights[beyond].sum())}
    yield "residual_box", listed(**{name: np.array([value]) for name, value in box.items()}), notes
    if beyond.any():
        most, count = constants.OUTLIERS, int(beyond.sum())
        largest = listed(absolute_residual=sizes[beyond][-most:], weight=weights[beyond][-most:])
        yield "residual_outliers", largest, {"points_of": count} if count > most else {}


def _histogram(residuals: Floats, weights: Floats) -> Points:
    """Total the weights in bins of equal width; residuals that are all the same lie in the middle one."""
    size = np.abs(residuals).max()
    width = max(residuals[-1] - residuals[0], 1e-9 * size) or 1.0
    start = (residuals[0] + residuals[-1] - width) / 2
    place = np.clip(np.floor((residuals - start) / width * BINS), 0, BINS - 1).astype(np.intp)
    edges = start + np.arange(BINS + 1) * (width / BINS)
    return listed(low=edges[:-1], high=edges[1:], weight=np.bincount(place, weights=weights, minlength=BINS))


def _ecdf(sizes: Floats, weights: Floats) -> tuple[Points, Notes]:
    """Return the share of the rows with a larger absolute residual, from zero up to the largest."""
    if sizes[0] > 0:
        sizes, weights = np.r_[0.0, sizes], np.r_[0.0, weights]
    above = np.cumsum(weights[::-1])[::-1]
    share = np.r_[above[1:], 0.0] / above[0]
    kept = np.unique(np.round(np.linspace(0, len(sizes) - 1, VERTICES)).astype(np.intp))
    notes: Notes = {} if len(kept) == len(sizes) else {"points_of": len(sizes)}
    return listed(absolute_residual=sizes[kept], share_above=share[kept]), notes


def _spread(weights: Floats) -> Wholes:
    """Choose cells for a scatter, evenly by weight from the lowest prediction to the highest; all where few."""
    if len(weights) <= POINTS:
        return np.arange(len(weights))
    running = np.cumsum(weights)
    return np.unique(np.searchsorted(running, running[-1] * (np.arange(POINTS) + 0.5) / POINTS))


def smooth(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, Notes]:
    """Return predictions and the smooth mean of ``values`` there; ``predicted`` [m] ascends.

    A cubic smoothing spline through the means of groups of near predictions, its penalty chosen by generalised
    cross-validation (Craven & Wahba 1979, with the caution of Kim & Gu 2004); where there are fewer than `FEWEST`
    groups, these means themselves.
    """
    from scipy.interpolate import make_smoothing_spline

    x, y, w = _groups(predicted, values, weights)
    notes: Notes = {"groups": len(x), "smoothed": len(x) >= FEWEST}
    if len(x) < FEWEST:
        return x, y, notes
    place, weight, middle = (x - x[0]) / (x[-1] - x[0]), w / w.mean(), np.average(y, weights=w)
    # SciPy's own search is along a linear scale and, with few rows, ends at a straight line whatever they show.
    penalty = _penalty(place, y - middle, weight)
    # Only where there are rows: between distant groups a spline swings wide of what is known.
    return x, middle + make_smoothing_spline(place, y - middle, weight, lam=penalty)(place), notes


def _groups(predicted: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean prediction, mean value and weight of groups of equal weight that never split equal predictions."""
    start = np.flatnonzero(np.r_[True, predicted[1:] != predicted[:-1]])
    at = np.add.reduceat(weights, start)
    group = (GROUPS * (np.cumsum(at) - at) / at.sum()).astype(np.intp)
    start = start[np.r_[True, group[1:] != group[:-1]]]
    # About their own levels, so that the means of large numbers close to each other stay apart.
    low, middle = predicted[0], np.average(values, weights=weights)
    totals = np.array([np.add.reduceat(weights * x, start) for x in (predicted - low, values - middle, 1.0)])
    far: list[Floats] = []
    least = APART * (predicted[-1] - low)
    for each in totals.T:
        if far and each[0] / each[2] - far[-1][0] / far[-1][2] < least:
            far[-1] = far[-1] + each
        else:
            far.append(each)
    x, y, weight = np.array(far).T
    return low + x / weight, middle + y / weight, weight


def _penalty(x: Floats, y: Floats, w: Floats) -> float:
    """Return the penalty whose spline has the least weighted mean square over (1 - `CAUTION` x trace / n) squared.

    In the basis of Demmler & Reinsch (1975) the spline shrinks each coordinate by 1 / (1 + penalty x roughness). The
    penalties tried are fixed, so the last bits of the linear algebra cannot show in the line.
    """
    n, gap = len(x), np.diff(x)
    differences, inner = np.zeros((n, n - 2)), np.zeros((n - 2, n - 2))
    j = np.arange(n - 2)
    differences[j, j], differences[j + 2, j] = 1 / gap[:-1], 1 / gap[1:]
    differences[j + 1, j] = -1 / gap[:-1] - 1 / gap[1:]
    inner[j, j] = (gap[:-1] + gap[1:]) / 3
    inner[j[1:], j[:-1]] = inner[j[:-1], j[1:]] = gap[1:-1] / 6
    scaled = differences / np.sqrt(w)[:, None]
    roughness, basis = np.linalg.eigh(scaled @ np.linalg.solve(inner, scaled.T))
    roughness[:2] = 0.0  # straight lines, but for rounding
    penalties = n * PENALTIES
    removed = 1 - 1 / (1 + penalties[:, None] * np.maximum(roughness, 0))
    left = ((removed * (basis.T @ (np.sqrt(w) * y))) ** 2).sum(axis=1)
    spare = n - CAUTION * (n - removed.sum(axis=1))
    scores = np.where(spare > 0, left / np.where(spare > 0, spare, 1.0) ** 2, np.inf)
    return float(penalties[scores.argmin()])


def _rootogram(cells: Cells) -> tuple[Points, Notes]:
    """Return how many rows have each count, and how many would if counts were Poisson about their predictions."""
    from scipy.special import gammaln, pdtrc

    counts, observed = np.arange(min(cells.truth.max(), LAST_COUNT) + 1), cells.truth
    last = counts[-1]
    predicted, weights = _distinct(cells.predicted, cells.weight)
    expected = [(weights * np.exp(k * np.log(predicted) - predicted - gammaln(k + 1))).sum() for k in counts]
    above, more = float((weights * pdtrc(last, predicted)).sum()), bool(observed.max() > last)
    if more:
        expected[-1] += above
    found = np.bincount(np.minimum(observed, last).astype(np.intp), weights=cells.weight, minlength=len(counts))
    notes: Notes = {"last_or_more": more, "expected_above": 0.0 if more else above}
    return listed(count=counts, observed=found, expected=np.array(expected)), notes
