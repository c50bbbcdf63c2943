"""At which step a fit is best, and by which measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import MOST_NAMED, more_models
from evalpipe.chapters.steps.words import OPTIMISTIC, label_of, title_of, value_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import anchor, finding, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.steps.records import StepHistory
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

    Rivals = tuple[StepHistory, StepHistory]
    """A proper score of a model at its steps, and a measure of its predicted levels."""

PROPER = ("log_loss", "brier", "rps")
"""Scores that are best, on average, for the true probabilities."""

OF_LEVELS = ("accuracy", "misclassifications", "error_rate", "balanced_accuracy")
"""Measures that see predicted levels alone."""


@rule
def best_steps_differ(results: Results) -> Iterator[Claim]:
    """Whether a proper score and accuracy, or misclassifications, are best at different steps of a fit."""
    for rows in _of_models(results):
        scores, counts = _first(rows, PROPER), _first(rows, OF_LEVELS)
        if scores is not None and counts is not None and not _agree(scores, counts):
            yield Claim((scores, counts), differ)


@rule
def step_not_best(results: Results) -> Iterator[Claim]:
    """Whether the step that the card shows has a worse value than an earlier or a later one."""
    for rows in _of_models(results):
        row = _first(rows, (*PROPER, *dict.fromkeys(row.metric for row in rows)))
        if row is not None and row.shown != row.best and not row.is_best(row.shown) and _visible(results, row):
            yield Claim(row, worse)


def _of_models(results: Results) -> Iterator[list[StepHistory]]:
    yield from together(results.steps, lambda row: (row.dataset, row.model))


def _first(rows: Sequence[StepHistory], metrics: Sequence[str]) -> StepHistory | None:
    """Return the history of the first of some measures that has a best step."""
    known = (row for metric in metrics for row in rows if row.metric == metric and row.best is not None)
    return next(known, None)


def _agree(scores: StepHistory, counts: StepHistory) -> bool:
    """Tell whether a step that is best by one measure is best by the other too."""
    shared = set(scores.steps) & set(counts.steps)
    return any(scores.is_best(step) and counts.is_best(step) for step in shared)


def _visible(results: Results, row: StepHistory) -> bool:
    """Tell whether the shown value differs from the best one as it is written."""
    return value_of(results, row, row.at(row.shown)) != value_of(results, row, row.best_value)


def differ(results: Results, rows: Sequence[Rivals]) -> Iterator[Finding]:
    """Say which steps are best by either measure, what the conflict means, and that the values are optimistic."""
    for pairs in together(rows, lambda pair: (pair[0].dataset, pair[0].metric, pair[1].metric)):
        scores, counts = pairs[0]
        where = _of_one(results, *pairs[0]) if len(pairs) == 1 else _of_several(results, pairs)
        means = (f"{title_of(results, scores)} judges the probabilities, {title_of(results, counts)} the predicted "
                 "levels alone: choose the step by what will be used.")
        yield finding("note", weights.STEPS_DIFFER, f"{where} {means} {OPTIMISTIC}",
                      anchor(results, scores, "steps"), [row for pair in pairs for row in pair])


def _of_one(results: Results, scores: StepHistory, counts: StepHistory) -> str:
    """Write "Net: Log loss is best at step 12 (0.31), Accuracy at step 40 (0.9; 0.88 at step 12)."."""
    assert scores.best is not None and counts.best is not None  # noqa: S101, PT018 - the rule looks first
    there = value_of(results, counts, counts.at(scores.best))
    return (f"{label_of(results, scores)}: {title_of(results, scores)} is best at step {scores.best} "
            f"({value_of(results, scores, scores.best_value)}), {title_of(results, counts)} at step {counts.best} "
            f"({value_of(results, counts, counts.best_value)}; {there} at step {scores.best}).")


def _of_several(results: Results, pairs: Sequence[Rivals]) -> str:
    """Write "Log loss and Accuracy are best at different steps: 12 and 40 for Net; 9 and 30 for Tree."."""
    scores, counts = pairs[0]
    named = [f"{a.best} and {b.best} for {label_of(results, a)}" for a, b in pairs[:MOST_NAMED]]
    more = more_models("; ", len(pairs))
    return (f"{title_of(results, scores)} and {title_of(results, counts)} are best at different steps: "
            f"{'; '.join(named)}{more}.")


def worse(results: Results, rows: Sequence[StepHistory]) -> Iterator[Finding]:
    """Say how much worse the shown step is than the best one."""
    for alike in together(rows, lambda row: (row.dataset, row.metric)):
        parts = [_shortfall(results, row) for row in alike[:MOST_NAMED]]
        more = more_models("; ", len(alike))
        text = (f"The step that this card shows is not the best by {title_of(results, alike[0])}: "
                f"{'; '.join(parts)}{more}.")
        yield finding("note", weights.STEP_NOT_BEST, text, anchor(results, alike[0], "steps"), alike)


def _shortfall(results: Results, row: StepHistory) -> str:
    """Write "Net 0.45 at step 100, 0.31 at step 12"."""
    assert row.best is not None  # noqa: S101 - the rule looks first
    here, there = (value_of(results, row, row.at(step)) for step in (row.shown, row.best))
    return f"{label_of(results, row)} {here} at step {row.shown}, {there} at step {row.best}"
