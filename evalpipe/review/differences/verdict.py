"""The comparison in one sentence, and whether anything that counts differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.review.differences.records import Difference, GateChange

BEFORE = {"pass": "held", "skipped": "was skipped", "indeterminate": "was inconclusive",
          "warn": "failed with severity warn", "fail": "failed"}
"""What became of a gate in the first run."""

NOW = {"pass": ("holds", "hold"), "skipped": ("is skipped", "are skipped"),
       "indeterminate": ("is inconclusive", "are inconclusive"),
       "warn": ("fails with severity warn", "fail with severity warn"), "fail": ("fails", "fail")}
"""What becomes of a gate, and of several, in the second run."""

MOST_CLAUSES = 4
"""The clauses of the sentence; what is beyond them stands below it."""


def verdict(difference: Difference) -> Difference:
    """Return the comparison with its sentence, and with whether all that counts is the same."""
    counted = list(_counted(difference))
    if not counted:
        return difference.model_copy(update={"same": True, "verdict": _same(difference)})
    clauses = [_estimates(difference), *_gates(difference), *counted]
    clauses = [clause for place, clause in enumerate(clauses) if clause and clause not in clauses[:place]]
    text = "; ".join(clauses[:MOST_CLAUSES])
    return difference.model_copy(update={"same": False, "verdict": f"{text[:1].upper()}{text[1:]}."})


def some(count: int, singular: str, plural: str = "") -> str:
    """Write a count of things: "1 key", "2 keys"."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def _same(difference: Difference) -> str:
    """Say that nothing counts; what differs and is ignored is named."""
    text = "The results are the same" if _is_exact(difference) else "The results are the same within the tolerance"
    apart = list(_counted(difference.model_copy(update={"ignored": []})))
    return f"{text}; not counted: {', '.join(apart)}." if apart else f"{text}."


def _is_exact(difference: Difference) -> bool:
    given = difference.tolerance
    return not (given.absolute or given.relative or any(given.by_metric.values()))


def _estimates(difference: Difference) -> str:
    """Say how many estimates differ: "2 of 84 estimates differ by more than the tolerance"."""
    counts = difference.counts
    if not counts.estimates:
        return ""
    beyond = "" if _is_exact(difference) else " by more than the tolerance"
    if not counts.differ:
        return f"none of {some(counts.estimates, 'estimate')} differs{beyond}"
    return f"{counts.differ:,} of {some(counts.estimates, 'estimate')} {_verb(counts.differ, 'differ')}{beyond}"


def _verb(count: int, plural: str) -> str:
    return f"{plural}s" if count == 1 else plural


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _gates(difference: Difference) -> Iterator[str]:
    """Say what became of the gates, those that got worse most first: "1 gate that held fails now"."""
    turns = Counter(_turn(change) for change in difference.gates)
    for (before, now), count in turns.items():
        if before and now and before != now:
            yield f"{some(count, 'gate')} that {_of(before, count)} {NOW[now][count > 1]} now"
        elif before and not now:
            yield f"{some(count, 'gate')} that {_of(before, count)} {_be(count)} gone"
        elif now and not before:
            yield f"{some(count, 'new gate')} {NOW[now][count > 1]}"
        else:
            yield f"{some(count, 'gate')} {'has another limit' if count == 1 else 'have other limits'}"


def _turn(change: GateChange) -> tuple[str, str]:
    before, now = (side.kind if side is not None else "" for side in (change.a, change.b))
    return (before, now) if before != now else ("", "")


def _of(kind: str, count: int) -> str:
    return BEFORE[kind].replace("was ", "were ") if count > 1 else BEFORE[kind]


def _counted(difference: Difference) -> Iterator[str]:
    """Yield a clause for each kind of difference that counts; nothing where none does."""
    counts, ignored = difference.counts, difference.ignored
    if counts.differ:
        yield _estimates(difference)
    yield from _gates(difference)
    for count, run in ((counts.only_a, "A"), (counts.only_b, "B")):
        if count:
            yield f"{some(count, 'estimate')} {_be(count)} in {run} alone"
    yield from _numbers(difference)
    if difference.findings and "findings" not in ignored:
        yield f"{some(len(difference.findings), 'finding')} {_verb(len(difference.findings), 'differ')}"
    inputs = [some(len(rows), what, plural) for part, rows, what, plural in (
        ("spec", difference.spec, "key of the spec", "keys of the spec"),
        ("data", difference.data, "file of data", "files of data")) if rows and part not in ignored]
    if inputs:
        yield f"{' and '.join(inputs)} {'differs' if inputs[0][:2] == '1 ' and not inputs[1:] else 'differ'}"
    if difference.subjects:
        count = len(difference.subjects)
        yield f"{some(count, 'dataset, model or metric', 'datasets, models or metrics')} {_be(count)} in one run alone"
    if difference.other and "other" not in ignored:
        count = len(difference.other)
        yield f"{some(count, 'further part')} of the results {_verb(count, 'differ')}"


def _numbers(difference: Difference) -> Iterator[str]:
    """Yield the clauses of thresholds, desirability and of intervals alone."""
    alone = difference.counts.intervals_alone
    if alone and "intervals" not in difference.ignored:
        yield f"{some(alone, 'estimate')} {_verb(alone, 'differ')} in the interval or its details alone"
    for what, plural, changes in (("threshold", "thresholds", difference.thresholds),
                                  ("desirability", "desirabilities", difference.desirability)):
        counted = [change for change in changes if not (change.counted_alone and "intervals" in difference.ignored)]
        if counted:
            yield f"{some(len(counted), what, plural)} {_verb(len(counted), 'differ')}"
