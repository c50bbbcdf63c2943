"""The words of gates: the verdict at the head of the card, the cases of `junit.xml`, and lines for the terminal."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalpipe.card.junit import Check
from evalpipe.card.page import Aside, Bullets, Code, Column, Number, Row, Section, Table, Text, Verdict
from evalpipe.card.tables import with_limits
from evalpipe.card.wording import capital, names_of
from evalpipe.chapters.gates.card_sequences import evidence, sequence_procedures
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.method import Procedure
    from evalpipe.card.page import Block, Cell
    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.records import Kind
    from evalpipe.results import Gate, Results

LIMITS = {
    "min": "at least", "max": "at most", "max_increase": "rises by at most", "max_decrease": "falls by at most",
    "min_increase": "rises by at least", "min_decrease": "falls by at least",
}
"""Each key of `Gate.limit` in words."""

JUDGED = {
    "value": "its value alone", "lower": "its lower limit", "upper": "its upper limit",
    "sequence": "the evidence of all nights",
}
"""What must keep the limit, where that is not the whole interval."""


class Words(NamedTuple):
    """What is said of a verdict.

    The sign before its word, the word in tables, what one gate and several did, the outcome of its test case, and what
    stands there before the reason.
    """

    sign: str
    word: str
    singular: str
    plural: str
    case: Literal["passed", "failed", "skipped"]
    before: str = ""


KINDS: dict[Kind, Words] = {
    "fail": Words("✗", "failed", "failed", "failed", "failed"),
    "warn": Words(
        "▲", "failed (warning)", "failed with severity warn", "failed with severity warn", "skipped", "warning: "),
    "indeterminate": Words("?", "inconclusive", "is inconclusive", "are inconclusive", "skipped", "indeterminate: "),
    "skipped": Words("–", "skipped", "was skipped", "were skipped", "skipped", "skipped: "),
    "pass": Words("✓", "held", "held", "held", "passed"),
}
"""What is said of each verdict, from the worst to the best."""

FOLDED = 12
"""Verdicts up to which the card lists all; of more, those that failed and the next worst up to this number."""

MOST = 30
"""Failed verdicts that the card lists at most."""


def run_verdict(results: Results) -> Iterator[tuple[str, str]]:
    """Give the verdict on the whole: its sign, and the sentence that heads the card."""
    verdict = results.verdict
    if results.gates and verdict != "none":
        yield KINDS[verdict].sign, headline(results.gates)
    elif results.datasets:
        yield "?", "No verdict: no gate says how good is good enough"


def sections(results: Results) -> Iterator[Section]:
    """Write every gate with its reason; nothing where no gate is declared."""
    gates, names = results.gates, names_of(results)
    if not gates:
        return
    ordered = sorted(gates, key=lambda gate: list(KINDS).index(gate.kind))
    failed = sum(gate.kind in ("fail", "warn") for gate in gates)
    listed = min(max(failed, FOLDED), MOST)
    blocks = (_table(results, names, ordered[:listed]), *_counted(names, ordered, listed),
              *evidence(names, ordered[:listed]))
    yield Section("gates", "Gates", blocks)


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the evidence of nights was made, where gates are judged by it."""
    yield from sequence_procedures(results.gates)


def headline(gates: Sequence[Gate]) -> str:
    """Say in a sentence what became of the gates: "2 of 9 gate checks failed, 1 is inconclusive"."""
    if len(gates) == 1:
        return f"The gate {KINDS[gates[0].kind].singular}"
    counts = Counter(gate.kind for gate in gates)
    clauses = [(counts[kind], words.singular if counts[kind] == 1 else words.plural)
               for kind, words in KINDS.items() if counts[kind] and kind != "pass"]
    if counts["pass"] and counts.keys() <= {"pass", "skipped"}:
        start = f"Every gate held: {counts['pass']} checks"
    else:
        count, verb = clauses.pop(0)
        open_only = counts["indeterminate"] and not counts["fail"] and not counts["warn"]
        start = f"No gate failed, {count} of {len(gates)} checks {verb}" if open_only else (
            f"{count} of {len(gates)} gate checks {verb}")
    return ", ".join([start, *(f"{count} {verb}" for count, verb in clauses)])


def _table(results: Results, names: Names, gates: Sequence[Gate]) -> Table:
    counts = {metric.name for metric in results.metrics if metric.is_whole}
    rows = tuple(_row(names, gate, whole=gate.metric in counts) for gate in gates)
    columns = (
        Column("Verdict", style="said"), Column("Gate", style="what"), Column("Observed", "num"),
        Column("Reason", style="why"),
    )
    return Table(f"Gates{with_limits(results, rows)}", columns, rows, "judged", stacked=True, heading=1)


