"""Checks of models that have several fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


MAGIC = frozenset("*?[")
"""The characters that make a pattern of a path."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of models that have both several fits and steps."""
    for name, model in draft.models.items():
        predictions_loc: Loc = ("models", name, "predictions")
        predictions = model.predictions
        paths = {predictions_loc: predictions} if isinstance(predictions, str) else {
            (*predictions_loc, key): path for key, path in (predictions or {}).items()}
        patterns = [loc for loc, path in paths.items() if MAGIC & set(path)]
        if model.step is not None and patterns:
            message = (f"the model '{name}' has steps, and a pattern under 'predictions', which names several fits; "
                       "steps are of one fit")
            hint = "name the file of one fit; a folder may hold its steps in several files"
            yield draft.tree.problem("steps-of-fits", message, *patterns[0], hint=hint)
