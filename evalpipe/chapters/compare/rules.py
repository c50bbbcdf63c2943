"""Checks of what is compared with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.compare.spec import Compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of comparisons."""
    compare = draft.spec.compare
    if compare is not None and draft.readable("compare"):
        yield from _baseline(draft, compare)
        yield from _baseline_dataset(draft, compare)
        yield from _margins(draft, compare)


def _baseline(draft: Draft, compare: Compare) -> Iterator[Problem]:
    models, here = list(draft.spec.models), ("compare", "baseline")
    absent = compare.baseline is None and compare.baseline_dataset is None
    if absent and not draft.misspelt(("compare",), ("baseline", "baseline_dataset"), Compare.model_fields):
        hint = "add 'baseline: …', a model, or 'baseline_dataset: …', a dataset"
        message = "'compare' names nothing to compare with"
        yield draft.tree.problem("nothing-to-compare", message, "compare", key=True, hint=hint)
    if models == [compare.baseline]:
        message = f"{draft.tree.show(*here)} is the only model, so there is nothing to compare with it"
        hint = "add another model, or remove 'baseline'"
        yield draft.tree.idle("nothing-to-compare", message, *here, hint=hint)


def _baseline_dataset(draft: Draft, compare: Compare) -> Iterator[Problem]:
    evaluated, here = draft.role("evaluate"), ("compare", "baseline_dataset")
    if evaluated == [compare.baseline_dataset]:
        message = f"{draft.tree.show(*here)} is the only evaluated dataset, so there is nothing to compare with it"
        hint = "add another dataset, or remove the key"
        yield draft.tree.idle("nothing-to-compare", message, *here, hint=hint)


def _margins(draft: Draft, compare: Compare) -> Iterator[Problem]:
    metrics = draft.spec.metrics
    measures = draft.measures
    listed_metrics = [measures[choice.metric] for choice in draft.spec.choices if choice.metric in measures]
    for name in compare.margins:
        here = ("compare", "margins", name)
        if name in measures and metrics and measures[name] not in listed_metrics:
            message = f"the margin of '{name}' has no effect: the measure is not in 'metrics'"
            yield draft.tree.idle("unused-margin", message, *here, key=True, hint="add it to 'metrics'")
