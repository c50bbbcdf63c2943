"""Checks of what is compared with what, and of how intervals and bands are drawn."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.metrics import registry
from evalpipe.spec.describe import listed
from evalpipe.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


def check_compare(tree: Tree) -> list[Problem]:
    """Return the problems of comparisons: baselines that do not exist, margins of measures that are not asked for."""
    compare = tree.get("compare")
    if not isinstance(compare, dict):
        return list(_bands(tree))
    return list(chain(_bands(tree), _nothing(tree, compare), _baseline(tree), _dataset(tree), _margins(tree)))


def _bands(tree: Tree) -> Iterator[Problem]:
    here = ("intervals", "bands")
    if tree.get(*here) is False and tree.get("task") not in (None, "binary"):
        message = "'bands' would change nothing: they are drawn about the curves of a binary outcome alone"
        yield tree.idle("not-for-task", message, *here, key=True, hint="remove it")
    if tree.get("intervals", "resampling") == "poisson" and tree.get("intervals", "stratify") is True:
        message = "Poisson counts leave the size of every level to chance, so levels cannot keep their sizes"
        here = ("intervals", "stratify")
        yield tree.problem("two-resamplings", message, *here, key=True, hint="remove this or 'resampling'")


def _nothing(tree: Tree, compare: dict[str, Any]) -> Iterator[Problem]:
    if compare.get("baseline") is None and compare.get("baseline_dataset") is None:
        message = "'compare' names nothing to compare with"
        hint = "add 'baseline: …', a model, or 'baseline_dataset: …', a dataset"
        yield tree.problem("nothing-to-compare", message, "compare", key=True, hint=hint)


def _baseline(tree: Tree) -> Iterator[Problem]:
    models, name, here = tree.get("models"), tree.get("compare", "baseline"), ("compare", "baseline")
    if not isinstance(models, dict) or not isinstance(name, str):
        return
    if name not in models:
        guess = closest(name, list(models))
        hint = f"did you mean '{guess}'?" if guess else f"the models are {listed(list(models), 'and')}"
        yield tree.problem("unknown-baseline", f"no model is called {tree.show(*here)}", *here, hint=hint)
    elif len(models) == 1:
        message = f"{tree.show(*here)} is the only model, so there is nothing to compare with it"
        yield tree.idle("nothing-to-compare", message, *here, hint="add another model, or remove 'baseline'")


def _dataset(tree: Tree) -> Iterator[Problem]:
    here = ("compare", "baseline_dataset")
    datasets, name = tree.get("datasets"), tree.get(*here)
    if not isinstance(datasets, dict) or not isinstance(name, str):
        return
    known = [key for key, value in datasets.items()
             if not isinstance(value, dict) or value.get("role", "evaluate") == "evaluate"]
    if name not in known:
        guess = closest(name, known)
        role = "" if name not in datasets else ", for its role is not 'evaluate'"
        message = f"no dataset called {tree.show(*here)} is evaluated{role}"
        hint = f"did you mean '{guess}'?" if guess else f"choose one of {listed(known)}" if len(known) > 1 else None
        yield tree.problem("unknown-baseline", message, *here, hint=hint)
    elif len(known) == 1:
        message = f"{tree.show(*here)} is the only evaluated dataset, so there is nothing to compare with it"
        yield tree.idle("nothing-to-compare", message, *here, hint="add another dataset, or remove the key")


def _margins(tree: Tree) -> Iterator[Problem]:
    margins, here = tree.get("compare", "margins"), ("compare", "margins")
    asked = _asked(tree)
    for name in margins if isinstance(margins, dict) else ():
        if not isinstance(name, str):
            continue
        if name not in registry:
            guess = registry.closest(name)
            hint = f"did you mean '{guess}'?" if guess else "`evalpipe metrics` lists them"
            yield tree.problem("unknown-metric", f"unknown metric '{name}'", *here, name, key=True, hint=hint)
        elif asked is not None and registry[name].name not in asked:
            message = f"the margin of '{name}' would change nothing: the measure is not asked for"
            yield tree.idle("unused-margin", message, *here, name, key=True, hint="add it to 'metrics'")


def _asked(tree: Tree) -> set[str] | None:
    """Return the canonical names of the measures in `metrics`; None where the standard set is meant."""
    metrics = tree.get("metrics")
    if not isinstance(metrics, list):
        return None
    names = [entry.get("metric") if isinstance(entry, dict) else entry for entry in metrics]
    return {registry[name].name for name in names if isinstance(name, str) and name in registry}
