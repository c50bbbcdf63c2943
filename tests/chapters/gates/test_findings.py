"""The findings on gates in full: what was observed and required of whom, and what the data leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from chapters.gates.test_card import gate
from evalpipe.chapters.gates.card import failed, kept, skipped, undecided

if TYPE_CHECKING:
    from evalpipe.results import Gate, Results

BRIER = "Brier score: 0.10 (0.05–0.15) for Naive Bayes on validation; required at most 0.2."


def of_groups(observed: dict[str, float | None], limit: dict[str, float], **keys: Any) -> list[Gate]:
    """Return the verdicts on groups of one model by their observed numbers."""
    return [gate("fail", slice={"g": name}, observed=value, lower=None, upper=None, limit=limit, **keys)
            for name, value in observed.items()]


@pytest.mark.parametrize(("rows", "expected"), [
    ([gate("fail")], [BRIER]),
    ([gate("fail", name="Sharp")], [BRIER.replace("Brier score", "Sharp", 1)]),
    ([gate("fail", limit={"min": 0.05, "max": 0.2})],
     [BRIER.replace("at most 0.2", "at least 0.05 and at most 0.2")]),
    ([gate("fail", observed=None, lower=None, upper=None)], [BRIER.replace("0.10 (0.05–0.15)", "no value")]),
    ([gate("fail", dataset=name) for name in "abc"],
     [("Brier score: 0.10 (0.05–0.15) for Naive Bayes on a; 0.10 (0.05–0.15) for Naive Bayes on b; 0.10 (0.05–0.15) "
       "for Naive Bayes on c; required at most 0.2.")]),
    ([gate("fail", dataset=name) for name in "abcde"],
     [("Brier score: 0.10 (0.05–0.15) for Naive Bayes on a; 0.10 (0.05–0.15) for Naive Bayes on b; 0.10 (0.05–0.15) "
       "for Naive Bayes on c and 2 more; required at most 0.2.")]),
    ([gate("fail", 2), gate("fail", 1, name="First")], [BRIER.replace("Brier score", "First", 1), BRIER]),
    # Of groups the one that is furthest beyond its limit, or nearest to it, by either limit.
    *((of_groups({"a": 0.3, "b": 0.9, "c": 0.5}, limit),
       [f"Brier score: {worst} and 2 more; required {words}."]) for limit, worst, words in (
        ({"min": 0.6}, "0.300 for Naive Bayes on validation, g = a", "at least 0.6"),
        ({"max": 0.6}, "0.900 for Naive Bayes on validation, g = b", "at most 0.6"),
        ({"min": 0.2, "max": 1.05}, "0.300 for Naive Bayes on validation, g = a", "at least 0.2 and at most 1.05"),
        ({"min": 0.1, "max": 1.0}, "0.900 for Naive Bayes on validation, g = b", "at least 0.1 and at most 1"))),
    (of_groups({"a": 0.3, "b": 0.9, "c": None}, {"min": 0.2}),
     ["Brier score: no value for Naive Bayes on validation, g = c and 2 more; required at least 0.2."]),
])
def test_what_was_observed_and_required_is_told_of_the_worst(
    results: Results, rows: list[Gate], expected: list[str]
) -> None:
    assert [finding.text for finding in failed(results, rows)] == expected
    assert [finding.text for finding in kept(results, rows)] == expected


def test_a_gate_that_warns_weighs_less_and_one_that_nothing_supports_says_so(results: Results) -> None:
    (fails,), (warns,) = failed(results, [gate("fail")]), failed(results, [gate("warn")])
    assert fails.weight > warns.weight
    (untrusted,) = failed(results, [gate("fail", reason={"code": "unreliable"})])
    assert untrusted.text.startswith(f"{BRIER} ")


def test_what_is_open_and_what_was_skipped_say_why(results: Results) -> None:
    (apart,) = undecided(results, [gate("inconclusive")])  # the limit is outside of the interval: no rows would help
    assert apart.text == f"{BRIER} These data do not decide."
    (near,) = undecided(results, [gate("inconclusive", limit={"max": 0.12})])
    assert near.text == (
        f"{BRIER.replace('at most 0.2', 'at most 0.12')} These data do not decide. About 70,000 more rows would decide "
        "with 80% probability, if the true value is 0.100.")
    (both,) = undecided(results, [gate("inconclusive", limit={"min": 0.08, "max": 0.12})])
    assert both.text.endswith("required at least 0.08 and at most 0.12. These data do not decide.")
    (named,), (plain,) = (skipped(results, [gate("skipped", **keys)]) for keys in ({"name": "Sharp"}, {}))
    assert (named.kind, plain.kind) == ("note", "note")
    assert named.text.startswith("Sharp was not judged: ")
    assert plain.text.startswith("Brier score was not judged: ")
