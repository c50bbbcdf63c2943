"""The trend of a run: its own numbers after those of earlier nights, with the control limits that these give.

Limits join sampling and a variance between nights, for nights of different sizes.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.base.digests import json_sha256
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.chapters.trend.records import Trend, TrendLine, TrendNight
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.chapters.trend.plan import TrendPlan
    from evalpipe.chapters.trend.spec import Control
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate, Results


Key = tuple[object, ...]
"""What tells the lines of a trend apart."""


class Point(NamedTuple):
    """A number of a night."""

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
    def of_ledger(cls, run: Mapping[str, Any], estimates: Iterable[Mapping[str, Any]]) -> EarlierNight:
        """Return a run of the ledger, with its estimates."""
        points = {}
        for row in estimates:
            key = _estimate_key(
                row["dataset"], row["model"], row["variant"], row["metric"], row["params"], row["average"])
            points[key] = _point(row["value"], row["lower"], row["upper"], row["level"], row["n"])
        return cls(TrendNight(as_of=run["as_of"], results_sha256=run["results_sha256"]), points)


def earlier_of(trend: Trend) -> tuple[EarlierNight, ...]:
    """Return the earlier nights that results hold, as they were read for them."""
    columns = [(_key_of_line(line), zip(line.value, line.lower, line.upper, line.standard_error, line.n, strict=True))
               for line in trend.lines]
    by_night = [{key: Point(*next(points)) for key, points in columns} for _ in trend.nights]
    return tuple(map(EarlierNight, trend.nights, by_night))


def charted(plan: Plan, results: Results, earlier: Sequence[EarlierNight] | None) -> Results:
    """Return the results with their trend after ``earlier`` nights, the oldest first; as they are without a trend.

    ``earlier`` is None where no ledger was read.
    """
    asked = plan.part(trend_plan)
    if asked is None:
        return results
    nights = [before.night for before in earlier or ()]
    spans = {metric.name: metric.range for metric in results.metrics}
    lines = [_trend_line(asked, row, earlier or (), spans[row.metric]) for row in _estimates_of_tonight(asked, results)]
    control = asked.control
    trend = Trend(
        nights=nights, sha256=None if earlier is None else _sha256_of_nights(nights, lines), lines=lines,
        shown=min(len(nights), asked.nights),
        baseline=control and control.period, sigma=control and control.sigma, min_nights=control and control.min_nights,
        shift=control and control.run)
    return results.model_copy(update={"trend": trend})


def _estimates_of_tonight(plan: TrendPlan, results: Results) -> Iterator[Estimate]:
    """Yield tonight's estimates of the trend's measures, on all rows of each model."""
    for entry in plan.entries:
        for row in results.rows:
            about = (row.metric, row.params, row.average)
            if about == (entry.metric.name, entry.shown, entry.average) and row.slice is None and (
                    row.variant == "original"):
                yield row


def _trend_line(plan: TrendPlan, row: Estimate, earlier: Sequence[EarlierNight], span: tuple[float | None, float | None]
          ) -> TrendLine:
    """Return the line of a measure of a model, with its limits."""
    key = _estimate_key(row.dataset, row.model, row.variant, row.metric, row.params, row.average)
    points = [night.points.get(key, ABSENT) for night in earlier]
    points.append(_point(row.value, row.lower, row.upper, row.level, row.n))
    line = TrendLine(
        dataset=row.dataset, model=row.model, variant=row.variant, metric=row.metric, params=row.params,
        average=row.average, **{name: [getattr(point, name) for point in points] for name in Point._fields})
    if plan.control is None:
        return line
    return _with_control_limits(plan.control, line, [night.night for night in earlier], span)


def _with_control_limits(
    control: Control, line: TrendLine, nights: Sequence[TrendNight], span: tuple[float | None, float | None]
) -> TrendLine:
    """Return a line with its control limits, or the reason why it has none."""
    counted = list(_baseline_nights(control, line, nights))
    if len(counted) < control.min_nights:
        return line.model_copy(update={"counted": len(counted), "reason": sentence("few-nights")})
    limits = ControlLimits.of(counted)
    about = [limits.about(n, control.sigma, *span) if n else (None, None) for n in line.n]
    return line.model_copy(update={
        "counted": len(counted), "centre": limits.centre, "between": math.sqrt(limits.between),
        "autocorrelation": limits.autocorrelation,
        "autocorrelation_p_value": _autocorrelation_p_value(limits, len(counted)),
        "dispersion": limits.widening(line.n[-1]) if line.n[-1] else None,
        "limit_lower": [lower for lower, _ in about], "limit_upper": [upper for _, upper in about],
        "position": _position_to_limits(line.value[-1], *about[-1]), "run": _run_length(line.value, limits.centre)})


def _autocorrelation_p_value(limits: ControlLimits, nights: int) -> float:
    """Return the one-sided p-value of no autocorrelation, which then has mean -1 / N and variance 1 / N.

    Bartlett (1946), Journal of the Royal Statistical Society, Supplement 8.
    """
    return NormalDist().cdf(-(limits.autocorrelation + 1 / nights) * math.sqrt(nights))


def _baseline_nights(control: Control, line: TrendLine, nights: Sequence[TrendNight]) -> Iterator[CountedNight]:
    """Yield the nights of the baseline that have a value with an interval; limits are computed from them."""
    period = control.period
    for night, value, error, n in zip(nights, line.value, line.standard_error, line.n, strict=False):
        in_baseline = period is None or period[0] <= night.as_of <= period[1]
        if in_baseline and value is not None and error and n:
            yield CountedNight(value, error, n)


def _position_to_limits(value: float | None, lower: float | None, upper: float | None) -> str | None:
    if value is None or lower is None or upper is None:
        return None
    return "above" if value > upper else "below" if value < lower else "within"


def _run_length(values: Sequence[float | None], centre: float) -> int:
    """Return how many of the last values in a row are on one side of the centre; missing ones do not count."""
    known = [value for value in reversed(values) if value is not None]
    if values[-1] is None or known[0] == centre:
        return 0
    above = known[0] > centre
    return next((count for count, value in enumerate(known) if value == centre or (value > centre) != above),
                len(known))


def _point(value: float | None, lower: float | None, upper: float | None, level: float | None, n: int) -> Point:
    if value is None or math.isnan(value) or lower is None or upper is None or level is None:
        return Point(None if value is None or math.isnan(value) else value, None, None, None, n)
    return Point(value, lower, upper, (upper - lower) / (2 * NormalDist().inv_cdf((1 + level) / 2)), n)


def _key_of_line(line: TrendLine) -> Key:
    return _estimate_key(line.dataset, line.model, line.variant, line.metric, line.params, line.average)


def _estimate_key(
    dataset: str, model: str, variant: str, metric: str, params: Mapping[str, object], average: str | None
) -> Key:
    return (dataset, model, variant, metric, json.dumps(params, sort_keys=True), average)


def _sha256_of_nights(nights: Sequence[TrendNight], lines: Sequence[TrendLine]) -> str:
    """Return the hash of the earlier nights and their numbers."""
    count = len(nights)
    document = {
        "nights": [night.model_dump() for night in nights],
        "lines": [
            [list(_key_of_line(line)), *(getattr(line, name)[:count] for name in Point._fields)] for line in lines]}
    return json_sha256(document)


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
class ControlLimits:
    """The ``centre`` with its variance, the variance of one observation, and that ``between`` nights.

    ``autocorrelation`` is that of a night with the next, in standard errors from the centre; 0 of nights all alike.
    """

    centre: float
    centre_variance: float
    unit_variance: float
    between: float
    autocorrelation: float

    @classmethod
    def of(cls, nights: Sequence[CountedNight]) -> ControlLimits:
        """Return the limits that nights give, the oldest first; two or more."""
        unit = math.fsum(night.n * night.error**2 for night in nights) / len(nights)
        between = _variance_between_nights(nights, unit)
        centre, weights = _weighted_centre(nights, unit, between)
        z = [(night.value - centre) * math.sqrt(weight) for night, weight in zip(nights, weights, strict=True)]
        spread = math.fsum(value**2 for value in z)
        together = math.fsum(before * after for before, after in pairwise(z))
        return cls(centre, 1 / math.fsum(weights), unit, between, together / spread if spread > 0 else 0.0)

    def widening(self, n: int) -> float:
        """Return how much wider than sampling alone the variance between nights makes the limits of a night."""
        return math.sqrt(1 + self.between * n / self.unit_variance)

    def about(self, n: int, sigma: float, low: float | None, high: float | None) -> tuple[float, float]:
        """Return the limits of a night of ``n`` observations, not beyond the lowest and highest possible value."""
        reach = sigma * math.sqrt(self.between + self.unit_variance / n + self.centre_variance)
        lower, upper = self.centre - reach, self.centre + reach
        return lower if low is None else max(lower, low), upper if high is None else min(upper, high)


def _weighted_centre(nights: Sequence[CountedNight], unit: float, between: float) -> tuple[float, list[float]]:
    """Return the weighted mean of the nights, and the weights 1 / (between + unit / n)."""
    weights = [1 / (between + unit / night.n) for night in nights]
    total = math.fsum(weight * night.value for weight, night in zip(weights, nights, strict=True))
    return total / math.fsum(weights), weights


def _variance_between_nights(nights: Sequence[CountedNight], unit: float) -> float:
    """Return the variance between nights; 0 where they vary no more than by sampling."""
    def excess(between: float) -> float:
        centre, weights = _weighted_centre(nights, unit, between)
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
