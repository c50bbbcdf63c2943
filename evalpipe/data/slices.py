"""The slices of a dataset's rows by levels, intervals, periods and conditions."""

from __future__ import annotations

import math
import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.base.levels import LENGTHS, level_text
from evalpipe.data.columns import Graded, fill_hint, read_dates, read_numbers, wrong_type
from evalpipe.data.sample import SlicedRows
from evalpipe.data.summary import weighted_above_zero
from evalpipe.data.values import Unreadable, rows_have, shown, texts
from evalpipe.words.spelling import closest_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalpipe.base.arraytypes import Values, Wholes
    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import ColumnPlan

MISSING = "(missing)"
"""The label of rows without a value: null or NaN, in separated text an empty cell."""
EMPTY = "(empty)"
"""The label of rows whose value is the empty text."""
_LOOKS_LIKE_OWN = r'^("*\((?:missing|empty)\)"*)$'


def read_slice_columns(columns: Columns, *, whole: bool = True) -> None:
    """Read the columns to slice by as labels with their row codes into ``columns.graded``; report unusable ones.

    Where the rows are a part of a dataset, not the ``whole``, reference levels may be absent.
    """
    has_weight = weighted_above_zero(columns)
    for loc, sliced in columns.rows.plan.slices.named:
        if sliced not in columns.graded:
            read = _read_intervals if sliced.cuts else _read_levels
            graded = read(columns, sliced, loc, has_weight)
            if graded is not None:
                columns.graded[sliced] = graded
    _check_folds(columns, has_weight)
    if whole:
        _check_references(columns, has_weight)


def _read_levels(columns: Columns, sliced: ColumnPlan, loc: Loc, has_weight: pl.Series) -> Graded | None:
    """Read the levels of a column that occur, or the periods of its dates; missing values are the last level.

    Numbers are in order of size, texts in natural order, periods in order of time. A level occurs where a row with a
    weight, ``has_weight`` [n], has it.
    """
    values = columns.rows.typed(sliced.column) if sliced.by is None else read_dates(columns, sliced.column, loc)
    if values is None:
        return None
    values = values.fill_nan(None) if values.dtype.is_float() else values
    labels_of_values = labels_of if sliced.by is None else partial(periods, length=sliced.by)
    try:
        labels_of_values(values.clear())
        distinct = values.unique()  # labels are made of these, for there are few of them and many rows
        labels_of_distinct = labels_of_values(distinct)
        weighted = distinct if has_weight.all() else values.filter(has_weight).unique()
        occurring = set(labels_of_distinct if weighted is distinct else labels_of_values(weighted))
    except Unreadable as fault:
        columns.problems.append(wrong_type(columns.rows, sliced.column, loc, fault))
        return None
    levels = ordered(level for level in occurring if level != MISSING)
    if len(levels) > columns.rows.plan.slices.max_levels:
        message, hint = too_many_levels_message(columns.rows.plan, columns.rows.called, sliced, levels)
        notes = (f"the first are {', '.join(shown(level) for level in levels[:5])}",)
        columns.report("too-many-levels", message, loc, hint, notes=notes)
        return None
    labels = (*levels, *([MISSING] if MISSING in occurring else []))
    code_of_label = {label: code for code, label in enumerate(labels)}
    codes = pl.Series([code_of_label.get(label, -1) for label in labels_of_distinct], dtype=pl.Int64)
    return Graded(labels, values.replace_strict(distinct, codes, return_dtype=pl.Int64))


def labels_of(values: pl.Series) -> list[str]:
    """Return the label of each value [n], `MISSING` where there is none; raises Unreadable."""
    return label_series(values).fill_null(MISSING).to_list()


def label_series(column: pl.Series) -> pl.Series:
    """Return the label of each value [n], null where it is missing; different values have different labels.

    The empty text is `EMPTY`; a text that looks like `EMPTY` or `MISSING` stands in double quotes. Raises Unreadable.
    """
    labels = texts(column)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return labels
    cells = column.cast(pl.String)
    return cells.str.replace(_LOOKS_LIKE_OWN, '"${1}"').set((cells == "").fill_null(value=False), EMPTY)


def periods(days: pl.Series, length: str) -> list[str]:
    """Return the label of the period of each day [n], such as "2024-Q1"; labels sort by time.

    ``length`` is a unit, from "day" to "year".
    """
    forms = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "quarter": "%Y-Q", "year": "%Y"}
    labels = days.dt.to_string(forms[length])
    labels = labels + days.dt.quarter().cast(pl.String) if length == "quarter" else labels
    return labels.fill_null(MISSING).to_list()


