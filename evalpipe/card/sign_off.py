"""Who signed the card and what they decided: the status of the document, the fact on its first page, the section."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import SIGNATURES
from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    Column,
    Heading,
    Line,
    Link,
    Row,
    Section,
    Table,
    Text,
    Verdict,
)
from evalpipe.card.statements import line
from evalpipe.card.wording import capital
from evalpipe.results.signatures import EVIDENCE_DIGITS, Role, newest, signatures_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell, Piece
    from evalpipe.results import Results
    from evalpipe.results.signatures import Decision, Signature

STATES = {"draft": "DRAFT", "in_review": "IN REVIEW", "final": "FINAL"}
"""What a document is called by the status that its spec states."""

DECISIONS: dict[Decision, tuple[str, str, str]] = {
    "rejected": ("✗", "rejected", "fail"), "approved_with_conditions": ("✓", "approved with conditions", "warn"),
    "approved": ("✓", "approved", "pass"), "reviewed": ("•", "reviewed", "skipped"),
}
"""The sign, the words and the colour of each decision; the gravest first, which is that of the whole document."""

MOST_CONDITIONS, LONGEST = 5, 120
"""The conditions on the first page, one at least of each signer, and their characters; all stand in the section."""

UNSIGNED = "not signed"

LEAD = ("Those who signed decided on ", Code("results.json"), " with this sha256: ")

REMARK = ". A signature is a record of a decision, no cryptographic proof of who decided."

HASH = "signatures-hash"
"""The style of the sha256 of `signatures.json`, by which a page is told from others."""


def status(results: Results, signatures: Sequence[Signature]) -> Aside:
    """Return the status of the document and who decided: "FINAL, approved by A. Reader (validator), 2026-11-21"."""
    latest_by_role, state = newest(signatures).values(), STATES[results.statement.status]
    if not latest_by_role:
        return Aside(f"{state}, {UNSIGNED}", "status")
    decision = next(decision for decision in DECISIONS if any(signed.decision == decision for signed in latest_by_role))
    deciding_signatures = [signed for signed in latest_by_role if signed.decision == decision]
    latest = max(deciding_signatures, key=lambda signed: signed.date)
    others = f", and {len(deciding_signatures) - 1} more" if len(deciding_signatures) > 1 else ""
    expiry_days = [signed.expires for signed in latest_by_role if signed.expires]
    validity = f"; valid until {min(expiry_days)}" if expiry_days else ""
    _, words, style = DECISIONS[decision]
    # The developer alone does not make a document final.
    if any(signed.role != "developer" and signed.decision.startswith("approved") for signed in latest_by_role):
        state = STATES["final"]
    outcome = "REJECTED" if decision == "rejected" else f"{state}, {words}"
    return Aside(f"{outcome} by {latest.name} ({latest.role}), {latest.date}{others}{validity}", f"status {style}")


def signed(signatures: Sequence[Signature]) -> tuple[Block, ...]:
    """Return a block with the newest decision in each role: who, when, first conditions; empty where nobody signed."""
    latest_by_role = newest(signatures).values()
    if not latest_by_role:
        return ()
    most = max(1, MOST_CONDITIONS // max(1, sum(bool(signature.conditions) for signature in latest_by_role)))
    items: list[Cell] = []
    for signature in latest_by_role:
        conditions = [text if len(text) <= LONGEST else f"{text[:LONGEST - 1].rstrip()}…"
                      for text in signature.conditions[:most]]
        link_to_all: tuple[Piece, ...] = () if conditions == signature.conditions else (
            " ", Link("All conditions", "sign-off"))
        signer = ", ".join(filter(None, (signature.name, signature.organisation)))
        items.append((_decision_word(signature), f" by {signer} ({signature.role}),", Aside(signature.date, "day"),
                      *_valid_until(signature), *_conditions(conditions), *link_to_all))
    return (BlockGroup((Heading("Signed"), Bullets(tuple(items), "signers")), "signed"),)


def _conditions(texts: Sequence[str]) -> Iterator[Line]:
    return (Line(f"{number}. {text}", "condition") for number, text in enumerate(texts, 1))


def _decision_word(signature: Signature) -> Verdict:
    sign, words, style = DECISIONS[signature.decision]
    return Verdict(words, sign, f"outcome {style}")


def _valid_until(signature: Signature) -> tuple[Piece, ...]:
    return (", valid until", Aside(signature.expires, "day")) if signature.expires else ()


def section(results: Results, signatures: Sequence[Signature]) -> Section:
    """Return the section with a line for each role: its decisions, or room for a name, a day and a signature."""
    if not signatures:
        columns = (Column("Role"), Column("Name"), Column("Date"), Column("Signature"))
        rows = tuple(Row((capital(role), _stated_name(results, role), "", UNSIGNED)) for role in get_args(Role))
        return Section("sign-off", "Sign-off", (Table("Signatures", columns, rows, "signatures"),), part="sign_off")
    signatures_hash = Code(bytes_sha256(signatures_json(signatures)), style=HASH)
    lead = Text((*LEAD, Code(results.evidence_sha256), ". Their decisions are in ", Code(SIGNATURES),
                 " with this sha256: ", signatures_hash, REMARK), "lead")
    return Section("sign-off", "Sign-off", (lead, _decisions_table(results, signatures)), part="sign_off")


def _stated_name(results: Results, role: Role) -> Cell:
    name = getattr(results.statement, role, None)
    return "" if name is None else line(results, name)


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
            decision = (_decision_word(signature), *_valid_until(signature), *note,
                        *_conditions(signature.conditions))
            rows.append(Row((
                capital(role), (signature.name, *organisation), signature.date, decision,
                Code(signature.evidence_sha256[:EVIDENCE_DIGITS], signature.evidence_sha256)),
                "" if later is None else "replaced"))
    return Table("Signatures", columns, tuple(rows), "signatures decisions", stacked=True)
