"""Findings on whether a model is any better than a rule that sees no features."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, finding, measures, values_of, with_verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results
    from evalpipe.results.findings import Finding


class Skill(NamedTuple):
    """What the measure is called in a sentence, and the rule for which it is 0."""

    called: str
    rule: str


SKILL = {
    "brier_skill": Skill("Brier skill", "the observed shares for every row"),
    "r2": Skill("R²", "the mean for every row"),
    "d2_poisson": Skill("deviance explained", "the mean count for every row"),
}
"""Measures that are 0 for a rule that sees no features."""

BINARY = "the prevalence for every row"
"""What the rule is of a binary outcome."""

PERSISTENCE = "the mean of the reference data for every row"
"""The rule that keeps to what was known before: it needs no model either."""


@rule
def better_than_trivial(results: Results) -> Iterator[Claim]:
    """Whether predictions are better than a constant prediction."""
    for metric in SKILL:
        for row in measures(results, metric, {"baseline": "evaluation"} if metric == "r2" else None):
            if metric != "r2" or results.task == "regression":
                yield Claim(row, better if (row.value or 0) > 0 else worse, p_beyond(row, 0), undecided)


@rule
def better_than_persistence(results: Results) -> Iterator[Claim]:
    """Whether predicted numbers are better than the mean of the reference data."""
    for row in measures(results, "r2", {"baseline": "training"}):
        if (row.value or 0) < 0:
            yield Claim(row, worse_than_persistence, p_beyond(row, 0))


def worse(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that a rule that sees no features does better."""
    text = (f"{with_verb(results, rows, 'does', 'do')} worse than predicting "
            f"{_rule(results, rows)}: {_values(results, rows)}, below 0.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def undecided(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that these data do not show any use of the predictions."""
    text = (f"These data do not show that {with_verb(results, rows, 'is', 'are')} better than predicting "
            f"{_rule(results, rows)}: {_values(results, rows)}.")
    yield finding("open", weights.TRIVIAL_OPEN, text, anchor(results, rows[0]), rows)


def better(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that the predictions are of use."""
    text = (f"{with_verb(results, rows, 'is', 'are')} better than predicting {_rule(results, rows)}: "
            f"{_values(results, rows)}.")
    yield finding("holds", weights.BETTER_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def worse_than_persistence(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Say that what was known before the model does better."""
    text = (f"{with_verb(results, rows, 'does', 'do')} worse than predicting {PERSISTENCE}: "
            f"{_values(results, rows)}, below 0.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def _rule(results: Results, rows: Sequence[Estimate]) -> str:
    return BINARY if results.task == "binary" else SKILL[rows[0].metric].rule


def _values(results: Results, rows: Sequence[Estimate]) -> str:
    return f"{SKILL[rows[0].metric].called} {values_of(results, rows)}"
