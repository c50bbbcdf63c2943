"""What a run did not look at, said so that silence is not read as approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Results
    from evalpipe.results.findings import Finding


@rule
def requirements(results: Results) -> Iterator[Claim]:
    """Whether the spec says how good is good enough."""
    if results.datasets and not results.gates:
        yield Claim(None, no_gate)


@rule
def unchecked(results: Results) -> Iterator[Claim]:
    """What was not checked."""
    referenced = any(dataset.role == "reference" for dataset in results.datasets)
    compared = any(dataset.compared for dataset in results.datasets)
    lacking = "no column to compare by" if referenced else "no reference dataset"
    looked_at = {
        "groups of rows (no slices)": bool(results.slices or results.worst_slices),
        f"whether rows were in training ({lacking})": compared,
        "how sure the numbers are (no intervals)": any(row.lower is not None for row in results.rows),
    }
    yield from (Claim(what, not_checked) for what, looked in looked_at.items() if results.datasets and not looked)


def no_gate(_: Results, __: Sequence[None]) -> Iterator[Finding]:
    """Say that nothing was required."""
    yield finding("open", weights.NO_GATE, "No gate says how good is good enough, so there is no verdict.", "use")


def not_checked(_: Results, rows: Sequence[str]) -> Iterator[Finding]:
    """Say in one sentence what was not looked at."""
    yield finding("note", weights.UNCHECKED, f"Not checked: {joined(rows)}.", "data")
