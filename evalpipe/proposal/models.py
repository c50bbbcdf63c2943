"""Recognise which columns are predictions of which model, by their values and their names.

A family is a set of columns named after the levels of an outcome: a model's prediction of each level.
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
"""Numbers that sum to 1 in each row; "loose": from 0 to 1 with other sums; that sum to 100; any others."""


@dataclass(frozen=True, slots=True)
class Family:
    """The columns of a model by level, and the ``kind`` of their numbers.

    ``pattern`` is their names with {level} for the level, None where there is none; ``widest`` the largest difference
    of a row's sum from 1; ``lists`` the single column of lists of which they are the parts.
    """

    columns: Mapping[str, str]
    kind: FamilyKind
    pattern: str | None
    widest: float
    lists: str | None = None

    @property
    def stem(self) -> str:
        """The common part of the names of all columns."""
        level, column = next(iter(self.columns.items()))
        if self.pattern:
            return self.pattern.replace("{level}", "")
        return normalised(column).removesuffix(normalised(level))


def families(levels: Sequence[str], columns: Mapping[str, ColumnLook], *, without: str) -> list[Family]:
    """Return sets of number columns in which each column is named after a level, as a model's probabilities are.

    The column ``without``, that of the outcome, is in none.
    """
    if len(levels) < 2:
        return []
    numeric = [name for name, look in columns.items() if look.kind == "number" and name != without]
    candidates: list[tuple[dict[str, str], str | None]] = [
        ({level: f"{before}{level}{after}" for level in levels}, f"{before}{{level}}{after}")
        for before, after in _texts_around(levels, numeric, set(numeric)) if "{level}" not in before + after
    ]
    used_columns = {column for by_level, _ in candidates for column in by_level.values()}
    names = {normalised(name): name for name in reversed(numeric) if name not in used_columns}
    texts = [normalised(level) for level in levels]
    if all(texts) and len(set(texts)) == len(texts):  # also names that differ from the levels in signs or capitals
        candidates += [({level: names[before + text + after] for level, text in zip(levels, texts, strict=True)}, None)
                       for before, after in _texts_around(texts, list(names), set(names))]
    recognised = [family_of(by_level, pattern, columns) for by_level, pattern in candidates]
    return [family for family in recognised if family is not None]


def _texts_around(levels: Sequence[str], names: Sequence[str], known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts, before and after a level, that make a name among ``known`` of every level.

    So of `p_yes` and `p_no` the pair is ("p_", ""). No name is of two pairs.
    """
    longest, yielded = max(levels, key=len), set[str]()
    for name in names:
        start = name.find(longest) if longest else -1
        while start >= 0:
            before, after = name[:start], name[start + len(longest):]
            members = {f"{before}{level}{after}" for level in levels}
            if members <= known and not members & yielded and _is_word_of_its_own(before, after, levels):
                yielded |= members
                yield before, after
            start = name.find(longest, start + 1)


def _is_word_of_its_own(before: str, after: str, levels: Sequence[str]) -> bool:
    """Tell whether a level between ``before`` and ``after`` is a separate word: 'no' is none in 'notes'."""
    pairs = (before[-1:], levels[0][:1]), (levels[0][-1:], after[:1])
    return not any(left.isalpha() and right.isalpha() and left.islower() == right.islower() for left, right in pairs)


def family_of(by_level: dict[str, str], pattern: str | None, columns: Mapping[str, ColumnLook]) -> Family | None:
    """Return the family of columns by level, with the kind of their numbers; None unless they look like predictions."""
    looks = [columns[column] for column in by_level.values()]
    are_named_so = all(like_prediction(look.name) for look in looks)
    low, high = min(look.low for look in looks), max(look.high for look in looks)
    are_dummies = not are_named_so and all(look.whole and look.high <= 1 for look in looks)
    if are_dummies or all(look.missing == look.rows for look in looks):
        return None
    sum_gap, mean_sum = _sum_gap_and_mean(looks)
    if any(look.percent_signs for look in looks):
        return Family(by_level, "percent", pattern, _sum_gap_and_mean(looks, 100)[0])
    if low >= 0 and high <= 1 and sum_gap <= MOST_ROUNDING:
        return Family(by_level, "probabilities", pattern, sum_gap)
    if low >= 0 and 1 < high <= 100 and abs(mean_sum - 100) <= 100 * MOST_ROUNDING:
        return Family(by_level, "percent", pattern, _sum_gap_and_mean(looks, 100)[0])
    has_score_name = any(has_word(look.name, SCORE_WORDS) for look in looks)
    if not are_named_so or any(not words(look.name) for look in looks):
        return None
    return Family(by_level, "loose" if low >= 0 and high <= 1 and not has_score_name else "scores", pattern, sum_gap)


