"""What cards lack of the standards that they document evidence for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.standards.records import StandardCompleteness
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

STANDARDS = "standards"
"""The anchor of the section on standards."""

MOST_LABELS = 4
"""Items that a sentence names; of more it gives the number."""


@rule
def standards(results: Results) -> Iterator[Claim]:
    """Whether the card answers what the chosen standards ask for."""
    for standard in results.standards:
        if standard.verdict is not None:
            yield Claim(standard, short if standard.verdict == "fail" else reached)
        elif standard.missing:
            yield Claim(standard, gaps)


def short(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Say which standards are answered less than is required."""
    for row in rows:
        text = f"{_answered(row)}; required {numbers.given_percent(row.require or 0)}. Missing: {_lacking(row)}."
        yield finding("fails", weights.STANDARD_SHORT, text, STANDARDS)


def reached(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Say which standards are answered as far as is required."""
    for row in rows:
        lacking = f" Missing: {_lacking(row)}." if row.missing else ""
        text = f"{_answered(row)}; required {numbers.given_percent(row.require or 0)}.{lacking}"
        yield finding("holds", weights.STANDARD_REACHED, text, STANDARDS)


def gaps(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Say what is missing where nothing is required."""
    for row in rows:
        yield finding("note", weights.UNCHECKED, f"{_answered(row)}. Missing: {_lacking(row)}.", STANDARDS)


def _answered(row: StandardCompleteness) -> str:
    share = numbers.floored_percent(row.completeness)
    return f"{row.title}: {row.present} of {row.applicable} items answered ({share})"


def _lacking(row: StandardCompleteness) -> str:
    labels = [item.label for item in row.with_status("missing")]
    more = [f"{len(labels) - MOST_LABELS} more"] if len(labels) > MOST_LABELS else []
    return joined([*labels[:MOST_LABELS], *more])
