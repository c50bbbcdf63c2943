"""What is compared with what, and the checks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.compare.spec import Compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of `compare`: nothing to compare with, and margins of measures that are not listed."""
    compare, measures = draft.spec.compare, draft.measures
    if compare is None or not draft.readable("compare"):
        return
    names_nothing = compare.baseline is None and compare.baseline_dataset is None and compare.pairs == "auto"
    is_alone = names_nothing and (len(draft.spec.models) < 2 or not compare.margins)
    if is_alone and not draft.misspelt(("compare",), ("baseline", "baseline_dataset", "pairs"), Compare.model_fields):
        hint = "add 'baseline: …', a model, 'pairs: all', or 'baseline_dataset: …', a dataset"
        message = "'compare' names nothing to compare with"
        yield draft.tree.problem("nothing-to-compare", message, "compare", key=True, hint=hint)
    if list(draft.spec.models) == [compare.baseline]:
        loc = ("compare", "baseline")
        message = f"{draft.tree.show(*loc)} is the only model, so there is nothing to compare with it"
        yield draft.tree.idle("nothing-to-compare", message, *loc, hint="add another model, or remove 'baseline'")
    if compare.pairs == "all" and len(draft.spec.models) == 1:
        message = f"there is only one model, '{next(iter(draft.spec.models))}', so there are no pairs to compare"
        yield draft.tree.idle("nothing-to-compare", message, "compare", "pairs", hint="add another model, or remove it")
    if draft.role("evaluate") == [compare.baseline_dataset]:
        loc = ("compare", "baseline_dataset")
        message = f"{draft.tree.show(*loc)} is the only evaluated dataset, so there is nothing to compare with it"
        yield draft.tree.idle("nothing-to-compare", message, *loc, hint="add another dataset, or remove the key")
    listed_metrics = [measures[choice.metric] for choice in draft.spec.choices if choice.metric in measures]
    for name in compare.margins if draft.spec.metrics else ():
        if name in measures and measures[name] not in listed_metrics:
            message = f"the margin of '{name}' has no effect: the measure is not in 'metrics'"
            yield draft.tree.idle("unused-margin", message, "compare", "margins", name, key=True,
                                  hint="add it to 'metrics'")


MOST_MODELS = 6
"""The most models of which every pair is compared unless the spec asks for it: 15 pairs."""


def compare_plan(spec: Spec) -> Compare | None:
    """Return what a spec compares, with margins by the canonical names of measures; None where it compares nothing.

    Every pair of a few models is compared where the spec names no baseline.
    """
    compare = spec.compare or Compare()
    by_default = compare.baseline is None and 1 < len(spec.models) <= MOST_MODELS
    pairs = "none" if compare.pairs == "auto" and not by_default else compare.pairs
    if pairs == "none" and compare.baseline is None and compare.baseline_dataset is None:
        return None
    margins = {spec.measures[name].name: margin for name, margin in compare.margins.items()}
    return compare.model_copy(update={"margins": margins, "pairs": pairs})


PLANNED = {"compare": compare_plan}
