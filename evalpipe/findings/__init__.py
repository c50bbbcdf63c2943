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

from evalpipe.base.digests import json_sha256
from evalpipe.chapters import CHAPTERS
from evalpipe.errors import Problem, UsageError
from evalpipe.findings.claims import claims_of_plugins, code_of, decided_claims, registry
from evalpipe.results.document import OUTCOMES, Check
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.origin import Origin
    from evalpipe.findings.claims import Claim, Rule, Say, SpecDocument
    from evalpipe.results import Results
    from evalpipe.results.document import Finding, Outcome, Verdict


PLACES = (*(("chapters", name) for name in CHAPTERS),
          *(("findings", topic) for topic in ("calibration", "models", "numbers", "data")))
"""What may declare rules, in the order in which these are asked, whichever was imported first: the `card.py` of
chapters, and files of this folder."""

REPEATED = 0.8
"""What each further finding of one sort weighs of the one before it."""

MOST_OF_GROUPS, CROWDED = 2, 0.5
"""The findings on groups of rows that keep their weight, and what each further one keeps of it, so that others have
room among the first; so does one on numbers of which a heavier one says enough."""


ALONE = "Significant alone, not after correction for all tests of the run."
"""What is said where an interval leaves out what a finding calls open."""


def with_findings(results: Results) -> Results:
    """Return a copy of the results with their findings, and with the outcome of every check.

    The rows that are stored lack sentences, which are made from the results again; those of a plugin keep them.
    """
    claims_by_rule = _claims(results, plugins=True)
    unranked = _unranked(results, claims_by_rule)
    with_sentences = _ranked(results, unranked)
    rows = [finding if finding.plugin else finding.model_copy(update={"text": ""}) for finding in with_sentences]
    checks = counted(results, claims_by_rule, [finding for group in unranked for finding in group])
    complete = results.model_copy(update={"finding_rows": rows, "checks": checks})
    complete.__dict__["findings"] = with_sentences  # so that they need not be made again in this run
    return complete


def findings(results: Results, *, plugins: bool = True) -> list[Finding]:
    """Return the findings of all rules by weight, the heaviest first; raises UsageError where one of a plugin fails.

    Without ``plugins`` they are those of evalpipe's own rules. Findings of silenced checks are not among them.
    """
    return _ranked(results, _unranked(results, _claims(results, plugins=plugins)))


def _claims(results: Results, *, plugins: bool) -> dict[str, list[Claim]]:
    """Return the claims of each rule by its name, with ``plugins`` those of their rules too."""
    claims_by_rule = {rule.name: list(rule.claims(results)) for rule in rules()}
    return claims_by_rule | (claims_of_plugins(results) if plugins else {})


def _unranked(results: Results, claims_by_rule: Mapping[str, Sequence[Claim]]) -> list[list[Finding]]:
    """Return the findings on all claims, those of each sentence as a list, with the weight that its rule gives it."""
    error = 1 - results.intervals.level
    code_by_claim = {id(claim): code_of(name) for name, claims in claims_by_rule.items() for claim in claims}
    claims_of_sentence: dict[tuple[str, Say, bool], list[Claim]] = {}
    for claim, borne_out in decided_claims(claims_by_rule, results.intervals.level):
        say = claim.say if borne_out else claim.otherwise
        if say is not None:
            # The test of this claim alone would bear it out, the tests of all claims together do not.
            only_interval = not borne_out and (claim.p_value or 0) < error
            claims_of_sentence.setdefault((code_by_claim[id(claim)], say, only_interval), []).append(claim)
    groups = []
    for (code, say, only_interval), claims in claims_of_sentence.items():
        spoken = say(results, [claim.row for claim in claims])
        groups.append([finding.model_copy(update={"code": code, "text": f"{finding.text} {ALONE}" if (
            only_interval and finding.kind != "equivalent") else finding.text}) for finding in spoken])
    return groups


def _ranked(results: Results, unranked: Iterable[Sequence[Finding]]) -> list[Finding]:
    """Return findings by weight, of which each further one of a sentence has less; without those of silenced checks."""
    silenced = silence_of(results)
    sentences = [_with_weight_share(finding, REPEATED**repetition)
                 for group in unranked for repetition, finding in enumerate(group) if finding.code not in silenced]
    return _by_weight(_with_crowded_slices_demoted(_by_weight(_with_repeats_demoted(_by_weight(sentences)))))


def counted(
    results: Results, claims_by_rule: Mapping[str, Sequence[Claim]], unranked: Sequence[Finding]
) -> list[Check]:
    """Return the outcome of each check, from the claims of its rule and all findings."""
    silenced = silence_of(results)
    checks = []
    for rule in rules():
        kinds = [finding.kind for finding in unranked if finding.code == rule.code]
        reason = None if claims_by_rule[rule.name] else rule.not_applicable(results)
        outcome: Outcome = "clear" if reason is None else "not-applicable"
        if kinds:
            outcome = min(("passes" if kind == "equivalent" else kind for kind in kinds), key=OUTCOMES.index)
        checks.append(Check(code=rule.code, outcome=outcome, findings=len(kinds), silenced=silenced.get(rule.code),
                            reason=None if reason is None else sentence(reason)))
    return checks


