"""What rules can read of a spec that is wrong: blanks where something is wrong, and all else as its declared type."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from evalpipe.base.origin import Origin
from evalpipe.chapters.desirability.spec import Ramp
from evalpipe.chapters.slices.spec import Cut
from evalpipe.spec.core_keys import Weight
from evalpipe.spec.draft import Draft, refer
from evalpipe.spec.load import load
from evalpipe.spec.measures import MetricChoice
from evalpipe.spec.spec import Spec
from evalpipe.spec.tree import flatten, from_plain
from evalpipe.words.spelling import choose

GOOD = sorted((Path(__file__).parent.parent / "corpus" / "specs" / "good").glob("*.yaml"))
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}, "c": {"path": "c.csv", "role": "calibrate"}},
    "models": {"m": {"probability": "p"}},
}


def draft(**keys: object) -> Draft:
    return Draft(flatten(from_plain(SPEC | keys, Origin()), None, {}))


def test_a_right_spec_is_read_whole() -> None:
    good = draft(gates=[{"metric": "f_beta", "beta": 2, "min": 0.5}])

    assert good.error is None
    assert good.spec == Spec.model_validate(good.tree.data)
    assert not good.spec.alone
    assert good.readable("gates", 0, "min")


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_one_wrong_key_leaves_all_others_as_they_are(path: Path) -> None:
    whole = load(path, environment={"EVALPIPE_TEST_NAME": "n", "EVALPIPE_TEST_FOLDER": "f",
                                    "EVALPIPE_TEST_NUMBER": "0.25", "EVALPIPE_TEST_SECRET": "s"})
    written = whole.model_dump(mode="json", exclude_unset=True)

    broken = Draft(flatten(from_plain(written | {"seed": "one", "unknown": 1}, Origin()), None, {}))

    assert broken.error is not None
    assert not broken.readable("seed")
    kept = {key: getattr(broken.spec, key) for key in Spec.model_fields if key != "seed"}
    assert kept == {key: getattr(type(whole).model_validate(written), key) for key in kept}


def test_blanks_stand_for_what_is_wrong_within_and_for_what_is_missing() -> None:
    spec = draft(
        weight=3, outcome={"event": 1}, seed="one", metrics=["brier", 5], datasets=["d"],
        desirability=[{"metric": "brier", "minimize": {"low": 0, "hihg": 1}}, "brier"],
        slices=[{"column": "a", "cuts": [1, "2"]}, ["a", 5], 5, {"column": "b"}],
    ).spec

    assert (spec.weight, spec.outcome.column, spec.outcome.event) == (Weight.model_construct(column=""), "", 1)
    assert math.isnan(spec.seed)
    assert spec.metrics == (MetricChoice("brier"), MetricChoice(""))
    assert spec.datasets == {}
    goals = spec.desirability or ()
    assert goals[0].metric == MetricChoice("brier")
    assert isinstance(goals[0].minimize, Ramp)
    assert (goals[0].minimize.low, math.isnan(goals[0].minimize.high)) == (0, True)
    assert (goals[1].metric, goals[1].weight) == (None, 1)
    parts = [slicing.parts for slicing in spec.slices or ()]
    assert parts[1:] == [("a", ""), ("",), (Cut.model_construct(column="b", cuts=()),)]
    assert isinstance(parts[0][0], Cut)
    assert parts[0][0].column == "a"


def test_entries_that_cannot_be_read_are_passed_over() -> None:
    broken = draft(models={"a": {"probability": 5}, "b": ["p"], "c": {"score": "s"}}, gates=["x", {"min": 1}])

    assert list(broken.models) == ["a", "c"]
    assert list(broken.spec.models) == ["a", "b", "c"]
    assert broken.models["a"].probability == ""
    assert [loc for loc, _ in broken.entries(broken.spec.gates, "gates")] == [("gates", 1)]
    assert broken.readable("models", "a", "score")
    assert not broken.readable("models", "b", "score")
    assert (broken.role("evaluate"), broken.role("calibrate")) == (["d"], ["c"])


def test_a_key_is_misspelt_where_it_is_like_one_that_may_stand_there() -> None:
    broken = draft(intervals={"levle": 0.9})

    assert broken.unknown("intervals") == ["levle"]
    assert broken.misspelt(("intervals",), ["level", "method"], ["bands"])
    assert not broken.misspelt(("intervals",), ["bands"], [])
    assert not broken.misspelt(("intervals",), ["level"], ["levle"])
    assert not broken.misspelt(("seed",), ["level"], [])


@pytest.mark.parametrize(
    ("baseline", "told"),
    [("model", []), (5, []), (None, []), ("modle", ["did you mean 'model'?"]), ("zzz", ["write 'model'"])],
)
def test_a_name_that_refers_to_nothing_is_told_with_the_one_that_was_meant(baseline: object, told: list[str]) -> None:
    broken, here = draft(compare={"baseline": baseline}), ("compare", "baseline")

    problems = list(refer(broken, here, ["model"], "c", "no", choose(["model"], "remove it")))

    assert [problem.hint for problem in problems] == told


def test_the_hint_to_choose_knows_how_many_names_there_are() -> None:
    assert [choose(known, "remove it") for known in ([], ["a"], ["a", "b"])] == [
        "remove it", "write 'a'", "choose one of 'a' or 'b'"]
