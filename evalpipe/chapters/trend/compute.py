"""The trend of a run: its own numbers after those of earlier nights, with the control limits that these give.

Limits join sampling and a variance between nights, for nights of different sizes. What is different since the run
before, rows and events, measures and keys of the spec, is told apart from it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalpipe.base.digests import json_sha256
from evalpipe.base.records import Measured
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.chapters.trend.records import (
    ChangedKey,
    ChangedMeasure,
    DatasetBefore,
    Since,
    Trend,
    TrendLine,
    TrendNight,
)
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.chapters.trend.plan import TrendPlan
    from evalpipe.chapters.trend.spec import Control
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate, Results


    Row = Mapping[str, Any]

    Digests = str | list[str] | dict[str, str]
    """The digest of a value of the spec, of each entry of a list, or of each key of a mapping."""


Key = tuple[object, ...]
"""What tells the lines of a trend apart."""


class Point(NamedTuple):
    """A measure of a model in one nightly run: its value, limits, standard error and number of rows."""

    value: float | None
    lower: float | None
    upper: float | None
    standard_error: float | None
    n: int | None


ABSENT = Point(None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class EarlierNight:
    """A night before tonight: its day, the hash of its results, and its numbers by what they are of."""

    night: TrendNight
    points: Mapping[Key, Point]

    @classmethod
    def of_ledger(
        cls, run: Mapping[str, Any], estimates: Iterable[Mapping[str, Any]], unsettled: dict[str, int] | None = None
    ) -> EarlierNight:
        """Return an earlier night from a run of the ledger, its estimates, and its rows that were not settled."""
        points = {}
        for row in estimates:
            key = _estimate_key(
                row["dataset"], row["model"], row["variant"], row["metric"], row["params"], row["average"])
            points[key] = _trend_point(row["value"], row["lower"], row["upper"], row["level"], row["n"])
        return cls(TrendNight(as_of=run["as_of"], results_sha256=run["results_sha256"], unsettled=unsettled), points)


def nights_of_trend(trend: Trend) -> tuple[EarlierNight, ...]:
    """Return the earlier nights, oldest first, that the trend of some results holds, each with its numbers."""
    columns = [(_key_of_line(line), zip(line.value, line.lower, line.upper, line.standard_error, line.n, strict=True))
               for line in trend.lines]
    # Each column has a point for each night, the oldest first, so one is taken from all columns for each.
    by_night = [{key: Point(*next(points)) for key, points in columns} for _ in trend.nights]
    return tuple(map(EarlierNight, trend.nights, by_night))


def with_trend(plan: Plan, results: Results, earlier: Sequence[EarlierNight] | None) -> Results:
    """Return the results with their trend after ``earlier`` nights, oldest first; unchanged without a trend.

    ``earlier`` is None where no ledger was read, so that the card can say so.
    """
    planned = plan.part(trend_plan)
    if planned is None:
        return results
    nights = [before.night for before in earlier or ()]
    ranges = {metric.name: metric.range for metric in results.metrics}
    estimates = (
        row for entry in planned.entries for row in results.rows if row.slice is None and row.variant == "original"
        and (row.metric, row.params, row.average) == (entry.metric.name, entry.shown, entry.average))
    lines = [_trend_line(planned, row, earlier or (), ranges[row.metric]) for row in estimates]
    control, earlier_numbers = planned.control, {
        "nights": [night.model_dump() for night in nights],
        "lines": [[list(_key_of_line(line)), *(getattr(line, name)[:len(nights)] for name in Point._fields)]
                  for line in lines]}
    trend = Trend(
        nights=nights, sha256=None if earlier is None else json_sha256(earlier_numbers), lines=lines,
        shown=min(len(nights), planned.nights),
        baseline=control and control.period, sigma=control and control.sigma, min_nights=control and control.min_nights,
        shift=control and control.run)
    return results.model_copy(update={"trend": trend})


def _trend_line(
    plan: TrendPlan, row: Estimate, earlier: Sequence[EarlierNight], value_range: tuple[float | None, float | None]
) -> TrendLine:
    """Return the values of a measure of a model in the ``earlier`` nightly runs and this one, with control limits.

    ``row`` is this run's estimate, and ``value_range`` the lowest and highest possible value of its measure.
    """
    key = _estimate_key(row.dataset, row.model, row.variant, row.metric, row.params, row.average)
    points = [night.points.get(key, ABSENT) for night in earlier]
    points.append(_trend_point(row.value, row.lower, row.upper, row.level, row.n))
    line = TrendLine(
        dataset=row.dataset, model=row.model, variant=row.variant, metric=row.metric, params=row.params,
        average=row.average, **{name: [getattr(point, name) for point in points] for name in Point._fields})
    if plan.control is None:
        return line
    return _with_control_limits(plan.control, line, [night.night for night in earlier], value_range)


def _with_control_limits(
    control: Control, line: TrendLine, nights: Sequence[TrendNight], value_range: tuple[float | None, float | None]
) -> TrendLine:
    """Return a line with its control limits within ``value_range``, or with the reason why it has none."""
    # Limits are computed from the nights of the baseline that have a value with an interval.
    counted = [
        CountedNight(value, error, n)
        for night, value, error, n in zip(nights, line.value, line.standard_error, line.n, strict=False)
        if control.period is None or control.period[0] <= night.as_of <= control.period[1]
        if value is not None and error and n]
    if len(counted) < control.min_nights:
        return line.model_copy(update={"counted": len(counted), "reason": sentence("few-nights")})
    fit = BaselineFit.of(counted)
    limits = [fit.about(n, control.sigma, *value_range) if n else (None, None) for n in line.n]
    value, (lower, upper), position = line.value[-1], limits[-1], None
    if value is not None and lower is not None and upper is not None:
        position = "above" if value > upper else "below" if value < lower else "within"
    return line.model_copy(update={
        "counted": len(counted), "centre": fit.centre, "between": math.sqrt(fit.between),
        "autocorrelation": fit.autocorrelation,
        # Without autocorrelation it has mean -1 / N and variance 1 / N: Bartlett (1946), Journal of the Royal
        # Statistical Society, Supplement 8.
        "autocorrelation_p_value": NormalDist().cdf(
            -(fit.autocorrelation + 1 / len(counted)) * math.sqrt(len(counted))),
        "dispersion": fit.widening(line.n[-1]) if line.n[-1] else None,
        "limit_lower": [lower for lower, _ in limits], "limit_upper": [upper for _, upper in limits],
        "position": position, "run": _run_length(line.value, fit.centre)})


def _run_length(values: Sequence[float | None], centre: float) -> int:
    """Return how many of the last values in a row are on one side of the centre; missing values are skipped."""
    newest_first = [value for value in reversed(values) if value is not None]
    if values[-1] is None or newest_first[0] == centre:
        return 0
    is_above = newest_first[0] > centre
    return next((count for count, value in enumerate(newest_first) if value == centre or (value > centre) != is_above),
                len(newest_first))


def _trend_point(value: float | None, lower: float | None, upper: float | None, level: float | None, n: int) -> Point:
    """Return an estimate as a point of the trend: value, limits, standard error from these, and n.

    Without an interval it has no standard error, and of NaN no value.
    """
    if value is None or math.isnan(value) or lower is None or upper is None or level is None:
        return Point(None if value is None or math.isnan(value) else value, None, None, None, n)
    return Point(value, lower, upper, (upper - lower) / (2 * NormalDist().inv_cdf((1 + level) / 2)), n)


def _key_of_line(line: TrendLine) -> Key:
    """Return the key of a trend line's measure, model and dataset, by which nightly runs are joined."""
    return _estimate_key(line.dataset, line.model, line.variant, line.metric, line.params, line.average)


