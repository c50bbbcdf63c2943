"""What the card says of gates: the verdict on the whole, and every gate with its reason."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.names import names_of
from evalpipe.report.page import Aside, Bullets, Code, Column, Number, Row, Section, Table, Text, Verdict
from evalpipe.report.tables import is_whole, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.report.names import Names
    from evalpipe.report.page import Block, Cell
    from evalpipe.results import Gate, Results

WORDS = {
    "min": "at least", "max": "at most", "max_increase": "rises by at most", "max_decrease": "falls by at most",
    "min_increase": "rises by at least", "min_decrease": "falls by at least",
}
"""Each key of `Gate.limit` in words."""

SIGNS = {"fail": "✗", "warn": "▲", "indeterminate": "?", "skipped": "–", "pass": "✓"}
"""The sign of each verdict, which stands before its word."""

SAID = {
    "fail": "failed", "warn": "failed (warning)", "indeterminate": "inconclusive", "skipped": "skipped", "pass": "held",
}
"""Each verdict in words."""

FOLDED = 12
"""Verdicts up to which the card lists all; of more, those that failed and the next worst up to this number."""

MOST = 30
"""Failed verdicts that the card lists at most."""


def sections(results: Results) -> Iterator[Section]:
    """Write the box with the verdict on the whole and every gate with its reason; none where no gate is declared."""
    gates, names = results.gates, names_of(results)
    if not gates:
        return
    ordered = sorted(gates, key=lambda gate: list(SIGNS).index(kind_of(gate)))
    failed = sum(kind_of(gate) in ("fail", "warn") for gate in gates)
    listed = ordered[: min(max(failed, FOLDED), MOST)]
    left_out = {gate.gate for gate in ordered[len(listed):]}
    worst = results.verdict
    counted = _counted(names, len(listed), len(gates), [gate for gate in gates if gate.gate in left_out])
    yield Section("verdict", Verdict(headline(gates), SIGNS[worst]), (_table(results, names, listed), *counted),
                  f"gates {worst}")


def _table(results: Results, names: Names, gates: Sequence[Gate]) -> Table:
    counts = {metric.name for metric in results.metrics if is_whole(metric)}
    rows = tuple(_row(names, gate, whole=gate.metric in counts) for gate in gates)
    columns = (
        Column("Verdict", style="said"), Column("Gate", style="what"), Column("Observed", "num"),
        Column("Reason", style="why"),
    )
    return Table(f"Gates{with_limits(results, rows)}", columns, rows, "judged", stacked=True, heading=1)


def kind_of(gate: Gate) -> str:
    """Return the outcome of a gate, or that it was skipped."""
    return "skipped" if gate.verdict == "skipped" else gate.outcome


BE = {
    "fail": ("failed", "failed"), "warn": ("failed with severity warn", "failed with severity warn"),
    "indeterminate": ("is inconclusive", "are inconclusive"), "skipped": ("was skipped", "were skipped"),
}
"""What is said of one gate and of several, by what became of them."""


def headline(gates: Sequence[Gate]) -> str:
    """Say in a sentence what became of the gates: "2 of 9 gate checks failed, 1 is inconclusive"."""
    found, whole = Counter(map(kind_of, gates)), len(gates)
    parts = [(found[kind], words[found[kind] > 1]) for kind, words in BE.items() if found[kind]]
    if whole == 1:
        return f"The gate {parts[0][1] if parts else 'held'}"
    if not parts:
        return f"Every gate held: {whole} checks"
    if not found["fail"] and not found["warn"] and found["indeterminate"]:
        (count, word), *rest = parts
        return ", ".join(["No gate failed", f"{count} of {whole} checks {word}", *(f"{n} {w}" for n, w in rest)])
    said = [f"{count} {word}" for count, word in parts]
    if set(found) <= {"pass", "skipped"} and found["pass"]:
        return f"Every gate held: {found['pass']} checks, {said[0]}"
    return ", ".join([f"{parts[0][0]} of {whole} gate checks {parts[0][1]}", *said[1:]])


def _counted(names: Names, listed: int, whole: int, gates: Sequence[Gate]) -> Iterator[Block]:
    """Count the verdicts of gates that are not all listed."""
    groups: dict[int, list[Gate]] = {}
    for gate in gates:
        groups.setdefault(gate.gate, []).append(gate)
    lines = []
    for same in groups.values():
        kinds = Counter(map(kind_of, same))
        verdicts = [f"{kinds[kind]} {word}" for kind, word in SAID.items() if kinds[kind]]
        lines.append(f"{gate_title(names, same[0], whole=True)}: {', '.join(verdicts)}")
    if lines:
        yield Text((f"These are the worst {listed} of {numbers.count(whole)} checks; all are in ", Code("results.json"),
                    ". The gates of the others, in counts:"), "small")
        yield Bullets(tuple(lines), "small")


def gate_title(names: Names, gate: Gate, *, whole: bool = False) -> str:
    """Name a gate: by its own name, or by the measure and its limit; ``whole`` leaves out the class."""
    if gate.name is not None:
        return gate.name
    if gate.metric is None:
        what = "Overall desirability" if gate.desirability == "overall" else f"Desirability of {gate.desirability}"
    else:
        what = names.measure(gate.metric, gate.params, gate.average, None if whole else gate.class_)
    return f"{what} {limit_text(names, gate)}"


def limit_text(names: Names, gate: Gate) -> str:
    """Write the limits of a gate: "at least 0.75", "rises by at most 0.01 against Logistic regression"."""
    said = " and ".join(f"{WORDS[key]} {numbers.plain(value)}" for key, value in gate.limit.items())
    if gate.against is None:
        return said
    run = "the reference" if gate.against == "last" else names.labels.get(gate.against, gate.against)
    return f"{said} against {run}"


def gate_place(names: Names, gate: Gate) -> str:
    """Name the slice of a verdict, and the class where the name of the gate does not tell it."""
    parts = [] if gate.slice is None else [names.slice(gate.slice)]
    return ", ".join([*parts, *([gate.class_] if gate.name is not None and gate.class_ is not None else [])])


def _row(names: Names, gate: Gate, *, whole: bool) -> Row:
    kind, place, limit = kind_of(gate), gate_place(names, gate), limit_text(names, gate)
    where = f"{names.model(gate.model, gate.variant)} on {gate.dataset}" + (f", {place}" if place else "")
    return Row((
        Verdict(SAID[kind], SIGNS[kind], f"outcome {kind}"),
        (gate.name or gate_title(names, gate).removesuffix(f" {limit}"), Aside(limit, "limit"),
         *([] if gate.on == "interval" else [Aside(f"by its {_ON[gate.on]}", "definition")]),
         Aside(f"{where}{', severity warn' if gate.severity == 'warn' else ''}", "definition")),
        _observed(gate, whole=whole), gate.reason,
    ))


_ON = {"value": "value alone", "lower": "lower limit", "upper": "upper limit"}


def _observed(gate: Gate, *, whole: bool) -> Cell:
    value, lower, upper = gate.observed, gate.lower, gate.upper
    if value is None or not math.isfinite(value):
        return "–"
    exact = numbers.exact(value)
    if gate.against is not None:
        return Number(*numbers.signed_interval(value, lower, upper), exact=exact)
    if lower is None or upper is None:
        return Number(numbers.count(value) if whole and value.is_integer() else numbers.number(value), exact=exact)
    return Number(*numbers.interval(value, lower, upper, whole=whole), exact=exact)
