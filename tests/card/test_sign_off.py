"""What the card says of those who signed it: its status, its first page, its section on signatures."""

from __future__ import annotations

import hashlib
from itertools import permutations
from typing import Any, get_args

import pytest

from chapters.gates.test_card import gate
from evalpipe.card import render
from evalpipe.card.contents import card_of
from evalpipe.card.markdown import escaped
from evalpipe.card.page import Bullets, Section, Table, Text, plain
from evalpipe.card.sign_off import reservations, section, signature_boxes, status, status_text
from evalpipe.card.summary import verdict
from evalpipe.results import Results
from evalpipe.results.signatures import Signature, records_json
from evalpipe.words.card_fields import Role

EVIDENCE = "0123456789abcdef" * 4


def by(role: str, decision: str = "approved", date: str = "2026-11-21", **other: Any) -> Signature:
    return Signature(role=role, name=f"The {role}", date=date, decision=decision, evidence_sha256=EVIDENCE, **other)


def stating(results: Results, state: str) -> Results:
    return results.model_copy(update={"statement": type(results.statement)(status=state)})


def requiring(results: Results, *roles: str) -> Results:
    return results.model_copy(update={"spec": {**results.spec, "card": {"sign_off": {"required": list(roles)}}}})


BOTH = [by("validator"), by("approver", date="2026-11-22")]


@pytest.mark.parametrize(("signatures", "said", "style"), [
    ([], "DRAFT, not signed", "status"),
    ([by("developer")], "IN REVIEW: validator and approver missing", "status"),
    ([by("validator")], "IN REVIEW: approver missing", "status"),
    ([by("validator", "reviewed")], "IN REVIEW: approver missing; the validator has reviewed and not approved",
     "status"),
    (BOTH, "FINAL: approved by validator and approver", "status pass"),
    ([*BOTH, by("owner", "reviewed")], "FINAL: approved by validator and approver", "status pass"),
    ([*BOTH, by("owner", "approved_with_conditions", conditions=["x"])],
     "FINAL with 1 condition: approved by validator, owner and approver", "status warn"),
    ([*BOTH, by("validator", "approved_with_conditions", conditions=["x", "y"], expires="2027-11-21")],
     "FINAL with 2 conditions until 2027-11-21: approved by validator and approver", "status warn"),
    ([by("validator", expires="2027-11-21"), by("approver", expires="2027-05-21")],
     "FINAL until 2027-05-21: approved by validator and approver", "status pass"),
    ([by("validator", expires="2026-11-22"), by("approver", date="2026-11-22")],
     "FINAL until 2026-11-22: approved by validator and approver", "status pass"),
    ([by("validator", expires="2026-11-22"), by("approver", date="2026-11-23")],
     "IN REVIEW: the validator's approval expired on 2026-11-22", "status"),
    ([*BOTH, by("owner", date="2026-11-01", expires="2026-11-20")],
     "IN REVIEW: the owner's approval expired on 2026-11-20", "status"),
    ([*BOTH, by("developer", "rejected", "2026-11-20")], "REJECTED by The developer (developer), 2026-11-20",
     "status fail"),
    ([by("validator", "rejected", "2026-11-20"), by("owner", "rejected")],
     "REJECTED by The owner (owner), 2026-11-21, and 1 more", "status fail"),
    ([by("validator", "rejected"), by("validator", date="2026-11-22"), by("approver")],
     "FINAL: approved by validator and approver", "status pass"),
])
def test_the_status_is_final_only_where_the_required_roles_have_approved(
    results: Results, signatures: list[Signature], said: str, style: str
) -> None:
    written = status(results, signatures)

    assert (plain(written).strip(), written.style) == (said, style)


@pytest.mark.parametrize("state", ["in_review", "final"])
def test_a_spec_cannot_state_that_a_card_is_final(results: Results, state: str) -> None:
    assert status_text(stating(results, state), []) == "IN REVIEW, not signed"
    assert status_text(stating(results, state), [by("owner")]) == "IN REVIEW: validator and approver missing"


