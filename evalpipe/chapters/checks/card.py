"""What the card says of checks: the table of all of them, with what each looks for and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Aside, Bullets, Code, Column, Row, Section, Table, Text, Verdict
from evalpipe.card.summary import CHECKS
from evalpipe.card.wording import capital
from evalpipe.findings import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Cell, Piece
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
    """Yield the section of all checks; nothing of results of versions that counted none."""
    if not results.checks:
        return
    described = {rule.code: rule.checks.rstrip(".") for rule in rules()}
    ordered = sorted(results.checks, key=lambda check: list(KINDS).index(check.kind))
    rows = tuple(Row((_outcome(check), (described.get(check.code, "–"), *_silence(check)), Code(check.code)))
                 for check in ordered if check.kind not in LISTED)
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


def _outcome(check: Check) -> Cell:
    """Return the sign and the word for what became of a check."""
    sign, word = KINDS[check.kind]
    return Verdict(word, sign, f"outcome {STYLES.get(check.kind, 'skipped')}")


def _silence(check: Check) -> Iterator[Piece]:
    """Yield why a check is silenced, and what it would have come to; nothing of any other."""
    if check.silenced is not None:
        yield Aside(f"{check.silenced.rstrip('.')}. It would say: {KINDS[check.outcome][1]}.", "definition")
