"""Checks that a measure has one value where only one has a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.prevalence.rules import single_prevalence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.entry import Entry


def one_value(draft: Draft, entry: Entry, why: str) -> Iterator[Problem]:
    """Report a measure that is given for each class, or at several averages or prevalences.

    ``why`` begins the message: "a goal judges one value of each model".
    """
    averages = entry.choice.averages
    if averages == ("none",) or len(averages) > 1:
        message = f"{why}, so it needs one average over the classes"
        hint = "write 'macro', 'macro_weighted' or 'micro'"
        yield draft.tree.problem("many-averages", message, *entry.loc, "average", hint=hint)
    yield from single_prevalence(draft, entry, why)
