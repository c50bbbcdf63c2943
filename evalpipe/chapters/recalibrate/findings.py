"""Whether recalibration makes a model better, or worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import anchor, difference_of, finding, of_model, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Comparison, Results
    from evalpipe.results.document import Finding

SECTION = "recalibration"
"""What the anchors of the sections on recalibration begin with."""

PROPER = ("brier", "log_loss", "rps", "rmse", "mae", "poisson_deviance")
"""The measures that a recalibration is judged by, the first that the run has: losses that reward right predictions."""


@rule
def recalibration_judged(results: Results) -> Iterator[Claim]:
    """Whether recalibration makes a model better or worse, by the verdicts of its comparisons."""
    shifted = {(fit.model, fit.variant) for fit in results.recalibration if fit.shifts}
    says = {"better": helps, "worse": harms, "undecided": undecided}
    rows = [row for row in results.comparisons if row.variant != row.baseline_variant == "original"
            and row.slice is None and row.class_ is None and (row.model, row.variant) not in shifted
            and "prevalence" not in row.params and row.baseline_dataset is None]
    metric = next((name for name in PROPER if any(row.metric == name for row in rows)), None)
    yield from (Claim(row, says[row.verdict]) for row in rows if row.metric == metric and row.verdict in says)


def helps(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say by which methods recalibration makes a model better, and by how much at most."""
    for same in _of_models(rows):
        text = _sentence(results, same, "makes {} better")
        yield finding("holds", weights.RECALIBRATION_HELPS, text, anchor(results, same[0], SECTION), same)


def harms(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say by which methods recalibration makes a model worse."""
    for same in _of_models(rows):
        text = _sentence(results, same, "makes {} worse")
        yield finding("fails", weights.RECALIBRATION_HARMS, text, anchor(results, same[0], SECTION), same)


def undecided(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Say for which methods these data do not show any gain."""
    for same in _of_models(rows):
        text = (f"These data do not show that recalibration by {_methods(same)} makes {of_model(results, _plain(same))}"
                " better or worse.")
        yield finding("open", weights.RECALIBRATION_OPEN, text, anchor(results, same[0], SECTION), same)


def _of_models(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the rows of each dataset and model together."""
    return together(rows, lambda row: (row.dataset, row.model))


def _sentence(results: Results, rows: Sequence[Comparison], verb: str) -> str:
    """Write "Recalibration by beta or isotonic makes Forest better: Brier score up to −0.074 (−0.090 to −0.058)."."""
    most = max(rows, key=lambda row: abs(row.difference or 0.0))
    measure = names_of(results).measure(most.metric, most.params, most.average)
    by_most = f"by {most.variant}, " if len(rows) > 1 else ""
    changed = verb.format(of_model(results, _plain(rows)))
    return f"Recalibration by {_methods(rows)} {changed}: {measure} {by_most}{difference_of(most)}."


def _plain(rows: Sequence[Comparison]) -> Comparison:
    """Return a row that names the model without its variant."""
    return rows[0].model_copy(update={"variant": "original"})


def _methods(rows: Sequence[Comparison]) -> str:
    return joined([row.variant for row in rows], "or")
