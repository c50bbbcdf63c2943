"""What the card says of gates: the verdict at its head, their tables, the evidence of nights, and their findings.

It also has the cases of `junit.xml`, and the lines of the terminal.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Bullets, Code, Column, Number, Row, Section, Table, Text, Verdict
from evalpipe.card.tables import row_anchor, with_limits
from evalpipe.card.wording import LIMITS, VERDICTS, VerdictLine, VerdictLines, capital, names_of
from evalpipe.chapters.gates.card_sentences import LIMIT_WORDS, gate_sentence, headline, nights_judged, worst_failed
from evalpipe.findings import weights
from evalpipe.findings.claims import NO_GATES, Claim, Unless, rule
from evalpipe.findings.margins import more_rows, more_rows_sentence
from evalpipe.findings.words import finding, grouped, of_model, rows_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.junit import Case
    from evalpipe.card.page import Block, Cell
    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.records import GateSequence, Kind
    from evalpipe.results import Gate, Results
    from evalpipe.results.document import Finding


JUDGED = {
    "value": "its value alone", "lower": "its lower limit", "upper": "its upper limit",
    "sequence": "the evidence of all nights",
}
"""What must keep the limit, where that is not the whole interval."""


SEVERITIES: dict[Kind, Literal["error", "warning"]] = {"fail": "error", "warn": "warning"}
"""What an annotation of the spec is called, by what became of the gate; "notice" where it did not fail."""

BETTING = ("Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. Journal of "
           "the Royal Statistical Society Series B 86(1), 1–27.")

FOLDED = 12
"""Verdicts up to which the card lists all; of more, those that failed and the next worst up to this number."""

MOST = 30
"""Failed verdicts that the card lists at most."""


def run_verdict(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the verdict of the run: its sign, and the sentence that heads the card."""
    verdict = results.verdict
    if results.gates and verdict != "none":
        yield VERDICTS[verdict].sign, headline(results)
    elif results.datasets:
        yield "?", "No verdict: no gate says how good is good enough"


def in_headline(results: Results) -> Iterator[Finding]:
    """Yield the findings that repeat the headline: on the failed gate alone, and on the check that it requires."""
    gate = worst_failed(results)
    if gate is None or gate.reason.code == "unreliable":  # of which the finding says more
        return
    repeating = {of_gate.text for of_gate in failed(results, [gate])}
    for other in results.findings:
        is_required = gate.check == other.code and other.text.rstrip(".") in headline(results)
        if is_required or (other.code == "gates" and other.text in repeating):
            yield other


def sections(results: Results) -> Iterator[Section]:
    """Yield the section of the gates, each with its reason; nothing where no gate is declared."""
    names = names_of(results)
    if not results.gates:
        return
    ordered = sorted(results.gates, key=lambda gate: list(VERDICTS).index(gate.kind))
    failed = sum(gate.kind in ("fail", "warn") for gate in ordered)
    listed = min(max(failed, FOLDED), MOST)
    yield Section("gates", "Gates", (
        _table(results, names, ordered[:listed]), *_counts_by_gate(names, ordered, listed),
        *evidence_tables(names, ordered[:listed])), part="requirements")


def _table(results: Results, names: Names, gates: Sequence[Gate]) -> Table:
    """Return the table of gates: the verdict on each, what was observed, and the reason."""
    rows = []
    for gate in gates:
        by = [] if gate.on in ("interval", "check") else [Aside(f"by {JUDGED[gate.on]}", "definition")]
        severity = ", severity warn" if gate.severity == "warn" else ""
        rows.append(Row((
            Verdict(VERDICTS[gate.kind].word, VERDICTS[gate.kind].sign, f"outcome {gate.kind}"),
            (gate.name or capital(names.subject(gate)), Aside(_limit_text(names, gate), "limit"), *by,
             Aside(f"{names.scope(gate)}{_class_suffix(gate)}{severity}", "definition")),
            _observed_cell(gate, is_count=gate.metric in names.counts), gate_sentence(names, gate)),
            anchor=None if gate.metric is None else row_anchor("gates", [gate], str(gate.gate), gate.against or "")))
    columns = (
        Column("Verdict", style="said"), Column("Gate", style="what"), Column("Observed", "num"),
        Column("Reason", style="why"),
    )
    return Table(f"Gates{with_limits(results, rows)}", columns, tuple(rows), "judged", stacked=True, heading=1)


