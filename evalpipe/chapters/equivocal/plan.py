"""The equivocal zone of a model's predictions: which rows are reported with a class, and the checks of its keys."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from evalpipe.chapters.equivocal.spec import Equivocal
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import with_article
from evalpipe.tasks import CLASSES, MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


_SIDES = ("below", "above")


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the spec's equivocal zone and of those of its models."""
    if draft.spec.task not in CLASSES:
        return
    zone = draft.spec.equivocal
    if zone is not None and not draft.tree.hidden(("equivocal",)):
        yield from list(_wrong_zone(draft, ("equivocal",), zone)) or _unused_by_all(draft)
    for loc, model in draft.entries(draft.spec.models, "models"):
        zone_loc = (*loc, "equivocal")
        if model.equivocal is None or draft.tree.hidden(zone_loc):
            continue
        problems, reason = list(_wrong_zone(draft, zone_loc, model.equivocal, model)), _why_no_classes(model)
        yield from problems
        if not problems and reason is not None:
            message = f"the equivocal zone of the model '{loc[1]}' has no effect: {reason}"
            yield draft.tree.idle("unused-equivocal", message, *zone_loc, key=True, hint="remove it")


def _wrong_zone(draft: Draft, loc: Loc, zone: float | Equivocal, model: Model | None = None) -> Iterator[Problem]:
    """Report what is wrong with a zone in itself; ``model`` is the model that it is of, None for the spec."""
    if draft.spec.task in MANY:
        return _zone_of_many_levels(draft, loc, zone)
    return _zone_of_two_levels(draft, loc, zone, is_rank=model is not None and "probabilities" not in gives(model))


def _zone_of_many_levels(draft: Draft, loc: Loc, zone: float | Equivocal) -> Iterator[Problem]:
    """Report, for several levels, a zone about a threshold and a least probability that every row reaches."""
    example, levels = "give the least highest probability: {min_probability: …}", draft.spec.outcome.levels or ()
    if not isinstance(zone, Equivocal):
        if draft.readable(*loc):
            message = f"{with_article(draft.spec.task)} outcome has no threshold that a row could be near to"
            yield draft.tree.problem("not-for-task", message, *loc, hint=example)
        return
    side = next((side for side in _SIDES if getattr(zone, side) is not None), None)
    if side is not None:
        message = f"{with_article(draft.spec.task)} outcome has no '{side}'"
        yield draft.tree.problem("not-for-task", message, *loc, side, key=True, hint=example)
    elif zone.min_probability is None:
        yield from _empty_zone(draft, loc, example)
    elif levels and 0 <= zone.min_probability <= 1 / len(levels):
        message = f"of {len(levels)} levels one always has a probability of 1/{len(levels)} or more, so no row would be"
        yield draft.tree.problem("unused-equivocal", f"{message} equivocal", *loc, "min_probability", hint="raise it")


def _zone_of_two_levels(draft: Draft, loc: Loc, zone: float | Equivocal, *, is_rank: bool) -> Iterator[Problem]:
    """Report, for two levels, `min_probability`, an empty zone, and distances above 1 unless the score is a rank."""
    example = "give its reach: a number, or {below: …, above: …}"
    reaches: dict[Loc, float | None] = {loc: zone} if not isinstance(zone, Equivocal) else {
        (*loc, side): getattr(zone, side) for side in _SIDES}
    if isinstance(zone, Equivocal) and zone.min_probability is not None:
        message = f"{with_article(draft.spec.task)} outcome has no 'min_probability'"
        yield draft.tree.problem("not-for-task", message, *loc, "min_probability", key=True, hint=example)
    elif all(reach is None for reach in reaches.values()):
        yield from _empty_zone(draft, loc, example)
    for reach_loc, reach in reaches.items():
        if reach is not None and reach > 1 and not is_rank:
            message = f"expected a distance between probabilities, from 0 to 1, got {draft.tree.show(*reach_loc)}"
            hint = f"did you mean {reach / 100:g}?" if 2 <= reach <= 100 else None
            yield draft.tree.problem("out-of-range", message, *reach_loc, hint=hint)