def _row(names: Names, gate: Gate, *, whole: bool) -> Row:
    by = [] if gate.on == "interval" else [Aside(f"by {JUDGED[gate.on]}", "definition")]
    severity = ", severity warn" if gate.severity == "warn" else ""
    return Row((
        Verdict(KINDS[gate.kind].word, KINDS[gate.kind].sign, f"outcome {gate.kind}"),
        (gate.name or capital(names.subject(gate)), Aside(_limit(names, gate), "limit"), *by,
         Aside(f"{names.scope(gate)}{_class(gate)}{severity}", "definition")),
        _observed(gate, whole=whole), gate.reason,
    ))


def _observed(gate: Gate, *, whole: bool) -> Cell:
    value, lower, upper = gate.observed, gate.lower, gate.upper
    if value is None or not math.isfinite(value):
        return "–"
    exact = numbers.exact(value)
    if gate.against is not None:
        return Number(*numbers.signed_interval(value, lower, upper, apart=(0, *gate.limit.values())), exact=exact)
    if lower is None or upper is None:
        return Number(numbers.count(value) if whole and value.is_integer() else numbers.number(value), exact=exact)
    return Number(*numbers.interval(value, lower, upper, whole=whole, apart=gate.limit.values()), exact=exact)


def _counted(names: Names, ordered: Sequence[Gate], listed: int) -> Iterator[Block]:
    """Count the verdicts of gates of which not all are listed."""
    items = []
    for number in dict.fromkeys(gate.gate for gate in ordered[listed:]):
        verdicts = [gate for gate in ordered if gate.gate == number]
        kinds = Counter(gate.kind for gate in verdicts)
        counts = [f"{kinds[kind]} {words.word}" for kind, words in KINDS.items() if kinds[kind]]
        items.append(f"{_title(names, verdicts[0], whole=True)}: {', '.join(counts)}")
    if items:
        yield Text((f"These are the worst {listed} of {numbers.count(len(ordered))} checks; all are in ",
                    Code("results.json"), ". Counts of the others, by gate:"), "small")
        yield Bullets(tuple(items), "small")


def _title(names: Names, gate: Gate, *, whole: bool = False) -> str:
    """Name a gate: by its own name, or by the measure and its limit; ``whole`` leaves out the class."""
    return gate.name or f"{capital(names.subject(gate, whole=whole))} {_limit(names, gate)}"


def _limit(names: Names, gate: Gate) -> str:
    """Write the limits of a gate: "at least 0.75", "rises by at most 0.01 against Logistic regression"."""
    limits = " and ".join(f"{LIMITS[key]} {numbers.plain(value)}" for key, value in gate.limit.items())
    if gate.against is None:
        return limits
    run = "the reference" if gate.against == "last" else names.labels.get(gate.against, gate.against)
    return f"{limits} against {run}"


def _class(gate: Gate) -> str:
    """Name the class of a verdict where the name of the gate does not tell it."""
    return "" if gate.name is None or gate.class_ is None else f", {gate.class_}"


def checks(results: Results) -> Iterator[Check]:
    """Write each verdict as a test case of its dataset and model; cases of one name have the number of the gate too.

    A gate that failed is a failure. One that failed with severity warn, is inconclusive or was skipped counts as
    skipped, with the reason as its message, so that a reader agrees with the exit code of `evalpipe run`.
    """
    names = names_of(results)
    taken: set[tuple[str, str]] = set()
    for gate in results.gates:
        variant = "" if gate.variant == "original" else f"+{gate.variant}"
        group = f"{gate.dataset}.{gate.model}{variant}"
        inside = "" if gate.slice is None else f", {names.slice(gate.slice)}"
        name = f"{_title(names, gate)}{inside}{_class(gate)}"
        name += f" (gate {gate.gate})" if (group, name) in taken else ""
        taken.add((group, name))
        yield Check(group, name, KINDS[gate.kind].case, f"{KINDS[gate.kind].before}{gate.reason}")


def called(names: Names, gate: Gate) -> str:
    """Name in the terminal what a verdict is of, with the gate's own name where it has one."""
    return f"{'' if gate.name is None else f'{gate.name}, '}{names.scope(gate)}"


def word_and_reason(names: Names, gate: Gate) -> tuple[str, str]:
    """Say in the terminal what became of a gate, and of what and why."""
    word = "failed (severity warn)" if gate.kind == "warn" else KINDS[gate.kind].word
    return word, f"{called(names, gate)}: {gate.reason}"
