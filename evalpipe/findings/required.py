"""Gates that require a check: which of them a spec refuses, and their verdicts by the outcomes of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Problem
from evalpipe.findings import rules, with_findings
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Origin
    from evalpipe.findings.applies import SpecDocument
    from evalpipe.results import Check, Gate, Results
    from evalpipe.results.document import Outcome, Verdict

VERDICTS: dict[Outcome, Verdict] = {
    "fails": "fail", "undecided": "inconclusive", "note": "pass", "passes": "pass", "clear": "pass",
    "not-applicable": "inconclusive",
}
"""The verdict of a gate by the outcome of the check that it requires."""


def not_applicable(spec: SpecDocument, places: Origin) -> Iterator[Problem]:
    """Yield the problem of each gate that requires a check which, by the resolved spec, does not apply."""
    for index, gate in enumerate(spec.get("gates") or ()):
        for rule in rules() if gate.get("check") else ():
            reason = next((reason for reason in rule.unless if reason.by_spec(spec)), None)
            if rule.code == gate["check"] and reason is not None:
                message = (f"gate {index + 1} requires the check '{rule.code}', which does not apply: "
                           f"{sentence(reason.code)}")
                hint = "declare what it needs, or remove the gate"
                yield Problem("check-not-applicable", message, places.place("gates", index, "check"), hint)


def with_required(results: Results) -> Results:
    """Return results whose gates on checks have their verdicts, and whose findings speak of them."""
    if all(gate.check is None for gate in results.gates):
        return results
    checks = {check.code: check for check in results.checks}
    gates = [gate if gate.check is None else _judged(gate, checks[gate.check]) for gate in results.gates]
    return with_findings(results.model_copy(update={"gates": gates}))


def _judged(gate: Gate, check: Check) -> Gate:
    """Return a gate with its verdict by the outcome of its check."""
    only_notes = any(rule.code == check.code and rule.kinds == ("note",) for rule in rules())
    verdict = "fail" if only_notes and check.outcome == "note" else VERDICTS[check.outcome]
    reason = gate.reason.model_copy(update={"code": f"check-{check.outcome}", "because": check.reason})
    return gate.model_copy(update={"verdict": verdict, "reason": reason})
