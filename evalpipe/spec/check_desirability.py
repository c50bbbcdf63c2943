"""Checks of the goals of desirability: what each is of, its form and limits, and whether every model can meet it."""

from __future__ import annotations

import math
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.levels import level_text, meant_level
from evalpipe.spec.check_metrics import check_entry, effective
from evalpipe.spec.check_prevalence import one_prevalence, prevalences
from evalpipe.spec.desirability import KINDS, OWN
from evalpipe.spec.draft import Draft
from evalpipe.spec.explain import unknown_key
from evalpipe.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.check_metrics import Entry
    from evalpipe.spec.tree import Tree

_LIMITS = {
    "minimize": ("low", "high"), "maximize": ("low", "high"), "target": ("low", "target", "high"),
    "box": ("low", "high"),
}
"""The limits of each form, which ascend."""


def check_desirability(tree: Tree) -> list[Problem]:
    """Return the problems of the goals."""
    written = tree.get("desirability")
    problems: list[Problem] = []
    seen: dict[tuple[str, ...], Loc] = {}
    for index, goal in enumerate(written if isinstance(written, list) else ()):
        loc: Loc = ("desirability", index)
        if isinstance(goal, dict) and not tree.hidden(loc):
            problems += _goal(tree, loc, goal, seen)
    return problems


def _goal(tree: Tree, loc: Loc, goal: dict[str, Any], seen: dict[tuple[str, ...], Loc]) -> Iterator[Problem]:
    entry, faults = _measure(tree, loc, goal)
    kinds = [kind for kind in KINDS if goal.get(kind) is not None]
    yield from chain(faults, _subject(tree, loc, goal), _form(tree, loc, goal, kinds))
    for kind in kinds:
        yield from _order(tree, (*loc, kind), goal[kind], kind)
    if len(kinds) != 1:
        return
    if isinstance(goal.get("characteristic"), str) and "metric" not in goal:
        yield from _characteristic(tree, loc, goal, kinds[0])
        yield from _repeated(tree, loc, ("characteristic", goal["characteristic"], kinds[0]), seen)
    elif entry is not None:
        yield from _reach(tree, loc, goal, entry, kinds[0])
        measure = entry.metric.name, effective(Draft(tree), entry), *prevalences(Draft(tree), entry)
        yield from _repeated(tree, loc, (*measure, kinds[0]), seen)


def _measure(tree: Tree, loc: Loc, goal: dict[str, Any]) -> tuple[Entry | None, list[Problem]]:
    """Check the measure of a goal like one of `metrics`; it has to be one value for each model."""
    if "metric" not in goal:
        return None, []
    strange = [key for key in goal if key not in (*OWN, "metric", "average") and closest(key, OWN) is not None]
    measure = {key: item for key, item in goal.items() if key not in (*OWN, *strange)}
    entry, faults = check_entry(tree, loc, measure)
    if entry is not None or not faults:
        faults += [unknown_key(tree, list(OWN), (*loc, key)) for key in strange]
    average = goal.get("average")
    if entry is not None and (average in ("none", ["none"]) or (isinstance(average, list) and len(average) > 1)):
        message = "a goal judges one value of each model, so it needs one average over the classes"
        faults.append(tree.problem("many-averages", message, *loc, "average",
                                   hint="write 'macro', 'macro_weighted' or 'micro'"))
    faults += one_prevalence(tree, loc, "a goal judges one value of each model") if entry is not None else []
    return (None if faults else entry), faults


def _subject(tree: Tree, loc: Loc, goal: dict[str, Any]) -> Iterator[Problem]:
    """Report a goal of nothing, or of two things."""
    named = [key for key in ("metric", "characteristic") if key in goal]
    if len(named) > 1:
        message = "a goal is of a measure or of a characteristic, but this one names both"
        yield tree.problem("goal-subject", message, *loc, "characteristic", key=True, hint="make two goals of it")
    elif not named and all(key in OWN for key in goal):
        message = "this goal names neither a measure nor a characteristic"
        hint = "add 'metric: …', or 'characteristic: …'"
        yield tree.problem("goal-subject", message, *loc, hint=hint)


