"""Step 5: what the results say, in sentences.

Rules claim it, of results alone. Claims that are tested are tested together, so that all findings of a run are true
with the probability that its intervals have.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from evalpipe.chapters import CHAPTERS
from evalpipe.findings.claims import held
from evalpipe.findings.rules import registry

if TYPE_CHECKING:
    from evalpipe.findings.claims import Claim, Say
    from evalpipe.results import Results
    from evalpipe.results.findings import Finding

TOPICS = ("calibration", "skill", "classes", "numbers", "data", "unchecked")
"""The files of this folder that declare rules; those of chapters stand in their `findings.py`."""

REPEATED = 0.8
"""What each further finding of one sort weighs of the one before it."""


def with_findings(results: Results) -> Results:
    """Return the results with what they say."""
    return results.model_copy(update={"findings": findings(results)})


def findings(results: Results) -> list[Finding]:
    """Return what the results say, what matters most first."""
    declare()
    families = {name: list(rule.claims(results)) for name, rule in registry.items()}
    said: dict[Say, list[Claim]] = {}
    for claim, borne_out in held(families, results.intervals.level):
        say = claim.say if borne_out else claim.otherwise
        if say is not None:
            said.setdefault(say, []).append(claim)
    sentences = [
        _ranked(finding, place) for say, claims in said.items()
        for place, finding in enumerate(say(results, [claim.row for claim in claims]))]
    return sorted(sentences, key=lambda finding: -finding.weight)


def _ranked(finding: Finding, place: int) -> Finding:
    """Return a finding that weighs less where others of its sort come first, so that the first few differ in sort."""
    return finding.model_copy(update={"weight": round(finding.weight * REPEATED**place, 1)})


@cache
def declare() -> None:
    """Import the files that declare rules, of chapters first."""
    for path in (*(f"evalpipe.chapters.{name}.findings" for name in CHAPTERS),
                 *(f"{__name__}.{topic}" for topic in TOPICS)):
        if find_spec(path) is not None:
            import_module(path)
