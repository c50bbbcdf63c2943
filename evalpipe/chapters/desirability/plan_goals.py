"""The goals of desirability: the checks of them, and what each comes to, with its name and its measure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.base.levels import level_text, meant_level
from evalpipe.chapters.desirability.spec import KEYS, KINDS, Custom
from evalpipe.errors import Problem
from evalpipe.plan.measures import goal_entries
from evalpipe.spec.draft import refer
from evalpipe.spec.messages import unknown_key
from evalpipe.spec.rules_measures import check_measure, check_single_value, effective, misspelt_keys, prevalences
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.desirability.spec import GoalRule
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import Entry
    from evalpipe.spec.spec import Spec


_LIMITS = {
    "minimize": ("low", "high"), "maximize": ("low", "high"), "target": ("low", "target", "high"),
    "box": ("low", "high"),
}
"""The limits of each form, which ascend."""


def goal_rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of each goal: of its measure, subject, form and limits, and of a repeated one."""
    first: dict[tuple[str, ...], Loc] = {}
    for loc, goal in draft.entries(draft.spec.desirability, "desirability"):
        entry, faults = _measure(draft, loc, goal)
        yield from chain(faults, _subject(draft, loc, goal), _form(draft, loc, goal), _order(draft, loc, goal))
        if len(goal.kinds) != 1:
            continue
        name = goal.characteristic
        if "metric" not in goal.model_fields_set and name is not None and draft.readable(*loc, "characteristic"):
            yield from _characteristic(draft, loc, goal, name)
            yield from _repeated(draft, loc, ("characteristic", name, goal.kind), first)
        elif entry is not None:
            yield from _check_reach(draft, loc, goal, entry)
            measure = entry.metric.name, effective(draft, entry), *prevalences(draft, entry)
            yield from _repeated(draft, loc, (*measure, goal.kind), first)


def _measure(draft: Draft, loc: Loc, goal: GoalRule) -> tuple[Entry | None, list[Problem]]:
    """Return the measure of a goal, None where it is faulty, and its problems.

    A measure has to give one value for each model.
    """
    if goal.metric is None:
        metric_loc, is_written = (*loc, "metric"), "metric" in goal.model_fields_set
        message = f"expected the name of a metric, got {draft.tree.spell(*metric_loc)}"
        return None, [draft.tree.problem("wrong-type", message, *metric_loc)] if is_written else []
    key_like = [key for key in goal.metric.options if closest(key, KEYS) is not None]
    options = {key: item for key, item in goal.metric.options.items() if key not in key_like}
    entry, faults = check_measure(draft, loc, replace(goal.metric, options=options))
    if goal.metric.metric in draft.measures:
        faults += [unknown_key(draft.tree, list(KEYS), (*loc, key)) for key in key_like]
    elif key_like:
        faults += misspelt_keys(draft, loc, goal.metric, KEYS)
    if entry is not None:
        faults += check_single_value(draft, entry, "a goal judges one value of each model")
    return (None if faults else entry), faults


def _subject(draft: Draft, loc: Loc, goal: GoalRule) -> Iterator[Problem]:
    """Report a goal that names neither a measure nor a characteristic, or both."""
    subjects = goal.model_fields_set & {"metric", "characteristic"}
    if len(subjects) > 1:
        message = "a goal is of a measure or of a characteristic, but this one names both"
        hint = "make two goals of it"
        yield draft.tree.problem("goal-subject", message, *loc, "characteristic", key=True, hint=hint)
    elif not subjects and not draft.unknown(*loc):
        message = "this goal names neither a measure nor a characteristic"
        hint = "add 'metric: …', or 'characteristic: …'"
        yield draft.tree.problem("goal-subject", message, *loc, hint=hint)


def _form(draft: Draft, loc: Loc, goal: GoalRule) -> Iterator[Problem]:
    """Report a goal without a form, with several forms, or of a measure by category."""
    if len(goal.kinds) > 1:
        message = f"a goal has one form, but this one has {listed(goal.kinds, 'and')}"
        hint = "keep one, or make two goals of it"
        yield draft.tree.problem("goal-form", message, *loc, goal.kinds[1], key=True, hint=hint)
    elif not goal.kinds and not draft.misspelt(loc, KINDS, KEYS):
        hint = f"add {listed(KINDS)}"
        yield draft.tree.problem("goal-form", "this goal does not say what is desirable", *loc, hint=hint)
    if "metric" in goal.model_fields_set and goal.category is not None:
        message = "a measure is a number, which has no levels"
        hint = "use 'custom', or another form"
        yield draft.tree.problem("goal-form", message, *loc, "category", key=True, hint=hint)


