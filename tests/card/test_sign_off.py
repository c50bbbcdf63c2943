"""What the card says of those who signed it: its status, its first page, its section on signatures."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from evalpipe.card import render
from evalpipe.card.contents import card_of
from evalpipe.card.markdown import escaped
from evalpipe.card.page import BlockGroup, Bullets, Heading, Section, Table, plain
from evalpipe.card.sign_off import section, signed, status
from evalpipe.results import Results
from evalpipe.results.signatures import Signature, signatures_json

EVIDENCE = "0123456789abcdef" * 4


def by(role: str, decision: str = "approved", date: str = "2026-11-21", **other: Any) -> Signature:
    return Signature(role=role, name=f"The {role}", date=date, decision=decision, evidence_sha256=EVIDENCE, **other)


def stating(results: Results, state: str) -> Results:
    return results.model_copy(update={"statement": type(results.statement)(status=state)})


@pytest.mark.parametrize(("signatures", "said", "style"), [
    ([], "DRAFT, not signed", "status"),
    ([by("validator")], "FINAL, approved by The validator (validator), 2026-11-21", "status pass"),
    ([by("developer")], "DRAFT, approved by The developer (developer), 2026-11-21", "status pass"),
    ([by("validator", "reviewed")], "DRAFT, reviewed by The validator (validator), 2026-11-21", "status skipped"),
    ([by("validator"), by("owner", "rejected", "2026-11-20")], "REJECTED by The owner (owner), 2026-11-20",
     "status fail"),
    ([by("validator", "rejected"), by("validator", date="2026-11-22")],
     "FINAL, approved by The validator (validator), 2026-11-22", "status pass"),
    ([by("validator"), by("owner", "approved_with_conditions", conditions=["x"]), by("developer", "reviewed")],
     "FINAL, approved with conditions by The owner (owner), 2026-11-21", "status warn"),
    ([by("validator", date="2026-11-22"), by("owner"), by("approver", expires="2027-11-21")],
     "FINAL, approved by The validator (validator), 2026-11-22, and 2 more; valid until 2027-11-21", "status pass"),
])
def test_the_status_is_the_gravest_decision_that_counts(
    results: Results, signatures: list[Signature], said: str, style: str
) -> None:
    written = status(results, signatures)

    assert (plain(written).strip(), written.style) == (said, style)


@pytest.mark.parametrize(("state", "said"), [
    ("in_review", "IN REVIEW, reviewed by The validator (validator), 2026-11-21"),
    ("final", "FINAL, reviewed by The validator (validator), 2026-11-21")])
def test_what_nobody_approved_stays_what_the_spec_states(results: Results, state: str, said: str) -> None:
    assert plain(status(stating(results, state), [by("validator", "reviewed")])).strip() == said


def items(signatures: list[Signature]) -> list[str]:
    (group,) = signed(signatures)
    assert isinstance(group, BlockGroup)
    heading, bullets = group.blocks
    assert isinstance(heading, Heading)
    assert heading.text == "Signed"
    assert isinstance(bullets, Bullets)
    return [plain(item) for item in bullets.items]  # type: ignore[arg-type]


def test_the_first_page_lists_role_name_date_decision_and_conditions() -> None:
    signatures = [by("owner", "approved_with_conditions", conditions=["Not for children.", "Monthly."],
                     organisation="Bank", expires="2027-11-21"), by("validator")]

    assert items(signatures) == [
        "✓ approved by The validator (validator), 2026-11-21",
        ("✓ approved with conditions by The owner, Bank (owner), 2026-11-21, valid until 2027-11-21 "
         "1. Not for children. 2. Monthly.")]


def test_long_and_many_conditions_are_shortened_on_the_first_page_with_a_link_to_all() -> None:
    conditions = ["x" * 121, "b", "c", "d", "e", "f"]
    conditional = {role: by(role, "approved_with_conditions", conditions=conditions) for role in ("owner", "approver")}

    assert items([conditional["owner"]]) == [
        ("✓ approved with conditions by The owner (owner), 2026-11-21 "
         f"1. {'x' * 119}… 2. b 3. c 4. d 5. e All conditions")]
    assert [item.partition("1. ")[2] for item in items(list(conditional.values()))] == [
        f"{'x' * 119}… 2. b All conditions"] * 2
    assert items([by("owner", "rejected", conditions=["b", "c"])]) == [
        "✗ rejected by The owner (owner), 2026-11-21 1. b 2. c"]


def rows(part: Section) -> list[tuple[str, ...]]:
    (table,) = (block for block in part.blocks if isinstance(block, Table))
    return [tuple(map(plain, row.cells)) for row in table.rows]  # type: ignore[union-attr]


def test_the_section_has_a_line_for_each_decision_and_each_role_without_one(results: Results) -> None:
    stated = results.model_copy(update={"statement": type(results.statement)(developer="Ada")})
    signatures = [by("validator", "rejected", conditions=["More rows."]), by("validator", date="2026-11-22"),
                  by("owner", organisation="Bank", expires="2027-01-01")]
    part = section(stated, signatures)

    assert rows(part) == [
        ("Developer", "Ada", "", "not signed"),
        ("Validator", "The validator", "2026-11-22", "✓ approved", "01234567"),
        ("Validator", "The validator", "2026-11-21", "✗ rejected replaced by the decision of 2026-11-22 1. More rows.",
         "01234567"),
        ("Owner", "The owner Bank", "2026-11-21", "✓ approved, valid until 2027-01-01", "01234567"),
        ("Approver", "", "", "not signed")]
    assert plain(part.blocks[0].text) == (  # type: ignore[union-attr]
        f"Those who signed decided on results.json with this sha256: {stated.evidence_sha256}. Their decisions are in "
        f"signatures.json with this sha256: {hashlib.sha256(signatures_json(signatures)).hexdigest()}. A signature is "
        "a record of a decision, no cryptographic proof of who decided.")


def test_a_card_that_nobody_signed_has_room_for_signatures(results: Results) -> None:
    stated = results.model_copy(update={"statement": type(results.statement)(developer="Ada", validator="Grace")})

    assert rows(section(stated, [])) == [
        ("Developer", "Ada", "", "not signed"), ("Validator", "Grace", "", "not signed"),
        ("Owner", "", "", "not signed"), ("Approver", "", "", "not signed")]


def test_sign_off_is_the_last_section_before_the_appendix(results: Results) -> None:
    main = [part.anchor for part in card_of(results).sections if part.part != "appendix"]

    assert main[-1] == "sign-off"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "{{7*7}}", "]]>", "يوسف إدريس", "*A* [x](javascript:1)"])
def test_a_hostile_name_is_a_text_in_every_format(results: Results, name: str) -> None:
    hostile = by("validator", "rejected", conditions=[name]).model_copy(update={"name": name, "organisation": name})
    plainly, files = render(results, ["html", "markdown"]), render(results, ["html", "markdown"], (hostile,))
    page, before = files["card.html"].decode(), plainly["card.html"].decode()

    assert page.count("<script") == before.count("<script")
    assert name.replace("<", "&lt;").replace(">", "&gt;") in page
    assert "javascript:" not in page.replace(name, "")
    assert f"by {escaped(name)}, {escaped(name)} (validator)" in files["card.md"].decode()
