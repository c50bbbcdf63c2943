"""Every rule is a check that is counted once in every run, with its outcome, or why it does not apply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import evalpipe
from evalpipe.card.contents import card_of
from evalpipe.card.summary import outcome_counts
from evalpipe.chapters.checks.spec import CODES
from evalpipe.findings import rules
from evalpipe.findings.claims import NOTHING_TESTED
from evalpipe.results import Results
from evalpipe.results.document import OUTCOMES
from evalpipe.words.sentences import PARTS
from findings.faults import FAULTS

RULES = {rule.code: rule for rule in rules()}

MARGINS = {
    "probabilities-on-average", "probabilities-spread", "confidence", "better-than-trivial", "better-than-persistence",
    "ranking", "cheaper-than-one-level", "numbers-on-average", "numbers-spread", "dispersion", "zeros",
    "groups-against-others", "groups-searched", "models-compared", "datasets-compared", "performance-drift",
}
"""The checks whose failures must be larger than a margin."""

UNPLANTED = {("best-candidate", "passes"), ("control", "note"), ("pairs-compared", "equivalent")} | {
    (code, kind) for code in MARGINS for kind in ("note", "equivalent")}
"""Kinds of findings of which no fault is planted: they are no faults, or too small for the margin of their check."""


@cache
def results_of(folder: Path) -> Results:
    return Results.from_json((folder / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FAULTS)
def test_every_check_is_counted_once_with_the_outcome_of_its_worst_finding(
    name: str, planted_run: Callable[[str], Path]
) -> None:
    results = results_of(planted_run(name))
    assert [check.code for check in results.checks] == list(RULES)
    for check in results.checks:
        kinds = {finding.kind for finding in results.finding_rows if finding.code == check.code}
        worst = min(("passes" if kind == "equivalent" else kind for kind in kinds), key=OUTCOMES.index, default="")
        assert check.outcome == worst or (not worst and check.outcome in ("clear", "not-applicable"))
        assert (check.reason is None) == (check.outcome != "not-applicable")
        assert kinds <= set(RULES[check.code].kinds)
    assert sum(check.findings for check in results.checks) == len(results.finding_rows)
    numbers = [int(number) for number in re.findall(r"\d+", outcome_counts(results))]
    assert sum(numbers) == len(RULES)


@pytest.mark.parametrize("name", FAULTS)
def test_what_the_spec_tells_to_be_not_applicable_has_nothing_to_claim(
    name: str, planted_run: Callable[[str], Path]
) -> None:
    results = results_of(planted_run(name))
    told = {rule.code: [unless.code for unless in rule.unless if unless.by_spec(results.spec)]
            for rule in RULES.values()}
    assert {code: reasons for code, reasons in told.items() if reasons and list(RULES[code].claims(results))} == {}


def test_each_check_can_have_the_outcomes_that_it_declares(planted_run: Callable[[str], Path]) -> None:
    rows = [(finding.code, finding.kind) for name in FAULTS for finding in results_of(planted_run(name)).finding_rows]
    assert {(rule.code, kind) for rule in RULES.values() for kind in rule.kinds} - set(rows) <= UNPLANTED


def test_each_check_applies_to_one_run_and_most_not_to_another(planted_run: Callable[[str], Path]) -> None:
    checks = [check for name in FAULTS for check in results_of(planted_run(name)).checks]
    assert {check.code for check in checks if check.outcome != "not-applicable"} == set(RULES)
    always = set(RULES) - {check.code for check in checks if check.outcome == "not-applicable"}
    assert always == {"warnings", "gone"}


def test_every_reason_has_words_and_is_one_of_a_check() -> None:
    declared = {reason.code for rule in RULES.values() for reason in rule.unless} | {NOTHING_TESTED}
    assert declared == set(PARTS["Checks that do not apply"])


def test_the_card_counts_the_checks_and_lists_them(planted_run: Callable[[str], Path]) -> None:
    results = results_of(planted_run("a_bad_group"))
    page = evalpipe.render(results, ["html", "markdown"])
    counts = Counter(check.kind for check in results.checks)
    line = f"{len(RULES)} checks</a>: {outcome_counts(results)}"
    assert line in page["card.html"].decode()
    assert f"{counts['not-applicable']} not applicable" in page["card.md"].decode()
    section = next(section for section in card_of(results).sections if section.anchor == "checks")
    assert all(code in str(section.blocks) for code in RULES)


def test_results_that_counted_no_checks_have_no_section_and_keep_their_bytes(
    planted_run: Callable[[str], Path]
) -> None:
    counted = results_of(planted_run("a_bad_group"))
    before = counted.model_copy(update={"checks": []})
    assert '"checks"' not in before.to_json()
    read = Results.from_json(before.to_json())
    assert (read.checks, read.to_json()) == ([], before.to_json())
    assert "checks" not in {section.anchor for section in card_of(read).sections}
    assert " checks" not in evalpipe.render(read, ["html"])["card.html"].decode()


def test_a_silenced_check_is_counted_and_shown_with_its_reason_and_changes_no_other_finding() -> None:
    planted = FAULTS["a_bad_group"]()
    loud = evalpipe.run(planted.spec, frames=planted.frames)
    silence = {"groups-against-others": "Group c is new.", "zeros": "No counts here."}
    quiet = evalpipe.run(planted.spec | {"checks": {"silence": silence}}, frames=planted.frames)
    by_code = {check.code: check for check in quiet.checks}
    silenced = [(check.code, check.silenced, check.kind, check.outcome) for check in quiet.checks if check.silenced]
    assert silenced == [("groups-against-others", "Group c is new.", "silenced", "fails"),
                        ("zeros", "No counts here.", "silenced", "not-applicable")]
    assert [check.outcome for check in loud.checks] == [check.outcome for check in quiet.checks]
    assert quiet.findings == [finding for finding in loud.findings if finding.code not in silence]
    assert Results.from_json(quiet.to_json()).findings == quiet.findings
    page = evalpipe.render(quiet, ["markdown"])["card.md"].decode()
    assert "2 silenced" in page
    assert "Group c is new. It would say: fails." in page
    assert "worse for g = c" not in page
    assert by_code["groups-against-others"].findings == 1


def test_the_codes_that_a_spec_can_name_are_those_of_the_rules() -> None:
    assert list(RULES) == list(CODES)


def test_each_check_has_its_entry_in_the_documentation(root: Path) -> None:
    page = (root / "docs" / "findings.md").read_text(encoding="utf-8")
    assert re.findall("^### (.*)$", page, re.MULTILINE) == list(RULES)
