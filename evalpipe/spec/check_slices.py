"""Checks of slices, of their rules, and of the search for the worst of them."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from evalpipe.metrics import registry
from evalpipe.spec.check_metrics import check_entry
from evalpipe.spec.check_prevalence import one_prevalence
from evalpipe.spec.parts import gives
from evalpipe.spec.slicing import DISPARITIES
from evalpipe.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree


def check_slices(tree: Tree) -> list[Problem]:
    """Return the problems of slices, of the rules over them and of the search for the worst ones."""
    return list(chain(
        _slices(tree), _searched(tree), _unused(tree), _reference(tree), _disparities(tree), _worst(tree),
    ))


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _parts(tree: Tree, loc: Loc) -> dict[Loc, str]:
    """Return the columns of one slicing, by where they stand; none of a condition or of what cannot be read."""
    value = tree.get(*loc)
    if isinstance(value, list):
        return {place: name for index in range(len(value)) for place, name in _parts(tree, (*loc, index)).items()}
    if isinstance(value, dict) and isinstance(value.get("column"), str):
        return {(*loc, "column"): value["column"]}
    return {loc: value} if isinstance(value, str) and value else {}


def _slices(tree: Tree) -> Iterator[Problem]:
    """Find slicings by the same columns or of the same name, and what is wrong within each."""
    first: dict[frozenset[str], Loc] = {}
    for index, value in enumerate(_items(tree.get("slices"))):
        here: Loc = ("slices", index)
        parts = _parts(tree, here)
        yield from _columns(tree, parts)
        yield from chain.from_iterable(_cuts(tree, loc) for loc in _mappings(tree, here))
        name = value.get("name") if isinstance(value, dict) else None
        keys = frozenset(parts.values()) or frozenset([name] if isinstance(name, str) else [])
        if keys and len(parts) <= len(keys) and first.setdefault(keys, here) != here:
            yield _twice(tree, here, first[keys], " × ".join(dict.fromkeys(parts.values())) or str(name))


def _mappings(tree: Tree, loc: Loc) -> list[Loc]:
    """Return where mappings stand at ``loc``: that place itself, or the entries of a list."""
    value = tree.get(*loc)
    places = [(*loc, index) for index in range(len(value))] if isinstance(value, list) else [loc]
    return [place for place in places if isinstance(tree.get(*place), dict)]


def _twice(tree: Tree, here: Loc, earlier: Loc, title: str) -> Problem:
    same = tree.get(*here) == tree.get(*earlier)
    hint = "remove one of them" if same else "keep one; a column has one set of cuts, and a name means one slicing"
    place = tree.origin.place(*earlier)
    notes = (f"first asked for at {place}",) if place is not None else ()
    return tree.problem("duplicate-slicing", f"slices by '{title}' are asked for twice", *here, hint=hint, notes=notes)


def _columns(tree: Tree, parts: dict[Loc, str]) -> Iterator[Problem]:
    """Find the outcome among the columns of a slicing, and columns that stand there twice."""
    outcome, seen = tree.get("outcome", "column"), set[str]()
    for loc, column in parts.items():
        if column == outcome:
            message = f"{tree.show(*loc)} is the outcome's column: within a slice all rows would have one truth"
            yield tree.problem("outcome-as-slice", message, *loc, hint="slice by what is known before the outcome is")
        if column in seen:
            message = f"the column {tree.show(*loc)} stands here twice"
            yield tree.problem("duplicate-column", message, *loc, hint="remove it")
        seen.add(column)


def _cuts(tree: Tree, loc: Loc) -> Iterator[Problem]:
    """Find cuts that do not ascend."""
    here = (*loc, "cuts")
    cuts = _items(tree.get(*here))
    if not all(isinstance(cut, int | float) and not isinstance(cut, bool) for cut in cuts):
        return
    for index, (low, high) in enumerate(pairwise(cuts), start=1):
        if not low < high:
            message = f"the cut {tree.show(*here, index)} is not above the one before it, {tree.show(*here, index - 1)}"
            hint = f"write them in ascending order, each once: [{', '.join(map(str, sorted(set(cuts))))}]"
            yield tree.problem("cut-order", message, *here, index, hint=hint)
            return


def _searched(tree: Tree) -> Iterator[Problem]:
    here: Loc = ("worst_slices", "columns")
    if isinstance(tree.get(*here), list):
        yield from _columns(tree, _parts(tree, here))
        yield from chain.from_iterable(_cuts(tree, loc) for loc in _mappings(tree, here))


def _unused(tree: Tree) -> Iterator[Problem]:
    """Find rules that would change nothing, because there are no slices."""
    rules = tree.get("slice_rules")
    if not isinstance(rules, dict) or tree.get("slices") is not None:
        return
    if tree.get("worst_slices") is None:
        message = "'slice_rules' would change nothing: there are no slices"
        yield tree.idle("unused-rules", message, "slice_rules", key=True, hint="add 'slices: […]', or remove it")
        return
    for key in ("reference", "disparities"):
        if rules.get(key) not in (None, "overall"):
            message = f"'{key}' would change nothing: there are no 'slices'"
            yield tree.idle("unused-rules", message, "slice_rules", key, key=True,
                               hint="add 'slices: […]', or remove it")


def _reference(tree: Tree) -> Iterator[Problem]:
    """Find reference levels of columns that no slicing has for itself."""
    levels = tree.get("slice_rules", "reference")
    slices = tree.get("slices")
    if not isinstance(levels, dict) or not isinstance(slices, list):
        return
    parts = [_parts(tree, ("slices", index)) for index in range(len(slices))]
    alone = [next(iter(found.values())) for found in parts if len(found) == 1]
    for column in levels:
        if column not in alone:
            guess = closest(column, alone)
            hint = f"did you mean '{guess}'?" if guess else f"add {column} to 'slices' as an entry of its own"
            message = f"no entry of 'slices' is by the column '{column}' alone"
            yield tree.problem("unknown-reference", message, "slice_rules", "reference", column, key=True, hint=hint)


def _disparities(tree: Tree) -> Iterator[Problem]:
    """Check the names of disparities: known, of this task, among the measures, each once."""
    here: Loc = ("slice_rules", "disparities")
    seen = set[str]()
    for index, name in enumerate(_items(tree.get(*here))):
        loc = (*here, index)
        if not isinstance(name, str) or not name or tree.hidden(loc):
            continue
        canonical = registry[name].name if name in registry else name
        if canonical in seen:
            yield tree.problem("duplicate-disparity", f"the disparity {tree.show(*loc)} is asked for twice", *loc,
                               hint="remove it")
            continue
        seen.add(canonical)
        yield from _named(tree, loc, name) if name in DISPARITIES else _measured(tree, loc, name)


def _named(tree: Tree, loc: Loc, name: str) -> Iterator[Problem]:
    """Check one of `DISPARITIES`: it is of the predicted classes of a binary outcome."""
    task, models = tree.get("task"), tree.get("models")
    if task != "binary":
        article = "an" if str(task)[:1] in tuple("aeiou") else "a"
        message = f"{name} is a disparity of binary outcomes, not of {article} {task} one"
        yield tree.problem("not-for-task", message, *loc, hint="name a measure of this evaluation instead")
        return
    for model, keys in models.items() if isinstance(models, dict) else ():
        served = gives(keys, tree.get("threshold")) if isinstance(keys, dict) else frozenset({"labels"})
        if "scores" in served and "labels" not in served:
            message = f"{name} needs predicted classes, but the model '{model}' gives only 'score'"
            hint = "remove it, or give the model a 'scale', a 'threshold' or a 'prediction'"
            yield tree.problem("metric-needs-classes", message, *loc, hint=hint)
            return


def _measured(tree: Tree, loc: Loc, name: str) -> Iterator[Problem]:
    """Check a disparity that is the name of a measure: it is one that the evaluation gives."""
    metrics = tree.get("metrics")
    if name not in registry:
        guess = None if tree.secret(*loc) else closest(name, DISPARITIES) or registry.closest(name)
        hint = f"did you mean '{guess}'?" if guess else f"name a measure, or {listed(DISPARITIES)}"
        yield tree.problem("unknown-disparity", f"unknown disparity {tree.show(*loc)}", *loc, hint=hint)
        return
    if not isinstance(metrics, list):
        yield from check_entry(tree, loc, name)[1]
        return
    written = [entry.get("metric") if isinstance(entry, dict) else entry for entry in metrics]
    if registry[name] not in [registry[one] for one in written if isinstance(one, str) and one in registry]:
        message = f"the measure {tree.show(*loc)} is not among 'metrics'"
        yield tree.problem("unknown-disparity", message, *loc, hint="add it there, or remove it here")


def _worst(tree: Tree) -> Iterator[Problem]:
    """Check the measure of the search like one of 'metrics'; it must have a worse side, and one value a slice."""
    here: Loc = ("worst_slices", "metric")
    if tree.get(*here) is None:
        return
    entry, faults = check_entry(tree, here, tree.get(*here))
    yield from faults
    if entry is None:
        return
    if entry.metric.direction == "none":
        message = f"{entry.metric.name} is neither better nor worse when it is high, so no slice is the worst"
        yield tree.problem("no-direction", message, *entry.named, hint="name a measure with a better side")
    average = tree.get(*here, "average")
    if average in ("none", ["none"]) or (isinstance(average, list) and len(average) > 1):
        message = "the search compares one value of each slice, so it needs one average over the classes"
        yield tree.problem("many-averages", message, *here, "average",
                           hint="write 'macro', 'macro_weighted' or 'micro'")
    yield from one_prevalence(tree, here, "the search compares one value of each slice")
