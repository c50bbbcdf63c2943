"""Checks of where gates are judged: the dataset, the model, its variant and the slices."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree


def check_scope(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    """Yield the problems of one gate's dataset, model, variant and slices, so far as the spec alone tells."""
    return chain(_dataset(tree, loc), _model(tree, loc), _variant(tree, loc), _sliced(tree, loc, gate))


def _named(
    tree: Tree, loc: Loc, known: list[str], code: str, message: str, none: str = "remove it"
) -> Iterator[Problem]:
    """Report a name at ``loc`` that is not a known one; ``none`` is the way out where nothing is known."""
    name = tree.get(*loc)
    if isinstance(name, str) and name not in known:
        guess = closest(name, known)
        hint = f"did you mean '{guess}'?" if guess else f"choose one of {listed(known)}" if len(known) > 1 else (
            f"write '{known[0]}'" if known else none)
        yield tree.problem(code, message, *loc, hint=hint)


def _dataset(tree: Tree, loc: Loc) -> Iterator[Problem]:
    here, datasets = (*loc, "dataset"), tree.get("datasets")
    if isinstance(datasets, dict):
        known = [name for name, dataset in datasets.items()
                 if not isinstance(dataset, dict) or dataset.get("role", "evaluate") == "evaluate"]
        role = ", for its role is not 'evaluate'" if tree.get(*here) in datasets else ""
        message = f"no dataset called {tree.show(*here)} is evaluated{role}"
        yield from _named(tree, here, known, "unknown-dataset", message)


def _model(tree: Tree, loc: Loc) -> Iterator[Problem]:
    here, models = (*loc, "model"), tree.get("models")
    if isinstance(models, dict):
        yield from _named(tree, here, list(models), "unknown-model", f"no model is called {tree.show(*here)}")


def _variant(tree: Tree, loc: Loc) -> Iterator[Problem]:
    here, methods = (*loc, "variant"), tree.get("recalibrate", "methods")
    if tree.get(*here) in (None, "original"):
        return
    made = [one.get("name", one.get("method")) if isinstance(one, dict) else one
            for one in (methods if isinstance(methods, list) else ())]
    if not made:
        yield tree.problem("unknown-variant", "nothing is recalibrated, so models have no variants", *here, key=True,
                           hint="add 'recalibrate: …' to the spec, or remove it")
        return
    known = ["original", *(name for name in made if isinstance(name, str)), "all"]
    yield from _named(tree, here, known, "unknown-variant", f"no variant is called {tree.show(*here)}")


def _sliced(tree: Tree, loc: Loc, gate: dict[str, Any]) -> Iterator[Problem]:
    asked = [key for key in ("slice", "slices") if gate.get(key) is not None]
    if len(asked) > 1:
        yield tree.problem("two-scopes", "a gate has 'slice' or 'slices', not both", *loc, "slices", key=True,
                           hint="make two gates of it")
    elif asked and tree.get("slices") is None:
        yield tree.problem("unknown-slice", "there are no slices", *loc, asked[0], key=True,
                           hint="add 'slices: […]' to the spec, or remove it")
    elif asked and isinstance(tree.get("slices"), list):
        yield from _slices(tree, (*loc, asked[0]), gate[asked[0]])


def _slices(tree: Tree, here: Loc, asked: object) -> Iterator[Problem]:
    known = [key for index in range(len(tree.get("slices"))) if (key := _key(tree, index))]
    if isinstance(asked, str):
        names = ["all", *(key[0] for key in known if len(key) == 1)]
        yield from _named(tree, here, names, "unknown-slice", f"no entry of 'slices' is by {tree.show(*here)} alone")
        return
    columns = list(asked) if isinstance(asked, dict | list) else []
    if columns and all(isinstance(name, str) for name in columns) and set(columns) not in map(set, known):
        ways = [" × ".join(key) for key in known]
        hint = f"the slices are by {listed(ways, 'and')}" if ways else None
        message = f"no entry of 'slices' is by {listed(columns, 'and')}{' alone' if len(columns) == 1 else ''}"
        yield tree.problem("unknown-slice", message, *here, hint=hint)


def _key(tree: Tree, index: int) -> tuple[str, ...]:
    """Return the columns of an entry of the spec's slices, or the name of its condition; empty where unreadable."""
    entry = tree.get("slices", index)
    parts = entry if isinstance(entry, list) else [entry]
    names = [part.get("column", part.get("name")) if isinstance(part, dict) else part for part in parts]
    return tuple(name for name in names if isinstance(name, str))
