"""The equivocal zone of a model's predictions: which rows are reported with a class."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from evalpipe.chapters.equivocal.spec import Equivocal

if TYPE_CHECKING:
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.spec import Spec


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
        """Which rows have no class."""
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

    The spec's zone is one of probabilities; that of a score which is a rank alone is one of the score.
    """
    is_rank = model.score is not None and model.scale is None
    declared = spec.equivocal if model.equivocal is None or is_rank else model.equivocal
    return None if declared is None else _zone_plan(declared)


def _zone_plan(declared: float | Equivocal) -> ZonePlan:
    """Return the plan of a declared zone: a number, which reaches to both sides of the threshold, or a mapping."""
    if not isinstance(declared, Equivocal):
        return ZonePlan(declared, declared)
    return ZonePlan(declared.below or 0.0, declared.above or 0.0, declared.min_probability)
