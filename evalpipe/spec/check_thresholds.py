"""Checks of rules for thresholds: what is to be best, under which conditions, and on which rows."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.levels import LEVEL, level_text
from evalpipe.metrics import registry
from evalpipe.metrics.costs import bayes_threshold
from evalpipe.spec.check_metrics import check_entry
from evalpipe.spec.check_prevalence import one_prevalence
from evalpipe.spec.parts import gives
from evalpipe.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.check_metrics import Entry
    from evalpipe.spec.tree import Tree

GOALS = ("maximize", "minimize")
EXAMPLES = "such as j_index, f1, mcc or, with costs, cost"


def check_thresholds(tree: Tree) -> list[Problem]:
    """Return the problems of rules that choose thresholds, of the spec and of its models."""
    models = tree.get("models")
    if tree.get("task") != "binary":
        return []
    named = [name for name, model in models.items() if isinstance(model, dict)] if isinstance(models, dict) else []
    places: list[Loc] = [("threshold",), *(("models", name, "threshold") for name in named)]
    rules = [(place, tree.get(*place)) for place in places]
    written = [(place, rule) for place, rule in rules if isinstance(rule, dict)]
    found = chain.from_iterable(_rule(tree, place, rule) for place, rule in written)
    return [*found, *_applicable(tree, named), *_of_ranks(tree, named)]


def _rule(tree: Tree, here: Loc, rule: dict[str, Any]) -> Iterator[Problem]:
    """Check one rule."""
    kinds = [key for key in (*GOALS, "bayes") if rule.get(key) is not None]
    if not kinds:
        if not any(closest(key, (*GOALS, "bayes")) for key in rule if key not in ("on", "subject_to")):
            message = "this rule does not say what is to be best"
            hint = "add 'maximize: …', 'minimize: …' or 'bayes: costs', or write a number"
            yield tree.problem("no-rule", message, *here, key=True, hint=hint)
        return
    if len(kinds) > 1:
        message = f"a rule chooses by one thing, but this names {listed(kinds, 'and')}"
        yield tree.problem("two-rules", message, *here, kinds[1], key=True, hint="keep one of them")
        return
    if kinds == ["bayes"]:
        yield from _bayes(tree, here, rule)
        return
    yield from _goal(tree, (*here, kinds[0]), rule[kinds[0]])
    yield from _constraints(tree, (*here, "subject_to"))
    yield from _on(tree, here, rule)


def _goal(tree: Tree, here: Loc, written: Any) -> Iterator[Problem]:
    """Check what is to be best: a measure of predicted classes, whose better side it is."""
    entry, faults = _measure(tree, here, written)
    yield from faults
    direction = None if entry is None else entry.metric.direction
    if entry is not None and direction in GOALS and direction != here[-1]:
        side = "low" if direction == "minimize" else "high"
        message = f"{tree.show(*entry.named)} is better when it is {side}, so this chooses the worst"
        yield tree.problem("wrong-direction", message, *entry.named, hint=f"write '{direction}' for '{here[-1]}'")


def _measure(tree: Tree, here: Loc, written: Any) -> tuple[Entry | None, list[Problem]]:
    """Check a measure by name, or by name and options; it must be one of predicted classes."""
    entry, faults = check_entry(tree, here, written, of_models=False)
    if entry is None or entry.metric.of_reportable:
        faults += [] if entry is None else one_prevalence(tree, here, "a rule aims at one value")
        return entry, faults
    message = f"{entry.metric.name} is no measure of predicted classes, so no threshold changes it"
    return None, [tree.problem("not-of-classes", message, *entry.named, hint=f"name one {EXAMPLES}")]


def _constraints(tree: Tree, here: Loc) -> Iterator[Problem]:
    """Check the measures that must keep to bounds, and their bounds."""
    written = tree.get(*here)
    seen: dict[str, str] = {}
    for name, bounds in written.items() if isinstance(written, dict) else ():
        loc = (*here, name)
        if name not in registry:
            guess = registry.closest(name)
            hint = f"did you mean '{guess}'?" if guess else "`evalpipe metrics` lists all of them"
            yield tree.problem("unknown-metric", f"unknown metric '{name}'", *loc, key=True, hint=hint)
            continue
        yield from (problem for problem in _constraint(tree, loc, name) if problem is not None)
        metric = registry[name].name
        if metric in seen:
            message = f"{metric} is bounded twice, as '{seen[metric]}' and as '{name}'"
            yield tree.problem("duplicate-metric", message, *loc, key=True, hint="remove one of them")
        seen.setdefault(metric, name)
        yield from _bounds(tree, loc, bounds)


def _constraint(tree: Tree, loc: Loc, name: str) -> Iterator[Problem]:
    """Check that a measure named as a key is of predicted classes, with no option that only an entry could give."""
    metric = registry[name]
    if "binary" not in metric.tasks or not metric.of_reportable:
        message = f"{metric.name} is no measure of predicted classes of a binary outcome, so no threshold changes it"
        yield tree.problem("not-of-classes", message, *loc, key=True, hint=f"name one {EXAMPLES}")
        return
    for option, field in metric.options.model_fields.items():
        key = metric.from_spec.get(option)
        if field.is_required() and (key is None or tree.get(key) is None):
            message = f"{metric.name} needs {'the option' if key is None else 'a'} '{option}'"
            hint = "bound another measure" if key is None else f"add '{key}: …' to the spec"
            yield tree.problem("missing-option", message, *loc, key=True, hint=hint)


def _bounds(tree: Tree, loc: Loc, bounds: Any) -> Iterator[Problem]:
    """Check that there is a bound, and that a value can lie between two."""
    if not isinstance(bounds, dict) or set(bounds) - {"min", "max"}:
        return  # what is wrong here is reported key by key
    low, high = (bounds.get(side) for side in ("min", "max"))
    if low is None and high is None:
        yield tree.problem("no-bound", "this bounds nothing", *loc, key=True, hint="add 'min: …' or 'max: …'")
        return
    if not all(bound is None or _number(bound) for bound in (low, high)):
        return
    if low is not None and high is not None and low > high:
        message = f"no value is at least {low:g} and at most {high:g}"
        yield tree.problem("empty-bounds", message, *loc, key=True, hint="exchange the two")
    least, most = registry[str(loc[-1])].range
    for side, bound in (("min", low), ("max", high)):
        if bound is not None and not least <= bound <= most:
            message = f"{registry[str(loc[-1])].name} lies between {least:g} and {most:g}, got {tree.show(*loc, side)}"
            hint = f"did you mean {bound / 100:g}?" if most == 1 and 2 <= bound <= 100 else None
            yield tree.problem("out-of-range", message, *loc, side, hint=hint)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _on(tree: Tree, here: Loc, rule: dict[str, Any]) -> Iterator[Problem]:
    """Check the rows that choose: those of a dataset to calibrate on, or of the other folds."""
    place: Loc = (*here, "on")
    name, datasets = rule.get("on"), tree.get("datasets")
    if name is None:
        message = "this rule does not say which rows choose the threshold"
        yield tree.problem("missing-key", message, *here, key=True, hint="add 'on: DATASET' or 'on: {folds: 10}'")
        return
    if isinstance(name, dict):
        yield from _foldings(tree, place, name.get("folds"))
        return
    if not isinstance(name, str) or not isinstance(datasets, dict):
        return
    known = [key for key, one in datasets.items() if isinstance(one, dict) and one.get("role") == "calibrate"]
    if name in known:
        return
    guess = closest(name, known) if name not in datasets else None
    hint = (f"did you mean '{guess}'?" if guess else f"choose one of {listed(known)}" if len(known) > 1 else
            f"write '{known[0]}'" if known else "give a dataset 'role: calibrate'")
    hint += "" if guess else ", or cross-fit: {folds: 10}"
    if name not in datasets:
        yield tree.problem("unknown-dataset", f"no dataset is called {tree.show(*place)}", *place, hint=hint)
        return
    role = tree.get("datasets", name, "role") or "evaluate"
    message = (f"{tree.show(*place)} has the role '{role}': a threshold tuned on the rows it is judged on looks better "
               "than it is")
    if role == "reference":
        message = f"{tree.show(*place)} has the role 'reference', so its predictions are not read"
    yield tree.problem("wrong-role", message, *place, hint=hint)


def _foldings(tree: Tree, place: Loc, folds: object) -> Iterator[Problem]:
    """Report recalibrators that are cross-fitted in other folds: their threshold would see the rows it is for."""
    other = tree.get("recalibrate", "fit_on", "folds")
    if isinstance(other, int) and isinstance(folds, int) and other != folds:
        message = (f"recalibrators are cross-fitted in {other:,} folds and this threshold in {folds:,}, so rows would "
                   "choose a threshold for themselves")
        yield tree.problem("two-foldings", message, *place, "folds", hint=f"write {other}")


def _bayes(tree: Tree, here: Loc, rule: dict[str, Any]) -> Iterator[Problem]:
    """Check that costs decide on a threshold, and that there are probabilities for it."""
    for key in ("subject_to", "on"):
        if rule.get(key) is not None:
            message = f"'{key}' would change nothing: costs alone decide on this threshold"
            yield tree.problem("two-rules", message, *here, key, key=True, hint="remove it, or write 'minimize: cost'")
    if tree.get("costs") is None:
        message = "costs are to decide on the threshold, but none are named"
        yield tree.problem("missing-key", message, *here, "bayes", hint="add 'costs: […]' to the spec")
        return
    costs = _costs(tree) if rule["bayes"] == "costs" else None
    if costs is not None and bayes_threshold(costs) is None:
        message = ("these costs decide on no threshold: a wrong prediction must not cost less than the right one of "
                   "the same level, and one of the two must cost more")
        yield tree.problem("no-rule", message, *here, "bayes", hint="look at 'costs' again, or write a number")
    model = tree.get(*here[:-1]) if len(here) > 1 else None
    if isinstance(model, dict) and model.get("score") is not None and "probabilities" not in gives(model):
        message = f"costs decide on a probability, but the score of the model '{here[1]}' is a rank alone"
        hint = "add a 'scale' to the score, or write {minimize: cost, on: …}"
        yield tree.problem("not-a-probability", message, *here, "bayes", hint=hint)


def _costs(tree: Tree) -> list[list[float]] | None:
    """Return the costs by true and predicted level, the event first; None where they cannot be read."""
    levels, event, written = (tree.get("outcome", "levels"), tree.get("outcome", "event"), tree.get("costs"))
    if not isinstance(levels, list) or not isinstance(written, list) or event is None:
        return None
    texts = [level_text(level) for level in levels if isinstance(level, LEVEL)]
    order = [level_text(event), *(text for text in texts if text != level_text(event))]
    if len(order) != 2 or not all(isinstance(one, dict) and _number(one.get("cost")) for one in written):
        return None
    matrix = [[0.0, 0.0], [0.0, 0.0]]
    for one in written:
        pair = [level_text(one[key]) if key in one else None for key in ("truth", "predicted")]
        if any(level not in order for level in pair):
            return None
        matrix[order.index(str(pair[0]))][order.index(str(pair[1]))] = float(one["cost"])
    return matrix


def _of_ranks(tree: Tree, named: list[str]) -> Iterator[Problem]:
    """Report a probability for a threshold where no model gives one, but scores that are ranks alone."""
    number = tree.get("threshold")
    models = {name: tree.get("models", name) for name in named}
    if not _number(number) or any("probabilities" in gives(model) for model in models.values()):
        return
    ranks = [name for name, model in models.items()
             if "scores" in gives(model) and model.get("threshold") is None and model.get("prediction") is None]
    if ranks:
        message = f"this threshold is a probability, but the score of the model '{ranks[0]}' is a rank alone"
        hint = f"write it as models.{ranks[0]}.threshold, in the units of the score, or add a 'scale' to the score"
        yield tree.problem("unused-threshold", message, "threshold", hint=hint)


def _applicable(tree: Tree, named: list[str]) -> Iterator[Problem]:
    """Report rules that choose nothing, because no model gives scores for them."""
    rule = tree.get("threshold")
    models = [tree.get("models", name) for name in named]
    if not isinstance(rule, dict) or not models:
        return
    free = [model for model in models if model.get("threshold") is None and model.get("prediction") is None]
    if rule.get("bayes") is not None:
        free = [model for model in free if model.get("score") is None or "probabilities" in gives(model)]
    if not free:
        message = "this rule would choose nothing: every model gives predicted classes or has a threshold of its own"
        if rule.get("bayes") is not None:
            message += ", or its score is a rank alone"
        yield tree.idle("unused-threshold", message, "threshold", key=True, hint="remove it")
