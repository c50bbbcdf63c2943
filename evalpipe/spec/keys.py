"""Which keys of a spec belong to which tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.tasks import CLASSES, MANY, NUMBERS

if TYPE_CHECKING:
    from evalpipe.origin import Loc

BINARY = ("binary",)

OF_SPEC: dict[Loc, tuple[str, ...]] = {
    ("outcome", "event"): BINARY,
    ("outcome", "levels"): CLASSES,
    ("outcome", "unit"): NUMBERS,
    ("threshold",): BINARY,
    ("prevalence",): CLASSES,
    ("prevalence", "value"): BINARY,
    ("prevalence", "beta"): BINARY,
    ("prevalence", "levels"): MANY,
    ("prevalence", "dirichlet"): MANY,
    ("costs",): CLASSES,
    ("profit",): BINARY,
    ("equivocal",): CLASSES,
    ("intervals", "stratify"): CLASSES,
    ("exposure",): ("count",),
}
"""The tasks of the keys that not every task has."""

OF_MODEL: dict[str, tuple[str, ...]] = {
    "probability": BINARY,
    "score": BINARY,
    "scale": BINARY,
    "threshold": BINARY,
    "equivocal": CLASSES,
    "probabilities": MANY,
    "scores": MANY,
    "renormalise": MANY,
    "loo_prediction": NUMBERS,
    "rate": ("count",),
}
"""The same of the keys of a model."""


def applies(loc: Loc, task: str) -> bool:
    """Tell whether a key of the spec belongs to a task."""
    tasks = OF_MODEL.get(str(loc[2])) if len(loc) == 3 and loc[0] == "models" else OF_SPEC.get(loc)
    return tasks is None or task in tasks
