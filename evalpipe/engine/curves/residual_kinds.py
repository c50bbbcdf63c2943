"""Deviance and Pearson residuals, the scale-location and the half-normal plot, and residuals against columns."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from evalpipe.arithmetic import log, log1p
from evalpipe.base import constants
from evalpipe.engine.curves.declare import Computed, CurveRows, curve
from evalpipe.engine.curves.numbers import deciles, distinct, gather, independent_rows, quantiles, scatter_indices
from evalpipe.engine.curves.residual_tests import least_squares, smooth
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import ObservedNotes
from evalpipe.statistics.residuals import unit_deviance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.results.curves.residuals import ResidualKind


KINDS: tuple[Literal["deviance", "pearson"], ...] = ("deviance", "pearson")
PLACES = 200
"""The most points of a half-normal plot, spread evenly along its horizontal axis."""

FINEST = 0.05
"""The share of the smallest residuals of counts whose limits are not known where a part of the predictions stands for
all. In simulations of 20,000 rows limits held at 3.4 % and above, and not at 1.7 %."""

ROOT_OF_NORMAL = 0.8221789586624584
"""The mean of the square root of the absolute value of a standard normal number."""

COUNTS, REACH = 400, 8.0
"""Into how many bins the possible counts of a row are put, and how many standard deviations about its mean they are."""


def residuals_of(rows: CurveRows, kind: ResidualKind) -> Floats:
    """Return the residual of each row, [n], of the ``kind``; NaN for a count whose prediction is not above zero."""
    source = rows.summary.rows
    if rows.kind == "numbers":
        if kind == "raw":
            return np.asarray(source.residual)
        valid = source.predicted > 0
        squared = (unit_deviance(source) if kind == "deviance" else
                   source.residual**2 / np.where(valid, source.predicted, 1.0))
        return np.where(valid, np.sign(source.residual) * np.sqrt(squared), np.nan)
    if kind == "raw":
        size = source.shortfall
    elif kind == "deviance":
        size = np.sqrt(2 * source.negative_log(constants.CLIP))
    else:
        probabilities = source.true_probability, source.shortfall
        true, missed = (np.clip(p, constants.CLIP, 1 - constants.CLIP) for p in probabilities)
        size = np.sqrt(missed / true)
    return np.asarray(np.where(source.truth, size, -size) if rows.kind == "event" else size)


class Outcomes(NamedTuple):
    """The k possible residuals at each of m predictions, and their probabilities, both [m, k]."""

    residual: Floats
    probability: Floats

    @classmethod
    def of(cls, rows: CurveRows, kind: ResidualKind, predicted: Floats) -> Outcomes:
        """Return the possible residuals of a kind under predictions [m] of an event or of a count."""
        if rows.kind != "event":
            return _count_outcomes(predicted, kind)
        p = np.clip(predicted, constants.CLIP, 1 - constants.CLIP)
        probability = np.stack([p, 1 - p], axis=1)
        size = 2 * -np.stack([log(p), log1p(-p)], axis=1) if kind == "deviance" else probability[:, ::-1] / probability
        return cls(np.sqrt(size) * [1.0, -1.0], probability)

    @property
    def mean(self) -> Floats:
        """The expected residual, [m]: of a Pearson residual zero, but not of a deviance residual."""
        return np.asarray((self.residual * self.probability).sum(axis=1))

    @property
    def mean_root(self) -> Floats:
        """The expected square root of the absolute residual, [m]."""
        return np.asarray((np.sqrt(np.abs(self.residual)) * self.probability).sum(axis=1))


def _count_outcomes(predicted: Floats, kind: ResidualKind) -> Outcomes:
    """Return the possible residuals of counts about each mean [m]; the middle of a bin stands for its counts."""
    from scipy.special import pdtr

    mean = predicted[:, None]
    reach = REACH * np.sqrt(mean) + REACH**2
    low = np.maximum(np.floor(mean - reach), 0.0)
    width = np.ceil((np.ceil(mean + reach) - low + 1) / COUNTS)
    ends = low + width * np.arange(COUNTS + 1) - 1  # the last count below a bin, and that of each bin
    probability = np.diff(np.where(ends < 0, 0.0, pdtr(np.maximum(ends, 0.0), mean)), axis=1)
    count = ends[:, 1:] - (width - 1) / 2
    deviance = count * log(np.where(count > 0, count / mean, 1.0)) - (count - mean)
    size = 2 * np.maximum(deviance, 0.0) if kind == "deviance" else (count - mean) ** 2 / mean
    return Outcomes(np.sign(count - mean) * np.sqrt(size), probability)


class StandardResiduals(NamedTuple):
    """The distinct pairs of prediction and residual, ascending, with the weight of each, all [m].

    ``residual`` is of the ``kind`` that figures show; raw residuals are divided by ``scale``, their root mean square.
    """

    predicted: Floats
    residual: Floats
    weight: Floats
    kind: ResidualKind
    scale: float | None

    @classmethod
    def of(cls, rows: CurveRows) -> StandardResiduals | None:
        """Return the residuals of the plan's kind, standardised; None without any, or where all raw ones are zero."""
        kind = rows.plan.residuals.kind if rows.plan.residuals is not None else "raw"
        cells = rows.once(CELLS[kind])
        if cells is None or kind != "raw":
            return None if cells is None else cls(*cells, kind, None)
        predicted, residual, weight = cells
        scale = float(np.sqrt(np.average(residual**2, weights=weight)))
        return cls(predicted, residual / scale, weight, kind, scale) if scale > 0 else None


