"""The sentence of a verdict, made of its numbers and its reason, and the sentence that heads a card with gates."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from evalpipe.card.wording import capital, joined, names_of
from evalpipe.chapters.gates.records import ROUNDING
from evalpipe.findings.words import counted_rate, earlier_range, moved_to, of_model
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:

    from evalpipe.card.wording import Names
    from evalpipe.results import Gate, Results


COUNTED = {
    "fail": "This counts as failed.", "inconclusive": "This leaves the gate inconclusive.",
    "pass": "This counts as passed.",
}
"""What a number that cannot be judged comes to, by the verdict that the gate gives it."""


def gate_sentence(names: Names, gate: Gate) -> str:
    """Return the reason for a verdict in one or two sentences, which begin with what was judged."""
    if gate.reason.text is not None:
        return gate.reason.text
    name = capital(names.subject(gate))
    if gate.check is not None:
        return f"The {names.subject(gate)} {_check_predicate(gate)}"
    if gate.reason.code == "not-compared":
        return f"{name} was not compared: {gate.reason.because}."
    is_count = gate.metric in names.counts
    predicate = _predicate if gate.sequence is None else _sequence_predicate
    return f"{name}{_minus_reference(names, gate)}{predicate(gate, is_count=is_count)}"


def _check_predicate(gate: Gate) -> str:
    """Return what follows the name of a check: its outcome and, where it does not apply, how that counts."""
    outcome = gate.reason.code.removeprefix("check-")
    if outcome == "not-applicable":
        return f"does not apply: {gate.reason.because}. {COUNTED[gate.verdict]}"
    note = "has a note, and should have none" if gate.verdict == "fail" else "has a note, and does not fail"
    return {"clear": "is clear", "note": note, "undecided": "is undecided"}.get(outcome, outcome) + "."


def _minus_reference(names: Names, gate: Gate) -> str:
    """Return what a difference is from, as " minus that of …"; empty where a value is judged."""
    if gate.against is None:
        return ""
    if gate.against != "last" and gate.against_sha256 is None:
        return f" minus that of {names.model(gate.against)}"
    run = "the reference" if gate.against == "last" else "the earlier run"
    day = "" if gate.against_as_of is None else f" as of {gate.against_as_of}"
    return f" minus that of {run}{day} (two independent samples)"


def _predicate(gate: Gate, *, is_count: bool) -> str:
    """Return what follows the name of a number that this run alone judges: the number, and where it lies to the limits.

    ``is_count`` says that the measure is a count, whose decimals are left out where all of them are zero.
    """
    code, because = gate.reason.code, gate.reason.because
    if code == "absent":
        return f" is not given: {because}. {COUNTED[gate.verdict]}"
    if code == "undefined":
        prefix = "" if str(because).startswith("undefined ") else "undefined: "
        return f" is {prefix}{because}. {COUNTED[gate.verdict]}"
    if code == "unreliable":
        start = "It has no interval" if gate.lower is None else "Its interval cannot be relied on"
        return f": {_number_text(gate, is_count=is_count)}. {start}: {because}. {COUNTED[gate.verdict]}"
    judged, _, position = code.partition("-")
    if judged == "interval":
        return _interval_predicate(gate, position, is_count=is_count)
    low, high = _limit_text(gate, gate.limits.low), _limit_text(gate, gate.limits.high)
    kept_limits = (("at least", gate.limits.low, low), ("at most", gate.limits.high, high))
    where = {
        "below": f"below {low}", "above": f"above {high}",
        "within": " and ".join(f"{words} {text}" for words, limit, text in kept_limits if math.isfinite(limit)),
    }[position]
    if judged != "value":
        subject, number = f"The {judged} limit", gate.lower if judged == "lower" else gate.upper
    elif gate.on == "value":
        subject, number = "The value", gate.observed
    elif gate.lower is None:
        subject = f"There is no interval ({because or 'none was made'}), so the value alone is judged: it"
        number = gate.observed
    else:
        subject = f"Its interval cannot be relied on: {because}. So the value alone is judged: it"
        number = gate.observed
    return f": {_number_text(gate, number or 0.0, is_count=is_count)}. {subject} is {where}."


def _interval_predicate(gate: Gate, position: str, *, is_count: bool) -> str:
    """Return where the interval lies to the limits: ": 0.56 (0.50–0.62). The whole interval is below 0.7."."""
    lower, upper, limits = gate.lower or 0.0, gate.upper or 0.0, gate.limits
    low, high = _limit_text(gate, limits.low), _limit_text(gate, limits.high)
    number = f": {_number_text(gate, lower, upper, is_count=is_count)}."
    if position == "includes":
        sides = ((low, limits.side(lower, gate.scale) < 0), (high, limits.side(upper, gate.scale) > 0))
        missed = " and ".join(limit for limit, beyond in sides if beyond)
        return f"{number} The interval includes {missed}, so these data do not decide."
    if position != "within":
        where = f"below {low}" if position == "below" else f"above {high}"
    elif len(limits.finite) == 2:
        where = f"between {low} and {high}"
    else:
        touches = any(math.isclose(end, limit, rel_tol=ROUNDING) for end in (lower, upper) for limit in limits.finite)
        where = f"{'at or ' if touches else ''}{f'above {low}' if math.isfinite(limits.low) else f'below {high}'}"
    return f"{number} The whole interval is {where}."


def _sequence_predicate(gate: Gate, *, is_count: bool) -> str:
    """Return what follows the name of a number that is judged by the evidence of all nights."""
    reason, state = gate.reason, gate.sequence
    assert state is not None  # noqa: S101 - the caller looked
    number = f" is not given: {reason.because}."
    if gate.observed is not None:
        number = f": {_number_text(gate, is_count=is_count)}."
    nights = "1 night" if state.nights == 1 else f"{state.nights:,} nights"
    if reason.code == "no-nights":
        return f"{number} No night has evidence yet, so these nights do not decide."
    if reason.code == "few-rows-in-nights":
        return (f"{number} {nights} {'has' if state.nights == 1 else 'have'} too few rows for evidence: that takes "
                f"{numbers.plain(reason.bound or 0.0)} of the rarer outcome and an interval, so these nights do not "
                "decide.")
    limits = gate.limits
    low, high = _limit_text(gate, limits.low), _limit_text(gate, limits.high)
    outside = {limits.low: f"below {low}", limits.high: f"above {high}"}
    inside = {limits.low: f"at least {low}", limits.high: f"at most {high}"}
    beyond = " or ".join(outside[limit] for limit in limits.finite)
    within = " and ".join(inside[limit] for limit in limits.finite)
    kind = " (asymptotic)" if state.basis == "asymptotic" else ""
    since = "" if state.since is None or state.nights == 1 else f" since {state.since}"
    same_data = f" (without {joined(state.same_data)}, of the same data as earlier days)" if state.same_data else ""
    evidence = f"evidence{kind} of {nights}{since}{same_data}"
    start = f"{number} The {evidence} that it is"
    needed, against = numbers.evidence(state.threshold), numbers.evidence(state.evidence)
    kept = numbers.evidence(state.kept)
    if reason.code == "nights-missed":
        return f"{number} It is {beyond}: odds of {against} to 1 against chance, {needed} suffice ({evidence})."
    if reason.code == "nights-kept":
        return f"{number} It is {within}: odds of {kept} to 1 against chance, {needed} suffice ({evidence})."
    if reason.code == "recent-nights-missed":
        return (f"{start} {within} is {kept}, but that of recent nights that it is {beyond} is "
                f"{numbers.evidence(state.recent or 0.0)}; the gate passes while that is at most "
                f"{numbers.plain(reason.bound or 0.0)}.")
    return (f"{start} {beyond} is {against}, and that it is {within} is {kept}; either decides at {needed}, so these "
            "nights do not decide.")


def _limit_text(gate: Gate, limit: float) -> str:
    """Return a limit as text, with its sign if it is of a change."""
    return f"{'+' if gate.against is not None and limit > 0 else ''}{numbers.plain(limit)}"


def _number_text(gate: Gate, *judged: float, is_count: bool) -> str:
    """Return the observed number with its interval as text, with enough decimals to tell ``judged`` ends from limits.

    Of a measure with ``is_count``, decimals are left out where all of them are zero.
    """
    ends = [] if gate.lower is None or gate.upper is None else [gate.lower, gate.upper]
    shown = [gate.observed or 0.0, *ends]
    digits = 0 if is_count and all(float(number).is_integer() for number in shown) else numbers.decimals(
        gate.observed or 0.0, gate.lower, gate.upper)
    while digits < numbers.MOST_DECIMALS and any(
            _reads_as(number, limit, digits) for number in judged for limit in gate.limits.finite):
        digits += 1
    write = numbers.fixed if gate.against is None else numbers.signed
    value, *interval = (write(number, digits) for number in shown)
    return f"{value} ({numbers.ranged(*interval)})" if interval else value


def _reads_as(number: float, limit: float, digits: int) -> bool:
    """Tell whether a number with so few digits reads as a limit that it is not."""
    return round(number, digits) == round(limit, digits) and not math.isclose(number, limit, rel_tol=ROUNDING)


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
        undecided = f", {counts['inconclusive']} undecided" if counts["inconclusive"] else ""
        warned = " (a warning)" if not counts["fail"] else ""
        others = f". {counts['fail'] + counts['warn']} of {requirements} failed{warned}{undecided}"
        return f"{_failure(results, failed)}{'' if len(gates) == 1 and not warned else others}"
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
    measured = _rate_as_counts(results, gate)
    if measured is None:
        value = "no value" if gate.observed is None else numbers.with_limits(
            gate.observed, gate.lower, gate.upper, apart=gate.limit.values())
        parts = (f"{gate.name}," if gate.name else "", names.subject(gate), "changed by" if gate.against else "", value,
                 f"for {of_model(results, gate)}" if several else "")
        measured = " ".join(filter(None, parts))
    elif several:
        measured = f"{of_model(results, gate)} {measured}"
    since = "" if gate.against_as_of is None else f" since {gate.against_as_of}"
    return f"{where}: {_tonight_and_earlier(results, gate) or measured}{since}, required {limits}{nights_judged(gate)}"


def nights_judged(gate: Gate) -> str:
    """Return over how many nights a gate is judged: " (24 nights since 2026-11-01)"; empty where over this run."""
    if gate.sequence is None:
        return ""
    since = f" since {gate.sequence.since}" if gate.sequence.since and gate.sequence.nights > 1 else ""
    return f" ({counted(gate.sequence.nights, 'night')}{since})"


def _tonight_and_earlier(results: Results, gate: Gate) -> str:
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


def _rate_as_counts(results: Results, gate: Gate) -> str | None:
    """Return a rate as counts, such as "finds 25 of 141 survivors"; None where the gate is on another number."""
    if gate.against is not None or gate.observed is None or gate.on == "sequence" or gate.name is not None:
        return None
    return counted_rate(results, gate, gate.slice)


def _harm(results: Results, gate: Gate) -> tuple[bool, float]:
    """Return a sort key of a gate's harm: whether it is on all rows, then its rows times the excess over its limit."""
    rows = 1.0 if gate.slice is None else next(
        (part.n for part in results.slices if (part.dataset, part.slice) == (gate.dataset, gate.slice)), 0.0)
    limits = [-limit if key.endswith("decrease") else limit for key, limit in gate.limit.items()]
    beyond = [abs(gate.observed - limit) for limit in limits] if gate.observed is not None else [1.0]
    return gate.slice is None, rows * min(beyond)