def test_the_spec_says_whose_approval_is_required(results: Results) -> None:
    owned = requiring(results, "owner")

    assert status_text(owned, BOTH) == "IN REVIEW: owner missing"
    assert status_text(owned, [by("owner")]) == "FINAL: approved by owner"
    assert status_text(requiring(results, "approver", "developer"), [by("owner")]) == (
        "IN REVIEW: developer and approver missing")


def test_an_approval_that_ends_before_the_day_of_the_card_is_expired(results: Results) -> None:
    old = [by("validator", date="2026-01-01", expires="2026-06-30"), by("approver", date="2026-01-01")]

    assert status_text(results.model_copy(update={"as_of": "2026-06-30"}), old).startswith("FINAL until 2026-06-30: ")
    assert status_text(results.model_copy(update={"as_of": "2026-07-01"}), old) == (
        "IN REVIEW: the validator's approval expired on 2026-06-30")


ROLES: tuple[str, ...] = get_args(Role)


def expected_status(signed: tuple[str, ...], rejecting: str | None, expiring: str | None) -> str:
    """Return the status by the rules as a reader would put them, worked out from the set of those who signed."""
    if rejecting in signed:
        return f"REJECTED by The {rejecting} ({rejecting})"
    missing = [role for role in ("validator", "approver") if role not in signed]
    # The signature of the role that expires ends on its own day: any later one shows that it has.
    expired = expiring in signed and signed[-1] != expiring
    if missing:
        return f"IN REVIEW: {' and '.join(missing)} missing" + (
            f"; the {expiring}'s approval expired" if expired else "")
    if expired:
        return f"IN REVIEW: the {expiring}'s approval expired"
    return f"FINAL{' until' if expiring in signed else ''}"


@pytest.mark.parametrize("expiring", [None, *ROLES])
@pytest.mark.parametrize("rejecting", [None, *ROLES])
def test_the_status_after_each_order_of_four_signatures(
    results: Results, rejecting: str | None, expiring: str | None
) -> None:
    """Sign in all 24 orders, one role a day: only who has signed counts, and the order where an approval ends."""
    for order in permutations(ROLES):
        signatures: list[Signature] = []
        for place, role in enumerate(order, 1):
            day = f"2026-12-0{place}"
            if role == rejecting:
                signatures.append(by(role, "rejected", day))
            elif role == expiring:
                signatures.append(by(role, "approved", day, expires=f"2026-12-0{place}"))
            else:
                signatures.append(by(role, date=day))
            expiring_now = None if expiring == rejecting else expiring
            said, expected = status_text(results, signatures), expected_status(order[:place], rejecting, expiring_now)
            assert said.startswith(expected), (order[:place], said, expected)
            assert said.startswith("FINAL") == expected.startswith("FINAL")
            assert (verdict(results, signatures).style == "gates rejected") == (rejecting in order[:place])


def items(results: Results, signatures: list[Signature]) -> list[str]:
    bullets, check = signature_boxes(results, signatures).blocks
    assert isinstance(bullets, Bullets)
    assert isinstance(check, Text)
    assert plain(check.text) == "To check this card, in its folder: evalpipe verify ."
    return [plain(item) for item in bullets.items]  # type: ignore[arg-type]


def test_a_box_for_each_role_says_who_when_what_and_until_when(results: Results) -> None:
    signatures = [by("owner", "approved_with_conditions", date="2026-11-20", conditions=["Monthly."],
                     organisation="Bank", expires="2026-11-30"), by("validator", expires="2027-11-21")]

    assert items(results, signatures) == [
        "Developer not signed", "Validator required ✓ approved The validator 2026-11-21 valid until 2027-11-21",
        "Owner ✓ approved with conditions The owner, Bank 2026-11-20 valid until 2026-11-30",
        "Approver required not signed"]
    assert items(results, [*signatures, by("approver", date="2026-12-01")])[2:] == [
        "Owner ✗ expired The owner, Bank 2026-11-20 valid until 2026-11-30",
        "Approver required ✓ approved The approver 2026-12-01"]


