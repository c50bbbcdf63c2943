"""How many rows an equivocal zone leaves without a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond, rule
from evalpipe.findings.words import anchor, finding, measures, values_of, with_verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding

HALF = 0.5


@rule
def rows_without_class(results: Results) -> Iterator[Claim]:
    """Whether most rows get a class despite the equivocal zone."""
    for row in measures(results, "reportable_rate"):
        if (row.value or 0) < HALF:
            yield Claim(row, most_without, p_beyond(row, HALF), some_without)
        elif (row.value or 0) < 1:
            yield Claim(row, some_without)


def most_without(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that most rows get no class."""
    text = (f"{with_verb(results, rows, 'gives', 'give')} no class to most rows: they are in "
            f"the equivocal zone. Share with a class {values_of(results, rows)}.")
    yield finding("fails", weights.NO_CLASS, text, anchor(results, rows[0]), rows)


def some_without(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say what share of the rows measures of classes are of."""
    text = (f"{with_verb(results, rows, 'gives', 'give')} no class to rows in the equivocal "
            f"zone. Share with a class {values_of(results, rows)}.")
    yield finding("note", weights.SOME_WITHOUT_CLASS, text, anchor(results, rows[0]), rows)