def _order(draft: Draft, loc: Loc, goal: GoalRule) -> Iterator[Problem]:
    """Report a goal's limits, or values of its points, that do not ascend, and points that are not pairs."""
    for kind in goal.kinds:
        shape, names = getattr(goal, kind), _LIMITS.get(kind, ())
        limits: list[tuple[Loc, float]] = [((*loc, kind, name), getattr(shape, name)) for name in names]
        if isinstance(shape, Custom):
            limits = [((*loc, kind, "values", index), value) for index, value in enumerate(shape.values)]
            yield from _points(draft, (*loc, kind), shape)
        for (lower, low), (upper, high) in pairwise(limits):
            if low >= high:
                what = "the values" if kind == "custom" else f"'{lower[-1]}' and '{upper[-1]}'"
                message = f"{what} must ascend, but {draft.tree.show(*upper)} is not above {draft.tree.show(*lower)}"
                other = {"minimize": "maximize", "maximize": "minimize"}.get(kind)
                hint = f"the lower limit comes first; '{other}' turns the goal round" if other else "change one of them"
                yield draft.tree.problem("goal-order", message, *upper, hint=None if kind == "custom" else hint)


def _points(draft: Draft, loc: Loc, points: Custom) -> Iterator[Problem]:
    """Report points of a custom goal that are not two or more pairs."""
    values, desirabilities = points.values, points.desirability
    if not draft.readable(*loc, "values"):
        return
    if draft.readable(*loc, "desirability") and len(desirabilities) != len(values):
        count = "is 1 value" if len(values) == 1 else f"are {len(values)} values"
        message = f"there {count}, but {len(desirabilities)} of 'desirability'"
        yield draft.tree.problem("uneven-points", message, *loc, "desirability", hint="give one for each value")
    elif len(values) == 1:
        yield draft.tree.problem("uneven-points", "one point makes no line", *loc, "values", hint="give two or more")


def _check_reach(draft: Draft, loc: Loc, goal: GoalRule, entry: Entry) -> Iterator[Problem]:
    """Report limits of a goal that lie beyond what the measure can be: all models would be equally desirable."""
    if goal.kind not in _LIMITS or not goal.shape.low < goal.shape.high:
        return
    goal_low, goal_high = goal.shape.low, goal.shape.high
    try:
        low, high = entry.metric.bounds(entry.metric.options.model_validate(entry.choice.options).model_dump())
    except ValidationError:  # an option comes from another key of the spec
        low, high = entry.metric.range
    if (goal_low < high and goal_high > low) or (goal.kind == "box" and goal_low <= high and goal_high >= low):
        return
    percent = (low, high) == (0, 1) and 1 < goal_low < goal_high <= 100
    hint = f"did you mean {goal_low / 100:g} and {goal_high / 100:g}?" if percent else "give limits within that range"
    span = f"{high:g} or less" if math.isinf(low) else f"{low:g} or more" if math.isinf(high) else (
        f"from {low:g} to {high:g}")
    message = f"{entry.metric.name} is {span}, so these limits cannot tell models apart"
    yield draft.tree.problem("goal-out-of-reach", message, *loc, goal.kind, hint=hint)


def _repeated(draft: Draft, loc: Loc, subject: tuple[str, ...], first: dict[tuple[str, ...], Loc]) -> Iterator[Problem]:
    """Report a goal of the same ``subject`` and form as an earlier one; ``first`` has their places so far."""
    earlier = first.setdefault(subject, loc)
    if earlier is loc:
        return
    notes = draft.tree.noted("first declared at", *earlier)
    what = subject[1] if subject[0] == "characteristic" else subject[0]
    message = f"the goal '{subject[-1]}' of {what} is declared twice"
    yield draft.tree.problem("duplicate-goal", message, *loc, hint="remove one of them", notes=notes)