def _residual_cells(rows: CurveRows, kind: ResidualKind) -> tuple[Floats, Floats, Floats] | None:
    """Return the distinct pairs of prediction and residual of a kind, and their weights; None where a row has none.

    The prediction is a number, or the probability of the event.
    """
    predicted = rows.summary.rows.event_probability if rows.kind == "event" else rows.summary.rows.predicted
    predicted, residual, weight = gather(rows.summary.weights, np.asarray(predicted), residuals_of(rows, kind))
    return None if not len(weight) or np.isnan(residual).any() else (predicted, residual, weight)


CELLS = {kind: partial(_residual_cells, kind=kind) for kind in get_args(residuals.ResidualKind)}
"""What gathers the residuals of each kind, once for all curves of them."""


def _deciles_of_kind(rows: CurveRows, kind: ResidualKind) -> Computed | None:
    """Compute the deciles of residuals of a ``kind``; None where the spec does not list it, or a row has none."""
    weights = rows.summary.weights
    residual = residuals_of(rows, kind)
    if not is_requested(rows, "kinds", kind) or np.isnan(residual[weights > 0]).any() or not weights.any():
        return None
    plain, sizes = (distinct(values[weights > 0], weights[weights > 0]) for values in (residual, np.abs(residual)))
    clipped = None if rows.kind == "numbers" else float(
        weights[rows.summary.rows.true_probability < constants.CLIP].sum()) or None
    return deciles(rows, plain, sizes), residuals.KindQuantileNotes(quantile_type=7, clipped=clipped)


def _scatter_of_kind(rows: CurveRows, kind: ResidualKind) -> Computed | None:
    """Choose rows for a scatter of residuals of a ``kind``, deviance or Pearson, against predictions."""
    cells = rows.once(CELLS[kind]) if is_requested(rows, "kinds", kind) else None
    if cells is None:
        return None
    predicted, residual, weight = cells
    kept, notes = scatter_indices(weight)
    return {"predicted": predicted[kept], "residual": residual[kept]}, notes


def _smooth_of_kind(rows: CurveRows, kind: ResidualKind) -> Computed | None:
    """Compute a smooth line through residuals of a kind, and the mean that is expected of them if a model is right."""
    cells = rows.once(CELLS[kind]) if is_requested(rows, "kinds", kind) else None
    if cells is None:
        return None
    predicted, line, notes = smooth(*cells)
    expected = np.zeros(len(predicted)) if kind == "pearson" else Outcomes.of(rows, kind, predicted).mean
    return {"predicted": predicted, "residual": line, "expected": expected}, notes


def is_requested(rows: CurveRows, key: Literal["kinds", "figures"], name: str) -> bool:
    """Tell whether the spec lists a kind of residuals, or a figure of them, by ``name`` under the ``key``."""
    return rows.plan.residuals is not None and name in getattr(rows.plan.residuals, key)


for _kind in KINDS:
    curve(residuals.KindQuantiles, of=("numbers", "event", "levels"), needs="residuals",
          name=f"{_kind}_residual_quantiles")(partial(_deciles_of_kind, kind=_kind))
    curve(residuals.KindPredicted, of=("numbers", "event"), needs="residuals",
          name=f"{_kind}_residual_predicted")(partial(_scatter_of_kind, kind=_kind))
    curve(residuals.KindPredictedSmooth, of=("numbers", "event"), needs="residuals",
          name=f"{_kind}_residual_predicted_smooth")(partial(_smooth_of_kind, kind=_kind))


