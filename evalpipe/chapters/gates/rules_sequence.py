"""Checks of gates `on: sequence`: that nights can be told apart and kept, and that what is judged has evidence."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from evalpipe.chapters.gates.spec import AVERAGED, BOUNDED, F_MEASURES, LARGE_NIGHTS, AgainstEarlier
from evalpipe.spec.rules_measures import check_measure
from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.gates.spec import GateRule
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.spec.draft import Draft

INFLATED = (
    "noise makes it larger than it is on every night, and many nights add that up",
    "judge the 'brier' score or the 'log_loss', which grow with it, or write 'on: interval'")

REFUSED: dict[str | None, tuple[str, str]] = {
    **dict.fromkeys(("gaps", "squared_gaps", "distance", "squared_distance", "searched", "searched_square"), INFLATED),
    "scatter": ("noise makes it smaller than it is on every night, and many nights add that up", INFLATED[1]),
    "extreme": ("it is one row of each night, so it has no error", "write 'on: value'"),
    "test": ("it is a test of one night, so it has no limit of its own", "write 'on: value'"),
}
"""Why measures of which intervals know the noise have no evidence of many nights, and the way out."""

OF_NUMBERS = (
    "its outcome is a number, so a few rows may make up most of what it says, and no evidence keeps its level",
    "write 'on: interval'")
"""The same of measures of numbers and counts: Bahadur & Savage (1956), The nonexistence of certain statistical
procedures in nonparametric problems."""

UNPROVEN = (
    "no evidence of it is known to keep the level over many nights",
    "docs/sequence.md lists the measures; or write 'on: interval'")
"""The same of all others."""


def nights_rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of all gates `on: sequence` together, at the first; and of settings where there are none."""
    first = next((loc for loc, gate in draft.entries(draft.spec.gates, "gates") if gate.on == "sequence"), None)
    if first is not None:
        yield from _nights(draft, first)
    elif draft.spec.sequence is not None and draft.readable("gates"):
        message = "'sequence' has no effect: no gate is 'on: sequence'"
        yield draft.tree.problem("unused-key", message, "sequence", key=True, hint="remove it, or add 'on: sequence'")


def sequence_rules(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Yield the problems of a gate `on: sequence`."""
    if gate.on == "sequence":
        yield from chain(_judged(draft, loc, gate), _measured(draft, loc, gate))


def _nights(draft: Draft, loc: Loc) -> Iterator[Problem]:
    """Check that a run has a day, and that what it finds is kept."""
    here = (*loc, "on")
    if draft.readable("as_of") and draft.spec.as_of is None:
        message = "'on: sequence' adds up nights, and this run is of no day"
        yield draft.tree.problem("sequence", message, *here, hint="add 'as_of: 2026-11-21', or run with --as-of DATE")
    if draft.readable("ledger") and draft.spec.ledger is False:
        message = "'on: sequence' adds up the nights in the ledger, and 'ledger: false' keeps none"
        yield draft.tree.problem("sequence", message, *here, hint="remove 'ledger: false', or write 'on: interval'")


def _judged(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Refuse what nights give no evidence on, and a key that says nothing here."""
    if gate.desirability is not None:
        message = "'on: sequence' judges no desirability, whose interval is no measure of its error"
        yield draft.tree.problem("sequence", message, *loc, "on", hint="make a gate for each of its measures")
    if gate.against == "last" or isinstance(gate.against, AgainstEarlier):
        message = "'on: sequence' judges no change from an earlier run, which is as uncertain, and the same every night"
        hint = "set the limit as a number with 'min' or 'max', or write 'on: interval'"
        yield draft.tree.problem("sequence", message, *loc, "on", hint=hint)
    if "undefined" in gate.model_fields_set:
        message = "'undefined' has no effect: a night without a number adds no evidence"
        yield draft.tree.problem("unused-key", message, *loc, "undefined", key=True, hint="remove it")


def _measured(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check that nights give evidence on a measure, and that it has an interval where that needs one."""
    if gate.metric is None:
        return
    named = loc if draft.tree.get(*loc, "metric", "metric") is None else (*loc, "metric")
    entry, _ = check_measure(draft, named, gate.metric)
    if entry is None:
        return
    name, kind = entry.metric.name, entry.metric.interval
    if kind != "proportion" and name not in (*AVERAGED, *LARGE_NIGHTS):
        unproven = UNPROVEN if set(entry.metric.tasks) & set(CLASSES) else OF_NUMBERS
        reason, hint = REFUSED.get(kind, unproven)
        yield draft.tree.problem("sequence", f"'on: sequence' cannot judge {name}: {reason}", *loc, "on", hint=hint)
    elif draft.spec.intervals.method == "none" and not _from_rows(draft, entry.metric):
        message = f"'on: sequence' takes the standard error of {name} from its interval, and there is none"
        hint = "remove 'method: none' from 'intervals', or write 'on: value'"
        yield draft.tree.problem("sequence", message, *loc, "on", hint=hint)


def _from_rows(draft: Draft, metric: Metric) -> bool:
    """Tell whether evidence may be made of rows, without an interval."""
    between = draft.spec.sequence is not None and draft.spec.sequence.between_nights
    return not between and (metric.interval == "proportion" or metric.name in (*BOUNDED, *F_MEASURES))
