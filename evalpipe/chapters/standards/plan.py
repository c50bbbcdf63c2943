"""The standards whose items will be looked for, and the checks of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from evalpipe.chapters.standards.spec import ProfileName, profile
from evalpipe.spec.draft import refer
from evalpipe.words.numbers import given_percent
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.standards.spec import Profile, StandardRule
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


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


@dataclass(frozen=True, slots=True)
class StandardPlan:
    """A standard, and what the spec asks of it."""

    profile: Profile
    rule: StandardRule

    @property
    def words(self) -> str:
        """What is looked for: "eu_ai_act_annex_iv, 22 of 23 items apply, at least 100% of them answered"."""
        every, left_out = len(self.profile.items), len(self.rule.not_applicable)
        apply = f"{every} items" if not left_out else f"{every - left_out} of {every} items apply"
        least = "" if self.rule.require is None else f", at least {given_percent(self.rule.require)} of them answered"
        return f"{self.profile.name}, {apply}{least}"


def standards_plan(spec: Spec) -> tuple[StandardPlan, ...]:
    """Return the standards that the spec names, each with its items and what the spec requires of it."""
    return tuple(StandardPlan(profile(rule.profile), rule) for rule in spec.standards or ())


def lines(plan: Plan) -> Iterator[str]:
    """Yield for `evalpipe plan` a line on the evidence that each standard asks for."""
    yield from (f"evidence for {standard.words}" for standard in plan.part(standards_plan))


def document(plan: Plan) -> dict[str, object]:
    """Return the standards, their items and what the spec asks of them, as JSON values."""
    return {"standards": [
        {"profile": standard.profile.name, "items": [item.id for item in standard.profile.items],
         "require": standard.rule.require, "not_applicable": dict(standard.rule.not_applicable)}
        for standard in plan.part(standards_plan)]}


PARTS = (standards_plan,)
