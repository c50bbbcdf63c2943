"""Checks of the trend: the day and the ledger that it needs, its measures and its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.trend.spec import TrendRule
from evalpipe.spec.rules_measures import check_measure, one_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.trend.spec import Period
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


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
                yield from one_value(draft, entry, "a trend has one value of each model a night")
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
