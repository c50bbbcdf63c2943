"""The kinds of outcome that can be evaluated, and what they have in common."""

from __future__ import annotations

from typing import Literal

Task = Literal["binary", "multiclass", "ordinal", "regression", "count"]

MEANT: dict[str, str] = {
    "classification": "say 'binary' for two levels, 'multiclass' for more, 'ordinal' where they have an order",
    "binary_classification": "say 'binary'",
    "multiclass_classification": "say 'multiclass'",
    "multilabel": "several labels of a row are not read together: write a spec with 'task: binary' for each label",
    "ranking": "rankings within groups are not evaluated",
    "timeseries": "forecasts of numbers are 'regression', of counts 'count'",
    "time_series": "forecasts of numbers are 'regression', of counts 'count'",
    "forecasting": "forecasts of numbers are 'regression', of counts 'count'",
    "survival": "times to an event with censored rows are not evaluated",
    "time_to_event": "times to an event with censored rows are not evaluated",
    "clustering": "clusters without a true outcome are not evaluated",
}
"""What is said of words that people try for a task."""

CLASSES: tuple[Task, ...] = ("binary", "multiclass", "ordinal")
"""Outcomes that are one of several levels."""

MANY: tuple[Task, ...] = ("multiclass", "ordinal")
"""Outcomes with any number of levels, none of which is the event."""

NUMBERS: tuple[Task, ...] = ("regression", "count")
"""Outcomes that are a number."""