def _estimate_key(
    dataset: str, model: str, variant: str, metric: str, params: Mapping[str, object], average: str | None
) -> Key:
    """Return the key of a measure of a model on a dataset, by which nightly runs are joined."""
    return (dataset, model, variant, metric, json.dumps(params, sort_keys=True), average)


FURTHEST = 3.0
"""The standard errors beyond which a night moves the variance between nights no further."""

HALVINGS = 40
"""How often the bracket of the variance between nights is halved: 2^-40 of the variance of the values."""


@dataclass(frozen=True, slots=True)
class CountedNight:
    """A night that limits are made of: its value, the standard error of its interval, and its observations."""

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class BaselineFit:
    """The ``centre`` of the nights of a baseline, its variance, that of one observation, and that ``between`` nights.

    ``autocorrelation`` is that of a night with the next, in standard errors from the centre; 0 of nights all alike.
    """

    centre: float
    centre_variance: float
    unit_variance: float
    between: float
    autocorrelation: float

    @classmethod
    def of(cls, nights: Sequence[CountedNight]) -> BaselineFit:
        """Fit a random-effects mean to the nights of a baseline, the oldest first, two or more.

        The variance between nights is that of Paule & Mandel (1982), squared standardised residuals capped at
        `FURTHEST` squared; the autocorrelation is that of the residuals at lag 1.
        """
        unit_variance = math.fsum(night.n * night.error**2 for night in nights) / len(nights)
        between = _variance_between_nights(nights, unit_variance)
        centre, weights = _weighted_centre(nights, unit_variance, between)
        z = [(night.value - centre) * math.sqrt(weight) for night, weight in zip(nights, weights, strict=True)]
        squares = math.fsum(value**2 for value in z)
        lagged_products = math.fsum(before * after for before, after in pairwise(z))
        autocorrelation = lagged_products / squares if squares > 0 else 0.0
        return cls(centre, 1 / math.fsum(weights), unit_variance, between, autocorrelation)

    def widening(self, n: int) -> float:
        """Return how many times wider the limits of a night of ``n`` observations are than by sampling alone."""
        return math.sqrt(1 + self.between * n / self.unit_variance)

    def about(self, n: int, sigma: float, low: float | None, high: float | None) -> tuple[float, float]:
        """Return the control limits of a night of ``n`` observations, ``sigma`` standard errors from the centre.

        They do not go beyond ``low`` and ``high``, the lowest and highest possible value.
        """
        reach = sigma * math.sqrt(self.between + self.unit_variance / n + self.centre_variance)
        lower, upper = self.centre - reach, self.centre + reach
        return lower if low is None else max(lower, low), upper if high is None else min(upper, high)


