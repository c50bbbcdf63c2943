"""The card's sections of findings, by kind with links to their evidence, and of the warnings of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.first import sentence
from evalpipe.card.page import Bullets, Code, Heading, Section, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import Results
    from evalpipe.results.findings import FindingKind

KINDS: dict[FindingKind, str] = {
    "fails": "What fails", "open": "What these data do not decide", "holds": "What holds",
    "same": "What cannot be told apart", "note": "What to know",
}
"""The headings of the kinds of findings, in their order."""


def sections(results: Results) -> Iterator[Section]:
    """Write the findings, and in the appendix every warning word for word; neither without any."""
    if results.findings:
        yield Section("findings", "Findings and limitations", (Text(_lead(results), "lead"), *_blocks(results)),
                      part="findings")
    if results.warnings:
        yield Section("warnings", "Warnings of the run", (
            Bullets(tuple((Code(warning.code), f" {warning.message}") for warning in results.warnings)),),
            part="appendix")


def _lead(results: Results) -> str:
    """Say how sure the findings are."""
    error = wording.level(1 - results.intervals.level)
    return ("Findings are computed from the results. Gates and comparisons have the verdicts of their tables. All "
            "other tested findings are corrected for their number (Holm): the chance that any of them is false is at "
            f"most {error}. Each interval is of one number, at {wording.level(results.intervals.level)}.")


def _blocks(results: Results) -> Iterator[Block]:
    for kind, heading in KINDS.items():
        items = tuple(sentence(finding) for finding in results.findings if finding.kind == kind)
        if items:
            yield Heading(heading)
            yield Bullets(items, "findings")
