"""The table of checks: each that told something in a row, the worst first, the others by their reason below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from card.blocks import blocks, lines, paragraphs, table, tables
from evalpipe.card.page import Bullets, Verdict, plain
from evalpipe.chapters.checks.card import sections
from evalpipe.results import Check

if TYPE_CHECKING:
    from evalpipe.results import Results

ZONE = {"code": "text", "text": "no zone is declared"}
FREE = {"code": "text", "text": "no costs are named"}


def check(code: str, outcome: str, **more: Any) -> Check:
    return Check.model_validate({"code": code, "outcome": outcome} | more)


def of_checks(results: Results, *checks: Check) -> list[Any]:
    return list(sections(results.model_copy(update={"checks": list(checks)})))


def test_each_check_stands_once_with_its_outcome(results: Results) -> None:
    (section,) = parts = of_checks(
        results, check("rows-without-class", "not-applicable", reason=ZONE), check("standards", "clear"),
        check("bounds-kept", "passes"), check("of-a-plugin", "note"), check("free-level", "undecided"),
        check("ranking", "fails"), check("free-level", "fails", silenced="We know."),
        check("prevalence-declared", "clear"), check("cheaper-than-one-level", "not-applicable", reason=FREE),
        check("recalibration-judged", "not-applicable", reason=ZONE),
        check("bounds-kept", "passes", silenced="Known"))
    assert (section.anchor, section.title, section.part) == ("checks", "Checks", "appendix")
    assert paragraphs(parts) == [
        "The outcome of a check is that of its worst finding. docs/findings.md says what each looks for."]
    free = "Whether the cost table lets one level be predicted always without any cost"
    bounds = "Whether the requirements under which a threshold was chosen hold on the evaluated rows"
    shown = table(parts, "Checks and their outcomes")
    ranking = lines(shown)[2][1]
    assert lines(shown) == [
        ["– silenced", f"{free} We know. It would say: fails.", "free-level"],
        ["– silenced", f"{bounds} Known. It would say: passes.", "bounds-kept"],
        ["✗ fails", ranking, "ranking"], ["? undecided", free, "free-level"],
        ["• note", "–", "of-a-plugin"], ["✓ passes", bounds, "bounds-kept"]]
    assert ranking.startswith("Whether ")
    outcomes = [row.cells[0] for row in shown.rows if hasattr(row, "cells")]
    assert [outcome.style for outcome in outcomes if isinstance(outcome, Verdict)] == [
        f"outcome {style}" for style in ("skipped", "skipped", "fail", "inconclusive", "skipped", "pass")]
    (listed,) = (block for block in blocks(parts) if isinstance(block, Bullets))
    assert [plain(item) for item in listed.items] == [
        "Clear, with nothing to tell: standards, prevalence-declared",
        "No zone is declared: rows-without-class, recalibration-judged",
        "No costs are named: cheaper-than-one-level"]


def test_without_anything_to_tell_there_is_no_table_and_without_checks_no_section(results: Results) -> None:
    parts = of_checks(results, check("standards", "clear"))
    assert tables(parts) == []
    assert [plain(item) for block in blocks(parts) if isinstance(block, Bullets) for item in block.items] == [
        "Clear, with nothing to tell: standards"]
    assert of_checks(results) == []
