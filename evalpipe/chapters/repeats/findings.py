"""Whether the fits of a model differ as much as samples of rows do, or more than two models do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined, names_of
from evalpipe.chapters.repeats.words import single_values, spread_text
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding, of_model, together
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.repeats.records import Repeat
    from evalpipe.results import Comparison, Results
    from evalpipe.results.document import Finding

SECTION = "repeats"
"""The anchor of the section on repeated fits."""

MOST_MEASURES = 3
"""The most measures that a sentence gives."""


@rule
def fits_differ(results: Results) -> Iterator[Claim]:
    """Whether the fits of a model differ between them as much as the rows make one of them uncertain."""
    for row in single_values(results):
        if row.between is not None and row.within and row.between >= row.within:
            yield Claim(row, as_wide)


@rule
def fits_against_models(results: Results) -> Iterator[Claim]:
    """Whether the difference of two models is smaller than the spread between the fits of one of them."""
    for row in results.comparisons:
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if between_models and row.slice is None and row.class_ is None and row.difference is not None:
            wider = _widest(results, row)
            if wider is not None and abs(row.difference) < (wider.sd or 0.0):
                yield Claim(row, smaller)


def as_wide(results: Results, rows: Sequence[Repeat]) -> Iterator[Finding]:
    """Say in which measures the choice of a fit matters as much as that of the rows."""
    for same in together(rows, lambda row: (row.dataset, row.model)):
        names = names_of(results)
        parts = [f"{names.measure(row.metric, row.params, row.average)} SD {spread_text(row.between or 0.0)} between "
                 f"fits, SE {spread_text(row.within or 0.0)} within" for row in same[:MOST_MEASURES]]
        text = (f"Fits of {of_model(results, same[0])} differ as much as samples of rows do: "
                f"{joined(parts)}{_more(same)}. One fit does not stand for all.")
        yield finding("note", weights.FITS_DIFFER, text, SECTION, same)


def smaller(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in which measures another fit of the same model may reverse a difference."""
    wider = {id(row): fits for row in rows if (fits := _widest(results, row)) is not None}
    for pair in together(rows, lambda row: (row.dataset, row.model, row.baseline, wider[id(row)].model)):
        names, first = names_of(results), pair[0]
        parts = [_against(results, row, wider[id(row)]) for row in pair[:MOST_MEASURES]]
        text = (f"{of_model(results, first)} and {names.model(first.baseline)} differ less than the fits of "
                f"{names.model(wider[id(first)].model)} do: {joined(parts)}{_more(pair)}. Another fit could reverse "
                f"the {'difference' if len(pair) == 1 else 'differences'}.")
        yield finding("open", weights.FITS_DECIDE, text, SECTION, pair)


def _against(results: Results, row: Comparison, fits: Repeat) -> str:
    """Write a difference beside the spread of fits: "Brier score +0.0009 against an SD of 0.0011"."""
    deviation = fits.sd or 0.0
    digits = min(numbers.significant(deviation, 2), numbers.MOST_DECIMALS)
    return (f"{names_of(results).measure(row.metric, row.params, row.average)} "
            f"{numbers.signed(row.difference or 0.0, digits)} against an SD of {spread_text(deviation)}")


def _more(rows: Sequence[object]) -> str:
    """Say of how many more measures the same is true."""
    more = len(rows) - MOST_MEASURES
    return "" if more <= 0 else f", and so in {more} more {'measure' if more == 1 else 'measures'}"


def _widest(results: Results, comparison: Comparison) -> Repeat | None:
    """Return the row of the compared model whose fits differ more in the measure; None where neither has several."""
    about = (comparison.dataset, comparison.metric, comparison.params, comparison.average)
    rows = [row for row in single_values(results) if row.model in (comparison.model, comparison.baseline)
            and (row.dataset, row.metric, row.params, row.average) == about]
    return max(rows, key=lambda row: row.sd or 0.0, default=None)
