"""The standards whose items will be looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.chapters.standards.spec import profile
from evalpipe.words.numbers import given_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.standards.spec import Profile, StandardRule
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec


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
    """Return the standards of a spec, in order."""
    return tuple(StandardPlan(profile(rule.profile), rule) for rule in spec.standards or ())


def lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each standard."""
    yield from (f"evidence for {standard.words}" for standard in plan.part(standards_plan))


def document(plan: Plan) -> dict[str, object]:
    """Return the standards, their items and what the spec asks of them, as JSON values."""
    return {"standards": [
        {"profile": standard.profile.name, "items": [item.id for item in standard.profile.items],
         "require": standard.rule.require, "not_applicable": dict(standard.rule.not_applicable)}
        for standard in plan.part(standards_plan)]}


PARTS = (standards_plan,)