def silence_of(results: Results) -> Mapping[str, str]:
    """Return the reasons of the checks that the spec silences, by their codes."""
    return (results.spec.get("checks") or {}).get("silence") or {}


def with_texts(results: Results) -> list[Finding]:
    """Return the findings stored in results, each with its sentence, which is made from the results again.

    Where this version, or a plugin that is gone, no longer finds the same as when the results were written, the
    sentence says what was checked and the outcome.
    """
    try:
        current = findings(results)
    except UsageError:  # a plugin is not installed here; its own sentences are in the results
        current = findings(results, plugins=False)
    sentences: dict[tuple[object, ...], list[str]] = {}
    for finding in current:
        sentences.setdefault(_finding_key(finding), []).append(finding.text)
    checks = {rule.code: rule.checks.rstrip(".") for rule in rules()}
    with_text: list[Finding] = []
    for stored in results.finding_rows:
        text = stored.text
        if not text:
            unused = sentences.get(_finding_key(stored))
            text = unused.pop(0) if unused else f"{checks.get(stored.code, stored.code)}: {stored.kind}."
        with_text.append(stored.model_copy(update={"text": text}))
    return with_text


def _finding_key(finding: Finding) -> tuple[object, ...]:
    """Return a key that is equal for the same finding, whatever its words, its weight and the order of its numbers."""
    return finding.code, finding.kind, finding.section, json_sha256(
        sorted(json_sha256(part.model_dump()) for part in finding.estimates))


def _by_weight(sentences: Iterable[Finding]) -> list[Finding]:
    """Return findings by descending weight."""
    return sorted(sentences, key=lambda finding: -finding.weight)


def _with_repeats_demoted(sentences: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings, heaviest first; a verdict on numbers that heavier findings have judged alike weighs less."""
    seen: dict[str, set[str]] = {}
    for finding in sentences:
        numbers = {json_sha256(part.model_dump()) for part in finding.estimates}
        is_repeated = finding.kind in ("fails", "passes") and bool(numbers) and numbers <= seen.get(finding.kind, set())
        seen.setdefault(finding.kind, set()).update(numbers)
        yield _with_weight_share(finding, CROWDED) if is_repeated else finding


def _with_crowded_slices_demoted(sentences: Iterable[Finding]) -> list[Finding]:
    """Return findings; those on slices after the first `MOST_OF_GROUPS` weigh less, to leave room for others."""
    per_section = Counter[str]()
    reweighted = []
    for finding in sentences:
        per_section[finding.section] += 1
        is_crowded = finding.section == "slices" and per_section["slices"] > MOST_OF_GROUPS
        reweighted.append(_with_weight_share(finding, CROWDED) if is_crowded else finding)
    return reweighted


def _with_weight_share(finding: Finding, share: float) -> Finding:
    """Return a copy of the finding with its weight multiplied by ``share``."""
    return finding.model_copy(update={"weight": round(finding.weight * share, 1)})


@cache
def rules() -> tuple[Rule, ...]:
    """Return every declared rule, in the order of the files that declare rules, which are imported."""
    for room, name in PLACES:
        path = f"evalpipe.{room}.{name}.card" if room == "chapters" else f"evalpipe.{room}.{name}"
        if find_spec(path) is not None:
            import_module(path)
    return tuple(sorted(registry.values(), key=lambda rule: PLACES.index(place_of(rule))))


def place_of(rule: Rule) -> tuple[str, str]:
    """Return the module of a rule: ("chapters", name of the chapter), or ("findings", topic)."""
    room, name = rule.claims.__module__.split(".")[1:3]
    return room, name


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


def with_check_gates_judged(results: Results) -> Results:
    """Return the results with verdicts for the gates that require a check, and with findings on these verdicts."""
    if all(gate.check is None for gate in results.gates):
        return results
    checks = {check.code: check for check in results.checks}
    only_notes = {rule.code for rule in rules() if rule.kinds == ("note",)}
    gates = []
    for gate in results.gates:
        if gate.check is not None:
            check = checks[gate.check]
            verdict = "fail" if check.code in only_notes and check.outcome == "note" else VERDICTS[check.outcome]
            reason = gate.reason.model_copy(update={"code": f"check-{check.outcome}", "because": check.reason})
            gates.append(gate.model_copy(update={"verdict": verdict, "reason": reason}))
        else:
            gates.append(gate)
    return with_findings(results.model_copy(update={"gates": gates}))
