"""What was judged: gates and standards, as the tests that formats of tests know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalpipe.results import Gate, Results
    from evalpipe.runs.exports.exported import Predictor


class Judged(NamedTuple):
    """A test: its name, what became of it, how grave a failure is, and why; of a gate, the gate."""

    name: str
    kind: str
    """pass, skipped, indeterminate, warn or fail."""
    severity: str
    """fail or warn."""
    reason: str
    gate: Gate | None = None


def judged(results: Results, of: Predictor | None = None) -> list[Judged]:
    """Return every verdict of a gate, and of a standard of which a share is required; names are those of junit.xml.

    With a model, of the gates those on it.
    """
    from evalpipe.chapters.gates.card import checks
    from evalpipe.chapters.standards.card import checks as checks_of_standards

    of_gates = [Judged(f"{check.group}: {check.name}", gate.kind, gate.severity, gate.reason, gate)
                for check, gate in zip(checks(results), results.gates, strict=True)
                if of is None or (gate.model, gate.variant) == of]
    return of_gates + [
        Judged(check.name, "pass" if check.outcome == "passed" else "fail", "fail", check.message)
        for check in checks_of_standards(results)]
