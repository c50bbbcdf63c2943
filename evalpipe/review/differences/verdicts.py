"""What became of gates and findings from one run to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.review.differences.matching import matched_twice, text_of
from evalpipe.review.differences.records import FindingChange, GateChange, GateSide
from evalpipe.review.differences.tolerance import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Gate, Results
    from evalpipe.results.document import Finding

    GatePairs = Sequence[tuple[Gate | None, Gate | None]]
    FindingPairs = Sequence[tuple[Finding | None, Finding | None]]

KINDS = ("pass", "skipped", "indeterminate", "warn", "fail")
"""What may become of a gate, from the best to the worst."""


def gate_pairs(a: Results, b: Results) -> GatePairs:
    """Return the gates of two runs side by side: those of one name, on one number, in whatever place of the spec."""
    def key(gate: Gate) -> str:
        return text_of([gate.name, gate.against, gate.key])

    def exact(gate: Gate) -> str:
        return text_of([key(gate), gate.on, gate.limit])

    pairs = matched_twice(a.gates, b.gates, exact, key)
    return list(pairs)


def gate_changes(pairs: GatePairs) -> list[GateChange]:
    """Return the gates with other verdicts or limits, those that got worse most first."""
    changes = [change for first, second in pairs for change in _gate_change(first, second)]
    return sorted(changes, key=loudness, reverse=True)


def loudness(change: GateChange) -> tuple[int, int]:
    """Return how far a gate got worse, then how bad it is now; one that is gone counts as one that no longer holds."""
    before, now = (KINDS.index(side.kind) if side else None for side in (change.a, change.b))
    worse = now if before is None else len(KINDS) - 1 - before if now is None else now - before
    return worse or 0, now or 0


def _gate_change(a: Gate | None, b: Gate | None) -> Iterator[GateChange]:
    present = a or b
    if present is None:
        return
    aspects = ["presence"] if a is None or b is None else gate_aspects(a, b)
    if aspects:
        where = {name: getattr(present, name) for name in (
            "metric", "desirability", "params", "average", "class_", "dataset", "model", "variant", "slice", "name",
            "against")}
        yield GateChange.model_validate(where | {"differs_in": aspects, "a": _side(a), "b": _side(b)})


def gate_aspects(a: Gate, b: Gate) -> list[str]:
    """Return in what a gate of two runs differs."""
    alike = {"verdict": a.kind == b.kind, "limit": a.limit == b.limit,
             "judged": (a.on, a.severity) == (b.on, b.severity)}
    return [aspect for aspect, same in alike.items() if not same]


def _side(gate: Gate | None) -> GateSide | None:
    return None if gate is None else GateSide(
        gate=gate.gate, kind=gate.kind, limit=gate.limit, on=gate.on, severity=gate.severity, observed=gate.observed,
        lower=gate.lower, upper=gate.upper, reason=gate.reason)


def finding_pairs(a: Results, b: Results) -> FindingPairs:
    """Return the findings of two runs side by side: those with one text, then those of one section and its numbers."""
    def key(finding: Finding) -> str:
        about = sorted(text_of(part.about) for part in finding.estimates) or NUMBER.sub("#", finding.text)
        return text_of([finding.section, finding.plugin, about])

    pairs = matched_twice(a.findings, b.findings, lambda finding: (finding.kind, finding.section, finding.text),
                          lambda finding: (finding.kind, key(finding)))
    # What is of one kind belongs together; what is left over may have turned from one kind into another.
    left, right, both = [], [], []
    for first, second in pairs:
        if first is not None and second is not None:
            both.append((first, second))
        elif first is not None:
            left.append(first)
        elif second is not None:
            right.append(second)
    return [*both, *matched_twice(left, right, key, key)]


def finding_changes(pairs: FindingPairs) -> list[FindingChange]:
    """Return the findings that appeared, went or turned, those that matter most first."""
    changes = [FindingChange(change="appeared" if first is None else "went" if second is None else "turned", a=first,
                             b=second)
               for first, second in pairs if first is None or second is None or first.kind != second.kind]
    return sorted(changes, key=lambda change: -max(side.weight for side in (change.a, change.b) if side is not None))


def restated(pairs: FindingPairs) -> int:
    """Count the findings that say the same in other words or digits."""
    return sum(first is not None and second is not None and first.kind == second.kind and first.text != second.text
               for first, second in pairs)
