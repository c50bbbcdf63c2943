"""What is compared with what."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class ComparePlan:
    """The model and the dataset that the others are compared with, and margins of equivalence by canonical measure."""

    baseline: str | None
    baseline_dataset: str | None
    margins: Mapping[str, float]


def compare_plan(spec: Spec) -> ComparePlan | None:
    """Return what a spec compares; None where it compares nothing."""
    asked = spec.compare
    if asked is None:
        return None
    measures = spec.measures
    margins = {measures[name].name: float(margin) for name, margin in asked.margins.items()}
    return ComparePlan(asked.baseline, asked.baseline_dataset, MappingProxyType(margins))
