"""Checks of the metrics that a spec asks for: their names, their options, and whether the models can serve them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.metrics import registry
from evalpipe.spec.describe import Shapes, closest, listed
from evalpipe.spec.explain import explain, missing_key, unknown_key
from evalpipe.spec.models import gives

if TYPE_CHECKING:
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.spec.origin import Loc
    from evalpipe.spec.tree import Tree


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the spec's metrics: where it stands, where its name stands, its metric and options."""

    loc: Loc
    named: Loc
    metric: Metric
    options: dict[str, Any]


def check_metrics(tree: Tree) -> list[Problem]:
    """Check every entry of the spec's metrics."""
    written = tree.get("metrics")
    problems: list[Problem] = []
    known: list[_Entry] = []
    for index, value in enumerate(written if isinstance(written, list) else ()):
        entry = _entry(tree, ("metrics", index), value)
        if isinstance(entry, _Entry):
            faults = _options(tree, entry) or _from_spec(tree, entry)
            problems += [*faults, *_served(tree, entry)]
            known += [] if faults else [entry]
        elif entry is not None:
            problems.append(entry)
    return problems + _repeated(tree, known)


def _entry(tree: Tree, loc: Loc, value: object) -> _Entry | Problem | None:
    """Read an entry; a problem where its name cannot be read, None where that is reported already."""
    if tree.hidden(loc):
        return None
    if isinstance(value, str):
        return _named(tree, loc, loc, value, {})
    if not isinstance(value, dict):
        message = f"expected the name of a metric, or a mapping with 'metric' and its options, got {tree.spell(*loc)}"
        return tree.problem("wrong-type", message, *loc, hint=_lists(value))
    if "metric" not in value:
        return _unnamed(tree, loc, value)
    named = (*loc, "metric")
    if not isinstance(value["metric"], str):
        wrong = tree.problem("wrong-type", f"expected the name of a metric, got {tree.spell(*named)}", *named)
        return None if tree.hidden(named) else wrong
    return _named(tree, loc, named, value["metric"], {key: item for key, item in value.items() if key != "metric"})


def _lists(value: object) -> str | None:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    return "write each metric as an entry of its own" if names else None


def _named(tree: Tree, loc: Loc, named: Loc, name: str, options: dict[str, Any]) -> _Entry | Problem:
    if name in registry:
        return _Entry(loc, named, registry[name], options)
    guess = None if tree.secret(*named) else registry.closest(name) or closest(name, _all_names())
    hint = f"did you mean '{guess}'?" if guess else "`evalpipe metrics` lists all of them"
    return tree.problem("unknown-metric", f"unknown metric {tree.show(*named)}", *named, hint=hint)


def _all_names() -> list[str]:
    return [name for metric in registry for name in (metric.name, *metric.aliases)]


def _unnamed(tree: Tree, loc: Loc, value: dict[str, Any]) -> Problem:
    """Report an entry without the key 'metric'; often the name itself was taken for a key."""
    name = next(iter(value), "")
    if name in registry and len(value) == 1:
        inner = value[name]
        options = list(inner) if isinstance(inner, dict) else []
        form = ", ".join([f"metric: {name}", *(f"{option}: …" for option in options)])
        return tree.problem("missing-key", "missing key 'metric'", *loc, name, key=True, hint=f"write {{{form}}}")
    return missing_key(tree, Shapes(root={}, schemas=()), loc, "metric")


def _options(tree: Tree, entry: _Entry) -> list[Problem]:
    """Check the options that an entry gives."""
    known = entry.metric.option_types
    has = f"the option{'s' if len(known) > 1 else ''} {listed(known, 'and')}" if known else "no options"
    takes = f"the metric {entry.metric.name} has {has}"
    problems = [
        unknown_key(tree, list(known), (*entry.loc, key), (takes,)) for key in entry.options if key not in known
    ]
    given = {key: item for key, item in entry.options.items() if key in known}
    try:
        entry.metric.options.model_validate(given)
    except ValidationError as error:
        found = explain(error, tree, entry.metric.options.model_json_schema(), entry.loc)
        problems += [problem for problem in found if problem.code != "missing-key"]
    return problems + _absent(tree, entry)


