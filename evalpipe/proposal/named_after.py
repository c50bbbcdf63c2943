"""Predictions that are named after an outcome: `prob_a` is of `label_a`, and `price_rf` of `price`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from evalpipe.base.levels import find_level
from evalpipe.proposal.names import like_prediction, subject
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook

MOST_SPECS = 8
"""The commands for further outcomes that are shown."""


def named_after(outcome: ColumnLook, columns: Mapping[str, ColumnLook]) -> list[str]:
    """Return the columns of predictions that are named after an outcome."""
    said = subject(outcome.name)
    if not said or like_prediction(outcome.name) or not outcome.usable:
        return []
    return [name for name, look in columns.items() if name != outcome.name and like_prediction(name)
            and (look.kind == "number" or look.levels) and subject(name) == said]


def of_others(outcome: ColumnLook, columns: Mapping[str, ColumnLook], taken: Iterable[str]) -> dict[str, str]:
    """Return the columns of predictions that are named after another outcome, with its name; none that are ``taken``.

    A column that is named after the levels of the outcome is of that outcome, whatever else has the name of a level.
    """
    without = {*taken, *named_after(outcome, columns)}
    return {name: look.name for look in columns.values() if look.name != outcome.name
            for name in named_after(look, columns) if name not in without}


def further_specs(
    others: Iterable[str], event: str | None, columns: Mapping[str, ColumnLook], paths: Sequence[str]
) -> tuple[str, ...]:
    """Return a note for each other outcome: the command that writes its spec."""
    notes: list[str] = []
    for name in list(dict.fromkeys(others))[:MOST_SPECS]:
        same = event is not None and find_level(event, tuple(columns[name].levels)) is not None
        target = f"{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}.yaml"
        command = ["evalpipe", "init", *paths, "--outcome", name, *(["--event", str(event)] if same else []),
                   "-o", target]
        notes.append(f"{quoted(name)} has predictions of its own; a spec for it: {shlex.join(command)}")
    return tuple(notes)