@curve(residuals.PredictedObserved, of=("numbers",), needs="residuals")
def predicted_observed(rows: CurveRows) -> Computed | None:
    """Choose rows for a scatter of predictions against the truth, and fit a line to all."""
    if not is_requested(rows, "figures", "predicted_observed"):
        return None
    model_rows = rows.summary.rows
    observed, predicted, weight = gather(rows.summary.weights, model_rows.truth, model_rows.predicted)
    if not len(weight):
        return None
    kept, notes = scatter_indices(weight)
    slope, intercept = least_squares(observed, predicted, weight) or (None, None)
    return {"observed": observed[kept], "predicted": predicted[kept]}, ObservedNotes(
        points_of=notes.points_of, slope=slope, intercept=intercept)


@curve(residuals.PredictedObservedSmooth, of=("numbers",), needs="residuals")
def predicted_observed_smooth(rows: CurveRows) -> Computed | None:
    """Compute a smooth line through the predictions along the truth."""
    model_rows = rows.summary.rows
    cells = gather(rows.summary.weights, model_rows.truth, model_rows.predicted)
    if not is_requested(rows, "figures", "predicted_observed") or not len(cells[-1]):
        return None
    observed, line, notes = smooth(*cells)
    return {"observed": observed, "predicted": line}, notes


@curve(residuals.ScaleLocation, of=("numbers", "event"), needs="residuals")
def scale_location(rows: CurveRows) -> Computed | None:
    """Choose rows for a scatter of the root of the size of residuals against predictions."""
    standard = rows.once(StandardResiduals.of) if is_requested(rows, "figures", "scale_location") else None
    if standard is None:
        return None
    kept, notes = scatter_indices(standard.weight)
    points = {"predicted": standard.predicted[kept], "root_size": np.sqrt(np.abs(standard.residual[kept]))}
    return points, residuals.ScaleLocationNotes(
        points_of=notes.points_of, kind=standard.kind, scale=standard.scale)


@curve(residuals.ScaleLocationSmooth, of=("numbers", "event"), needs="residuals")
def scale_location_smooth(rows: CurveRows) -> Computed | None:
    """Compute a smooth line through the roots, and the roots expected at the same predictions."""
    standard = rows.once(StandardResiduals.of) if is_requested(rows, "figures", "scale_location") else None
    if standard is None:
        return None
    predicted, line, notes = smooth(standard.predicted, np.sqrt(np.abs(standard.residual)), standard.weight)
    expected = (np.full(len(predicted), ROOT_OF_NORMAL) if standard.kind == "raw" else
                Outcomes.of(rows, standard.kind, predicted).mean_root)
    return {"predicted": predicted, "root_size": line, "expected": expected}, notes


@curve(residuals.HalfNormal, of=("numbers", "event"), needs="residuals")
def half_normal(rows: CurveRows) -> Computed | None:
    """Compute absolute residuals against half-normal quantiles, with what is expected there and its limits.

    The residual of rank k among n lies below a share of its distribution that is Beta(k, n - k + 1), whatever the
    distribution. Events and counts differ in theirs; the limits of their mixture are then wider than needed:
    Hoeffding (1956). A row of weight two is two rows, and equal residuals share the middle of their ranks.
    """
    from scipy.special import betaincinv, ndtri

    standard = rows.once(StandardResiduals.of) if is_requested(rows, "figures", "half_normal") else None
    if standard is None:
        return None
    sizes, weight = distinct(np.abs(standard.residual), standard.weight)
    share = (np.cumsum(weight) - weight / 2) / weight.sum()
    normal = ndtri((1 + share) / 2)
    kept = np.unique(np.searchsorted(normal, np.linspace(normal[0], normal[-1], PLACES)))
    share = share[kept]
    expected_at, finest = _expected_quantiles(rows, standard)
    points = {"half_normal": normal[kept], "absolute_residual": sizes[kept], "expected": expected_at(share)}
    independent, tail = independent_rows(rows), (1 - rows.plan.level) / 2
    if independent is not None:
        ranks = independent * share + 0.5, independent * (1 - share) + 0.5
        lower, upper = (expected_at(betaincinv(*ranks, tail_share)) for tail_share in (tail, 1 - tail))
        # Below the finest share that is known, limits reach from 0 to those of the first place above it.
        first_known = int(np.searchsorted(share, finest))
        points |= {"lower": np.where(share < finest, 0.0, lower), "upper": np.where(
            share < finest, upper[min(first_known, len(upper) - 1)], upper)}
    return points, residuals.HalfNormalNotes(
        points_of=None if len(kept) == len(sizes) else len(sizes), kind=standard.kind, scale=standard.scale,
        level=None if independent is None else rows.plan.level)


