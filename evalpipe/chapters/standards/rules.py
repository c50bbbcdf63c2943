"""Checks of standards: each is named once, and what does not apply is one of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evalpipe.chapters.standards.spec import ProfileName, profile
from evalpipe.spec.draft import refer
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.standards.spec import StandardRule
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


MOST = 12
"""Items that an error lists."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of standards."""
    names: list[str] = []
    alone = not isinstance(draft.tree.get("standards"), list)  # one that stands alone is in no list
    for place, rule in enumerate(draft.spec.standards or ()):
        loc: Loc = ("standards",) if alone else ("standards", place)
        if not draft.readable(*loc):
            continue
        if rule.profile in names:
            message = f"{rule.profile} is named twice"
            yield draft.tree.problem("duplicate-standard", message, *loc, hint="remove one of them")
        if rule.profile in get_args(ProfileName):
            names.append(rule.profile)
            yield from _check_items(draft, loc, rule)


def _check_items(draft: Draft, loc: Loc, rule: StandardRule) -> Iterator[Problem]:
    """Report names under `not_applicable` that are no items, and a profile with no item left."""
    known = [item.id for item in profile(rule.profile).items]
    for name in rule.not_applicable:
        here = (*loc, "not_applicable", name)
        message = f"{rule.profile} has no item {name!r}"
        hint = f"its items are {listed(known, 'and')}" if len(known) <= MOST else "docs/standards.md lists its items"
        yield from refer(draft, here, known, "unknown-item", message, hint, key=True)
    if set(known) <= set(rule.not_applicable):
        message = f"no item of {rule.profile} is left"
        hint = "remove the standard"
        yield draft.tree.problem("nothing-to-answer", message, *loc, "not_applicable", key=True, hint=hint)
