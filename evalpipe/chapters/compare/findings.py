"""Which model is better than the baseline, and which cannot be told from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import difference_of, finding, of_model, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Comparison, Results
    from evalpipe.results.document import Finding, FindingKind

UNCORRECTED = ", but not certain once all differences of the table are allowed for"
"""What keeps a difference undecided whose interval excludes zero."""

MOST_MEASURES = 3
"""The most measures that a sentence on two models gives."""


@dataclass(frozen=True, slots=True)
class PairFinding:
    """What is said of models and what they are compared with, on the measures of one verdict.

    ``kind`` and ``weight`` are those of the finding; ``verb`` stands between the two names, ``doubt`` at the end.
    """

    kind: FindingKind
    weight: float
    verb: str
    doubt: str = ""

    def __call__(self, results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
        """Yield a finding for each pair."""
        for pair in _pairs(rows):
            text = _sentence(results, pair, self.verb, self.doubt)
            yield finding(self.kind, self.weight, text, _anchor(results, pair), pair)


BETWEEN_MODELS = {
    "better": PairFinding("holds", weights.MODEL_BETTER, "is better than"),
    "worse": PairFinding("fails", weights.MODEL_WORSE, "is worse than"),
    "equivalent": PairFinding("same", weights.MODELS_SAME, "is equivalent, within the margin, to"),
    "undecided": PairFinding("open", weights.MODELS_OPEN, "cannot be told apart from"),
    "perhaps_worse": PairFinding("open", weights.MODEL_PERHAPS_WORSE, "may be worse than", UNCORRECTED),
    "perhaps_better": PairFinding("open", weights.MODELS_OPEN, "may be better than", UNCORRECTED),
}
"""What is said of a model and the baseline; that they are the same has words of its own."""

BETWEEN_DATASETS = {
    "better": PairFinding("note", weights.CHECKED, "does better than on"),
    "worse": PairFinding("fails", weights.WORSE_THERE, "does worse than on"),
    "perhaps_worse": PairFinding("open", weights.MODEL_PERHAPS_WORSE, "may do worse than on", UNCORRECTED),
}
"""What is said of a model on a dataset and on an earlier one."""


@rule
def models_compared(results: Results) -> Iterator[Claim]:
    """Whether a model is better than the baseline on the same rows, by the verdicts of its comparisons."""
    for row in results.comparisons:
        verdict = _leaning(results, row)
        say = _same if verdict == "same" else BETWEEN_MODELS.get(verdict)
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if between_models and row.slice is None and row.class_ is None and say is not None:
            yield Claim(row, say)


@rule
def datasets_compared(results: Results) -> Iterator[Claim]:
    """Whether a model does worse than on an earlier dataset, by the verdicts of its comparisons."""
    for row in results.comparisons:
        say = BETWEEN_DATASETS.get(_leaning(results, row))
        as_given = row.baseline_dataset is not None and row.variant == "original"
        if as_given and row.slice is None and row.class_ is None and say is not None:
            yield Claim(row, say)


def _leaning(results: Results, row: Comparison) -> str:
    """Return the verdict on a row; of one that is undecided though its interval excludes zero, what it leans to.

    So it is where the correction for the number of differences alone leaves it undecided.
    """
    direction = next((metric.direction for metric in results.metrics if metric.name == row.metric), "none")
    if row.verdict != "undecided" or direction == "none" or not row.excludes_zero:
        return row.verdict
    return "perhaps_better" if ((row.difference or 0.0) > 0) == (direction == "maximize") else "perhaps_worse"


def _same(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say in what models give the very numbers of the baseline."""
    for pair in _pairs(rows):
        names, first = names_of(results), pair[0]
        listed = _listed([names.measure(row.metric, row.params, row.average) for row in pair])
        both = f"{of_model(results, first)} and {names.model(first.baseline)}"
        text = f"{both} have the same {listed} in every resample."
        yield finding("same", weights.MODELS_SAME, text, _anchor(results, pair), pair)


def _pairs(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the rows of each dataset, model and baseline together."""
    return together(rows, lambda row: (row.dataset, row.model, row.baseline, row.baseline_dataset))


def _anchor(results: Results, pair: Sequence[Comparison]) -> str:
    """Return the anchor of the section: that on a dataset comes after that on a model."""
    after = pair[0].baseline_dataset is not None and any(
        row.baseline_dataset is None and row.variant == "original" for row in results.comparisons)
    return "comparison-2" if after else "comparison-1"


def _sentence(results: Results, rows: Sequence[Comparison], verb: str, doubt: str = "") -> str:
    """Write "Forest is better than Tree: difference in Brier score −0.012 (−0.020 to −0.004)."."""
    names, first = names_of(results), rows[0]
    other = first.baseline_dataset or names.model(first.baseline)
    listed = _listed([f"{names.measure(row.metric, row.params, row.average)} {difference_of(row)}" for row in rows])
    return f"{of_model(results, first)} {verb} {other}: difference in {listed}{doubt}."


def _listed(items: Sequence[str]) -> str:
    """List a few, and say how many more there are."""
    more = len(items) - MOST_MEASURES
    if more <= 0:
        return joined(items)
    return f"{', '.join(items[:MOST_MEASURES])} and {more} more {'measure' if more == 1 else 'measures'}"
