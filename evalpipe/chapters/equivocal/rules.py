"""Checks of equivocal zones: that their keys fit the task, and that there are classes for a zone to leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.equivocal.spec import Equivocal
from evalpipe.spec.core_keys import gives
from evalpipe.spec.rules_task import with_article
from evalpipe.tasks import CLASSES, MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft

_SIDES = ("below", "above")


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the spec's equivocal zone and of those of its models."""
    if draft.spec.task not in CLASSES:
        return
    zone = draft.spec.equivocal
    if zone is not None and not draft.tree.hidden(("equivocal",)):
        yield from list(_wrong_zone(draft, ("equivocal",), zone)) or _unused_by_all(draft)
    for loc, model in draft.entries(draft.spec.models, "models"):
        here = (*loc, "equivocal")
        if model.equivocal is not None and not draft.tree.hidden(here):
            yield from list(_wrong_zone(draft, here, model.equivocal, model)) or _unused(draft, here, model)


def _wrong_zone(draft: Draft, here: Loc, zone: float | Equivocal, model: Model | None = None) -> Iterator[Problem]:
    """Find what is wrong with a zone in itself; ``model`` is the one that it belongs to, None of the spec's."""
    if draft.spec.task in MANY:
        return _zone_of_many_levels(draft, here, zone)
    return _zone_of_two_levels(draft, here, zone, rank=model is not None and "probabilities" not in gives(model))


def _zone_of_many_levels(draft: Draft, here: Loc, zone: float | Equivocal) -> Iterator[Problem]:
    """Find a zone about a threshold, which several levels do not have, and a probability that all rows reach."""
    example, levels = "give the least highest probability: {min_probability: …}", draft.spec.outcome.levels or ()
    if not isinstance(zone, Equivocal):
        if draft.readable(*here):
            message = f"{with_article(draft.spec.task)} outcome has no threshold that a row could be near to"
            yield draft.tree.problem("not-for-task", message, *here, hint=example)
        return
    side = next((side for side in _SIDES if getattr(zone, side) is not None), None)
    if side is not None:
        message = f"{with_article(draft.spec.task)} outcome has no '{side}'"
        yield draft.tree.problem("not-for-task", message, *here, side, key=True, hint=example)
    elif zone.min_probability is None:
        yield from _without_reach(draft, here, example)
    elif levels and 0 <= zone.min_probability <= 1 / len(levels):
        message = f"of {len(levels)} levels one always has a probability of 1/{len(levels)} or more, so no row would be"
        yield draft.tree.problem("unused-equivocal", f"{message} equivocal", *here, "min_probability", hint="raise it")


def _zone_of_two_levels(draft: Draft, here: Loc, zone: float | Equivocal, *, rank: bool) -> Iterator[Problem]:
    """Find a zone of several levels, an empty one, and distances beyond those of probabilities; a ``rank`` has none."""
    example = "give its reach: a number, or {below: …, above: …}"
    reaches: dict[Loc, float | None] = {here: zone} if not isinstance(zone, Equivocal) else {
        (*here, side): getattr(zone, side) for side in _SIDES}
    if isinstance(zone, Equivocal) and zone.min_probability is not None:
        message = f"{with_article(draft.spec.task)} outcome has no 'min_probability'"
        yield draft.tree.problem("not-for-task", message, *here, "min_probability", key=True, hint=example)
    elif all(reach is None for reach in reaches.values()):
        yield from _without_reach(draft, here, example)
    for loc, reach in reaches.items():
        if reach is not None and reach > 1 and not rank:
            message = f"expected a distance between probabilities, from 0 to 1, got {draft.tree.show(*loc)}"
            hint = f"did you mean {reach / 100:g}?" if 2 <= reach <= 100 else None
            yield draft.tree.problem("out-of-range", message, *loc, hint=hint)


def _without_reach(draft: Draft, here: Loc, example: str) -> Iterator[Problem]:
    """Report a mapping that says nothing, unless what it holds is refused already."""
    if draft.readable(*here) and not draft.unknown(*here):
        yield draft.tree.problem("empty-value", "this equivocal zone has no reach", *here, key=True, hint=example)


def _unused_by_all(draft: Draft) -> Iterator[Problem]:
    """Find the spec's zone where no class is made by a threshold of probabilities, or by the highest probability."""
    models = draft.models.values()
    from_probabilities = [model for model in models if _no_classes(model) is None and "probabilities" in gives(model)]
    if models and not from_probabilities and draft.spec.recalibrate is None:
        message = "the equivocal zone has no effect: no model has classes made from probabilities"
        yield draft.tree.idle("unused-equivocal", message, "equivocal", key=True, hint="remove it")


def _unused(draft: Draft, here: Loc, model: Model) -> Iterator[Problem]:
    """Find the zone of a model whose classes are given, or that has none."""
    reason = _no_classes(model)
    if reason is not None:
        message = f"the equivocal zone of the model '{here[1]}' has no effect: {reason}"
        yield draft.tree.idle("unused-equivocal", message, *here, key=True, hint="remove it")


def _no_classes(model: Model) -> str | None:
    """Say why a model has no classes that a zone could be taken from; None where it has some."""
    if model.prediction is not None:
        return "'prediction' gives its predicted classes"
    return None if "labels" in gives(model) else "its score is a rank alone and has no threshold"