def too_many_levels_message(plan: Plan, called: str, sliced: ColumnPlan, levels: Sequence[str]) -> tuple[str, str]:
    """Return message and hint for a column with more levels or periods than slices may have."""
    most = plan.slices.max_levels
    what = "levels" if sliced.by is None else f"{sliced.by}s"
    message = (f"column '{sliced.column}' of {called} has {len(levels):,} {what}, more than the {most:,} that"
               " slices may have ('slice_rules.max_levels')")
    if sliced == plan.slices.folds:
        message = (f"column '{sliced.column}' of {called} has {len(levels):,} folds, more than the {most:,} of"
                   " 'slice_rules.max_levels'")
        return message, "folds of a few rows have no value of most measures; join them, or raise 'max_levels'"
    if sliced.by is not None:
        longer = _longer_period(sliced.by, levels, most)
        way = "leave rows out with 'where'" if longer is None else (
            f"take a longer period: {{column: {sliced.column}, by: {longer}}}")
        return message, f"{way}, or raise 'max_levels'"
    numeric = all(_as_number(level) is not None for level in levels)
    hint = (f"cut the numbers into intervals: {{column: {sliced.column}, cuts: […, …]}}" if numeric
            else "group the levels in the data, or raise 'max_levels'")
    return message, hint


def _longer_period(length: str, labels: Sequence[str], most: int) -> str | None:
    """Return a period for dates with too many slices: of days the first with at most ``most``, else the next."""
    longer = [other for index, other in enumerate(LENGTHS) if length in LENGTHS[:index]]
    if length != "day":
        return next(iter(longer), None)
    days = pl.Series(labels).str.to_date("%Y-%m-%d")
    return next((length for length in longer if len(set(periods(days, length))) <= most), longer[-1])


def ordered(levels: Iterable[str]) -> list[str]:
    """Sort levels: by size where all are numbers, else in natural order, "a2" before "a10"."""
    sorted_levels = sorted(levels)
    sizes = [_as_number(level) for level in sorted_levels]
    by_size = [size for size in sizes if size is not None]
    if len(by_size) == len(sorted_levels):
        return [level for _, level in sorted(zip(by_size, sorted_levels, strict=True))]
    # Digits, which stand at odd places between other characters, are compared as numbers.
    return sorted(sorted_levels, key=lambda level: [
        (int(part), "") if index % 2 else (0, part) for index, part in enumerate(re.split(r"(\d+)", level))])


def _as_number(text: str) -> float | None:
    """Return the number that a text is; None for other texts and for NaN."""
    try:
        return None if math.isnan(float(text)) else float(text)
    except ValueError:
        return None


def _read_intervals(columns: Columns, cut: ColumnPlan, loc: Loc, has_weight: pl.Series) -> Graded | None:
    """Read a column of numbers as intervals between cuts; a number at a cut is in the interval above it.

    Missing values are the last label, where a row that ``has_weight`` [n] has one.
    """
    values = read_numbers(columns, cut.column, loc, None, "number")
    if values is None:
        return None
    defined = values.fill_nan(None)
    # Whatever stands for a missing value here is replaced below, where it gets a place of its own.
    numbers, cuts = defined.fill_null(0.0).to_numpy(), np.array(cut.cuts, dtype=np.float64)
    intervals_of_rows = np.searchsorted(cuts, numbers, side="right")
    is_missing = defined.is_null().to_numpy()
    codes = np.where(is_missing, len(cut.cuts) + 1, intervals_of_rows)
    labels = interval_labels(cut.cuts)
    if (is_missing & has_weight.to_numpy()).any():
        labels = (*labels, MISSING)
    return Graded(labels, pl.Series(codes, dtype=pl.Int64))


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Return the labels of the intervals between ascending cuts: "< 5", "5 to < 10", ">= 10"."""
    edges = [level_text(cut) for cut in cuts]
    between = [f"{low} to < {high}" for low, high in pairwise(edges)]
    return (f"< {edges[0]}", *between, f">= {edges[-1]}")


def _check_folds(columns: Columns, has_weight: pl.Series) -> None:
    """Report rows without a fold, and a column of folds with a single value, among rows that have a weight."""
    rows, fold_column = columns.rows, columns.rows.plan.slices.folds
    graded = None if fold_column is None else columns.graded.get(fold_column)
    if fold_column is None or graded is None:
        return
    loc: Loc = ("folds",)
    has_missing = MISSING in graded.labels
    missing_code = graded.labels.index(MISSING) if has_missing else len(graded.labels)  # the latter is of no such row
    is_missing = has_weight & (graded.codes == missing_code)
    if is_missing.any():
        message = f"{rows_have(is_missing)} no fold in column '{fold_column.column}'"
        columns.report(
            "missing-fold", message, loc, fill_hint(rows, fold_column.column, loc), mask=is_missing,
            values=rows.frame[fold_column.column])
    elif len(graded.labels) == 1:
        message = f"column '{fold_column.column}' of {rows.called} has one fold alone, {shown(graded.labels[0])}"
        hint = "name the column that tells the folds apart, or remove 'folds'"
        columns.report("one-fold", message, loc, hint)


def _check_references(columns: Columns, has_weight: pl.Series) -> None:
    """Report reference levels of slices that no row with a weight has."""
    plan = columns.rows.plan
    reference = plan.slices.reference
    if isinstance(reference, str):
        return
    single_columns = {
        slicing.columns[0].column: slicing.columns[0] for slicing in plan.slices.slicings if len(slicing.columns) == 1}
    for column, level in reference.items():
        graded, wanted = columns.graded.get(single_columns[column]), level
        if graded is None:
            continue
        occurring = [graded.labels[code] for code in graded.codes.filter(has_weight).unique().sort()]
        if wanted not in occurring:
            message = f"no row of {columns.rows.called} is in the reference slice {shown(wanted)} of '{column}'"
            guess = None if wanted in graded.labels else closest_level(wanted, occurring)
            listed = ", ".join(shown(label) for label in occurring[:12]) + (", …" if len(occurring) > 12 else "")
            hint = f"did you mean {shown(guess)}?" if guess else f"the slices with rows are {listed}"
            loc: Loc = ("slice_rules", "reference", column)
            columns.report("reference-absent", message, loc, hint)


def slice_columns(columns: Columns) -> dict[str, pl.Series]:
    """Return the columns that slices are made from: label indices of the columns, and flags of the conditions."""
    if columns.rows.dataset.role != "evaluate":
        return {}
    codes = {_codes_column(columns, sliced): graded.codes for sliced, graded in columns.graded.items()}
    conditions = [entry.title for entry in columns.rows.plan.slices.slicings if entry.condition is not None]
    flags = {f"slice {title}": columns.rows.frame[f"\0slice {title}"] for title in conditions}
    return codes | flags


def _codes_column(columns: Columns, sliced: ColumnPlan) -> str:
    """Return the name, within the sample's table, of the label indices of a column to slice by."""
    return f"slice part {list(columns.graded).index(sliced)}"