def _empty_zone(draft: Draft, loc: Loc, example: str) -> Iterator[Problem]:
    """Report a zone that gives no distance and no probability, unless another of its keys is refused already."""
    if draft.readable(*loc) and not draft.unknown(*loc):
        yield draft.tree.problem("empty-value", "this equivocal zone has no reach", *loc, key=True, hint=example)


def _unused_by_all(draft: Draft) -> Iterator[Problem]:
    """Report the zone of the spec where no model has classes made from probabilities."""
    models = draft.models.values()
    from_probabilities = any(_why_no_classes(model) is None and "probabilities" in gives(model) for model in models)
    if models and not from_probabilities and draft.spec.recalibrate is None:
        message = "the equivocal zone has no effect: no model has classes made from probabilities"
        yield draft.tree.idle("unused-equivocal", message, "equivocal", key=True, hint="remove it")


def _why_no_classes(model: Model) -> str | None:
    """Return why a model has no classes that a zone could leave out; None where it has some."""
    if model.prediction is not None:
        return "'prediction' gives its predicted classes"
    return None if "labels" in gives(model) else "its score is a rank alone and has no threshold"


@dataclass(frozen=True, slots=True)
class ZonePlan:
    """Rows from ``below`` under the threshold to ``above`` over it, both ends included, have no class.

    Of several levels those whose highest probability is under ``min_probability``. The zone of a threshold is that of
    class_pred objects in Kuhn, Vaughan & Ruiz, probably (2020).
    """

    below: float = 0.0
    above: float = 0.0
    min_probability: float | None = None

    @property
    def words(self) -> str:
        """The words on which rows have no predicted class, for `evalpipe plan`."""
        if self.min_probability is not None:
            return f"rows whose highest probability is below {self.min_probability:g} have no class"
        return f"rows from {self.below:g} below to {self.above:g} above the threshold have no class"

    def ends(self, cut: float) -> tuple[float, float]:
        """Return the ends of the zone about a cut, in decimals as in the spec: 0.4 - 0.1 is 0.3, and 0.3 is inside."""
        threshold, below, above = (Decimal(repr(float(number))) for number in (cut, self.below, self.above))
        return float(threshold - below), float(threshold + above)

    def record(self, cut: float | None) -> dict[str, float | None]:
        """Return the fields of its record in results, with its ends where one ``cut`` holds for all rows."""
        if self.min_probability is not None:
            return {"min_probability": self.min_probability}
        low, high = (None, None) if cut is None else self.ends(cut)
        return {"below": self.below, "above": self.above, "low": low, "high": high}


def zone_plan(spec: Spec, model: Model) -> ZonePlan | None:
    """Return the zone of a model's own classes; None where none is declared, or the data give its classes."""
    if model.prediction is not None:
        return None
    if model.score is None or model.scale is not None:
        return probability_zone_plan(spec, model)
    return None if model.equivocal is None else _zone_plan(model.equivocal)


def probability_zone_plan(spec: Spec, model: Model) -> ZonePlan | None:
    """Return the zone of classes made from a model's probabilities, such as those of its variants.

    The spec's zone is in units of probability. The zone of a model whose score is a rank alone is in units of that
    score, so it does not serve here.
    """
    is_rank = model.score is not None and model.scale is None
    declared = spec.equivocal if model.equivocal is None or is_rank else model.equivocal
    return None if declared is None else _zone_plan(declared)


def _zone_plan(declared: float | Equivocal) -> ZonePlan:
    """Return the plan of a declared zone: a number, which reaches to both sides of the threshold, or a mapping."""
    if not isinstance(declared, Equivocal):
        return ZonePlan(declared, declared)
    return ZonePlan(declared.below or 0.0, declared.above or 0.0, declared.min_probability)
