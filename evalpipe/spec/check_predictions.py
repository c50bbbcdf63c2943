"""Checks of models whose predictions are in files of their own: one for each evaluated dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.describe import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


def check_predictions(tree: Tree) -> list[Problem]:
    """Return the problems of files of predictions that do not fit the evaluated datasets."""
    datasets, models = tree.get("datasets"), tree.get("models")
    if not isinstance(datasets, dict) or not isinstance(models, dict):
        return []
    if not all(isinstance(dataset, dict) for dataset in datasets.values()):
        return []
    evaluated = [name for name, dataset in datasets.items() if dataset.get("role", "evaluate") == "evaluate"]
    return [problem for name in models for problem in _model(tree, name, evaluated)] if evaluated else []


def _model(tree: Tree, name: str, evaluated: list[str]) -> Iterator[Problem]:
    here = ("models", name, "predictions")
    given = tree.get(*here)
    if isinstance(given, str) and given and len(evaluated) > 1:
        message = f"the model '{name}' has one file of predictions, but {len(evaluated)} datasets are evaluated"
        example = ", ".join(f"{dataset}: …" for dataset in evaluated[:2])
        hint = f"name one for each: {{{example}{', …' if len(evaluated) > 2 else ''}}}"
        yield tree.problem("missing-predictions", message, *here, hint=hint)
    if not isinstance(given, dict) or not given:
        return
    for dataset in given:
        if dataset not in evaluated:
            guess = closest(dataset, [other for other in evaluated if other not in given])
            hint = f"did you mean '{guess}'?" if guess else f"the evaluated datasets are {listed(evaluated, 'and')}"
            yield tree.problem("unknown-dataset", f"'{dataset}' is no evaluated dataset", *here, dataset, key=True,
                               hint=hint)
    lacking = [dataset for dataset in evaluated if dataset not in given]
    if lacking and not any(closest(dataset, lacking) for dataset in given if dataset not in evaluated):
        message = f"the model '{name}' has no file of predictions for {listed(lacking, 'and')}"
        yield tree.problem("missing-predictions", message, *here, key=True, hint="name one for each evaluated dataset")