def _weighted_centre(nights: Sequence[CountedNight], unit_variance: float, between: float) -> tuple[float, list[float]]:
    """Return the mean of nights, weighted by 1 / (between + unit_variance / n), and these weights."""
    weights = [1 / (between + unit_variance / night.n) for night in nights]
    total = math.fsum(weight * night.value for weight, night in zip(weights, nights, strict=True))
    return total / math.fsum(weights), weights


def _variance_between_nights(nights: Sequence[CountedNight], unit_variance: float) -> float:
    """Return the variance between nights, by bisection; 0 where they vary no more than by sampling.

    It is where the weighted squares of the distances from the centre sum to the nights less one: Paule & Mandel (1982).
    """
    def excess(between: float) -> float:
        """Return by how much the weighted squares are above the nights less one; it falls as ``between`` grows."""
        centre, weights = _weighted_centre(nights, unit_variance, between)
        squares = (weight * (night.value - centre) ** 2 for night, weight in zip(nights, weights, strict=True))
        return math.fsum(min(square, FURTHEST**2) for square in squares) - (len(nights) - 1)

    if excess(0.0) <= 0:
        return 0.0
    mean = math.fsum(night.value for night in nights) / len(nights)
    # At the plain variance of the values the sum is at most the nights less one.
    low, high = 0.0, math.fsum((night.value - mean) ** 2 for night in nights) / (len(nights) - 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


MOST = 3
"""The measures that are named, those that moved most."""

KEY = ("dataset", "model", "variant", "metric", "params", "average")
"""What tells the estimates of a run in the ledger apart."""


def compared_with_run_before(results: Results, now: Row, before: Row, estimates: Sequence[Row]) -> Since:
    """Return how results differ from those of the run before: data, measures and keys of the spec.

    ``now`` and ``before`` are the rows of the ledger for the two runs. ``estimates`` are the measures of the run
    before, with the models named as now.
    """
    facts: dict[str, Any] = before["facts"] or {}
    changes = sorted(_measure_changes(results, estimates), key=lambda change: -change.distance)
    moved = sum(change.distance > 1 for change in changes)
    files = now["inputs_sha256"], before["inputs_sha256"]
    return Since(
        as_of=before["as_of"], results_sha256=None if results.as_of else before["results_sha256"],
        evalpipe_version=before["evalpipe_version"],
        same_files=None if None in files else files[0] == files[1],
        datasets=[DatasetBefore(**row) for row in facts["datasets"]] if facts else None,
        compared=len(changes), unchanged=sum(change.distance == 0 for change in changes), moved=moved,
        measures=[change for change in changes if change.distance > 0][: min(max(moved, 1), MOST)],
        spec=list(_changed_keys(now["facts"]["spec"], facts["spec"])) if facts else None)


def _measure_changes(results: Results, estimates: Sequence[Row]) -> Iterator[ChangedMeasure]:
    """Yield each measure on all rows that has an interval in both runs, and how far it moved."""
    rows = {Measured(**{name: row[name] for name in KEY}).about: row for row in estimates}
    for row in results.rows:
        before = rows.get(row.about)
        distance = None if before is None else _relative_change(row, before)
        if before is not None and distance is not None:
            subject = {name: getattr(row, name) for name in KEY}
            yield ChangedMeasure(**subject, before=before["value"], distance=distance)


def _relative_change(row: Estimate, before: Row) -> float | None:
    """Return the change of a measure as a multiple of what both intervals explain; None without such limits.

    What they explain is the root of the sum of two squares: the arms, value to limit, of the two intervals that
    face each other. Of a value that rose these are the lower arm of now and the upper arm of before. None too
    where it is 0.
    """
    ends = (row.value, row.lower, row.upper, before["value"], before["lower"], before["upper"])
    value, lower, upper, then, lower_then, upper_then = (math.nan if end is None else float(end) for end in ends)
    arms = (value - lower, upper_then - then) if value > then else (upper - value, then - lower_then)
    explained = math.hypot(*arms)
    return abs(value - then) / explained if 0 < explained < math.inf else None


def _changed_keys(now: Mapping[str, Digests], then: Mapping[str, Digests]) -> Iterator[ChangedKey]:
    """Yield the keys of the spec whose digests differ; of two mappings those within, such as "report.rows"."""
    for key in {**now, **then}:
        first, second = now.get(key), then.get(key)
        if first == second:
            continue
        if isinstance(first, dict) and isinstance(second, dict):
            yield from (ChangedKey(key=f"{key}.{name}", change=_change_of_key(first.get(name), second.get(name)))
                        for name in {**first, **second} if first.get(name) != second.get(name))
        elif isinstance(first, list) and isinstance(second, list):
            entries, entries_then = Counter(first), Counter(second)
            yield ChangedKey(key=key, change="changed", added=(entries - entries_then).total(),
                             removed=(entries_then - entries).total())
        else:
            yield ChangedKey(key=key, change=_change_of_key(first, second))


def _change_of_key(now: object, then: object) -> Literal["new", "gone", "changed"]:
    """Return whether a key is new, gone or changed, from its digest now and then, which is None if absent."""
    return "new" if then is None else "gone" if now is None else "changed"
