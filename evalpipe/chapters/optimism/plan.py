"""Checks of bootstrap fits: the dataset that they are of, and what can be corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of datasets that models were fitted to, and of the bootstrap fits of models."""
    if not all(draft.readable("datasets", name) for name in draft.spec.datasets):
        return
    trained = [name for name, dataset in draft.spec.datasets.items() if dataset.trained_on]
    for name in trained:
        role = draft.spec.datasets[name].role
        if role != "evaluate":
            message = f"dataset '{name}' is 'trained_on', but its role is {role}"
            hint = "remove it, or evaluate the dataset: it is the evaluated rows that may be those of the training"
            yield draft.tree.problem("not-evaluated", message, "datasets", name, "trained_on", key=True, hint=hint)
    evaluated = [name for name in trained if draft.spec.datasets[name].role == "evaluate"]
    for name, model in draft.models.items():
        if model.optimism is not None and draft.readable("models", name, "optimism"):
            yield from _check_model(draft, name, evaluated)


def _check_model(draft: Draft, name: str, trained: list[str]) -> Iterator[Problem]:
    """Report a model whose bootstrap fits are of no dataset or of several, or whose threshold is chosen by rows."""
    loc = ("models", name, "optimism")
    if len(trained) != 1:
        subject = "no dataset is" if not trained else f"{listed(trained, 'and')} are"
        message = f"the bootstrap fits of model '{name}' are of the rows of its training, but {subject} 'trained_on'"
        hint = "write 'trained_on: true' for the evaluated dataset that the models were fitted to" if not trained else (
            "keep one of them")
        yield draft.tree.problem("no-training-rows", message, *loc, key=True, hint=hint)
    if draft.models[name].is_chosen_by_rows(draft.spec.threshold) and draft.spec.task == "binary":
        message = f"rows choose the threshold of model '{name}', and bootstrap fits do not say which they would choose"
        hint = "write the threshold as a number, so that every fit has the same"
        yield draft.tree.problem("chosen-threshold", message, *loc, key=True, hint=hint)