def _form(tree: Tree, loc: Loc, goal: dict[str, Any], kinds: list[str]) -> Iterator[Problem]:
    """Report a goal without a form, with several, or a measure by category."""
    if len(kinds) > 1:
        message = f"a goal has one form, but this one has {listed(kinds, 'and')}"
        yield tree.problem("goal-form", message, *loc, kinds[1], key=True, hint="keep one, or make two goals of it")
    elif not kinds and not any(closest(key, KINDS) for key in goal if key not in OWN):
        yield tree.problem("goal-form", "this goal does not say what is desirable", *loc,
                           hint=f"add {listed(KINDS)}")
    if "metric" in goal and goal.get("category") is not None:
        message = "a measure is a number, which has no levels"
        yield tree.problem("goal-form", message, *loc, "category", key=True, hint="use 'custom', or another form")


def _order(tree: Tree, here: Loc, shape: object, kind: str) -> Iterator[Problem]:
    """Report limits, or the values of points, that do not ascend, and points that are not pairs."""
    if not isinstance(shape, dict):
        return
    names = _LIMITS.get(kind, ())
    pairs = [((*here, one), (*here, two)) for one, two in pairwise(names)]
    if kind == "custom" and isinstance(shape.get("values"), list):
        places = range(len(shape["values"]))
        pairs = [((*here, "values", one), (*here, "values", two)) for one, two in pairwise(places)]
        yield from _points(tree, here, shape["values"], shape.get("desirability"))
    for one, two in pairs:
        low, high = tree.get(*one), tree.get(*two)
        if _is_number(low) and _is_number(high) and not low < high:
            what = "the values" if kind == "custom" else f"'{one[-1]}' and '{two[-1]}'"
            message = f"{what} must ascend, but {tree.show(*two)} is not above {tree.show(*one)}"
            yield tree.problem("goal-order", message, *two, hint=None if kind == "custom" else _swap(kind))


def _points(tree: Tree, here: Loc, values: list[Any], judged: object) -> Iterator[Problem]:
    """Report points that are not two or more pairs."""
    if isinstance(judged, list) and len(judged) != len(values):
        count = "is 1 value" if len(values) == 1 else f"are {len(values)} values"
        message = f"there {count}, but {len(judged)} of 'desirability'"
        yield tree.problem("uneven-points", message, *here, "desirability", hint="give one for each value")
    elif len(values) == 1:
        yield tree.problem("uneven-points", "one point makes no line", *here, "values", hint="give two or more")


def _swap(kind: str) -> str:
    other = {"minimize": "maximize", "maximize": "minimize"}.get(kind)
    return f"the lower limit comes first; '{other}' turns the goal round" if other else "change one of them"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _reach(tree: Tree, loc: Loc, goal: dict[str, Any], entry: Entry, kind: str) -> Iterator[Problem]:
    """Report limits that lie wholly beyond what the measure can be: every model would have the same desirability."""
    shape = goal[kind]
    ends = [tree.get(*loc, kind, name) for name in ("low", "high")]
    if not isinstance(shape, dict) or kind not in _LIMITS or not all(map(_is_number, ends)) or not ends[0] < ends[1]:
        return
    try:
        bounds = entry.metric.bounds(entry.metric.options.model_validate(entry.choice.options).model_dump())
    except ValidationError:  # an option comes from another key of the spec
        bounds = entry.metric.range
    low, high = bounds
    inside = ends[0] <= high and ends[1] >= low if kind == "box" else ends[0] < high and ends[1] > low
    if inside:
        return
    percent = (low, high) == (0, 1) and 1 < ends[0] < ends[1] <= 100
    hint = f"did you mean {ends[0] / 100:g} and {ends[1] / 100:g}?" if percent else "give limits within that range"
    message = f"{entry.metric.name} is {_span(low, high)}, so these limits tell no two models apart"
    yield tree.problem("goal-out-of-reach", message, *loc, kind, hint=hint)


def _span(low: float, high: float) -> str:
    """Write the range of a measure, which has at least one end."""
    if math.isinf(low):
        return f"{high:g} or less"
    return f"{low:g} or more" if math.isinf(high) else f"from {low:g} to {high:g}"