def _sum_gap_and_mean(looks: Sequence[ColumnLook], expected: float = 1) -> tuple[float, float]:
    """Return the largest relative difference of a row's sum over columns from ``expected``, and the mean sum.

    Probabilities of all levels sum to 1, percents to 100.
    """
    columns = [look.values.alias(str(index)) for index, look in enumerate(looks) if look.values is not None]
    total = pl.select(pl.sum_horizontal(columns, ignore_nulls=False)).to_series()
    if total.null_count() == len(total):
        return float("inf"), 0.0
    return float((total / expected - 1).abs().max()), float(total.mean())  # type: ignore[arg-type]


def pairs(columns: Sequence[ColumnLook]) -> list[tuple[str, str]]:
    """Return the pairs of columns from 0 to 1 that sum to 1 in all rows: the probabilities of two levels."""
    if not columns:
        return []
    # The first rows rule out nearly all pairs, of which 300 columns have 45,000.
    first_values = np.stack([look.values.head(_FIRST_ROWS).to_numpy() for look in columns if look.values is not None])
    summing: list[tuple[str, str]] = []
    for index, look in enumerate(columns):
        later_values = first_values[index + 1:]
        off = np.abs(later_values + first_values[index] - 1) > _PAIR_GAP  # not so of a row without a value
        for offset in np.flatnonzero(~off.any(axis=1)):
            other = columns[index + 1 + int(offset)]
            if _sum_gap_and_mean([look, other])[0] <= _PAIR_GAP:
                summing.append((look.name, other.name))
    return summing


_FIRST_ROWS = 64
"""The rows by which pairs of columns are compared first."""

_PAIR_GAP = 0.0101
"""The largest difference from 1 of the sum of two probabilities with two decimals."""


MOST_MODELS = 12
"""The most models in a spec without a question which they are."""


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key of a model in the spec, its value, and the reason for it."""

    key: str
    value: object
    reason: str


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model of the spec: its name, its keys, the columns in them, and notes for a person.

    ``recognised_by`` are other columns by which the model was recognised.
    """

    name: str
    lines: tuple[KeyLine, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    recognised_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The models, and by column the reason why others that look like predictions are ``refused``."""

    models: tuple[ModelChoice, ...]
    refused: Mapping[str, str] = field(default_factory=dict)


def with_distinct_names(models: Iterable[ModelChoice]) -> tuple[ModelChoice, ...]:
    """Return models under names that the spec accepts as keys, numbered where two have the same: a, a_2."""
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
    """Return the name of a model after its column, without words for predictions or its ``level``; else "model"."""
    return model_name(column, level) or "model"


def range_text(look: ColumnLook) -> str:
    """Write the range of a column's values: "from 0.1 to 0.9"."""
    return f"from {look.low:.4g} to {look.high:.4g}"


def is_fractional(look: ColumnLook) -> bool:
    """Tell whether a column has numbers from 0 to 1 that are not all 0 or 1."""
    return look.within(0, 1) and not look.whole and not look.percent_signs


def without_doubtful_levels(
    columns: Mapping[str, ColumnLook], outcome: ColumnLook, levels: Sequence[str]
) -> dict[str, ColumnLook]:
    """Return ``columns`` with texts such as "none" in predicted classes taken as missing.

    Texts that are ``levels`` of the outcome stay. ``outcome`` takes the place of its column.
    """
    cleaned = {name: look.without_doubtful() for name, look in columns.items()
                if look.doubtful and like_prediction(name) and find_level(look.doubtful, levels) is None}
    classes = {name: look for name, look in cleaned.items()
            if all(find_level(level, levels) is not None for level in look.levels)}
    return {**columns, **classes, outcome.name: outcome}


def predicted_class_columns(
    columns: Mapping[str, ColumnLook], levels: Sequence[str], *, without: Iterable[str]
) -> list[ColumnLook]:
    """Return the columns whose values are levels of the outcome and whose names say that they are predicted."""
    return [look for name, look in columns.items()
            if name not in set(without) and look.levels and like_prediction(name)
            and all(find_level(level, levels) is not None for level in look.levels)]
