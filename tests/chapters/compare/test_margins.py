"""Margins of practical equivalence hide no harm: what is said of a difference whose interval excludes zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from card.blocks import lines, tables
from engine.runs import BOTH, intervals, people, run
from evalpipe.chapters.compare.card import sections

if TYPE_CHECKING:
    from evalpipe.results import Comparison, Results

WORSE = {"difference": -0.065, "lower": -0.114, "upper": -0.017, "p_value": 0.008, "p_adjusted": 0.008, "margin": 0.1,
         "verdict": "worse", "margin_verdict": "undecided"}
"""What a model that ranks worse was said of in none of eleven findings, and called undecided in the table."""


UNCORRECTED = ", but not certain once all differences of the table are allowed for"


@pytest.fixture(scope="module")
def compared() -> Results:
    return run(people(1200), metrics=["roc_auc", "brier"], intervals=intervals(100), models=BOTH,
               compare={"baseline": "p"})


def planted(results: Results, changes: dict[str, dict[str, Any]]) -> Results:
    rows = [row.model_copy(update=changes[row.metric]) for row in results.comparisons if row.metric in changes]
    return results.model_copy(update={"comparisons": rows})


def told(results: Results) -> list[tuple[str, str]]:
    """Return the kind and the text of what the rules of this chapter say."""
    from evalpipe.chapters.compare.card import datasets_compared, models_compared

    claims = [*models_compared(results), *datasets_compared(results)]
    by_say: dict[Any, list[Comparison]] = {}
    for claim in claims:
        by_say.setdefault(claim.say, []).append(claim.row)
    return [(found.kind, found.text) for say, rows in by_say.items() for found in say(results, rows)]


def test_a_harm_within_which_the_margin_lies_is_worse(compared: Results) -> None:
    """The harm is found from rows: its verdict, its p-value, the table of the card and the findings."""
    plain = {row.metric: row for row in compared.comparisons}["brier"]
    assert (plain.lower or 0) > 0  # higher is worse
    margin = round(plain.difference or 0.0, 4)
    results = run(people(1200), metrics=["roc_auc", "brier"], intervals=intervals(100), models=BOTH,
                  compare={"baseline": "p", "margins": {"brier": margin}})
    row = next(row for row in results.comparisons if row.metric == "brier")
    assert (row.verdict, row.margin_verdict) == ("worse", "undecided")
    adjusted = sorted(other.p_value or 0.0 for other in results.comparisons)
    assert row.p_adjusted == pytest.approx((row.p_value or 0.0) * (2 - adjusted.index(row.p_value or 0.0)), rel=1e-9)
    (kind, text), *_ = told(planted(results, {"brier": {}}))
    limits = f"+{row.difference:.3f} (+{row.lower:.3f} to +{row.upper:.3f}; perhaps within the margin of {margin})"
    assert (kind, text) == ("note", f"q is worse than p: difference in Brier score {limits}.")
    assert any(found.kind == "note" and f"Brier score {limits}" in found.text for found in results.findings)
    written = [line[-1] for line in lines(tables(sections(results))[0])]
    assert written[1] == "▼ worse perhaps within the margin"


@pytest.mark.parametrize(("change", "kind", "text"), [
    ({}, "note",
     "q is worse than p: difference in ROC AUC −0.07 (−0.11 to −0.02; perhaps within the margin of 0.1)."),
    ({"margin": 0.01, "margin_verdict": "beyond"}, "fails",
     "q is worse than p: difference in ROC AUC −0.07 (−0.11 to −0.02)."),
    ({"margin": 0.2, "verdict": "equivalent", "margin_verdict": "within"}, "equivalent",
     "q is equivalent, within the margin, to p: difference in ROC AUC −0.07 (−0.11 to −0.02)."),
    ({"verdict": "undecided", "margin_verdict": None, "p_adjusted": 0.088}, "undecided",
     f"q may be worse than p: difference in ROC AUC −0.07 (−0.11 to −0.02){UNCORRECTED}."),
    ({"verdict": "undecided", "margin_verdict": None, "difference": 0.065, "lower": 0.017, "upper": 0.114}, "undecided",
     f"q may be better than p: difference in ROC AUC +0.07 (+0.02 to +0.11){UNCORRECTED}."),
    ({"verdict": "undecided", "margin_verdict": None, "lower": -0.2, "upper": 0.07}, "undecided",
     "q is shown neither better nor worse than p: difference in ROC AUC −0.07 (−0.20 to +0.07)."),
    ({"verdict": "better", "difference": 0.065, "lower": 0.017, "upper": 0.114}, "passes",
     "q is better than p: difference in ROC AUC +0.07 (+0.02 to +0.11; perhaps within the margin of 0.1)."),
])
def test_each_verdict_has_its_sentence(compared: Results, change: dict[str, Any], kind: str, text: str) -> None:
    assert told(planted(compared, {"roc_auc": WORSE | change})) == [(kind, text)]


@pytest.mark.parametrize(("change", "kind", "text"), [
    ({}, "note",
     "q does worse than on then: difference in ROC AUC −0.07 (−0.11 to −0.02; perhaps within the margin of 0.1)."),
    ({"verdict": "undecided", "margin_verdict": None}, "undecided",
     f"q may do worse than on then: difference in ROC AUC −0.07 (−0.11 to −0.02){UNCORRECTED}."),
])
def test_a_fall_since_an_earlier_dataset_is_told_too(
    compared: Results, change: dict[str, Any], kind: str, text: str
) -> None:
    earlier = {"baseline": "q", "baseline_dataset": "then"}
    assert told(planted(compared, {"roc_auc": WORSE | earlier | change})) == [(kind, text)]