def _absent(tree: Tree, entry: _Entry) -> list[Problem]:
    """Report the options that a metric needs and that no key of the spec can give."""
    name = entry.metric.name
    needed = [o for o, field in entry.metric.options.model_fields.items() if field.is_required()]
    return [
        tree.problem(
            "missing-option", f"{name} needs the option '{option}'", *entry.named,
            hint=f"write {{metric: {name}, {option}: …}}",
        )
        for option in needed
        if option not in entry.options and option not in entry.metric.from_spec
    ]  # fmt: skip


def _from_spec(tree: Tree, entry: _Entry) -> list[Problem]:
    """Report the options that neither the entry nor the spec gives."""
    return [
        tree.problem(
            "missing-option", f"{entry.metric.name} needs a {option}", *entry.named,
            hint=f"write {{metric: {entry.metric.name}, {option}: …}}, or add '{key}: …' to the spec",
        )
        for option, key in entry.metric.from_spec.items()
        if entry.options.get(option) is None and tree.get(key) is None
    ]  # fmt: skip


_LACK = {
    "probabilities": (
        "metric-needs-probability", "needs probabilities",
        "remove it, name a column of 'probability', or add a 'scale' to the score",
    ),
    "scores": ("metric-needs-probability", "ranks rows", "remove it, or name a column of 'probability' or 'score'"),
    "labels": (
        "metric-needs-classes", "needs predicted classes",
        "remove it, or give the model a 'scale', a 'threshold' or a 'prediction'",
    ),
}
"""For each need: the code of its problem, the words for it, and the way out."""


def _served(tree: Tree, entry: _Entry) -> list[Problem]:
    """Report a metric that some model cannot serve, such as one of probabilities where there are only classes."""
    models = tree.get("models")
    named = models.items() if isinstance(models, dict) else ()
    given = {name: gives(model) for name, model in named if isinstance(model, dict)}
    lacking = [name for name, needs in given.items() if needs and entry.metric.needs not in needs]
    if not lacking:
        return []
    code, need, hint = _LACK[entry.metric.needs]
    noun, verb = ("model", "gives") if len(lacking) == 1 else ("models", "give")
    kinds = listed([kind for kind in ("score", "prediction") if any(_has(tree, name, kind) for name in lacking)], "and")
    message = f"{entry.metric.name} {need}, but the {noun} {listed(lacking, 'and')} {verb} only {kinds}"
    return [tree.problem(code, message, *entry.named, hint=hint)]


def _has(tree: Tree, model: str, kind: str) -> bool:
    return tree.get("models", model, kind) is not None


def _repeated(tree: Tree, entries: list[_Entry]) -> list[Problem]:
    """Report metrics that are asked for twice with the same options."""
    first: dict[tuple[str, str], _Entry] = {}
    problems = []
    for entry in entries:
        same = first.setdefault((entry.metric.name, _effective(tree, entry)), entry)
        if same is entry:
            continue
        alike = tree.get(*same.named) == tree.get(*entry.named)
        names = f"{tree.show(*entry.named)} and {tree.show(*same.named)}"
        also = "" if alike else f" ({names} are names of the same metric)"
        message = f"{entry.metric.name} is asked for twice with the same options{also}"
        place = tree.origin.place(*same.named)
        notes = (f"first asked for at {place}",) if place is not None else ()
        problems.append(tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them", notes=notes))
    return problems


def _effective(tree: Tree, entry: _Entry) -> str:
    """Return the options an entry comes to, as text."""
    filled = dict(entry.options)
    for option, key in entry.metric.from_spec.items():
        prior = tree.get(key)
        filled.setdefault(option, prior.get("value") if isinstance(prior, dict) else prior)
    try:
        options = entry.metric.options.model_validate(filled).model_dump(mode="json")
    except ValidationError:
        options = {**filled, "from": "the spec"}
    return json.dumps(options, sort_keys=True, default=repr)
