"""What the card says of models against fixed rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Row, Section, Table, Text
from evalpipe.card.tables import estimate_of, ranged, shown
from evalpipe.card.wording import names_of
from evalpipe.chapters.compare.card import by_dataset, compared, difference_of, notes, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

COLUMNS = (Column("Measure", style="what"), Column("Model", style="model"), Column("Estimate", "num"),
           Column("Rival"), Column("Rate", "num"), Column("Difference", "num"), Column("Verdict", style="said"))


def sections(results: Results) -> Iterator[Section]:
    """Write the section, with a table for each dataset."""
    names, rates = names_of(results), results.reference_rates
    tables = [Table(f"Differences from reference rates on {dataset}", COLUMNS, tuple(
        Row((compared(names, r), names.model(r.model, r.variant), shown(estimate_of(results, r)), r.baseline,
             ranged(r.rate, r.rate_lower, r.rate_upper), difference_of(r), verdict_of(r)))
        for r in rows), stacked=True) for dataset, rows in by_dataset(rates).items()]
    if tables:
        yield Section("reference-rates", "Reference rates", (
            Text(f"Each model minus a rate that the spec gives. The {wording.level(results.intervals.level)} interval "
                 "of the difference decides: better or worse where all of it is on one side of zero, undecided where "
                 "it includes zero.", "lead"),
            *tables, *(Text(note, "small") for note in notes(rates))),
            part="comparison")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield what the intervals take into account."""
    if results.reference_rates:
        yield Procedure("Reference rates", (
            "The interval of a difference includes the uncertainty of the estimate and, where the spec gives limits "
            "of the rate, that of the rate; otherwise the rate is taken as exact. It is not corrected for the number "
            "of differences."))
