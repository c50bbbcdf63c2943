"""What is different since the run before: rows and events, measures, and keys of the spec."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.base.records import Measured
from evalpipe.chapters.since.records import ChangedKey, ChangedMeasure, DatasetBefore, Since

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.results import Estimate, Results

    Row = Mapping[str, Any]

    Digests = str | list[str] | dict[str, str]
    """The digest of a value of the spec, of each entry of a list, or of each key of a mapping."""

MOST = 3
"""The measures that are named, those that moved most."""

KEY = ("dataset", "model", "variant", "metric", "params", "average")
"""What tells the estimates of a run in the ledger apart."""


def compared(results: Results, now: Row, before: Row, estimates: Sequence[Row]) -> Since:
    """Return how results differ from the run ``before``, with the ``estimates`` of that under the models' names of now.

    ``now`` is the row of the ledger for these results, and ``before`` that of the run before.
    """
    facts: dict[str, Any] = before["facts"] or {}
    changes = sorted(_changes(results, estimates), key=lambda change: -change.distance)
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


def _changes(results: Results, estimates: Sequence[Row]) -> Iterator[ChangedMeasure]:
    """Yield each measure on all rows that has an interval in both runs, with its value before."""
    rows = {Measured(**{name: row[name] for name in KEY}).about: row for row in estimates}
    for row in results.rows:
        before = rows.get(row.about)
        distance = None if before is None else _distance(row, before)
        if before is not None and distance is not None:
            subject = {name: getattr(row, name) for name in KEY}
            yield ChangedMeasure(**subject, before=before["value"], distance=distance)


def _distance(row: Estimate, before: Row) -> float | None:
    """Return the change of a measure over what both intervals explain; None without two intervals of some width.

    The arms are those that face each other: of a value that rose, the lower of now and the upper of before.
    """
    ends = (row.value, row.lower, row.upper, before["value"], before["lower"], before["upper"])
    value, lower, upper, then, lower_then, upper_then = (math.nan if end is None else float(end) for end in ends)
    arms = (value - lower, upper_then - then) if value > then else (upper - value, then - lower_then)
    explained = math.hypot(*arms)
    return abs(value - then) / explained if 0 < explained < math.inf else None


def _changed_keys(now: Mapping[str, Digests], then: Mapping[str, Digests]) -> Iterator[ChangedKey]:
    """Yield the keys that differ, of the second level where both values are mappings."""
    for key in {**now, **then}:
        first, second = now.get(key), then.get(key)
        if first == second:
            continue
        if isinstance(first, dict) and isinstance(second, dict):
            yield from (ChangedKey(key=f"{key}.{name}", change=_change(first.get(name), second.get(name)))
                        for name in {**first, **second} if first.get(name) != second.get(name))
        elif isinstance(first, list) and isinstance(second, list):
            entries, entries_then = Counter(first), Counter(second)
            yield ChangedKey(key=key, change="changed", added=(entries - entries_then).total(),
                             removed=(entries_then - entries).total())
        else:
            yield ChangedKey(key=key, change=_change(first, second))


def _change(now: object, then: object) -> Literal["new", "gone", "changed"]:
    """Return what became of a key by its digests, None where it is absent."""
    return "new" if then is None else "gone" if now is None else "changed"
