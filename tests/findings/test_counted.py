"""Rates of groups, which findings tell as counts of whole rows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.runs import intervals, people, run
from evalpipe.findings.words import counted_rate

WORDS = {"event": "survivor", "row": "person"}


@pytest.mark.parametrize(("metric", "words"), [
    ("sensitivity", r"p finds \d+ of \d+ survivors for s = a; \d+% for the rest\. Sensitivity: difference −"),
    ("accuracy", r"p is right on [\d,]+ of [\d,]+ people for s = a; \d+% for the rest\. Accuracy: difference −"),
    ("brier", r"Brier score of p is worse for s = a than for the rest: 0\.\d+, difference \+"),
])
def test_a_group_that_is_worse_is_told_in_counts_where_it_can_be(metric: str, words: str) -> None:
    frame = people(2000)
    worse = frame.with_columns(p=frame["p"].zip_with(frame["s"] != "a", 1 - frame["p"]))
    results = run(worse, metrics=[metric], intervals=intervals(200), slices=["s"], slice_rules={"reference": "rest"},
                  words=WORDS)
    assert [finding.text for finding in results.findings if re.match(words, finding.text)] != []


def test_counts_are_those_of_the_confusion_matrix_and_add_up_to_the_value() -> None:
    results = run(people(600), metrics=["sensitivity", "specificity", "precision", "accuracy", "brier"],
                  intervals=intervals(100), slices=["h"])
    for row in results.rows:
        rate = counted_rate(results, row, row.slice)
        if row.metric == "brier":
            assert rate is None
            continue
        assert rate is not None
        part, whole = map(int, re.findall(r"\d+", rate)[:2])
        assert part / whole == row.value


@pytest.mark.parametrize("keys", [{"weight": {"column": "heavy"}}, {"equivocal": 0.1}])
def test_weights_and_rows_without_a_class_are_not_counted(keys: dict[str, Any]) -> None:
    results = run(people(600), metrics=["sensitivity"], intervals=intervals(100), **keys)
    assert [counted_rate(results, row, None) for row in results.rows if row.metric == "sensitivity"] == [None]
