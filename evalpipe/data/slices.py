"""The slices of a dataset's rows: what columns, cuts and conditions come to."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.columns import Graded, read_numbers, wrong_type
from evalpipe.data.errors import Unreadable
from evalpipe.data.sample import Slicing
from evalpipe.data.summary import counting
from evalpipe.data.values import shown, texts
from evalpipe.levels import level_text
from evalpipe.plan.slices import CutPlan, part_column
from evalpipe.spelling import closest_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from evalpipe.arraytypes import Wholes
    from evalpipe.data.columns import Columns
    from evalpipe.origin import Loc

MISSING = "(missing)"
"""The label of rows without a value: null or NaN, in separated text an empty cell."""
EMPTY = "(empty)"
"""The label of rows whose value is the empty text."""
_OWN = r'^("*\((?:missing|empty)\)"*)$'


def check(found: Columns) -> None:
    """Read every column that slices are by, of the rows that count; the rest gets a problem."""
    counts = counting(found)
    for loc, part in found.rows.plan.slices.named:
        if part not in found.graded:
            graded = _cut(found, part, loc, counts) if isinstance(part, CutPlan) else _levels(found, part, loc, counts)
            if graded is not None:
                found.graded[part] = graded
    _references(found, counts)


def _levels(found: Columns, column: str, loc: Loc, counts: pl.Series) -> Graded | None:
    """Read a column by its levels: those that occur, numbers by size, texts in natural order, missing values last."""
    import polars as pl

    try:
        values = labelled(found.rows.typed(column))
    except Unreadable as fault:
        found.problems.append(wrong_type(found.rows, column, loc, fault))
        return None
    values = values.fill_null(MISSING)
    occurring = values.filter(counts).unique().to_list()
    most = found.rows.plan.slices.max_levels
    levels = ordered(level for level in occurring if level != MISSING)
    if len(levels) > most:
        _too_many(found, column, loc, levels)
        return None
    labels = (*levels, *([MISSING] if MISSING in occurring else []))
    places = {label: place for place, label in enumerate(labels)}
    return Graded(labels, values.replace_strict(places, default=-1, return_dtype=pl.Int64))


def labelled(column: pl.Series) -> pl.Series:
    """Return the label of each value, null where it is missing; no two values share one.

    The empty text is `EMPTY`; a text that looks like `EMPTY` or `MISSING` stands in double quotes. Raises Unreadable.
    """
    import polars as pl

    labels = texts(column)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return labels
    written = column.cast(pl.String)
    return written.str.replace(_OWN, '"${1}"').set((written == "").fill_null(value=False), EMPTY)


def _too_many(found: Columns, column: str, loc: Loc, levels: Sequence[str]) -> None:
    most = found.rows.plan.slices.max_levels
    message = (f"column '{column}' of {found.rows.called} has {len(levels):,} levels, more than the {most:,} that"
               " slices may have ('slice_rules.max_levels')")
    numeric = all(_number(level) is not None for level in levels)
    hint = (f"cut the numbers into intervals: {{column: {column}, cuts: […, …]}}" if numeric
            else "group the levels in the data, or raise 'max_levels'")
    seen = ", ".join(shown(level) for level in levels[:5])
    found.problems.append(found.rows.problem("too-many-levels", message, loc, hint, notes=(f"the first are {seen}",)))


def ordered(levels: Iterable[str]) -> list[str]:
    """Sort levels: by size where all are numbers, else as people read them, "a2" before "a10"."""
    known = sorted(levels)
    sizes = [_number(level) for level in known]
    by_size = [size for size in sizes if size is not None]
    if len(by_size) == len(known):
        return [level for _, level in sorted(zip(by_size, known, strict=True))]
    return sorted(known, key=lambda level: [
        (int(part), "") if odd % 2 else (0, part) for odd, part in enumerate(re.split(r"(\d+)", level))])


def _number(text: str) -> float | None:
    """Read a number; a text that means none, such as "nan", has no place among numbers."""
    try:
        return None if math.isnan(float(text)) else float(text)
    except ValueError:
        return None


def _cut(found: Columns, cut: CutPlan, loc: Loc, counts: pl.Series) -> Graded | None:
    """Read a column of numbers by the interval each is in; a number at a cut is in the interval above it."""
    import polars as pl

    values = read_numbers(found, cut.column, loc, None, "number")
    if values is None:
        return None
    known = values.fill_nan(None)
    places = np.searchsorted(np.array(cut.cuts, dtype=np.float64), known.fill_null(0.0).to_numpy(), side="right")
    absent = known.is_null().to_numpy()
    codes = np.where(absent, len(cut.cuts) + 1, places)
    labels = intervals(cut.cuts)
    if (absent & counts.to_numpy()).any():
        labels = (*labels, MISSING)
    return Graded(labels, pl.Series(codes, dtype=pl.Int64))


def intervals(cuts: Sequence[float]) -> tuple[str, ...]:
    """Return the labels of the intervals between ascending cuts: "< 5", "5 to < 10", ">= 10"."""
    written = [level_text(cut) for cut in cuts]
    between = [f"{low} to < {high}" for low, high in pairwise(written)]
    return (f"< {written[0]}", *between, f">= {written[-1]}")


def _references(found: Columns, counts: pl.Series) -> None:
    """Find reference levels that no row has."""
    plan = found.rows.plan
    given = plan.slices.reference
    if isinstance(given, str):
        return
    alone = {slicing.columns[0]: slicing.parts[0] for slicing in plan.slices.slicings if len(slicing.parts) == 1}
    for column, level in given.items():
        graded, wanted = found.graded.get(alone[column]), level
        if graded is None:
            continue
        occurring = [graded.labels[code] for code in graded.codes.filter(counts).unique().sort()]
        if wanted not in occurring:
            message = f"no row of {found.rows.called} is in the reference slice {shown(wanted)} of '{column}'"
            guess = None if wanted in graded.labels else closest_level(wanted, occurring)
            listed = ", ".join(shown(label) for label in occurring[:12]) + (", …" if len(occurring) > 12 else "")
            hint = f"did you mean {shown(guess)}?" if guess else f"the slices with rows are {listed}"
            loc: Loc = ("slice_rules", "reference", column)
            found.problems.append(found.rows.problem("reference-absent", message, loc, hint))


def held(columns: Columns) -> dict[str, pl.Series]:
    """Return what slices need of each row, as columns: the places of labels, and whether a condition is met."""
    if columns.rows.dataset.role != "evaluate":
        return {}
    places = {_key(columns, part): graded.codes for part, graded in columns.graded.items()}
    flags = {name: columns.rows.frame[f"\0{name}"] for name in _conditions(columns).values()}
    return places | flags


def _key(columns: Columns, part: str | CutPlan) -> str:
    return f"slice part {list(columns.graded).index(part)}"


def _conditions(columns: Columns) -> dict[int, str]:
    """Return the columns that hold which rows meet the condition of a slice, by the number of the slicing."""
    named = enumerate(columns.rows.plan.slices.slicings)
    return {number: f"slice {entry.title}" for number, entry in named if entry.condition is not None}


def asked(columns: Columns, frame: pl.DataFrame) -> tuple[Slicing, ...]:
    """Return the slices that the spec asks for; ``frame`` holds the columns of `held` for the rows of the sample."""
    if columns.rows.dataset.role != "evaluate":
        return ()
    conditions = _conditions(columns)
    return tuple(
        _condition(frame, entry.title, conditions[number]) if number in conditions
        else _combined(columns, frame, entry.parts)
        for number, entry in enumerate(columns.rows.plan.slices.slicings)
    )


def searched(columns: Columns, frame: pl.DataFrame) -> tuple[Slicing, ...]:
    """Return the slices by each single column of the search for the worst ones."""
    worst = columns.rows.plan.slices.worst
    if worst is None or columns.rows.dataset.role != "evaluate":
        return ()
    return tuple(_combined(columns, frame, (part,)) for part in worst.parts)


def _condition(frame: pl.DataFrame, name: str, column: str) -> Slicing:
    codes = np.where(frame[column].to_numpy(), 0, -1)
    return Slicing(name, ({name: "true"},), _whole(codes))


def _combined(columns: Columns, frame: pl.DataFrame, parts: Sequence[str | CutPlan]) -> Slicing:
    """Combine columns: all labels of a single one, of several the combinations that occur, the first changing last."""
    labels = [columns.graded[part].labels for part in parts]
    places = [frame[_key(columns, part)].to_numpy() for part in parts]
    names = [part_column(part) for part in parts]
    title = " × ".join(names)
    if len(parts) == 1:
        return Slicing(title, tuple({names[0]: label} for label in labels[0]), _whole(places[0]))
    sizes = [len(known) for known in labels]
    occurring, codes = np.unique(np.ravel_multi_index(places, sizes), return_inverse=True)
    each = zip(*np.unravel_index(occurring, sizes), strict=True)
    combined: tuple[Mapping[str, str], ...] = tuple(
        {name: known[place] for name, known, place in zip(names, labels, row, strict=True)} for row in each
    )
    return Slicing(title, combined, _whole(codes))


def _whole(codes: np.ndarray) -> Wholes:
    held = np.ascontiguousarray(codes, dtype=np.intp)
    held.flags.writeable = False
    return held
