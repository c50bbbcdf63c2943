"""What the card says of models against fixed rates, and findings on whether they reach what others did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Row, Section, Table, Text
from evalpipe.card.tables import estimate_of, ranged, row_anchor, shown
from evalpipe.card.wording import joined, names_of
from evalpipe.chapters.compare.card import difference_number, notes, verdict_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule, unless_key
from evalpipe.findings.words import by_dataset, finding, grouped, of_model, of_models, verb_form
from evalpipe.findings.words import difference_of as difference_text
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import RateDifference, Results
    from evalpipe.results.document import Finding


COLUMNS = (Column("Measure", style="what"), Column("Model", style="model"), Column("Estimate", "num"),
           Column("Rival"), Column("Rate", "num"), Column("Difference", "num"), Column("Verdict", style="said"))


def sections(results: Results) -> Iterator[Section]:
    """Yield the card's section on reference rates: each model minus each rate, a table for each dataset."""
    names, rates = names_of(results), results.reference_rates
    tables = [Table(f"Differences from reference rates on {rows[0].dataset}", COLUMNS, tuple(
        Row((names.measure_of(r), names.model_of(r), shown(estimate_of(results, r)), r.baseline,
             ranged(r.rate, r.rate_lower, r.rate_upper), difference_number(r), verdict_of(r)),
            anchor=row_anchor(RATES, [r], r.baseline))
        for r in rows), stacked=True) for rows in by_dataset(rates)]
    if tables:
        yield Section("reference-rates", "Reference rates", (
            Text(f"Each model minus a rate that the spec gives. The {wording.level(results.intervals.level)} interval "
                 "of the difference decides: better or worse where all of it is on one side of zero, undecided where "
                 "it includes zero.", "lead"),
            *tables, *(Text(note, "small") for note in notes(rates))),
            part="comparison")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on what the interval of a difference from a reference rate takes into account."""
    if results.reference_rates:
        yield Procedure("Reference rates", (
            "The interval of a difference includes the uncertainty of the estimate and, where the spec gives limits "
            "of the rate, that of the rate; otherwise the rate is taken as exact. It is not corrected for the number "
            "of differences."))


RATES = "reference-rates"
"""The anchor of the section on reference rates."""


@rule("fails", "undecided", "passes", unless=(unless_key("no-reference-rates", "reference_rates"),), claims_all=True)
def reference_rates_reached(results: Results) -> Iterator[Claim]:
    """Whether models reach the reference rates, by the intervals of the differences."""
    findings = {"better": rate_reached_findings, "worse": rate_missed_findings, "undecided": rate_undecided_findings}
    yield from (Claim(row, findings[row.verdict]) for row in results.reference_rates
                if row.verdict in findings and row.variant == "original" and row.class_ is None and row.slice is None)


def rate_reached_findings(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Yield findings on models that are better than a reference rate."""
    for group in _rows_by_rate(rows):
        verb = verb_form(group, "is better than", "are better than")
        yield finding("passes", weights.RATE_REACHED, _difference_sentence(results, group, verb), RATES, group)


def rate_missed_findings(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Yield findings on models that do not reach a reference rate."""
    for group in _rows_by_rate(rows):
        verb = verb_form(group, "does not reach", "do not reach")
        yield finding("fails", weights.RATE_MISSED, _difference_sentence(results, group, verb), RATES, group)


def rate_undecided_findings(results: Results, rows: Sequence[RateDifference]) -> Iterator[Finding]:
    """Yield findings on models whose interval of the difference from a reference rate includes zero."""
    for group in _rows_by_rate(rows):
        verb = verb_form(group, "is shown neither better nor worse than", "are shown neither better nor worse than")
        yield finding("undecided", weights.RATE_OPEN, _difference_sentence(results, group, verb), RATES, group)


def _rows_by_rate(rows: Sequence[RateDifference]) -> Iterator[list[RateDifference]]:
    """Yield the rows of each reference rate, a rival's value of a measure, as a list."""
    return grouped(rows, lambda row: (row.baseline, row.metric, str(row.params)))


def _difference_sentence(results: Results, rows: Sequence[RateDifference], verb: str) -> str:
    """Return "Forest does not reach last year's model (Brier score 0.12): difference +0.02 (0.01 to 0.03).".

    ``verb`` is the words between the models and the rival. All ``rows`` are of one rate.
    """
    first = rows[0]
    measure = names_of(results).measure(first.metric, first.params, first.average)
    differences = joined([f"{difference_text(row)}{f' for {of_model(results, row)}' if len(rows) > 1 else ''}"
                          for row in rows])
    return (f"{of_models(results, rows)} {verb} {first.baseline} ({measure} {numbers.plain(first.rate)}): difference "
            f"{differences}.")