def _expected_quantiles(rows: CurveRows, standard: StandardResiduals) -> tuple[Callable[[Floats], Floats], float]:
    """Return a function from shares [k] to the quantiles of absolute residuals expected if the model is right.

    Also return the share above which they hold: where a sample of the predictions of counts stands for all, the
    smallest residuals of all lie closer to 0 than those of the sample.
    """
    from scipy.special import ndtri

    if standard.kind == "raw":
        return lambda shares: np.asarray(ndtri((1 + shares) / 2)), 0.0
    predicted, weight = distinct(standard.predicted, standard.weight)
    finest = 0.0
    if rows.kind == "numbers":  # whose possible counts are many, so a part of the predictions stands for all
        kept, thinned = scatter_indices(weight)
        if thinned.points_of is not None:
            finest, weight = FINEST, np.ones(len(predicted))
        predicted, weight = predicted[kept], weight[kept]
    outcomes = Outcomes.of(rows, standard.kind, predicted)
    sizes, weights = distinct(np.abs(outcomes.residual).ravel(), (weight[:, None] * outcomes.probability).ravel())
    return lambda shares: quantiles(sizes, weights, shares), finest


GROUPS = 20
"""The most groups of a column of numbers, or along an order."""

SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
FEWEST = 3
"""The fewest places of an order whose residuals are related to each other."""


def _default_kind(rows: CurveRows) -> ResidualKind:
    """Return the kind of residuals against columns: Pearson residuals of counts, raw residuals of other outcomes."""
    return "pearson" if rows.sample.task == "count" else "raw"


def _residuals_and_expected(rows: CurveRows) -> tuple[Floats, Floats] | None:
    """Return residuals [n] and their expected means [n]; None where a row with weight has no residual."""
    residual = residuals_of(rows, _default_kind(rows))
    if np.isnan(residual[rows.summary.weights > 0]).any():
        return None
    model_rows, expected = rows.summary.rows, np.zeros(len(residual))
    if rows.kind == "levels":  # where a residual, 1 - the probability of the true level, is never below 0
        expected = model_rows.expected(1 - model_rows.level_probabilities)
    return residual, expected


