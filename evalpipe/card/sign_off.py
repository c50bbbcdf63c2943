"""Who signed the card and what they decided: the status of the document, the boxes under its title, the section.

An approval that ends is expired on a later day that the card knows of: the day it is about, or that of a signature. No
clock is read; until then the card states the day on which it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import SIGNATURES
from evalpipe.card.comments import Discussion
from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    Column,
    Line,
    Link,
    Row,
    Section,
    Strong,
    Table,
    Text,
    Verdict,
    plain,
)
from evalpipe.card.statements import one_line
from evalpipe.card.wording import capital
from evalpipe.results.signatures import EVIDENCE_DIGITS, newest, records_json, roles_by_person
from evalpipe.words.card_fields import Role
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell, Piece
    from evalpipe.results import Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Decision, Signature

REQUIRED: tuple[Role, ...] = ("validator", "approver")
"""The roles that must have approved where a spec requires no others."""

DECISIONS: dict[Decision, tuple[str, str, str]] = {
    "rejected": ("✗", "rejected", "fail"), "approved_with_conditions": ("✓", "approved with conditions", "warn"),
    "approved": ("✓", "approved", "pass"), "reviewed": ("•", "reviewed", "skipped"),
}
"""The sign, the words and the colour of each decision."""

MOST_CONDITIONS, LONGEST = 5, 120
"""The conditions in the box of the verdict, one at least of each signer, and their characters; the section has all."""

UNSIGNED = "not signed"

LEAD = ("Those who signed decided on ", Code("results.json"), " with this sha256: ")

REMARK = ". A signature is a record of a decision, no cryptographic proof of who decided."

VERIFY = "evalpipe verify ."
"""The command that checks the folder of the card, in that folder."""

HASH = "signatures-hash"
"""The style of the sha256 of `signatures.json`, by which a page is told from others."""


def required_roles(results: Results) -> tuple[Role, ...]:
    """Return the roles whose approval makes the document final."""
    declared = (results.spec.get("card") or {}).get("sign_off") or {}
    return tuple(declared.get("required") or REQUIRED)


def needs_distinct_people(results: Results) -> bool:
    """Tell whether the spec allows nobody to sign in two roles."""
    return bool(((results.spec.get("card") or {}).get("sign_off") or {}).get("distinct"))


def people_in_several_roles(signatures: Sequence[Signature]) -> list[str]:
    """Return a phrase on everyone who signed in several roles: "Ada Lovelace signed as developer and approver"."""
    return [f"{name} signed as {joined(roles, 'and')}" for name, roles in roles_by_person(signatures).items()]


def rejecting_signatures(signatures: Sequence[Signature]) -> list[Signature]:
    """Return the newest signatures of roles that reject the card, the latest one first."""
    rejections = [signature for signature in newest(signatures).values() if signature.decision == "rejected"]
    return sorted(rejections, key=lambda signature: signature.date, reverse=True)


def status(results: Results, signatures: Sequence[Signature]) -> Aside:
    """Return the status of the document: "FINAL: approved by validator and approver", or what keeps it from that."""
    latest_by_role, rejections = newest(signatures), rejecting_signatures(signatures)
    if rejections:
        first, more = rejections[0], len(rejections) - 1
        others = f", and {more} more" if more else ""
        return Aside(f"REJECTED by {first.name} ({first.role}), {first.date}{others}", "status fail")
    if not latest_by_role:
        return Aside(f"{'DRAFT' if results.statement.status == 'draft' else 'IN REVIEW'}, {UNSIGNED}", "status")
    gaps, shared = [*_approval_gaps(results, signatures)], people_in_several_roles(signatures)
    if gaps or (shared and needs_distinct_people(results)):
        return Aside(f"IN REVIEW: {'; '.join([*gaps, *shared])}", "status")
    approvals = [signature for signature in latest_by_role.values() if _approves(signature)]
    conditions = sum(len(signature.conditions) for signature in approvals)
    on_conditions = f" with {conditions} condition{'s' if conditions > 1 else ''}" if conditions else ""
    expiry_days = [signature.expires for signature in approvals if signature.expires]
    validity = f" until {min(expiry_days)}" if expiry_days else ""
    roles = joined([signature.role for signature in approvals], "and")
    final = "; ".join([f"FINAL{on_conditions}{validity}: approved by {roles}", *shared])
    return Aside(final, f"status {'warn' if conditions or shared else 'pass'}")


def status_text(results: Results, signatures: Sequence[Signature]) -> str:
    """Return the status of the document as a text for a terminal."""
    return plain(status(results, signatures)).strip()


def _approval_gaps(results: Results, signatures: Sequence[Signature]) -> Iterator[str]:
    """Yield what keeps the document from being final: missing or withheld approvals, and expired ones."""
    latest_by_role = newest(signatures)
    required = [role for role in get_args(Role) if role in required_roles(results)]
    missing = [role for role in required if role not in latest_by_role]
    if missing:
        yield f"{joined(missing, 'and')} missing"
    for role, signature in latest_by_role.items():
        if role in required and not _approves(signature):
            yield f"the {role} has reviewed and not approved"
        elif _approves(signature) and _is_expired(results, signatures, signature):
            yield f"the {role}'s approval expired on {signature.expires}"


def _approves(signature: Signature) -> bool:
    return signature.decision.startswith("approved")


def _is_expired(results: Results, signatures: Sequence[Signature], signature: Signature) -> bool:
    """Tell whether a signature had expired by the day of the card or of the latest signature."""
    last_day = max(results.as_of or "", *(other.date for other in signatures))
    return signature.expires is not None and signature.expires < last_day


def signature_boxes(
    results: Results, signatures: Sequence[Signature], comments: Sequence[Comment] = ()
) -> BlockGroup:
    """Return a box for each role with its newest decision, and how to check the card; unsigned, one line to sign it.

    Comments are counted below.
    """
    counted = Discussion(results, signatures, comments).counted()
    if not signatures:
        roles = required_roles(results)
        command = f"evalpipe sign . --role {roles[0]} --name NAME --decision approved --date YYYY-MM-DD"
        needed = f"Not signed: {joined(roles, 'and')} must approve. In this folder: "
        return BlockGroup((Text((needed, Code(command))), *counted), "sign-line")
    latest_by_role = newest(signatures)
    items: list[Cell] = []
    for role in get_args(Role):
        head = (Strong(capital(role)), *((Aside("required", "need"),) if role in required_roles(results) else ()))
        signature = latest_by_role.get(role)
        if signature is None:
            items.append((*head, Aside(UNSIGNED, "decided outcome skipped")))
            continue
        signer = ", ".join(filter(None, (signature.name, signature.organisation)))
        is_expired = _is_expired(results, signatures, signature)
        decision = Verdict("expired", "✗", "outcome fail") if is_expired else _decision_word(signature)
        until = () if signature.expires is None else (Aside(f"valid until {signature.expires}", "when"),)
        items.append((*head, Aside(decision, "decided"), Aside(signer, "who"), Aside(signature.date, "when"), *until))
    check = Text(("To check this card, in its folder: ", Code(VERIFY)))
    return BlockGroup((Bullets(tuple(items), "roles"), *counted, check), "sign-line")


def reservations(signatures: Sequence[Signature]) -> tuple[Block, ...]:
    """Return what qualifies the verdict, as a list: rejections, and conditions of approvals; empty without any."""
    decided = [signature for signature in newest(signatures).values()
               if signature.decision == "rejected" or (signature.conditions and _approves(signature))]
    most = max(1, MOST_CONDITIONS // max(1, sum(bool(signature.conditions) for signature in decided)))
    items: list[Cell] = []
    for signature in sorted(decided, key=_approves):
        conditions = [text if len(text) <= LONGEST else f"{text[:LONGEST - 1].rstrip()}…"
                      for text in signature.conditions[:most]]
        link_to_all: tuple[Piece, ...] = () if conditions == signature.conditions else (
            " ", Link("All conditions", "sign-off"))
        sign, words, style = DECISIONS[signature.decision]
        by = f" by {signature.name} ({signature.role}){':' if conditions else ''}"
        texts: tuple[Piece, ...] = (f" {conditions[0]}",) if len(signature.conditions) == 1 else (
            *_conditions(conditions),)
        items.append((Verdict(capital(words), sign, f"outcome {style}"), by, *texts, *link_to_all))
    return (Bullets(tuple(items), "findings reservations"),) if items else ()


def _conditions(texts: Sequence[str]) -> Iterator[Line]:
    """Yield the conditions of an approval as numbered lines."""
    return (Line(f"{number}. {text}", "condition") for number, text in enumerate(texts, 1))


def _decision_word(signature: Signature) -> Verdict:
    """Return the decision of a signature in words, with its sign and style."""
    sign, words, style = DECISIONS[signature.decision]
    return Verdict(words, sign, f"outcome {style}")


def section(results: Results, signatures: Sequence[Signature], comments: Sequence[Comment] = ()) -> Section:
    """Return the section with a line for each role: its decisions, or room for a name, a day and a signature.

    The comments are counted, and their file is named.
    """
    commented = Discussion(results, signatures, comments).in_sign_off()
    if not signatures:
        columns = (Column("Role"), Column("Name"), Column("Date"), Column("Signature"))
        rows = tuple(Row((capital(role), _stated_name(results, role), "", UNSIGNED)) for role in get_args(Role))
        table = Table("Signatures", columns, rows, "signatures")
        return Section("sign-off", "Sign-off", (*commented, table), part="sign_off")
    signatures_hash = Code(bytes_sha256(records_json(signatures)), style=HASH)
    lead = Text((*LEAD, Code(results.evidence_sha256), ". Their decisions are in ", Code(SIGNATURES),
                 " with this sha256: ", signatures_hash, REMARK), "lead")
    return Section("sign-off", "Sign-off", (
        lead, *commented, _decisions_table(results, signatures)), part="sign_off")


def _stated_name(results: Results, role: Role) -> Cell:
    """Return the name that the card states for a role; empty where it states none."""
    name = getattr(results.statement, role, None)
    return "" if name is None else one_line(results, name)


def _decisions_table(results: Results, signatures: Sequence[Signature]) -> Table:
    """Return a table of the decisions by role, the newest first, with the roles in which nobody signed.

    A decision that a later one in the same role replaces says so.
    """
    columns = (Column("Role"), Column("Name", style="who"), Column("Date", style="day"),
               Column("Decision and conditions", style="decided"), Column("Evidence", style="day evidence-of"))
    rows: list[Row] = []
    for role in get_args(Role):
        of_role = [signature for signature in reversed(signatures) if signature.role == role]
        if not of_role:
            rows.append(Row((capital(role), _stated_name(results, role), "", UNSIGNED)))
        for signature, later in zip(of_role, [None, *of_role], strict=False):  # the newest first, which none replaces
            note = () if later is None else (Line(f"replaced by the decision of {later.date}", "later"),)
            organisation = () if signature.organisation is None else (Line(signature.organisation, "definition"),)
            expiry = (", valid until", Aside(signature.expires, "day")) if signature.expires else ()
            decision = (_decision_word(signature), *expiry, *note, *_conditions(signature.conditions))
            rows.append(Row((
                capital(role), (signature.name, *organisation), signature.date, decision,
                Code(signature.evidence_sha256[:EVIDENCE_DIGITS], signature.evidence_sha256)),
                "" if later is None else "replaced"))
    return Table("Signatures", columns, tuple(rows), "signatures decisions", stacked=True)
