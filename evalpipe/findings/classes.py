"""Findings on predicted classes and on ranking: levels that are never predicted, ranking the wrong way, perfection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, of_model, of_models, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Confusion, Estimate, Results
    from evalpipe.results.findings import Finding

PERFECT = {"roc_auc": "ROC AUC", "accuracy": "accuracy", "r2": "R²"}
"""Measures whose best value, 1, is hardly ever earned, with what they are called."""

CHANCE = 0.5
"""The ROC AUC of scores that tell nothing of the event."""


@rule
def levels_never_predicted(results: Results) -> Iterator[Claim]:
    """Whether each level that occurs is ever predicted."""
    yield from (Claim(table, never_predicted) for table in results.confusion
                if table.slice is None and table.variant == "original" and _missed(table))


@rule
def ranking(results: Results) -> Iterator[Claim]:
    """Whether the scores rank events above other rows."""
    for row in measures(results, "roc_auc"):
        if row.value == 1:
            continue
        yield Claim(row, wrong_way if (row.value or 0) < CHANCE else ranks, p_beyond(row, CHANCE), no_order)


@rule
def perfection(results: Results) -> Iterator[Claim]:
    """Whether predictions are right without exception, as they are where a feature holds the outcome."""
    yield from (Claim(row, too_good) for metric in PERFECT for row in measures(results, metric)
                if row.value == 1 and row.variant == "original")


def _missed(table: Confusion) -> dict[str, float]:
    """Return the levels that occur and are never predicted, with what their rows weigh."""
    predicted = [sum(column) for column in zip(*table.counts, strict=True)]
    occur = [sum(row) for row in table.counts]
    return {level: rows for level, rows, times in zip(table.levels, occur, predicted, strict=True)
            if rows and not times}


def never_predicted(results: Results, rows: Sequence[Confusion]) -> Iterator[Finding]:
    """Say of each model which levels it never predicts, and how many rows have them."""
    for table in rows:
        missed = _missed(table)
        levels = joined([f"'{level}' ({numbers.count(count)} rows)" for level, count in missed.items()])
        text = f"{of_model(results, table)} never predicts {levels}."
        yield finding("fails", weights.LEVEL_NEVER_PREDICTED, text, anchor(results, table))


def wrong_way(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that scores are higher without the event."""
    text = (f"{of_models(results, rows)} {'ranks' if len(rows) == 1 else 'rank'} the wrong way round: rows without the "
            f"event have higher scores. ROC AUC {values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def no_order(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that these data do not show any order."""
    text = (f"These data do not show that {of_models(results, rows)} {'ranks' if len(rows) == 1 else 'rank'} better "
            f"than chance: ROC AUC {values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("open", weights.TRIVIAL_OPEN, text, anchor(results, rows[0]), rows)


def ranks(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that scores are higher with the event."""
    text = (f"{of_models(results, rows)} {'ranks' if len(rows) == 1 else 'rank'} events above other rows: ROC AUC "
            f"{values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("holds", weights.BETTER_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def too_good(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that no error was made, and what to look for."""
    for metric in dict.fromkeys(row.metric for row in rows):
        same = [row for row in rows if row.metric == metric]
        text = (f"{of_models(results, same)} {'makes' if len(same) == 1 else 'make'} no error: {PERFECT[metric]} is 1. "
                "Look for a feature that holds the outcome.")
        yield finding("open", weights.TOO_GOOD, text, anchor(results, same[0]), same)