def _observed_cell(gate: Gate, *, is_count: bool) -> Cell:
    """Return the observed number with its interval, if any, as a cell; a dash where there is no number."""
    value, lower, upper = gate.observed, gate.lower, gate.upper
    if value is None or not math.isfinite(value):
        return "–"
    exact = numbers.exact(value)
    if gate.against is not None:
        return Number(*numbers.signed_interval(value, lower, upper, apart=(0, *gate.limit.values())), exact=exact)
    if lower is None or upper is None:
        return Number(numbers.count(value) if is_count and value.is_integer() else numbers.number(value), exact=exact)
    return Number(*numbers.interval(value, lower, upper, whole=is_count, apart=gate.limit.values()), exact=exact)


def _counts_by_gate(names: Names, ordered: Sequence[Gate], listed: int) -> Iterator[Block]:
    """Yield how many verdicts of each kind there are by gate, of those after the first ``listed``."""
    items = []
    for number in dict.fromkeys(gate.gate for gate in ordered[listed:]):
        verdicts = [gate for gate in ordered if gate.gate == number]
        kinds = Counter(gate.kind for gate in verdicts)
        counts = [f"{kinds[kind]} {words.word}" for kind, words in VERDICTS.items() if kinds[kind]]
        items.append(f"{_title(names, verdicts[0], without_class=True)}: {', '.join(counts)}")
    if items:
        yield Text((f"These are the worst {listed} of {numbers.count(len(ordered))} checks; all are in ",
                    Code("results.json"), ". Counts of the others, by gate:"), "small")
        yield Bullets(tuple(items), "small")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the evidence of nights was made, where gates are judged by it."""
    sequences = [gate.sequence for gate in results.gates if gate.sequence is not None]
    if not sequences:
        return
    first = sequences[0]
    yield Procedure("Gates judged by all nights", (
        "Each night bets against the limit. What a stake of 1 has become is the evidence: an e-value, whose mean is at "
        "most 1 while the limit is kept. The sizes of the bets and the night on which a fall begins are mixed. The "
        f"evidence reaches {numbers.evidence(first.threshold)} with a probability of {numbers.plain(first.level)} at "
        f"most over all {numbers.count(first.alarms)} limits together, however many independent nights there are "
        "(Ville 1939). A gate fails when the evidence that its limit is missed reaches it. It passes when that of the "
        "same bets the other way round does and recent nights say little against it."), BETTING)
    if any(sequence.basis == "asymptotic" for sequence in sequences):
        yield Procedure("Asymptotic evidence", (
            "Where rows are weighted, clustered or cross-fitted, or a measure is no mean of rows within bounds, the "
            "bets are on the value. Its distance from the limit in standard errors counts as if it were normal, less "
            "an allowance for what that leaves out. The standard error is that of half the interval, and nights of few "
            "rows count together."))
    if any(sequence.between_nights for sequence in sequences):
        yield Procedure("Nights that differ", (
            "The standard error of a night is that of its rows times how far the nights before differed, beside what "
            "their rows explain: from the differences of successive nights (von Neumann 1941)."))


def _title(names: Names, gate: Gate, *, without_class: bool = False) -> str:
    """Return the title of a gate: its own name, or its measure and limit; ``without_class`` leaves out the class."""
    return gate.name or f"{capital(names.subject(gate, whole=without_class))} {_limit_text(names, gate)}"


def _limit_text(names: Names, gate: Gate) -> str:
    """Return the limits of a gate as text: "at least 0.75", "rises by at most 0.01 against Logistic regression"."""
    limits = " and ".join(f"{LIMITS[key]} {numbers.plain(value)}" for key, value in gate.limit.items())
    if gate.against is None:
        return limits or ("is required" if gate.name is None else f"requires the check {gate.check}")
    run = "the reference" if gate.against == "last" else names.labels.get(gate.against, gate.against)
    return f"{limits} against {run}"


def _class_suffix(gate: Gate) -> str:
    """Return the class of a verdict, after a comma; empty where the name of the gate tells it."""
    return "" if gate.name is None or gate.class_ is None else f", {gate.class_}"


def checks(results: Results) -> Iterator[Case]:
    """Yield each verdict as a test case of its dataset and model; cases of one name have the number of the gate too."""
    from evalpipe.card.junit import Case

    names = names_of(results)
    names_so_far: set[tuple[str, str]] = set()
    for gate in results.gates:
        variant = "" if gate.variant == "original" else f"+{gate.variant}"
        group = f"{gate.dataset}.{gate.model}{variant}" if gate.check is None else "checks"
        slice_text = "" if gate.slice is None else f", {names.slice(gate.slice)}"
        name = f"{_title(names, gate)}{slice_text}{_class_suffix(gate)}"
        name += f" (gate {gate.gate})" if (group, name) in names_so_far else ""
        names_so_far.add((group, name))
        yield Case(group, name, gate.kind, gate_sentence(names, gate), gate)


def verdict_lines(results: Results) -> Iterator[VerdictLines]:
    """Yield what the terminal says: the verdict in a sentence, how many gates held, and a line for each other one."""
    if not results.gates:
        return
    names, others = names_of(results), [gate for gate in results.gates if gate.verdict != "pass"]
    verdict = "".join(f"\n{sign} {sentence}\n" for sign, sentence in run_verdict(results))
    count = len(results.gates)
    yield VerdictLines(f"{verdict}\ngates: {count - len(others):,} of {count:,} held", tuple(
        VerdictLine("gate", f"{gate.gate}",
                    "failed (severity warn)" if gate.kind == "warn" else VERDICTS[gate.kind].word,
                    f"{named}: {gate_sentence(names, gate)}" if named else gate_sentence(names, gate),
                    ("gates", gate.gate - 1), SEVERITIES.get(gate.kind, "notice"), gate=gate)
        # A check has no number that it could be on.
        for gate in others for named in [names.gate(gate) if gate.check is None else gate.name]))


def nights(sequence: GateSequence) -> str:
    """Return the number of nights that a verdict rests on as text, such as "12 nights since 2026-11-10"."""
    counted = "1 night" if sequence.nights == 1 else f"{numbers.count(sequence.nights)} nights"
    return counted if sequence.since is None else f"{counted} since {sequence.since}"


def evidence_tables(names: Names, gates: Sequence[Gate]) -> Iterator[Table]:
    """Yield a table of the evidence of all nights, by verdict; nothing where none of the gates rests on it."""
    rows = tuple(Row(((gate.name or capital(names.subject(gate)), Aside(names.scope(gate), "definition")),
                      _evidence_number(gate.sequence.evidence), _evidence_number(gate.sequence.kept),
                      _evidence_number(gate.sequence.threshold), nights(gate.sequence), gate.sequence.basis))
                 for gate in gates if gate.sequence is not None)
    if rows:
        columns = (
            Column("Gate", style="what"), Column("Evidence that the limit is missed", "num"),
            Column("Evidence that the limit is kept", "num"), Column("Evidence needed", "num"), Column("Nights"),
            Column("Evidence is"),
        )
        yield Table("Evidence of all nights", columns, rows, stacked=True)


def _evidence_number(value: float) -> Number:
    return Number(numbers.evidence(value), exact=numbers.exact(value))


UNTRUSTED = "An interval that cannot be trusted counts as failed."
"""What is said of a gate that failed though the number may keep its limit."""

CLEAR = 3.0
"""The standard errors by which nights must differ from independent ones before it is told."""


NO_SEQUENCE = Unless("no-sequence", lambda spec: all(gate.get("on") != "sequence" for gate in spec.get("gates") or ()))
FEW_NIGHTS = Unless("few-nights", by_results=lambda results: all(
    gate.sequence is None or gate.sequence.spread is None for gate in results.gates))


@rule("fails", "undecided", "note", "passes", unless=(NO_GATES,))
def gates(results: Results) -> Iterator[Claim]:
    """Whether each gate held."""
    finding_of_kind = {"fail": failed, "warn": failed, "inconclusive": undecided, "pass": kept, "skipped": skipped}
    yield from (Claim(gate, finding_of_kind[gate.kind]) for gate in results.gates)


@rule("undecided", unless=(NO_SEQUENCE, FEW_NIGHTS))
def dependent_nights(results: Results) -> Iterator[Claim]:
    """Whether the nights of a gate `on: sequence` differ by what their rows explain, and independently."""
    for gate in results.gates:
        nights = gate.sequence
        if nights is None or nights.spread is None or nights.autocorrelation is None:
            continue
        # Of n independent nights the standard errors are 1 / sqrt(n) and, of a spread of 1, sqrt(3 / n).
        if nights.autocorrelation > CLEAR / math.sqrt(nights.nights) and gate.verdict != "fail":
            yield Claim(gate, correlated_nights)
        elif nights.spread > 1 + CLEAR * math.sqrt(3 / nights.nights) and not nights.between_nights:
            yield Claim(gate, far_apart)


def far_apart(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each gate whose nights differ by more than their rows explain."""
    for gate_rows in _rows_by_gate(rows):
        spread = max(row.sequence.spread or 0.0 for row in gate_rows if row.sequence is not None)
        times = numbers.fixed(math.sqrt(spread), 1)
        text = (f"{_gate_name(results, gate_rows)}: values of successive nights differ {times} times as much as their "
                "rows explain. The gate counts nights that are alike and independent, and may fail or pass falsely: "
                f"'sequence: {{between_nights: true}}' allows for it.")
        yield finding("undecided", weights.WARNED, text, "gates", gate_rows)


