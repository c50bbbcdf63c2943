"""The tables of results by what each number is of, and the difference of two numbers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from evalpipe.gates.subjects import Subject
from evalpipe.gates.verdict import Seen
from evalpipe.intervals.recovered import recovered_limits
from evalpipe.report.tables import is_whole
from evalpipe.results import Individual

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.results import Comparison, Estimate, Gate, Overall, Results

Key = tuple[object, ...]


class Tables:
    """The results of a run, looked up by dataset, model, variant, slice, measure, options, average and class."""

    def __init__(self, results: Results) -> None:
        """Keep the results; tables are put in order when they are first asked for."""
        self.results = results
        self._whole = {metric.name for metric in results.metrics if is_whole(metric)}

    def measured(self, row: Estimate) -> Subject:
        """Return an estimate as what a gate is on."""
        reason = row.reason
        if row.value is not None and row.lower is None and reason is None:
            reason = self.results.intervals.methods.get(row.metric, "").partition(": ")[2] or None
        seen = Seen(row.value, row.lower, row.upper, row.level, row.method, row.status, reason,
                    whole=row.metric in self._whole)
        return Subject(row.dataset, row.model, row.variant, row.slice, row.metric, None, row.params, row.average,
                       row.class_, seen)

    def desired(self, goal: str) -> Iterator[Subject]:
        """Yield the desirability of every model: overall, or in one goal."""
        table = self.results.desirability
        rows: Iterable[Overall | Individual] = table.overall if goal == "overall" else (
            row for row in table.individual if row.goal == goal)
        for row in rows:
            value = row.desirability if isinstance(row, Individual) else row.value
            seen = Seen(value, row.lower, row.upper, row.level, "percentile", row.status, row.reason)
            yield Subject(row.dataset, row.model, row.variant, None, None, goal, {}, None, None, seen)

    def same(self, subject: Subject | Gate) -> Subject | None:
        """Return the number of this run that a gate is on, or a verdict was on; None where it has none."""
        if subject.desirability is not None:
            found = self.desired(subject.desirability)
            return next((one for one in found if _key(one) == _key(subject)), None)
        row = self._estimates.get(_key(subject))
        return None if row is None else self.measured(row)

    def compared(self, subject: Subject) -> Seen:
        """Return the number less that of the baseline, on the same rows."""
        row = self._comparisons.get(_key(subject))
        if row is None:
            return Seen(None, status=subject.seen.status, reason=subject.seen.reason, signed=True)
        base = self._estimates.get((row.dataset, row.baseline, row.baseline_variant, *_key(subject)[3:]))
        return Seen(
            row.difference, row.lower, row.upper, row.level, row.method, row.status, row.reason,
            None if base is None else base.value, signed=True, whole=row.metric in self._whole,
        )

    @cached_property
    def _estimates(self) -> dict[Key, Estimate]:
        return {_key(row): row for row in self.results.rows}

    @cached_property
    def _comparisons(self) -> dict[Key, Comparison]:
        """The differences from the baseline's model; not those from another dataset, or of variants."""
        return {
            _key(row): row
            for row in self.results.comparisons
            if row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        }


def changed(now: Seen, before: Subject) -> Seen:
    """Return a number less that of an earlier run, taken as independent, with limits recovered from theirs."""
    then = before.seen
    if now.value is None or then.value is None:
        lacking, which = (now, "this run") if now.value is None else (then, "the earlier run")
        return Seen(None, status=lacking.status, reason=f"in {which}, {lacking.reason}", signed=True)
    value = now.value - then.value
    known = (now.lower, now.upper, then.lower, then.upper)
    if None in known:
        lacking, which = (now, "this run") if now.lower is None or now.upper is None else (then, "the earlier run")
        reason = f"{which} has none: {lacking.reason or 'none was made'}"
        return Seen(value, status=lacking.status, reason=reason, reference=then.value, signed=True, whole=now.whole)
    if now.level != then.level:
        reason = f"the two runs have intervals of different levels, {now.level:g} and {then.level:g}"
        return Seen(value, reason=reason, reference=then.value, signed=True, whole=now.whole)
    lower, upper = recovered_limits((now.value, *known[:2]), (then.value, *known[2:]))  # type: ignore[arg-type]
    weak = next((one for one in (now, then) if one.status != "ok"), now)
    return Seen(value, lower, upper, now.level, "recovered", weak.status, weak.reason, then.value, signed=True,
                whole=now.whole)


def _key(row: Estimate | Comparison | Subject | Gate) -> Key:
    labels = None if row.slice is None else tuple(sorted(row.slice.items()))
    options = tuple(sorted(row.params.items()))
    return row.dataset, row.model, row.variant, labels, row.metric, options, row.average, row.class_
