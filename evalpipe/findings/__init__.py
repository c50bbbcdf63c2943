"""Step 5: what the results say, in sentences.

Rules claim it, of results alone. Claims that are tested are tested together, so that all findings of a run are true
with the probability that its intervals have.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from evalpipe.chapters import CHAPTERS
from evalpipe.findings.claims import claims_of_plugins, decided, registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalpipe.findings.claims import Claim, Rule, Say
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

PLACES = (*(("chapters", name) for name in CHAPTERS),
          *(("findings", topic) for topic in ("calibration", "skill", "numbers", "data")))
"""What may declare rules, in the order in which these are asked, whichever was imported first: the `card.py` of
chapters, and files of this folder."""

REPEATED = 0.8
"""What each further finding of one sort weighs of the one before it."""

MOST_OF_GROUPS, CROWDED = 2, 0.5
"""The findings on groups of rows that keep their weight, and what each further one keeps of it, so that others have
room among the first."""


ALONE = "The interval alone decides; corrected for all tests of the run, it does not."
"""What is said where an interval leaves out what a finding calls open."""


def with_findings(results: Results) -> Results:
    """Return the results with what they say."""
    return results.model_copy(update={"findings": findings(results)})


def findings(results: Results) -> list[Finding]:
    """Return what the results say, what matters most first."""
    families = {rule.name: list(rule.claims(results)) for rule in rules()} | claims_of_plugins(results)
    error = 1 - results.intervals.level
    rows_by_sentence: dict[tuple[Say, bool], list[Claim]] = {}
    for claim, borne_out in decided(families, results.intervals.level):
        say = claim.say if borne_out else claim.otherwise
        if say is not None:
            rows_by_sentence.setdefault((say, not borne_out and (claim.p_value or 0) < error), []).append(claim)
    sentences = [_with_weight_share(finding.model_copy(update={"text": f"{finding.text} {ALONE}"})
                                    if alone else finding, REPEATED**place) for (say, alone),
                 claims in rows_by_sentence.items() for place,
                 finding in enumerate(say(results, [claim.row for claim in claims]))]
    return _by_weight(_with_room_for_others(_by_weight(sentences)))


def _by_weight(sentences: Iterable[Finding]) -> list[Finding]:
    return sorted(sentences, key=lambda finding: -finding.weight)


def _with_room_for_others(sentences: Iterable[Finding]) -> list[Finding]:
    """Return findings of which those on groups beyond the first few weigh less."""
    of_section = Counter[str]()
    kept = []
    for finding in sentences:
        of_section[finding.section] += 1
        crowded = finding.section == "slices" and of_section["slices"] > MOST_OF_GROUPS
        kept.append(_with_weight_share(finding, CROWDED) if crowded else finding)
    return kept


def _with_weight_share(finding: Finding, share: float) -> Finding:
    return finding.model_copy(update={"weight": round(finding.weight * share, 1)})


@cache
def rules() -> tuple[Rule, ...]:
    """Import the files that declare rules, and return every rule in the order of these files."""
    for room, name in PLACES:
        path = f"evalpipe.{room}.{name}.card" if room == "chapters" else f"evalpipe.{room}.{name}"
        if find_spec(path) is not None:
            import_module(path)
    return tuple(sorted(registry.values(), key=lambda rule: PLACES.index(place_of(rule))))


def place_of(rule: Rule) -> tuple[str, str]:
    """Return where a rule is declared: "chapters" and a name, or "findings" and a topic."""
    room, name = rule.claims.__module__.split(".")[1:3]
    return room, name
