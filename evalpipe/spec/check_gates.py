"""Checks of gates: the measure, its limits, what it is against, and where it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.levels import LEVEL, level_text, meant_level
from evalpipe.spec.check_gate_scope import check_scope
from evalpipe.spec.check_metrics import check_entry
from evalpipe.spec.check_prevalence import one_prevalence
from evalpipe.spec.desirability import GoalRule, goal_names
from evalpipe.spec.explain import unknown_key
from evalpipe.spec.gates import CHANGES, KEYS, LIMITS
from evalpipe.spelling import closest, listed
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree

OPPOSED = (("min_increase", "min_decrease"), ("min_increase", "max_decrease"), ("min_decrease", "max_increase"))
"""Limits of a change of which one asks for a rise, and the other is about a fall, or the reverse."""


def check_gates(tree: Tree) -> list[Problem]:
    """Return the problems of gates: none that cannot be answered gets past."""
    written = tree.get("gates")
    gates = written if isinstance(written, list) else []
    found: list[Problem] = []
    for index, gate in enumerate(gates):
        loc: Loc = ("gates", index)
        if isinstance(gate, dict) and not tree.hidden(loc):
            found += [*_subject(tree, loc, gate), *_limits(tree, loc, gate), *_against(tree, loc, gate)]
            found += [*check_scope(tree, loc, gate), *_repeated(tree, loc, gates)]
    return found


def _repeated(tree: Tree, loc: Loc, gates: list[Any]) -> Iterator[Problem]:
    index = int(loc[1])
    if gates[index] in gates[:index]:
        place = tree.origin.place("gates", gates.index(gates[index]))
        notes = (f"first declared at {place}",) if place is not None else ()
        yield tree.problem("duplicate-gate", "this gate is declared twice", *loc, hint="remove one", notes=notes)


def _subject(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Check what is judged: one measure of one average, or desirability."""
    metric, desired = gate.get("metric"), gate.get("desirability")
    if metric is None and desired is None:
        hint = "add 'metric: …', or 'desirability: overall'"
        yield tree.problem("gate-subject", "this gate says nothing of what it judges", *loc, hint=hint)
    elif metric is not None and desired is not None:
        yield tree.problem("gate-subject", "a gate judges a measure or desirability, not both", *loc, "desirability",
                           key=True, hint="make two gates of it")
    elif desired is not None:
        yield from _desired(tree, loc, gate)
    elif isinstance(metric, str):
        yield from _inline(tree, loc, gate)
    else:
        entry, faults = check_entry(tree, (*loc, "metric"), metric)
        yield from faults
        if entry is not None:
            yield from _measured(tree, loc, (*entry.loc, "average"), entry.metric)


def _desired(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Check a gate on desirability: goals are declared, and it has no parts."""
    here: Loc = (*loc, "desirability")
    goals = tree.get("desirability")
    if goals is None:
        yield tree.problem("no-goals", "no goals are declared, so there is no desirability", *here, key=True,
                           hint="add 'desirability: […]' to the spec, or name a 'metric'")
    elif gate["desirability"] != "overall" and isinstance(goals, list):
        known = _goals(goals)
        if known and gate["desirability"] not in known:
            guess = closest(str(gate["desirability"]), known)
            hint = f"did you mean '{guess}'?" if guess else f"choose one of {listed(['overall', *known])}"
            yield tree.problem("no-goals", f"no goal is called {tree.show(*here)}", *here, hint=hint)
    for key in ("class", "slice", "slices"):
        if gate.get(key) is not None:
            message = f"'{key}' would change nothing: desirability is of all rows of a dataset"
            yield tree.problem("unused-key", message, *loc, key, key=True, hint="remove it")
    if gate.get("against") == "baseline":
        message = "desirability has no difference from the baseline"
        yield tree.problem("nothing-to-compare", message, *loc, "against",
                           hint="set a limit with 'min', or write 'against: last'")


def _goals(written: list[Any]) -> list[str]:
    """Return the names of the goals, none where one of them is wrong, which is told elsewhere."""
    try:
        return list(goal_names(tuple(GoalRule.model_validate(goal) for goal in written)))
    except (ValidationError, KeyError, StopIteration):
        return []


def _inline(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Check a measure whose options stand beside its name."""
    options = {key: item for key, item in gate.items() if key not in KEYS}
    entry, faults = check_entry(tree, loc, {"metric": gate["metric"], **options})
    strange = {(*loc, key): key for key in options if closest(key, sorted(KEYS)) and key != "average"}
    places = {tree.origin.place(*at, key=True): at for at in strange}
    for fault in faults:
        at = places.get(fault.place) if fault.code == "unknown-key" else None
        yield fault if at is None else unknown_key(tree, sorted(KEYS), at, fault.notes)
    if entry is not None:
        yield from _measured(tree, loc, (*loc, "average"), entry.metric)


def _measured(tree: Tree, loc: Loc, average: Loc, metric: Metric) -> Iterator[Problem]:
    """Check that there is one value to judge, or one for a class, within the measure's reach."""
    chosen, of_class = tree.get(*average), tree.get(*loc, "class")
    if isinstance(chosen, list) and len(chosen) > 1:
        yield tree.problem("many-averages", "a gate judges one average over the classes", *average,
                           hint="make a gate for each")
    elif of_class is not None and chosen not in ("none", ["none"]):
        message = "'class' would change nothing: the measure is not given for each class"
        averaged = metric.sees == "event" and tree.get("task") in MANY
        hint = "add 'average: none', or remove it" if averaged else "remove it"
        yield tree.problem("unused-key", message, *loc, "class", key=True, hint=hint)
    elif isinstance(of_class, LEVEL):
        yield from _class(tree, (*loc, "class"), level_text(of_class))
    yield from one_prevalence(tree, average[:-1], "a gate judges one value")
    yield from _reach(tree, loc, metric)


def _reach(tree: Tree, loc: Loc, metric: Metric) -> Iterator[Problem]:
    """Report limits beyond the range of a measure, where no option moves its ends."""
    low, high = metric.range
    for key in ("min", "max") if metric.range_of is None else ():
        limit = tree.get(*loc, key)
        if isinstance(limit, int | float) and not isinstance(limit, bool) and not low <= limit <= high:
            percent = high == 1 and 2 <= limit <= 100
            message = f"{tree.show(*loc, key)} is a value that {metric.name} never has: it lies {_span(low, high)}"
            hint = f"did you mean {limit / 100:g}?" if percent else None
            yield tree.problem("out-of-range", message, *loc, key, hint=hint)


def _span(low: float, high: float) -> str:
    return f"between {low:g} and {high:g}" if high < float("inf") and low > -float("inf") else (
        f"at or above {low:g}" if low > -float("inf") else f"at or below {high:g}")


def _class(tree: Tree, loc: Loc, name: str) -> Iterator[Problem]:
    levels = tree.get("outcome", "levels")
    known = [level_text(level) for level in levels if isinstance(level, LEVEL)] if isinstance(
        levels, list) else []
    if known and name not in known:
        guess = meant_level(name, known)
        hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(known, 'and')}"
        yield tree.problem("unknown-level", f"{tree.show(*loc)} is not one of the declared levels", *loc, hint=hint)


