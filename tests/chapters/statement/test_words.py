"""The reader's nouns: what they are where the spec is silent, their plurals, and where they are refused."""

from __future__ import annotations

from typing import Any

import pytest

from engine.runs import people, run
from evalpipe.card.wording import nouns_of
from evalpipe.errors import SpecError
from evalpipe.run import load
from evalpipe.words.spelling import counted, plural

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "regression", "outcome": {"column": "y"}, "datasets": {"d": {"path": "d.csv"}},
    "models": {"m": {"prediction": "p"}},
}


@pytest.mark.parametrize(("one", "many"), [
    ("row", "rows"), ("probability", "probabilities"), ("day", "days"), ("box", "boxes"), ("person", "people"),
    ("pregnant woman", "pregnant women"), ("loan in default", "loans in default"), ("bus", "buses"),
])
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many
    assert (counted(1, one), counted(2000, one)) == (f"1 {one}", f"2,000 {many}")


def test_without_the_key_nothing_is_said_that_does_not_hold_of_any_data() -> None:
    results = run(people(60), metrics=["brier"], intervals={"method": "none"})
    nouns = nouns_of(results)
    assert (nouns.rows, nouns.events, nouns.event_words, nouns.alarms) == ("rows", "events", "'1'", "false alarms")
    assert "words" not in results.spec
    assert (nouns.counted_rows(1), nouns.counted_rows(1234)) == ("1 row", "1,234 rows")


@pytest.mark.parametrize("key", ["event", "predicted"])
def test_what_is_of_an_event_is_refused_without_one(key: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(SPEC | {"words": {key: "survivor"}})
    assert str(caught.value) == (
        f"error[not-for-task]: words.{key}: a regression outcome has no '{key}'\n  = help: remove it")
    load(SPEC | {"words": {"row": "person"}})
