"""The findings on goals and ranks: which there are, at each edge, and their whole text."""

from __future__ import annotations

from typing import Any

import pytest

from chapters.desirability.test_card import changed, whole
from evalpipe.chapters.desirability.card_models import goals_reached, missed, missed_perhaps, most_desirable
from evalpipe.results import Results

OF_BOTH = [
    ("minimize brier", "minimize Brier score", "0.157 and 0.162; the goal asks for less than 0.25"),
    ("maximize sensitivity", "maximize Sensitivity", "0.615; the goal asks for more than 0.2"),  # both have as much
    ("category in_use", "category In use", "True and False"),
    ("custom roc_auc", "custom ROC AUC", "0.829 and 0.824"),
    ("target active_features", "target Active features", "9 and 10"),
]


@pytest.mark.parametrize(("goal", "title", "values"), OF_BOTH)
def test_a_missed_goal_is_told_with_the_values_of_its_models(goal: str, title: str, values: str) -> None:
    results = whole()
    rows = [row for row in results.desirability.individual if row.goal == goal]
    (told,) = missed(results, rows)
    assert told.text == (
        f"Model <0> and Model <1> miss the goal '{title}': {values}. Their overall desirability is 0.")
    (alone,) = missed_perhaps(results, rows[:1])
    limit = values.partition("; ")[2]
    first = values.partition(";")[0].split(" and ")[0]
    assert alone.text == (
        f"Model <0> misses the goal '{title}': {first}{f'; {limit}' if limit else ''}. Other rows may reach it. Its "
        "overall desirability is 0.")
    assert (told.kind, alone.kind) == ("fails", "undecided")
    assert len(told.estimates) == (0 if " in_" in goal or "active" in goal else 2)  # a characteristic has no row


def claims(results: Results, **change: Any) -> list[str]:
    """Return which findings the first row of goals claims with these values."""
    rows = [change | {"goal": "x"} if index == 0 else {} for index in range(len(results.desirability.individual))]
    return [claim.say.__name__ for claim in goals_reached(changed(results, individual=rows))]


@pytest.mark.parametrize(("change", "expected"), [
    ({"desirability": 0.0, "upper": None}, ["missed"]),
    ({"desirability": 0.0, "upper": 0.0}, ["missed"]),
    ({"desirability": 0.0, "upper": 0.001}, ["missed_perhaps"]),
    ({"desirability": 0.001, "upper": 0.0}, []),
    ({"desirability": 0.0, "upper": None, "status": "undefined"}, []),
    ({"desirability": None, "upper": None}, []),
])
def test_a_goal_is_missed_where_its_desirability_is_zero(change: dict[str, Any], expected: list[str]) -> None:
    assert claims(whole(), **change) == expected


BEST = "Model <0> is the most desirable: 0.68 (0.58–0.79) overall, first in {} of resamples."
OPEN = ("Model <0> ranks first in desirability, but these data do not decide: 0.68 (0.58–0.79) overall, first in {} of "
        "resamples.")


@pytest.mark.parametrize(("change", "expected"), [
    ({"probability_best": 0.95}, [BEST.format("95.0%")]), ({"probability_best": 0.9489}, [OPEN.format("94.9%")]),
    ({"probability_best": 0.0}, [OPEN.format("0.0%")]),
    ({"probability_best": None}, []), ({"rank": 2}, []), ({"value": 0.0}, []), ({"value": None}, []),
])
def test_the_first_is_most_desirable_from_the_level_of_the_intervals_on(
    change: dict[str, Any], expected: list[str]
) -> None:
    results = changed(whole(), overall=[change, {}])
    assert [told.text for claim in most_desirable(results) for told in claim.say(results, [claim.row])] == expected
