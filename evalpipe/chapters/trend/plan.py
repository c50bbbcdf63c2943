"""Which measures a trend has, which nights it reads, and what its control limits are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.trend.spec import Control, TrendRule
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec

MOST_USUAL = 4
"""Measures of the trend where neither it nor a gate names one."""


@dataclass(frozen=True, slots=True)
class TrendPlan:
    """The measures of a trend, how many earlier nights are read at most, and its limits; None for none."""

    entries: tuple[MetricPlan, ...]
    nights: int
    control: Control | None

    @property
    def words(self) -> str:
        """What is read, and what its limits come from: "brier over up to 90 earlier nights, with control limits"."""
        labels = " and ".join(entry.label for entry in self.entries)
        period = None if self.control is None else self.control.period
        limits = "without control limits" if self.control is None else "with control limits" if period is None else (
            f"with control limits from the nights of {period[0]} to {period[1]}")
        return f"{labels} over up to {self.nights:,} earlier nights, {limits}"

    @property
    def metrics(self) -> list[str]:
        """The names of its measures."""
        return list(dict.fromkeys(entry.metric.name for entry in self.entries))


def trend_plan(spec: Spec, metrics: Sequence[MetricPlan]) -> TrendPlan | None:
    """Return the plan of the trend of a spec whose measures are ``metrics``; None where it has no trend."""
    trend = spec.asked_trend
    if trend is None:
        return None
    return TrendPlan(tuple(_measures_of_trend(spec, trend, metrics)), trend.nights, trend.limits)


def _measures_of_trend(spec: Spec, trend: TrendRule, metrics: Sequence[MetricPlan]) -> list[MetricPlan]:
    """Return the measures that the trend names; else those of gates; else the first that have one value."""
    judged = [gate.metric for gate in spec.gates or () if gate.metric is not None]
    distinct: list[MetricPlan] = []
    for choice in trend.metrics or judged:
        for entry in entries(spec, choice):
            if entry.average != "none" and entry not in distinct:
                distinct.append(entry)
    return distinct or [entry for entry in metrics if entry.average != "none"][:MOST_USUAL]


def lines(plan: Plan) -> Iterator[str]:
    """Yield the line on the trend."""
    trend = plan.part(trend_plan)
    if trend is not None:
        yield f"trend of {trend.words}"


def document(plan: Plan) -> dict[str, object]:
    """Return the measures of the trend, the most earlier nights read, and its control limits, as JSON values."""
    trend = plan.part(trend_plan)
    if trend is None:
        return {"trend": None}
    entries = [{"metric": entry.metric.name, "params": entry.shown, "average": entry.average}
               for entry in trend.entries]
    control = trend.control and {
        "sigma": trend.control.sigma, "min_nights": trend.control.min_nights, "period": trend.control.period,
        "run": trend.control.run}
    return {"trend": {"metrics": entries, "nights": trend.nights, "control": control}}


PARTS = (trend_plan,)
