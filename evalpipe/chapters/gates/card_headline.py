"""The sentence that heads the card of a run with gates: whether it is good enough, and if not, for whom."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.card_sentences import gate_sentence
from evalpipe.findings.words import counted_rate, earlier_range, moved_to, of_model
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.chapters.gates.records import Kind
    from evalpipe.results import Gate, Results

LIMIT_WORDS = {
    "min": "at least", "max": "at most", "max_increase": "a rise of at most", "max_decrease": "a fall of at most",
    "min_increase": "a rise of at least", "min_decrease": "a fall of at least",
}
"""Each key of `Gate.limit` after the word "required"."""


def headline(results: Results) -> str:
    """Return the verdict on all gates in a sentence: "Not fit for gender = male: finds 25 of 141 survivors, …"."""
    gates, counts = results.gates, Counter(gate.kind for gate in results.gates)
    requirements = counted(len(gates), "requirement")
    failed = worst_failed(results)
    if failed is not None:
        return f"{_failure(results, failed)}{_others(gates, counts)}"
    if counts["inconclusive"]:
        skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
        return f"Not settled: {counts['inconclusive']} of {requirements} undecided{skipped}"
    if not counts["pass"]:
        return f"Nothing was judged: {requirements} skipped"
    if counts["skipped"]:
        return f"Good enough: {counts['pass']} of {requirements} met, {counts['skipped']} skipped"
    which = {1: "the requirement is", 2: "both requirements are"}.get(len(gates), f"all {requirements} are")
    return f"Good enough: {which} met"


def worst_failed(results: Results) -> Gate | None:
    """Return the failed gate that the headline states, the most harmful; None where none failed."""
    kinds = {gate.kind for gate in results.gates}
    failed = [gate for gate in results.gates if gate.kind == ("fail" if "fail" in kinds else "warn")]
    return max(failed, key=lambda gate: _harm(results, gate), default=None)


def _others(gates: Sequence[Gate], counts: Counter[Kind]) -> str:
    """Return a sentence on how many gates failed and are undecided; empty where the only gate failed."""
    failures = counts["fail"] + counts["warn"]
    requirements = counted(len(gates), "requirement")
    undecided = f", {counts['inconclusive']} undecided" if counts["inconclusive"] else ""
    warned = " (a warning)" if not counts["fail"] else ""
    return "" if len(gates) == 1 and not warned else f". {failures} of {requirements} failed{warned}{undecided}"


def _failure(results: Results, gate: Gate) -> str:
    """Return what a failed gate says, first for which rows: "Not fit for s = a: finds 3 of 9 events, required …"."""
    names = names_of(results)
    if gate.check is not None:
        texts = [finding.text for finding in results.findings if (finding.code, finding.kind) == (
            gate.check, gate.reason.code.removeprefix("check-"))]
        return f"Not good enough: {next(iter(texts), gate_sentence(names, gate)).rstrip('.')}"
    where = "Not good enough" if gate.slice is None else f"Not fit for {names.slice(gate.slice)}"
    limits = " and ".join(f"{LIMIT_WORDS[key]} {numbers.plain(value)}" for key, value in gate.limit.items())
    evaluated = [dataset for dataset in results.datasets if dataset.role == "evaluate"]
    several = len(results.models) > 1 or len(evaluated) > 1 or gate.variant != "original"
    measured = _counted(results, gate)
    if measured is None:
        value = "no value" if gate.observed is None else numbers.with_limits(
            gate.observed, gate.lower, gate.upper, apart=gate.limit.values())
        parts = (f"{gate.name}," if gate.name else "", names.subject(gate), "changed by" if gate.against else "", value,
                 f"for {of_model(results, gate)}" if several else "")
        measured = " ".join(filter(None, parts))
    elif several:
        measured = f"{of_model(results, gate)} {measured}"
    since = "" if gate.against_as_of is None else f" since {gate.against_as_of}"
    return f"{where}: {_night(results, gate) or measured}{since}, required {limits}{nights_judged(gate)}"


def nights_judged(gate: Gate) -> str:
    """Return over how many nights a gate is judged: " (24 nights since 2026-11-01)"; empty where over this run."""
    if gate.sequence is None:
        return ""
    since = f" since {gate.sequence.since}" if gate.sequence.since and gate.sequence.nights > 1 else ""
    return f" ({counted(gate.sequence.nights, 'night')}{since})"


def _night(results: Results, gate: Gate) -> str:
    """Return tonight's value beside the earlier ones of the trend: "ROC AUC fell to 0.57 on …"; empty without them."""
    line = next((line for line in results.trend.lines if line.is_of(gate)), None)
    if line is None or line.value[-1] is None:
        return ""
    nights = line.value[-results.trend.shown - 1 : -1]
    earlier = earlier_range(nights, numbers.decimals(line.value[-1], line.lower[-1], line.upper[-1]))
    if not earlier:
        return ""
    name = f"{gate.name}, " if gate.name else ""
    of = f" of {of_model(results, gate)}" if len(results.models) > 1 else ""
    value = numbers.with_limits(line.value[-1], line.lower[-1], line.upper[-1], apart=gate.limit.values())
    change = "" if gate.against is None or gate.observed is None else (
        f"; it changed by {numbers.signed_with_limits(gate.observed, gate.lower, gate.upper)}")
    return (f"{name}{names_of(results).subject(gate)}{of} {moved_to(line.value[-1], nights)} {value} "
            f"on {results.as_of}; it was {earlier}{change}")


def _counted(results: Results, gate: Gate) -> str | None:
    """Return a rate as counts: "finds 25 of 141 survivors"; None where the gate is on another number."""
    if gate.against is not None or gate.observed is None or gate.on == "sequence" or gate.name is not None:
        return None
    return counted_rate(results, gate, gate.slice)


def _harm(results: Results, gate: Gate) -> tuple[bool, float]:
    """Return how much a failed gate harms: on all rows first, then its rows times how far it is beyond its limit."""
    rows = 1.0 if gate.slice is None else next(
        (part.n for part in results.slices if (part.dataset, part.slice) == (gate.dataset, gate.slice)), 0.0)
    limits = [-limit if key.endswith("decrease") else limit for key, limit in gate.limit.items()]
    beyond = [abs(gate.observed - limit) for limit in limits] if gate.observed is not None else [1.0]
    return gate.slice is None, rows * min(beyond)
