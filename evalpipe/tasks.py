"""The kinds of outcome that can be evaluated, and what they have in common."""

from __future__ import annotations

from typing import Literal

Task = Literal["binary", "multiclass", "ordinal", "regression", "count"]

CLASSES: tuple[Task, ...] = ("binary", "multiclass", "ordinal")
"""Outcomes that are one of several levels."""

MANY: tuple[Task, ...] = ("multiclass", "ordinal")
"""Outcomes with any number of levels, none of which is the event."""

NUMBERS: tuple[Task, ...] = ("regression", "count")
"""Outcomes that are a number."""
