"""Which columns are the predictions of which model, and why: by their values, and by what their names say.

A family is columns that are named after the levels of an outcome: a model's prediction of each level.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.base.levels import find_level
from evalpipe.data.columns import MOST_ROUNDING
from evalpipe.proposal.names import SCORES as SCORE_WORDS
from evalpipe.proposal.names import has_word, like_prediction, model_name, normalised, words
from evalpipe.spec.messages import is_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook


FamilyKind = Literal["probabilities", "loose", "percent", "scores"]
"""Probabilities that sum to 1; numbers from 0 to 1 that do not; those that sum to 100; any others."""


@dataclass(frozen=True, slots=True)
class Family:
    """The columns of a model by level, and what their numbers are.

    ``pattern`` names all of them where one can, ``lists`` is the one column whose lists they are parts of.
    """

    columns: Mapping[str, str]
    kind: FamilyKind
    pattern: str | None
    widest: float
    lists: str | None = None

    @property
    def stem(self) -> str:
        """What the names of all columns have in common."""
        level, column = next(iter(self.columns.items()))
        if self.pattern:
            return self.pattern.replace("{level}", "")
        return normalised(column).removesuffix(normalised(level))


def families(levels: Sequence[str], columns: Mapping[str, ColumnLook], *, without: str) -> list[Family]:
    """Return the families of columns of numbers that are named after the levels, but for the column ``without``."""
    if len(levels) < 2:
        return []
    numeric = [name for name, look in columns.items() if look.kind == "number" and name != without]
    named: list[tuple[dict[str, str], str | None]] = [
        ({level: f"{before}{level}{after}" for level in levels}, f"{before}{{level}}{after}")
        for before, after in _texts_around(levels, numeric, set(numeric)) if "{level}" not in before + after
    ]
    used_columns = {column for by_level, _ in named for column in by_level.values()}
    alike = {normalised(name): name for name in reversed(numeric) if name not in used_columns}
    plains = [normalised(level) for level in levels]
    if all(plains) and len(set(plains)) == len(plains):
        named += [({level: alike[before + text + after] for level, text in zip(levels, plains, strict=True)}, None)
                  for before, after in _texts_around(plains, list(alike), set(alike))]
    kept = [family_of(by_level, pattern, columns) for by_level, pattern in named]
    return [family for family in kept if family is not None]


def _texts_around(levels: Sequence[str], names: Sequence[str], known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after each level in as many names; the columns of two pairs do not overlap."""
    longest, yielded = max(levels, key=len), set[str]()
    for name in names:
        at = name.find(longest) if longest else -1
        while at >= 0:
            before, after = name[:at], name[at + len(longest):]
            members = {f"{before}{level}{after}" for level in levels}
            if members <= known and not members & yielded and _is_word_of_its_own(before, after, levels):
                yielded |= members
                yield before, after
            at = name.find(longest, at + 1)


def _is_word_of_its_own(before: str, after: str, levels: Sequence[str]) -> bool:
    """Tell whether a level is a word of its own in a name, so that 'no' is none in 'notes'."""
    outer = (before[-1:], levels[0][:1]), (levels[0][-1:], after[:1])
    return not any(left.isalpha() and right.isalpha() and left.islower() == right.islower() for left, right in outer)


def family_of(by_level: dict[str, str], pattern: str | None, columns: Mapping[str, ColumnLook]) -> Family | None:
    """Tell what the numbers of columns are; None where nothing says that they are predictions."""
    looks = [columns[column] for column in by_level.values()]
    called = all(like_prediction(look.name) for look in looks)
    low, high = min(look.low for look in looks), max(look.high for look in looks)
    dummies = not called and all(look.whole and look.high <= 1 for look in looks)
    if dummies or all(look.missing == look.rows for look in looks):
        return None
    widest, total = _sum_gap_and_mean(looks)
    if any(look.percent_signs for look in looks):
        return Family(by_level, "percent", pattern, _sum_gap_and_mean(looks, 100)[0])
    if low >= 0 and high <= 1 and widest <= MOST_ROUNDING:
        return Family(by_level, "probabilities", pattern, widest)
    if low >= 0 and 1 < high <= 100 and abs(total - 100) <= 100 * MOST_ROUNDING:
        return Family(by_level, "percent", pattern, _sum_gap_and_mean(looks, 100)[0])
    scored = any(has_word(look.name, SCORE_WORDS) for look in looks)
    if not called or any(not words(look.name) for look in looks):
        return None
    return Family(by_level, "loose" if low >= 0 and high <= 1 and not scored else "scores", pattern, widest)


def _sum_gap_and_mean(looks: Sequence[ColumnLook], whole: float = 1) -> tuple[float, float]:
    """Return by how much the sums over columns differ from the ``whole`` at most, as its share, and their mean."""
    columns = [look.values.alias(str(at)) for at, look in enumerate(looks) if look.values is not None]
    total = pl.select(pl.sum_horizontal(columns, ignore_nulls=False)).to_series()
    if total.null_count() == len(total):
        return float("inf"), 0.0
    return float((total / whole - 1).abs().max()), float(total.mean())  # type: ignore[arg-type]


def pairs(columns: Sequence[ColumnLook]) -> list[tuple[str, str]]:
    """Return the pairs of columns from 0 to 1 that sum to 1 in all rows: the probabilities of two levels."""
    if not columns:
        return []
    # A few rows tell nearly all pairs apart: of 300 columns there are 45,000.
    first = np.stack([look.values.head(_FIRST_ROWS).to_numpy() for look in columns if look.values is not None])
    summed: list[tuple[str, str]] = []
    for at, look in enumerate(columns):
        off = np.abs(first[at + 1:] + first[at] - 1) > _PAIR_GAP  # not so of a row without a value
        for other in np.flatnonzero(~off.any(axis=1)):
            neighbour = columns[at + 1 + int(other)]
            if _sum_gap_and_mean([look, neighbour])[0] <= _PAIR_GAP:
                summed.append((look.name, neighbour.name))
    return summed


_FIRST_ROWS = 64
"""The rows by which pairs are tried first."""

_PAIR_GAP = 0.0101
"""How far two probabilities of two decimals may be from a sum of 1."""


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

    ``recognised_by`` are columns by which these were recognised.
    """

    name: str
    lines: tuple[KeyLine, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    recognised_by: tuple[str, ...] = ()


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


def model_name_of(column: str, level: str = "") -> str:
    """Return what a model is called after its column."""
    return model_name(column, level) or "model"


def range_text(look: ColumnLook) -> str:
    """Say between which limits the values of a column are."""
    return f"from {look.low:.4g} to {look.high:.4g}"


def is_fractional(look: ColumnLook) -> bool:
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
