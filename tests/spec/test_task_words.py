"""Words that people try for a task: the error says what is meant, or that it is not there."""

from __future__ import annotations

import pytest

from evalpipe.errors import SpecError
from evalpipe.spec.load import load
from evalpipe.tasks import MEANT


@pytest.mark.parametrize("word", [*MEANT, "Time-to-Event", "binary-classification"])
def test_a_word_for_a_task_says_what_is_there(word: str) -> None:
    spec = {"evalpipe": 1, "name": "x", "task": word, "outcome": {"column": "y"},
            "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"prediction": "p"}}}
    with pytest.raises(SpecError) as caught:
        load(spec)
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == ("unknown-choice", MEANT[word.lower().replace("-", "_")])