def _groups_of_values(values: Floats, weight: Floats, observations: Wholes, least: int) -> list[Wholes]:
    """Return the positions of the rows in each of some groups of about equal weight, cut by their values [n].

    Each group has ``least`` observations or more; equal values stay together. Empty where there are too few rows.
    """
    order = np.argsort(values, kind="stable")
    start = np.flatnonzero(np.r_[True, values[order][1:] != values[order][:-1]])
    weight_of_value, count_of_value = (np.add.reduceat(x[order], start) for x in (weight, observations))
    groups = min(GROUPS, int(count_of_value.sum()) // least)
    if not groups:
        return []
    group_index = (groups * (np.cumsum(weight_of_value) - weight_of_value) / weight_of_value.sum()).astype(np.intp)
    ends, group_size = [0], 0
    for k in range(len(start)):
        group_size += int(count_of_value[k])
        is_last = k + 1 == len(start)
        if (is_last or group_index[k + 1] != group_index[k]) and group_size >= least:
            ends.append(len(order) if is_last else int(start[k + 1]))
            group_size = 0
    ends[-1] = len(order)  # what is left over is too little, and joins the last
    return [order[a:b] for a, b in pairwise(ends)]


def _group_distributions(
    groups: Sequence[Wholes], values: Floats, residual: Floats, expected: Floats, weight: Floats
) -> dict[str, Floats]:
    """Return the mean, quantiles and weight of the residuals in each group of rows, as columns of a curve.

    ``values`` [n] are those that the groups were cut by; their mean in each group is the column "value".
    """
    points: list[list[float]] = []
    for rows in groups:
        ordered = rows[np.argsort(residual[rows], kind="stable")]
        w, r = weight[ordered], residual[ordered]
        low, lower, median, upper, high = quantiles(r, w, SHARES).tolist()
        mean_value = float(np.average(values[rows], weights=weight[rows]))
        points.append([mean_value, float(np.average(r, weights=w)), float(np.average(expected[ordered], weights=w)),
                       low, lower, median, upper, high, float(w.sum())])
    names = "value", "mean", "expected", "low", "lower_quartile", "median", "upper_quartile", "high", "weight"
    return dict(zip(names, np.array(points).reshape(-1, len(names)).T, strict=True))


def _smooth_of_means(points: dict[str, Floats]) -> Floats:
    """Return the heights of a smooth line through the mean residuals of groups, at each group's mean value."""
    position, line, _ = smooth(points["value"], points["mean"], points["weight"])
    return np.interp(points["value"], position, line)


@curve(residuals.ResidualAgainst, of=("numbers", "event", "levels"), needs="residuals")
def residual_against(rows: CurveRows) -> Computed | None:
    """Compute how residuals are distributed in groups of rows, cut by each column that the spec lists."""
    settings = rows.plan.residuals
    gathered = rows.once(_residuals_and_expected) if settings is not None and settings.against else None
    if settings is None or gathered is None:
        return None
    residual, expected = gathered
    weights, least = rows.summary.weights, settings.min_rows
    missing: dict[str, float] = {}
    small_levels: dict[str, int] = {}
    parts: list[dict[str, Floats]] = []
    for column_index, name in enumerate(settings.against):
        column = rows.sample.row_columns[name]
        is_used = ~np.isnan(column.values) & (weights > 0)
        missing_weight = float(weights[np.isnan(column.values)].sum())
        missing |= {name: missing_weight} if missing_weight else {}
        kept = np.flatnonzero(is_used)
        if column.levels:
            level_rows = [kept[column.values[kept] == level] for level in range(len(column.levels))]
            groups = [level for level in level_rows if rows.sample.observations[level].sum() >= least]
            small_levels |= {name: len(level_rows) - len(groups)} if len(groups) < len(level_rows) else {}
        else:
            observations = rows.sample.observations[kept]
            divided = _groups_of_values(column.values[kept], weights[kept], observations, least) if len(kept) else []
            groups = [kept[group] for group in divided]
        points = _group_distributions(groups, column.values, residual, expected, weights)
        smooth_line = np.full(len(groups), np.nan) if column.levels or not groups else _smooth_of_means(points)
        parts.append({**points, "column": np.full(len(groups), float(column_index)), "smooth": smooth_line})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return joined, residuals.ResidualAgainstNotes(
        kind=_default_kind(rows), least=least, columns=settings.against, missing=missing, few=small_levels,
        levels={name: rows.sample.row_columns[name].levels for name in settings.against
                if rows.sample.row_columns[name].levels})


@curve(residuals.ResidualOrder, of=("numbers", "event", "levels"), needs="residuals")
def residual_order(rows: CurveRows) -> Computed | None:
    """Compute the distribution of residuals in groups along an order, and how neighbours in it are related."""
    settings = rows.plan.residuals
    gathered = rows.once(_residuals_and_expected) if settings is not None and settings.order is not None else None
    if settings is None or settings.order is None or gathered is None:
        return None
    residual, expected = gathered
    weights, values = rows.summary.weights, rows.sample.row_columns[settings.order].values
    kept = np.flatnonzero(~np.isnan(values) & (weights > 0))
    if not len(kept):
        return None
    distinct_values, position_index = np.unique(values[kept], return_inverse=True)
    residual_deviation = residual[kept] - expected[kept]
    means = np.bincount(position_index, weights[kept] * residual_deviation) / np.bincount(position_index, weights[kept])
    positions = np.asarray(position_index + 1, float)
    groups = _groups_of_values(positions, weights[kept], rows.sample.observations[kept], settings.min_rows)
    points = _group_distributions(groups, positions, residual[kept], expected[kept], weights[kept])
    points["smooth"] = _smooth_of_means(points) if groups else np.array([])
    return points, residuals.ResidualOrderNotes(
        kind=_default_kind(rows), least=settings.min_rows, column=settings.order, values=len(distinct_values),
        missing=float(weights[np.isnan(values)].sum()) or None, **_serial_correlation(means))


def _serial_correlation(means: Floats) -> dict[str, float]:
    """Return autocorrelation and Durbin-Watson statistic of residuals [m]; none of few, or where all are equal."""
    squares, spread = float((means**2).sum()), float(((means - means.mean()) ** 2).sum())
    if len(means) < FEWEST or not squares or not spread:
        return {}
    deviation = means - means.mean()
    return {"autocorrelation": float((deviation[1:] * deviation[:-1]).sum()) / spread,
            "durbin_watson": float((np.diff(means) ** 2).sum()) / squares}
