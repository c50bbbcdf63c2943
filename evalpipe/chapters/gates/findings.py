"""What gates come to, in a sentence for each: that all held, or which did not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding, more_rows, of_model, rows_of, together
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Gate, Results
    from evalpipe.results.document import Finding

CLEAR = 3.0
"""The standard errors by which nights must differ from independent ones before it is told."""


@rule
def gates(results: Results) -> Iterator[Claim]:
    """Whether each gate held."""
    says = {"fail": failed, "warn": failed, "indeterminate": undecided, "pass": kept, "skipped": skipped}
    yield from (Claim(gate, says[gate.kind]) for gate in results.gates)


@rule
def dependent_nights(results: Results) -> Iterator[Claim]:
    """Whether the nights of a gate `on: sequence` differ by what their rows explain, and independently."""
    for gate in results.gates:
        nights = gate.sequence
        if nights is None or nights.spread is None or nights.autocorrelation is None:
            continue
        if nights.autocorrelation > CLEAR / math.sqrt(nights.nights) and gate.verdict != "fail":
            yield Claim(gate, following)
        elif nights.spread > 1 + CLEAR * math.sqrt(3 / nights.nights) and not nights.between_nights:
            yield Claim(gate, far_apart)


def far_apart(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say whose nights differ by more than their rows explain."""
    for gate_rows in _by_gate(rows):
        spread = max(row.sequence.spread or 0.0 for row in gate_rows if row.sequence is not None)
        times = numbers.fixed(math.sqrt(spread), 1)
        text = (f"{_named(results, gate_rows)}: values of successive nights differ {times} times as much as their rows "
                "explain. The gate counts nights that are alike and independent, and may "
                "fail or pass falsely: 'sequence: {between_nights: true}' allows for it.")
        yield finding("open", weights.WARNED, text, "gates", gate_rows)


def following(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say whose nights go with the night before."""
    for gate_rows in _by_gate(rows):
        most = max(row.sequence.autocorrelation or 0.0 for row in gate_rows if row.sequence is not None)
        text = (f"{_named(results, gate_rows)}: values of successive nights go together (correlation "
                f"{numbers.fixed(most, 2)}). The value has changed, or nights share rows, customers or causes. The "
                "gate counts them as independent, and may fail or pass falsely.")
        yield finding("open", weights.WARNED, text, "gates", gate_rows)


def _named(results: Results, rows: Sequence[Gate]) -> str:
    return rows[0].name or names_of(results).subject(rows[0])


def failed(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say which gates failed."""
    for gate_rows in _by_gate(rows):
        weight = weights.GATE_FAILED if gate_rows[0].severity == "fail" else weights.GATE_WARNED
        yield finding("fails", weight, _sentence(results, gate_rows), "gates", gate_rows)


def undecided(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say which gates these data leave open, and about how many more rows would decide."""
    for gate_rows in _by_gate(rows):
        still = ("The nights so far do not decide." if gate_rows[0].on == "sequence"
                 else f"These data do not decide.{_way_out(results, gate_rows)}")
        text = f"{_sentence(results, gate_rows)} {still}"
        yield finding("open", weights.GATE_OPEN, text, "gates", gate_rows)


def kept(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say which gates held."""
    for gate_rows in _by_gate(rows):
        yield finding("holds", weights.GATE_HELD, _sentence(results, gate_rows), "gates", gate_rows)


def skipped(results: Results, rows: Sequence[Gate]) -> Iterator[Finding]:
    """Say which gates were not judged, and why."""
    for gate_rows in _by_gate(rows):
        first = gate_rows[0]
        text = f"{first.name or names_of(results).subject(first)} was not judged: {first.reason}"
        yield finding("note", weights.UNCHECKED, text, "gates", gate_rows)


def _by_gate(rows: Sequence[Gate]) -> Iterator[list[Gate]]:
    return together(sorted(rows, key=lambda row: row.gate), lambda row: row.gate)


def _sentence(results: Results, rows: Sequence[Gate]) -> str:
    """Write "Sensitivity: 0.56 (0.50–0.62) for Logistic regression; required at least 0.6."."""
    names, first = names_of(results), rows[0]
    observed = "; ".join(f"{_observed(row)} for {of_model(results, row)}{_inside(results, row)}" for row in rows[:3])
    more = "" if len(rows) <= 3 else f" and {len(rows) - 3} more"
    limits = " and ".join(f"{LIMITS[key]} {numbers.plain(value)}" for key, value in first.limit.items())
    judged = ", by the evidence of all nights" if first.on == "sequence" else ""
    return f"{first.name or names.subject(first)}: {observed}{more}; required {limits}{judged}."


LIMITS = {
    "min": "at least", "max": "at most", "max_increase": "a rise of at most", "max_decrease": "a fall of at most",
    "min_increase": "a rise of at least", "min_decrease": "a fall of at least",
}


def _way_out(results: Results, rows: Sequence[Gate]) -> str:
    """Say about how many more rows would decide; nothing where one of the numbers sits on its limit, or nearly."""
    needed = [_needed(results, row) for row in rows]
    known = [number for number in needed if number is not None]
    if len(known) < len(needed):
        return ""
    several = len({row.model for row in rows}) == len(rows) > 1
    counts = [f"{numbers.count(number)}{f' ({names_of(results).model(row.model)})' if several else ''}"
              for number, row in zip(known, rows, strict=True)]
    listed = joined(counts) if several or len(rows) == 1 else numbers.count(max(known))
    return f" About {listed} more rows like these would."


def _needed(results: Results, row: Gate) -> int | None:
    """Return about how many more rows would decide a gate whose interval includes one of its limits; else None."""
    signed = [-limit if key.endswith("decrease") else limit for key, limit in row.limit.items()]
    within = [limit for limit in signed
              if row.lower is not None and row.upper is not None and row.lower <= limit <= row.upper]
    return more_rows(row, within[0], rows_of(results, row)) if len(within) == 1 else None


def _inside(results: Results, row: Gate) -> str:
    return "" if row.slice is None else f", {names_of(results).slice(row.slice)}"


def _observed(row: Gate) -> str:
    if row.observed is None:
        return "no value"
    return numbers.with_limits(row.observed, row.lower, row.upper, apart=row.limit.values())