def test_a_card_that_nobody_signed_says_so_in_one_line_with_the_command(results: Results) -> None:
    (line,) = signature_boxes(requiring(results, "owner"), []).blocks

    assert isinstance(line, Text)
    assert plain(line.text) == ("Not signed: owner must approve. In this folder: "
                                "evalpipe sign . --role owner --name NAME --decision approved --date YYYY-MM-DD")


def qualified(*signatures: Signature) -> list[str]:
    return [plain(item) for bullets in reservations(signatures) for item in bullets.items]  # type: ignore[arg-type, union-attr]


def test_conditions_and_rejections_stand_beside_the_verdict(results: Results) -> None:
    conditional = by("owner", "approved_with_conditions", conditions=["Not for children.", "Monthly."])
    refused = by("approver", "rejected", conditions=["More rows."])
    shown = verdict(results, (conditional, refused))

    assert qualified(conditional, refused, by("validator")) == [
        "✗ Rejected by The approver (approver): More rows.",
        "✓ Approved with conditions by The owner (owner): 1. Not for children. 2. Monthly."]
    assert shown.blocks[0] == reservations((conditional, refused))[0]
    assert qualified(by("validator"), by("developer", "reviewed", conditions=["x"])) == []
    assert qualified(by("owner", "rejected")) == ["✗ Rejected by The owner (owner)"]


def test_a_rejection_takes_the_green_from_the_verdict(results: Results) -> None:
    passing = results.model_copy(update={"gates": [gate("pass")]})

    assert verdict(passing, [by("validator")]).style == "gates pass"
    assert verdict(passing, [by("validator", "rejected")]).style == "gates rejected"
    assert verdict(passing, [by("validator", "rejected"), by("validator", date="2026-12-01")]).style == "gates pass"
    failing = results.model_copy(update={"gates": [gate("fail")]})
    assert verdict(failing, [by("validator", "rejected")]).style == "gates fail"


def test_long_and_many_conditions_are_shortened_beside_the_verdict_with_a_link_to_all() -> None:
    conditions = ["x" * 121, "b", "c", "d", "e", "f"]
    conditional = {role: by(role, "approved_with_conditions", conditions=conditions) for role in ("owner", "approver")}

    assert qualified(conditional["owner"]) == [
        f"✓ Approved with conditions by The owner (owner): 1. {'x' * 119}… 2. b 3. c 4. d 5. e All conditions"]
    assert [item.partition("1. ")[2] for item in qualified(*conditional.values())] == [
        f"{'x' * 119}… 2. b All conditions"] * 2


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
        f"signatures.json with this sha256: {hashlib.sha256(records_json(signatures)).hexdigest()}. A signature is "
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
    assert f"rejected {escaped(name)}, {escaped(name)} 2026-11-21" in files["card.md"].decode()


def test_a_person_in_two_roles_is_named_beside_the_status(results: Results) -> None:
    one = [by("developer").model_copy(update={"name": "Ada Lovelace"}), by("validator"),
           by("approver").model_copy(update={"name": "ada  lovelace"})]
    written = status(results, one)
    assert (plain(written).strip(), written.style) == (
        "FINAL: approved by developer, validator and approver; Ada Lovelace signed as developer and approver",
        "status warn")
    moved_on = [*one, by("approver", date="2026-11-23")]  # a later decision of another person counts
    assert status_text(results, moved_on) == "FINAL: approved by developer, validator and approver"
    assert status_text(results, one[::2]) == (
        "IN REVIEW: validator missing; Ada Lovelace signed as developer and approver")


def test_a_spec_may_want_different_people(results: Results) -> None:
    apart = results.model_copy(update={"spec": {**results.spec, "card": {"sign_off": {"distinct": True}}}})
    same = [by("validator").model_copy(update={"name": "Ada"}), by("approver").model_copy(update={"name": "Ada"})]
    assert status_text(apart, same) == "IN REVIEW: Ada signed as validator and approver"
    assert status_text(apart, BOTH) == "FINAL: approved by validator and approver"