def _repeated(tree: Tree, loc: Loc, subject: tuple[str, ...], seen: dict[tuple[str, ...], Loc]) -> Iterator[Problem]:
    first = seen.setdefault(subject, loc)
    if first is loc:
        return
    place = tree.origin.place(*first)
    notes = (f"first declared at {place}",) if place is not None else ()
    what = subject[1] if subject[0] == "characteristic" else subject[0]
    message = f"the goal '{subject[-1]}' of {what} is declared twice"
    yield tree.problem("duplicate-goal", message, *loc, hint="remove one of them", notes=notes)


def _characteristic(tree: Tree, loc: Loc, goal: dict[str, Any], kind: str) -> Iterator[Problem]:
    """Report models that lack the characteristic, unless `missing` says what that counts, or have it wrong."""
    name, models = goal["characteristic"], tree.get("models")
    held = {model: keys.get("characteristics") for model, keys in models.items() if isinstance(keys, dict)
            } if isinstance(models, dict) else {}
    facts = {model: each if isinstance(each, dict) else {} for model, each in held.items()}
    lacking = [model for model, each in facts.items() if each.get(name) is None]
    if lacking and (goal.get("missing") is None or len(lacking) == len(facts)):
        yield _lacks(tree, (*loc, "characteristic"), lacking, facts)
    for model, each in facts.items():
        if each.get(name) is not None:
            yield from _judged(tree, ("models", model, "characteristics", name), kind, goal[kind])


def _lacks(tree: Tree, here: Loc, lacking: list[str], facts: dict[str, dict[str, Any]]) -> Problem:
    known = [name for each in facts.values() for name in each]
    guess = None if tree.secret(*here) else closest(str(tree.get(*here)), list(dict.fromkeys(known)))
    noun, verb = ("model", "has") if len(lacking) == 1 else ("models", "have")
    if len(lacking) == len(facts):
        message = f"no model has the characteristic {tree.show(*here)}"
        hint = f"did you mean '{guess}'?" if guess else f"add it under 'characteristics' of {listed(lacking, 'and')}"
        return tree.problem("missing-characteristic", message, *here, hint=hint)
    message = f"the {noun} {listed(lacking, 'and')} {verb} no characteristic {tree.show(*here)}"
    hint = "add it there, or say with 'missing: …', 0 to 1, what it counts where it is missing"
    return tree.problem("missing-characteristic", message, *here, hint=hint)


def _judged(tree: Tree, here: Loc, kind: str, shape: Any) -> Iterator[Problem]:
    """Report a characteristic that the goal cannot judge."""
    value = tree.get(*here)
    if kind != "category":
        if not _is_number(value):
            message = f"a goal by '{kind}' needs a number, got {tree.spell(*here)}"
            yield tree.problem("wrong-characteristic", message, *here, hint="use 'category' for texts")
        elif kind == "custom" and isinstance(shape, dict) and shape.get("extrapolate") == "error":
            ends = [end for end in shape.get("values") or () if _is_number(end)]
            if ends and not min(ends) <= value <= max(ends):
                message = f"{tree.show(*here)} lies beyond the points of the goal, {min(ends):g} to {max(ends):g}"
                hint = "add a point, or write 'extrapolate: clamp' or 'zero'"
                yield tree.problem("wrong-characteristic", message, *here, hint=hint)
    elif isinstance(shape, dict) and isinstance(value, str | bool | int | float):
        yield from _category(tree, here, level_text(value), [level_text(level) for level in shape])


def _category(tree: Tree, here: Loc, value: str, levels: list[str]) -> Iterator[Problem]:
    """Report a characteristic that is none of the levels of its goal."""
    if value not in levels:
        guess = None if tree.secret(*here) else meant_level(value, levels)
        message = f"{tree.show(*here)} is not a level of the goal by category"
        hint = f"did you mean '{guess}'?" if guess else f"add it there beside {listed(levels, 'and')}"
        yield tree.problem("wrong-characteristic", message, *here, hint=hint)