def _characteristic(draft: Draft, loc: Loc, goal: GoalRule, name: str) -> Iterator[Problem]:
    """Report models that lack a characteristic, unless `missing` says what that counts, or have a wrong value of it."""
    lacking = [model for model, keys in draft.models.items() if name not in keys.characteristics]
    if lacking and (goal.missing is None or len(lacking) == len(draft.models)):
        yield _lacks(draft, (*loc, "characteristic"), lacking)
    for model, keys in draft.models.items():
        characteristic_loc = ("models", model, "characteristics", name)
        if name in keys.characteristics and draft.readable(*characteristic_loc):
            yield from _check_judged_value(draft, characteristic_loc, goal, keys.characteristics[name])


def _lacks(draft: Draft, loc: Loc, lacking: list[str]) -> Problem:
    """Return the problem that some models, or all, have no characteristic of the name at a place in the spec."""
    all_names = list(dict.fromkeys(name for model in draft.models.values() for name in model.characteristics))
    guess = None if draft.tree.secret(*loc) else closest(str(draft.tree.get(*loc)), all_names)
    noun, verb = ("model", "has") if len(lacking) == 1 else ("models", "have")
    if len(lacking) == len(draft.models):
        message = f"no model has the characteristic {draft.tree.show(*loc)}"
        hint = f"did you mean '{guess}'?" if guess else f"add it under 'characteristics' of {listed(lacking, 'and')}"
        return draft.tree.problem("missing-characteristic", message, *loc, hint=hint)
    message = f"the {noun} {listed(lacking, 'and')} {verb} no characteristic {draft.tree.show(*loc)}"
    hint = "add it there, or say with 'missing: …', 0 to 1, what it counts where it is missing"
    return draft.tree.problem("missing-characteristic", message, *loc, hint=hint)


def _check_judged_value(draft: Draft, loc: Loc, goal: GoalRule, value: str | float) -> Iterator[Problem]:
    """Report a model's characteristic that the goal cannot judge: no level of it, a text, or beyond its points."""
    shown, points = draft.tree.show(*loc), goal.custom
    if goal.category is not None:
        levels = [level_text(level) for level in goal.category]
        message = f"{shown} is not a level of the goal by category"
        hint = f"add it there beside {listed(levels, 'and')}"
        yield from refer(draft, loc, levels, "wrong-characteristic", message, hint, meant=meant_level)
    elif isinstance(value, str | bool):
        message = f"a goal by '{goal.kind}' needs a number, got {draft.tree.spell(*loc)}"
        yield draft.tree.problem("wrong-characteristic", message, *loc, hint="use 'category' for texts")
    elif points is not None and points.extrapolate == "error" and points.values:
        low, high = min(points.values), max(points.values)
        if value < low or value > high:
            message = f"{shown} lies beyond the points of the goal, {low:g} to {high:g}"
            hint = "add a point, or write 'extrapolate: clamp' or 'zero'"
            yield draft.tree.problem("wrong-characteristic", message, *loc, hint=hint)


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """A goal with its name in results: its ``rule`` as it is written, and the measure that it is of, if any.

    ``shape`` are the limits, points or levels of its form.
    """

    name: str
    rule: GoalRule
    entry: MetricPlan | None
    shape: Mapping[str, Any]

    @property
    def document(self) -> dict[str, object]:
        """The goal as JSON values."""
        return {"goal": self.name, "kind": self.rule.kind, **self.subject, "shape": dict(self.shape),
                "weight": self.rule.weight, "missing": self.rule.missing}

    @property
    def subject(self) -> dict[str, object]:
        """What the goal judges, as fields of records: a characteristic, or a metric with its options and average."""
        if self.entry is None:
            return {"characteristic": self.rule.characteristic}
        return {"metric": self.entry.metric.name, "params": self.entry.shown, "average": self.entry.average}

    def of_level(self, level: object) -> float:
        """Return the desirability that a goal by category gives to a level."""
        return float(self.shape[level_text(level)])


def goals_plan(spec: Spec) -> tuple[GoalPlan, ...]:
    """Return the plans of the goals of a spec, in order; none where it declares none."""
    from evalpipe.chapters.desirability.spec import goal_names

    rules = spec.desirability or ()
    goals = []
    for name, rule, entry in zip(goal_names(rules), rules, goal_entries(spec), strict=True):
        shape = rule.shape if isinstance(rule.shape, dict) else rule.shape.model_dump()
        goals.append(GoalPlan(name, rule, entry, MappingProxyType(dict(shape))))
    return tuple(goals)
