"""Checks of models whose predictions are in files of their own: one for each dataset that has predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.draft import refer
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def check_predictions(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of files of predictions that do not fit the datasets."""
    datasets = draft.spec.datasets
    predicted = [name for name, dataset in datasets.items() if dataset.role != "reference"]
    what = "evaluated or to calibrate on" if draft.role("calibrate") else "evaluated"
    if not predicted or not all(draft.readable("datasets", name) for name in datasets):
        return
    for name, model in draft.models.items():
        separate = model.predictions is not None or model.optimism is not None
        for key in (key for key in ("encoding", "csv") if getattr(model, key) is not None and not separate):
            message = f"'{key}' is declared for the model '{name}', which has no file of 'predictions'"
            yield draft.tree.problem(f"{key}-without-file", message, "models", name, key, key=True,
                                     hint="declare it for the dataset that holds the model's columns")
        yield from _files(draft, name, predicted, what)


def _files(draft: Draft, name: str, predicted: list[str], what: str) -> Iterator[Problem]:
    """Yield the problems of a model's files: one for several datasets, strange datasets, datasets without a file."""
    here, problem = ("models", name, "predictions"), draft.tree.problem
    match draft.models[name].predictions:
        case str(path) if path and len(predicted) > 1:
            message = f"the model '{name}' has one file of predictions, but {len(predicted)} datasets are {what}"
            example = ", ".join(f"{dataset}: …" for dataset in predicted[:2])
            hint = f"name one for each: {{{example}{', …' if len(predicted) > 2 else ''}}}"
            yield problem("missing-predictions", message, *here, hint=hint)
        case dict(files) if files:
            lacking = [dataset for dataset in predicted if dataset not in files]
            for dataset in files:
                yield from refer(
                    draft, (*here, dataset), predicted, "unknown-dataset", f"no dataset called '{dataset}' is {what}",
                    f"the datasets that are {what}: {listed(predicted, 'and')}", key=True,
                    meant=lambda name, _: closest(name, lacking))
            if lacking and not any(closest(dataset, lacking) for dataset in files if dataset not in predicted):
                message = f"the model '{name}' has no file of predictions for {listed(lacking, 'and')}"
                hint = f"name one for each dataset that is {what}"
                yield problem("missing-predictions", message, *here, key=True, hint=hint)
