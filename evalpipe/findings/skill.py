"""Findings on whether a model is any better than a rule that sees no features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, of_models, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.findings import Finding

TRIVIAL = {
    "brier_skill": ("the prevalence for every row", "Brier skill"),
    "r2": ("the mean for every row", "R²"),
    "d2_poisson": ("the mean rate for every row", "D²"),
}
"""Measures that are 0 for a rule that sees no features, with that rule and what they are called in a sentence."""


@rule
def better_than_trivial(results: Results) -> Iterator[Claim]:
    """Whether predictions are better than one number for all rows."""
    for metric in TRIVIAL:
        for row in measures(results, metric):
            yield Claim(row, better if (row.value or 0) > 0 else worse, p_beyond(row, 0), undecided)


def worse(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that a rule that sees no features does better."""
    rule_words, called = TRIVIAL[rows[0].metric]
    text = (f"{of_models(results, rows)} {'does' if len(rows) == 1 else 'do'} worse than predicting {rule_words}: "
            f"{called} {values_of(results, rows)}, below 0.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def undecided(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that these data do not show any use of the predictions."""
    rule_words, called = TRIVIAL[rows[0].metric]
    text = (f"These data do not show that {of_models(results, rows)} {'is' if len(rows) == 1 else 'are'} better than "
            f"predicting {rule_words}: {called} {values_of(results, rows)}.")
    yield finding("open", weights.TRIVIAL_OPEN, text, anchor(results, rows[0]), rows)


def better(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that the predictions are of use."""
    rule_words, called = TRIVIAL[rows[0].metric]
    text = (f"{of_models(results, rows)} {'is' if len(rows) == 1 else 'are'} better than predicting {rule_words}: "
            f"{called} {values_of(results, rows)}.")
    yield finding("holds", weights.BETTER_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)
