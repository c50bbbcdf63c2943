"""Which model is better than the baseline, and which cannot be told from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding, of_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Comparison, Results
    from evalpipe.results.findings import Finding

MOST_MEASURES = 3
"""The most measures that a sentence on two models gives."""


@rule
def models_compared(results: Results) -> Iterator[Claim]:
    """Whether a model is better than the baseline on the same rows, by the verdicts of its comparisons."""
    says = {"better": better, "worse": worse, "equivalent": same, "same": same, "undecided": undecided}
    for row in results.comparisons:
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if between_models and row.slice is None and row.class_ is None and row.verdict in says:
            yield Claim(row, says[row.verdict])


def better(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are better than the baseline."""
    for pair in _pairs(rows):
        yield finding("holds", weights.MODEL_BETTER, _sentence(results, pair, "is better than"), "comparison", pair)


def worse(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are worse than the baseline."""
    for pair in _pairs(rows):
        yield finding("fails", weights.MODEL_WORSE, _sentence(results, pair, "is worse than"), "comparison", pair)


def same(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are as good as the baseline, within the margin."""
    for pair in _pairs(rows):
        yield finding("same", weights.MODELS_SAME, _sentence(results, pair, "is as good as"), "comparison", pair)


def undecided(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models cannot be told from the baseline."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "cannot be told apart from")
        yield finding("open", weights.MODELS_OPEN, text, "comparison", pair)


def _pairs(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the rows of each dataset, model and baseline together."""
    keys = dict.fromkeys((row.dataset, row.model, row.baseline) for row in rows)
    for key in keys:
        yield [row for row in rows if (row.dataset, row.model, row.baseline) == key]


def _sentence(results: Results, rows: Sequence[Comparison], verb: str) -> str:
    """Write "Forest is better than Tree: Brier score -0.012 (-0.020 to -0.004)."."""
    names, first = names_of(results), rows[0]
    differences = [f"{names.measure(row.metric, row.params, row.average)} {_difference(row)}"
                   for row in rows[:MOST_MEASURES]]
    more = len(rows) - MOST_MEASURES
    listed = joined(differences) if more <= 0 else f"{', '.join(differences)} and {more} more measures"
    return f"{of_model(results, first)} {verb} {names.model(first.baseline)}: difference in {listed}."


def _difference(row: Comparison) -> str:
    if row.difference is None:
        return "undefined"
    value, limits = numbers.signed_interval(row.difference, row.lower, row.upper)
    return value if limits is None else f"{value} ({limits})"
