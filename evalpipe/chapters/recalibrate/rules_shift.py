"""Rules of the prevalences that a recalibrator shifts from and to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.prevalence.rules import check_sum
from evalpipe.tasks import MANY
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def check_shift(draft: Draft, loc: Loc, named: Loc) -> Iterator[Problem]:
    """Check the prevalences that a recalibrator shifts from and to; ``named`` is where its name stands."""
    declared, name, many = draft.spec.prevalence, draft.tree.get(*named), draft.spec.task in MANY
    if draft.tree.get(*loc, "to") is None:
        absent = None if declared is None else _never(declared.mean)
        if declared is None:
            message, form = f"{name} needs a prevalence to shift to", "[…]" if many else "…"
            yield draft.tree.problem("missing-option", message, *named, hint=(
                f"add 'prevalence: …' to the spec, or write {{method: {name}, to: {form}}}"))
        elif absent is not None:
            message = f"{name} cannot shift to a prevalence at which {absent} never occurs"
            hint = "no probability can be known there: give a prevalence above 0 and below 1, or leave the method out"
            yield draft.tree.problem("out-of-range", message, *named, hint=hint)
    for key in ("from", "to"):
        yield from _shares(draft, (*loc, key), many=many)


def _never(prevalence: float | dict[str, float]) -> str | None:
    """Say what never occurs at a prevalence of the event, or of each level; None where everything does."""
    match prevalence:
        case dict(shares):
            return next((f"'{level}'" for level, share in shares.items() if share == 0), None)
        case 0:
            return "the event"
        case 1:
            return "anything but the event"
    return None


def _shares(draft: Draft, here: Loc, *, many: bool) -> Iterator[Problem]:
    """Check a prevalence of a recalibrator: a number, or the share of each level in their order."""
    given, problem, levels = draft.tree.get(*here), draft.tree.problem, draft.levels
    spelt, hint = draft.tree.spell(*here), "list one for each level, in their order"
    match given:
        case [*_] if not many:
            message = f"expected a number from 0 to 1, got {spelt}"
            yield problem("wrong-type", message, *here, hint="give that of the event")
        case [*shares] if levels and len(shares) != len(levels):
            message = f"expected {len(levels)} shares, of {listed(levels, 'and')}, got {len(shares)}"
            yield problem("wrong-type", message, *here, hint=hint)
        case [*shares]:
            yield from check_sum(draft, here, "shares", shares, 1e-6)
        case _ if many and levels and given is not None:
            message = f"expected the shares of {listed(levels, 'and')}, got {spelt}"
            yield problem("wrong-type", message, *here, hint=hint)
