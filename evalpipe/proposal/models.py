"""Which columns are the predictions of which model, and why: by their values, and by what their names say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalpipe.base.levels import find_level
from evalpipe.proposal.names import like_prediction, model_name
from evalpipe.spec.messages import is_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook

MOST_MODELS = 12
"""The models that a spec is written with unasked."""


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key of a model, its value, and why it is there."""

    key: str
    value: object
    reason: str


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as it stands in the spec: its name, its keys, the columns in them, and what a person has to know.

    ``beside`` are columns by which these were recognised.
    """

    name: str
    lines: tuple[KeyLine, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The models, and why columns that look like predictions are not among them, by column."""

    models: tuple[ModelChoice, ...]
    refused: Mapping[str, str] = field(default_factory=dict)


def named_apart(models: Iterable[ModelChoice]) -> tuple[ModelChoice, ...]:
    """Return models with names that the spec accepts, no two alike."""
    names: list[str] = []
    renamed: list[ModelChoice] = []
    for model in models:
        base = model.name if is_key(model.name) else "model"
        name, number = base, 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        names.append(name)
        renamed.append(replace(model, name=name))
    return tuple(renamed)


def called(column: str, level: str = "") -> str:
    """Return what a model is called after its column."""
    return model_name(column, level) or "model"


def reach(look: ColumnLook) -> str:
    """Say between which limits the values of a column are."""
    return f"from {look.low:.4g} to {look.high:.4g}"


def fractional(look: ColumnLook) -> bool:
    """Tell whether a column holds numbers from 0 to 1 that are no levels."""
    return look.within(0, 1) and not look.whole and not look.percent_signs


def without_doubtful_levels(
    columns: Mapping[str, ColumnLook], outcome: ColumnLook, levels: Sequence[str]
) -> dict[str, ColumnLook]:
    """Return the columns where a text that may mean a missing value does so in predicted classes, but is no level."""
    declared = {name: look.without_doubtful() for name, look in columns.items()
                if look.doubtful and like_prediction(name) and find_level(look.doubtful, levels) is None}
    fits = {name: look for name, look in declared.items()
            if all(find_level(level, levels) is not None for level in look.levels)}
    return {**columns, **fits, outcome.name: outcome}


def predicted_levels(
    columns: Mapping[str, ColumnLook], levels: Sequence[str], *, without: Iterable[str]
) -> list[ColumnLook]:
    """Return the columns whose values are levels of the outcome and whose names say that they are predicted."""
    return [look for name, look in columns.items()
            if name not in set(without) and look.levels and like_prediction(name)
            and all(find_level(level, levels) is not None for level in look.levels)]
