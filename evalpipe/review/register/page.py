"""The register written: as text, as a page, and as csv and JSON with the same entries."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import quote

from evalpipe.base.formats import FORMULA
from evalpipe.card.contents import Card
from evalpipe.card.html import write_sections
from evalpipe.card.page import Aside, Column, ExternalLink, Facts, Line, Row, Section, Strong, Table, Verdict
from evalpipe.card.sign_off import DECISIONS
from evalpipe.card.wording import VERDICTS, capital
from evalpipe.review.differences.page import text
from evalpipe.review.register.entries import NeedKind
from evalpipe.version import VERSION
from evalpipe.words.spelling import counted, joined

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evalpipe.card.page import Cell, Piece
    from evalpipe.review.register.entries import CardEntry, Register

Format = Literal["text", "html", "csv", "json"]

WORDS: dict[NeedKind, tuple[str, str]] = {
    "rejected": ("rejected", "fail"), "failed": ("failed", "fail"), "expired": ("expired", "fail"),
    "changed": ("changed after its run", "fail"), "unreadable": ("unreadable", "fail"),
    "missing": ("without its card", "fail"), "drifting": ("drifting", "warn"), "stopped": ("stopped", "warn"),
    "challenged": ("with a comment to answer", "warn"), "warned": ("failed with a warning", "warn"),
    "unsigned": ("not approved", "inconclusive"), "amended": ("amended after a signature", "inconclusive"),
    "inconclusive": ("inconclusive", "inconclusive"), "unverified": ("not verifiable", "inconclusive"),
    "expires": ("expiring soon", "inconclusive"),
}
"""What is said of each need, and its colour."""

IN_VERDICT: tuple[NeedKind, ...] = ("failed", "warned", "inconclusive")
"""Needs that the verdict of the row says at length."""

SIGNS = {"fail": "✗", "warn": "▲", "inconclusive": "?"}

COLUMNS = (
    "name", "title", "models", "as_of", "needs", "reason", "verdict", "headline", "finding", "changes", "status",
    "signatures", "signed_as_of", "expires", "runs", "folder", "card",
)
"""The columns of the csv, and the keys of an entry in JSON."""


def write(register: Register, form: Format, page_folder: Path) -> str:
    """Return the register as text in a format; links of the page start from the folder ``page_folder``."""
    if form == "json":
        document = {"schema_version": 1, "as_of": register.as_of, "summary": summary(register),
                    "ledgers": list(register.ledgers), "folders": register.folders,
                    "entries": [_document(entry) for entry in register.entries]}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if form == "csv":
        return _csv(register)
    if form == "text":
        return text(summary(register), _facts(register), _sections(register, None))
    style, sign = ("fail", "✗") if register.needy else ("pass", "✓")
    box = Section("verdict", Verdict(summary(register), sign), (), f"gates {style}")
    card = Card(
        title="Register of model cards", generator=f"evalpipe {VERSION}", description=summary(register),
        identity=("Register", Aside(f"as of {register.as_of or 'no day'}")), masthead=(box, _facts(register)),
        sections=tuple(_sections(register, page_folder)),
        foot=f"evalpipe {VERSION}. A card is verified by its folder: evalpipe verify FOLDER.")
    return write_sections(card).decode("utf-8")


def summary(register: Register) -> str:
    """Return how many cards need a person, by the most urgent need of each, in a sentence."""
    needy, all_entries = len(register.needy), len(register.entries)
    if not needy:
        return f"None of {counted(all_entries, 'card')} needs a person."
    counts = Counter(entry.needs[0].kind for entry in register.needy)
    parts = [f"{counts[kind]} {WORDS[kind][0]}" for kind in get_args(NeedKind) if counts[kind]]
    return (f"{needy} of {counted(all_entries, 'card')} {'needs' if needy == 1 else 'need'} a person: "
            f"{joined(parts, 'and')}.")


def _facts(register: Register) -> Facts:
    """Return what was read, and the day on which approvals are judged."""
    sources = [counted(register.folders, "output folder"), *(f"the ledger {place}" for place in register.ledgers)]
    return Facts((("Judged on", register.as_of or "no day: none is stated"), ("Read", joined(sources, "and"))))


def _sections(register: Register, page_folder: Path | None) -> Iterator[Section]:
    """Yield the table of cards that need a person, and that of the others; titles are links but in a terminal."""
    for title, anchor, needy in (("What needs a person", "needs", True), ("Nothing to do", "fine", False)):
        entries = [entry for entry in register.entries if bool(entry.needs) is needy]
        if entries:
            columns = (Column("Card"), Column("What to look at", shown=needy), Column("Verdict and first finding"),
                       Column("Since the run before"), Column("Signed"))
            table = Table(f"{counted(len(entries), 'card')}, the most urgent first" if needy else
                          counted(len(entries), "card"), columns,
                          tuple(_row(entry, page_folder) for entry in entries), "decisions register", stacked=True)
            yield Section(anchor, title, (table,))


def _row(entry: CardEntry, page_folder: Path | None) -> Row:
    """Return the row of an entry: its card, what needs a person, its verdict, changes, and who signed."""
    title: Piece = Strong(entry.title)
    if page_folder is not None and entry.folder is not None and entry.card is not None:
        path = os.path.relpath(entry.folder / entry.card, page_folder).replace(os.sep, "/")
        title = ExternalLink(Strong(entry.title), quote(path))
    about = [*([] if entry.name == entry.title else [entry.name]), *([joined(entry.models, "and")] if entry.models
             else []), *([f"as of {entry.as_of}"] if entry.as_of else [])]
    needs: list[Piece] = []
    for need in entry.needs:
        word, style = WORDS[need.kind]
        text = f"{capital(word)}." if need.kind in IN_VERDICT else need.text
        needs += [*([Line("", "later")] if needs else []), Verdict(text, SIGNS[style], f"outcome {style}")]
    return Row((
        (title, *(Line(text, "definition") for text in about)), tuple(needs), _verdict(entry),
        tuple(Line(change, "later") if index else change for index, change in enumerate(entry.changes)) or "–",
        _signed(entry)))


def _verdict(entry: CardEntry) -> Cell:
    """Return the verdict of an entry in the card's words, and its first finding."""
    kind = entry.verdict if entry.verdict in VERDICTS else None
    sign, style = ("–", "skipped") if kind is None else (VERDICTS[kind].sign, kind)
    if not entry.headline:
        return "–"
    return (Verdict(entry.headline, sign, f"outcome {style}"), *(() if entry.finding is None else (
        Line(entry.finding, "later"),)))


