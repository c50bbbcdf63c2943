"""What the card says of margins: which sizes count as failures, in its section on methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.findings.margins import DEFAULTS, margin_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield from which size on effects are failures, where something was evaluated."""
    if results.datasets:
        sizes = "; ".join(f"{entry.of} {numbers.plain(margin_of(results, kind))}{entry.unit}"
                          for kind, entry in DEFAULTS.items() if results.task in entry.tasks)
        yield Procedure("Margins of findings", (
            "A finding fails where its whole interval lies beyond a margin, and is a note where an effect is certain "
            f"and may lie within it. An effect whose interval lies within the margin is none. Margins: {sizes}."),
            "Lakens, D. (2017). Equivalence tests: a practical primer for t tests, correlations, and meta-analyses. "
            "Social Psychological and Personality Science 8(4), 355–362.")
