"""The kinds of outcome that can be evaluated, and what they have in common."""

from __future__ import annotations

import re
from typing import Literal, get_args

from evalpipe.errors import UsageError
from evalpipe.words.spelling import closest, listed, quoted

Task = Literal["binary", "multiclass", "ordinal", "regression", "count", "score"]

TASKS = f"[{'|'.join(get_args(Task))}]"
"""The tasks as the help of a command shows them."""

MEANT: dict[str, str] = {
    "classification": "say 'binary' for two levels, 'multiclass' for more, 'ordinal' where they have an order",
    "binary_classification": "say 'binary'",
    "multiclass_classification": "say 'multiclass'",
    "multilabel": "several labels of a row are not read together: write a spec with 'task: binary' for each label",
    "ranking": "rankings within groups are not evaluated; a measure of each query is 'score'",
    "benchmark": "say 'score': each item has a number from each model",
    "llm": "say 'score': each item has a number from each model",
    "timeseries": "forecasts of numbers are 'regression', of counts 'count'",
    "time_series": "forecasts of numbers are 'regression', of counts 'count'",
    "forecasting": "forecasts of numbers are 'regression', of counts 'count'",
    "survival": "times to an event with censored rows are not evaluated",
    "time_to_event": "times to an event with censored rows are not evaluated",
    "clustering": "clusters without a true outcome are not evaluated",
}
"""Hints for words that people try as a task."""


def meant_task(word: object) -> str | None:
    """Return the hint for a word that people try as a task, such as "survival"; None where there is none for it."""
    return MEANT.get("_".join(re.split(r"[\s_-]+", str(word).strip().lower())))


CLASSES: tuple[Task, ...] = ("binary", "multiclass", "ordinal")
"""Outcomes that are one of several levels."""

MANY: tuple[Task, ...] = ("multiclass", "ordinal")
"""Outcomes with any number of levels, none of which is the event."""

NUMBERS: tuple[Task, ...] = ("regression", "count")
"""Outcomes that are a number."""

SCORES: tuple[Task, ...] = ("score",)
"""Items that get a number from a model, and have no outcome to predict."""

WITH_OUTCOME: tuple[Task, ...] = (*CLASSES, *NUMBERS)
"""What models predict has an outcome, by which they are right or wrong."""

WITHOUT_LEVELS: tuple[Task, ...] = (*NUMBERS, *SCORES)
"""What models give for a row is a number, and there are no levels."""

def known_task(word: str) -> Task:
    """Return ``word`` as a task; raises UsageError where it is none."""
    tasks: tuple[Task, ...] = get_args(Task)
    if word not in tasks:
        guess = closest(word, tasks)
        hint = meant_task(word) or (f"did you mean {quoted(guess)}?" if guess else None)
        raise UsageError.of("unknown-choice", f"expected {listed(tasks)} as the task, got {quoted(word)}", hint)
    return word