def _signed(entry: CardEntry) -> Cell:
    """Return the status of a card, and the newest decision of each role with its last day."""
    lines = []
    for signature in entry.signatures:
        decision = [] if signature.decision == "approved" else [DECISIONS[signature.decision][1]]
        lines.append(", ".join([signature.name, signature.role, signature.date, *decision]))
    other = [] if entry.signed_as_of is None else [f"Signed is the card of {entry.signed_as_of}."]
    return (entry.status or "–", *(Line(line, "definition") for line in [*lines, *other]))


def _document(entry: CardEntry) -> dict[str, Any]:
    """Return an entry as JSON values."""
    expires = [signature.expires for signature in entry.signatures if signature.expires]
    return {
        "name": entry.name, "title": entry.title, "models": list(entry.models), "as_of": entry.as_of,
        "needs": [{"kind": need.kind, "text": need.text} for need in entry.needs], "verdict": entry.verdict,
        "headline": entry.headline, "finding": entry.finding, "changes": list(entry.changes), "status": entry.status,
        "signatures": [signature.model_dump() for signature in entry.signatures], "signed_as_of": entry.signed_as_of,
        "expires": min(expires, default=None), "runs": entry.runs,
        "folder": None if entry.folder is None else entry.folder.as_posix(), "card": entry.card}


def _csv(register: Register) -> str:
    """Return the register as csv, a line for each card; texts that a spreadsheet would compute begin with a quote."""
    content = io.StringIO()
    lines = csv.writer(content, lineterminator="\n")
    lines.writerow(COLUMNS)
    for entry in register.entries:
        document = _document(entry)
        texts = document | {
            "models": "; ".join(entry.models), "needs": "; ".join(need.kind for need in entry.needs),
            "reason": " ".join(need.text for need in entry.needs), "changes": " ".join(entry.changes),
            "signatures": "; ".join(f"{signature.role} {signature.decision}: {signature.name} {signature.date}"
                                    for signature in entry.signatures)}
        lines.writerow([_harmless(texts[name]) for name in COLUMNS])
    return content.getvalue()


def _harmless(value: object) -> str:
    """Return a cell of csv: a text that begins as a formula stands behind an apostrophe."""
    cell = "" if value is None else str(value)
    return f"'{cell}" if re.match(FORMULA, cell) else cell


def form_of(path: Path) -> Format | None:
    """Return the format that the ending of a file names; None for another."""
    return next((form for form in get_args(Format) if path.suffix == f".{form}"), None)
