"""That measures are apparent, and what they come to without the optimism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import anchor, finding, together
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.optimism.records import Optimism
    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding

MOST_MEASURES = 3
"""The most measures that a sentence gives."""


@rule
def measures_apparent(results: Results) -> Iterator[Claim]:
    """Whether measures are of rows that the models were fitted to, and what they come to corrected for optimism."""
    for row in results.optimism:
        if row.corrected is not None and row.class_ is None:
            yield Claim(row, corrected)
    trained = {dataset.name for dataset in results.datasets if dataset.trained_on}
    known = {(row.dataset, row.model) for row in results.optimism}
    first = {(row.dataset, row.model): row for row in reversed(results.rows)
             if row.slice is None and row.variant == "original"}
    for about, estimate in sorted(first.items()):
        if estimate.dataset in trained and about not in known:
            yield Claim(estimate, apparent)


def corrected(results: Results, rows: Sequence[Optimism]) -> Iterator[Finding]:
    """Say what measures come to without their optimism."""
    for same in together(rows, lambda row: (row.dataset, row.model)):
        names, first = names_of(results), same[0]
        parts = [f"{names.measure(row.metric, row.params, row.average)} "
                 f"{numbers.with_limits(row.corrected or 0.0, row.lower, row.upper)} instead of "
                 f"{_apparent(row)}" for row in same[:MOST_MEASURES]]
        text = (f"{names.model(first.model)} was fitted to the rows of {first.dataset}. Corrected for optimism: "
                f"{joined(parts)}.")
        yield finding("note", weights.APPARENT, text, "optimism", same)


def _apparent(row: Optimism) -> str:
    """Write the apparent value with the decimals of the corrected one."""
    return numbers.fixed(row.apparent or 0.0, numbers.most_decimals([(row.corrected, row.lower, row.upper)]))


def apparent(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say which measures are too good, by an amount that is not known."""
    for same in together(rows, lambda row: row.dataset):
        names = names_of(results)
        models = joined([names.model(row.model) for row in same])
        verb = "was" if len(same) == 1 else "were"
        text = (f"{models} {verb} fitted to the rows of {same[0].dataset}: measures there are too good, and no "
                "bootstrap fits say by how much.")
        yield finding("note", weights.APPARENT, text, anchor(results, same[0]), same)
