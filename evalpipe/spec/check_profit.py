"""Checks of the profit of contacting rows: somebody must rank them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.parts import gives

if TYPE_CHECKING:
    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


def check_profit(tree: Tree) -> list[Problem]:
    """Return the problem of a profit that no model ranks rows for."""
    models = tree.get("models")
    if tree.get("profit") is None or tree.get("task") != "binary" or not isinstance(models, dict):
        return []
    known = [model for model in models.values() if isinstance(model, dict)]
    classes = [model for model in known if "labels" in gives(model) and "scores" not in gives(model)]
    if not known or len(classes) < len(models):
        return []
    message = "'profit' takes rows from the highest score down, but no model gives scores"
    return [tree.idle("nothing-to-rank", message, "profit", key=True,
                         hint="add 'probability: …' or 'score: …' to a model")]