def correlated_nights(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each gate whose values are correlated from one night to the next."""
    for gate_rows in _rows_by_gate(rows):
        most = max(row.sequence.autocorrelation or 0.0 for row in gate_rows if row.sequence is not None)
        text = (f"{_gate_name(results, gate_rows)}: values of successive nights go together (correlation "
                f"{numbers.fixed(most, 2)}). The value has changed, or nights share rows, customers or causes. The "
                "gate counts them as independent, and may fail or pass falsely.")
        yield finding("undecided", weights.WARNED, text, "gates", gate_rows)


def _gate_name(results: Results, rows: Sequence[Gate]) -> str:
    """Return the name of the gate that the verdicts are of, or else the measure that it is on."""
    return rows[0].name or names_of(results).subject(rows[0])


def failed(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each gate that failed."""
    for gate_rows in _rows_by_gate(rows):
        weight = weights.GATE_FAILED if gate_rows[0].severity == "fail" else weights.GATE_WARNED
        reasons = {row.reason.code for row in gate_rows if row.reason is not None}
        untrusted = f" {UNTRUSTED}" if "unreliable" in reasons else ""
        yield finding("fails", weight, f"{_observed_and_required(results, gate_rows)}{untrusted}", "gates", gate_rows)


def undecided(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each inconclusive gate, with about how many more rows would decide."""
    for gate_rows in _rows_by_gate(rows):
        what_is_open = {"sequence": " The nights so far do not decide.", "check": ""}.get(
            gate_rows[0].on, f" These data do not decide.{_more_rows_sentence(results, gate_rows)}")
        text = f"{_observed_and_required(results, gate_rows)}{what_is_open}"
        yield finding("undecided", weights.GATE_OPEN, text, "gates", gate_rows)


def kept(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each gate that held."""
    for gate_rows in _rows_by_gate(rows):
        yield finding("passes", weights.GATE_HELD, _observed_and_required(results, gate_rows), "gates", gate_rows)


def skipped(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Yield a finding on each gate that was not judged, with the reason."""
    for gate_rows in _rows_by_gate(rows):
        first = gate_rows[0]
        names = names_of(results)
        text = f"{first.name or names.subject(first)} was not judged: {gate_sentence(names, first)}"
        yield finding("note", weights.UNCHECKED, text, "gates", gate_rows)


def _rows_by_gate(rows: Sequence[Gate]) -> Iterator[list[Gate]]:
    """Yield the verdicts in groups of the same gate, in the order of the spec."""
    return grouped(sorted(rows, key=lambda row: row.gate), lambda row: row.gate)


def _observed_and_required(results: Results, rows: Sequence[Gate]) -> str:
    """Return "Sensitivity: 0.56 (0.50–0.62) for Logistic regression; required at least 0.6."."""
    names, first = names_of(results), rows[0]
    if first.check is not None:
        return f"{f'{first.name}: ' if first.name else ''}{gate_sentence(names, first)}"
    observed, worst = [], _worst_of_each_model(rows)
    for row in worst[:3]:
        value = "no value" if row.observed is None else numbers.with_limits(
            row.observed, row.lower, row.upper, apart=row.limit.values())
        slice_text = "" if row.slice is None else f", {names.slice(row.slice)}"
        observed.append(f"{value} for {of_model(results, row)}{slice_text}")
    named = len(worst[:3])
    more = "" if len(rows) <= named else f" and {len(rows) - named} more"
    limits = " and ".join(f"{LIMIT_WORDS[key]} {numbers.plain(value)}" for key, value in first.limit.items())
    name, judged = first.name or names.subject(first), nights_judged(first)
    return f"{name}: {'; '.join(observed)}{more}; required {limits}{judged}."


def _worst_of_each_model(rows: Sequence[Gate]) -> list[Gate]:
    """Return of each model the verdict on the group that is worst by the limit of a gate; all where none is on a group.

    The worst is the one furthest beyond its limit or, where all are kept, the one nearest to it.
    """
    if all(row.slice is None for row in rows):
        return list(rows)

    def distance(row: Gate) -> float:
        """Return how far the observed number lies on the good side of its nearest limit; negative beyond it."""
        sides = [(row.observed or 0.0) - limit if key.startswith("min") else limit - (row.observed or 0.0)
                 for key, limit in row.limit.items()]
        return min(sides, default=0.0)

    return [min(of_model, key=distance) for of_model in grouped(
        rows, lambda row: (row.dataset, row.model, row.variant, row.class_))]


def _more_rows_sentence(results: Results, rows: Sequence[Gate]) -> str:
    """Return the sentence on about how many more rows would decide; empty unless that is known of every verdict."""
    needed = [_more_rows_needed(results, row) for row in rows]
    defined = [pair for pair in needed if pair is not None]
    return more_rows_sentence(results, rows, defined) if len(defined) == len(needed) else ""


def _more_rows_needed(results: Results, row: Gate) -> tuple[float, float] | None:
    """Return the limit that the interval includes, and about how many more rows would decide.

    None unless the interval includes exactly one of the gate's limits, and a number of rows is known.
    """
    # A decrease is a change below zero.
    limits = [-limit if key.endswith("decrease") else limit for key, limit in row.limit.items()]
    included = [limit for limit in limits
              if row.lower is not None and row.upper is not None and row.lower <= limit <= row.upper]
    number = more_rows(row, included[0], rows_of(results, row)) if len(included) == 1 else None
    return None if number is None else (included[0], number)
