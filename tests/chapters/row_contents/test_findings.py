"""The findings on what rows hold in full, and the margin from which on a group is one."""

from __future__ import annotations

from typing import Any

import pytest

from evalpipe.chapters.row_contents import card
from evalpipe.chapters.row_contents.records import (
    Copies,
    SharedContents,
    SharedValue,
    UndeclaredCluster,
    UndeclaredGroup,
)
from evalpipe.findings.claims import Claim
from evalpipe.results import Results

SHARED = {"dataset": "validation", "other": "past", "columns": ["a", "b"], "rows": 2000, "twins": 500,
          "by_chance": 10.1, "verdict": "shared"}
GROUP = {"dataset": "validation", "model": "model_0", "column": "g", "groups": 3, "rows": 100, "n": 1000,
         "kind": "mean", "value": 0.4, "expected": 0.2, "outside": 0.5, "difference": 0.2, "least": 0.1, "tests": 6}
VALUE = {"dataset": "validation", "model": "model_0", "value": 0.5, "rows": 60, "n": 600, "next_rows": 2,
         "at_end": False, "events": 20}
SAME = ("Naive Bayes gives the same probability, 0.5, to 60 of 600 rows on validation (10.0%), and no other to more "
        "than 2.")
ALSO = ("500 of 2,000 rows of validation (25.0%) are also in past under other ids: the same in {}, where chance "
        "explains at most {}. What is measured on them is too good.")
COPIED = ("50 of 2,000 rows of validation (2.5%) are copies of others, in 7 columns without ids, with measured numbers "
          "that no other row has. Intervals count them as further rows, so they are too narrow.")
ALIKE = ("Rows on validation are not independent: 1,200 belong to 40 values of who, within which errors are alike. The "
         "interval of their mean is about 2.3 times too narrow, and others are too, but less. Declare 'cluster: who'.")
FAILS = ("Naive Bayes on validation fails in one group of g, which no slice names: 100 of 1,000 rows; {}. To see it, "
         "add 'slices: [g]'.")
FILLED = "Was it filled in where there was no score?"


def told(results: Results, claims: Any) -> list[str]:
    """Return the sentences that claims are told in, all claims of one sentence together."""
    by_say: dict[Any, list[Claim]] = {}
    for claim in claims(results):
        by_say.setdefault(claim.say, []).append(claim)
    return [finding.text for say, group in by_say.items() for finding in say(results, [claim.row for claim in group])]


@pytest.mark.parametrize(("change", "expected"), [
    ({}, ALSO.format("2 columns", 11)), ({"columns": ["a"], "by_chance": 10.0}, ALSO.format("1 column", 10)),
    ({"verdict": "clear"}, None), ({"verdict": "too-alike"}, None),
])
def test_rows_that_others_hold_are_told_beyond_chance(
    results: Results, change: dict[str, Any], expected: str | None
) -> None:
    changed = results.model_copy(update={"shared_contents": [SharedContents(**SHARED | change)]})
    assert told(changed, card.training_contents) == ([] if expected is None else [expected])


def test_copies_and_ids_are_told_with_what_they_do_to_intervals(results: Results) -> None:
    changed = results.model_copy(update={
        "copies": [Copies(dataset="validation", n=2000, copies=50, columns=7)],
        "undeclared_clusters": [UndeclaredCluster(
            dataset="validation", model="model_0", column="who", ids=40, rows=1200, wider=2.345)]})
    assert told(changed, card.rows_repeated) == [COPIED]
    assert told(changed, card.clusters_undeclared) == [ALIKE]


@pytest.mark.parametrize(("levels", "kind", "margin", "what"), [
    (True, "mean", 0.05, "0.400 of them are events, predicted 0.200"),
    (True, "error", 0.05, "share of errors 0.400, elsewhere 0.200"),
    (True, "promised", 0.05 * 0.5, "squared error 0.400, where the probabilities promise 0.200"),
    (False, "mean", 0.1 * 3.0, "their mean is 0.400, predicted 0.200"),
    (False, "error", 0.05 * 0.5, "mean error 0.400, elsewhere 0.200"),
])
def test_a_group_is_told_where_it_is_worse_by_more_than_the_margin(
    results: Results, levels: bool, kind: str, margin: float, what: str
) -> None:
    changed = results if levels else results.model_copy(update={"levels": [], "datasets": [
        dataset.model_copy(update={"outcome": {"sd": 3.0}}) for dataset in results.datasets]})
    for least, expected in ((margin, []), (margin * 1.001, [FAILS.format(what)])):
        group = UndeclaredGroup(**GROUP | {"kind": kind, "least": least})
        assert told(changed.model_copy(update={"undeclared_groups": [group]}), card.groups_undeclared) == expected


def test_the_worst_group_by_its_margin_is_first_and_weighs_by_its_rows_and_difference(results: Results) -> None:
    # 0.2 is four margins of a rate, 0.15 are six of a loss whose mean elsewhere is 0.5.
    rows = [UndeclaredGroup(**GROUP | {"column": "rate", "least": 0.2}),
            UndeclaredGroup(**GROUP | {"column": "loss", "least": 0.15, "kind": "promised"})]
    first, second = card.undeclared_group_findings(results, rows)
    assert "one group of loss" in first.text
    assert "one group of rate" in second.text
    assert first.weight > second.weight  # 0.2 is eight margins of the loss
    small, = card.undeclared_group_findings(results, [rows[0].model_copy(update={"rows": 10})])
    assert small.weight < second.weight


@pytest.mark.parametrize(("change", "expected"), [
    ({}, f"{SAME} 20 of these rows are events. {FILLED}"),
    ({"events": 60}, f"{SAME} All of these rows are events. {FILLED}"),
    ({"events": 0}, f"{SAME} None of these rows are events. {FILLED}"),
    ({"events": None}, f"{SAME} {FILLED}"),
    ({"at_end": True}, f"{SAME} 20 of these rows are events."),
    ({"value": None, "events": None}, f"{SAME.replace('probability, 0.5,', 'probabilities')} {FILLED}"),
])
def test_a_shared_value_is_told_with_its_events(results: Results, change: dict[str, Any], expected: str) -> None:
    changed = results.model_copy(update={"shared_values": [SharedValue(**VALUE | change)]})
    assert told(changed, card.value_shared) == [expected]


@pytest.mark.parametrize(("columns", "scale", "word"), [
    ({"probability": "p"}, None, "probability"), ({"score": "s"}, "logit", "probability"),
    ({"score": "s"}, None, "score"), ({"prediction": "y"}, None, "prediction"),
])
def test_a_shared_value_is_called_what_the_model_gives(
    results: Results, columns: dict[str, str], scale: str | None, word: str
) -> None:
    models = [results.models[0].model_copy(update={"columns": columns, "scale": scale}), *results.models[1:]]
    changed = results.model_copy(update={"models": models, "shared_values": [SharedValue(**VALUE)]})
    (text,) = told(changed, card.value_shared)
    assert text.startswith(SAME.replace("probability", word))
