"""The checks of texts of items and of the datasets that they are looked for in, and what the plan says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.datasets import LogDataset
from evalpipe.tasks import SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def text_plan(spec: Spec) -> str | None:
    """Return the column of items' texts; None where items are looked for nowhere."""
    return spec.text


PARTS = (text_plan,)


def columns(spec: Spec) -> Iterator[tuple[Loc, str]]:
    """Yield the column of texts, after its place in the spec."""
    if spec.text is not None:
        yield ("text",), spec.text


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of texts that no dataset is looked through for, and of such datasets without texts."""
    if draft.spec.task not in SCORES:
        return
    references = {loc: dataset for loc, dataset in draft.entries(draft.spec.datasets, "datasets")
                  if dataset.role == "reference"}
    for loc, dataset in references.items():
        if isinstance(dataset, LogDataset):
            yield draft.tree.problem("not-for-task", f"'{loc[-1]}' has the role 'reference', and is no table of texts",
                                     *loc, "role", hint="store its texts as a table, or remove the role")
    if references and draft.spec.text is None and draft.readable("text"):
        name = next(iter(references))[-1]
        yield draft.tree.problem("missing-key", f"items are to be looked for in '{name}', and no key names their texts",
                                 "datasets", name, "role", hint="add 'text' with the column of texts that both have")
    if draft.spec.text is not None and not references and draft.spec.datasets:
        message = "'text' has no effect: no dataset has the role 'reference'"
        yield draft.tree.idle("unused-key", message, "text", key=True,
                              hint="add a dataset of texts with 'role: reference', or remove it")
