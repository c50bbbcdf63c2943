"""Which model is better than the baseline, and which cannot be told from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.names import names_of
from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim
from evalpipe.findings.rules import rule
from evalpipe.findings.words import difference_of, finding, of_model, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Comparison, Results
    from evalpipe.results.findings import Finding

MOST_MEASURES = 3
"""The most measures that a sentence on two models gives."""


@rule
def models_compared(results: Results) -> Iterator[Claim]:
    """Whether a model is better than the baseline on the same rows, by the verdicts of its comparisons."""
    says = {"better": better, "worse": worse, "equivalent": equivalent, "same": same, "undecided": undecided}
    for row in results.comparisons:
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if between_models and row.slice is None and row.class_ is None and row.verdict in says:
            yield Claim(row, says[row.verdict])


@rule
def datasets_compared(results: Results) -> Iterator[Claim]:
    """Whether a model does worse than on an earlier dataset, by the verdicts of its comparisons."""
    for row in results.comparisons:
        as_given = row.baseline_dataset is not None and row.variant == "original"
        if as_given and row.slice is None and row.class_ is None and row.verdict in ("better", "worse"):
            yield Claim(row, worse_than_earlier if row.verdict == "worse" else better_than_earlier)


def better(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are better than the baseline."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "is better than")
        yield finding("holds", weights.MODEL_BETTER, text, _anchor(results, pair), pair)


def worse(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are worse than the baseline."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "is worse than")
        yield finding("fails", weights.MODEL_WORSE, text, _anchor(results, pair), pair)


def equivalent(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are as good as the baseline, within the margin."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "is equivalent, within the margin, to")
        yield finding("same", weights.MODELS_SAME, text, _anchor(results, pair), pair)


def same(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models give the very numbers of the baseline."""
    for pair in _pairs(rows):
        names, first = names_of(results), pair[0]
        listed = _listed([names.measure(row.metric, row.params, row.average) for row in pair])
        both = f"{of_model(results, first)} and {names.model(first.baseline)}"
        text = f"{both} have the same {listed} in every resample."
        yield finding("same", weights.MODELS_SAME, text, _anchor(results, pair), pair)


def undecided(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models cannot be told from the baseline."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "cannot be told apart from")
        yield finding("open", weights.MODELS_OPEN, text, _anchor(results, pair), pair)


def worse_than_earlier(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are worse than on the earlier dataset."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "does worse than on")
        yield finding("fails", weights.WORSE_THERE, text, _anchor(results, pair), pair)


def better_than_earlier(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models are better than on the earlier dataset."""
    for pair in _pairs(rows):
        text = _sentence(results, pair, "does better than on")
        yield finding("note", weights.CHECKED, text, _anchor(results, pair), pair)


def _pairs(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the rows of each dataset, model and baseline together."""
    return together(rows, lambda row: (row.dataset, row.model, row.baseline, row.baseline_dataset))


def _anchor(results: Results, pair: Sequence[Comparison]) -> str:
    """Return the anchor of the section: that on a dataset comes after that on a model."""
    after = pair[0].baseline_dataset is not None and any(
        row.baseline_dataset is None and row.variant == "original" for row in results.comparisons)
    return "comparison-2" if after else "comparison-1"


def _sentence(results: Results, rows: Sequence[Comparison], verb: str) -> str:
    """Write "Forest is better than Tree: difference in Brier score −0.012 (−0.020 to −0.004)."."""
    names, first = names_of(results), rows[0]
    other = first.baseline_dataset or names.model(first.baseline)
    listed = _listed([f"{names.measure(row.metric, row.params, row.average)} {difference_of(row)}" for row in rows])
    return f"{of_model(results, first)} {verb} {other}: difference in {listed}."


def _listed(items: Sequence[str]) -> str:
    """List a few, and say how many more there are."""
    more = len(items) - MOST_MEASURES
    if more <= 0:
        return joined(items)
    return f"{', '.join(items[:MOST_MEASURES])} and {more} more {'measure' if more == 1 else 'measures'}"
