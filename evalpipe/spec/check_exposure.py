"""Checks of the exposure of counts: the rates that need it, and what cannot be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


def check_exposure(tree: Tree) -> list[Problem]:
    """Return the problems of rates without an exposure, or beside a prediction, and of recalibration with one."""
    return [*_rates(tree), *_recalibrated(tree)] if tree.get("task") == "count" else []


def _rates(tree: Tree) -> Iterator[Problem]:
    models = tree.get("models")
    for name, model in models.items() if isinstance(models, dict) else ():
        if not isinstance(model, dict) or model.get("rate") is None:
            continue
        if model.get("prediction") is not None:
            message = f"the model '{name}' has both 'prediction' and 'rate'"
            yield tree.problem("two-predictions", message, "models", name, "rate", key=True,
                               hint="remove one of the two; the expected count is the rate times the exposure")
        elif tree.get("exposure") is None:
            message = f"the model '{name}' gives a rate, but no exposure is declared"
            hint = ("add 'exposure: …' to the spec, or name the column of the expected count of each row under "
                    "'prediction'")
            yield tree.problem("rate-without-exposure", message, "models", name, "rate", key=True, hint=hint)


def _recalibrated(tree: Tree) -> Iterator[Problem]:
    """Report recalibrators, which learn counts from expected counts and see no exposure."""
    if tree.get("exposure") is not None and tree.get("recalibrate") is not None:
        message = "counts with an exposure cannot be recalibrated: the recalibrators see no exposure"
        yield tree.problem("recalibrated-exposure", message, "recalibrate", key=True, hint="remove one of the two")