def requested_slices(columns: Columns, frame: pl.DataFrame) -> tuple[SlicedRows, ...]:
    """Return the slicings of the spec with the slice of each row; ``frame`` is the sample's table."""
    if columns.rows.dataset.role != "evaluate":
        return ()
    sliced: list[SlicedRows] = []
    for entry in columns.rows.plan.slices.slicings:
        if entry.condition is None:
            sliced.append(_combined(columns, frame, entry.columns))
        else:
            codes = np.where(frame[f"slice {entry.title}"].to_numpy(), 0, -1)
            sliced.append(SlicedRows(entry.title, ({entry.title: "true"},), _read_only_codes(codes)))
    return tuple(sliced)


def slices_to_search(columns: Columns, frame: pl.DataFrame) -> tuple[SlicedRows, ...]:
    """Return a slicing for each column that worst slices are searched in; ``frame`` is the sample's table."""
    worst = columns.rows.plan.slices.worst
    if worst is None or columns.rows.dataset.role != "evaluate":
        return ()
    return tuple(_combined(columns, frame, (sliced,)) for sliced in worst.columns)


def resampling_folds(columns: Columns, frame: pl.DataFrame) -> SlicedRows | None:
    """Return the folds of resampling as a slicing; None where no column numbers them."""
    planned = columns.rows.plan.slices.folds
    return None if planned is None or columns.rows.dataset.role != "evaluate" else _combined(columns, frame, (planned,))


def _combined(columns: Columns, frame: pl.DataFrame, combination: Sequence[ColumnPlan]) -> SlicedRows:
    """Return the slicing by one column, with all its labels, or by several, with the combinations that occur.

    Combinations are in the order of the labels. ``frame`` is the sample's table.
    """
    labels = [columns.graded[sliced].labels for sliced in combination]
    codes_by_column = [frame[_codes_column(columns, sliced)].to_numpy() for sliced in combination]
    names = [sliced.column for sliced in combination]
    title = " × ".join(names)
    if len(names) == 1:
        return SlicedRows(title, tuple({names[0]: label} for label in labels[0]), _read_only_codes(codes_by_column[0]))
    sizes = [len(of_column) for of_column in labels]
    # One number for each combination, in the order of the labels, so that slices sort as their columns do.
    occurring, codes = np.unique(np.ravel_multi_index(codes_by_column, sizes), return_inverse=True)
    combinations = zip(*np.unravel_index(occurring, sizes), strict=True)
    combined: tuple[Mapping[str, str], ...] = tuple(
        {name: of_column[code] for name, of_column, code in zip(names, labels, codes_of_row, strict=True)}
        for codes_of_row in combinations
    )
    return SlicedRows(title, combined, _read_only_codes(codes))


def _read_only_codes(codes: Values) -> Wholes:
    """Return slice numbers as a read-only array of integers."""
    wholes = np.ascontiguousarray(codes, dtype=np.intp)
    wholes.flags.writeable = False
    return wholes
