"""The outcome, with its levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class OutcomePlan:
    """The column of the outcome and its levels, as texts.

    ``levels`` are the declared levels, of a binary outcome the event first, and ``written`` the same levels in the
    order of the spec; both are empty where none are declared. ``event`` is the event of a binary outcome, ``unit`` the
    unit of numbers.
    """

    column: str
    event: str | None
    levels: tuple[str, ...]
    written: tuple[str, ...]
    unit: str | None


def outcome_plan(spec: Spec) -> OutcomePlan:
    """Return the outcome of a spec."""
    outcome = spec.outcome
    event = None if outcome.event is None else level_text(outcome.event)
    written = tuple(map(level_text, outcome.levels or ()))
    return OutcomePlan(outcome.column, event, tuple(levels(spec)), written, outcome.unit)


def levels(spec: Spec) -> list[str]:
    """Return the declared levels of the outcome; of a binary one the event first; empty where none are declared."""
    written = [level_text(level) for level in spec.outcome.levels or ()]
    if spec.task != "binary" or not written:
        return written
    event = level_text(spec.outcome.event)
    return [event, *(level for level in written if level != event)]
