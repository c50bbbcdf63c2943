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
    """Yield the problems of standards: of one named twice, and of items that do not apply."""
    names: list[str] = []
    is_single = not isinstance(draft.tree.get("standards"), list)  # one that stands alone is in no list
    for index, rule in enumerate(draft.spec.standards or ()):
        loc: Loc = ("standards",) if is_single else ("standards", index)
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
    items = [item.id for item in profile(rule.profile).items]
    for name in rule.not_applicable:
        name_loc = (*loc, "not_applicable", name)
        message = f"{rule.profile} has no item {name!r}"
        hint = f"its items are {listed(items, 'and')}" if len(items) <= MOST else "docs/standards.md lists its items"
        yield from refer(draft, name_loc, items, "unknown-item", message, hint, key=True)
    if set(items) <= set(rule.not_applicable):
        message = f"no item of {rule.profile} is left"
        hint = "remove the standard"
        yield draft.tree.problem("nothing-to-answer", message, *loc, "not_applicable", key=True, hint=hint)
