"""What the card says of checks: the table of all of them, with what each looks for and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Aside, Bullets, Code, Column, Row, Section, Table, Text, Verdict
from evalpipe.card.summary import CHECKS
from evalpipe.card.wording import capital
from evalpipe.findings import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Piece
    from evalpipe.results import Check, Results
    from evalpipe.results.document import CheckKind

STYLES: dict[CheckKind, str] = {"fails": "fail", "undecided": "inconclusive", "passes": "pass"}
"""The style of an outcome, which is that of the verdict of a gate."""

KINDS: dict[CheckKind, tuple[str, str]] = {
    "silenced": ("–", "silenced"), "fails": ("✗", "fails"), "undecided": ("?", "undecided"), "note": ("•", "note"),
    "passes": ("✓", "passes"), "clear": ("–", "clear"), "not-applicable": ("–", "not applicable"),
}
"""The sign and the word for what became of a check, in the order of the table."""

LISTED: dict[CheckKind, str] = {"clear": "Clear, with nothing to tell", "not-applicable": ""}
"""The kinds that are listed below the table, with the words before their codes; those that do not apply by reason."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the section that lists every check with its outcome; none where older results recorded no checks."""
    if not results.checks:
        return
    described = {rule.code: rule.checks.rstrip(".") for rule in rules()}
    ordered = sorted(results.checks, key=lambda check: list(KINDS).index(check.kind))
    rows: tuple[Row, ...] = ()
    for check in (check for check in ordered if check.kind not in LISTED):
        sign, word = KINDS[check.kind]
        sought: list[Piece] = [described.get(check.code, "–")]
        if check.silenced is not None:
            would_say = KINDS[check.outcome][1]
            sought.append(Aside(f"{check.silenced.rstrip('.')}. It would say: {would_say}.", "definition"))
        outcome = Verdict(word, sign, f"outcome {STYLES.get(check.kind, 'skipped')}")
        rows += (Row((outcome, tuple(sought), Code(check.code))),)
    columns = (Column("Outcome", style="said"), Column("What is looked for", style="what"), Column("Code", style="why"))
    blocks: list[Block] = [
        Text("The outcome of a check is that of its worst finding. docs/findings.md says what each looks for.", "lead"),
        *([Table("Checks and their outcomes", columns, rows, "judged", stacked=True, heading=1)] if rows else [])]
    items: dict[str, list[Check]] = {}
    for check in ordered:
        if check.kind in LISTED:
            items.setdefault(LISTED[check.kind] or capital(check.reason or ""), []).append(check)
    blocks.append(Bullets(tuple((f"{what}: ", Code(", ".join(check.code for check in checks)))
                                for what, checks in items.items()), "small"))
    yield Section(CHECKS, "Checks", tuple(blocks), part="appendix")
