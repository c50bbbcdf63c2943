"""What the card says of gates: the verdict on the whole, and every gate with its reason."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.names import names_of
from evalpipe.report.tables import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.report.names import Names
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


@dataclass(frozen=True, slots=True)
class GateRow:
    """One verdict. ``said`` is its word, behind its ``sign``; ``kind`` the outcome that colours it."""

    title: str
    place: str
    limit: str
    on: str
    observed: str
    interval: str | None
    kind: str
    sign: str
    said: str
    severity: str
    reason: str


@dataclass(frozen=True, slots=True)
class GatesView:
    """All verdicts: in a sentence, row by row with the worst first, and those that are only counted."""

    kind: str
    sign: str
    headline: str
    rows: tuple[GateRow, ...]
    whole: str
    """How many verdicts there are."""
    counted: tuple[str, ...]
    """Of gates with verdicts that are not listed: the gate, and how many of its verdicts are what."""

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return any(row.interval is not None for row in self.rows)


def gates_view(results: Results) -> GatesView | None:
    """Write the gates; None where none is declared."""
    gates, names = results.gates, names_of(results)
    if not gates:
        return None
    ordered = sorted(gates, key=lambda gate: list(SIGNS).index(kind_of(gate)))
    failed = sum(kind_of(gate) in ("fail", "warn") for gate in gates)
    listed = ordered[: min(max(failed, FOLDED), MOST)]
    counted = {gate.gate for gate in ordered[len(listed):]}
    counts = {metric.name for metric in results.metrics if is_whole(metric)}
    worst = results.verdict
    return GatesView(
        kind=worst, sign=SIGNS[worst], headline=headline(gates),
        rows=tuple(_row(names, gate, whole=gate.metric in counts) for gate in listed),
        whole=numbers.count(len(gates)), counted=_counted(names, [gate for gate in gates if gate.gate in counted]),
    )


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


def _counted(names: Names, gates: Iterable[Gate]) -> tuple[str, ...]:
    """Count the verdicts of each gate."""
    groups: dict[int, list[Gate]] = {}
    for gate in gates:
        groups.setdefault(gate.gate, []).append(gate)
    found = []
    for same in groups.values():
        kinds = Counter(map(kind_of, same))
        said = [f"{kinds[kind]} {SAID[kind]}" for kind in SAID if kinds[kind]]
        found.append(f"{gate_title(names, same[0], whole=True)}: {', '.join(said)}")
    return tuple(found)


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


def _row(names: Names, gate: Gate, *, whole: bool) -> GateRow:
    kind, (observed, interval) = kind_of(gate), _observed(gate, whole=whole)
    where = [names.model(gate.model, gate.variant), f"on {gate.dataset}"]
    place = gate_place(names, gate)
    return GateRow(
        title=gate.name or gate_title(names, gate).removesuffix(f" {limit_text(names, gate)}"),
        place=" ".join(where) + (f", {place}" if place else ""),
        limit=limit_text(names, gate), on="" if gate.on == "interval" else f"by its {_ON[gate.on]}",
        observed=observed, interval=interval, kind=kind, sign=SIGNS[kind], said=SAID[kind], severity=gate.severity,
        reason=gate.reason,
    )


_ON = {"value": "value alone", "lower": "lower limit", "upper": "upper limit"}


def _observed(gate: Gate, *, whole: bool) -> tuple[str, str | None]:
    value, lower, upper = gate.observed, gate.lower, gate.upper
    if value is None or not math.isfinite(value):
        return "–", None
    if gate.against is not None:
        return numbers.signed_interval(value, lower, upper)
    if lower is None or upper is None:
        return numbers.count(value) if whole and value.is_integer() else numbers.number(value), None
    return numbers.interval(value, lower, upper, whole=whole)
