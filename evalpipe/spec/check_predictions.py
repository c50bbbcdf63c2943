"""Checks of models whose predictions are in files of their own: one for each dataset that has predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


def check_predictions(tree: Tree) -> list[Problem]:
    """Return the problems of files of predictions that do not fit the datasets."""
    datasets, models = tree.get("datasets"), tree.get("models")
    if not isinstance(datasets, dict) or not isinstance(models, dict):
        return []
    if not all(isinstance(dataset, dict) for dataset in datasets.values()):
        return []
    roles = {name: dataset.get("role", "evaluate") for name, dataset in datasets.items()}
    predicted = [name for name, role in roles.items() if role != "reference"]
    what = "evaluated or to calibrate on" if "calibrate" in roles.values() else "evaluated"
    return [problem for name in models for problem in _model(tree, name, predicted, what)] if predicted else []


def _model(tree: Tree, name: str, predicted: list[str], what: str) -> Iterator[Problem]:
    here = ("models", name, "predictions")
    given = tree.get(*here)
    if given is None and tree.get("models", name, "csv") is not None:
        message = f"'csv' is declared for the model '{name}', which has no file of 'predictions'"
        hint = "declare it for the dataset that holds the model's columns"
        yield tree.problem("csv-without-file", message, "models", name, "csv", key=True, hint=hint)
    if isinstance(given, str) and given and len(predicted) > 1:
        message = f"the model '{name}' has one file of predictions, but {len(predicted)} datasets are {what}"
        example = ", ".join(f"{dataset}: …" for dataset in predicted[:2])
        hint = f"name one for each: {{{example}{', …' if len(predicted) > 2 else ''}}}"
        yield tree.problem("missing-predictions", message, *here, hint=hint)
    if not isinstance(given, dict) or not given:
        return
    for dataset in given:
        if dataset not in predicted:
            guess = closest(dataset, [other for other in predicted if other not in given])
            hint = f"did you mean '{guess}'?" if guess else f"the datasets that are {what}: {listed(predicted, 'and')}"
            yield tree.problem("unknown-dataset", f"no dataset called '{dataset}' is {what}", *here, dataset, key=True,
                               hint=hint)
    lacking = [dataset for dataset in predicted if dataset not in given]
    if lacking and not any(closest(dataset, lacking) for dataset in given if dataset not in predicted):
        message = f"the model '{name}' has no file of predictions for {listed(lacking, 'and')}"
        hint = f"name one for each dataset that is {what}"
        yield tree.problem("missing-predictions", message, *here, key=True, hint=hint)
