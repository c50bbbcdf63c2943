"""Which measures a trend has, which nights it reads, what its control limits are made of; and the checks of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.chapters.trend.spec import TrendRule
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.rules_measures import check_measure, check_single_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.trend.spec import Control, Period
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the trend: of the day and the ledger that it needs, its measures and its baseline."""
    trend = draft.spec.trend
    if trend is False or draft.spec.alone or not draft.readable("trend"):
        return
    yield from _check_day_and_ledger(draft)
    if isinstance(trend, TrendRule):
        for loc, choice in draft.entries(trend.metrics, "trend", "metrics"):
            entry, faults = check_measure(draft, loc, choice)
            yield from faults
            if entry is not None:
                yield from check_single_value(draft, entry, "a trend has one value of each model a night")
        limits = trend.limits
        if limits is not None and limits.baseline is not None and draft.readable("trend", "control", "baseline"):
            yield from _check_baseline(draft, limits.baseline)


def _check_day_and_ledger(draft: Draft) -> Iterator[Problem]:
    """Report a trend without a day, or without a ledger to read earlier nights from."""
    if draft.spec.as_of is None and draft.readable("as_of"):
        message = "'trend' needs the day that the card is about, and none is given"
        hint = "write 'as_of: 2026-11-21', or give --as-of 2026-11-21"
        yield draft.tree.problem("no-day", message, "trend", key=True, hint=hint)
    if draft.spec.ledger is False:
        message = "'trend' reads earlier nights from the ledger, and 'ledger' is false"
        notes = draft.tree.noted("the ledger is declined at", "ledger")
        hint = "remove 'ledger: false', or write 'trend: false'"
        yield draft.tree.problem("trend-without-ledger", message, "trend", key=True, hint=hint, notes=notes)


def _check_baseline(draft: Draft, period: Period) -> Iterator[Problem]:
    """Report a baseline that ends before it begins, or begins on the day of the card or later."""
    loc = ("trend", "control", "baseline")
    if not (draft.readable(*loc, "first") and draft.readable(*loc, "last")):
        return
    if period.last < period.first:
        message = f"the baseline ends on {period.last}, before its first day {period.first}"
        yield draft.tree.problem("wrong-period", message, *loc, "last", hint="change one of the two days")
    elif draft.spec.as_of is not None and draft.readable("as_of") and period.first >= draft.spec.as_of:
        message = f"the baseline begins on {period.first}, and only nights before {draft.spec.as_of} can be in it"
        yield draft.tree.problem("wrong-period", message, *loc, "first", hint="name days before that of the card")


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
    """Yield for `evalpipe plan` the line on the measures of the trend, its nights and its control limits."""
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