def _limits(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Check that there is a limit, of the kind that fits, and that some number can keep it."""
    given = [key for key in LIMITS if gate.get(key) is not None]
    against = gate.get("against") is not None
    fitting = CHANGES if against else LIMITS[:2]
    if not given:
        if any(closest(key, LIMITS) for key in gate if key not in KEYS):
            return
        hint = f"add one of {listed(fitting)}" if against else "add 'min: …', 'max: …' or both"
        yield tree.problem("gate-limit", "this gate has no limit", *loc, hint=hint)
        return
    wrong = [key for key in given if key not in fitting]
    other = "a value, but this gate judges a change" if against else "a change, but this gate is against nothing"
    for key in wrong:
        message = f"'{key}' limits {other}"
        hint = "make it a gate of its own" if against else (
            "say what the change is from: 'against: baseline', 'against: last' or 'against: {results: …}'")
        yield tree.problem("gate-limit", message, *loc, key, key=True, hint=hint)
    if not wrong:
        yield from _possible(tree, loc, gate)


def _possible(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Report two limits that no number can keep, or of which one says nothing."""
    for least, most in (("min", "max"), ("min_increase", "max_increase"), ("min_decrease", "max_decrease")):
        low, high = _number(gate.get(least)), _number(gate.get(most))
        if low is not None and high is not None and low > high:
            message = f"no number is at least {tree.show(*loc, least)} and at most {tree.show(*loc, most)}"
            yield tree.problem("gate-limit", message, *loc, most, key=True, hint="change one of the two")
    for must, other in OPPOSED:
        if gate.get(must) is not None and gate.get(other) is not None:
            message = f"'{must}' and '{other}' do not go together: a change cannot be a rise and a fall"
            yield tree.problem("gate-limit", message, *loc, other, key=True, hint="remove one of the two")


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _against(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Check that there is something to be against."""
    against, here = gate.get("against"), (*loc, "against")
    if gate.get("optional") is False and against == "last":
        message = "a first run has nothing to be compared with, so a gate against 'last' is always optional"
        yield tree.problem("unused-key", message, *loc, "optional", key=True, hint="remove it")
    if gate.get("optional") is True and against != "last" and not isinstance(against, dict):
        message = "'optional' would change nothing: the gate is not against an earlier run"
        yield tree.problem("unused-key", message, *loc, "optional", key=True, hint="remove it")
    if against != "baseline":
        return
    baseline = tree.get("compare", "baseline")
    if baseline is None:
        yield tree.problem("nothing-to-compare", "no baseline is declared", *here,
                           hint="add 'compare: {baseline: …}' to the spec")
    elif gate.get("model") == baseline:
        message = f"{tree.show(*loc, 'model')} is the baseline itself"
        yield tree.problem("nothing-to-compare", message, *loc, "model", hint="name another model, or none")
    if gate.get("variant") not in (None, "original"):
        message = "recalibrated variants are compared with their originals, not with the baseline"
        yield tree.problem("nothing-to-compare", message, *loc, "variant", hint="remove it")
