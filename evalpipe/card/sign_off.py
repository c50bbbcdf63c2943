"""Who signed the card and what they decided: the status of the document, the fact on its first page, the section."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evalpipe.base.digests import bytes_sha256
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
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURES, Role, newest, signatures_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    """Write how far the document is, and who decided on it: "FINAL, approved by A. Reader (validator), 2026-11-21"."""
    last, state = newest(signatures), STATES[results.statement.status]
    if not last:
        return Aside(f"{state}, {UNSIGNED}", "status")
    decision = next(decision for decision in DECISIONS if any(signed.decision == decision for signed in last.values()))
    deciding = [signed for signed in last.values() if signed.decision == decision]
    latest = max(deciding, key=lambda signed: signed.date)
    more = f", and {len(deciding) - 1} more" if len(deciding) > 1 else ""
    days = [signed.expires for signed in last.values() if signed.expires]
    until = f"; valid until {min(days)}" if days else ""
    _, words, style = DECISIONS[decision]
    begun = "REJECTED" if decision == "rejected" else f"{_state(state, last.values())}, {words}"
    return Aside(f"{begun} by {latest.name} ({latest.role}), {latest.date}{more}{until}", f"status {style}")


def _state(stated: str, signatures: Iterable[Signature]) -> str:
    """Return "FINAL" where anybody but the developer approved; the developer alone does not make a document final."""
    approved = any(signed.role != "developer" and signed.decision.startswith("approved") for signed in signatures)
    return STATES["final"] if approved else stated


def signed(signatures: Sequence[Signature]) -> tuple[Block, ...]:
    """Write what each role decided, who did so and when, with the first conditions; nothing where nobody signed."""
    last = newest(signatures).values()
    if not last:
        return ()
    most = max(1, MOST_CONDITIONS // max(1, sum(bool(signature.conditions) for signature in last)))
    signers = Bullets(tuple(_signer(signature, most) for signature in last), "signers")
    return (BlockGroup((Heading("Signed"), signers), "signed"),)


def _signer(signature: Signature, most: int) -> Cell:
    """Write a decision with at most so many of its conditions."""
    shown = [_shortened(text) for text in signature.conditions[:most]]
    more: tuple[Piece, ...] = () if shown == signature.conditions else (" ", Link("All conditions", "sign-off"))
    who = ", ".join(filter(None, (signature.name, signature.organisation)))
    return (_decision(signature), f" by {who} ({signature.role}),", Aside(signature.date, "day"), *_until(signature),
            *_conditions(shown), *more)


def _conditions(texts: Sequence[str]) -> Iterator[Line]:
    """Write the conditions of a decision, each on a line of its own."""
    return (Line(f"{number}. {text}", "condition") for number, text in enumerate(texts, 1))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST - 1].rstrip()}…"


def _decision(signature: Signature) -> Verdict:
    sign, words, style = DECISIONS[signature.decision]
    return Verdict(words, sign, f"outcome {style}")


def _until(signature: Signature) -> tuple[Piece, ...]:
    return (", valid until", Aside(signature.expires, "day")) if signature.expires else ()


def section(results: Results, signatures: Sequence[Signature]) -> Section:
    """Write a line for each role: what was decided, or room for a name, a day and a signature."""
    if not signatures:
        return Section("sign-off", "Sign-off", (_to_sign(results),), part="sign_off")
    own = Code(bytes_sha256(signatures_json(signatures)), style=HASH)
    lead = Text((*LEAD, Code(results.evidence_sha256), ". Their decisions are in ", Code(SIGNATURES),
                 " with this sha256: ", own, REMARK), "lead")
    return Section("sign-off", "Sign-off", (lead, _decisions(results, signatures)), part="sign_off")


def _to_sign(results: Results) -> Table:
    """Write a line for each role, with the name where it is stated."""
    columns = (Column("Role"), Column("Name"), Column("Date"), Column("Signature"))
    rows = tuple(Row((capital(role), _stated(results, role), "", UNSIGNED)) for role in get_args(Role))
    return Table("Signatures", columns, rows, "signatures")


def _stated(results: Results, role: Role) -> Cell:
    """Write the name that the spec states for a role."""
    name = getattr(results.statement, role, None)
    return "" if name is None else line(results, name)


def _decisions(results: Results, signatures: Sequence[Signature]) -> Table:
    """Write every decision by role, the one that counts first, and the roles that nobody signed in."""
    columns = (Column("Role"), Column("Name", style="who"), Column("Date", style="day"),
               Column("Decision and conditions", style="decided"), Column("Evidence", style="day evidence-of"))
    rows: list[Row] = []
    for role in get_args(Role):
        own = [signature for signature in reversed(signatures) if signature.role == role]
        rows += [_line(signature, later) for signature, later in zip(own, [None, *own], strict=False)]
        rows += [] if own else [Row((capital(role), _stated(results, role), "", UNSIGNED))]
    return Table("Signatures", columns, tuple(rows), "signatures decisions", stacked=True)


def _line(signature: Signature, later: Signature | None) -> Row:
    """Write a decision; one that a later decision in the same role replaces says so."""
    replaced = () if later is None else (Line(f"replaced by the decision of {later.date}", "later"),)
    organisation = () if signature.organisation is None else (Line(signature.organisation, "definition"),)
    evidence = Code(signature.evidence_sha256[:EVIDENCE_DIGITS], signature.evidence_sha256)
    decided = (_decision(signature), *_until(signature), *replaced, *_conditions(signature.conditions))
    return Row((capital(signature.role), (signature.name, *organisation), signature.date, decided, evidence),
               "" if later is None else "replaced")
